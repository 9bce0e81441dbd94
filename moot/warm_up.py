"""A warm-up: the days that a fresh society lives in virtual time before the first wall second."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from moot.channels.log.lease import LOCK_NAME
from moot.clock import VirtualClock
from moot.config.settings import Settings
from moot.minds.choosing import Chosen
from moot.plan import Plan
from moot.protocols.escalation.case import EscalationState
from moot.protocols.research.debate import DebateState
from moot.protocols.research.debate_table import BUDGETED
from moot.society import Society

NAME: Final = "warming-up"
"""The folder of a life that may not be kept; what is in it is moved out, or removed."""
LOOK: Final = timedelta(minutes=10)
"""So often, in society time, it looks whether something waits for a person."""
LEFT: Final = timedelta(hours=2)
"""So long an escalation still waits at least: a minute at 120 times real time, until a page is opened."""
EARLIER: Final = timedelta(hours=7)
"""So much earlier the next life begins, at another hour: nothing came up in the one before."""
LIVES: Final = 6
"""So many are begun at most; in about one of ten nothing comes up in three days."""


def live(
    directory: Path,
    settings: Settings,
    minds: Mapping[str, Chosen],
    seed: int,
    days: timedelta,
    latest: datetime,
    say: Callable[[str], None],
    *,
    is_rehearsal: bool = False,
) -> datetime:
    """Let a fresh society live in virtual time, and leave its log, memory and evidence in a data directory.

    It ends in the second half of the time that it has, at the first moment at which a debate has no verdict yet and
    an escalation waits for a person, and will for a while: there is something to see and to answer. A life in which
    that does not happen is not kept: another begins some hours earlier.

    Args:
        directory: The data directory, which has no log yet.
        settings: The effective configuration.
        minds: What fills the seats.
        seed: Seeds minds and prices.
        days: How long it lives at most.
        latest: When it ends at the latest.
        say: Told a line at the start and at the end.
        is_rehearsal: Whether it is the beginning of a rehearsal; nothing is made to go wrong in it.

    Returns:
        The society's time at its end.
    """
    place = directory / NAME
    say(f"warming up in simulated time, {_days(days)} at most, until an escalation waits ...")
    lives = 0
    while True:
        # Where one was killed before.
        shutil.rmtree(place, ignore_errors=True)
        start = latest - days - lives * EARLIER
        plan = Plan(
            settings=settings,
            seed=seed,
            start=start,
            directory=place,
            is_warm_up=True,
            minds=minds,
            rehearsal=0.0 if is_rehearsal else None,
        )
        until, is_awaited = _life(plan, days)
        lives += 1
        if is_awaited or lives == LIVES:
            break
        say("nothing came up that waits for you: once more, from another hour ...")
    _keep(place, directory)
    found = "" if is_awaited else ", and no escalation came up"
    say(f"lived {_days(until - start)}, until {until:%a %d %b %H:%M} UTC{found}")
    return until


def _keep(place: Path, directory: Path) -> None:
    """Move what a life left; the log comes last, so that who is killed meanwhile begins anew."""
    for path in sorted(place.iterdir(), key=lambda path: path.name == "log.sqlite"):
        if path.is_dir():
            shutil.copytree(path, directory / path.name, dirs_exist_ok=True)
        elif path.name != LOCK_NAME:
            path.replace(directory / path.name)
    shutil.rmtree(place)


def _life(plan: Plan, days: timedelta) -> tuple[datetime, bool]:
    """Live once; return when that ended, and whether something waits for a person."""
    end = plan.start + days

    async def main(clock: VirtualClock) -> tuple[datetime, bool]:
        until = plan.start + days / 2
        async with await Society.open(plan, clock) as society:
            docket = society.host.docket

            def is_awaited() -> bool:
                cases = docket.cases.values()
                return any(
                    isinstance(case, DebateState) and case.phase in BUDGETED for case in cases
                ) and any(
                    isinstance(case, EscalationState) and until + LEFT <= case.anchor_at + case.within
                    for case in cases
                )

            await society.run_until(until)
            while until < end and not is_awaited():
                until = min(until + LOOK, end)
                await society.run_until(until)
            found = is_awaited()
            await society.close("the warm-up is over")
        return until, found

    return VirtualClock(plan.start).run(main)


def _days(time: timedelta) -> str:
    """Say how long, in days and hours."""
    days, rest = divmod(round(time / timedelta(hours=1)), 24)
    words = [f"{n} {one}{'s' * (n != 1)}" for n, one in ((days, "day"), (rest, "hour")) if n]
    return " ".join(words) or "less than an hour"
