"""What a trial decided, read from the final text of its model; whatever a model wrote gives one of three statuses.

* `success`: the text has the form that was asked for.
* `fallback`: it has not, and the raw text stands for the outcome.
* `failed`: there is no text.

Source: Arbiter spec, "Parsed output semantics" and "debate_v1", extraction; ruling R-S5.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeGuard, get_args

from moot.protocols.arbiter.contract import Judge
from moot.protocols.arbiter.embed_text import EmbedText, cut, embed_text, is_blank, units, well_formed
from moot.protocols.arbiter.extraction import Found, decisions, fenced, unfenced
from moot.protocols.arbiter.generated import (
    Confidence,
    EmbedSource,
    ParsedTrial,
    ParseError,
    ParserVersion,
    ParseStatus,
    ResolvedContract,
)

CONFIDENCES: Final[tuple[Confidence, ...]] = get_args(Confidence)


class Parsed(NamedTuple):
    """What a trial decided, and what of it is embedded; None and empty both mean nothing."""

    line: ParsedTrial
    embed: EmbedText | None


def not_answered(trial_id: int, parser_version: ParserVersion) -> Parsed:
    """Say that a trial ended before it had a final text."""
    return Parsed(ParsedTrial(trial_id=trial_id, parse_status="failed", parser_version=parser_version), None)


def parse_plain(trial_id: int, text: str, parser_version: ParserVersion, *, max_chars: int) -> Parsed:
    """Take a whole text for the outcome, as in an independent trial without a contract.

    A mock answer ends its line; its outcome does not.

    Args:
        max_chars: How much is embedded at most, in UTF-16 code units.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, parser_version)
    return _raw(trial_id, "success", raw, parser_version, max_chars)


def parse_debate(trial_id: int, text: str, *, max_chars: int, takes_first: bool = False) -> Parsed:
    """Read how a debate without a contract ended: the first JSON object that decides, fenced before unfenced.

    It decides when `decision` is a text that is not empty, `confidence`, if given, is low, medium or high, and
    `reasoning`, if given, is a text; whatever else it holds does not matter.

    Objects that decide differently decide nothing (R-G9).

    Args:
        max_chars: How much is embedded at most, in UTF-16 code units.
        takes_first: Whether the first decides all the same, as in runs of other programs and before that rule.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, "debate-v1")
    if not takes_first and len(told := decisions(raw, _decided)) > 1:
        return _raw(trial_id, "fallback", raw, "debate-v1", max_chars, _ambiguous(told))
    for method, value in chain(fenced(raw), unfenced(raw)):
        if _decides(value):
            decision = well_formed(value["decision"])
            embed = embed_text(decision, max_chars)
            line = ParsedTrial(
                trial_id=trial_id,
                parse_status="success",
                parser_version="debate-v1",
                extraction_method=method,
                embed_text_source="decision",
                confidence=_confidence(value.get("confidence")),
                outcome=decision,
                rationale=_text(value.get("reasoning")),
                raw_assistant_text=raw,
                embed_text=embed.text or None,
            )
            return Parsed(line, embed)
    return _raw(trial_id, "fallback", raw, "debate-v1", max_chars)


def parse_contract(
    trial_id: int,
    text: str,
    contract: ResolvedContract,
    judge: Judge,
    parser_version: ParserVersion,
    *,
    max_chars: int,
    takes_first: bool = False,
) -> Parsed:
    """Read a text that a contract gives its form: its first fenced JSON, then its first JSON between braces.

    A rationale that is too long is cut before the contract judges it. The first that holds is the answer; without a
    decision in it, the raw text stands for the outcome, whatever the contract's schema asks for.
    Objects that hold and decide differently decide nothing (R-G9).

    Args:
        judge: Holds a value against the contract's schema.
        max_chars: How much is embedded at most, in UTF-16 code units.
        takes_first: Whether the first decides all the same, as in runs of other programs and before that rule.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, parser_version)

    def decided(value: object) -> str | None:
        answer, _ = _with_short_rationale(value, contract.rationale_max_chars)
        return _text(answer.get("decision")) if isinstance(answer, dict) and judge(answer) is None else None

    if not takes_first and len(told := decisions(raw, decided)) > 1:
        return _raw(trial_id, "fallback", raw, parser_version, max_chars, _ambiguous(told))
    error = ParseError(code="no_json", message="there is no JSON in the text")
    for method, value in _first_of_each(raw):
        answer, was_cut = _with_short_rationale(value, contract.rationale_max_chars)
        fault = judge(answer)
        if fault is not None:
            error = ParseError(code="contract_mismatch", message=f"{contract.id}: {well_formed(fault)}")
            continue
        fields = answer if isinstance(answer, dict) else {}
        decision, rationale = _text(fields.get("decision")), _text(fields.get("rationale"))
        if not decision:
            error = ParseError(code="no_decision", message="decision is no text, or an empty one")
            break
        source, embedded = _embedded(contract.embed_text_source, decision, rationale, raw)
        embed = embed_text(embedded, max_chars)
        line = ParsedTrial(
            trial_id=trial_id,
            parse_status="success",
            parser_version=parser_version,
            extraction_method=method,
            embed_text_source=source,
            confidence=_confidence(fields.get("confidence")),
            outcome=decision,
            rationale=rationale,
            rationale_truncated=was_cut or None,
            raw_assistant_text=raw,
            embed_text=embed.text or None,
        )
        return Parsed(line, embed)
    return _raw(trial_id, "fallback", raw, parser_version, max_chars, error)


def _decided(value: object) -> str | None:
    return well_formed(value["decision"]) if _decides(value) else None


def _ambiguous(told: Sequence[str]) -> ParseError:
    named = " and ".join(repr(cut(one, 40)) for one in told[:2])
    return ParseError(code="ambiguous_decision", message=f"{len(told)} objects decide differently: {named}")


def _first_of_each(raw: str) -> Iterator[Found]:
    return chain(islice(fenced(raw), 1), islice(unfenced(raw), 1))


def _decides(value: object) -> TypeGuard[dict[str, Any]]:
    return (
        isinstance(value, dict)
        and isinstance(value.get("decision"), str)
        and bool(value["decision"])
        and ("confidence" not in value or value["confidence"] in CONFIDENCES)
        and isinstance(value.get("reasoning", ""), str)
    )


def _with_short_rationale(value: object, most: int | None) -> tuple[object, bool]:
    """Cut a rationale that is too long, and say whether it was."""
    if most is None or not isinstance(value, dict) or not isinstance(value.get("rationale"), str):
        return value, False
    rationale = well_formed(value["rationale"])
    if units(rationale) <= most:
        return value, False
    return {**value, "rationale": cut(rationale, most)}, True


def _embedded(wanted: EmbedSource, decision: str, rationale: str | None, raw: str) -> tuple[EmbedSource, str]:
    """Choose what is embedded: what the contract wants, else the decision, the rationale, the raw text."""
    found: Mapping[EmbedSource, str | None] = {
        "decision": decision,
        "rationale": rationale,
        "raw_content": raw,
    }
    for source in (wanted, *found):
        text = found[source]
        if text is not None and not is_blank(text):
            return source, text
    return "raw_content", raw


def _text(value: object) -> str | None:
    return well_formed(value) if isinstance(value, str) else None


def _confidence(value: object) -> float | Confidence | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if abs(value) <= sys.float_info.max else None
    return next((word for word in CONFIDENCES if word == value), None)


def _failed(trial_id: int, raw: str, parser_version: ParserVersion) -> Parsed:
    error = ParseError(code="empty_content", message="the model's text is empty")
    line = ParsedTrial(
        trial_id=trial_id,
        parse_status="failed",
        parser_version=parser_version,
        raw_assistant_text=raw,
        parse_error=error,
    )
    return Parsed(line, None)


def _raw(
    trial_id: int,
    status: ParseStatus,
    raw: str,
    parser_version: ParserVersion,
    max_chars: int,
    error: ParseError | None = None,
) -> Parsed:
    embed = embed_text(raw, max_chars)
    line = ParsedTrial(
        trial_id=trial_id,
        parse_status=status,
        parser_version=parser_version,
        extraction_method="raw",
        embed_text_source="raw_content",
        outcome=raw.removesuffix("\n") if parser_version == "mock-v0" else raw,
        raw_assistant_text=raw,
        embed_text=embed.text or None,
        parse_error=error,
    )
    return Parsed(line, embed)
