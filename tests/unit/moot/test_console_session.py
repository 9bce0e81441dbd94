"""An open page is told what happens, whatever went wrong before."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import structlog

from moot.console.model.interface import Batch, Person
from moot.console.page import session as sessions
from moot.console.page import views
from moot.console.page.session import Visit
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from tests.doubles.console import watched, written
from tests.doubles.waiting import until

pytestmark = pytest.mark.anyio

ADMIN = Person("owner", ADMIN_SEAT)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def failing_at_first(work: Callable[..., Any], times: int, calls: list[object]) -> Callable[..., Any]:
    """Return a function that fails some times before it does its work."""

    def tried(*args: Any) -> Any:
        calls.append(args)
        if len(calls) <= times:
            raise sqlite3.OperationalError("unable to open database file")
        return work(*args)

    return tried


@pytest.mark.parametrize(
    ("where", "name", "shows", "said"),
    [
        (views, "board_of", "board", "board not told"),
        (sessions, "card_of", "reload", "page not told"),
    ],
)
async def test_a_page_goes_on_after_a_fault_and_the_log_has_one_line_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: object, name: str, shows: str, said: str
) -> None:
    log = written(tmp_path, 40)
    calls: list[object] = []
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(sessions, "AGAIN_S", 0.01)
    monkeypatch.setattr(sessions, "BOARD_S", 0.01)
    with structlog.testing.capture_logs() as lines:
        async with watched(tmp_path) as model:
            session = Visit(model.seen_by(ADMIN), ADMIN, page="p")
            await session.boot("/c/a-arena")
            session._told_board = {}

            async def changes(cursor: int) -> AsyncIterator[Batch]:
                if cursor < len(log) + 1:
                    yield Batch(head=len(log) + 1, envelopes=(log[-1],))
                await asyncio.Event().wait()

            monkeypatch.setattr(session._live, "changes", changes)
            monkeypatch.setattr(where, name, failing_at_first(getattr(where, name), 1, calls))
            running = asyncio.create_task(session.run(told.append))
            await until(lambda: any(news.get(shows) for news in told) or running.done())
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await session.close()
    assert any(news.get(shows) for news in told)
    whys = [line["why"] for line in lines if line["event"] == said]
    assert whys == ["OperationalError: unable to open database file"]
