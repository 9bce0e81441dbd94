"""Cases of Moot's own, each held whole as one trial: a debate, a run of the Arena, a review panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.arbiter.meetings.arena import ArenaRun
from moot.arbiter.meetings.debate import Debate
from moot.arbiter.meetings.meeting import Meeting
from moot.arbiter.meetings.panel import Panel
from moot.clock import VirtualClock
from moot.config.arbiter.moot_protocols import ARENA, DEBATE, PANEL
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.workshop import START

MEETINGS: Final[Mapping[str, type[Meeting]]] = {DEBATE: Debate, ARENA: ArenaRun, PANEL: Panel}
"""By the type of a run's protocol."""


def meeting_of(config: ResolvedConfiguration, trial_id: int) -> Meeting:
    """Prepare what a trial holds."""
    return MEETINGS[config.protocol.type](config, trial_id)


def simulated(config: ResolvedConfiguration, trial_id: int) -> Meeting:
    """Have simulated minds hold what a trial holds, in virtual time; equal seeds give equal words.

    It takes a thread of its own where a loop runs.
    """
    meeting = meeting_of(config, trial_id)
    minds = {seat: meeting.simulated(seat) for seat in meeting.seats}
    VirtualClock(START).run(lambda clock: meeting.hold(clock, minds))
    return meeting
