"""A panel at a table: order, retries, unusable reviewers, the synthesis, silence, STOP (spec 2 to 8, R-P1 to R-P7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from moot.bots.minds.mind import View
from moot.bots.seats.panel_prompts import Prompt, prompt_for
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.case import evolve
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Actor, Draft, Envelope, seal
from moot.protocols.kernel.errors import Forbidden, Malformed
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.panel import messages as m
from moot.protocols.panel.contract import Contract, Score, as_json, baseline_sha256, contract_from
from moot.protocols.panel.panel import GRACE, PHASE1_WITHIN, PHASE2_WITHIN, SYNTHESIS_WITHIN
from moot.protocols.panel.panel import PANEL as PANEL_CASE
from moot.protocols.panel.seats import EIC as EIC_SEAT
from moot.protocols.panel.seats import METHODOLOGY as METHODOLOGY_SEAT
from moot.protocols.panel.seats import PANEL, PANELISTS
from moot.protocols.panel.seats import SYNTHESIZER as SYNTHESIZER_SEAT
from moot.protocols.rulebook import rules
from tests.doubles.panel_samples import ALL_PASS, FOCUS, FULL, WARNS, phase1, report, synthesis
from tests.doubles.panel_table import PanelTable
from tests.doubles.table import START

EIC, METHODOLOGY, SYNTHESIZER = EIC_SEAT, METHODOLOGY_SEAT, SYNTHESIZER_SEAT
ACKNOWLEDGED = "[CONTRACT-ACKNOWLEDGED]"
NONE_FIRED = "[NO-CONDITION-FIRED]"
MISMATCH = "[SYNTHESIS-MISMATCH]"
ID = FOCUS.contract_id
SHRUNK = "[PANEL-SHRUNK: usable=1, panel_size=2]"
TWO_DISSENTS = "### D1: the plan was too strict\n### D2: so was this one"
REJECT = "editorial_decision=reject"
NO_PLAN = phase1(FOCUS).replace("## Scoring Plan", "## Plan")
BODIES = {
    "PHASE1": m.Phase1(text=phase1(FOCUS)),
    "PHASE2": m.Phase2(text=report("eic", contract=FOCUS)),
    "SYNTHESIS": m.Synthesis(text=synthesis(contract=FOCUS)),
}


def held(judge: Contract = FOCUS, /, **over: Any) -> PanelTable:
    table = PanelTable(judge)
    table.panel(**over)
    return table


def full() -> PanelTable:
    return held(FULL)


def violation(role: str, what: str, contract_id: str = ID) -> str:
    return f"[PROTOCOL-VIOLATION: reviewer={role}, contract={contract_id}, {what}]"


def owing(table: PanelTable) -> dict[str, str]:
    """Say who owes what, officers too."""
    return {o.seat: o.expects[0] for o in table.state.owed}


def steps(table: PanelTable) -> list[str]:
    """Name the steps that were ever owed, in order."""
    return [f"{o.step}/{o.seat}" for fx in table.effects for o in fx.opened if o.case_id == table.panel_id]


def brief(table: PanelTable, seat: Seat) -> dict[str, Any]:
    found = next(o for o in table.state.owed if o.seat == seat)
    return PANEL_CASE.brief(table.state, found, table.docket.context)


def dissenting(table: PanelTable, role: str = "eic") -> Envelope:
    return table.review(role, report(role, contract=table.contract, dissent=TWO_DISSENTS))


def phase1_prompt(table: PanelTable, seat: Seat = EIC) -> Prompt:
    """Say what a mind is asked for its Phase 1, word by word."""
    owed = next(o for o in table.state.owed if o.seat == seat)
    assert owed.expects == ("PHASE1",)
    memory = InMemoryStore().read()
    return prompt_for(View(owed, seat, START, 0, "", (), (), brief(table, seat), memory))


def aborted(table: PanelTable) -> m.PanelAborted:
    assert table.outcome == "aborted"
    body = table.last("PANEL_ABORTED").body
    assert isinstance(body, m.PanelAborted)
    assert body.tags[-1] == body.tag
    assert "PANEL_DECIDED" not in table.kinds()
    return body


def decided(table: PanelTable) -> m.PanelDecided:
    assert table.outcome == "decided"
    body = table.last("PANEL_DECIDED").body
    assert isinstance(body, m.PanelDecided)
    assert "PANEL_ABORTED" not in table.kinds()
    return body


def changed(contract: Contract, condition: str, **over: Any) -> dict[str, Any]:
    """Return a contract with another condition in one place."""
    data = as_json(contract)
    for one in data["failure_conditions"]:
        if one["condition_id"] == condition:
            one.update(over)
    return data


# ---------------------------------------------------------------- 2: two phases, in order


@pytest.mark.parametrize(("contract", "size"), [(FOCUS, 2), (FULL, 5)])
def test_every_reviewer_of_the_mode_owes_phase_1_at_once(contract: Contract, size: int) -> None:
    table = held(contract)
    assert owing(table) == dict.fromkeys(table.roles, "PHASE1")
    assert len(table.roles) == size == contract.panel_size


def test_a_reviewer_goes_from_phase_1_over_its_lint_to_phase_2_and_its_lint() -> None:
    table = held()
    table.post(EIC, BODIES["PHASE1"])
    assert owing(table) == {"methodology": "PHASE1", "orchestrator": "LINT"}
    table.officers()
    assert owing(table) == {"methodology": "PHASE1", "eic": "PHASE2"}
    table.post(EIC, BODIES["PHASE2"])
    assert owing(table) == {"methodology": "PHASE1", "orchestrator": "LINT"}
    table.officers()
    assert owing(table) == {"methodology": "PHASE1"}
    assert table.state.reviewer("eic").stage == "usable"


def test_no_reviewer_waits_for_another() -> None:
    table = full()
    for role in ("da", "eic"):
        table.commit(role)
        table.review(role)
    table.commit("domain")
    assert owing(table) == {"methodology": "PHASE1", "perspective": "PHASE1", "domain": "PHASE2"}


def test_a_panel_asks_each_reviewer_twice_and_the_synthesizer_once() -> None:
    table = full()
    table.all_review()
    table.conclude()
    asked = [o.seat for fx in table.effects for o in fx.opened if o.seat in PANEL]
    assert len(asked) == 2 * 5 + 1
    assert decided(table).decision == "editorial_decision=accept"


@pytest.mark.rule("panel 2")
def test_phase_1_is_told_the_contract_and_the_metadata_and_nothing_else() -> None:
    given = {**as_json(FOCUS), "generated_at": "2026-02-23T09:59:00.000000Z"}
    given["agent_amendments"] = {"stage_specific_notes": "mind the sampling"}
    table = held(contract=given)
    told = brief(table, EIC)
    assert told == {
        "subject": "On widgets",
        "contract": given,
        "title": "On widgets",
        "field": "widgetry",
        "word_count": 1234,
        "role": "eic",
        "cycle": 1,
        "attempt": 1,
        "said": 0,
        "gaps": (),
    }


def test_phase_2_is_told_the_contract_again_and_its_own_commitment() -> None:
    table = held()
    mine = phase1(FOCUS, paraphrase="D1 means rigour, so I say.\n\nD2 means style, so I say.")
    table.commit("eic", mine)
    table.commit("methodology")
    told = brief(table, EIC)
    assert told["phase1_output"] == mine
    assert told["contract"] == as_json(FOCUS)
    assert brief(table, METHODOLOGY)["phase1_output"] == phase1(FOCUS)


@pytest.mark.rule("K12")
def test_k12_only_a_phase_2_obligation_names_the_content() -> None:
    table = held()
    table.all_review()
    table.conclude(synthesis({"eic": {"D1": "block"}}, FOCUS))
    table.conclude()
    by_type: dict[str, set[str]] = {}
    for fx in table.effects:
        for o in fx.opened:
            by_type.setdefault(o.expects[0], set()).add(o.may_see.content_ref)
    assert by_type["PHASE2"] == {"paper/0123456789abcdef"}
    assert by_type["PHASE1"] == by_type["SYNTHESIS"] == {""}


@pytest.mark.rule("K12")
def test_k12_no_seat_of_a_panel_has_memory_and_no_reviewer_reads_another() -> None:
    table = full()
    table.all_review()
    for o in (o for fx in table.effects for o in fx.opened if o.seat in PANEL):
        assert not o.may_see.has_memory
        if o.seat in PANELISTS:
            assert o.may_see.hidden_authors == PANEL - {o.seat}


# ---------------------------------------------------------------- 3: the contract


@pytest.mark.parametrize("size", [1, 3, 5])
def test_a_contract_with_another_panel_size_is_ineligible(size: int) -> None:
    table = held(contract={**as_json(FOCUS), "panel_size": size})
    why = f"panel_size is {size}: mode reviewer_methodology_focus needs 2"
    assert aborted(table).tag == f"[CONTRACT-INELIGIBLE: {why}]"
    assert steps(table) == ["aborted/orchestrator"]


@pytest.mark.rule("R-P6")
def test_r_p6_a_mode_without_a_template_is_ineligible() -> None:
    table = held(contract={**as_json(FOCUS), "mode": "reviewer_guided"})
    assert aborted(table).tag.startswith("[CONTRACT-INELIGIBLE: mode reviewer_guided has no template")


@pytest.mark.parametrize(
    "over", [{"panel_size": "2"}, {"acceptance_dimensions": []}, {"extra": 1}, {"contract_id": "x"}]
)
def test_an_invalid_contract_ends_the_panel_before_anybody_is_asked(over: dict[str, Any]) -> None:
    table = held(contract={**as_json(FOCUS), **over})
    assert aborted(table).tag.startswith("[CONTRACT-INVALID: ")
    assert steps(table) == ["aborted/orchestrator"]


def test_an_empty_contract_is_invalid() -> None:
    assert aborted(held(contract={})).tag.startswith("[CONTRACT-INVALID: ")


def test_the_baseline_hash_stands_in_the_decision_whatever_was_set_at_run_time() -> None:
    table = held(contract={**as_json(FOCUS), "generated_at": "2026-02-23T09:59:00Z"})
    table.all_review()
    table.conclude()
    assert decided(table).baseline_sha256 == baseline_sha256(FOCUS)


@pytest.mark.rule("panel 3")
def test_a_baseline_that_changed_while_the_panel_sat_ends_it() -> None:
    table = held()
    table.all_review()
    other = contract_from(changed(FOCUS, "F0", severity=95))
    table.docket.cases[table.panel_id] = evolve(table.state, contract=other)
    table.conclude()
    assert aborted(table).tag.startswith("[CONTRACT-INVALID: the contract's baseline fields changed")


# ---------------------------------------------------------------- 4: the lint of Phase 1


def test_a_passing_phase_1_is_acknowledged_in_its_lint() -> None:
    table = held()
    table.commit("eic")
    lint = table.last("LINT").body
    assert lint == m.Lint(
        panel_id=table.panel_id,
        role="eic",
        phase=1,
        attempt=1,
        is_passed=True,
        findings=(),
        tag=ACKNOWLEDGED,
    )
    assert table.state.tags == (ACKNOWLEDGED,)


@pytest.mark.rule("panel 4")
def test_a_failing_phase_1_is_retried_once_with_its_gaps_in_the_brief() -> None:
    table = held()
    table.commit("eic", NO_PLAN)
    lint = table.last("LINT").body
    assert isinstance(lint, m.Lint)
    assert (lint.is_passed, lint.tag, lint.attempt) == (False, "", 1)
    assert any("there is no section '## Scoring Plan'" in gap for gap in lint.findings)
    assert owing(table) == {"eic": "PHASE1", "methodology": "PHASE1"}
    told = brief(table, EIC)
    assert (told["gaps"], told["attempt"], told["said"]) == (lint.findings, 2, 1)
    assert brief(table, METHODOLOGY)["gaps"] == ()
    table.commit("eic")
    assert owing(table)["eic"] == "PHASE2"
    assert brief(table, EIC)["gaps"] == ()
    assert brief(table, EIC)["phase1_output"] == phase1(FOCUS)


@pytest.mark.rule("panel 4")
def test_a_second_failure_of_phase_1_makes_the_reviewer_unusable() -> None:
    table = held()
    table.commit("eic", NO_PLAN)
    table.commit("eic", "nothing")
    lint = table.last("LINT").body
    assert isinstance(lint, m.Lint)
    assert (lint.tag, lint.attempt) == (violation("eic", "phase1_lint_failed=true"), 2)
    assert table.state.reviewer("eic").stage == "unusable"
    assert owing(table) == {"methodology": "PHASE1"}


@pytest.mark.rule("panel 2")
def test_the_content_is_not_shown_before_the_retried_phase_1_has_passed() -> None:
    table = held()
    table.commit("eic", NO_PLAN)
    assert all(not o.may_see.content_ref for fx in table.effects for o in fx.opened)
    table.commit("eic")
    assert next(o for o in table.state.owed if o.seat == EIC).may_see.content_ref


# ---------------------------------------------------------------- 5: the lint of Phase 2

BAD = {
    "sections": report("eic", contract=FOCUS).replace("## Dimension Scores", "## Scores"),
    "dimension_scores": report("eic", contract=FOCUS).replace("score: pass", "score: fine", 1),
    "failure_condition_checks": report("eic", contract=FOCUS).replace("fired: true", "fired: perhaps"),
    "review_body": report("eic", contract=FOCUS).replace("## Review Body", "## Body"),
    "dissent": report("eic", contract=FOCUS, dissent="### D9: is wrong"),
    "consistency": report("eic", {"D1": "warn"}, contract=FOCUS, body="It is all too short."),
    "decision": report("eic", contract=FOCUS, decision="editorial_decision=reject"),
    "role": report("reviewer_two", contract=FOCUS),
    "layer1": report("eic", {"D1": "warn"}, contract=FOCUS, fired=["F0"]),
}


@pytest.mark.rule("panel 5")
@pytest.mark.parametrize("check", BAD)
def test_a_phase_2_that_fails_is_not_retried_and_its_tag_names_the_check(check: str) -> None:
    table = held()
    table.commit("eic")
    table.review("eic", BAD[check])
    lint = table.last("LINT").body
    assert isinstance(lint, m.Lint)
    assert lint.tag == violation("eic", f"phase2_lint_failed={check}")
    assert lint.findings and not lint.is_passed
    assert owing(table) == {"methodology": "PHASE1"}
    one = table.state.reviewer("eic")
    assert (one.stage, one.scores) == ("unusable", {})


def test_a_report_under_another_reviewers_role_is_unusable() -> None:
    table = held()
    table.commit("eic")
    table.review("eic", report("methodology", contract=FOCUS))
    lint = table.last("LINT").body
    assert isinstance(lint, m.Lint)
    assert lint.tag == violation("eic", "phase2_lint_failed=role")
    assert lint.findings == ("contract_role is methodology, and this is the seat of eic",)


FAULTY = {
    **BAD,
    "dissent": report("eic", contract=FOCUS, dissent="### D9: is wrong"),
    "of another seat": report("methodology", contract=FOCUS),
}


@pytest.mark.rule("panel 5")
@pytest.mark.parametrize("fault", FAULTY)
def test_a_dissent_about_two_dimensions_restarts_the_reviewer_whatever_else_is_wrong(fault: str) -> None:
    table = held()
    text = FAULTY[fault].replace("## Scoring Plan Dissent\n\n### D9: is wrong\n\n", "")
    head, tail = text.split("\n", 1)
    for again in (True, False):
        table.commit("eic")
        table.review("eic", f"{head}\n\n## Scoring Plan Dissent\n\n{TWO_DISSENTS}\n### D9: too\n{tail}")
        assert (owing(table).get("eic") == "PHASE1") is again
    tags = [e.body.tag for e in table.log if isinstance(e.body, m.Lint) and e.body.phase == 2]
    assert tags == ["", violation("eic", "multi_dissent=true")]


def test_flags_that_the_scores_contradict_make_a_reviewer_unusable() -> None:
    table = held()
    table.commit("eic")
    table.review("eic", report("eic", {"D1": "block"}, contract=FOCUS, fired=["F2"]))
    lint = table.last("LINT").body
    assert isinstance(lint, m.Lint)
    assert lint.findings == ("F1 fired: false is declared, and true follows from the rest of the report",)


@pytest.mark.rule("R-P4")
def test_r_p4_a_review_is_held_to_its_own_plan_and_not_to_anothers() -> None:
    table = held()
    plan = phase1(FOCUS).replace("samples below thirty", "instruments without calibration")
    table.commit("eic", plan)
    table.commit("methodology")
    table.review("eic", D1="warn")
    assert table.state.tags[-1] == violation("eic", "phase2_lint_failed=consistency")
    table.review("methodology", D1="warn")
    assert table.last("LINT").body.is_passed  # type: ignore[attr-defined]


def test_one_dissent_is_allowed_and_frees_that_dimension_from_the_plan() -> None:
    table = held()
    table.commit("eic")
    free = report("eic", {"D1": "warn"}, contract=FOCUS, dissent="### D1: the plan missed it", body="Odd.")
    table.review("eic", free)
    one = table.state.reviewer("eic")
    assert (one.stage, one.dissent) == ("usable", ("D1",))


def test_a_dissent_about_two_dimensions_restarts_that_reviewer_from_phase_1() -> None:
    table = held()
    table.commit("methodology")
    table.commit("eic")
    dissenting(table)
    lint = table.last("LINT").body
    assert isinstance(lint, m.Lint)
    assert (lint.phase, lint.tag, lint.is_passed) == (2, "", False)
    assert owing(table) == {"methodology": "PHASE2", "eic": "PHASE1"}
    told = brief(table, EIC)
    assert (told["cycle"], told["attempt"], told["said"], told["gaps"]) == (2, 1, 1, ())
    assert table.state.reviewer("eic").commitment == ""
    assert not next(o for o in table.state.owed if o.seat == EIC).may_see.content_ref


def test_the_prompt_of_a_restarted_phase_1_is_that_of_the_first_one() -> None:
    """The Phase 2 before it saw the work: neither its scores nor its decision reach the plan (spec 2, K12)."""
    table = held()
    first = phase1_prompt(table)
    table.commit("eic")
    text = report("eic", {"D1": "block"}, contract=FOCUS, dissent=TWO_DISSENTS, decision=REJECT, body="Fine.")
    table.review("eic", text)
    lint = table.last("LINT").body
    assert isinstance(lint, m.Lint)
    said = " ".join(lint.findings)
    assert "D1, D2" in said and REJECT in said
    again = phase1_prompt(table)
    assert again == first
    assert all(word not in again.system for word in ("refused", REJECT, *lint.findings))


def test_the_prompt_of_a_retried_phase_1_names_the_gaps_that_its_lint_found() -> None:
    table = held()
    first = phase1_prompt(table)
    table.commit("eic", NO_PLAN)
    lint = table.last("LINT").body
    assert isinstance(lint, m.Lint)
    again = phase1_prompt(table)
    assert lint.findings and all(gap in again.system for gap in lint.findings)
    assert again.user == first.user and lint.findings[0] not in first.system


def test_a_retry_after_the_restart_is_told_its_own_gaps_alone() -> None:
    table = held()
    table.commit("eic", NO_PLAN)
    table.commit("eic")
    dissenting(table)
    assert "refused" not in phase1_prompt(table).system
    table.commit("eic", phase1(FOCUS, end="bye"))
    system = phase1_prompt(table).system
    assert "the last line is not" in system
    assert "there is no section" not in system and "one dimension is the most" not in system


def test_a_restarted_reviewer_that_keeps_to_its_plan_counts() -> None:
    table = held()
    for again in (True, False):
        table.commit("eic", phase1(FOCUS).replace("samples below", f"again {again} samples below"))
        if again:
            dissenting(table)
    assert "again False" in brief(table, EIC)["phase1_output"]
    assert (brief(table, EIC)["cycle"], brief(table, EIC)["said"]) == (2, 1)
    table.review("eic")
    table.commit("methodology")
    table.review("methodology")
    table.conclude()
    assert decided(table).tags == (ACKNOWLEDGED,) * 3


def test_a_second_dissent_about_two_dimensions_makes_the_reviewer_unusable() -> None:
    table = held()
    for _ in range(2):
        table.commit("eic")
        dissenting(table)
    assert table.last("LINT").body.tag == violation("eic", "multi_dissent=true")  # type: ignore[attr-defined]
    assert owing(table) == {"methodology": "PHASE1"}
    assert table.state.reviewer("eic").stage == "unusable"


def test_a_restarted_reviewer_has_its_retry_of_phase_1_again_and_no_more() -> None:
    table = held()
    table.commit("eic", NO_PLAN)
    table.commit("eic")
    dissenting(table)
    table.commit("eic", NO_PLAN)
    assert owing(table)["eic"] == "PHASE1"
    assert brief(table, EIC)["attempt"] == 2
    table.commit("eic", NO_PLAN)
    assert "eic" not in owing(table)
    lints = [e.body for e in table.log if isinstance(e.body, m.Lint)]
    assert [(one.phase, one.attempt) for one in lints] == [(1, 1), (1, 2), (2, 1), (1, 3), (1, 4)]


def test_a_restarted_reviewer_that_fails_otherwise_is_not_restarted_again() -> None:
    table = held()
    table.commit("eic")
    dissenting(table)
    table.commit("eic")
    table.review("eic", BAD["sections"])
    assert table.state.tags[-1] == violation("eic", "phase2_lint_failed=sections")
    assert owing(table) == {"methodology": "PHASE1"}


# ---------------------------------------------------------------- 6: independence and cardinality


def test_a_panel_that_has_shrunk_is_aborted_once_the_others_are_done() -> None:
    table = held()
    table.commit("eic")
    table.review("eic", BAD["sections"])
    table.commit("methodology")
    assert owing(table) == {"methodology": "PHASE2"}
    table.review("methodology")
    end = aborted(table)
    assert (end.tag, end.why) == (SHRUNK, "1 of 2 reviewers are usable")
    assert end.tags == (
        ACKNOWLEDGED,
        violation("eic", "phase2_lint_failed=sections"),
        ACKNOWLEDGED,
        SHRUNK,
    )


def test_the_last_to_fail_shrinks_the_panel_too() -> None:
    table = held()
    table.commit("methodology")
    table.review("methodology")
    table.commit("eic")
    table.review("eic", BAD["review_body"])
    assert aborted(table).tag == SHRUNK


@pytest.mark.rule("panel 6")
def test_four_of_five_are_not_enough_and_nothing_is_synthesized_from_them() -> None:
    table = full()
    for role in table.roles[:-1]:
        table.commit(role)
        table.review(role)
    table.commit("da")
    table.review("da", "no report at all")
    assert aborted(table).tag == "[PANEL-SHRUNK: usable=4, panel_size=5]"
    assert not any(step.startswith("synthesis") for step in steps(table))


def test_a_panel_may_shrink_to_nobody() -> None:
    table = held()
    for role in table.roles:
        table.commit(role, "")
        table.commit(role, "")
    assert aborted(table).tag == "[PANEL-SHRUNK: usable=0, panel_size=2]"


# ---------------------------------------------------------------- 8: the synthesis

WARNING: dict[str, Score] = WARNS


def reviewed(contract: Contract, rows: dict[str, dict[str, Score]], **over: Any) -> PanelTable:
    """Hold a panel up to its synthesis; who has no row passes everything."""
    table = held(contract, **over)
    for role in table.roles:
        table.commit(role)
        table.review(role, **rows.get(role, {}))
    return table


def test_the_synthesizer_is_asked_when_all_are_usable_and_is_given_the_scores() -> None:
    table = reviewed(FOCUS, {"eic": {"D1": "warn"}})
    assert table.state.phase == "synthesizing"
    assert owing(table) == {"synthesizer": "SYNTHESIS"}
    told = brief(table, SYNTHESIZER)
    assert told["scores"] == {
        "eic": {"D1": "warn", "D2": "pass"},
        "methodology": {"D1": "pass", "D2": "pass"},
    }
    assert (told["attempt"], told["said"], told["diagnostics"]) == (1, 0, "")
    assert (told["majority"], told["on_none_fired"]) == ("spec", "accept")


def test_a_decision_carries_its_matrix_conditions_arithmetic_and_tags() -> None:
    table = reviewed(FOCUS, {"eic": {"D1": "warn"}})
    table.conclude()
    end = decided(table)
    assert end.decision == "editorial_decision=major_revision"
    assert end.fired_conditions == ("F2",)
    assert end.matrix == {
        "D1": {"eic": "warn", "methodology": "pass"},
        "D2": {"eic": "pass", "methodology": "pass"},
    }
    assert end.arithmetic == (
        "any: holds for 0 of 2, 1 needed: does not fire",
        "any: holds for 1 of 2 (eic), 1 needed: fires",
        "all: holds for 1 of 2 (methodology), 2 needed: does not fire",
    )
    assert end.tags == (ACKNOWLEDGED, ACKNOWLEDGED)


@pytest.mark.rule("panel 8")
def test_the_highest_severity_decides_and_among_equals_the_earliest() -> None:
    rows: dict[str, dict[str, Score]] = {"eic": {"D1": "block"}, "methodology": {"D1": "warn"}}
    table = reviewed(FOCUS, rows)
    table.conclude()
    assert decided(table).decision == "editorial_decision=reject_or_major_revision"
    assert decided(table).fired_conditions == ("F1", "F2")
    equal = reviewed(contract_from(changed(FOCUS, "F2", severity=90)), rows)
    equal.conclude()
    assert decided(equal).decision == "editorial_decision=reject_or_major_revision"


@pytest.mark.rule("R-P1")
@pytest.mark.parametrize(
    ("majority", "count", "decision", "fired"),
    [
        ("spec", 3, "editorial_decision=accept", ()),
        ("spec", 4, "editorial_decision=major_revision", ("F2",)),
        ("strict", 2, "editorial_decision=accept", ()),
        ("strict", 3, "editorial_decision=major_revision", ("F2",)),
    ],
)
def test_r_p1_the_majority_is_counted_as_the_panel_was_opened(
    majority: str, count: int, decision: str, fired: tuple[str, ...]
) -> None:
    rows = {role: dict(WARNING) for role in ("eic", "methodology", "domain", "perspective")[:count]}
    table = reviewed(FULL, rows, majority=majority)
    table.conclude()
    assert (decided(table).decision, decided(table).fired_conditions) == (decision, fired)
    needed = 4 if majority == "spec" else 3
    assert f"+ 1 = {needed} needed" in decided(table).arithmetic[1]
    assert (NONE_FIRED in decided(table).tags) is (fired == ())


@pytest.mark.rule("R-P2")
def test_r_p2_when_nothing_fires_the_panel_accepts_and_says_so() -> None:
    table = reviewed(FULL, {"eic": {"D1": "warn"}})
    table.conclude()
    end = decided(table)
    assert (end.decision, end.fired_conditions) == ("editorial_decision=accept", ())
    assert end.tags == (ACKNOWLEDGED,) * 5 + (NONE_FIRED,)


@pytest.mark.rule("R-P2")
def test_r_p2_or_it_aborts_as_it_was_opened() -> None:
    table = reviewed(FULL, {"eic": {"D1": "warn"}}, on_none_fired="abort")
    assert aborted(table).tag == NONE_FIRED
    assert "SYNTHESIS" not in [o.expects[0] for fx in table.effects for o in fx.opened]


def test_a_panel_that_would_abort_decides_when_something_fires() -> None:
    table = reviewed(FULL, {}, on_none_fired="abort")
    table.conclude()
    assert decided(table).decision == "editorial_decision=accept"


@pytest.mark.rule("R-P3")
@pytest.mark.parametrize("expression", ["D9 scores 'warn'", "any high dimension scores 'block'"])
def test_r_p3_an_orphaned_expression_ends_the_panel_at_its_synthesis(expression: str) -> None:
    table = held(contract=changed(FOCUS, "F2", expression=expression))
    table.all_review()
    assert aborted(table).tag == f"[EXPRESSION-UNRECOGNISED: condition_id=F2, expression={expression}]"


@pytest.mark.rule("panel 9")
def test_an_unrecognised_expression_ends_the_panel_at_its_synthesis() -> None:
    table = held(contract=changed(FOCUS, "F1", expression="most dimensions score 'block'"))
    table.all_review()
    assert aborted(table).tag.startswith("[EXPRESSION-UNRECOGNISED: condition_id=F1, ")
    assert "SYNTHESIS" not in [o.expects[0] for fx in table.effects for o in fx.opened]


WRONG = {
    "another condition": "fired_conditions: [F1]\neditorial_decision=major_revision\n",
    "a softer decision": "fired_conditions: [F2]\neditorial_decision=minor_revision\n",
    "one condition too many": "fired_conditions: [F2, F0]\neditorial_decision=major_revision\n",
    "nothing that can be read": "We all agree that it is fine.\n",
    "two decisions": "fired_conditions: [F2]\neditorial_decision=major_revision\neditorial_decision=accept\n",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_synthesis_that_differs_is_asked_for_once_more_with_what_was_wrong(wrong: str) -> None:
    table = reviewed(FOCUS, {"eic": {"D1": "warn"}})
    table.conclude(WRONG[wrong])
    assert owing(table) == {"synthesizer": "SYNTHESIS"}
    told = brief(table, SYNTHESIZER)
    assert (told["attempt"], told["said"]) == (2, 1)
    assert told["diagnostics"]
    table.conclude()
    assert decided(table).decision == "editorial_decision=major_revision"


@pytest.mark.parametrize("wrong", WRONG)
def test_a_second_synthesis_that_differs_ends_the_panel(wrong: str) -> None:
    table = reviewed(FOCUS, {"eic": {"D1": "warn"}})
    table.conclude(WRONG[wrong])
    table.conclude(WRONG[wrong])
    end = aborted(table)
    assert end.tag == MISMATCH
    assert end.why


def test_the_diagnostics_say_what_the_scores_give() -> None:
    table = reviewed(FOCUS, {"eic": {"D1": "warn"}})
    table.conclude(WRONG["another condition"])
    assert brief(table, SYNTHESIZER)["diagnostics"] == "fired_conditions are [F2], not [F1]"
    other = reviewed(FOCUS, {"eic": {"D1": "warn"}})
    other.conclude(WRONG["a softer decision"])
    found = brief(other, SYNTHESIZER)["diagnostics"]
    assert found == "the decision is editorial_decision=major_revision, not editorial_decision=minor_revision"


# ---------------------------------------------------------------- silence (K5), outages (K6), STOP (K21)


def test_a_reviewer_that_never_commits_is_pinged_then_ruled_unusable() -> None:
    table = held()
    table.commit("eic")
    table.review("eic")
    table.wait(minutes=39, seconds=59)
    assert table.kinds().count("TIMEOUT_PING") == 1
    assert "RULING" not in table.kinds()
    table.wait(seconds=1)
    end = aborted(table)
    assert end.tags == (ACKNOWLEDGED, violation("methodology", "timed_out=phase1"), SHRUNK)
    ruling = table.last("RULING").body
    assert (ruling.outcome, ruling.reason, ruling.rule) == ("void", "timeout", "6")  # type: ignore[attr-defined]


def test_a_reviewer_that_never_reviews_is_ruled_unusable_and_pauses_nobody() -> None:
    table = held()
    table.commit("eic")
    table.wait(minutes=35)
    table.commit("methodology")
    table.wait(minutes=35)
    assert table.state.reviewer("eic").stage == "unusable"
    assert table.state.tags[-1] == violation("eic", "timed_out=phase2")
    assert owing(table) == {"methodology": "PHASE2"}
    table.review("methodology")
    assert aborted(table).tag == SHRUNK


def test_an_answer_after_the_ping_and_before_the_ruling_counts() -> None:
    table = held()
    table.wait(minutes=35)
    assert table.kinds().count("TIMEOUT_PING") == 2
    table.all_review()
    table.conclude()
    assert decided(table).decision == "editorial_decision=accept"


def test_an_answer_after_the_ruling_is_late_and_changes_nothing() -> None:
    table = held()
    table.commit("eic")
    table.wait(minutes=45)
    before = table.state
    late = table.say(METHODOLOGY, BODIES["PHASE1"], channel="#r-panel", case_id=table.panel_id)
    found = table.effects_of(late).violation
    assert found is not None and "late" in found.why
    assert table.state is before


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_silent_synthesizer_ends_the_panel(attempt: int) -> None:
    table = reviewed(FOCUS, {})
    if attempt == 2:
        table.conclude("What scores?")
    table.wait(minutes=20)
    end = aborted(table)
    assert (end.tag, end.why) == (MISMATCH, "the Synthesizer was silent (timeout)")
    assert table.last("RULING").body.rule == "8"  # type: ignore[attr-defined]


def test_a_panel_in_which_nobody_speaks_ends() -> None:
    table = full()
    table.wait(hours=1)
    assert aborted(table).tag == "[PANEL-SHRUNK: usable=0, panel_size=5]"


def test_each_output_has_its_time() -> None:
    table = held()
    table.all_review()
    spans = {o.expects[0]: (o.within, o.grace) for fx in table.effects for o in fx.opened}
    assert spans["PHASE1"] == (PHASE1_WITHIN, GRACE) == (timedelta(minutes=30), timedelta(minutes=10))
    assert spans["PHASE2"] == (PHASE2_WITHIN, GRACE)
    assert spans["SYNTHESIS"] == (SYNTHESIS_WITHIN, GRACE)
    assert spans["LINT"] == (timedelta(0), timedelta(0))


@pytest.mark.rule("K6")
@pytest.mark.parametrize("crash", [False, True])
def test_k6_an_outage_is_no_reviewers_silence(crash: bool) -> None:
    table = held()
    table.commit("eic")
    table.down(hours=5, crash=crash)
    assert "TIMEOUT_PING" not in table.kinds()
    due = {o.seat: o.due_at - table.now for o in table.state.owed}
    assert due == {"methodology": timedelta(minutes=30), "eic": timedelta(minutes=60)}
    table.review("eic")
    table.commit("methodology")
    table.review("methodology")
    table.conclude()
    assert decided(table).decision == "editorial_decision=accept"


def stop(table: PanelTable) -> None:
    table.say(ADMIN, Stop(scope=table.panel_id, why="enough"), channel="#admin")


def test_a_stop_ends_a_panel_that_is_reviewing() -> None:
    table = held()
    table.commit("eic")
    stop(table)
    end = aborted(table)
    assert (end.tag, end.why, end.tags) == (
        "[PANEL-STOPPED]",
        "an admin stopped it",
        (ACKNOWLEDGED, "[PANEL-STOPPED]"),
    )
    assert not table.docket.open


def test_a_stop_before_a_lint_was_posted_ends_the_panel() -> None:
    table = held()
    table.post(EIC, BODIES["PHASE1"])
    stop(table)
    assert aborted(table).tag == "[PANEL-STOPPED]"


def test_a_stop_ends_a_panel_that_is_being_synthesized() -> None:
    table = reviewed(FOCUS, {})
    stop(table)
    assert aborted(table).tag == "[PANEL-STOPPED]"


def test_a_stop_after_the_synthesis_takes_no_decision_back() -> None:
    table = reviewed(FOCUS, {})
    table.post(SYNTHESIZER, BODIES["SYNTHESIS"])
    stop(table)
    assert decided(table).decision == "editorial_decision=accept"


# ---------------------------------------------------------------- what is illegal


def committing() -> PanelTable:
    return held()


def reviewing() -> PanelTable:
    table = held()
    table.commit("eic")
    return table


def awaiting_lint() -> PanelTable:
    table = held()
    table.post(EIC, BODIES["PHASE1"])
    return table


def synthesizing() -> PanelTable:
    return reviewed(FOCUS, {})


def unusable() -> PanelTable:
    table = held()
    table.commit("eic")
    table.review("eic", "")
    return table


@pytest.mark.parametrize("place", [committing, reviewing, awaiting_lint, synthesizing, unusable])
def test_what_nobody_waits_for_is_a_violation_and_changes_nothing(place: Any) -> None:
    wrong = 0
    for kind, body in BODIES.items():
        for seat in sorted(PANEL):
            table = place()
            if (seat == SYNTHESIZER) is not (kind == "SYNTHESIS"):
                with pytest.raises(Forbidden):
                    table.post(seat, body, channel="#r-panel", case_id=table.panel_id)
                continue
            if any(o.seat == seat and kind in o.expects for o in table.state.owed):
                continue
            before = table.state
            env = table.post(seat, body, channel="#r-panel", case_id=table.panel_id)
            found = table.effects_of(env).violation
            assert found is not None and found.rule == "2", (kind, seat)
            assert table.state is before
            table.officers()
            wrong += 1
    assert wrong >= 8


@pytest.mark.parametrize("kind", BODIES)
def test_an_answer_to_an_obligation_of_another_step_changes_nothing(kind: str) -> None:
    table = {"PHASE1": committing, "PHASE2": reviewing, "SYNTHESIS": synthesizing}[kind]()
    seat = SYNTHESIZER if kind == "SYNTHESIS" else EIC
    before = table.state
    draft = Draft(
        channel="#r-panel",
        author=seat,
        body=BODIES[kind],
        actor=Actor("bot"),
        case_id=table.panel_id,
        obligation_id=f"{table.panel_id}/phase1-9-9/{seat}",
    )
    env = table.publish(draft)
    assert env is not None
    assert table.effects_of(env).violation is not None
    assert table.state is before


def test_nobody_but_the_orchestrator_lints_decides_or_aborts_in_a_log_that_nobody_checked() -> None:
    table = reviewed(FOCUS, {})
    end = m.PanelDecided(
        decision="x", fired_conditions=(), matrix={}, arithmetic=(), tags=(), baseline_sha256="y"
    )
    lint = m.Lint(role="eic", phase=1, attempt=1, is_passed=True, findings=(), tag="")
    for body in (end, lint, m.PanelAborted(tag="x", why="y", tags=())):
        draft = Draft(
            channel="#r-panel", author=EIC, body=body, actor=Actor("bot"), case_id=table.panel_id, key="k"
        )
        env, _ = seal(
            draft,
            seq=len(table.log) + 1,
            envelope_id="forged",
            sent_at=table.now,
            previous=table.head,
            body=body,
        )
        docket = Docket(rules())
        for said in table.log:
            docket.fold(said)
        before = docket.cases[table.panel_id]
        assert docket.fold(env).violation is not None
        assert docket.cases[table.panel_id] is before


def test_no_panel_takes_the_id_of_another() -> None:
    table = held()
    with pytest.raises(Malformed, match="ids like panel_… are counted"):
        table.panel(panel_id=table.panel_id, title="Another work under the same id")
    assert table.state.title == "On widgets"


@pytest.mark.rule("K23")
def test_k23_after_its_end_nothing_changes_a_panel() -> None:
    table = reviewed(FOCUS, {})
    table.conclude()
    env = table.say(EIC, BODIES["PHASE2"], channel="#r-panel", case_id=table.panel_id)
    found = table.effects_of(env).violation
    assert found is not None and found.rule == "K23"


# ---------------------------------------------------------------- texts of any length


def test_what_an_output_quotes_does_not_make_its_lint_too_long_to_be_said() -> None:
    table = held()
    word = "x" * 30_000
    table.commit("eic", phase1(FOCUS).replace("no control group at all", word))
    table.review("eic", D1="block")
    assert table.state.tags[-1] == violation("eic", "phase2_lint_failed=consistency")
    table.commit("methodology")
    table.review("methodology", report("a" * 30_000, contract=FOCUS))
    assert aborted(table).tag == "[PANEL-SHRUNK: usable=0, panel_size=2]"
    findings = [one for e in table.log if isinstance(e.body, m.Lint) for one in e.body.findings]
    assert findings and max(map(len, findings)) == 1000


def test_a_contract_of_long_names_can_be_refused_and_can_be_run() -> None:
    data = as_json(FOCUS)
    first, second = data["acceptance_dimensions"]
    first["name"] = second["name"] = "a" * 19_990
    assert aborted(held(contract=data)).why.startswith("acceptance_dimensions[1].name: aaa")
    second["name"] = "b" * 19_990
    data["contract_id"] = f"{'a' * 19_990}/b/v1"
    table = held(contract=data)
    for role in table.roles:
        table.commit(role, "## Contract Paraphrase\n")
        table.commit(role, "## Contract Paraphrase\n")
    assert aborted(table).tag == "[PANEL-SHRUNK: usable=0, panel_size=2]"


# ---------------------------------------------------------------- ids, tags, replays


def eventful() -> PanelTable:
    """Hold a panel with every retry that there is."""
    table = held()
    table.commit("eic", NO_PLAN)
    table.commit("eic")
    dissenting(table)
    table.commit("methodology")
    table.commit("eic", NO_PLAN)
    table.commit("eic")
    table.review("methodology")
    table.review("eic")
    table.conclude("no")
    table.conclude()
    return table


def test_ids_of_obligations_never_repeat() -> None:
    table = eventful()
    assert decided(table).decision == "editorial_decision=accept"
    assert steps(table) == [
        "phase1-1-1/eic",
        "phase1-1-1/methodology",
        "lint-eic-1-1-1/orchestrator",
        "phase1-1-2/eic",
        "lint-eic-1-1-2/orchestrator",
        "phase2-1/eic",
        "lint-eic-2-1-1/orchestrator",
        "phase1-2-1/eic",
        "lint-methodology-1-1-1/orchestrator",
        "phase2-1/methodology",
        "lint-eic-1-2-3/orchestrator",
        "phase1-2-2/eic",
        "lint-eic-1-2-4/orchestrator",
        "phase2-2/eic",
        "lint-methodology-2-1-1/orchestrator",
        "lint-eic-2-2-2/orchestrator",
        "synthesis-1/synthesizer",
        "synthesis-2/synthesizer",
        "decided/orchestrator",
    ]


def test_tags_stand_in_the_order_in_which_they_arose() -> None:
    table = full()
    for role in ("da", "eic"):
        table.commit(role)
    table.review("eic", "nothing")
    table.commit("domain", "")
    table.commit("domain", "")
    table.wait(minutes=45)
    table.review("da")
    table.wait(hours=2)
    contract_id = FULL.contract_id
    assert aborted(table).tags == (
        ACKNOWLEDGED,
        ACKNOWLEDGED,
        violation("eic", "phase2_lint_failed=role", contract_id),
        violation("domain", "phase1_lint_failed=true", contract_id),
        violation("methodology", "timed_out=phase1", contract_id),
        violation("perspective", "timed_out=phase1", contract_id),
        "[PANEL-SHRUNK: usable=1, panel_size=5]",
    )


def test_two_panels_at_once_do_not_mix() -> None:
    table = held()
    first = table.panel_id
    table.panel(title="On gadgets")
    second = table.panel_id
    assert first != second
    assert second == f"{first}_2"
    for owed in [o for o in table.docket.open.values() if o.case_id == second]:
        table.say(owed.seat, BODIES["PHASE1"], owed=owed)
    assert {o.expects[0] for o in table.docket.cases[first].owed} == {"PHASE1"}
    assert {o.expects[0] for o in table.docket.cases[second].owed} == {"PHASE2"}


def test_the_log_folds_to_the_same_end_again() -> None:
    table = eventful()
    again = Docket(rules())
    for env in table.log:
        again.fold(env)
    assert again.ended == table.docket.ended
    assert not again.open


def test_a_step_leaves_the_state_it_was_given_alone() -> None:
    table = held()
    before = table.state
    table.commit("eic")
    assert before.reviewer("eic").stage == "phase1"
    assert ALL_PASS.keys() == {one.id for one in FULL.acceptance_dimensions}
