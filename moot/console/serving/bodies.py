"""Bodies of requests: read whole, within a time and a size, before anything is done with them."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any, Final

from starlette.types import Receive, Scope

MOST_BODY: Final = 1_048_576
"""Bytes of a request's body; the longest draft fits."""

BODY_S: Final = 20.0
"""Wall time in which a body is there."""


async def read_body(scope: Scope, receive: Receive) -> bytes | HTTPStatus | None:
    """Read a request's body; returns why not when it is too long or too slow, None when nobody is there any more."""
    given = b"".join(value for name, value in scope["headers"] if name.lower() == b"content-length")
    if given and (not given.isdigit() or len(given) > 9 or int(given) > MOST_BODY):
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > MOST_BODY:
                    return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return HTTPStatus.REQUEST_TIMEOUT


def given_once(body: bytes, receive: Receive) -> Receive:
    """Give an application the body that has been read, then whatever follows."""
    left: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> MutableMapping[str, Any]:
        return left.pop() if left else await receive()

    return given
