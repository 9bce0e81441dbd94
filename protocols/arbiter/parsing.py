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
from moot.protocols.arbiter.embed_text import BLANKS, EmbedText, cut, embed_text, is_blank, units, well_formed
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


def parse_plain(
    trial_id: int, text: str, parser_version: ParserVersion, *, max_chars: int, splits_pairs: bool = False
) -> Parsed:
    """Take a whole text for the outcome, as in an independent trial without a contract.

    A mock answer ends its line; its outcome does not.

    Args:
        max_chars: How much is embedded at most, in UTF-16 code units.
        splits_pairs: A cut may split a surrogate pair, as in runs of other programs.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, parser_version)
    embed = embed_text(raw, max_chars, splits_pairs=splits_pairs)
    return _raw(trial_id, "success", raw, parser_version, embed)


def parse_debate(
    trial_id: int,
    text: str,
    *,
    max_chars: int,
    takes_first: bool = False,
    trims: bool = False,
    splits_pairs: bool = False,
) -> Parsed:
    """Read how a debate without a contract ended: the first JSON object that decides, fenced before unfenced.

    It decides when `decision` is a text that is not empty, `confidence`, if given, is low, medium or high, and
    `reasoning`, if given, is a text; whatever else it holds does not matter.

    Objects that decide differently decide nothing (R-G9).

    Args:
        max_chars: How much is embedded at most, in UTF-16 code units.
        takes_first: The first decides all the same, and keys may stand twice, as in runs of other programs and before
            that rule.
        trims: A raw text that stands for the outcome loses the blanks around it, as in runs of other programs.
        splits_pairs: A cut may split a surrogate pair, as in runs of other programs.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, "debate-v1")
    told = [] if takes_first else decisions(raw, _decided)
    error = _ambiguous(told) if len(told) > 1 else None
    for method, value in _all(raw, takes_first) if error is None else ():
        if _decides(value):
            decision = well_formed(value["decision"])
            embed = embed_text(decision, max_chars, splits_pairs=splits_pairs)
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
    shown = raw.strip(BLANKS) if trims else raw
    embed = embed_text(shown, max_chars, splits_pairs=splits_pairs)
    return _raw(trial_id, "fallback", raw, "debate-v1", embed, error, outcome=shown)


def parse_contract(
    trial_id: int,
    text: str,
    contract: ResolvedContract,
    judge: Judge,
    parser_version: ParserVersion,
    *,
    max_chars: int,
    takes_first: bool = False,
    trims: bool = False,
    splits_pairs: bool = False,
) -> Parsed:
    """Read a text that a contract gives its form: its first fenced JSON, then its first JSON between braces.

    A rationale that is too long is cut before the contract judges it. The first that holds is the answer; without a
    decision in it, the raw text stands for the outcome, whatever the contract's schema asks for.
    Objects that hold and decide differently decide nothing (R-G9).

    Args:
        judge: Holds a value against the contract's schema.
        max_chars: How much is embedded at most, in UTF-16 code units.
        takes_first: As in `parse_debate`.
        trims: As in `parse_debate`.
        splits_pairs: As in `parse_debate`.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, parser_version)
    shown = raw.strip(BLANKS) if trims else raw

    def shortened(value: object) -> tuple[object, bool]:
        return _with_short_rationale(value, contract.rationale_max_chars, splits_pairs=splits_pairs)

    def decided(value: object) -> str | None:
        answer, _ = shortened(value)
        return _text(answer.get("decision")) if isinstance(answer, dict) and judge(answer) is None else None

    error = ParseError(code="no_json", message="there is no JSON in the text")
    told = [] if takes_first else decisions(raw, decided)
    if len(told) > 1:
        error = _ambiguous(told)
    for method, value in _first_of_each(raw, takes_first) if len(told) <= 1 else ():
        answer, was_cut = shortened(value)
        fault = judge(answer)
        if fault is not None:
            error = ParseError(code="contract_mismatch", message=f"{contract.id}: {well_formed(fault)}")
            continue
        fields = answer if isinstance(answer, dict) else {}
        decision, rationale = _text(fields.get("decision")), _text(fields.get("rationale"))
        if not decision:
            error = ParseError(code="no_decision", message="decision is no text, or an empty one")
            break
        source, embedded = _embedded(contract.embed_text_source, decision, rationale, shown)
        embed = embed_text(embedded, max_chars, splits_pairs=splits_pairs)
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
    embed = embed_text(shown, max_chars, splits_pairs=splits_pairs)
    return _raw(trial_id, "fallback", raw, parser_version, embed, error, outcome=shown)


def _decided(value: object) -> str | None:
    return well_formed(value["decision"]) if _decides(value) else None


def _ambiguous(told: Sequence[str]) -> ParseError:
    named = " and ".join(repr(cut(one, 40)) for one in told[:2])
    return ParseError(code="ambiguous_decision", message=f"{len(told)} objects decide differently: {named}")


def _all(raw: str, repeats_keys: bool) -> Iterator[Found]:
    return chain(fenced(raw, repeats_keys=repeats_keys), unfenced(raw, repeats_keys=repeats_keys))


def _first_of_each(raw: str, repeats_keys: bool) -> Iterator[Found]:
    return chain(
        islice(fenced(raw, repeats_keys=repeats_keys), 1), islice(unfenced(raw, repeats_keys=repeats_keys), 1)
    )


def _decides(value: object) -> TypeGuard[dict[str, Any]]:
    return (
        isinstance(value, dict)
        and isinstance(value.get("decision"), str)
        and bool(value["decision"])
        and ("confidence" not in value or value["confidence"] in CONFIDENCES)
        and isinstance(value.get("reasoning", ""), str)
    )


def _with_short_rationale(
    value: object, most: int | None, *, splits_pairs: bool = False
) -> tuple[object, bool]:
    """Cut a rationale that is too long, and say whether it was."""
    if most is None or not isinstance(value, dict) or not isinstance(value.get("rationale"), str):
        return value, False
    rationale = well_formed(value["rationale"])
    if units(rationale) <= most:
        return value, False
    return {**value, "rationale": cut(rationale, most, splits_pairs=splits_pairs)}, True


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
    embed: EmbedText,
    error: ParseError | None = None,
    *,
    outcome: str | None = None,
) -> Parsed:
    shown = raw if outcome is None else outcome
    line = ParsedTrial(
        trial_id=trial_id,
        parse_status=status,
        parser_version=parser_version,
        extraction_method="raw",
        embed_text_source="raw_content",
        outcome=shown.removesuffix("\n") if parser_version == "mock-v0" else shown,
        raw_assistant_text=raw,
        embed_text=embed.text or None,
        parse_error=error,
    )
    return Parsed(line, embed)
