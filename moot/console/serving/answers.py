"""How the console answers by itself: the security headers on everything, and what is said to who is refused."""

from __future__ import annotations

from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any, Final

from starlette.types import Receive, Scope, Send

POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page may load: NiceGUI brings its scripts inline and compiles templates; nothing comes from elsewhere."""

CLOSE: Final = (b"connection", b"close")

HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)

PAGE: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Moot</title>{head}
<meta name="viewport" content="width=device-width, initial-scale=1"><style>body{{font:16px/1.5 system-ui;max-width:32em;
margin:15vh auto;padding:0 1em}}@media(prefers-color-scheme:dark){{body{{background:#111;color:#ddd}}}}</style></head>
<body><h1>{title}</h1><p>{text}</p></body></html>"""


async def refuse(
    scope: Scope, receive: Receive, send: Send, status: HTTPStatus, text: str, *, head: str = ""
) -> None:
    """Refuse in the form that is asked for: a page with more in its `head`, a line, or the close of a socket."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": text})
        return
    accepts = b"".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    if b"text/html" in accepts:
        page = PAGE.format(title=status.phrase, text=text, head=head)
        await answer(send, status, page.encode(), b"text/html; charset=utf-8", [CLOSE])
    else:
        more = [CLOSE]
        if status is HTTPStatus.UNAUTHORIZED:
            more.append((b"www-authenticate", b"Bearer"))
        if status is HTTPStatus.TOO_MANY_REQUESTS:
            more.append((b"retry-after", b"1"))
        await answer(send, status, f"{text}\n".encode(), b"text/plain; charset=utf-8", more)


def with_headers(send: Send) -> Send:
    """Return a way to send that adds the headers which an answer lacks."""

    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            given += [pair for pair in HEADERS if pair[0] not in names]
            if b"cache-control" not in names:
                given.append((b"cache-control", b"no-store"))
            message = {**message, "headers": given}
        await send(message)

    return guarded


async def answer(
    send: Send, status: HTTPStatus, body: bytes, kind: bytes, more: list[tuple[bytes, bytes]]
) -> None:
    """Send a whole answer; `kind` is its content type, `more` are headers besides."""
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *more]
    start = {"type": "http.response.start", "status": int(status), "headers": headers}
    guarded = with_headers(send)
    await guarded(start)
    await guarded({"type": "http.response.body", "body": body})
