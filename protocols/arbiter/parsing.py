"""What a trial decided, read from the final text of its model; whatever a model wrote gives one of three statuses.

* `success`: the text has the form that was asked for.
* `fallback`: it has not, and the raw text stands for the outcome.
* `failed`: there is no text.

Source: Arbiter spec, "Parsed output semantics" and "debate_v1", extraction; ruling R-S5.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, Literal, TypeGuard

from moot.protocols.arbiter.contract import Contract
from moot.protocols.arbiter.embed_text import EmbedText, cut, embed_text, is_blank, units, well_formed
from moot.protocols.arbiter.extraction import Found, Method, fenced, unfenced
from moot.protocols.arbiter.resolved import EmbedSource

ParseStatus = Literal["success", "fallback", "failed"]
ParserVersion = Literal["mock-v0", "live-v0", "independent-v1", "debate-v1"]

CONFIDENCES: Final = ("low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseError:
    """Why a text has not the form that was asked for."""

    code: Literal["empty_content", "no_json", "contract_mismatch", "no_decision"]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a trial decided.

    Args:
        embed: What of it is embedded; None and empty both mean nothing.
        raw: The model's final text; None when a trial ended before one.
    """

    trial_id: int
    status: ParseStatus
    parser_version: ParserVersion
    method: Method | None = None
    embed_source: EmbedSource | None = None
    confidence: float | str | None = None
    outcome: str | None = None
    rationale: str | None = None
    rationale_truncated: bool | None = None
    raw: str | None = None
    embed: EmbedText | None = None
    error: ParseError | None = None

    def record(self) -> dict[str, object]:
        """Say it as a line of parsed.jsonl; what is not known is left out."""
        error = self.error
        line = {
            "trial_id": self.trial_id,
            "parse_status": self.status,
            "parser_version": self.parser_version,
            "extraction_method": self.method,
            "embed_text_source": self.embed_source,
            "confidence": self.confidence,
            "outcome": self.outcome,
            "rationale": self.rationale,
            "rationale_truncated": self.rationale_truncated,
            "raw_assistant_text": self.raw,
            "embed_text": self.embed.text or None if self.embed else None,
            "parse_error": {"message": error.message, "code": error.code} if error else None,
        }
        return {name: value for name, value in line.items() if value is not None}


def not_answered(trial_id: int, parser_version: ParserVersion) -> Parsed:
    """Say that a trial ended before it had a final text."""
    return Parsed(trial_id=trial_id, status="failed", parser_version=parser_version)


def parse_plain(trial_id: int, text: str, parser_version: ParserVersion, *, max_chars: int) -> Parsed:
    """Take a whole text for the outcome, as in an independent trial without a contract.

    Args:
        max_chars: How much is embedded at most, in UTF-16 code units.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, parser_version)
    return _raw(trial_id, "success", raw, parser_version, max_chars)


def parse_debate(trial_id: int, text: str, *, max_chars: int) -> Parsed:
    """Read how a debate without a contract ended: the first JSON object that decides, fenced before unfenced.

    It decides when `decision` is a text that is not empty, `confidence`, if given, is low, medium or high, and
    `reasoning`, if given, is a text; whatever else it holds does not matter.

    Args:
        max_chars: How much is embedded at most, in UTF-16 code units.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, "debate-v1")
    for method, value in chain(fenced(raw), unfenced(raw)):
        if _decides(value):
            decision, reasoning = well_formed(value["decision"]), value.get("reasoning")
            return Parsed(
                trial_id=trial_id,
                status="success",
                parser_version="debate-v1",
                method=method,
                embed_source="decision",
                confidence=value.get("confidence"),
                outcome=decision,
                rationale=None if reasoning is None else well_formed(reasoning),
                raw=raw,
                embed=embed_text(decision, max_chars),
            )
    return _raw(trial_id, "fallback", raw, "debate-v1", max_chars)


def parse_contract(
    trial_id: int, text: str, contract: Contract, parser_version: ParserVersion, *, max_chars: int
) -> Parsed:
    """Read a text that a contract gives its form: its first fenced JSON, then its first JSON between braces.

    A rationale that is too long is cut before the contract judges it. The first that holds is the answer; without a
    decision in it, the raw text stands for the outcome, whatever the contract's schema asks for.

    Args:
        max_chars: How much is embedded at most, in UTF-16 code units.
    """
    raw = well_formed(text)
    if is_blank(raw):
        return _failed(trial_id, raw, parser_version)
    error = ParseError(code="no_json", message="there is no JSON in the text")
    for method, value in _first_of_each(raw):
        answer, was_cut = _with_short_rationale(value, contract.rationale_max_chars)
        fault = contract.judge(answer)
        if fault is not None:
            error = ParseError(code="contract_mismatch", message=f"{contract.id}: {well_formed(fault)}")
            continue
        fields = answer if isinstance(answer, dict) else {}
        decision, rationale = _text(fields.get("decision")), _text(fields.get("rationale"))
        if not decision:
            error = ParseError(code="no_decision", message="decision is no text, or an empty one")
            break
        source, embedded = _embedded(contract.embed_text_source, decision, rationale, raw)
        return Parsed(
            trial_id=trial_id,
            status="success",
            parser_version=parser_version,
            method=method,
            embed_source=source,
            confidence=_confidence(fields.get("confidence")),
            outcome=decision,
            rationale=rationale,
            rationale_truncated=was_cut or None,
            raw=raw,
            embed=embed_text(embedded, max_chars),
        )
    return _raw(trial_id, "fallback", raw, parser_version, max_chars, error)


def _first_of_each(raw: str) -> Iterator[Found]:
    return chain(islice(fenced(raw), 1), islice(unfenced(raw), 1))


def _decides(value: object) -> TypeGuard[dict[str, str]]:
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


def _confidence(value: object) -> float | str | None:
    if isinstance(value, str):
        return value if value in CONFIDENCES else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if abs(value) <= sys.float_info.max else None
    return None


def _failed(trial_id: int, raw: str, parser_version: ParserVersion) -> Parsed:
    error = ParseError(code="empty_content", message="the model's text is empty")
    return Parsed(trial_id=trial_id, status="failed", parser_version=parser_version, raw=raw, error=error)


def _raw(
    trial_id: int,
    status: ParseStatus,
    raw: str,
    parser_version: ParserVersion,
    max_chars: int,
    error: ParseError | None = None,
) -> Parsed:
    return Parsed(
        trial_id=trial_id,
        status=status,
        parser_version=parser_version,
        method="raw",
        embed_source="raw_content",
        outcome=raw,
        raw=raw,
        embed=embed_text(raw, max_chars),
        error=error,
    )
