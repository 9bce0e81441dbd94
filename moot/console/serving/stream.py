"""The log as server-sent events: from any message on, resumable, with nothing queued for a slow reader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from moot.console.errors import ConsoleError
from moot.console.model.interface import MOST_WINDOW, ReadModel
from moot.protocols.kernel.envelope import Envelope

BEAT_S = 15.0
"""A comment is sent after so long a silence, so that proxies keep the connection and a dead one is noticed."""

RETRY_MS = 1_000
"""When a reader that lost the connection is to come again."""


async def events(model: ReadModel, cursor: int, *, beat_s: float = BEAT_S) -> AsyncGenerator[bytes, None]:
    """Yield the log after `cursor` as server-sent events: first what the log holds, then what comes.

    Each event is a message: `id` is its seq, `data` its line. A reader that falls behind is served from the
    log again, page by page, as fast as it reads.

    Args:
        model: The society, as the reader may see it.
        cursor: The last message that the reader has.
        beat_s: Seconds of silence after which a comment is sent.
    """
    yield f"retry: {RETRY_MS}\n\n".encode()
    while True:
        async for page, reached in _stored(model, cursor):
            yield page
            cursor = reached
        async with aclosing(model.changes(cursor)) as changes:
            news = asyncio.ensure_future(anext(changes, None))
            try:
                while True:
                    done, _ = await asyncio.wait((news,), timeout=beat_s)
                    if not done:
                        yield b": still here\n\n"
                        continue
                    batch = news.result()
                    if batch is None:
                        return
                    if batch.must_reload:
                        # The log may be another one now: what it has instead comes from its beginning.
                        cursor = min(cursor, batch.head)
                        break
                    if batch.envelopes:
                        yield b"".join(_event(env) for env in batch.envelopes)
                    cursor = batch.head
                    news = asyncio.ensure_future(anext(changes, None))
            finally:
                news.cancel()
                await asyncio.gather(news, return_exceptions=True)


async def _stored(model: ReadModel, cursor: int) -> AsyncGenerator[tuple[bytes, int], None]:
    """Yield what the log holds after a message, in pages, each with how far it goes."""
    while cursor < model.head:
        head = model.head
        try:
            window = await model.window(after=cursor, limit=MOST_WINDOW // 2)
        except ConsoleError as exc:
            yield f": {str(exc).splitlines()[0]}\n\n".encode(), cursor
            await asyncio.sleep(1.0)
            continue
        cursor = window.after if window.after is not None else max(head, window.last)
        yield b"".join(_event(env) for env in window.envelopes), cursor


def _event(env: Envelope) -> bytes:
    return f"id: {env.seq}\nevent: message\ndata: {env.line}\n\n".encode("utf-8", "replace")
