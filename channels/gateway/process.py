"""The gateway process: every surface with its outbox and intake, supervised, until the society's host ends.

Surfaces share the connection for requests and nothing else: one that crashes is closed, built anew and
started again after a pause, and the others do not notice. What it had not posted waits in its outbox. What is
wrong with a surface is told to the society's audit, each thing once until the surface was well again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog

from moot.channels.backoff import PATIENT, Backoff
from moot.channels.errors import ChannelError
from moot.channels.gateway import address as addresses
from moot.channels.gateway.client import LogStream, Requests
from moot.channels.gateway.intake import Intake
from moot.channels.gateway.link import FindAddress, knock
from moot.channels.gateway.parent import ending_with_parent
from moot.channels.gateway.protocol import GatewayError
from moot.channels.inbound import Authority
from moot.channels.log.lines import open_line
from moot.channels.outbox.mirroring import Mirrors, Refusal, Stream, Trouble, public_but_own_notes
from moot.channels.outbox.outbox import Outbox
from moot.channels.outbox.pacing import Pace
from moot.channels.outbox.shared import SharedWrites
from moot.channels.outbox.store import OutboxStore
from moot.channels.showing.namebook import TELLING, NameBook
from moot.channels.surface import Memory, Surface, SurfaceConfigError

HEALTHY_S: Final = 60.0
"""A surface that ran this long starts again without a long pause."""

CLOSE_S: Final = 5.0
"""How long a surface has to close."""

CONFIG_PAUSE_S: Final = 60.0
"""What somebody must put right is looked at again this often, so that no restart is needed then."""

MOST_REPORTS: Final = 1_000
"""Reports that wait for a society that is away."""

MOST_TOLD: Final = 100
"""Different troubles that are told of a surface that never gets well."""

Shared = Callable[[str], SharedWrites]
"""Gives the writes that hosts share, by surface."""

_NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirroring:
    """How one surface is run.

    Attributes:
        build: Makes the surface; called again after a crash.
        mirrors: What of the log it shows; None: what is public, but notes that people wrote there.
        pace: How fast it posts, and what goes first when much waits; None: as the surface says.
    """

    build: Callable[[], Surface]
    mirrors: Mirrors | None = None
    pace: Pace | None = None


async def run_gateway(
    address: Path | None,
    surfaces: Mapping[str, Mirroring],
    *,
    data_dir: Path,
    authority: Authority,
    stop: asyncio.Event,
    public_url: str = "",
    backoff: Backoff = PATIENT,
    config_pause_s: float = CONFIG_PAUSE_S,
    lifeline: int | None = 0,
    shared: Shared | None = None,
) -> None:
    """Mirror a society on surfaces until `stop` is set, the parent ends, or a signal comes.

    Args:
        address: The society's socket; None: where the data directory says, asked at every attempt.
        surfaces: The surfaces by name; a name is also the outbox's file and the `platform` of actors.
        data_dir: Where the outboxes are kept.
        authority: What a person on a platform is.
        stop: Ends the gateway; posts under way are finished first.
        public_url: Where the web page is reached, for links to whole messages; "": nowhere.
        backoff: The pauses after failures of any kind.
        config_pause_s: The least pause after a `SurfaceConfigError`.
        lifeline: The file descriptor that ends with the parent; None: outlive it.
        shared: Gives what gateways on other hosts wrote about a surface; None: there are none.

    Raises:
        SurfaceConfigError: A name cannot be a file's.
    """
    for name in surfaces:
        if not _NAME.fullmatch(name):
            raise SurfaceConfigError(f"surface {name!r}: a name is 1 to 40 of a-z, 0-9, - and _")
    find: FindAddress = (lambda: addresses.find(data_dir)) if address is None else (lambda: address)
    requests = Requests(find, backoff=backoff)
    book = NameBook()
    with ending_with_parent(stop, lifeline=lifeline):
        tasks = [asyncio.create_task(requests.run(), name="requests")]
        for name, how in surfaces.items():
            keeper = _Keeper(
                name,
                how,
                find,
                requests,
                data_dir,
                authority,
                book,
                public_url,
                backoff,
                config_pause_s,
                shared,
            )
            tasks.append(asyncio.create_task(keeper.keep(), name=f"surface {name}"))
        try:
            await stop.wait()
        finally:
            for task in tasks[1:]:
                task.cancel()
            await asyncio.gather(*tasks[1:], return_exceptions=True)
            tasks[0].cancel()
            await asyncio.gather(tasks[0], return_exceptions=True)


@dataclass(slots=True)
class _Keeper:
    """One surface and what it needs; `keep` runs it again and again."""

    name: str
    how: Mirroring
    find: FindAddress
    requests: Requests
    data_dir: Path
    authority: Authority
    book: NameBook
    public_url: str
    backoff: Backoff
    config_pause_s: float
    shared: Shared | None = None
    told: set[tuple[str, str]] = field(default_factory=set)
    reports: set[asyncio.Task[None]] = field(default_factory=set)
    well_since: float | None = None

    async def keep(self) -> None:
        failures = 0
        while True:
            self.well_since = None
            exc = await self._end()
            if self._was_well():
                failures = 0
                self.told.clear()
            self._log(exc)
            if not isinstance(exc, GatewayError):  # then the society is away, and nothing is wrong here
                self._tell(Trouble(self.name, "", _text(exc)))
            failures += 1
            least = self.config_pause_s if isinstance(exc, SurfaceConfigError) else 0.0
            await asyncio.sleep(max(least, self.backoff.delay_s(failures)))

    async def _end(self) -> Exception:
        try:
            await self._live()
        except Exception as exc:
            return exc
        return ChannelError("it ended by itself")

    def _was_well(self) -> bool:
        return self.well_since is not None and _now() - self.well_since > HEALTHY_S

    def _log(self, exc: Exception) -> None:
        log = structlog.get_logger().bind(surface=self.name)
        if isinstance(exc, ChannelError):
            log.warning("surface stopped", why=_text(exc))
        else:
            log.error("surface crashed", why=_text(exc), exc_info=exc)

    async def _live(self) -> None:
        link = await knock(self.find, backoff=self.backoff)
        link.close()
        shared = self.shared(self.name) if self.shared is not None else None
        store = OutboxStore(self.data_dir, self.name, link.welcome.log_id, shared)
        surface: Surface | None = None
        try:
            await store.open()
            if store.cursor > link.welcome.head:
                await self._rewind(store, link.welcome.head)
            await self.book.recall(store)
            surface = self.how.build()
            surface.name = self.name
            await self._run(surface, store)
        finally:
            if surface is not None:
                await _closed(surface)
            await store.close()

    async def _run(self, surface: Surface, store: OutboxStore) -> None:
        intake = Intake(
            store,
            self.requests,
            authority=self.authority,
            backoff=self.backoff,
        )
        outbox = Outbox(
            surface,
            store,
            mirrors=self.how.mirrors or public_but_own_notes(self.name),
            pace=self.how.pace,
            public_url=self.public_url,
            who=self.book.who,
            on_refused=self._refused,
            on_trouble=self._tell,
            backoff=self.backoff,
        )
        await surface.start(intake, store)
        self.well_since = _now()
        stream = LogStream(self.find, store.log_id, backoff=self.backoff)
        await _first_to_fail(
            outbox.run(_named_first(stream, self.book, store)), intake.run(), surface.watch()
        )

    async def _rewind(self, store: OutboxStore, head: int) -> None:
        structlog.get_logger().error("the log lost its end", surface=self.name, seen=store.cursor, head=head)
        self._report("log_shrank", seen=store.cursor, head=head)
        await store.rewind(head)

    def _refused(self, refusal: Refusal) -> None:
        if len(self.reports) < MOST_REPORTS:
            self._report("post_refused", seq=refusal.seq, channel=refusal.channel, why=refusal.why)

    def _tell(self, trouble: Trouble) -> None:
        channel, why = trouble.channel, trouble.why
        if not why:
            self.told = {known for known in self.told if known[0] != channel}
        elif (channel, why) not in self.told and len(self.told) < MOST_TOLD:
            self.told.add((channel, why))
            self._report("surface_trouble", channel=channel, why=why)

    def _report(self, event: str, **facts: object) -> None:
        task = asyncio.create_task(self._send(event, facts))
        self.reports.add(task)
        task.add_done_callback(self.reports.discard)

    async def _send(self, event: str, facts: Mapping[str, object]) -> None:
        """Tell the society of something; while it is away this waits, and the outbox goes on from its own file."""
        await self.requests.connected()
        failures = 0
        while not await self.requests.report(event, surface=self.name, **facts):
            failures += 1
            await asyncio.sleep(self.backoff.delay_s(failures))
            await self.requests.connected()


def _named_first(stream: Stream, book: NameBook, memory: Memory) -> Stream:
    """Return a stream of which is known who speaks before its lines are passed on."""

    async def heard(cursor: int) -> AsyncGenerator[Sequence[str], None]:
        async with aclosing(stream(cursor)) as news:
            async for lines in news:
                for line in lines:
                    if any(kind in line for kind in TELLING):
                        await book.hear(open_line(line), memory)
                yield lines

    return heard


def _text(exc: Exception) -> str:
    return str(exc) if isinstance(exc, ChannelError) else f"{type(exc).__name__}: {exc}"


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _first_to_fail(*works: Awaitable[object]) -> None:
    try:
        async with asyncio.TaskGroup() as tasks:
            for work in works:
                tasks.create_task(_as_coroutine(work))
    except ExceptionGroup as group:
        # A surface may have groups of its own; the reason is what they hold.
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


async def _as_coroutine(work: Awaitable[object]) -> None:
    await work
    raise ChannelError("it ended by itself")


async def _closed(surface: Surface) -> None:
    with suppress(Exception):
        async with asyncio.timeout(CLOSE_S):
            await surface.close()
