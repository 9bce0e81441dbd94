"""The laws find what a docket with a mistake in it would let pass."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.kernel.steps import Move
from moot.protocols.research import debate as debate_rules
from moot.protocols.research import judging
from moot.protocols.research import messages as m
from moot.protocols.research.debate_duties import round_is
from moot.protocols.research.debate_machine import STEPS
from moot.protocols.research.debate_table import CYCLE_BUDGET, Phase
from moot.protocols.research.seats import CRITIC as CRITIC_SEAT
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from moot.protocols.research.seats import EXPLORER as EXPLORER_SEAT
from moot.verify import verify
from tests.doubles import bodies
from tests.doubles.checking import InHand
from tests.doubles.copying import replace
from tests.doubles.table import START, Table

EXPLORER, CRITIC, EVOLVER, ADMIN = EXPLORER_SEAT, CRITIC_SEAT, EVOLVER_SEAT, ADMIN_SEAT
Patch = pytest.MonkeyPatch


def second(table: Table) -> list[tuple[int, str]]:
    """Return what only the laws find: (seq, law)."""
    table.wait(minutes=2)
    table.stop()
    return [(f.seq, f.invariant) for f in verify(InHand(table.log), evidence=False).findings]


def argued(rounds: int = 2, confidence: float = 0.6, table: Table | None = None) -> Table:
    """Play a debate up to its verdict."""
    table = table or Table()
    table.wait(minutes=3)
    table.say(EXPLORER, bodies.hypothesis(table.last("CYCLE_TRIGGER").body.cycle_id))  # type: ignore[attr-defined]
    for round_ in range(1, rounds + 1):
        table.wait(minutes=3)
        table.say(CRITIC, bodies.assessment(round_, confidence))
        if round_ < rounds:
            table.wait(minutes=3)
            table.say(EXPLORER, bodies.rebuttal(round_ + 1))
    table.wait(minutes=3)
    return table


def judged(table: Table, *args: Any, **over: Any) -> int:
    """Give the verdict; return its seq."""
    return table.say(EVOLVER, bodies.verdict(*args, **over)).seq


def extended(table: Table, body: m.ExtendDebate) -> int:
    """Ask for another round; return its seq."""
    return table.say(EVOLVER, body, owed=table.owed(EVOLVER, "EXTEND_DEBATE"), channel="#a-arena").seq


def revised(table: Table) -> Table:
    """Play a revision up to its final verdict."""
    judged(table, "REVISE")
    table.wait(minutes=2)
    table.say(EVOLVER, bodies.revise_request())
    table.wait(minutes=2)
    table.say(EXPLORER, bodies.revised())
    table.wait(minutes=2)
    table.say(CRITIC, bodies.assessment("revision"))
    table.wait(minutes=2)
    return table


def never(*_args: Any, **_how: Any) -> bool:
    return False


# ---------------------------------------------------------------- approvals


def test_a_sound_debate_is_sound() -> None:
    table = argued()
    judged(table)
    assert second(table) == []


def test_a_low_confidence_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(judging, "SURE", judging.SURE._replace(limit=0.1))
    table = argued()
    seq = judged(table, "APPROVE", 0.5)
    assert second(table) == [(seq, "approvals-are-earned")]


def test_a_tie_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(judging, "is_tie", never)
    monkeypatch.setattr(judging, "LEAD", judging.LEAD._replace(limit=-1.0))
    table = argued()
    seq = judged(table, alpha_argument_score=0.7, risk_argument_score=0.66)
    assert second(table) == [(seq, "approvals-are-earned")]


@pytest.mark.parametrize("is_changed", [False, True])
def test_an_approval_without_an_assessment_is_found(monkeypatch: Patch, is_changed: bool) -> None:
    """Without any, or without one of the strategy as a rebuttal changed it."""
    table = argued(rounds=int(is_changed))
    if is_changed:
        changed = bodies.strategy(params={"fast": 33, "slow": 60})
        table.say(EXPLORER, bodies.rebuttal(2, modifications=("slower",), strategy=changed))
    table.wait(minutes=31)
    real = judging.judge

    def lenient(state: Any, *args: Any, **how: Any) -> Any:
        return real(type("Assessed", (), {"assessed": True, "flawed": False})(), *args, **how)

    monkeypatch.setattr(debate_rules, "judge", lenient)
    seq = judged(table)
    assert second(table) == [(seq, "the-critic-is-heard")]


def test_the_conservative_mode_is_followed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(judging, "CONSERVATIVE_CONFIDENCE", 0.0)
    table = _conservative()
    argued(table=table)
    seq = judged(table, "APPROVE", 0.7)
    assert second(table) == [(seq, "conservative-means-sure")]


def test_what_an_admin_decides_ends_the_conservative_mode() -> None:
    table = _conservative()
    case_id = table.last("ESCALATION").case_id
    answer = EscalationAnswer(escalation_id=case_id or "", option=3)
    table.say(ADMIN, answer, channel="#admin", case_id=case_id)
    argued(table=table)
    judged(table, "APPROVE", 0.7)
    assert second(table) == []


def _conservative() -> Table:
    """Play a society whose silent Explorer led to the conservative mode, at the start of a cycle."""
    slots = [(START + timedelta(hours=2 * n)).isoformat() for n in range(7)]
    table = Table(schedules={"micro": {"at": slots}})
    table.until(START + timedelta(hours=12) - timedelta(seconds=1))
    assert table.docket.context.conservative_a
    table.wait(seconds=2)
    return table


# ---------------------------------------------------------------- revisions


@pytest.mark.parametrize("final", [True, False])
def test_a_second_revise_is_found(monkeypatch: Patch, final: bool) -> None:
    table = revised(argued())
    kind = m.FinalVerdict if final else m.Verdict
    step = STEPS["final-verdict"]
    moves = {kind: Move((Phase.REQUESTING,), debate_rules.judged)}
    monkeypatch.setitem(STEPS, "final-verdict", replace(step, moves=moves))  # type: ignore[arg-type]
    monkeypatch.setattr(debate_rules, "judge", lambda *args, **how: Phase.REQUESTING)
    body = bodies.verdict("REVISE", final=final)
    owed = table.owed(EVOLVER, "FINAL_VERDICT") if final else None
    channel = None if final else "#a-verdict"
    case_id = table.last("HYPOTHESIS").case_id
    seq = table.post(EVOLVER, body, owed=owed, channel=channel, case_id=case_id).seq
    assert (seq, "one-revision") in second(table)


def test_a_revision_without_time_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(judging, "may_revise", lambda elapsed: True)
    table = Table()
    table.wait(minutes=39)
    table.say(EXPLORER, bodies.hypothesis(table.last("CYCLE_TRIGGER").body.cycle_id))  # type: ignore[attr-defined]
    table.wait(minutes=29)
    table.say(CRITIC, bodies.assessment(1))
    table.wait(minutes=29)
    table.say(EXPLORER, bodies.rebuttal(2))
    table.wait(minutes=22)
    table.say(CRITIC, bodies.assessment(2))
    table.wait(minutes=2)
    seq = judged(table, "REVISE")
    assert table.now - START > CYCLE_BUDGET - timedelta(minutes=30)
    assert (seq, "cycles-keep-their-time") in second(table)


# ---------------------------------------------------------------- rounds and extensions


def test_an_extension_outside_the_band_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(debate_rules, "check_extension", lambda *args: None)
    table = argued()
    seq = extended(table, bodies.extend(0.8, 0.65))
    assert (seq, "three-rounds") in second(table)


def test_an_extension_of_two_rounds_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(debate_rules, "check_extension", lambda *args: None)
    table = argued()
    seq = extended(table, bodies.extend(extra_rounds=2))
    assert (seq, "three-rounds") in second(table)


def test_a_round_out_of_turn_is_found(monkeypatch: Patch) -> None:
    step = replace(STEPS["assessment-1"], figures=round_is(2))
    monkeypatch.setitem(STEPS, "assessment-1", step)  # type: ignore[arg-type]
    table = argued(rounds=0)
    seq = table.say(CRITIC, bodies.assessment(2)).seq
    assert second(table)[0] == (seq, "each-in-its-turn")


@pytest.mark.parametrize(("confidence", "ok"), [(0.86, True), (0.85, False)])
def test_a_verdict_before_the_exchange_is_over_is_found(
    monkeypatch: Patch, confidence: float, ok: bool
) -> None:
    monkeypatch.setattr(debate_rules, "CLEAR", debate_rules.CLEAR._replace(limit=0.0))
    table = argued(rounds=1, confidence=confidence)
    seq = judged(table, "REJECT")
    assert second(table) == ([] if ok else [(seq, "each-in-its-turn")])


def test_a_concession_ends_the_exchange() -> None:
    table = argued(rounds=1)
    table.say(EXPLORER, m.Concede(round=2, reason="true"))
    judged(table, "REJECT")
    assert second(table) == []


# ---------------------------------------------------------------- ends


def test_a_backtest_that_says_otherwise_than_its_figures_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(debate_rules, "check_backtest", lambda body: None)
    table = argued()
    judged(table)
    table.wait(minutes=3)
    bad = bodies.backtest(passed=True, metrics=bodies.backtest(passed=False).metrics)
    seq = table.say(EVOLVER, bad).seq
    assert (seq, "backtests-follow-approvals") in second(table)


def test_a_message_after_the_end_is_found(monkeypatch: Patch) -> None:
    table = argued()
    judged(table, "REJECT")
    case_id = table.last("HYPOTHESIS").case_id
    assert case_id is not None
    entry = bodies.entry(hypothesis_id=case_id)
    last = table.say(EVOLVER, m.Reflection(record=entry))
    assert case_id in table.docket.ended
    table.wait(minutes=5)
    monkeypatch.setattr(type(table.docket), "_violated", lambda self, env, violation, fx: None)
    seq = table.post(
        CRITIC, bodies.assessment(2, hypothesis_id=case_id), channel="#a-arena", case_id=case_id
    ).seq
    assert (seq, "clear-words-end-it") in second(table)
    assert last.seq < seq


def test_an_override_reopens_nothing_but_a_case_of_its_own() -> None:
    table = argued()
    judged(table, "REJECT")
    case_id = table.last("HYPOTHESIS").case_id
    table.say(EVOLVER, m.Reflection(record=bodies.entry(hypothesis_id=case_id)))
    table.wait(minutes=5)
    assert case_id is not None
    over = Override(case_id=case_id, verdict="APPROVE", why="I insist")
    table.say(ADMIN, over, channel="#a-arena", case_id=case_id)
    table.wait(minutes=5)
    table.say(EVOLVER, bodies.backtest(passed=False))
    table.wait(minutes=5)
    table.say(EVOLVER, m.CausalRecord(record=bodies.entry()))
    assert second(table) == []


# ---------------------------------------------------------------- violations take suspicions back


@pytest.mark.parametrize(
    "wrong",
    [
        lambda table: judged(table, "APPROVE", 0.5),
        lambda table: judged(table, alpha_argument_score=0.5, risk_argument_score=0.5),
        lambda table: extended(table, bodies.extend(0.1, 0.1)),
    ],
)
def test_what_has_its_violation_beside_it_is_no_finding(wrong: Callable[[Table], Any]) -> None:
    table = argued()
    wrong(table)
    assert table.last("VIOLATION").body.of_seq  # type: ignore[attr-defined]
    assert second(table) == []


def test_a_wrong_answer_and_then_a_right_one_are_told_apart() -> None:
    table = argued(rounds=1)
    table.say(EXPLORER, bodies.rebuttal(3))
    table.wait(minutes=1)
    table.say(EXPLORER, bodies.rebuttal(2))
    table.wait(minutes=1)
    table.say(CRITIC, bodies.assessment(3))
    table.wait(minutes=1)
    table.say(CRITIC, bodies.assessment(2))
    table.wait(minutes=1)
    judged(table)
    assert second(table) == []


# ---------------------------------------------------------------- escalations


def _alarmed() -> Table:
    """Play until three silences have raised an escalation."""
    slots = [(START + timedelta(hours=2 * n)).isoformat() for n in range(3)]
    table = Table(schedules={"micro": {"at": slots}})
    table.until(START + timedelta(hours=4, minutes=41))
    assert table.last("ESCALATION")
    return table


def test_four_hours_and_answers_end_escalations() -> None:
    table = _alarmed()
    table.wait(hours=4)
    assert second(table) == []

    table = _alarmed()
    case_id = table.last("ESCALATION").case_id
    for option in (9, 3, 3):
        answer = EscalationAnswer(escalation_id=case_id or "", option=option)
        table.say(ADMIN, answer, channel="#admin", case_id=case_id)
    assert [e.body.how for e in table.log if e.body.type == "ESCALATION_RESOLVED"] == ["answered"]  # type: ignore[attr-defined]
    assert second(table) == []


# ---------------------------------------------------------------- outages


@pytest.mark.parametrize("crash", [True, False])
def test_a_violation_may_come_after_an_outage_that_fell_between(crash: bool) -> None:
    table = argued()
    table.post(EVOLVER, bodies.verdict("APPROVE", 0.5))
    table.down(crash=crash, hours=9)
    assert table.last("VIOLATION").seq > table.last("SOCIETY_STARTED").seq
    assert second(table) == []


def test_an_outage_does_not_eat_up_the_time_for_a_revision() -> None:
    table = argued()
    table.down(hours=9)
    judged(table, "REVISE")
    assert second(table) == []


def test_an_outage_does_not_count_towards_four_hours(monkeypatch: Patch) -> None:
    table = _alarmed()
    table.down(hours=5)
    table.wait(minutes=1)
    assert not [e for e in table.log if e.body.type == "ESCALATION_RESOLVED"]
    assert second(table) == []
