from __future__ import annotations

import urllib.request
from typing import Any

import pytest

from moot.config.arbiter.bank import load_bank
from moot.config.arbiter.judging import MOST_CHARS, judge_of
from moot.protocols.arbiter.contract import Judge
from moot.protocols.arbiter.generated import ResolvedContract
from moot.protocols.arbiter.parsing import parse_contract


def contract(schema: dict[str, Any]) -> ResolvedContract:
    return ResolvedContract(id="own", sha256="0" * 64, schema=schema, embed_text_source="decision")


def binary() -> Judge:
    judge = judge_of(load_bank(None).contracts["binary_decision_v1"])
    assert judge is not None
    return judge


def test_without_a_contract_nobody_judges() -> None:
    assert judge_of(None) is None


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"decision": "yes", "rationale": "It is warm.", "confidence": 1}, None),
        ({"decision": "maybe", "rationale": "It is warm."}, "decision: 'maybe' is not one of ['yes', 'no']"),
        ({"decision": "yes"}, "'rationale' is a required property"),
        (["yes"], "['yes'] is not of type 'object'"),
    ],
)
def test_a_value_is_held_against_the_schema_of_its_contract(value: object, fault: str | None) -> None:
    assert binary()(value) == fault


def test_a_fault_is_one_short_line() -> None:
    fault = binary()({"decision": "a\nb" * 1000, "rationale": "x"})
    assert fault is not None
    assert "\n" not in fault
    assert len(fault) <= MOST_CHARS + len("decision: ")


def test_a_schema_that_refers_elsewhere_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(urllib.request, "urlopen", asked.append)
    judge = judge_of(contract({"$ref": "http://127.0.0.1:9/there.json"}))
    assert judge is not None
    fault = judge({})
    assert fault == "the contract's schema refers to http://127.0.0.1:9/there.json, which it does not hold"
    assert asked == []


def test_what_a_model_wrote_is_read_by_it() -> None:
    preset = load_bank(None).contracts["binary_decision_v1"]

    def read(text: str) -> str:
        return parse_contract(0, text, preset, binary(), "independent-v1", max_chars=100).line.parse_status

    assert read('I say {"decision": "no", "rationale": "It rains."}') == "success"
    assert read('{"decision": "no"}') == "fallback"
