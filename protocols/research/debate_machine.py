"""The debate as a table: who owes what in each phase, which message moves where, what silence leads to.

Sources: spec 1.1 to 1.4; R-D1 (times), R-D2 (channels), R-D5, R-D9, R-D10, R-D15, R-D22, K23.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from moot.protocols.kernel.figures import Figures
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import REFEREE, Seat
from moot.protocols.kernel.steps import ENDED, STOP, Missed, Move, Step, ends, passes
from moot.protocols.kernel.times import minutes
from moot.protocols.research import debate, debate_duties, recorded
from moot.protocols.research import messages as m
from moot.protocols.research.debate_table import AFTER_REVISE, BUDGETED, REVISED, REVISION_WITHIN, Phase
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER

ARENA, VERDICTS, REPORTS, BRIDGE = "#a-arena", "#a-verdict", "#a-report", "#bridge"

_JUDGED: Final = (Phase.BACKTESTING, Phase.REFLECTING)
_REJECTED: Final = Move((ENDED,), debate.rejected)

_TO_THE_JUDGE: Final = Missed("R-D10", "void", Move((Phase.JUDGING,), debate.silent))
_EXCHANGE_OVER: Final = Missed("1.4", "void", Move((Phase.JUDGING,), debate.silent))
_REJECT: Final = Missed("R-D10", "REJECT", _REJECTED)


def _step(
    phase: Phase,
    seat: Seat,
    channel: str,
    within: int,
    moves: Mapping[type[Message], Move],
    missed: Missed,
    *,
    rule: str = "1.4",
    figures: Callable[[Any, Any], Figures] | None = None,
    **more: Any,
) -> Step:
    """Return a duty of a seat: so many minutes, and ten of grace (R-D1)."""
    if figures is not None:
        more["figures"] = figures
    return Step(phase, seat, channel, moves, missed, rule, minutes(within), minutes(10), **more)


def _round(n: int, rebutting: Phase, assessing: Phase, within: int) -> dict[str, Step]:
    """Return a later round of the exchange: the Explorer rebuts or concedes, then the Critic assesses."""
    return {
        f"rebuttal-{n}": _step(
            rebutting,
            EXPLORER,
            ARENA,
            within,
            {
                m.Rebuttal: Move((assessing,), debate.answered),
                m.Concede: Move((Phase.JUDGING,), debate.conceded),
            },
            _EXCHANGE_OVER,
            figures=debate_duties.round_is(n),
        ),
        f"assessment-{n}": _step(
            assessing,
            CRITIC,
            ARENA,
            within,
            {m.RiskAssessment: Move((Phase.JUDGING,), debate.round_ended)},
            _TO_THE_JUDGE,
            figures=debate_duties.round_is(n),
        ),
    }


STEPS: Final[Mapping[str, Step]] = {
    "assessment-1": _step(
        Phase.ASSESSING_1,
        CRITIC,
        ARENA,
        20,
        {m.RiskAssessment: Move((Phase.REBUTTING_2, Phase.JUDGING), debate.first_assessed)},
        _TO_THE_JUDGE,
        figures=debate_duties.round_is(1),
    ),
    "budget": Step(
        Phase.ASSESSING_1,
        REFEREE,
        ARENA,
        {Ruling: _REJECTED},
        None,
        "R-D1",
        debate_duties.budget_left,
        NO_GRACE,
        lasts=tuple(phase for phase in Phase if phase in BUDGETED and phase is not Phase.ASSESSING_1),
        discharge=debate_duties.budget_spent,
    ),
    **_round(2, Phase.REBUTTING_2, Phase.ASSESSING_2, 20),
    "verdict": _step(
        Phase.JUDGING,
        EVOLVER,
        VERDICTS,
        20,
        {
            m.Verdict: Move((*_JUDGED, Phase.REQUESTING), debate.judged),
            m.ExtendDebate: Move((Phase.REBUTTING_3,), debate.extended),
        },
        _REJECT,
        asks=debate_duties.asked_of_the_judge,
        name=debate_duties.verdict_name,
    ),
    **_round(3, Phase.REBUTTING_3, Phase.ASSESSING_3, 10),
    "revise-request": _step(
        Phase.REQUESTING,
        EVOLVER,
        ARENA,
        5,
        {m.ReviseRequest: Move((Phase.REVISING,), debate.requested)},
        _REJECT,
        rule="R-F8",
        figures=debate_duties.revision_deadline,
    ),
    "revision": _step(
        Phase.REVISING,
        EXPLORER,
        ARENA,
        REVISION_WITHIN // minutes(1),
        {m.RevisedHypothesis: Move((Phase.REASSESSING,), debate.revised)},
        _REJECT,
    ),
    "assessment-revision": _step(
        Phase.REASSESSING,
        CRITIC,
        ARENA,
        10,
        {m.RiskAssessment: Move((Phase.FINAL_JUDGING,), debate.assessed)},
        Missed("R-D10", "void", Move((Phase.FINAL_JUDGING,), passes)),
        figures=debate_duties.round_is("revision"),
    ),
    "final-verdict": _step(
        Phase.FINAL_JUDGING,
        EVOLVER,
        VERDICTS,
        5,
        {m.FinalVerdict: Move(_JUDGED, debate.finally_judged)},
        _REJECT,
    ),
    "backtest": _step(
        Phase.BACKTESTING,
        EVOLVER,
        VERDICTS,
        20,
        {m.BacktestResult: Move((Phase.MOVING, Phase.RECORDING), debate.backtested)},
        _REJECT,
        name=debate_duties.again("backtest"),
    ),
    "move": _step(
        Phase.MOVING,
        EVOLVER,
        BRIDGE,
        20,
        {m.StrategyMoved: Move((Phase.RECORDING,), debate.moved)},
        Missed("R-D10", "void", Move((Phase.RECORDING,), passes)),
        rule="R-B11",
        figures=debate_duties.candidates_only,
    ),
    "record": _step(
        Phase.RECORDING,
        EVOLVER,
        REPORTS,
        20,
        {m.CausalRecord: Move((ENDED,), debate.recorded)},
        Missed("R-D10", "void", Move((ENDED,), debate.unrecorded)),
        rule="R-D13",
        figures=recorded.RECORD,
    ),
    "reflection": _step(
        Phase.REFLECTING,
        EVOLVER,
        REPORTS,
        20,
        {m.Reflection: Move((ENDED,), debate.reflected)},
        Missed("R-D10", "void", Move((ENDED,), ends("rejected"))),
        rule="R-D13",
        figures=recorded.RECORD,
        name=debate_duties.again("reflection"),
    ),
}

OPEN: Final = tuple(phase for phase in Phase if phase is not Phase.ENDED)
REASONS: Final = (
    "cycle_budget",
    "conservative",
    "low_confidence",
    "no_assessment",
    "tie",
    "outweighed",
    "fatal_flaw",
    "next_action",
    "revise_cap",
    "deadlocked",
    "conceded",
)
"""Reasons of a REJECT ruling besides silence (R-D6 to R-D11, R-B8, R-F9, R-G2)."""


def _cycle_of(body: Message) -> str | None:
    return body.cycle_id if type(body) is m.Hypothesis else None


DEBATE: Final = Machine(
    kind=debate.KIND,
    system="A",
    phases=OPEN,
    rule="1.1",
    start={
        m.Hypothesis: Start(debate.opened, (Phase.ASSESSING_1,)),
        Override: Start(debate.reopened, _JUDGED),
    },
    steps=STEPS,
    facts={
        **{
            (phase, Override): Move(
                _JUDGED, debate.overridden if phase in BUDGETED else debate.overridden_again
            )
            for phase in OPEN
        },
        **{(phase, m.ReviseRequest): Move((), debate.second_request) for phase in sorted(AFTER_REVISE)},
        **{
            (phase, kind): Move((), debate.second_verdict)
            for phase in sorted(REVISED)
            for kind in (m.Verdict, m.FinalVerdict)
        },
        **{
            (phase, m.ExtendDebate): Move((), debate.three_rounds)
            for phase in (Phase.REBUTTING_3, Phase.ASSESSING_3)
        },
    },
    rulings={STOP: Move((ENDED,), debate.stopped), **dict.fromkeys(REASONS, _REJECTED)},
    parent_of=_cycle_of,
)
