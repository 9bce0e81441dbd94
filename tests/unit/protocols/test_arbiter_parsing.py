from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.arbiter.contract import Contract
from moot.protocols.arbiter.embed_text import is_blank
from moot.protocols.arbiter.parsing import Parsed, not_answered, parse_contract, parse_debate, parse_plain
from moot.protocols.arbiter.resolved import EmbedSource

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


def contract(source: EmbedSource = "rationale", most: int | None = 5) -> Contract:
    validator = jsonschema.Draft202012Validator(SCHEMA)

    def judge(value: object) -> str | None:
        return next((fault.message for fault in validator.iter_errors(value)), None)

    return Contract("yes_or_no", SCHEMA, judge, source, most)


def debate(text: str) -> Parsed:
    return parse_debate(3, text, max_chars=100)


def held(text: str, wanted: Contract | None = None) -> Parsed:
    return parse_contract(3, text, wanted or contract(), "debate-v1", max_chars=100)


def embedded(parsed: Parsed) -> str | None:
    return parsed.embed.text if parsed.embed else None


def test_a_plain_text_is_its_own_outcome() -> None:
    assert parse_plain(3, "yes\r\n", "mock-v0", max_chars=2).record() == {
        "trial_id": 3,
        "parse_status": "success",
        "parser_version": "mock-v0",
        "extraction_method": "raw",
        "embed_text_source": "raw_content",
        "outcome": "yes\r\n",
        "raw_assistant_text": "yes\r\n",
        "embed_text": "ye",
    }


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff"])
def test_a_blank_text_fails_in_every_form_and_is_not_embedded(text: str) -> None:
    for parsed in (parse_plain(3, text, "live-v0", max_chars=9), debate(text), held(text)):
        assert parsed.status == "failed"
        assert parsed.error is not None and parsed.error.code == "empty_content"
        assert not {"embed_text", "outcome", "extraction_method"} & parsed.record().keys()


def test_a_trial_without_a_final_text_failed_and_says_no_more() -> None:
    assert not_answered(3, "debate-v1").record() == {
        "trial_id": 3,
        "parse_status": "failed",
        "parser_version": "debate-v1",
    }


def test_a_debate_ends_with_the_first_object_that_decides_fenced_before_unfenced() -> None:
    text = '{"decision": "a"} ```{"decision": ""}``` ```json\n{"decision": "b", "confidence": "low", "more": 1}\n```'
    found = debate(text)
    assert (found.status, found.method, found.outcome, found.confidence) == ("success", "fenced", "b", "low")
    assert (found.embed_source, embedded(found), found.rationale) == ("decision", "b", None)


def test_a_debate_may_decide_in_a_nested_object_between_prose() -> None:
    found = debate('I say {"answer": {"decision": "no", "reasoning": "dear"}}.')
    assert (found.status, found.method, found.outcome, found.rationale) == (
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
    assert (found.status, found.method, found.outcome) == ("fallback", "raw", text)
    assert (found.embed_source, embedded(found)) == ("raw_content", text)


def test_a_contract_reads_only_the_first_fenced_json_and_the_first_between_braces() -> None:
    good, bad = '{"decision": "yes"}', '{"decision": "perhaps"}'
    assert held(f"```not json``` ```{good}```").method == "fenced"
    assert held(f"```{bad}``` ```{good}```").status == "fallback"
    assert held(f"{good} ```{bad}```").method == "unfenced"
    assert held(f"{{no json}} {good}").method == "unfenced"
    assert held(f"{bad} {good}").status == "fallback"
    assert held(f'{{"deep": {good}}}').status == "fallback"


def test_a_rationale_is_cut_before_the_contract_judges_it() -> None:
    found = held('{"decision": "yes", "rationale": "because"}')
    assert (found.status, found.rationale, found.rationale_truncated) == ("success", "becau", True)
    assert embedded(found) == "becau"
    assert "rationale_truncated" not in held('{"decision": "yes", "rationale": "so"}').record()
    assert held('{"decision": "yes", "rationale": "because"}', contract(most=None)).status == "fallback"


@pytest.mark.parametrize("decision", ['""', "1"])
def test_a_decision_that_is_no_text_falls_back_whatever_the_schema_allows(decision: str) -> None:
    found = held(f'{{"decision": {decision}}}')
    assert found.status == "fallback"
    assert found.error is not None and found.error.code == "no_decision"


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
    assert (found.embed_source, embedded(found)) == expected


def test_a_contract_may_embed_the_raw_text() -> None:
    found = held('so: {"decision": "yes"}', contract("raw_content"))
    assert (found.outcome, found.embed_source, embedded(found)) == (
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
    assert (found.status, found.confidence) == ("success", kept)


def test_a_text_that_breaks_its_contract_falls_back_and_says_why() -> None:
    found = held("no idea")
    assert (found.status, found.outcome, embedded(found)) == ("fallback", "no idea", "no idea")
    assert found.error is not None and found.error.code == "no_json"
    found = held('{"decision": "perhaps"}')
    assert found.error is not None and found.error.code == "contract_mismatch"
    assert "perhaps" in found.error.message


def test_half_a_pair_in_a_decision_is_replaced() -> None:
    assert debate('{"decision": "a\\ud83d"}').outcome == "a\ufffd"


def test_a_clause_holds_the_schema_and_the_length_of_a_rationale() -> None:
    clause = contract().clause
    assert json.loads(clause[clause.index("{") : clause.rindex("}") + 1]) == SCHEMA
    assert "within 5 characters" in clause
    assert "within" not in contract(most=None).clause


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
        json.dumps(parsed.record(), ensure_ascii=False, allow_nan=False).encode()
        assert (parsed.status == "failed") == is_blank(text)
        if parsed.status == "fallback":
            assert parsed.outcome == parsed.raw
        if parsed.status == "success" and parsed.method != "raw":
            assert parsed.outcome
