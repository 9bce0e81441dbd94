"""The lint of Phase 1 (spec 4)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.panel.contract import Contract, as_json, contract_from
from moot.protocols.panel.lint_phase1 import CHECKS, Phase1, lint_phase1
from tests.doubles.panel_samples import FOCUS, FULL, LOOKED_FOR, phase1, plan_of

NAMES = {one.id: one.name for one in FULL.acceptance_dimensions}


def asking_for(minimum: int | str) -> Contract:
    value = as_json(FULL)
    value["measurement_procedure"]["paraphrase_minimum_dimensions"] = minimum
    return contract_from(value)


def findings(found: Phase1) -> list[str]:
    return [f"{one.check}: {one.why}" for one in found.findings]


def test_a_whole_phase_1_passes_and_its_plan_is_read() -> None:
    found = lint_phase1(phase1(), FULL)

    assert found.is_clean
    assert list(found.plan) == list(NAMES)
    assert found.plan["D1"] == {
        "dimension_id": "D1",
        "what_to_look_for": LOOKED_FOR["D1"][0],
        "what_triggers_block": LOOKED_FOR["D1"][1],
        "what_triggers_warn": LOOKED_FOR["D1"][2],
    }
    assert lint_phase1(phase1(FOCUS), FOCUS).is_clean


def test_carriage_returns_and_trailing_blanks_change_nothing() -> None:
    assert lint_phase1(phase1().replace("\n", " \r\n"), FULL) == lint_phase1(phase1(), FULL)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## Contract Paraphrase", "## Paraphrase", "there is no section '## Contract Paraphrase'"),
        ("## Scoring Plan", "## Plan", "there is no section '## Scoring Plan'"),
        ("## Scoring Plan", "## Scoring Plan\n\n## Scoring Plan", "'## Scoring Plan' stands there 2 times"),
        ("## Contract Paraphrase", "```\n## Contract Paraphrase\n```", "there is no section"),
    ],
)
def test_sections_stand_there_once(old: str, new: str, said: str) -> None:
    found = lint_phase1(phase1().replace(old, new), FULL)
    assert found.findings[0].check == "sections" and said in found.findings[0].why


def test_sections_stand_in_order() -> None:
    head, plan = phase1().split("## Scoring Plan")
    text = (
        "## Scoring Plan" + plan.replace("[CONTRACT-ACKNOWLEDGED]", "") + head + "[CONTRACT-ACKNOWLEDGED]\n"
    )

    assert findings(lint_phase1(text, FULL)) == [
        "sections: '## Scoring Plan' stands before '## Contract Paraphrase'"
    ]


@pytest.mark.parametrize("end", ["", "CONTRACT-ACKNOWLEDGED", "[CONTRACT-ACKNOWLEDGED] yes",
                                 "[CONTRACT-ACKNOWLEDGED]\n\nP.S.", "```\n[CONTRACT-ACKNOWLEDGED]\n```",
                                 " [CONTRACT-ACKNOWLEDGED]"])  # fmt: skip
def test_the_acknowledgement_is_the_last_line(end: str) -> None:
    assert "acknowledged" in [one.check for one in lint_phase1(phase1(end=end), FULL).findings]


# ---------------------------------------------------------------- paraphrase


def test_all_asks_for_a_paragraph_per_dimension() -> None:
    paragraphs = [f"{one} is about {LOOKED_FOR[one][0]}." for one in NAMES]

    found = lint_phase1(phase1(paraphrase="\n\n".join(paragraphs[:4])), FULL)
    assert findings(found) == [
        "paraphrase: 4 of the dimensions have a paragraph of their own that names them, the contract asks for 5: "
        "missing D5 writing_and_structure"
    ]


def test_a_number_asks_for_so_many_different_dimensions() -> None:
    two = asking_for(2)

    assert lint_phase1(phase1(paraphrase="About D1.\n\nAbout D4."), two).is_clean
    assert not lint_phase1(phase1(paraphrase="About D1."), two).is_clean
    assert not lint_phase1(phase1(paraphrase="About D1.\n\nAgain D1.\n\nOnce more D1."), two).is_clean
    assert not lint_phase1(phase1(paraphrase="About D1 and D2 and D3."), two).is_clean
    assert not lint_phase1(phase1(paraphrase="One.\n\nTwo."), two).is_clean


def test_more_than_there_are_dimensions_can_never_be() -> None:
    found = lint_phase1(phase1(), asking_for(6))
    assert findings(found) == ["paraphrase: the contract asks for 6 paragraphs and has only 5 dimensions"]


@pytest.mark.parametrize(
    "paraphrase",
    [
        "\n\n".join(f"On {name}: yes." for name in NAMES.values()),
        "\n\n".join(f"On {name.replace('_', ' ').title()}: yes." for name in NAMES.values()),
        "\n\n".join(f"On {name.replace('_', '-')}: yes." for name in NAMES.values()),
        "\n\n".join(f"### {one}: {name}\n\nYes." for one, name in NAMES.items()),
        "\n".join(f"### {one}\nYes." for one in NAMES),
        "\n".join(f"- {one} yes,\n  as I see it" for one in NAMES),
        "\n".join(f"{n}. {one} yes" for n, one in enumerate(NAMES)),
        "The contract.\n\n"
        + "\n\n".join(f"{one}, not {other}" for one, other in itertools.pairwise([*NAMES, "D1"])),
    ],
)
def test_a_paragraph_names_its_dimension_by_id_or_name(paraphrase: str) -> None:
    assert lint_phase1(phase1(paraphrase=paraphrase), FULL).is_clean


@pytest.mark.parametrize(
    "paraphrase",
    [
        "\n\n".join(f"x{one} D1{one}" for one in NAMES),
        "\n\n".join(one.lower() for one in NAMES),
        "\n\n".join(f"### {one}: {name}" for one, name in NAMES.items()),
        "\n".join(f"{one} is fine." for one in NAMES),
        "all of " + ", ".join(NAMES.values()),
    ],
)
def test_other_words_headings_alone_and_one_long_paragraph_do_not_do(paraphrase: str) -> None:
    assert "paraphrase" in [one.check for one in lint_phase1(phase1(paraphrase=paraphrase), FULL).findings]


def test_dimensions_find_paragraphs_of_their_own_whatever_the_order() -> None:
    # Only one way works: D5 has the first paragraph alone, D4 then the second, and so on.
    paragraphs = ["D1 D2 D3 D4 D5", "D1 D2 D3 D4", "D1 D2 D3", "D1 D2", "D1"]
    for order in itertools.permutations(paragraphs):
        assert lint_phase1(phase1(paraphrase="\n\n".join(order)), FULL).is_clean


def test_of_overlapping_names_the_longest_is_meant() -> None:
    value = as_json(asking_for(2))
    value["acceptance_dimensions"][1]["name"] = "methodology"
    contract = contract_from(value)

    assert not lint_phase1(
        phase1(contract, paraphrase="methodology rigor.\n\nmethodology rigor."), contract
    ).is_clean
    assert lint_phase1(phase1(contract, paraphrase="methodology rigor.\n\nmethodology."), contract).is_clean


# ---------------------------------------------------------------- scoring plan


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("### D3", "'### D3' is not written as ### D1: name"),
        ("### D9: x", "D9 is not the contract's"),
        (plan_of("D2", "x"), "D2 stands there twice"),
        ("D3: no heading", "D3 has no subsection '### D3: …'"),
    ],
)
def test_each_dimension_has_one_subsection(plan: str, said: str) -> None:
    found = lint_phase1(phase1(D3=plan), FULL)

    assert f"scoring_plan: {said}" in findings(found)
    assert "scoring_plan: D3 has no subsection '### D3: …'" in findings(found)


def test_full_coverage_is_asked_even_where_one_paraphrase_is_enough() -> None:
    found = lint_phase1(phase1(asking_for(1), D5="", paraphrase="About D1."), asking_for(1))
    assert [one.check for one in found.findings] == ["scoring_plan"]


@pytest.mark.parametrize(
    "field", ["dimension_id", "what_to_look_for", "what_triggers_block", "what_triggers_warn"]
)
def test_a_subsection_has_a_line_for_each_field(field: str) -> None:
    lines = plan_of("D3", "x").split("\n")
    without = "\n".join(line for line in lines if not line.startswith(field))
    empty = "\n".join(f"{field}:" if line.startswith(field) else line for line in lines)

    assert findings(lint_phase1(phase1(D3=without), FULL)) == [f"scoring_fields: D3 has no line '{field}:'"]
    assert findings(lint_phase1(phase1(D3=empty), FULL)) == [
        f"scoring_fields: D3 says nothing after '{field}:'"
    ]


def test_a_subsection_says_its_own_id() -> None:
    found = lint_phase1(phase1(D3=plan_of("D3", "x").replace("dimension_id: D3", "dimension_id: D4")), FULL)
    assert findings(found) == ["scoring_fields: D3 says dimension_id: D4"]


def test_fields_may_be_items_of_a_list_and_go_on_over_lines() -> None:
    text = (
        "### D3: x\n- **dimension_id:** D3\n* `what_to_look_for`: a\n- what_triggers_block:\n  - no\n  - thread\n\n"
        "- what_triggers_warn: gaps\n  between steps\n\nSome closing words."
    )
    found = lint_phase1(phase1(D3=text), FULL)

    assert found.is_clean
    assert found.plan["D3"]["what_triggers_block"] == "- no - thread"
    assert found.plan["D3"]["what_triggers_warn"] == "gaps between steps"


def test_a_plan_in_fenced_code_is_no_plan() -> None:
    found = lint_phase1(phase1(plan="```yaml\n" + plan_of("D1", "x") + "\n```"), FULL)
    assert len(found.findings) == 5 and not found.plan


# ---------------------------------------------------------------- any text


def _with_a_line(text: str, at: int, line: str) -> str:
    lines = text.split("\n")
    lines.insert(at, line)
    return "\n".join(lines)


LINES = [
    "",
    "Some prose.",
    "- an item",
    "what_to_look_for: more",
    "### D9: unknown",
    "## Scoring Plan",
    "```",
]
WHOLE = st.builds(_with_a_line, st.just(phase1()), st.integers(0, 50), st.sampled_from(LINES))
"""Whole outputs, each with one more line somewhere, which spoils some of them."""


def _is_clean(text: str) -> bool:
    """Say whether the lint passes; then the plan is whole, and otherwise the findings are of known checks."""
    found = lint_phase1(text, FULL)
    assert {one.check for one in found.findings} <= set(CHECKS)
    if found.is_clean:
        assert list(found.plan) == list(NAMES)
        assert all(len(fields) == 4 and all(fields.values()) for fields in found.plan.values())
    return found.is_clean


@given(st.text() | st.lists(st.sampled_from(phase1().split("\n"))).map("\n".join) | WHOLE)
def test_any_text_has_findings_or_a_whole_plan(text: str) -> None:
    _is_clean(text)


def test_of_whole_outputs_with_one_more_line_some_pass_and_some_do_not() -> None:
    found = [_is_clean(_with_a_line(phase1(), at, line)) for at in range(40) for line in LINES]
    assert found.count(True) > 50 and found.count(False) > 50


@pytest.mark.parametrize("piece", ["D1 methodology rigor ", "D1\n\n", "### D1: x\n", "what_triggers_warn: a\n",
                                   "- ", "## Scoring Plan\n", "`", "methodology ", "\n", "* *_`"])  # fmt: skip
def test_the_lint_takes_time_linear_in_the_text(piece: str) -> None:
    """A quadratic lint would not be done with it before the suite's limit for a test."""
    found = lint_phase1(phase1(paraphrase=piece * (500_000 // len(piece))), FULL)
    assert {one.check for one in found.findings} <= set(CHECKS)
