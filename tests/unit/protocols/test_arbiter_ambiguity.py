"""Objects that decide differently decide nothing, and duplicate keys make an object invalid (R-G9)."""

from __future__ import annotations

import pytest

from moot.protocols.arbiter.extraction import decisions, fenced, unfenced
from moot.protocols.arbiter.generated import ResolvedContract
from moot.protocols.arbiter.parsing import Parsed, parse_contract, parse_debate

CONTRACT = ResolvedContract.model_validate_json(
    '{"id":"c","schema":{"type":"object"},"embed_text_source":"decision","rationale_max_chars":500,"sha256":"'
    + "0" * 64
    + '"}'
)

pytestmark = pytest.mark.rule("R-G9")


def debate(text: str, *, takes_first: bool = False) -> Parsed:
    return parse_debate(0, text, max_chars=1_000, takes_first=takes_first)


def contract(text: str, *, takes_first: bool = False) -> Parsed:
    def judge(value: object) -> str | None:
        return None if isinstance(value, dict) and value.get("decision") in ("yes", "no") else "no"

    return parse_contract(
        0, text, CONTRACT, judge, "independent-v1", max_chars=1_000, takes_first=takes_first
    )


DIFFERENT = [
    'A draft: {"decision": "no"}. No: {"decision": "yes"}',
    '```json\n{"decision": "no"}\n```\nCorrected:\n```json\n{"decision": "yes"}\n```',
    'For example {"decision": "no"}.\n```json\n{"decision": "yes"}\n```',
    '{"decision": "yes"}{"decision": "no"}',
    '[{"decision": "yes"}, {"decision": "no"}]',
]


@pytest.mark.parametrize("text", DIFFERENT)
@pytest.mark.parametrize("parse", [debate, contract])
def test_objects_that_decide_differently_are_a_fallback(parse, text: str) -> None:
    line = parse(text).line
    assert (line.parse_status, line.outcome, line.extraction_method) == ("fallback", text, "raw")
    assert line.parse_error is not None and line.parse_error.code == "ambiguous_decision"
    assert "'no'" in line.parse_error.message and "'yes'" in line.parse_error.message
    assert parse(text, takes_first=True).line.parse_status == "success"


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "yes"} and again {"decision": "yes"}',
        '```json\n{"decision": "yes"}\n```',
        '{"decision": "yes", "against": {"decision": "no"}}',
        '{"decision": "yes", "confidence": "low"} {"decision": "yes", "confidence": "high"}',
    ],
)
@pytest.mark.parametrize("parse", [debate, contract])
def test_one_decision_stands_however_often_it_is_said(parse, text: str) -> None:
    line = parse(text).line
    assert (line.parse_status, line.outcome) == ("success", "yes")
    assert line.parse_error is None


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "no", "decision": "yes"}',
        '```json\n{"decision": "no", "decision": "yes"}\n```',
        '{"decision": "yes", "rationale": "a", "rationale": "b"}',
        '{"decision": "yes", "more": {"a": 1, "a": 2}}',
    ],
)
@pytest.mark.parametrize("parse", [debate, contract])
def test_a_field_that_stands_twice_makes_an_object_invalid(parse, text: str) -> None:
    assert not [*fenced(text)] and "yes" not in [
        one.value.get("decision") for one in unfenced(text) if isinstance(one.value, dict)
    ]
    line = parse(text).line
    assert (line.parse_status, line.outcome) == ("fallback", text)


def test_decisions_leave_out_what_lies_within_an_object_that_decides() -> None:
    def decided(value: object) -> str | None:
        return value.get("d") if isinstance(value, dict) else None

    assert decisions('{"d": "a", "x": {"d": "b"}} {"y": {"d": "c"}} {"d": " a "}', decided) == ["a", "c"]
