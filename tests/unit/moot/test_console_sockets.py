"""What a socket of the page may say, and for whom."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import structlog
from socketio.exceptions import ConnectionRefusedError

from moot.console.model.interface import Person
from moot.console.page import sockets
from moot.protocols.kernel.seats import ADMIN, VIEWER

pytestmark = pytest.mark.anyio
OWNER, EVE = Person("owner", ADMIN), Person("eve", VIEWER)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Somebody:
    """A page; only that it is one counts."""


class Sockets:
    """Two sockets, each introduced as its own page, and one that introduced itself as nothing."""

    opened: ClassVar = {"s-owner": OWNER, "s-eve": EVE, "s-new": OWNER}
    joined: ClassVar = {"s-owner": ["p-owner"], "s-eve": ["p-eve"], "s-new": []}

    def get_environ(self, sid: str) -> dict[str, Any]:
        return {"asgi.scope": {"state": {"person": self.opened.get(sid)}}}

    def rooms(self, sid: str) -> list[str]:
        return self.joined[sid]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    pages: Any = {"p-owner": Somebody(), "p-eve": Somebody()}
    monkeypatch.setattr(sockets.Client, "instances", pages)
    monkeypatch.setattr(sockets.core, "sio", Sockets())
    monkeypatch.setattr(sockets, "_owners", {pages["p-owner"]: OWNER, pages["p-eve"]: EVE})
    return []


async def test_what_is_said_for_somebody_elses_page_is_not_heard(heard: list[tuple[str, Any]]) -> None:
    listens = sockets._bound(lambda sid, said: heard.append((sid, said["client_id"])))
    for sid, page in (("s-eve", "p-owner"), ("s-owner", "p-eve"), ("s-new", "p-owner"), ("s-eve", "p-gone")):
        await listens(sid, {"client_id": page})
    for nonsense in (None, 7, "p-eve", {}, {"client_id": 7}, {"client_id": ["p-eve"]}):
        await listens("s-eve", nonsense)
    assert heard == []
    await listens("s-eve", {"client_id": "p-eve"})
    await listens("s-owner", {"client_id": "p-owner"})
    assert heard == [("s-eve", "p-eve"), ("s-owner", "p-owner")]


async def test_a_socket_introduces_itself_as_its_own_persons_page(heard: list[tuple[str, Any]]) -> None:
    async def welcome(sid: str, said: Any) -> bool:
        heard.append((sid, said["client_id"]))
        return True

    introduced = sockets._introduced(welcome)
    assert await introduced("s-eve", {"client_id": "p-owner"}) is False
    assert await introduced("s-new", {"client_id": "p-owner"}) is True

    async def opened(sid: str, _environ: Any) -> None:
        heard.append((sid, "opened"))

    connected = sockets._connected(opened)
    with pytest.raises(ConnectionRefusedError, match="Implicit handshake failed"):
        await connected("s-eve", {"QUERY_STRING": "implicit_handshake=true&client_id=p-owner"})
    assert await connected("s-eve", {"QUERY_STRING": "implicit_handshake=true&client_id=p-eve"}) is None
    assert heard == [("s-new", "p-owner"), ("s-eve", "opened")]


async def test_what_cannot_be_understood_is_one_short_line(
    heard: list[tuple[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    def stumble(_sid: str, said: Any) -> None:
        raise KeyError("x" * 10_000)

    before = structlog.get_config()
    structlog.reset_defaults()
    try:
        await sockets._bound(stumble)("s-eve", {"client_id": "p-eve"})
    finally:
        structlog.configure(**before)
    assert "eve" in (told := capsys.readouterr().out) and len(told) < 600
