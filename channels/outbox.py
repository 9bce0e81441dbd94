"""The outbox: mirrors the log on one surface, in order per channel, once, through outages and crashes.

The log is taken over into the outbox's own file first, so a platform that is down or slow holds up neither
the log nor other channels; then one lane per channel posts what waits there. Nothing is lost: after any
interruption it goes on from the cursor and from what waits.

Exactly once, as far as the platform allows: before a post its intent is written down, after it the platform's
id. Where a crash or a broken connection leaves an intent open, `Surface.find` is asked first. On a platform
without such a look-up, that one message is posted at least once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, NoReturn

import structlog

from channels.backoff import PATIENT, Backoff
from channels.lines import open_line
from channels.mirroring import Mirrors, Pacing, Refusal, Stream, everything, in_order
from channels.outbox_store import Mirrored, OutboxStore, Waiting
from channels.rendering import card
from channels.surface import Posting, PostRefused, RateLimited, Surface, SurfaceDown

PEEK_LIMIT: Final = 50
"""How many waiting messages a pacing sees."""

CRASH_LIMIT: Final = 5
"""A message over which the surface broke this often is refused, so that it blocks its channel no longer."""


@dataclass(slots=True)
class _Delivery:
    posting: Posting
    seqs: Sequence[int]
    is_in_doubt: bool
    failures: int = 0


class Outbox:
    """Mirrors one log on one surface."""

    def __init__(
        self,
        surface: Surface,
        store: OutboxStore,
        *,
        mirrors: Mirrors = everything,
        pacing: Pacing = in_order,
        on_refused: Callable[[Refusal], None] = lambda _refusal: None,
        backoff: Backoff = PATIENT,
        post_timeout_s: float = 60.0,
        grace_s: float = 5.0,
    ) -> None:
        """Connect surface and store; both are opened and closed by the caller.

        Args:
            surface: A started surface.
            store: An open store.
            mirrors: What of the log is shown here.
            pacing: What goes next when much waits.
            on_refused: Hears of every message that is skipped.
            backoff: The pauses after failures.
            post_timeout_s: Wall time after which a post that does not return counts as `SurfaceDown`.
            grace_s: Wall time that a post under way has to end when the outbox is stopped.
        """
        self._surface = surface
        self._store = store
        self._mirrors = mirrors
        self._pacing = pacing
        self._on_refused = on_refused
        self._backoff = backoff
        self._post_timeout_s = post_timeout_s
        self._grace_s = grace_s
        self._lanes: dict[str, asyncio.Event] = {}
        self._paused_until = 0.0
        self._log = structlog.get_logger().bind(surface=surface.name)

    async def run(self, stream: Stream) -> NoReturn:
        """Mirror until cancelled; a post under way is finished first, for at most `grace_s`.

        Raises:
            Exception: What the stream, the disk or a broken surface raised; run it again with a new surface.
        """
        try:
            async with asyncio.TaskGroup() as lanes:
                for channel in await self._store.channels():
                    self._wake(channel, lanes)
                async with aclosing(stream(self._store.cursor)) as news:
                    async for lines in news:
                        await self._take(lines, lanes)
                raise RuntimeError("the stream of the log ended")
        except ExceptionGroup as group:
            raise _first(group) from group

    async def _take(self, lines: Sequence[str], lanes: asyncio.TaskGroup) -> None:
        found: list[Mirrored] = []
        seq = self._store.cursor
        for line in lines:
            envelope = open_line(line)
            seq = envelope.seq
            if self._mirrors(envelope):
                found.append(
                    Mirrored(seq, envelope.channel, envelope.case_id, envelope.id, envelope.body.type, line)
                )
        await self._store.take(found, seq)
        for channel in {item.channel for item in found}:
            self._wake(channel, lanes)

    def _wake(self, channel: str, lanes: asyncio.TaskGroup) -> None:
        news = self._lanes.get(channel)
        if news is None:
            news = self._lanes[channel] = asyncio.Event()
            lanes.create_task(self._lane(channel, news), name=f"lane {channel}")
        news.set()

    async def _lane(self, channel: str, news: asyncio.Event) -> None:
        while True:
            news.clear()
            while waiting := await self._store.waiting(channel, PEEK_LIMIT):
                await self._deliver(channel, self._next(waiting))
            await news.wait()

    def _next(self, waiting: Sequence[Waiting]) -> list[Waiting]:
        # What was about to be posted when a crash came goes first, folded as it was then.
        for item in waiting:
            if item.nonce is not None:
                group = [other for other in waiting if other.nonce == item.nonce]
                return sorted(group, key=lambda other: self._store.nonce(other.seq) != item.nonce)
        return [waiting[n] for n in self._pacing(waiting)]

    async def _deliver(self, channel: str, items: Sequence[Waiting]) -> None:
        seqs = [item.seq for item in items]
        nonce = items[0].nonce
        is_in_doubt = any(item.is_doubtful for item in items)
        if nonce is None:
            nonce = self._store.nonce(seqs[0])
            await self._pause()
            await self._store.intend(seqs, nonce)
        delivery = _Delivery(await self._posting(channel, items, nonce), seqs, is_in_doubt)
        while True:
            await self._pause()
            # Shielded, so that stopping the gateway leaves no post without its record.
            work = asyncio.ensure_future(self._attempt(delivery))
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                await _finish(work, self._grace_s)
                raise
            except RateLimited as exc:
                self._log.info("rate limited", channel=channel, retry_after_s=exc.retry_after_s)
                if exc.everywhere:
                    self._hold(exc.retry_after_s)
                else:
                    await asyncio.sleep(exc.retry_after_s)
            except SurfaceDown as exc:
                delivery.failures += 1
                delivery.is_in_doubt |= exc.maybe_posted
                self._log.warning("surface down", channel=channel, why=str(exc), failures=delivery.failures)
                if exc.everywhere:
                    self._hold(self._backoff.delay_s(delivery.failures))
                else:
                    await asyncio.sleep(self._backoff.delay_s(delivery.failures))
            except PostRefused as exc:
                return await self._skip(channel, seqs, str(exc))
            except Exception as exc:
                await self._store.crashed(seqs)
                if max(item.crashes for item in items) + 1 < CRASH_LIMIT:
                    raise
                return await self._skip(channel, seqs, f"{type(exc).__name__}: {exc}")

    async def _attempt(self, delivery: _Delivery) -> None:
        platform_id = None
        try:
            async with asyncio.timeout(self._post_timeout_s):
                if delivery.is_in_doubt and self._surface.capabilities.supports_nonce:
                    platform_id = await self._surface.find(delivery.posting)
                    delivery.is_in_doubt = False
                if platform_id is None:
                    platform_id = await self._surface.post(delivery.posting)
        except TimeoutError as exc:
            raise SurfaceDown(f"no answer in {self._post_timeout_s:g} s") from exc
        await self._store.done(delivery.seqs, platform_id)

    async def _posting(self, channel: str, items: Sequence[Waiting], nonce: str) -> Posting:
        first, *rest = (open_line(item.line) for item in items)
        thread = first.case_id
        answered = first.in_reply_to
        return Posting(
            seq=first.seq,
            envelope=first,
            channel=channel,
            thread=thread,
            root=None if thread is None else await self._store.root_of(channel, thread),
            in_reply_to=None if answered is None else await self._store.post_of(channel, answered),
            nonce=nonce,
            rendering=card(first),
            folded=tuple(rest),
        )

    async def _skip(self, channel: str, seqs: Sequence[int], why: str) -> None:
        await self._store.refused(seqs, why)
        for seq in seqs:
            self._log.warning("post refused", channel=channel, seq=seq, why=why)
            self._on_refused(Refusal(self._surface.name, seq, channel, why))

    def _hold(self, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        self._paused_until = max(self._paused_until, until)

    async def _pause(self) -> None:
        # A loop, because another lane may prolong the pause meanwhile.
        while (rest := self._paused_until - asyncio.get_running_loop().time()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(rest)


async def _finish(work: asyncio.Future[None], grace_s: float) -> None:
    await asyncio.wait({work}, timeout=grace_s)
    if not work.done():
        work.cancel()
    await asyncio.gather(work, return_exceptions=True)


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, Exception)
    return found
