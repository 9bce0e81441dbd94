"""A society that lives with people in it: its feed, its guests, its gateway."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog

from moot.channels.guests.pump import InboxPump
from moot.channels.log.lease import Lease
from moot.channels.showing.rendering import speakers_of
from moot.clock import Clock, PacedClock
from moot.control import SHOWN, ControlPump, control_clock
from moot.door import Door
from moot.feed import Feed
from moot.gateway_child import BUS, GatewayChild
from moot.guests import serve_guests
from moot.patience import Patience
from moot.plan import Plan
from moot.ports import Posting
from moot.protocols.codec import decode_body
from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel.officers import SocietyStarted
from moot.reception import Reception
from moot.society import Society
from moot.stored import last_envelope, stored_envelopes

if TYPE_CHECKING:
    from moot.up import UpOptions

LOOKED_BACK: Final = 800
"""So many messages of the past are read for the recap at the start: a day of the desk."""

_log = structlog.get_logger("moot.up")


async def live(options: UpOptions, plan: Plan, clock: Clock, lease: Lease, feed: Feed) -> None:
    """Open a society, let guests in, and let it live until Ctrl-C, SIGTERM or a person's STOP.

    Args:
        options: How it lives.
        plan: What society it is.
        clock: Its clock.
        lease: That of its directory.
        feed: Shows what is said.

    Raises:
        LeaseHeld: Another society runs there, or has taken it over meanwhile (K3).
        OfficerFault: The host had to stop (K5).
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as exits:
        before = _tail(plan.directory) if plan.directory is not None else []
        society = await Society.open(plan, clock, lease=lease)
        if before:
            # Only now is it known who spoke: the start that says so may lie far before.
            feed.recap(before, "what was said before", speakers_of(society.host.docket.context))
        if isinstance(clock, PacedClock):
            clock.still().__exit__(None, None, None)
        exits.push_async_exit(society)
        if _has_console(options, plan):
            feed.hold()
        feed.attach(society)
        exits.callback(feed.close)
        if society.host.outage is not None:
            society.host.outage.tell = feed.say
        if lacking := sorted(society.host.docket.lacking):
            names = ", ".join(lacking)
            feed.say(
                f"the log speaks {names}, which is not installed here: what was said by it counts as nothing"
            )
        unseen = () if plan.settings.surfaces else _raised_in_warm_up(options.directory, society)
        patience = Patience(society, wall_s=plan.settings.clock.human_wall_s, unseen=unseen)
        exits.push_async_callback(patience.close)
        door = plan.ports.door(Door(society.host, plan.settings), clock)
        reception = Reception(society.host, patience)
        await _serve_guests(exits, options, plan, clock, society, door, reception, patience, feed)
        where = f"data in {options.directory}" if plan.directory is not None else "nothing is kept"
        feed.say(f"the society lives at {clock.speed:g}x, {where}; Ctrl-C stops it")
        await society.run_until(None, stop)
        feed.say("stopping ...")
    feed.say(f"stopped at seq {society.bus.head.seq}; start it again and it goes on from there")


async def _serve_guests(
    exits: AsyncExitStack,
    options: UpOptions,
    plan: Plan,
    clock: Clock,
    society: Society,
    door: Posting,
    reception: Reception,
    patience: Patience,
    feed: Feed,
) -> None:
    """Open the inbox, the controls and the gateway's socket; start the gateway where there is a page or a surface."""
    directory = options.directory
    if plan.directory is not None:
        path = plan.directory / "log.sqlite"
        pump = InboxPump(path, door, decode_body, hold=clock.hold)
        exits.push_async_callback(pump.close)
        if plan.led is not None:
            from moot.hosts.taking_turns import among_hosts

            await among_hosts(exits, plan.led, society, door, feed.say)

        async def control(op: str, value: float | None, by: str) -> dict[str, Any]:
            if op == SHOWN:
                patience.note_shown(by)
                return {}
            # Who sets the pace is there to see what waits.
            patience.note_person()
            return await control_clock(society, op, value, by)

        controls = ControlPump(path, control)
        exits.push_async_callback(controls.close)
        if society.host.outage is not None:
            # The two wait for what they have in hand, and that must not wait for a disk that stays full (K17).
            exits.push_async_callback(society.host.outage.close)
    cut_off = await serve_guests(exits, directory, clock, society, door, reception)
    beside = asyncio.create_task(plan.ports.beside(society.host, cut_off), name="beside the society")
    beside.add_done_callback(_beside_ended)

    async def end() -> None:
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)

    exits.push_async_callback(end)
    has_console = _has_console(options, plan)
    if options.has_console and plan.settings.console.enabled and plan.directory is None:
        feed.say("no page: it reads the log's file, and --bus memory keeps none")
    if plan.settings.surfaces or has_console:
        loop = asyncio.get_running_loop()

        def say(address: str) -> None:
            loop.call_soon_threadsafe(feed.open_at, address)

        environ = {} if plan.led is None else {BUS: plan.led.nats.address.secret}
        child = GatewayChild(
            directory, options.config, more=_gateway_words(options, has_console), environ=environ, say=say
        )
        exits.callback(child.close)


def _has_console(options: UpOptions, plan: Plan) -> bool:
    """Say whether there is a page; it reads the log's file, and a society in memory has none."""
    return options.has_console and plan.settings.console.enabled and plan.directory is not None


def _gateway_words(options: UpOptions, has_console: bool) -> list[str]:
    if not has_console:
        return ["--no-console"]
    words = [] if options.host is None else ["--host", options.host]
    return words if options.port is None else [*words, "--port", str(options.port)]


def _beside_ended(task: asyncio.Task[None]) -> None:
    """Say so when a rehearsal could not go on; the society does."""
    if not task.cancelled() and (fault := task.exception()) is not None:
        _log.error("nothing is made to go wrong any more", why=f"{type(fault).__name__}: {fault}")


def _raised_in_warm_up(directory: Path, society: Society) -> list[str]:
    """Return the open escalations of the warm-up, which nobody may have been shown before it was over."""
    raised = [state for state in society.host.docket.cases.values() if isinstance(state, EscalationState)]
    if not raised or society.plan.directory is None:
        return []
    starts = [
        (env.seq, env.body.warm_up)
        for env in stored_envelopes(directory)
        if isinstance(env.body, SocietyStarted)
    ]
    end = next((seq for seq, is_warm_up in starts if not is_warm_up), 0)
    return [state.case_id for state in raised if state.opened_seq < end]


def _tail(directory: Path) -> list[Any]:
    last = last_envelope(directory)
    return list(stored_envelopes(directory, max(1, last.seq - LOOKED_BACK))) if last is not None else []
