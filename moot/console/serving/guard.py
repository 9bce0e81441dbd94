"""The guard: one ASGI middleware before every route and the page's socket.

It lets nobody in without a token or its cookie, answers only under its own names (so that a strange name that
is pointed at this machine gets nothing), takes acts and sockets from its own pages only, and puts the security
headers on every answer. `/healthz` is open and says nothing but that it lives.

Nobody takes the console from the others: a body is read first (`bodies`); who asks too much waits, then is refused
(`allowance`); a route that fails is one line of the gateway's log.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
from collections import Counter
from collections.abc import Iterable, MutableMapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from moot.console.model.interface import Person
from moot.console.serving.access import COOKIE_DAYS, Access
from moot.console.serving.allowance import Allowances
from moot.console.serving.answers import CLOSE, answer, refuse, with_headers
from moot.console.serving.bodies import given_once, read_body
from moot.console.serving.front import STATE, Line

OPEN: Final = frozenset({"/healthz"})
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
CSRF_HEADER: Final = b"x-moot"
"""A page of another origin cannot send a header of its own without being asked first, and is told no."""

MOST_QUERY: Final = 4_096
MOST_BODIES: Final = 8
"""Bodies of one viewer that are taken in at a time."""

PATIENCE_S: Final = 3.0
"""So long who asks too much is kept waiting; who asks more than that is refused."""

QUESTION: Final = 5.0
"""Tokens that a question to the log takes; a file takes one."""

SOCKET_BYTES: Final = 16_384
"""Bytes on a socket that take a token."""

FAILED_S: Final = 1.0
"""Wall time between two lines about routes that failed."""

FOREIGN_ACT: Final = (
    "An act needs the header Authorization: Bearer TOKEN, or Origin and X-Moot as the page sends them."
)
NO_TOKEN: Final = "Open the address that was printed when the society was started; it holds your token."


class Guard:
    """Stands before an application.

    Args:
        app: What is guarded. It finds the person in `scope["state"]["person"]`, a request in `request.state.person`.
        access: Who may come in.
        names: The `host:port` under which it answers.
        is_public: Whether it is bound beyond loopback: then it answers under any address in digits too.
        port: The port it is bound to.
        origin: Where people reach it, when that is another address than the one it is bound to; "" for none.
        allowances: How much each may ask.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        *,
        names: Iterable[str],
        is_public: bool,
        port: int,
        origin: str = "",
        allowances: Allowances | None = None,
    ) -> None:
        self._app = app
        self._allowances = allowances or Allowances()
        self._bodies: Counter[str] = Counter()
        self._failed_at = -FAILED_S
        self._log = structlog.get_logger("moot.console")
        self._access = access
        self._port = port
        self._is_public = is_public
        given = urlsplit(origin)
        self._public_host = given.netloc.lower()
        self._public_origin = f"{given.scheme}://{self._public_host}".lower() if given.netloc else ""
        self._is_secure = given.scheme == "https"
        self._names = {name.lower() for name in names} | ({self._public_host} if self._public_host else set())
        self.cookie = f"moot_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or refuse."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] not in ("http", "websocket"):
            return
        line: Line | None = scope.get("state", {}).get(STATE)
        if line is None:
            await self._serve(scope, receive, send, None)
            return
        line.begin()
        try:
            await self._serve(scope, receive, send, line)
        finally:
            line.end()

    async def _serve(self, scope: Scope, receive: Receive, send: Send, line: Line | None) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not self._is_our_name(host):
            await refuse(scope, receive, send, HTTPStatus.MISDIRECTED_REQUEST, "This is not its address.")
            return
        if scope["path"] in OPEN and scope["type"] == "http":
            await self._app(scope, receive, with_headers(send))
            return
        bearer = _bearer(headers)
        person = self._access.by_token(bearer) if bearer is not None else self._by_cookie(headers)
        is_visit = bearer is None and scope["type"] == "http" and scope["method"] == "GET"
        if is_visit and await self._greet(scope, send, person):
            return
        if person is None:
            await self._unknown(scope, receive, send, headers, line)
            return
        if line is not None and not line.belongs_to(person, self._access.cookie_of(person)):
            await self._too_much(
                scope, receive, send, "There are too many connections of yours: close a page."
            )
            return
        if why := self._foreign(scope, headers, host, is_bearer=bearer is not None):
            await refuse(scope, receive, send, HTTPStatus.FORBIDDEN, why)
            return
        scope.setdefault("state", {})["person"] = person
        await self._let_in(scope, receive, send, person)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, person: Person) -> None:
        """Pass a person's request on, at a pace that leaves room for others."""
        loop = asyncio.get_running_loop()
        bucket = self._allowances.asking(person, loop.time())
        if scope["type"] == "websocket":

            async def paced() -> MutableMapping[str, Any]:
                message = await receive()
                said = message.get("text") or message.get("bytes") or ""
                wait_s = bucket.delay_s(loop.time(), 1.0 + len(said) / SOCKET_BYTES, math.inf)
                if wait_s:
                    await asyncio.sleep(wait_s)
                return message

            await self._run(scope, paced, send)
            return
        tokens = QUESTION if scope["path"].startswith("/api/") else 1.0
        wait_s = bucket.delay_s(loop.time(), tokens, PATIENCE_S)
        if wait_s is None:
            await self._too_much(scope, receive, send, "That is too much at once: wait a moment.")
            return
        if wait_s:
            await asyncio.sleep(wait_s)
        if scope["method"] in SAFE:
            await self._run(scope, receive, with_headers(send))
            return
        if not person.is_admin and self._bodies[person.user_id] >= MOST_BODIES:
            await self._too_much(scope, receive, send, "That is too much at once: wait for an answer.")
            return
        self._bodies[person.user_id] += 1
        try:
            body = await read_body(scope, receive)
            if isinstance(body, bytes):
                await self._run(scope, given_once(body, receive), with_headers(send))
            elif body is not None:
                why = (
                    "It did not come in time." if body is HTTPStatus.REQUEST_TIMEOUT else "That is too long."
                )
                await refuse(scope, receive, send, body, why)
        finally:
            self._bodies[person.user_id] -= 1
            if not self._bodies[person.user_id]:
                del self._bodies[person.user_id]

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application; what it cannot do is a line of the log now and then, whoever asks for it how often."""
        begun = False

        async def noted(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as exc:
            now = asyncio.get_running_loop().time()
            if now - self._failed_at >= FAILED_S:
                self._failed_at = now
                why = f"{type(exc).__name__}: {exc}"[:300]
                self._log.error("route failed", path=scope["path"][:100], why=why, where=_where(exc))
            if not begun and scope["type"] == "http":
                await answer(
                    send, HTTPStatus.INTERNAL_SERVER_ERROR, b"That failed.\n", b"text/plain", [CLOSE]
                )

    def _is_our_name(self, host: str) -> bool:
        if host in self._names:
            return True
        if not self._is_public:
            return False
        name, port = _split(host)
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return port == self._port

    def _by_cookie(self, headers: dict[bytes, bytes]) -> Person | None:
        try:
            cookie = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")[:8_192])
        except CookieError:
            return None
        found = cookie.get(self.cookie)
        return None if found is None else self._access.by_cookie(found.value)

    async def _greet(self, scope: Scope, send: Send, known: Person | None) -> bool:
        """Turn a token in the address into a cookie, and the address into one without it; says whether that was done.

        A cookie that lets do more stays: nobody is made a viewer by a link.
        """
        query = parse_qsl(scope["query_string"].decode("latin-1")[:MOST_QUERY], keep_blank_values=True)
        given = next((value for name, value in query if name == "token"), None)
        person = self._access.by_token(given) if given is not None else None
        if given is None or (person is None and known is None):
            return False
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # A path that begins with two slashes would name another host.
        where = "/" + quote(scope["path"].lstrip("/")) + (f"?{rest}" if rest else "")
        more = [(b"location", where.encode("latin-1"))]
        if person is not None and (known is None or person.is_admin or not known.is_admin):
            cookie = (
                f"{self.cookie}={self._access.cookie_of(person)}; Path=/; Max-Age={COOKIE_DAYS * 86_400}; "
                f"HttpOnly; SameSite=Strict{'; Secure' if self._is_secure else ''}"
            )
            more.append((b"set-cookie", cookie.encode("latin-1")))
        await answer(send, HTTPStatus.SEE_OTHER, b"", b"text/plain", more)
        return True

    async def _unknown(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes], line: Line | None
    ) -> None:
        """Refuse somebody without a token; a link from a chat is followed once more from here.

        A strict cookie does not come along on the way from another site, but it does from our own page.
        """
        if line is not None:
            now = asyncio.get_running_loop().time()
            if not self._allowances.stranger(line.peer, now).take(now):
                await self._too_much(scope, receive, send, "That is too much at once.")
                return
        head = ""
        if headers.get(b"sec-fetch-site") == b"cross-site" and headers.get(b"cookie") is None:
            head = '<meta http-equiv="refresh" content="0">'
        await refuse(scope, receive, send, HTTPStatus.UNAUTHORIZED, NO_TOKEN, head=head)

    def _foreign(self, scope: Scope, headers: dict[bytes, bytes], host: str, *, is_bearer: bool) -> str:
        """Say why this does not come from our own page; "" when it does, or may come from anywhere."""
        if is_bearer:
            # Nobody's browser sends it by itself.
            return ""
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        is_ours = bool(origin) and origin in self._origins(host)
        if origin and not is_ours:
            return "This comes from another site."
        if scope["type"] == "websocket":
            return "" if is_ours else "A socket says where it comes from."
        site = headers.get(b"sec-fetch-site", b"none")
        is_read = scope["method"] in SAFE
        if is_read:
            is_visit = headers.get(b"sec-fetch-mode", b"navigate") == b"navigate"
            return "" if is_visit or site in (b"none", b"same-origin") else "This comes from another site."
        if not is_ours:
            return FOREIGN_ACT
        if scope["path"].startswith("/api/") and CSRF_HEADER not in headers:
            return FOREIGN_ACT
        return ""

    def _origins(self, host: str) -> set[str]:
        if host == self._public_host:
            return {self._public_origin}
        return {f"http://{host}", f"https://{host}"}

    async def _too_much(self, scope: Scope, receive: Receive, send: Send, why: str) -> None:
        await refuse(scope, receive, send, HTTPStatus.TOO_MANY_REQUESTS, why)


def _where(exc: BaseException) -> str:
    """Return the place in the code that an error comes from."""
    at = exc.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return "" if at is None else f"{at.tb_frame.f_code.co_filename.rpartition('/')[2]}:{at.tb_lineno}"


def _bearer(headers: dict[bytes, bytes]) -> str | None:
    kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _split(host: str) -> tuple[str, int]:
    """Split `host:port`; without a port it is 80."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "80"
    return name.strip("[]"), int(port) if port.isascii() and port.isdigit() else -1
