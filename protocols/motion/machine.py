"""A motion as a table: who owes what in each phase, which message moves where, what silence leads to (R-Q1, R-Q2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from moot.protocols.kernel.figures import ByField
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.steps import ENDED, STOP, Missed, Move, Step, ends, passes
from moot.protocols.motion import debating, judging
from moot.protocols.motion.messages import Claim, ExtendMotion, Judgment, Motion, Objections, Replies
from moot.protocols.motion.rights import PLACE
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from moot.protocols.motion.state import GRACE, KIND, THIRD_WITHIN, WITHIN, Phase
from moot.protocols.research.seats import CRITIC

_ENDS: Final = Missed("R-Q2", "void", Move((ENDED,), ends("timeout")))
_TO_THE_JUDGE: Final = Missed("R-Q2", "void", Move((Phase.JUDGING,), passes))
_TO_THE_END: Final = Missed("R-Q2", "void", Move((Phase.CONCLUDING,), passes))
_JUDGED: Final = Move((ENDED,), judging.judged)


def _step(
    phase: Phase,
    seat: Seat,
    moves: Mapping[type[Message], Move],
    missed: Missed,
    within: timedelta = WITHIN,
    **more: Any,
) -> Step:
    """Return a duty of a seat (R-Q2)."""
    return Step(
        phase=phase,
        seat=seat,
        channel=PLACE,
        moves=moves,
        missed=missed,
        rule="R-Q1",
        within=within,
        grace=GRACE,
        may_see=debating.sight,
        brief=debating.brief,
        **more,
    )


def _round(
    n: int, then: tuple[Phase, ...], otherwise: Phase, missed: Missed, within: timedelta = WITHIN
) -> dict[str, Step]:
    """Return a round: objections, and replies to them.

    Args:
        n: Its number.
        then: What may follow the replies, the usual first.
        otherwise: What follows where there is no objection.
        missed: What silence leads to.
        within: Time for each message.
    """
    objecting, replying = Phase(f"objecting_{n}"), Phase(f"replying_{n}")
    objected = Move((replying, otherwise), debating.objected(otherwise))
    figures = debating.round_is(n)
    return {
        f"objections-{n}": _step(objecting, CRITIC, {Objections: objected}, missed, within, figures=figures),
        f"replies-{n}": _step(
            replying, ADVOCATE, {Replies: Move(then, debating.replied)}, missed, within, figures=figures
        ),
    }


STEPS: Final[Mapping[str, Step]] = {
    "claim": _step(
        Phase.CLAIMING,
        ADVOCATE,
        {Claim: Move((Phase.OBJECTING_1,), debating.claimed)},
        _ENDS,
        figures=ByField({"option": debating.among_options}),
    ),
    **_round(1, (Phase.OBJECTING_2, Phase.JUDGING), Phase.JUDGING, _TO_THE_JUDGE),
    **_round(2, (Phase.JUDGING, Phase.OBJECTING_3), Phase.JUDGING, _TO_THE_JUDGE),
    "judgment": _step(
        Phase.JUDGING,
        JUDGE,
        {Judgment: _JUDGED, ExtendMotion: Move((Phase.OBJECTING_3,), judging.extended)},
        _ENDS,
        asks=judging.asked_of_the_judge,
    ),
    **_round(3, (Phase.CONCLUDING,), Phase.CONCLUDING, _TO_THE_END, THIRD_WITHIN),
    "conclusion": _step(Phase.CONCLUDING, JUDGE, {Judgment: _JUDGED}, _ENDS),
}

MOTION: Final = Machine(
    kind=KIND,
    system="",
    phases=tuple(Phase),
    rule="R-Q1",
    start={Motion: Start(debating.opened, (Phase.CLAIMING,))},
    steps=STEPS,
    facts={
        (phase, ExtendMotion): Move((), judging.three_rounds)
        for phase in (Phase.OBJECTING_3, Phase.REPLYING_3, Phase.CONCLUDING)
    },
    rulings={STOP: Move((ENDED,), ends("stopped"))},
)
