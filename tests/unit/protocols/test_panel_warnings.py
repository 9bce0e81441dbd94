"""Warnings of contracts, by their ids: when each fires, when it keeps still, and that none refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.panel.contract import Contract, contract_from
from moot.protocols.panel.contract_warnings import Warned, warnings
from tests.doubles.panel_contracts import SMALL, changed, contracts

CONDITION, DIMENSION, PROCEDURE = "failure_conditions", "acceptance_dimensions", "measurement_procedure"
OUTPUTS = "reviewer_must_output_before_paper"


def ids(contract: Contract, current_version: str | None = None) -> list[str]:
    return [one.id for one in warnings(contract, current_version)]


def small(*path: str | int, to: object) -> Contract:
    return contract_from(changed(*path, to=to))


def test_a_sound_contract_has_none() -> None:
    assert warnings(contract_from(SMALL), "v3.6.2") == ()


@pytest.mark.parametrize("version", ["v3.6.2", "3.8.0", "v3.8.99", "v3.0.0", "v3.6.0"])
def test_sc_1_is_silent_up_to_two_minor_versions_and_for_a_newer_contract(version: str) -> None:
    assert ids(contract_from(SMALL), version) == []


@pytest.mark.parametrize("version", ["v3.9.0", "3.9.0", "v3.10.0", "v4.6.2", "v2.6.2", "4.0.0"])
def test_sc_1_tells_of_three_minor_versions_and_of_another_major_version(version: str) -> None:
    assert ids(contract_from(SMALL), version) == ["SC-1"]


@pytest.mark.parametrize(
    "version", [None, "", "latest", "v9", "v9.9", "v9.9.9-rc1", "v9.9.9\n", "vv9.9.9", "v9.9.9.9"]
)
def test_sc_1_is_skipped_without_a_readable_version(version: str | None) -> None:
    assert ids(contract_from(SMALL), version) == []


def test_sc_2_tells_of_a_single_dimension() -> None:
    data = changed("stage", to="x")
    data[DIMENSION] = data[DIMENSION][:1]
    data[CONDITION][1]["expression"] = "D1 scores 'warn'"
    assert ids(contract_from(data)) == ["SC-2"]


def test_sc_3_tells_that_nothing_is_mandatory() -> None:
    assert ids(small(DIMENSION, 0, "priority", to="normal")) == ["SC-3"]


def test_sc_4_tells_of_every_mention_of_what_is_no_dimension() -> None:
    contract = small(
        CONDITION, 0, "expression", to="D7 scores 'block' AND D1 scores 'block' AND D7 scores 'warn'"
    )
    found = warnings(contract)
    assert [one.id for one in found] == ["SC-4", "SC-4"]
    assert found[0].text == "the expression of F1 mentions D7, which is no dimension"


@pytest.mark.parametrize("mention", ["D12 and D1", "D01", "D100"])
def test_sc_4_reads_whole_words(mention: str) -> None:
    assert ids(small(CONDITION, 0, "expression", to=f"mandatory: {mention}")).count("SC-4") == 1


@pytest.mark.parametrize("mention", ["xD7", "D7x", "d7", "D_7", "D"])
def test_sc_4_passes_over_what_only_looks_like_a_mention(mention: str) -> None:
    assert ids(small(CONDITION, 0, "expression", to=f"mandatory: {mention}")) == []


@pytest.mark.parametrize("kept", [["contract_paraphrase", "notes"], ["scoring_plan", "notes"]])
def test_sc_5_tells_of_each_output_that_is_missing(kept: list[str]) -> None:
    assert ids(small(PROCEDURE, OUTPUTS, to=kept)) == ["SC-5"]
    assert ids(small(PROCEDURE, OUTPUTS, to=["a", "b"])) == ["SC-5", "SC-5"]


def test_sc_5_is_for_reviewer_modes_only() -> None:
    data = changed(PROCEDURE, OUTPUTS, to=["a", "b"])
    assert ids(contract_from({**data, "mode": "evaluator_full"})) == []


def test_sc_7_tells_of_a_shared_severity_once_when_the_actions_differ() -> None:
    data = changed(CONDITION, 1, "severity", to=90)
    assert ids(contract_from(data)) == ["SC-7"]
    data[CONDITION][2]["severity"] = 90
    assert ids(contract_from(data)) == ["SC-7"]


def test_sc_7_is_silent_when_the_actions_agree() -> None:
    data = changed(CONDITION, 1, "severity", to=90)
    data[CONDITION][1]["action"] = data[CONDITION][0]["action"]
    assert ids(contract_from(data)) == []


def test_sc_9_tells_of_more_paraphrases_than_dimensions() -> None:
    assert ids(small(PROCEDURE, "paraphrase_minimum_dimensions", to=3)) == []
    assert ids(small(PROCEDURE, "paraphrase_minimum_dimensions", to=4)) == ["SC-9"]


def test_sc_10_tells_of_a_dimension_that_no_expression_speaks_of() -> None:
    found = warnings(small(CONDITION, 1, "expression", to="D1 scores 'warn'"))
    assert found == (Warned("SC-10", "no expression speaks of D2 (scope), which is high"),)


@pytest.mark.parametrize("expression", ["D2 scores 'block'", "Any HIGH-PRIORITY dimension"])
def test_sc_10_is_content_with_the_id_or_the_word_of_the_priority(expression: str) -> None:
    assert ids(small(CONDITION, 1, "expression", to=expression)) == []


@pytest.mark.parametrize(
    "expression",
    ["any dimension with priority=high scores 'block'", "any high dimension scores 'block'", "D22"],
)
def test_sc_10_does_not_see_the_other_legal_words_for_high(expression: str) -> None:
    assert "SC-10" in ids(small(CONDITION, 1, "expression", to=expression))


def test_sc_10_leaves_normal_dimensions_alone() -> None:
    assert ids(small(DIMENSION, 2, "priority", to="mandatory")) == []
    assert ids(small(DIMENSION, 2, "priority", to="normal")) == []


def test_sc_11_tells_of_a_panel_of_one_and_of_another_size_than_the_mode_has() -> None:
    assert ids(small("panel_size", to=3)) == ["SC-11"]
    assert ids(small("panel_size", to=1)) == ["SC-11", "SC-11"]
    full = {**SMALL, "mode": "reviewer_full"}
    assert ids(contract_from({**full, "panel_size": 5})) == []
    assert ids(contract_from({**full, "panel_size": 4})) == ["SC-11"]


def test_sc_11_knows_no_size_of_other_modes() -> None:
    guided = {**SMALL, "mode": "reviewer_guided"}
    assert ids(contract_from({**guided, "panel_size": 4})) == []
    assert ids(contract_from({**guided, "panel_size": 1})) == ["SC-11"]


@given(
    contracts(),
    st.text(max_size=12) | st.from_regex(r"v?[0-9]{1,12}\.[0-9]{1,5}\.[0-9]{1,5}", fullmatch=True),
)
def test_any_contract_gives_known_ids_in_order_each_on_one_line(contract: Contract, version: str) -> None:
    found = warnings(contract, version)
    numbers = [int(one.id.removeprefix("SC-")) for one in found]
    assert numbers == sorted(numbers)
    assert set(numbers) <= {1, 2, 3, 4, 5, 7, 9, 10, 11}
    assert all("\n" not in one.text for one in found)
