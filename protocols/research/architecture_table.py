"""The weekly cycle as a machine: who owes what, what follows, what silence leads to (spec 2.2, 2.3, 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.arena.messages import ArenaTask
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.seats import REFEREE, Seat
from moot.protocols.kernel.steps import ENDED, STOP, Missed, Move, Step, ends, passes
from moot.protocols.kernel.times import minutes
from moot.protocols.opinion import PLACE, waiting
from moot.protocols.panel.messages import PanelOpened
from moot.protocols.research import architecture as rules
from moot.protocols.research import architecture_panels as panels
from moot.protocols.research.architecture import (
    ADJUSTING,
    CRITIQUING_1,
    CRITIQUING_2,
    JUDGING,
    KIND,
    PANELLING,
    PROPOSING,
    REBUTTING,
    REFINING,
    REFLECTING,
    REPORTING,
    REVIEWING,
)
from moot.protocols.research.debate_duties import budget_spent
from moot.protocols.research.debate_table import CYCLE_BUDGET
from moot.protocols.research.messages import (
    ArchitectureCritique,
    ArchitectureProposal,
    ArchitectureRebuttal,
    ArchitectureVerdict,
    CycleTrigger,
    MetaReflection,
    ThresholdReview,
    ThresholdsAdjusted,
    WeeklyReport,
)
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER

ARENA, REPORTS, RUNS = "#a-arena", "#a-report", "#r-arena"


def _step(
    phase: str, seat: Seat, moves: Mapping[type[Message], Move], missed: Missed, within: int = 20, **more: Any
) -> Step:
    """Return a duty of a seat, in the time limits of a debate (R-D16, R-D17)."""
    given: dict[str, Any] = {"channel": ARENA, "figures": rules.week, "brief": rules.at_hand, **more}
    return Step(
        phase=phase,
        seat=seat,
        moves=moves,
        missed=missed,
        rule=missed.rule,
        within=minutes(within),
        grace=minutes(10),
        **given,
    )


def _silence(outcome: str, to: str, rule: str = "R-D16") -> Missed:
    return Missed(rule, outcome, Move((to,), passes))


def _critique(n: int, phase: str, to: str) -> Step:
    taken = Move((to,), rules.critiqued)
    return _step(
        phase,
        CRITIC,
        {ArchitectureCritique: taken},
        _silence("void", JUDGING),
        figures=rules.critique_of(n),
    )


DEBATE: Final[dict[str, Step]] = {
    "proposal": _step(
        PROPOSING,
        EXPLORER,
        {ArchitectureProposal: Move((CRITIQUING_1,), rules.proposed)},
        _silence("skip", REVIEWING),
        within=30,
    ),
    "budget": Step(
        phase=PROPOSING,
        lasts=(CRITIQUING_1, REBUTTING, CRITIQUING_2, JUDGING),
        seat=REFEREE,
        channel=ARENA,
        moves={Ruling: Move((REVIEWING,), passes)},
        missed=None,
        rule="R-D1",
        within=CYCLE_BUDGET,
        grace=NO_GRACE,
        discharge=budget_spent,
    ),
    "critique-1": _critique(1, CRITIQUING_1, REBUTTING),
    "rebuttal": _step(
        REBUTTING,
        EXPLORER,
        {ArchitectureRebuttal: Move((CRITIQUING_2,), rules.rebutted)},
        _silence("void", JUDGING),
    ),
    "critique-2": _critique(2, CRITIQUING_2, JUDGING),
    "verdict": _step(
        JUDGING,
        EVOLVER,
        {ArchitectureVerdict: Move((REFINING, PANELLING), rules.decided)},
        _silence("REJECT", REVIEWING),
        figures=rules.verdict_figures,
    ),
}
"""Two rounds and a verdict (spec 3.1); what is there goes to the Evolver, a missing verdict rejects (R-D10, R-D16)."""

CHANGES: Final[dict[str, Step]] = {
    panels.PANEL: _step(
        PANELLING,
        EVOLVER,
        {PanelOpened: Move((PANELLING,), panels.opened)},
        Missed("R-D16", "skip", Move((PANELLING,), panels.unopened)),
        within=10,
        channel=PLACE,
        subjects=panels.changes_asked,
        name=lambda _state, change_id: f"{panels.PANEL}-{change_id}",
        brief=rules.to_be_judged,
    ),
    panels.LIMIT: waiting(
        PANELLING,
        PLACE,
        "R-D16",
        Move((PANELLING,), panels.too_late),
        outcome="skip",
        subjects=lambda _state: (),
        name=lambda _state, change_id: f"{panels.LIMIT}-{change_id}",
    ),
    "refine": _step(
        REFINING,
        EVOLVER,
        {ArenaTask: Move((REFINING,), rules.run_opened)},
        _silence("skip", REFINING, "R-D17"),
        within=10,
        channel=RUNS,
        subjects=rules.changes_approved,
        is_about=rules.is_its_run,
        name=lambda _state, change_id: f"refine-{change_id}",
        brief=rules.to_be_refined,
    ),
}
"""What each approved change is owed, all at once: a panel, where one is wanted, then a run (spec 3.2, R-D16)."""

DUTIES: Final[dict[str, Step]] = {
    "threshold-review": _step(
        REVIEWING,
        EVOLVER,
        {ThresholdReview: Move((ADJUSTING,), rules.reviewed)},
        _silence("skip", REFLECTING, "R-D17"),
        figures=rules.review_figures,
    ),
    "thresholds": _step(
        ADJUSTING,
        CRITIC,
        {ThresholdsAdjusted: Move((REFLECTING,), passes)},
        _silence("skip", REFLECTING, "R-D17"),
        figures=rules.adjusting_figures,
    ),
    "meta-reflection": _step(
        REFLECTING,
        EVOLVER,
        {MetaReflection: Move((REPORTING,), passes)},
        _silence("skip", REPORTING, "R-D17"),
        channel=REPORTS,
        figures=rules.reflection_figures,
    ),
    "weekly-report": _step(
        REPORTING,
        EVOLVER,
        {WeeklyReport: Move((ENDED,), ends("reported"))},
        Missed("R-D17", "skip", Move((ENDED,), ends("reported"))),
        channel=REPORTS,
        figures=rules.report_figures,
    ),
}
"""What is owed every week, whatever the debate brought (spec 2.2, 2.3, R-D17)."""

ARCHITECTURE: Final = Machine(
    kind=KIND,
    system="A",
    title="Weekly cycle",
    phases=(
        *(PROPOSING, CRITIQUING_1, REBUTTING, CRITIQUING_2, JUDGING),
        *(PANELLING, REFINING),
        *(REVIEWING, ADJUSTING, REFLECTING, REPORTING),
    ),
    rule="3.1",
    start={CycleTrigger: Start(rules.open_architecture, (PROPOSING,), through="cycle")},
    steps={**DEBATE, **CHANGES, **DUTIES},
    facts={
        (PANELLING, PanelOpened): Move((), panels.not_asked),
        (REFINING, ArenaTask): Move((), rules.run_refused),
    },
    rulings={STOP: Move((ENDED,), ends("stopped"))},
    children={(PANELLING, "panel"): Move((PANELLING,), panels.judged)},
    dry={PANELLING: Move((REFINING,), panels.all_judged), REFINING: Move((REVIEWING,), passes)},
)
"""A weekly cycle: a debate over the system itself, then runs of what it approved, then the week's duties."""
