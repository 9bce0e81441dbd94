"""From scores to a decision: the three steps of spec 8, and the same by two other ways of counting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.panel import recompute as recomputing
from moot.protocols.panel.contract import Contract, Score, contract_from
from moot.protocols.panel.recompute import RecomputationError, disagreement, recompute
from moot.protocols.panel.synthesis import (
    NONE_FIRED,
    ConditionUnreadable,
    Majority,
    MatrixFaulty,
    OnNoneFired,
    PanelShrunk,
    Synthesis,
    SynthesisAborted,
    decide,
    matrix_of,
    needed_for,
    synthesize,
)
from tests.doubles.copying import replace
from tests.doubles.panel_contracts import SMALL, condition, contract_of, panels, rows

ACCEPT, MINOR, MAJOR = (
    f"editorial_decision={name}" for name in ("accept", "minor_revision", "major_revision")
)
REJECT = "editorial_decision=reject"


def decided(
    contract: Contract, *scores: str, majority: Majority = "spec", on: OnNoneFired = "accept"
) -> Synthesis:
    return synthesize(contract, matrix_of(contract, rows(*scores)), majority=majority, on_none_fired=on)


def with_quantifier(size: int, quantifier: str) -> Contract:
    return contract_of(size, "mm", condition("F1", 50, quantifier, "D1 scores 'warn'", "reject"))


def firing_counts(size: int, quantifier: str, majority: Majority) -> list[int]:
    """Return by how many reviewers the condition is made to fire; the recomputation says the same."""
    contract = with_quantifier(size, quantifier)
    found = []
    for count in range(size + 1):
        panel = [*["wp"] * count, *["pp"] * (size - count)]
        has_fired = "F1" in decided(contract, *panel, majority=majority).fired_conditions
        assert has_fired == ("F1" in recompute(contract, rows(*panel), majority=majority).fired)
        if has_fired:
            found.append(count)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_any_fires_from_one_reviewer_on(size: int) -> None:
    assert firing_counts(size, "any", "spec") == list(range(1, size + 1))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_all_fires_for_the_whole_panel_only(size: int) -> None:
    assert firing_counts(size, "all", "spec") == [size]


@pytest.mark.rule("R-P1")
@pytest.mark.parametrize(
    ("size", "spec", "strict"),
    [
        (1, [], []),
        (2, [2], [2]),
        (3, [3], [2, 3]),
        (4, [3, 4], [3, 4]),
        (5, [4, 5], [3, 4, 5]),
        (6, [4, 5, 6], [4, 5, 6]),
        (7, [5, 6, 7], [4, 5, 6, 7]),
    ],
)
def test_r_p1_majorities_of_panels_of_every_size(size: int, spec: list[int], strict: list[int]) -> None:
    assert firing_counts(size, "majority", "spec") == spec
    assert firing_counts(size, "majority", "strict") == strict


def test_a_predicate_is_asked_of_each_reviewer_alone() -> None:
    contract = contract_of(
        2,
        "mm",
        condition("F1", 50, "any", "two or more mandatory dimensions score 'warn' or worse", "reject"),
    )
    assert decided(contract, "wp", "pw").fired_conditions == ()
    assert decided(contract, "ww", "pp").fired_conditions == ("F1",)


def test_the_highest_severity_wins_wherever_it_stands() -> None:
    contract = contract_of(
        1,
        "m",
        condition("F1", 20, "any", "D1 scores 'block'", "minor_revision"),
        condition("F2", 80, "any", "D1 scores 'block'", "reject"),
        condition("F3", 50, "any", "D1 scores 'block'", "major_revision"),
    )
    found = decided(contract, "b")
    assert found.fired_conditions == ("F1", "F2", "F3")
    assert found.editorial_decision == REJECT


def test_among_equals_the_earliest_wins_whatever_its_number_or_action() -> None:
    first = condition("F9", 50, "any", "D1 scores 'block'", "minor_revision")
    second = condition("F1", 50, "any", "D1 scores 'block'", "reject")
    assert decided(contract_of(1, "m", first, second), "b").editorial_decision == MINOR
    assert decided(contract_of(1, "m", second, first), "b").editorial_decision == REJECT


def test_f0_has_no_precedence_of_its_own() -> None:
    contract = contract_of(1, "mn", condition("F1", 5, "any", "D2 scores 'block'", "reject"))
    assert decided(contract, "pb").editorial_decision == ACCEPT
    assert decided(contract, "pb").fired_conditions == ("F1", "F0")


@pytest.mark.rule("R-P2")
def test_r_p2_when_nothing_fires_the_decision_is_to_accept_and_it_is_told() -> None:
    contract = contract_from(SMALL)
    found = decided(contract, "wpp", "ppp")
    assert found.fired_conditions == ()
    assert found.editorial_decision == ACCEPT
    assert found.tags == ("[NO-CONDITION-FIRED]",)
    assert decided(contract, "ppp", "ppp").tags == ()


@pytest.mark.rule("R-P2")
def test_r_p2_abort_leaves_the_panel_without_a_decision_only_when_nothing_fired() -> None:
    contract = contract_from(SMALL)
    found = decided(contract, "wpp", "ppp", on="abort")
    assert found.editorial_decision is None
    assert found.tags == ("[NO-CONDITION-FIRED]",)
    assert decided(contract, "ppp", "ppp", on="abort").editorial_decision == ACCEPT


@pytest.mark.rule("R-P2")
def test_r_p2_without_an_action_that_accepts_there_is_no_decision() -> None:
    contract = contract_from(SMALL)
    odd = contract.model_copy(update={"failure_conditions": contract.failure_conditions[:2]})
    with pytest.raises(SynthesisAborted) as aborted:
        decide(odd, ())
    assert aborted.value.tag == NONE_FIRED


@pytest.mark.rule("R-P5")
def test_r_p5_a_decision_is_derived_from_declared_conditions_alone() -> None:
    contract = contract_from(SMALL)
    assert decide(contract, ("F0", "F2")) == MAJOR
    assert decide(contract, ("F0", "F2", "F1")) == REJECT
    assert decide(contract, ("F0",)) == decide(contract, ()) == ACCEPT


def test_the_matrix_has_the_contracts_order_and_every_reviewer() -> None:
    contract = contract_from(SMALL)
    turned = {role: dict(reversed(row.items())) for role, row in rows("wpb", "pbw").items()}
    found = synthesize(contract, dict(reversed(matrix_of(contract, turned).items())))
    assert list(found.matrix) == ["D1", "D2", "D3"]
    assert found.matrix == {
        "D1": {"a": "warn", "b": "pass"},
        "D2": {"a": "pass", "b": "block"},
        "D3": {"a": "block", "b": "warn"},
    }
    assert found.majority == "spec"


def test_the_arithmetic_is_spelled_out() -> None:
    assert [one.arithmetic for one in decided(contract_from(SMALL), "bpp", "pbp").conditions] == [
        "any: holds for 1 of 2 (a), 1 needed: fires",
        "majority: holds for 1 of 2 (b), both needed: does not fire",
        "all: holds for 1 of 2 (b), 2 needed: does not fire",
    ]
    five = with_quantifier(5, "majority")
    four = ("wp", "wp", "pp", "wp", "wp")
    assert decided(five, *four).conditions[0].arithmetic == (
        "majority: holds for 4 of 5 (a, b, d, e), ⌈5/2⌉ + 1 = 4 needed: fires"
    )
    assert decided(five, *four, majority="strict").conditions[0].arithmetic == (
        "majority: holds for 4 of 5 (a, b, d, e), ⌊5/2⌋ + 1 = 3 needed: fires"
    )
    assert decided(with_quantifier(1, "majority"), "wp").conditions[0].arithmetic == (
        "majority: holds for 1 of 1 (a), a majority of one never fires: does not fire"
    )


def test_a_shrunk_panel_is_refused_and_not_counted_against_a_smaller_one() -> None:
    contract = with_quantifier(5, "any")
    with pytest.raises(PanelShrunk) as shrunk:
        decided(contract, *["wp"] * 4)
    assert shrunk.value.tag == "[PANEL-SHRUNK: usable=4, panel_size=5]"
    with pytest.raises(PanelShrunk):
        decided(contract)


def test_more_reviewers_than_the_panel_has_are_refused() -> None:
    with pytest.raises(MatrixFaulty) as refused:
        decided(with_quantifier(2, "any"), "pp", "pp", "pp")
    assert refused.value.tag == "[PANEL-CARDINALITY]"


WHOLE: Mapping[str, Mapping[str, Any]] = matrix_of(contract_from(SMALL), rows("ppp", "ppp"))


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        ({**WHOLE, "D4": WHOLE["D1"]}, "D4 is no dimension of reviewer/reviewer_methodology_focus/v1"),
        ({name: WHOLE[name] for name in ("D1", "D3")}, "nobody scored D2"),
        ({**WHOLE, "D2": {"a": "pass"}}, "b has not scored every dimension: look at D2"),
        ({**WHOLE, "D2": {**WHOLE["D2"], "c": "pass"}}, "c has not scored every dimension: look at D2"),
        ({**WHOLE, "D3": {"a": "pass", "b": "fail"}}, "b scores D3 'fail', which is no score"),
        ({**WHOLE, "D3": {"a": "pass", "b": None}}, "b scores D3 None, which is no score"),
    ],
)
def test_no_score_is_made_up_for_one_that_is_missing_or_unknown(
    matrix: Mapping[str, Mapping[str, Score]], why: str
) -> None:
    with pytest.raises(MatrixFaulty) as refused:
        synthesize(contract_from(SMALL), matrix)
    assert refused.value.why == why


@pytest.mark.parametrize(
    ("texts", "why"), [(("pp", "ppp"), "a has no score for D3"), (("pppp",), "a has a score for D4")]
)
def test_reviewers_score_exactly_the_dimensions_of_the_contract(texts: tuple[str, ...], why: str) -> None:
    with pytest.raises(MatrixFaulty) as refused:
        matrix_of(contract_from(SMALL), rows(*texts))
    assert refused.value.why == why


@pytest.mark.rule("R-P3")
@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("most dimensions score 'warn'", "most dimensions score 'warn'"),
        ("D9 scores 'warn'", "D9 scores 'warn'"),
        ("any high dimension scores 'warn'", "any high dimension scores 'warn'"),
        ("D1 scores 'warn'\n", "\"D1 scores 'warn'\\n\""),
        ("x" * 300, "x" * 199 + "…"),
    ],
)
def test_r_p3_an_expression_that_is_unrecognised_or_orphaned_aborts_with_its_tag(
    expression: str, shown: str
) -> None:
    contract = contract_of(2, "mm", condition("F7", 50, "any", expression, "reject"))
    with pytest.raises(ConditionUnreadable) as refused:
        decided(contract, "pp", "pp")
    assert refused.value.tag == f"[EXPRESSION-UNRECOGNISED: condition_id=F7, expression={shown}]"
    with pytest.raises(RecomputationError):
        recompute(contract, rows("pp", "pp"))


def test_an_unreadable_condition_aborts_even_when_a_graver_one_fired() -> None:
    contract = contract_of(
        1,
        "m",
        condition("F1", 90, "any", "D1 scores 'block'", "reject"),
        condition("F2", 10, "any", "D2 scores 'block'", "reject"),
    )
    with pytest.raises(ConditionUnreadable):
        decided(contract, "b")


def test_a_condition_without_a_quantifier_is_not_counted() -> None:
    contract = contract_from({**SMALL, "mode": "writer_full"})
    bare = contract.failure_conditions[0].model_copy(update={"cross_reviewer_quantifier": None})
    odd = contract.model_copy(update={"failure_conditions": (bare, *contract.failure_conditions[1:])})
    with pytest.raises(ConditionUnreadable):
        decided(odd, "ppp", "ppp")
    with pytest.raises(RecomputationError):
        recompute(odd, rows("ppp", "ppp"))


@given(st.sampled_from(("any", "majority", "all")), st.integers(1, 1000))
def test_a_majority_is_never_less_than_more_than_half(quantifier: Any, size: int) -> None:
    spec, strict = needed_for(quantifier, size), needed_for(quantifier, size, "strict")
    if quantifier == "majority":
        assert spec >= strict > size / 2
        assert strict >= 2


def naive(
    contract: Contract, scores: Mapping[str, Mapping[str, Score]], majority: Majority, on: OnNoneFired
) -> tuple[list[str], str | None]:
    """Decide by reading spec 8 and 9 aloud: words of an expression, one reviewer after the other."""
    order = ["pass", "warn", "block"]
    fired = []
    for one in contract.failure_conditions:
        count = 0
        for row in scores.values():
            truths = []
            for sentence in one.expression.split(" AND "):
                score = sentence.split("'")[1]
                words = sentence.replace("priority=", "").replace("-priority", "").split()
                named = [d for d in contract.acceptance_dimensions if d.priority in words or d.id in words]
                equal = [d for d in named if row[d.id] == score]
                worse = [d for d in named if order.index(row[d.id]) >= order.index(score)]
                if words[0] == "every":
                    truths.append(len(equal) == len(named))
                elif words[0] == "two":
                    truths.append(len(worse) >= 2)
                else:
                    truths.append(len(equal) >= 1)
            count += all(truths)
        n = len(scores)
        if one.cross_reviewer_quantifier == "any":
            fires = count >= 1
        elif one.cross_reviewer_quantifier == "all":
            fires = count == n
        elif n == 1:
            fires = False
        elif n == 2:
            fires = count == 2
        elif majority == "spec":
            fires = count >= math.ceil(n / 2) + 1
        else:
            fires = count >= math.floor(n / 2) + 1
        if fires:
            fired.append(one)
    ids = [one.condition_id for one in fired]
    if fired:
        worst = max(one.severity for one in fired)
        return ids, next(one.action for one in fired if one.severity == worst)
    return ids, "editorial_decision=accept" if on == "accept" else None


@settings(max_examples=400)
@given(panels(), st.sampled_from(("spec", "strict")), st.sampled_from(("accept", "abort")))
def test_synthesis_recomputation_and_the_spec_read_aloud_agree(
    panel: tuple[Contract, dict[str, dict[str, Score]]], majority: Majority, on: OnNoneFired
) -> None:
    contract, scores = panel
    found = synthesize(contract, matrix_of(contract, scores), majority=majority, on_none_fired=on)
    fired, decision = naive(contract, scores, majority, on)
    assert list(found.fired_conditions) == fired
    assert found.editorial_decision == decision
    assert (NONE_FIRED in found.tags) == (not fired)
    again = recompute(contract, scores, majority=majority, on_none_fired=on)
    assert again == (frozenset(fired), decision)
    assert disagreement(again, found.fired_conditions, found.editorial_decision) is None
    for one in found.conditions:
        assert one.fired == (len(one.holds_for) >= one.needed)
        assert one.arithmetic.endswith(": fires" if one.fired else ": does not fire")


@given(panels())
def test_the_order_of_reviewers_changes_no_decision(
    panel: tuple[Contract, dict[str, dict[str, Score]]],
) -> None:
    contract, scores = panel
    one = synthesize(contract, matrix_of(contract, scores))
    other = synthesize(contract, matrix_of(contract, dict(reversed(scores.items()))))
    assert replace(one, conditions=(), matrix={}) == replace(other, conditions=(), matrix={})


def test_a_synthesis_that_differs_from_the_recomputation_is_told_in_one_line() -> None:
    contract, scores = contract_from(SMALL), rows("bpp", "ppp")
    again = recompute(contract, scores)
    assert disagreement(again, ["F1"], REJECT) is None
    assert disagreement(again, ["F1", "F2"], REJECT) == "fired_conditions are [F1], not [F1, F2]"
    assert disagreement(again, [], REJECT) == "fired_conditions are [F1], not []"
    assert disagreement(again, ["F1"], MINOR) == (
        "the decision is editorial_decision=reject, not editorial_decision=minor_revision"
    )
    assert disagreement(again, ["F1"], None) == "the decision is editorial_decision=reject, not none"


@pytest.mark.parametrize("texts", [("ppp",), ("ppp", "ppp", "ppp"), ("pp", "ppp"), ("pppp", "ppp")])
def test_the_recomputation_wants_the_whole_panel_too(texts: tuple[str, ...]) -> None:
    with pytest.raises(RecomputationError):
        recompute(contract_from(SMALL), rows(*texts))


def test_the_recomputation_refuses_what_is_no_score() -> None:
    scores: Any = {**rows("ppp", "ppp"), "b": {"D1": "pass", "D2": "fine", "D3": "pass"}}
    with pytest.raises(RecomputationError):
        recompute(contract_from(SMALL), scores)


def test_the_recomputation_shares_no_code_with_what_it_checks() -> None:
    own = {"moot.protocols.panel.expression", "moot.protocols.panel.synthesis"}
    assert [
        name for name, value in vars(recomputing).items() if getattr(value, "__module__", "") in own
    ] == []
    assert not own & {value.__name__ for value in vars(recomputing).values() if isinstance(value, ModuleType)}
