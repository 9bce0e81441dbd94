"""Tampering with a log of everything: found by the hashes always, by the rules wherever one is broken."""

from __future__ import annotations

import json
from random import Random
from typing import Final

import pytest

from moot.protocols.rulebook import rulebook
from tests.doubles import tampering
from tests.doubles.full_life import full_life
from tests.doubles.tampering import Lines, alterations, judged, rehashed, renumbered, stripped

LINES: Final[Lines] = [json.loads(env.line) for env in full_life()]
FIRST: Final = {line["body"]["type"]: n for n, line in reversed(list(enumerate(LINES)))}

DESK: Final = {
    name
    for name, kind in rulebook().messages.items()
    if kind.__module__.startswith("moot.protocols.trading.")
} - {"HEALTH_CHECK"}
"""Types of a desk's log, see `test_verify_desk_tampering`."""

APART: Final = {
    name
    for name, kind in rulebook().messages.items()
    if kind.__module__.startswith(
        tuple(f"moot.protocols.{name}." for name in ("arena", "calls", "lab", "panel", "motion"))
    )
}
"""Types of runs, panels, motions, calls and experiments, see `test_verify_arena` and its like."""

SOON = "a second later is still in order and in time"
PROSE = "prose"
JUDGED = "another judgement that is as legal and leads to the same"
PRICED = "computed again where the log names its prices, as this one does not"
OWN = "chosen by who speaks, and nothing refers to it"
SELF = "what a host says of itself"

INVISIBLE: Final[dict[str, dict[str, str]]] = {
    "ANCHOR": {"body.hash": "a log without hashes has none to hold it to", "sent_at": SOON},
    "ARCHITECTURE_CRITIQUE": {
        "body.critiques": PROSE,
        "body.critiques.change_id": JUDGED,
        "body.critiques.objections": PROSE,
        "sent_at": SOON,
    },
    "ARCHITECTURE_PROPOSAL": {
        "body.proposals.description": PROSE,
        "body.proposals.expected_benefit": PROSE,
        "body.proposals.scope": PROSE,
        "sent_at": SOON,
    },
    "ARCHITECTURE_REBUTTAL": {
        "body.responses": PROSE,
        "body.responses.change_id": JUDGED,
        "body.responses.response": PROSE,
        "sent_at": SOON,
    },
    "ARCHITECTURE_VERDICT": {
        "body.approved_changes.implementation_notes": PROSE,
        "body.rejected": PROSE,
        "sent_at": SOON,
    },
    "AUDIT": {"sent_at": SOON},
    "PERSON_NAMED": {"body.display_name": OWN, "sent_at": SOON},
    "BACKTEST_RESULT": {
        "body.equity_ref": PRICED,
        "body.metrics.annual_return": PRICED,
        "body.metrics.max_drawdown": PRICED,
        "body.metrics.profit_factor": PRICED,
        "body.metrics.total_trades": PRICED,
        "body.metrics.win_rate": PRICED,
        "body.reason": PRICED,
        "body.split.from": PRICED,
        "sent_at": SOON,
    },
    "CAUSAL_RECORD": {
        "body.record.at": OWN,
        "body.record.failure_code": JUDGED,
        "body.record.metrics": JUDGED,
        "body.record.regime": JUDGED,
        "body.record.seat": JUDGED,
        "body.record.summary": PROSE,
        "sent_at": SOON,
    },
    "CLOCK_SET": {
        "body.paused": SELF,
        "body.reason": PROSE,
        "body.speed": SELF,
        "id": OWN,
    },
    "CONCEDE": {"body.reason": PROSE},
    "CONFIG_CHANGED": {
        "body.changes.clock.human_wall_s": SELF,
        "body.reason": PROSE,
        "id": OWN,
        "sent_at": SOON,
    },
    "CYCLE_DEFERRED": {"sent_at": SOON},
    "DAILY_REPORT": {
        "body.trading_feedback.feedback_insights": PROSE,
        "sent_at": SOON,
    },
    "ESCALATION_ACK": {"sent_at": SOON},
    "ESCALATION_ANSWER": {"body.text": PROSE, "id": OWN},
    "EXTEND_DEBATE": {
        "body.alpha_argument_score": JUDGED,
        "body.reason": PROSE,
        "body.risk_argument_score": JUDGED,
    },
    "FINAL_VERDICT": {
        "body.alpha_argument_score": JUDGED,
        "body.conditions": PROSE,
        "body.debate_quality": JUDGED,
        "body.reasoning": PROSE,
        "body.risk_argument_score": JUDGED,
        "sent_at": SOON,
    },
    "HEALTH_CHECK": {"sent_at": SOON},
    "HYPOTHESIS": {
        "body.entry_trigger": PROSE,
        "body.evidence": PROSE,
        "body.exit_trigger": PROSE,
        "body.expected_traits.archetype": JUDGED,
        "body.expected_traits.asset_class": JUDGED,
        "body.expected_traits.holding_period_days": JUDGED,
        "body.expected_traits.max_drawdown": JUDGED,
        "body.expected_traits.target_sharpe": JUDGED,
        "body.expected_traits.win_rate": JUDGED,
        "body.parent_strategy_id": JUDGED,
        "body.rationale": PROSE,
        "body.regime": JUDGED,
        "body.signal_sources": PROSE,
        "body.statement": PROSE,
        "sent_at": SOON,
    },
    "META_REFLECTION": {"body.recommendations": PROSE, "sent_at": SOON},
    "NOTE": {
        "actor.platform": OWN,
        "actor.user_id": OWN,
        "body.about_case_id": OWN,
        "body.text": PROSE,
        "channel": OWN,
        "id": OWN,
    },
    "OVERRIDE": {"body.why": PROSE},
    "PRINCIPLE_SYNTHESIS": {"sent_at": SOON},
    "REBUTTAL": {
        "body.modifications": PROSE,
        "body.responses": PROSE,
        "body.responses.critique_point": PROSE,
        "body.responses.evidence": PROSE,
        "body.responses.response": PROSE,
    },
    "RESEARCH_NOTE": {"body.findings": PROSE, "body.sources": PROSE, "body.title": PROSE, "id": OWN},
    "REVISED_HYPOTHESIS": {
        "body.addressed": PROSE,
        "body.addressed.change": PROSE,
        "body.addressed.issue": PROSE,
        "body.rationale": PROSE,
        "body.statement": PROSE,
    },
    "REVISE_REQUEST": {
        "body.specific_issues": PROSE,
        "body.suggested_direction": PROSE,
        "sent_at": SOON,
    },
    "RISK_ASSESSMENT": {
        "body.conditions": PROSE,
        "body.confidence": JUDGED,
        "body.fatal_flaws": PROSE,
        "body.reasoning": PROSE,
        "body.risk_rating": JUDGED,
        "body.scores.correlation_risk": PRICED,
        "body.scores.crowding_risk": PRICED,
        "body.scores.event_window_risk": PRICED,
        "body.scores.execution_risk": PRICED,
        "body.scores.overfitting": PRICED,
        "body.scores.signal_decay": PRICED,
        "body.scores.tail_risk": PRICED,
        "sent_at": SOON,
    },
    "SEAT_RELEASED": {
        "body.reason": PROSE,
        "body.user_id": OWN,
        "id": OWN,
    },
    "SEAT_TAKEN": {
        "body.reason": PROSE,
        "body.user_id": OWN,
        "id": OWN,
        "sent_at": SOON,
    },
    "SOCIETY_STARTED": {
        "body.clock": SELF,
        "body.config.admins.test": SELF,
        "body.data": SELF,
        "body.durability": SELF,
        "body.moot_version": SELF,
        "body.seed": SELF,
        "body.speed": SELF,
        "body.warm_up": SELF,
        "sent_at": SOON,
    },
    "SOCIETY_STOPPED": {"body.reason": PROSE},
    "STOP": {"body.why": PROSE},
    "STRATEGY_MOVED": {"body.reason": PROSE, "sent_at": SOON},
    "THRESHOLDS_ADJUSTED": {"sent_at": SOON},
    "THRESHOLD_REVIEW": {"sent_at": SOON},
    "TIMEOUT_PING": {"sent_at": SOON},
    "VERDICT": {
        "body.alpha_argument_score": JUDGED,
        "body.conditions": PROSE,
        "body.reasoning": PROSE,
        "body.risk_argument_score": JUDGED,
        "sent_at": SOON,
    },
    "VIOLATION": {"sent_at": SOON},
    "WEEKLY_REPORT": {"sent_at": SOON},
}
"""Fields of which some other value is as consistent with the rest of this log; everything else is found."""


def test_the_log_holds_every_type_and_verifies() -> None:
    assert sorted(FIRST) == sorted(set(rulebook().messages) - DESK - APART)
    assert judged(LINES).ok
    assert judged(stripped(LINES)).ok


@pytest.mark.parametrize("kind", sorted(FIRST))
def test_with_its_hashes_every_alteration_is_found_at_its_seq(kind: str) -> None:
    seen = set()
    for alteration in alterations(LINES[FIRST[kind]], FIRST[kind]):
        if alteration.path not in seen:
            seen.add(alteration.path)
            report = judged(alteration.apply(LINES), max_findings=3)
            assert not report.ok, alteration
            assert report.findings[0].seq == FIRST[kind] + 1, (alteration, report.findings)


@pytest.mark.parametrize("kind", sorted(FIRST))
def test_without_hashes_everything_but_the_listed_is_found(kind: str) -> None:
    unseen = set()
    for n, alteration in enumerate(alterations(LINES[FIRST[kind]], FIRST[kind])):
        altered = alteration.apply(LINES)
        # Of an anchor's hash only a log without hashes knows nothing.
        hide = stripped if alteration.field == "body.hash" or n % 2 == 0 else rehashed
        if judged(hide(altered), max_findings=1).ok:
            unseen.add(alteration.field)
    assert unseen == set(INVISIBLE.get(kind, {}))


# ---------------------------------------------------------------- lines removed, doubled, swapped, inserted

PLACES: Final = range(0, FIRST["SOCIETY_STOPPED"], 2)
"""Virtual time leaves the officers no slack that a missing ping could hide in."""


@pytest.mark.parametrize("start", range(3))
def test_with_hashes_every_line_out_of_place_is_found_at_its_seq(start: int) -> None:
    for n in range(start, len(LINES) - 1, 12):
        before, line, after = LINES[:n], LINES[n], LINES[n + 1 :]
        inserted = {**LINES[(n + 7) % len(LINES)], "seq": n + 1}
        for tampered, seqs in (
            ([*before, *after], {n + 1}),
            ([*before, line, line, *after], {n + 1}),
            ([*before, after[0], line, *after[1:]], {n + 1, n + 2}),
            ([*before, inserted, line, *after], {n + 1}),
        ):
            report = judged(tampered, max_findings=5)
            assert not report.ok
            assert report.findings[0].seq in seqs, report.findings


def test_a_removed_message_is_missed_by_the_rules() -> None:
    """Renumbered and rehashed, only what nobody owed and nobody built on can go: what people said, asides."""
    unseen = {
        LINES[n]["body"]["type"]
        for n in PLACES
        if judged(rehashed(renumbered([*LINES[:n], *LINES[n + 1 :]])), max_findings=1).ok
    }
    assert unseen <= {
        "NOTE",
        "RESEARCH_NOTE",
        "CONFIG_CHANGED",
        "CLOCK_SET",
        "SOCIETY_STOPPED",
        "AUDIT",
        "PERSON_NAMED",
    }


def test_a_removed_refusal_or_note_is_not_missed_by_the_rules() -> None:
    refusal = next(n for n, line in enumerate(LINES) if line["body"].get("event") == "refused")
    for n in (FIRST["NOTE"], FIRST["RESEARCH_NOTE"], refusal, len(LINES) - 1):
        assert judged(rehashed(renumbered([*LINES[:n], *LINES[n + 1 :]]))).ok


def test_a_message_said_twice_under_another_id_is_found() -> None:
    unseen = set()
    for n in PLACES:
        again = {**LINES[n], "id": f"{LINES[n]['id']}-again"}
        if judged(rehashed(renumbered([*LINES[: n + 1], again, *LINES[n + 1 :]])), max_findings=1).ok:
            unseen.add(LINES[n]["body"]["type"])
    assert unseen <= {"NOTE", "RESEARCH_NOTE", "CONFIG_CHANGED", "AUDIT"}


def test_neighbours_of_one_case_that_changed_places_are_found() -> None:
    swapped = 0
    for n in PLACES:
        one, other = dict(LINES[n]), dict(LINES[(n + 1) % len(LINES)])
        # What one instant made has no order of its own.
        if one["case_id"] != other["case_id"] or one["sent_at"] == other["sent_at"]:
            continue
        one["sent_at"], other["sent_at"] = other["sent_at"], one["sent_at"]
        report = judged(rehashed(renumbered([*LINES[:n], other, one, *LINES[n + 2 :]])), max_findings=1)
        assert not report.ok, (one["seq"], one["body"]["type"], other["body"]["type"])
        swapped += 1
    assert swapped >= 30


# ---------------------------------------------------------------- noise


def test_any_bytes_give_a_report_and_nothing_else() -> None:
    text = tampering.write(LINES[:60]).encode()
    random = Random(1)
    for _ in range(150):
        noisy = bytearray(text)
        for _ in range(random.choice((1, 2, 20))):
            place = random.randrange(len(noisy))
            noisy[place : place + random.randrange(3)] = random.randbytes(random.randrange(3))
        report = judged(noisy.decode("utf-8", "replace"), max_findings=3)
        assert not report.ok or bytes(noisy) == text
        assert all(finding.why.isprintable() for finding in report.findings)


def test_any_json_in_any_field_gives_a_report_and_nothing_else() -> None:
    random = Random(2)
    values = (
        "",
        "x",
        "²",
        "a/b/c",
        "\ud7ff",
        -1,
        0,
        2**63,
        1e308,
        None,
        True,
        [],
        {},
        [[]],
        {"type": "NOTE"},
    )
    lines = LINES[:80]
    for n in range(0, len(lines)):
        choices = list(alterations(lines[n], n))
        for alteration in random.sample(choices, min(4, len(choices))):
            altered = alteration._replace(value=random.choice(values)).apply(lines)
            judged(rehashed(altered), max_findings=3)
