from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.arbiter.contract import clause
from moot.protocols.arbiter.embed_text import is_blank
from moot.protocols.arbiter.generated import EmbedSource, ResolvedContract
from moot.protocols.arbiter.parsing import Parsed, not_answered, parse_contract, parse_debate, parse_plain

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["decision"],
    "properties": {
        "decision": {"enum": ["yes", "no", "", 1]},
        "rationale": {"type": "string", "maxLength": 5},
        "confidence": {},
    },
}


def contract(source: EmbedSource = "rationale", most: int | None = 5) -> ResolvedContract:
    return ResolvedContract(
        id="yes_or_no", sha256="0" * 64, schema_=SCHEMA, embed_text_source=source, rationale_max_chars=most
    )


def judge(value: object) -> str | None:
    found = jsonschema.Draft202012Validator(SCHEMA).iter_errors(value)
    return next((fault.message for fault in found), None)


def debate(text: str) -> Parsed:
    return parse_debate(3, text, max_chars=100)


def held(text: str, wanted: ResolvedContract | None = None) -> Parsed:
    return parse_contract(3, text, wanted or contract(), judge, "debate-v1", max_chars=100)


def embedded(parsed: Parsed) -> str | None:
    return parsed.embed.text if parsed.embed else None


def test_a_plain_text_is_its_own_outcome() -> None:
    assert parse_plain(3, "yes\r\n", "live-v0", max_chars=2).line.as_json() == {
        "trial_id": 3,
        "parse_status": "success",
        "parser_version": "live-v0",
        "extraction_method": "raw",
        "embed_text_source": "raw_content",
        "outcome": "yes\r\n",
        "raw_assistant_text": "yes\r\n",
        "embed_text": "ye",
    }


def test_a_mock_answer_ends_its_line_and_its_outcome_does_not() -> None:
    line = parse_plain(3, "yes\n", "mock-v0", max_chars=9).line
    assert (line.outcome, line.raw_assistant_text) == ("yes", "yes\n")


@pytest.mark.rule("R-S5")
@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff"])
def test_a_blank_text_fails_in_every_form_and_is_not_embedded(text: str) -> None:
    for parsed in (parse_plain(3, text, "live-v0", max_chars=9), debate(text), held(text)):
        assert parsed.line.parse_status == "failed"
        assert parsed.line.parse_error is not None and parsed.line.parse_error.code == "empty_content"
        assert not {"embed_text", "outcome", "extraction_method"} & parsed.line.as_json().keys()


def test_a_trial_without_a_final_text_failed_and_says_no_more() -> None:
    assert not_answered(3, "debate-v1").line.as_json() == {
        "trial_id": 3,
        "parse_status": "failed",
        "parser_version": "debate-v1",
    }


def test_a_debate_ends_with_the_first_object_that_decides_fenced_before_unfenced() -> None:
    text = '{"decision": "b"} ```{"decision": ""}``` ```json\n{"decision": "b", "confidence": "low", "more": 1}\n```'
    found = debate(text)
    assert (
        found.line.parse_status,
        found.line.extraction_method,
        found.line.outcome,
        found.line.confidence,
    ) == ("success", "fenced", "b", "low")
    assert (found.line.embed_text_source, embedded(found), found.line.rationale) == ("decision", "b", None)


def test_a_debate_may_decide_in_a_nested_object_between_prose() -> None:
    found = debate('I say {"answer": {"decision": "no", "reasoning": "dear"}}.')
    assert (
        found.line.parse_status,
        found.line.extraction_method,
        found.line.outcome,
        found.line.rationale,
    ) == (
        "success",
        "unfenced",
        "no",
        "dear",
    )


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": ""},
        {"decision": 1},
        {"decision": None},
        {},
        {"decision": "yes", "confidence": "sure"},
        {"decision": "yes", "confidence": None},
        {"decision": "yes", "confidence": 1},
        {"decision": "yes", "reasoning": None},
        {"decision": "yes", "reasoning": ["a"]},
    ],
)
def test_an_object_that_does_not_decide_leaves_a_debate_its_raw_text(answer: object) -> None:
    text = json.dumps(answer)
    found = debate(text)
    assert (found.line.parse_status, found.line.extraction_method, found.line.outcome) == (
        "fallback",
        "raw",
        text,
    )
    assert (found.line.embed_text_source, embedded(found)) == ("raw_content", text)


def test_a_contract_reads_only_the_first_fenced_json_and_the_first_between_braces() -> None:
    good, bad = '{"decision": "yes"}', '{"decision": "perhaps"}'
    assert held(f"```not json``` ```{good}```").line.extraction_method == "fenced"
    assert held(f"```{bad}``` ```{good}```").line.parse_status == "fallback"
    assert held(f"{good} ```{bad}```").line.extraction_method == "unfenced"
    assert held(f"{{no json}} {good}").line.extraction_method == "unfenced"
    assert held(f"{bad} {good}").line.parse_status == "fallback"
    assert held(f'{{"deep": {good}}}').line.parse_status == "fallback"


def test_a_rationale_is_cut_before_the_contract_judges_it() -> None:
    found = held('{"decision": "yes", "rationale": "because"}')
    assert (found.line.parse_status, found.line.rationale, found.line.rationale_truncated) == (
        "success",
        "becau",
        True,
    )
    assert embedded(found) == "becau"
    assert "rationale_truncated" not in held('{"decision": "yes", "rationale": "so"}').line.as_json()
    assert (
        held('{"decision": "yes", "rationale": "because"}', contract(most=None)).line.parse_status
        == "fallback"
    )


@pytest.mark.parametrize("decision", ['""', "1"])
def test_a_decision_that_is_no_text_falls_back_whatever_the_schema_allows(decision: str) -> None:
    found = held(f'{{"decision": {decision}}}')
    assert found.line.parse_status == "fallback"
    assert found.line.parse_error is not None and found.line.parse_error.code == "no_decision"


@pytest.mark.parametrize(
    ("source", "answer", "expected"),
    [
        ("rationale", {"decision": "yes", "rationale": "so"}, ("rationale", "so")),
        ("rationale", {"decision": "yes"}, ("decision", "yes")),
        ("rationale", {"decision": "yes", "rationale": " "}, ("decision", "yes")),
        ("decision", {"decision": "yes", "rationale": "so"}, ("decision", "yes")),
    ],
)
def test_what_a_contract_embeds_falls_to_the_decision_where_it_is_missing(
    source: EmbedSource, answer: dict[str, str], expected: tuple[str, str]
) -> None:
    found = held(json.dumps(answer), contract(source))
    assert (found.line.embed_text_source, embedded(found)) == expected


def test_a_contract_may_embed_the_raw_text() -> None:
    found = held('so: {"decision": "yes"}', contract("raw_content"))
    assert (found.line.outcome, found.line.embed_text_source, embedded(found)) == (
        "yes",
        "raw_content",
        'so: {"decision": "yes"}',
    )


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("0.5", 0.5),
        ('"high"', "high"),
        ('"sure"', None),
        ("true", None),
        ("1e999", None),
        ("9" * 400, None),
        ("[]", None),
    ],
)
def test_a_confidence_is_a_number_or_one_of_three_words_or_nothing(given_: str, kept: object) -> None:
    found = held(f'{{"decision": "yes", "confidence": {given_}}}')
    assert (found.line.parse_status, found.line.confidence) == ("success", kept)


def test_a_text_that_breaks_its_contract_falls_back_and_says_why() -> None:
    found = held("no idea")
    assert (found.line.parse_status, found.line.outcome, embedded(found)) == (
        "fallback",
        "no idea",
        "no idea",
    )
    assert found.line.parse_error is not None and found.line.parse_error.code == "no_json"
    found = held('{"decision": "perhaps"}')
    assert found.line.parse_error is not None and found.line.parse_error.code == "contract_mismatch"
    assert "perhaps" in found.line.parse_error.message


def test_half_a_pair_in_a_decision_is_replaced() -> None:
    assert debate('{"decision": "a\\ud83d"}').line.outcome == "a\ufffd"


def test_a_clause_holds_the_schema_and_the_length_of_a_rationale() -> None:
    text = clause(contract())
    assert json.loads(text[text.index("{") : text.rindex("}") + 1]) == SCHEMA
    assert "within 5 characters" in text
    assert "within" not in clause(contract(most=None))


PIECES = st.sampled_from(
    [
        "```",
        "json\n",
        "{",
        "}",
        '"decision": "yes"',
        '"rationale": "becauseof"',
        ",",
        "\ud83d",
        " ",
        "x",
        "NaN",
        "[",
        "]",
    ]
)


@given(st.text(max_size=30) | st.lists(PIECES, max_size=12).map("".join))
def test_whatever_a_model_writes_gives_one_of_three_statuses_that_can_be_written(text: str) -> None:
    for parsed in (parse_plain(0, text, "live-v0", max_chars=9), debate(text), held(text)):
        json.dumps(parsed.line.as_json(), ensure_ascii=False, allow_nan=False).encode()
        assert (parsed.line.parse_status == "failed") == is_blank(text)
        if parsed.line.parse_status == "fallback":
            assert parsed.line.outcome == parsed.line.raw_assistant_text
        if parsed.line.parse_status == "success" and parsed.line.extraction_method != "raw":
            assert parsed.line.outcome
