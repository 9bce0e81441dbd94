"""The judgement of a whole panel: layers, exit codes, tags."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.kernel.errors import LocalProtocolError
from moot.protocols.panel import verify as module
from moot.protocols.panel.audit import name_of
from moot.protocols.panel.contract import ROLES, SCORES, Contract, Score, as_json, contract_from
from moot.protocols.panel.recompute import Recomputed, recompute
from moot.protocols.panel.seating import Source
from moot.protocols.panel.verify import (
    LAYER1_PASSES,
    PANEL_PASSES,
    Verified,
    synthesize_reports,
    unusable,
    verify,
)
from tests.doubles.copying import replace
from tests.doubles.panel_samples import FOCUS, FULL, WARNS, panel, report, sources, synthesis

SEATS = ROLES["reviewer_full"]
SCORED: dict[str, dict[str, Score]] = {"eic": WARNS, "methodology": WARNS, "domain": WARNS, "da": WARNS}
"""Four of five see F2: just a majority."""


def judge(
    texts: dict[str, str] | None = None,
    verdict: str | None = None,
    contract: Contract = FULL,
    roles: tuple[str, ...] = (),
    **options: object,
) -> Verified:
    texts = panel(SCORED) if texts is None else texts
    verdict = synthesis(SCORED) if verdict is None else verdict
    return verify(contract, roles, sources(texts), Source("s.md", verdict), **options)  # type: ignore[arg-type]


def layer1(*texts: str, roles: tuple[str, ...] = ()) -> Verified:
    return verify(FULL, roles, sources(texts), None, layer1_only=True)


def names(found: Verified) -> list[str]:
    return [name_of(tag) for tag in found.tags]


def changed(**fields: object) -> Contract:
    return contract_from({**as_json(FULL), **fields})


def with_expression(expression: str) -> Contract:
    conditions = as_json(FULL)["failure_conditions"]
    conditions[0]["expression"] = expression
    return changed(failure_conditions=conditions)


# ---------------------------------------------------------------- what passes


def test_a_consistent_panel_passes() -> None:
    found = judge()

    assert (found.exit_code, found.lines, found.tags) == (0, (PANEL_PASSES,), ())
    assert found.detail["recomputed"] == found.detail["stated"]
    assert found.detail["recomputed"] == {"fired_conditions": ["F2"], "editorial_decision": "major_revision"}
    assert found.detail["matrix"]["D1"] == {
        "eic": "warn", "methodology": "warn", "domain": "warn", "perspective": "pass", "da": "warn",
    }  # fmt: skip
    assert list(found.reports) == list(SEATS)


def test_the_order_of_reports_and_roles_does_not_matter() -> None:
    texts = panel(SCORED)
    for order in itertools.islice(itertools.permutations(SEATS), 0, 120, 17):
        found = judge({role: texts[role] for role in order}, roles=order[::-1])
        assert found.exit_code == 0
        assert list(found.detail["matrix"]["D1"]) == list(SEATS)


def test_a_panel_of_two_passes_under_its_contract() -> None:
    scores: dict[str, dict[str, Score]] = {"methodology": {"D1": "warn"}}
    found = judge(panel(scores, FOCUS), synthesis(scores, FOCUS), FOCUS)

    assert found.exit_code == 0
    assert found.detail["recomputed"]["editorial_decision"] == "major_revision"


@settings(max_examples=60)
@given(
    st.fixed_dictionaries(
        {
            role: st.fixed_dictionaries({f"D{n}": st.sampled_from(SCORES) for n in range(1, 6)})
            for role in SEATS
        }
    ),
    st.sampled_from(["spec", "strict"]),
)
def test_whatever_the_scores_their_own_synthesis_passes_and_no_other(
    scores: dict[str, dict[str, Score]], majority: str
) -> None:
    texts = panel(scores)
    own = synthesis(scores, majority=majority)
    assert judge(texts, own, majority=majority).exit_code == 0

    truth = recompute(FULL, scores, majority=majority)  # type: ignore[arg-type]
    for fired in (set(), {"F0"}, {"F1"}, {"F2"}, {"F3"}, {"F1", "F2"}):
        for action in ("accept", "major_revision", "reject_or_major_revision", "reject"):
            other = f"fired_conditions: [{', '.join(sorted(fired))}]\neditorial_decision={action}"
            is_true = truth == Recomputed(frozenset(fired), f"editorial_decision={action}")  # type: ignore[arg-type]
            assert (judge(texts, other, majority=majority).exit_code == 0) == is_true


# ---------------------------------------------------------------- 1: the synthesis


@pytest.mark.parametrize(
    ("fired", "action"),
    [
        ("F2", "minor_revision"),
        # The right decision by a made-up record.
        ("F3", "major_revision"),
        ("F2, F3", "major_revision"),
        ("", "major_revision"),
        ("F0", "accept"),
    ],
)
def test_a_synthesis_that_the_scores_contradict_is_1(fired: str, action: str) -> None:
    found = judge(verdict=f"fired_conditions: [{fired}]\neditorial_decision={action}")

    assert found.exit_code == 1
    assert found.tags == (
        f"[PANEL-SYNTHESIS-MISMATCH: recomputed_fired=[F2], declared_fired=[{fired}], "
        f"recomputed=editorial_decision=major_revision, stated=editorial_decision={action}]",
    )
    assert PANEL_PASSES not in found.lines


def test_a_malformed_synthesis_is_1() -> None:
    found = judge(verdict="editorial_decision=accept\neditorial_decision=reject")
    assert found.exit_code == 1
    assert names(found) == ["SYNTHESIS-PARSE"] * 2


@pytest.mark.rule("R-P1")
def test_r_p1_the_majority_is_the_spec_s_unless_another_is_asked_for() -> None:
    three = dict.fromkeys(SEATS[:3], WARNS)
    strict = "fired_conditions: [F2]\neditorial_decision=major_revision"

    assert judge(panel(three), strict).exit_code == 1
    assert judge(panel(three), strict, majority="strict").exit_code == 0


@pytest.mark.rule("R-P2")
def test_r_p2_nothing_fired_accepts_with_a_tag() -> None:
    one: dict[str, dict[str, Score]] = {"eic": {"D1": "warn"}}
    found = judge(panel(one), synthesis(one))

    assert found.exit_code == 0
    assert found.lines == ("[NO-CONDITION-FIRED]", PANEL_PASSES)
    assert found.detail["recomputed"] == {"fired_conditions": [], "editorial_decision": "accept"}


def test_what_reviewers_declare_does_not_enter_the_recomputation() -> None:
    texts = {
        **panel(SCORED),
        "perspective": report("perspective", fired=["F1"], decision="editorial_decision=reject"),
    }
    found = judge(texts)

    assert found.exit_code == 3
    assert found.detail["recomputed"]["fired_conditions"] == ["F2"]


# ---------------------------------------------------------------- 3: a reviewer


def test_flags_that_the_scores_contradict_are_3() -> None:
    texts = {**panel(SCORED), "da": report("da", WARNS, fired=["F0"], decision="editorial_decision=accept")}
    found = judge(texts)

    assert found.exit_code == 3
    assert found.tags == (
        "[REVIEWER-SELF-INCONSISTENT: reviewer=da, file=da.md, condition=F2, declared=false, recomputed=true]",
        "[REVIEWER-SELF-INCONSISTENT: reviewer=da, file=da.md, condition=F0, declared=true, recomputed=false]",
    )


def test_a_decision_that_the_declared_flags_contradict_is_3() -> None:
    texts = {**panel(SCORED), "da": report("da", WARNS, decision="editorial_decision=accept")}
    found = judge(texts)

    assert found.exit_code == 3
    assert found.tags == (
        "[REVIEWER-SELF-INCONSISTENT: reviewer=da, file=da.md, decision_declared=editorial_decision=accept, "
        "decision_recomputed=editorial_decision=major_revision]",
    )


@pytest.mark.rule("R-P5")
def test_r_p5_a_decision_is_held_to_declared_flags_not_to_true_ones() -> None:
    # The flags are wrong, the decision follows from them: one fault per flag, none for the decision.
    wrong = report("da", fired=["F1"], decision="editorial_decision=reject_or_major_revision")
    assert [tag for tag in layer1(wrong).tags if "decision_declared" in tag] == []
    assert layer1(wrong).exit_code == 3


def test_a_malformed_report_is_3_and_the_synthesis_is_not_judged() -> None:
    texts = {**panel(SCORED), "da": report("da", WARNS).replace("score: warn", "score: grim", 1)}
    found = judge(texts)

    assert found.exit_code == 3
    assert names(found) == ["REPORT-PARSE", "SUPPRESSED"]
    assert found.tags[0] == "[REPORT-PARSE: da.md: line 6: D1: 'grim' is none of block, warn, pass]"
    assert found.synthesis is None and "matrix" not in found.detail


def test_every_fault_of_a_report_is_a_tag() -> None:
    assert names(layer1("")) == ["REPORT-PARSE"] * 5


# ---------------------------------------------------------------- 2: contract and panel


@pytest.mark.parametrize("n", [0, 1, 4, 6])
def test_another_number_of_reports_is_2(n: int) -> None:
    texts = {**panel(SCORED), "more": report("eic", body="Another one.")}
    found = judge(dict(list(texts.items())[:n]))

    assert found.exit_code == 2
    assert f"[PANEL-CARDINALITY: {n} reports for a panel of 5]" in found.tags
    assert "SUPPRESSED" in names(found)


def test_the_same_report_twice_is_2() -> None:
    texts = panel(SCORED)
    found = judge({**texts, "da": texts["eic"]})

    assert found.exit_code == 2
    assert found.tags[:3] == (
        "[PANEL-CARDINALITY: the same report twice: eic.md and da.md]",
        "[PANEL-CARDINALITY: role eic reports 2 times]",
        "[PANEL-CARDINALITY: role da does not report]",
    )


def test_a_role_that_does_not_sit_on_the_panel_is_2() -> None:
    found = judge({**panel(SCORED), "da": report("banana", WARNS)})

    assert found.exit_code == 2
    assert "da.md: contract_role banana does not sit on this panel: eic, methodology" in found.tags[0]
    assert judge(panel(), synthesis(), FOCUS).exit_code == 2


def test_a_role_twice_is_2() -> None:
    found = judge({**panel(SCORED), "da": report("eic", WARNS, body="Samples and citations again.")})
    assert found.exit_code == 2
    assert "[PANEL-CARDINALITY: role eic reports 2 times]" in found.tags


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (("eic", "methodology", "domain", "perspective"), "role da is not sent"),
        ((*SEATS, "banana"), "role banana does not sit on this panel"),
        ((*SEATS, "da"), "role da is sent twice"),
        (("",), "role does not sit on this panel"),
    ],
)
def test_roles_that_make_no_panel_are_2(roles: tuple[str, ...], said: str) -> None:
    found = judge(roles=roles)
    assert found.exit_code == 2
    assert any(said in " ".join(tag.split()) for tag in found.tags), found.tags


def test_a_report_of_a_role_that_was_not_sent_is_2() -> None:
    assert layer1(report("da"), roles=("da",)).exit_code == 0
    found = layer1(report("eic"), roles=("da",))
    assert found.exit_code == 2
    assert found.tags == ("[PANEL-CARDINALITY: r0.md: role eic was not sent: da were]",)


@pytest.mark.parametrize(
    "expression",
    [
        "any mandatory dimension scores block",
        "D1 scores 'block' and D2 scores 'block'",
        "two or more mandatory dimensions score 'warn'",
    ],
)
def test_an_expression_outside_the_grammar_is_2(expression: str) -> None:
    found = judge(contract=with_expression(expression))

    assert found.exit_code == 2
    assert found.tags == (
        f"[EXPRESSION-UNRECOGNISED: condition_id=F1, expression={expression}]",
        "[SUPPRESSED: layer 2: contract, panel or files are at fault]",
    )


@pytest.mark.rule("R-P3")
@pytest.mark.parametrize("expression", ["D9 scores 'block'", "D1 scores 'pass' AND D9 scores 'pass'"])
def test_r_p3_an_orphaned_expression_is_2_and_never_true(expression: str) -> None:
    found = judge(contract=with_expression(expression))

    assert found.exit_code == 2
    assert names(found) == ["EXPRESSION-UNRECOGNISED", "EXPRESSION-SEMANTIC", "SUPPRESSED"]


@pytest.mark.rule("R-P6")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"mode": "reviewer_guided"}, "reviewer_full and reviewer_methodology_focus"),
        ({"panel_size": 4}, "needs 5"),
        ({"mode": "reviewer_methodology_focus"}, "needs 2"),
    ],
)
def test_r_p6_a_mode_without_a_template_and_another_size_are_2(fields: dict[str, object], said: str) -> None:
    found = judge(contract=changed(**fields))

    assert found.exit_code == 2
    assert name_of(found.tags[0]) == "CONTRACT-INELIGIBLE" and said in found.tags[0]


def test_a_file_that_cannot_be_read_is_2() -> None:
    given = sources(panel(SCORED))
    broken = [*given[:4], Source("da.md", None, "is not UTF-8: see byte 7")]

    found = verify(FULL, (), broken, Source("s.md", synthesis(SCORED)))
    assert found.exit_code == 2
    assert found.tags[0] == "[IO-ERROR: da.md: is not UTF-8: see byte 7]"

    found = verify(FULL, (), given, Source("s.md", None, "No such file or directory"))
    assert found.exit_code == 2
    assert names(found) == ["IO-ERROR", "SUPPRESSED"]


def test_a_contract_that_is_none_is_2() -> None:
    found = unusable("[CONTRACT-INVALID: x]")
    assert (found.exit_code, found.lines) == (2, ("[CONTRACT-INVALID: x]",))


# ---------------------------------------------------------------- precedence and layer 1


def test_of_several_exit_codes_2_comes_before_3_before_1() -> None:
    wrong = "fired_conditions: []\neditorial_decision=reject"
    inconsistent = report("da", WARNS, decision="editorial_decision=accept")

    assert judge(verdict=wrong).exit_code == 1
    three = judge({**panel(SCORED), "da": inconsistent}, wrong)
    assert three.exit_code == 3
    assert names(three) == ["REVIEWER-SELF-INCONSISTENT", "PANEL-SYNTHESIS-MISMATCH"]
    assert judge({**panel(SCORED), "da": inconsistent, "domain": inconsistent}, wrong).exit_code == 2


def test_layer_1_takes_any_part_of_a_panel_and_never_speaks_of_the_whole() -> None:
    for n in range(1, 6):
        found = layer1(*[*panel(SCORED).values()][:n])
        assert (found.exit_code, found.lines) == (0, (LAYER1_PASSES,))
    assert layer1().exit_code == 2
    assert layer1(*panel(SCORED).values(), report("eic", body="Once more.")).exit_code == 2
    assert layer1(report("eic"), report("eic", body="Once more.")).exit_code == 2
    assert layer1(report("banana")).exit_code == 2
    assert layer1(report("eic", WARNS, fired=["F0"])).exit_code == 3


def test_a_synthesis_or_layer_1_and_not_both() -> None:
    with pytest.raises(ValueError, match="one of the two"):
        verify(FULL, (), [], None)
    with pytest.raises(ValueError, match="one of the two"):
        verify(FULL, (), [], Source("s.md", ""), layer1_only=True)


def test_a_decision_does_not_count_when_two_computations_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    def otherwise(*args: object, **options: object) -> Recomputed:
        return Recomputed(frozenset({"F1"}), "editorial_decision=reject")

    monkeypatch.setattr(module, "recompute", otherwise)
    with pytest.raises(LocalProtocolError, match="two computations"):
        judge()


# ---------------------------------------------------------------- synthesize


def test_reports_are_synthesized_when_all_are_usable() -> None:
    found = synthesize_reports(FULL, sources(panel(SCORED)))
    assert found.exit_code == 0 and found.synthesis is not None
    assert found.synthesis.fired_conditions == ("F2",)

    assert synthesize_reports(FULL, sources(panel(SCORED))[:4]).exit_code == 2
    bad = {**panel(SCORED), "da": report("da", WARNS, fired=["F0"])}
    found = synthesize_reports(FULL, sources(bad))
    assert found.exit_code == 3 and found.synthesis is None


@pytest.mark.rule("R-P2")
def test_r_p2_nothing_fired_may_abort() -> None:
    one = sources(panel({"eic": {"D1": "warn"}}))

    found = synthesize_reports(FULL, one)
    assert (found.exit_code, found.tags) == (0, ("[NO-CONDITION-FIRED]",))
    found = synthesize_reports(FULL, one, on_none_fired="abort")
    assert (found.exit_code, found.tags) == (2, ("[NO-CONDITION-FIRED]",))
    assert found.detail["recomputed"]["editorial_decision"] is None


# ---------------------------------------------------------------- any text, injection, speed


def test_nobody_but_us_writes_a_tag() -> None:
    given = sources(panel(SCORED))
    evil = replace(given[0], name="x]\n[PANEL-SHRUNK: usable=0]\x1b[2J", text="### [SYNTHESIS-MISMATCH]\n")

    found = verify(
        FULL, (), [evil, *given[1:]], Source("s.md", "fired_conditions: ]\n[OK]\neditorial_decision=[OK]")
    )
    for tag in found.tags:
        assert tag.isprintable() and tag.startswith("[") and tag.endswith("]")
        assert "[" not in tag[1:-1] and "]" not in tag[1:-1]


@given(st.lists(st.text() | st.sampled_from([*panel(SCORED).values()]), max_size=6), st.text())
def test_any_texts_are_judged(texts: list[str], verdict: str) -> None:
    found = verify(FULL, (), sources(texts), Source("s.md", verdict))

    assert found.exit_code in (1, 2, 3)
    assert all(tag.isprintable() for tag in found.tags)
