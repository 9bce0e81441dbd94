"""The outbox: mirrors the log on one surface, in order per channel, once, through outages and crashes.

The log is taken over into the outbox's own file first, so a platform that is down or slow holds up neither
the log nor other channels; then one lane per channel posts what waits there. Nothing is lost: after any
interruption it goes on from the cursor and from what waits.

It posts at the surface's pace (`moot.channels.outbox.pacing`): a post waits for its channel's budget, then for
that of the whole platform, where urgent ones go first. In a backlog, routine messages of one case become one post.

Exactly once, as far as the platform allows: before a post its intent is on the disk, after it the platform's
id. Where a crash, a power cut or a broken connection leaves an intent open, `Surface.find` is asked first. On a
platform without such a look-up, that one message is posted at least once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, NoReturn

import structlog

from moot.channels.backoff import PATIENT, Backoff
from moot.channels.log.lines import open_line
from moot.channels.outbox.buckets import Bucket, Turnstile
from moot.channels.outbox.mirroring import Mirrors, Refusal, Stream, Trouble, everything
from moot.channels.outbox.pacing import Pace
from moot.channels.outbox.queue import Waiting
from moot.channels.outbox.store import Mirrored, OutboxStore
from moot.channels.showing.rendering import UNKNOWN, Speakers, card
from moot.channels.surface import Posting, PostRefused, RateLimited, Surface, SurfaceConfigError, SurfaceDown
from moot.protocols.rulebook import rulebook

CRASH_LIMIT: Final = 5
"""A message over which the surface broke this often is refused, so that it blocks its channel no longer."""


@dataclass(slots=True)
class _Lane:
    """One channel.

    Attributes:
        has_urgent: Whether something urgent waits there, as far as is known.
        trouble: What is told of already.
    """

    channel: str
    bucket: Bucket
    news: asyncio.Event = field(default_factory=asyncio.Event)
    has_urgent: bool = False
    trouble: str = ""


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
        pace: Pace | None = None,
        public_url: str = "",
        who: Speakers = UNKNOWN,
        on_refused: Callable[[Refusal], None] = lambda _refusal: None,
        on_trouble: Callable[[Trouble], None] = lambda _trouble: None,
        backoff: Backoff = PATIENT,
        post_timeout_s: float = 60.0,
        grace_s: float = 5.0,
    ) -> None:
        """Connect surface and store; both are opened and closed by the caller.

        Args:
            surface: A started surface.
            store: An open store.
            mirrors: What of the log is shown here.
            pace: How fast it posts, and what goes first when much waits; None: as the surface says.
            public_url: Where the web page is reached, for links to whole messages; "": nowhere.
            who: What is known of who speaks; may change meanwhile.
            on_refused: Hears of every message that is skipped.
            on_trouble: Hears when a channel fails alone, once while that lasts, and when it is well again.
            backoff: The pauses after failures.
            post_timeout_s: Wall time after which a post that does not return counts as `SurfaceDown`.
            grace_s: Wall time that a post under way has to end when the outbox is stopped.
        """
        self._surface = surface
        self._store = store
        self._mirrors = mirrors
        self._pace = surface.pace if pace is None else pace
        self._public_url = public_url.rstrip("/")
        self._who = who
        self._on_refused = on_refused
        self._on_trouble = on_trouble
        self._backoff = backoff
        self._post_timeout_s = post_timeout_s
        self._grace_s = grace_s
        self._lanes: dict[str, _Lane] = {}
        self._clock = asyncio.get_running_loop().time
        self._turnstile = Turnstile(self._pace.everywhere, self._clock)
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
        for item in found:
            lane = self._wake(item.channel, lanes)
            lane.has_urgent |= item.type in rulebook().urgent

    def _wake(self, channel: str, lanes: asyncio.TaskGroup) -> _Lane:
        lane = self._lanes.get(channel)
        if lane is None:
            lane = self._lanes[channel] = _Lane(channel, Bucket(self._pace.channel, self._clock))
            lanes.create_task(self._drain(lane), name=f"lane {channel}")
        lane.news.set()
        return lane

    async def _drain(self, lane: _Lane) -> None:
        # What was about to be posted when a crash came goes first, folded as it was then.
        for items in await self._store.interrupted(lane.channel):
            await self._turn(lane)
            await self._deliver(lane, items)
        _, lane.has_urgent = await self._store.next_up(lane.channel, self._pace)
        while True:
            lane.news.clear()
            while not await self._store.is_empty(lane.channel):
                # Chosen when it may go and not before, so that what came meanwhile counts.
                await self._turn(lane)
                items, lane.has_urgent = await self._store.next_up(lane.channel, self._pace)
                await self._deliver(lane, items)
            await lane.news.wait()

    async def _turn(self, lane: _Lane) -> None:
        """Wait until this channel may post: for the platform, for the channel's budget, for everybody's."""
        await self._pause()
        while (delay := lane.bucket.delay_s()) > 0:  # noqa: ASYNC110  # time alone fills it
            await asyncio.sleep(delay)
        lane.bucket.take()
        await self._turnstile.wait(lambda: lane.has_urgent)
        await self._pause()

    async def _deliver(self, lane: _Lane, items: Sequence[Waiting]) -> None:
        """Post some messages as one, until the platform has taken or refused them; it is the lane's turn."""
        seqs = [item.seq for item in items]
        nonce = items[0].nonce or self._store.nonce(seqs[0])
        is_in_doubt = items[0].nonce is not None
        await self._store.intend(seqs, nonce)
        delivery = _Delivery(await self._posting(lane.channel, items, nonce), seqs, is_in_doubt)
        while True:
            # Shielded, so that stopping the gateway leaves no post without its record.
            work = asyncio.ensure_future(self._attempt(delivery))
            try:
                await asyncio.shield(work)
                return self._tell(lane, "")
            except asyncio.CancelledError:
                await _finish(work, self._grace_s)
                raise
            except RateLimited as exc:
                self._log.info("rate limited", channel=lane.channel, retry_after_s=exc.retry_after_s)
                await self._hold(exc.retry_after_s, everywhere=exc.everywhere)
            except SurfaceDown as exc:
                delivery.failures += 1
                delivery.is_in_doubt |= exc.maybe_posted
                why, failures = str(exc), delivery.failures
                self._log.warning("surface down", channel=lane.channel, why=why, failures=failures)
                if not exc.everywhere:
                    self._tell(lane, why)
                await self._hold(self._backoff.delay_s(delivery.failures), everywhere=exc.everywhere)
            except PostRefused as exc:
                return await self._refused(lane, items, str(exc))
            except SurfaceConfigError:
                raise  # it says nothing of the message
            except Exception as exc:
                await self._store.crashed(seqs)
                if max(item.crashes for item in items) + 1 < CRASH_LIMIT:
                    raise
                return await self._refused(lane, items, f"{type(exc).__name__}: {exc}")
            await self._turn(lane)

    def _tell(self, lane: _Lane, why: str) -> None:
        if why != lane.trouble:
            lane.trouble = why
            self._on_trouble(Trouble(self._surface.name, lane.channel, why))

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
            rendering=card(first, self._who),
            folded=tuple(rest),
            who=self._who,
            link=f"{self._public_url}/m/{first.seq}" if self._public_url else None,
        )

    async def _refused(self, lane: _Lane, items: Sequence[Waiting], why: str) -> None:
        """Skip a message that the platform does not take; of several only the one that it is about."""
        if len(items) > 1:
            await self._store.break_up([item.seq for item in items])
            for group in await self._store.interrupted(lane.channel):
                await self._turn(lane)
                await self._deliver(lane, group)
            return
        seq = items[0].seq
        await self._store.refused([seq], why)
        self._log.warning("post refused", channel=lane.channel, seq=seq, why=why)
        self._on_refused(Refusal(self._surface.name, seq, lane.channel, why))

    async def _hold(self, seconds: float, *, everywhere: bool) -> None:
        if everywhere:
            self._paused_until = max(self._paused_until, self._clock() + seconds)
        else:
            await asyncio.sleep(seconds)

    async def _pause(self) -> None:
        # A loop, because another lane may prolong the pause meanwhile.
        while (rest := self._paused_until - self._clock()) > 0:  # noqa: ASYNC110
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
