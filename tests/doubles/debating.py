"""Shortest ways to every phase of a debate, at a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.kernel.seats import REFEREE as REFEREE_SEAT
from moot.protocols.research import messages as m
from moot.protocols.research.debate import DebateState
from moot.protocols.research.debate_machine import DEBATE
from moot.protocols.research.debate_table import Phase
from moot.protocols.research.seats import CRITIC as CRITIC_SEAT
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from moot.protocols.research.seats import EXPLORER as EXPLORER_SEAT
from tests.doubles import bodies
from tests.doubles.table import Table

EXPLORER, CRITIC, EVOLVER, ADMIN, REFEREE = EXPLORER_SEAT, CRITIC_SEAT, EVOLVER_SEAT, ADMIN_SEAT, REFEREE_SEAT

STEP_OF = {step.phase: step for step in DEBATE.steps.values() if step.seat != REFEREE}
"""What a seat owes in each phase of a debate."""


def cycle_of(table: Table) -> str:
    """Return the id of the newest cycle."""
    return str(table.last("CYCLE_TRIGGER").case_id)


def hypothesise(table: Table, **over: Any) -> str:
    """Post the hypothesis of the open cycle; returns the debate's case id."""
    return str(table.say(EXPLORER, bodies.hypothesis(cycle_of(table), **over)).case_id)


def opened(**how: Any) -> tuple[Table, str]:
    """Return a table whose cycle has just got its hypothesis."""
    table = Table(**how)
    return table, hypothesise(table)


def debate(table: Table, case_id: str) -> DebateState:
    """Return a debate's state."""
    state = table.docket.cases[case_id]
    assert isinstance(state, DebateState)
    return state


def assess(table: Table, round: Any = 1, confidence: float = 0.6, **over: Any) -> Envelope:
    return table.say(CRITIC, bodies.assessment(round, confidence, **over))


def rebut(table: Table, round: int = 2, **over: Any) -> Envelope:
    return table.say(EXPLORER, bodies.rebuttal(round, **over))


def concede(table: Table, round: Any = 2) -> Envelope:
    return table.say(EXPLORER, m.Concede(round=round, reason="it is true"))


def judge(table: Table, verdict: str = "APPROVE", confidence: float = 0.8, **over: Any) -> Envelope:
    return table.say(EVOLVER, bodies.verdict(verdict, confidence, **over))


def judge_finally(table: Table, verdict: str = "APPROVE", confidence: float = 0.8, **over: Any) -> Envelope:
    return table.say(EVOLVER, bodies.verdict(verdict, confidence, final=True, **over))


def extend(table: Table, alpha: float = 0.6, risk: float = 0.65, extra_rounds: int = 1) -> Envelope:
    owed = table.owed(EVOLVER, "VERDICT")
    body = bodies.extend(alpha, risk, extra_rounds)
    return table.say(EVOLVER, body, channel="#a-arena", owed=owed)


def request(table: Table, **over: Any) -> Envelope:
    return table.say(EVOLVER, bodies.revise_request(**over))


def revise(table: Table, **over: Any) -> Envelope:
    return table.say(EXPLORER, bodies.revised(**over))


def backtest(table: Table, passed: bool = True, **over: Any) -> Envelope:
    return table.say(EVOLVER, bodies.backtest(passed, **over))


def move(table: Table, **over: Any) -> Envelope:
    return table.say(EVOLVER, bodies.moved(**over))


def record(table: Table, kind: str = "success", **over: Any) -> Envelope:
    return table.say(EVOLVER, m.CausalRecord(record=bodies.entry(kind, **over)))


def reflect(table: Table, **over: Any) -> Envelope:
    return table.say(EVOLVER, m.Reflection(record=bodies.entry(**over)))


def report(table: Table) -> Envelope:
    """Post the report of the cycle as the log counts it."""
    owed = table.owed(EVOLVER, "MICRO_CYCLE_REPORT")
    figures = table.docket.rules.types["cycle"].brief(
        table.docket.cases[owed.case_id], owed, table.docket.context
    )
    return table.say(EVOLVER, bodies.report(figures, owed.case_id))


def two_rounds(table: Table) -> None:
    """Argue for two rounds."""
    assess(table)
    rebut(table)
    assess(table, 2)


def third_round(table: Table) -> None:
    two_rounds(table)
    extend(table)


def revision(table: Table) -> None:
    """Argue, and get a verdict of REVISE."""
    two_rounds(table)
    judge(table, "REVISE", 0.7)


def _assessing_2(table: Table) -> None:
    assess(table)
    rebut(table)


def _assessing_3(table: Table) -> None:
    third_round(table)
    rebut(table, 3)


def _revising(table: Table) -> None:
    revision(table)
    request(table)


def _reassessing(table: Table) -> None:
    _revising(table)
    revise(table)


def _final_judging(table: Table) -> None:
    _reassessing(table)
    assess(table, "revision")


def _backtesting(table: Table) -> None:
    two_rounds(table)
    judge(table)


def _moving(table: Table) -> None:
    _backtesting(table)
    backtest(table)


def _recording(table: Table) -> None:
    _moving(table)
    move(table)


def _reflecting(table: Table) -> None:
    two_rounds(table)
    judge(table, "REJECT")


WAYS: dict[Phase, Callable[[Table], object]] = {
    Phase.ASSESSING_1: lambda table: None,
    Phase.REBUTTING_2: assess,
    Phase.ASSESSING_2: _assessing_2,
    Phase.JUDGING: two_rounds,
    Phase.REBUTTING_3: third_round,
    Phase.ASSESSING_3: _assessing_3,
    Phase.REQUESTING: revision,
    Phase.REVISING: _revising,
    Phase.REASSESSING: _reassessing,
    Phase.FINAL_JUDGING: _final_judging,
    Phase.BACKTESTING: _backtesting,
    Phase.MOVING: _moving,
    Phase.RECORDING: _recording,
    Phase.REFLECTING: _reflecting,
}
"""How to reach each open phase from a fresh hypothesis, without time passing."""


def reach(phase: Phase, **how: Any) -> tuple[Table, str]:
    """Return a table whose only debate is in a phase."""
    table, case_id = opened(**how)
    WAYS[phase](table)
    assert debate(table, case_id).phase == phase
    return table, case_id


def beside(table: Table, env: Envelope) -> Any:
    """Return the body of the VIOLATION beside a message; it must be the very next one."""
    following = table.log[env.seq]
    assert following.body.type == "VIOLATION", following
    assert (following.body.of_seq, following.channel, following.author) == (env.seq, env.channel, REFEREE)  # type: ignore[attr-defined]
    assert following.in_reply_to == env.id
    return following.body


def ruling(table: Table) -> tuple[str, str, str]:
    """Return outcome, reason and rule of the newest RULING."""
    body: Any = table.last("RULING").body
    return (body.outcome, body.reason, body.rule)


def outcome(table: Table, case_id: str) -> str:
    """Return how a case ended."""
    return table.docket.ended[case_id].outcome
