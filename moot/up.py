"""`moot up`: a society that lives, with people in it, until it is told to stop."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import structlog

from moot import warm_up
from moot.channels.log.lease import Lease
from moot.chaos.live import Rehearsal
from moot.clock import Clock, PacedClock, RealClock
from moot.clock.wall import utc_ns
from moot.config.settings import Settings, load_settings
from moot.console.binding import usable_port
from moot.console.errors import CannotServe
from moot.console.options import OWNER, ConsoleOptions
from moot.console.options import PLATFORM as CONSOLE
from moot.feed import Feed
from moot.living import live
from moot.log_setup import set_up_logging
from moot.memory.bodies_file import CALLS_NAME
from moot.minds.choosing import Chosen, MindSources, chosen
from moot.minds.model_choice import Wanted, models_told
from moot.plan import Plan
from moot.ports import Ports
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.times import a_speed, rfc3339
from moot.seating import seats_of
from moot.stored import first_envelope, last_sent_at

if TYPE_CHECKING:
    from moot.channels.nats.address import NatsAddress
    from moot.hosts.leading import Leading

_log = structlog.get_logger("moot.up")

COMMAND_LINE: Final = "cli"
"""The platform of the command line, where the owner of the data directory is an admin."""
DEFAULT_DIRECTORY: Final = Path("moot-data")
CLOCKS_DIFFER: Final = timedelta(hours=1)
"""The clock of a host that takes over may be so far behind that of the host before; society time waits for it."""


class UpRefused(Exception):
    """Say why a society cannot start here, and what to do; one line (exit code 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """How a society lives.

    Attributes:
        directory: Its data directory.
        speed: Society seconds a wall second; 1 is the real clock.
        bus: `sqlite` is durable; `memory` is gone with the process; an address: one of several hosts leads it there.
        seed: Seeds the minds.
        warm_up_days: A fresh society first lives so many days at most in virtual time, marked as such.
        chaos: The share of occasions at which something is made to go wrong, drawn from the seed: a rehearsal, marked
            as one everywhere; None: nothing, and a rehearsal that was begun goes on as one.
        is_new: Move an existing society aside and start a fresh one.
        prices: Price source; None: as configured.
        config: A configuration file; None: the shipped one.
        owner: User id that is an admin on the platform `cli`.
        shows_all: Show quiet checks in the feed too.
        leads: Whether this host of several may lead; else it only keeps its mirror.
        replicas: On how many servers of NATS the log is kept; None: on one, where it is made.
        has_console: Serve the web page, where the configuration does not say otherwise.
        host: Where the page is bound; None: as configured.
        port: Its port; None: as configured.
        minds: What fills seats instead of what the configuration says.
        wanted: Which model fills seats, and what may be spent, instead of what the configuration says.
    """

    directory: Path = DEFAULT_DIRECTORY
    speed: float = 1.0
    bus: Literal["sqlite", "memory"] | NatsAddress = "sqlite"
    seed: int = 1
    warm_up_days: float = 0.0
    chaos: float | None = None
    is_new: bool = False
    prices: str | None = None
    config: Path | None = None
    owner: str = ""
    shows_all: bool = False
    leads: bool = True
    replicas: int | None = None
    has_console: bool = True
    host: str | None = None
    port: int | None = None
    minds: MindSources = field(default_factory=dict)
    wanted: Wanted = field(default_factory=Wanted)


def wall_now() -> datetime:
    """Return the wall clock's instant, in whole seconds."""
    return datetime.fromtimestamp(utc_ns() // 1_000_000_000, UTC)


def run_up(options: UpOptions, feed: Feed | None = None) -> int:
    """Let a society live until Ctrl-C, SIGTERM or a person's STOP.

    Returns:
        The exit code: 0.

    Raises:
        BadInput: A rehearsal is asked for on a log that is none's.
        UnusableMind: A mind cannot be used; nothing has started.
        UpRefused: Its time is ahead of the wall clock, or the speed makes no sense (K7).
        LeaseHeld: Another society runs there, or has taken it over meanwhile (K3).
        OfficerFault: The host had to stop (K5).
    """
    feed = feed or Feed(shows_all=options.shows_all)
    try:
        a_speed(options.speed)
    except ValueError as exc:
        raise UpRefused(f"--speed: {exc}") from None
    settings = load_settings(options.config).owned({COMMAND_LINE: options.owner, CONSOLE: OWNER})
    if options.prices is not None:
        settings = settings.model_copy(
            update={"prices": settings.prices.model_copy(update={"source": options.prices})}
        )
    settings, given = options.wanted.over(settings, options.minds, seats_of(settings))
    minds = chosen({**settings.minds, **given})
    directory = options.directory
    options = _with_port(options, settings, feed)
    with Lease.acquire(directory) as lease:
        if lease.remark:
            feed.say(lease.remark)
        if options.is_new:
            _set_aside(directory, feed)
        set_up_logging(directory / "moot.log", terminal=True)
        if not isinstance(options.bus, str):
            _live_on_nats(options, options.bus, settings, minds, lease, feed)
            return 0
        past = last_sent_at(directory)
        rehearsal = _rehearsal(options, feed)
        if past is None and options.warm_up_days > 0:
            past = _warm_up(options, settings, minds, rehearsal, feed)
        if line := models_told(minds, settings):
            feed.say(line)
        clock, start = _clock(options, past)
        plan = Plan(
            settings=settings,
            seed=options.seed,
            start=start,
            directory=directory if options.bus == "sqlite" else None,
            bus=options.bus,
            minds=minds,
            rehearsal=rehearsal,
            ports=Ports()
            if rehearsal is None
            else Rehearsal(options.seed, rehearsal, [seat for seat, one in minds.items() if one.model]),
        )
        clock.run(lambda running: live(options, plan, running, lease, feed))
    return 0


def _with_port(options: UpOptions, settings: Settings, feed: Feed) -> UpOptions:
    """Return the options with a port that the page can take; nothing has been written yet.

    Raises:
        UpRefused: The port that was asked for is in use.
    """
    console = settings.console
    if not (options.has_console and console.enabled) or options.bus == "memory":
        return options
    wanted = ConsoleOptions(
        host=console.host if options.host is None else options.host,
        port=console.port if options.port is None else options.port,
    )
    try:
        port = usable_port(wanted, is_chosen=options.port is not None)
    except CannotServe as exc:
        raise UpRefused(str(exc)) from None
    if port == wanted.port:
        return options
    feed.say(f"port {wanted.port} on {wanted.host} is in use: the page takes port {port}")
    return replace(options, port=port)


def _live_on_nats(
    options: UpOptions,
    address: NatsAddress,
    settings: Settings,
    minds: Mapping[str, Chosen],
    lease: Lease,
    feed: Feed,
) -> None:
    """Follow the leader of a society on NATS, and lead whenever nobody does, until told to stop.

    Raises:
        BadInput: It is asked for what only a society on one host can do.
        CorruptLog: The stream and the mirror differ.
        NatsUnavailable: No server answers.
    """
    from moot.hosts.taking_turns import take_turns

    for name, is_asked in (
        ("--new", options.is_new),
        ("--speed", options.speed != 1.0),
        ("--warm-up", bool(options.warm_up_days)),
        ("--chaos", options.chaos is not None),
    ):
        if is_asked:
            raise BadInput(
                f"{name} is for a society on one host: leave it out, or leave out --bus {address.where}"
            )
    if line := models_told(minds, settings):
        feed.say(line)
    plan = Plan(
        settings=settings,
        seed=options.seed,
        start=wall_now(),
        directory=options.directory,
        bus="nats",
        minds=minds,
    )

    def lead(leading: Leading) -> None:
        clock, start = _clock(options, last_sent_at(options.directory))
        if start > wall_now() + timedelta(seconds=5):
            feed.say(
                f"the society lives at {rfc3339(start)}, ahead of this host's clock: its time runs at half pace until "
                "the two agree"
            )
        led = replace(plan, start=start, led=leading)
        clock.run(lambda running: live(options, led, running, lease, feed))

    take_turns(plan, address, lease, lead, feed.say, leads=options.leads, replicas=options.replicas)


def _rehearsal(options: UpOptions, feed: Feed) -> float | None:
    """Return the share of occasions at which something is made to go wrong, 0 for none; None: it is no rehearsal.

    Raises:
        BadInput: The log is no rehearsal's, and it shall not become one.
    """
    directory, asked = options.directory, options.chaos
    first = first_envelope(directory) if options.bus == "sqlite" else None
    if first is not None and getattr(first.body, "rehearsal", None) is None:
        if asked is not None:
            raise BadInput(
                f"--chaos: the log in {directory} is no rehearsal's, so nothing is made to go wrong in it: "
                f"name another --data, or put it aside with --new"
            )
        return None
    if asked is not None:
        feed.say(
            f"a rehearsal: {100 * asked:g} % of occasions are made to go wrong, drawn from seed {options.seed}",
            "bold",
        )
    elif first is not None:
        feed.say(
            f"{directory} holds a rehearsal, and goes on as one: without --chaos nothing is made to go wrong",
            "bold",
        )
    return asked if first is None else asked or 0.0


def _clock(options: UpOptions, past: datetime | None) -> tuple[Clock, datetime]:
    """Choose the clock: the real one, unless a speed is asked for; refuse what would jump (K7)."""
    now = wall_now()
    if options.speed != 1.0:
        start = past if past is not None else now
        clock = PacedClock(start, options.speed)
        # Until the society has started: it goes on where it was, however long its log is read (K7).
        clock.still().__enter__()
        return clock, start
    if not isinstance(options.bus, str) and past is not None:
        if past > now + CLOCKS_DIFFER:
            raise UpRefused(
                f"the society on {options.bus} lives at {rfc3339(past)}, far ahead of this host's clock: set the clock"
            )
        return RealClock(after=past), max(past, now)
    if past is not None and past > now + timedelta(seconds=5):
        raise UpRefused(
            f"the society in {options.directory} lives at {rfc3339(past)}, ahead of the wall clock: go on with "
            f"--speed 120, or start a fresh one with --new"
        )
    return RealClock(), now


def _set_aside(directory: Path, feed: Feed) -> None:
    """Move an existing society into a folder beside; nothing is deleted."""
    names = ["log.sqlite", "log.sqlite-wal", "log.sqlite-shm", "head", "evidence", "moot.log", "snapshot"]
    names += ["moot.memory.sqlite", "moot.memory.sqlite-wal", "moot.memory.sqlite-shm"]
    several = ("outbox-*", "console*", f"{CALLS_NAME}*")
    names += [path.name for pattern in several for path in directory.glob(pattern)]
    # Whoever was let in stays in.
    names = [name for name in names if name != "console-token"]
    found = [directory / name for name in names if (directory / name).exists()]
    if not (directory / "log.sqlite").exists():
        return
    n = 1
    while (aside := directory / f"old-{n}").exists():
        n += 1
    aside.mkdir()
    for path in found:
        shutil.move(path, aside / path.name)
    feed.say(f"the society that was here is kept in {aside}")


def _warm_up(
    options: UpOptions, settings: Settings, minds: Mapping[str, Chosen], rehearsal: float | None, feed: Feed
) -> datetime:
    """Live some days in virtual time before the first wall second; return where that ends."""
    if modelled := sorted(seat for seat, one in minds.items() if one.model):
        feed.say(
            f"simulated minds fill {', '.join(modelled)} during the warm-up; models take the seats after it"
        )
    latest = wall_now().replace(minute=0, second=0)
    days = timedelta(days=options.warm_up_days)
    is_rehearsal = rehearsal is not None
    return warm_up.live(
        options.directory, settings, minds, options.seed, days, latest, feed.say, is_rehearsal=is_rehearsal
    )
