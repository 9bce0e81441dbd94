"""The grammar of expressions: every form of spec 9, what is near to one and none, and what each says of scores."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.panel.contract import SCORES, Contract, Score
from moot.protocols.panel.expression import Orphaned, Unrecognised, parse
from tests.doubles.panel_contracts import contract_of, contracts, rows

FOUR = contract_of(2, "mmhn")
"""D1 and D2 are mandatory, D3 is high, D4 normal."""

TRUE_AND_FALSE = [
    ("any mandatory dimension scores 'block'", "bppp pbpp bbpp bwpp", "pppp wwpp ppbb"),
    ("any dimension with priority=mandatory scores 'warn'", "wppp pwpp wwbb bwpp", "pppp bbpp ppww"),
    ("any mandatory-priority dimension scores 'pass'", "pbww bpww ppww", "bbpp wbpp"),
    ("any high dimension scores 'block'", "ppbp wwbw", "bbwb ppww"),
    ("any high-priority dimension scores 'block'", "ppbp wwbw", "bbwb ppww"),
    ("any dimension with priority=normal scores 'warn'", "pppw bbbw", "wwwb wwwp"),
    ("two or more mandatory dimensions score 'warn' or worse", "wwpp wbpp bbpp", "wppp pbww bpbb"),
    ("two or more dimensions with priority=mandatory score 'block' or worse", "bbpp", "wbpp wwbb bppp"),
    ("two or more mandatory dimensions score 'pass' or worse", "pppp wppp bbbb", ""),
    ("two or more high dimensions score 'pass' or worse", "", "pppp bbbb"),
    ("every mandatory dimension scores 'pass'", "pppp ppbb", "wppp pwpp pbpp bbpp"),
    ("every mandatory dimension scores 'warn'", "wwpp", "wbpp bbpp wppp"),
    ("every normal dimension scores 'block'", "pppb", "bbbw"),
    ("D2 scores 'warn'", "pwpp bwbb", "wppp wbww"),
    ("D1 scores 'pass' AND D3 scores 'block'", "pbbw ppbp", "pppp wpbp"),
    (
        "every mandatory dimension scores 'pass' AND any high dimension scores 'pass' AND D4 scores 'warn'",
        "pppw",
        "pppp ppww wppw",
    ),
]


def scores(text: str) -> dict[str, Score]:
    return rows(text)["a"]


@pytest.mark.parametrize(("expression", "true", "false"), TRUE_AND_FALSE)
def test_each_form_is_true_of_just_these_scores(expression: str, true: str, false: str) -> None:
    predicate = parse(expression, FOUR)
    assert predicate.expression == expression
    assert [one for one in true.split() if not predicate.holds(scores(one))] == []
    assert [one for one in false.split() if predicate.holds(scores(one))] == []


REFUSED = [
    "",
    " ",
    "AND",
    "true",
    "any mandatory dimension scores block",
    'any mandatory dimension scores "block"',
    "any mandatory dimension scores 'Block'",
    "any mandatory dimension scores 'fail'",
    "any mandatory dimension score 'block'",
    "any mandatory dimensions scores 'block'",
    "Any mandatory dimension scores 'block'",
    "any Mandatory dimension scores 'block'",
    "any low dimension scores 'block'",
    "any dimension scores 'block'",
    "any mandatory dimension scores 'warn' or worse",
    "any dimension with priority = mandatory scores 'block'",
    "any  mandatory dimension scores 'block'",
    "any mandatory dimension scores  'block'",
    "any mandatory dimension scores 'block' ",
    " any mandatory dimension scores 'block'",
    "any mandatory dimension scores 'block'.",
    "any mandatory dimension scores 'block'\n",
    "any mandatory\tdimension scores 'block'",
    "any mandatory\u00a0dimension scores 'block'",
    "two or more mandatory dimensions score 'warn'",
    "two or more mandatory-priority dimensions score 'warn' or worse",
    "two or more high-priority dimensions score 'warn' or worse",
    "two mandatory dimensions score 'warn' or worse",
    "three or more mandatory dimensions score 'warn' or worse",
    "two or more mandatory dimensions scores 'warn' or worse",
    "every mandatory-priority dimension scores 'pass'",
    "every high-priority dimension scores 'pass'",
    "every dimension with priority=mandatory scores 'pass'",
    "every mandatory dimensions score 'pass'",
    "D1 score 'pass'",
    "d1 scores 'pass'",
    "D01 scores 'pass'",
    "D0 scores 'pass'",
    "D100 scores 'pass'",
    "D\u0661 scores 'pass'",
    "rigor scores 'pass'",
    "not D1 scores 'pass'",
    "D1 scores 'pass' and D2 scores 'pass'",
    "D1 scores 'pass' OR D2 scores 'pass'",
    "D1 scores 'pass'  AND D2 scores 'pass'",
    "D1 scores 'pass' AND  D2 scores 'pass'",
    "D1 scores 'pass' AND",
    "D1 scores 'pass' AND ",
    " AND D1 scores 'pass'",
    "D1 scores 'pass' AND AND D2 scores 'pass'",
    "(D1 scores 'pass') AND D2 scores 'pass'",
    "D1 scores 'pass'\nAND D2 scores 'pass'",
]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_near_to_a_form_is_none(expression: str) -> None:
    with pytest.raises(Unrecognised) as refused:
        parse(expression, FOUR)
    assert not isinstance(refused.value, Orphaned)
    assert refused.value.expression == expression
    assert "\n" not in str(refused.value)


@pytest.mark.rule("R-P3")
@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("D5 scores 'pass'", "the contract has no dimension D5"),
        ("D1 scores 'pass' AND D99 scores 'pass'", "the contract has no dimension D99"),
        ("every high dimension scores 'pass'", "the contract has no dimension of priority high"),
        ("any high-priority dimension scores 'block'", "the contract has no dimension of priority high"),
        (
            "two or more high dimensions score 'warn' or worse",
            "the contract has no dimension of priority high",
        ),
    ],
)
def test_r_p3_what_speaks_of_nothing_in_the_contract_is_an_error_and_not_vacuously_true(
    expression: str, why: str
) -> None:
    with pytest.raises(Orphaned) as refused:
        parse(expression, contract_of(2, "mmn"))
    assert refused.value.why == why


def test_a_hole_in_the_scores_is_an_error_wherever_it_is() -> None:
    predicate = parse("D1 scores 'pass' AND any mandatory dimension scores 'block'", FOUR)
    with pytest.raises(KeyError):
        predicate.holds({"D1": "warn"})
    with pytest.raises(KeyError):
        predicate.explain({"D2": "warn"})


@pytest.mark.parametrize(
    ("expression", "text", "said"),
    [
        ("any mandatory dimension scores 'block'", "bppp", "holds: 1 of 2 mandatory at block (D1), 1 needed"),
        (
            "any mandatory dimension scores 'block'",
            "wppp",
            "does not hold: 0 of 2 mandatory at block, 1 needed",
        ),
        (
            "two or more mandatory dimensions score 'warn' or worse",
            "wbpp",
            "holds: 2 of 2 mandatory at warn or worse (D1, D2), 2 needed",
        ),
        (
            "every mandatory dimension scores 'pass' AND D4 scores 'warn'",
            "ppbb",
            "does not hold: 2 of 2 mandatory at pass (D1, D2), 2 needed; D4 is block, warn is asked for",
        ),
    ],
)
def test_an_explanation_spells_out_the_count(expression: str, text: str, said: str) -> None:
    assert parse(expression, FOUR).explain(scores(text)) == said


@given(contracts())
def test_every_drawn_expression_is_recognised_and_explained_as_it_is(contract: Contract) -> None:
    ids = [one.id for one in contract.acceptance_dimensions]
    for one in contract.failure_conditions:
        predicate = parse(one.expression, contract)
        assert len(predicate.atoms) == one.expression.count(" AND ") + 1
        for row in itertools.islice(itertools.product(SCORES, repeat=len(ids)), 30):
            said = dict(zip(ids, row, strict=True))
            assert predicate.explain(said).startswith("holds: ") == predicate.holds(said)


@given(st.data(), contracts())
def test_one_changed_character_never_passes_for_another_sentence_about_nothing(
    data: st.DataObject, contract: Contract
) -> None:
    text = contract.failure_conditions[0].expression
    at = data.draw(st.integers(0, len(text) - 1))
    other = text[:at] + data.draw(st.characters()) + text[at + 1 :]
    try:
        predicate = parse(other, contract)
    except Unrecognised:
        return
    known = {one.id for one in contract.acceptance_dimensions}
    assert all(atom.dimensions and set(atom.dimensions) <= known for atom in predicate.atoms)
