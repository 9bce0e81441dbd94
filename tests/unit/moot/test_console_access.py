"""Tokens and the guard: every rule broken once, in front of an application that would answer anybody."""

from __future__ import annotations

import errno
import stat
from base64 import urlsafe_b64encode
from collections.abc import MutableMapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.config.settings import load_settings
from moot.console.binding import bind, usable_port
from moot.console.errors import CannotServe
from moot.console.model.interface import Person
from moot.console.options import ConsoleOptions
from moot.console.serving import access
from moot.console.serving.access import NAME, Access
from moot.console.serving.guard import Guard
from moot.console.serving.server import open_access
from moot.console.watching import Watching
from moot.protocols.kernel.redact import redact
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.kernel.seats import VIEWER as VIEWER_SEAT

pytestmark = pytest.mark.anyio
OWNER, VIEWER = "o" * 32, "v" * 32
HERE = "127.0.0.1:8420"
ORIGIN = f"http://{HERE}"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def authority(_platform: str, user_id: str) -> Seat:
    return ADMIN if user_id in ("owner", "ann") else VIEWER_SEAT


ACCESS = Access({"owner": OWNER, "viewer": VIEWER}, authority)


async def ask(
    path: str = "/api/log",
    *,
    method: str = "GET",
    kind: str = "http",
    query: str = "",
    guard: dict[str, Any] | None = None,
    **headers: str,
) -> tuple[int, dict[str, str], str, Person | None]:
    """Send a request past the guard; returns status, headers, body and who the application saw."""
    seen: list[Person | None] = []
    sent: list[MutableMapping[str, Any]] = []

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        seen.append(scope.get("state", {}).get("person"))
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"in"})

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "websocket.connect" if kind == "websocket" else "http.request"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    given = {"host": HERE, **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items() if value],
    }
    how: dict[str, Any] = {"names": {HERE}, "is_public": False, "port": 8420, **(guard or {})}
    await Guard(app, ACCESS, **how)(scope, receive, send)
    first = sent[0]
    if kind == "websocket":
        return (101 if first["type"] == "websocket.accept" else 403), {}, "", seen[0] if seen else None
    told = {name.decode(): value.decode() for name, value in first["headers"]}
    return first["status"], told, sent[1]["body"].decode(), seen[0] if seen else None


COOKIE = f"moot_8420={ACCESS.cookie_of(Person('owner', ADMIN))}"
BEARER = f"Bearer {OWNER}"


# ---------------------------------------------------------------- who


async def test_nobody_comes_in_without_a_token() -> None:
    for headers in (
        {},
        {"authorization": "Bearer"},
        {"authorization": "Bearer " + "x" * 32},
        {"authorization": f"Basic {OWNER}"},
        {"authorization": f"Bearer {OWNER[:-1]}"},
        {"authorization": f"Bearer {OWNER}\u00e9"},
        {"cookie": "moot_8420=owner:" + "0" * 64},
        {"cookie": f"moot_8420={OWNER}"},
        {"cookie": COOKIE.replace("8420", "8421")},
        {"cookie": COOKIE.replace("owner", "viewer")},
        {"cookie": "moot_8420"},
        {"cookie": '"; =;;; moot_8420=" '},
    ):
        status, _, _, person = await ask(**headers)  # type: ignore[arg-type]
        assert (status, person) == (401, None), headers


async def test_each_token_is_its_persons() -> None:
    assert (await ask(authorization=BEARER))[3] == Person("owner", ADMIN)
    assert (await ask(authorization=f"Bearer {VIEWER}"))[3] == Person("viewer", VIEWER_SEAT)
    assert (await ask(cookie=COOKIE))[3] == Person("owner", ADMIN)
    assert (await ask(cookie=f"a=b; {COOKIE}; c=d"))[3] == Person("owner", ADMIN)


async def test_a_wrong_bearer_is_not_saved_by_a_cookie() -> None:
    assert (await ask(authorization="Bearer no", cookie=COOKIE))[0] == 401


async def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address() -> None:
    status, headers, _, person = await ask("/case/a b", query=f"x=1&token={OWNER}&y=%20")
    assert (status, person) == (303, None)
    assert headers["location"] == "/case/a%20b?x=1&y=+"
    cookie = headers["set-cookie"]
    assert cookie.startswith(COOKIE)
    assert "; HttpOnly" in cookie and "; SameSite=Strict" in cookie and "Secure" not in cookie
    assert OWNER not in cookie and headers["referrer-policy"] == "no-referrer"
    safe = await ask(
        "/", query=f"token={OWNER}", guard={"origin": "https://moot.example"}, host="moot.example"
    )
    assert "; Secure" in safe[1]["set-cookie"]


async def test_an_address_with_a_token_leads_nowhere_else() -> None:
    status, headers, _, _ = await ask("//evil.example/x", query=f"token={OWNER}")
    assert (status, headers["location"]) == (303, "/evil.example/x")


async def test_the_token_leaves_the_address_of_who_has_a_cookie_too() -> None:
    viewers = f"moot_8420={ACCESS.cookie_of(Person('viewer', VIEWER_SEAT))}"
    for cookie, token, becomes in (
        (COOKIE, OWNER, COOKIE),
        (viewers, VIEWER, viewers),
        # A link that lets do more counts, one that lets do less does not: nobody is made a viewer by it.
        (viewers, OWNER, COOKIE),
        (COOKIE, VIEWER, None),
        (COOKIE, "x" * 32, None),
    ):
        status, headers, body, person = await ask("/inbox", query=f"token={token}&a=b", cookie=cookie)
        assert (status, headers["location"], body, person) == (303, "/inbox?a=b", "", None)
        assert headers.get("set-cookie", "").partition(";")[0] == (becomes or "")


async def test_a_wrong_token_in_the_address_gives_nothing() -> None:
    status, headers, _, _ = await ask("/", query="token=" + "x" * 32)
    assert status == 401 and "set-cookie" not in headers


async def test_a_link_from_a_chat_is_followed_once_more_with_the_cookie() -> None:
    _, _, body, _ = await ask("/m/7", accept="text/html", sec_fetch_site="cross-site")
    assert 'http-equiv="refresh"' in body
    _, _, body, _ = await ask("/m/7", accept="text/html", sec_fetch_site="same-origin")
    assert "refresh" not in body and "token" in body


async def test_only_healthz_is_open() -> None:
    status, _, body, person = await ask("/healthz")
    assert (status, body, person) == (200, "in", None)
    for path in ("/metrics", "/", "/api/openapi.json", "/healthz/", "/_nicegui/3/static/a.js", "//healthz"):
        assert (await ask(path))[0] == 401, path


# ---------------------------------------------------------------- from where


@pytest.mark.parametrize(
    "host",
    ["evil.example:8420", "evil.example", "127.0.0.1", "127.0.0.1:80", "10.0.0.9:8420", "", "localhost"],
)
async def test_it_answers_under_its_own_names_only(host: str) -> None:
    for path in ("/api/log", "/healthz"):
        assert (await ask(path, authorization=BEARER, host=host))[0] == 421
    assert (await ask(kind="websocket", authorization=BEARER, host=host))[0] == 403


async def test_bound_to_the_world_it_answers_under_digits_and_its_public_name() -> None:
    guard = {"is_public": True, "origin": "https://moot.example"}
    for host in ("192.0.2.7:8420", "[2001:db8::1]:8420", "moot.example", "MOOT.example"):
        assert (await ask(authorization=BEARER, host=host, guard=guard))[0] == 200, host
    for host in (
        "192.0.2.7:9",
        "192.0.2.7",
        "evil.example",
        "moot.example:8420",
        "moot.example.evil.example",
    ):
        assert (await ask(authorization=BEARER, host=host, guard=guard))[0] == 421, host


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:8421", "http://127.0.0.1"]
)
async def test_another_site_gets_neither_page_nor_socket_nor_act(origin: str) -> None:
    assert (await ask(cookie=COOKIE, origin=origin))[0] == 403
    assert (await ask(kind="websocket", cookie=COOKIE, origin=origin))[0] == 403
    assert (await ask("/api/acts", method="POST", cookie=COOKIE, origin=origin, x_moot="1"))[0] == 403


async def test_a_socket_says_where_it_comes_from() -> None:
    assert (await ask(kind="websocket", cookie=COOKIE))[0] == 403
    assert (await ask(kind="websocket", cookie=COOKIE, origin=ORIGIN))[0] == 101
    assert (await ask(kind="websocket", authorization=BEARER))[0] == 101
    assert (await ask(kind="websocket", origin=ORIGIN))[0] == 403


async def test_an_act_by_cookie_needs_origin_and_header() -> None:
    async def act(**headers: str) -> int:
        return (await ask("/api/acts", method="POST", **headers))[0]

    assert await act(cookie=COOKIE) == 403
    assert await act(cookie=COOKIE, origin=ORIGIN) == 403
    assert await act(cookie=COOKIE, x_moot="1") == 403
    assert await act(cookie=COOKIE, origin=ORIGIN, x_moot="1") == 200
    assert await act(authorization=BEARER) == 200
    assert (await ask("/api/acts", method="DELETE", cookie=COOKIE))[0] == 403


async def test_an_act_that_is_refused_is_told_every_header_at_once() -> None:
    for origin, x_moot in (("", ""), (ORIGIN, ""), ("", "1")):
        status, _, body, _ = await ask(
            "/api/acts", method="POST", cookie=COOKIE, origin=origin, x_moot=x_moot
        )
        assert status == 403
        assert all(name in body for name in ("Authorization: Bearer TOKEN", "Origin", "X-Moot"))


async def test_what_another_site_embeds_is_not_given() -> None:
    embedded = {"cookie": COOKIE, "sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}
    assert (await ask(**embedded))[0] == 403  # type: ignore[arg-type]
    assert (await ask("/m/7", cookie=COOKIE, sec_fetch_site="cross-site", sec_fetch_mode="navigate"))[
        0
    ] == 200
    assert (await ask(cookie=COOKIE, sec_fetch_site="same-origin", sec_fetch_mode="cors"))[0] == 200


async def test_a_public_origin_is_taken_in_its_own_scheme_only() -> None:
    guard = {"origin": "https://moot.example"}
    for origin, status in (("https://moot.example", 101), ("http://moot.example", 403)):
        got = await ask(kind="websocket", cookie=COOKIE, origin=origin, host="moot.example", guard=guard)
        assert got[0] == status


async def test_every_answer_has_the_security_headers() -> None:
    for got in (await ask(authorization=BEARER), await ask(), await ask(host="evil"), await ask("/healthz")):
        headers = got[1]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


# ---------------------------------------------------------------- the file


def test_the_file_is_its_owners_and_outlives_restarts(tmp_path: Path) -> None:
    path = tmp_path / NAME
    counted = iter(range(256))
    first = Access.load(path, authority, fresh=lambda n: bytes([next(counted)] * n))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert first.token_of("owner") != first.token_of("viewer") != ""
    again = Access.load(path, authority, fresh=lambda n: bytes(n))
    assert again.token_of("owner") == first.token_of("owner")
    assert again.by_cookie(first.cookie_of(Person("owner", ADMIN))) == Person("owner", ADMIN)


def test_more_people_come_in_by_more_lines(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(f"# who\nann {'a' * 22}\nbob {'b' * 22}\n")
    path.chmod(0o600)
    access = Access.load(path, authority)
    assert access.by_token("a" * 22) == Person("ann", ADMIN)
    assert access.by_token("b" * 22) == Person("bob", VIEWER_SEAT)


def test_a_line_that_is_deleted_or_changed_lets_nobody_in_any_more(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(f"ann {'a' * 22}\nbob {'b' * 22}\n")
    path.chmod(0o600)
    access = Access.load(path, authority)
    ann, bob = Person("ann", ADMIN), Person("bob", VIEWER_SEAT)
    cookies = {who.user_id: access.cookie_of(who) for who in (ann, bob)}
    path.write_text(f"ann {'c' * 22}\n")
    assert access.by_token("b" * 22) is None and access.by_cookie(cookies["bob"]) is None
    assert access.by_token("a" * 22) is None and access.by_cookie(cookies["ann"]) is None
    assert access.by_token("c" * 22) == ann
    assert not any(access.holds(user, cookie) for user, cookie in cookies.items())
    path.write_text("")
    assert access.by_token("c" * 22) is None
    path.unlink()
    assert access.by_token("c" * 22) is None


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("", 0o600, "no USER TOKEN"),
        ("owner short\n", 0o600, "line 1 is not USER TOKEN"),
        (f"o:x {'a' * 22}\n", 0o600, "line 1 is not USER TOKEN"),
        (f"a {'a' * 22}\nb {'a' * 22}\n", 0o600, "line 2: a user or a token stands there twice"),
        (f"a {'a' * 22}\n", 0o644, "others may read it: chmod 600"),
        (None, 0, "a line of it is USER TOKEN"),
    ],
)
def test_a_file_that_is_not_usable_is_refused_in_one_line(
    tmp_path: Path, text: str | None, mode: int, why: str
) -> None:
    path = tmp_path / "tokens"
    if text is not None:
        path.write_text(text)
        path.chmod(mode)
    with pytest.raises(CannotServe, match=why) as caught:
        Access.load(path, authority)
    assert "\n" not in str(caught.value)


async def test_a_host_that_others_reach_is_refused_without_tokens_of_ones_own(tmp_path: Path) -> None:
    watching = Watching(tmp_path, load_settings(), requests=None, find=lambda: tmp_path)
    for host in ("0.0.0.0", "::", "192.0.2.7", "moot.example"):
        with pytest.raises(CannotServe, match="token_file"):
            open_access(ConsoleOptions(host=host), tmp_path, watching)
    assert not (tmp_path / NAME).exists()
    path = tmp_path / "tokens"
    path.write_text(f"ann {'a' * 22}\n")
    path.chmod(0o600)
    assert open_access(ConsoleOptions(host="0.0.0.0", token_file=path), tmp_path, watching)
    for host in ("127.0.0.1", "::1", "localhost"):
        assert open_access(ConsoleOptions(host=host), tmp_path, watching).token_of("owner")
    await watching.readers.close()


def test_a_port_in_use_is_one_clear_line() -> None:
    first = bind(ConsoleOptions(port=0))
    first.listen()
    port = first.getsockname()[1]
    with pytest.raises(CannotServe) as caught:
        bind(ConsoleOptions(port=port))
    assert str(caught.value) == f"port {port} on 127.0.0.1 is in use: choose another with --port"
    first.close()
    with pytest.raises(CannotServe, match="no address of this machine"):
        bind(ConsoleOptions(host="no.such.host.invalid", port=0))


OLD = urlsafe_b64encode(bytes(24)).decode()
"""What a start made before tokens began with `mtk_`."""


def as_made(path: Path, text: str) -> Access:
    path.write_text(text)
    path.chmod(0o600)
    return Access.load(path, authority, fresh=lambda n: bytes(range(n)))


@pytest.mark.rule("R-A9")
def test_r_a9_a_token_of_an_earlier_start_gives_way_to_one_that_is_redacted(tmp_path: Path) -> None:
    path = tmp_path / NAME
    ann = "a" * 32
    access = as_made(path, f"# mine\nowner {OLD}\nviewer {VIEWER}:own\nann {ann}\n")
    assert access.by_token(OLD) is None
    assert access.by_token(ann) == Person("ann", ADMIN), "what somebody else was given stays"
    new = access.token_of("owner")
    assert redact(f"my token is {new}") == "my token is [redacted:console_token]"
    assert path.read_text() == f"# mine\nowner {new}\nviewer {VIEWER}:own\nann {ann}\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == [NAME]
    assert "new tokens for owner," in access.remark and OLD not in access.remark and new not in access.remark
    again = as_made(path, path.read_text())
    assert (again.token_of("owner"), again.remark) == (new, ""), "once"


def test_a_token_file_of_somebodys_own_is_never_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"owner {OLD}\n")
    path.chmod(0o600)
    access = Access.load(path, authority)
    assert access.by_token(OLD) is not None and not access.remark
    assert path.read_text() == f"owner {OLD}\n"


def test_where_the_disk_takes_no_new_token_the_old_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_self: Path, _target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    access = as_made(tmp_path / NAME, f"owner {OLD}\n")
    assert access.by_token(OLD) is not None and not access.remark


@pytest.mark.rule("R-A9")
def test_r_a9_a_token_that_is_made_is_redacted_wherever_it_is_said_bare(tmp_path: Path) -> None:
    path = tmp_path / access.NAME
    access._make(path, lambda n: bytes(range(n)))
    for line in path.read_text().splitlines():
        token = line.split()[1]
        assert redact(f"my token is\n{token}") == "my token is\n[redacted:console_token]"
        assert token not in redact(f"http://127.0.0.1:8420/?k={token}")


def test_the_next_free_port_is_taken_unless_one_was_chosen() -> None:
    with closing(bind(ConsoleOptions(port=0))) as taken:
        port = taken.getsockname()[1]
        found = usable_port(ConsoleOptions(port=port), is_chosen=False)
        assert port < found <= port + 100
        with pytest.raises(CannotServe, match=f"port {port} on 127.0.0.1 is in use"):
            usable_port(ConsoleOptions(port=port), is_chosen=True)
    assert usable_port(ConsoleOptions(port=port), is_chosen=True) == port
    assert usable_port(ConsoleOptions(port=0), is_chosen=False) == 0
