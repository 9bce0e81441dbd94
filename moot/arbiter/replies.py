"""What the records of a run say of a reply: its status, its tokens, the reply itself."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple

from moot.arbiter.asking import Asked, is_retryable
from moot.arbiter.instants import instant
from moot.bots.models.answer import Answer
from moot.bots.models.reading import code_in
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.arbiter.generated import Attempt, Call, Speaker, TrialError, Usage

Status = Literal["success", "error", "model_unavailable", "timeout_exhausted"]

GONE: Final = frozenset({"model_not_found", "model_not_available", "model_unavailable"})
"""Codes by which providers say that they have no such model."""

_SAID: Final = frozenset({"answered", "refused", "truncated", "filtered", "unparsable"})
"""Outcomes of whole replies. What a model wrote counts as it stands; nothing at all is an answer, too."""


class Ending(NamedTuple):
    """How a trial or a call ended.

    Attributes:
        status: Its status.
        error: What went wrong; None when nothing did.
        error_code: `timeout_exhausted` or None.
    """

    status: Status
    error: TrialError | None
    error_code: str | None


def ending(answer: Answer) -> Ending:
    """Say how a call ended: too late outranks a model that is not there, and that any other error."""
    if answer.outcome in _SAID and 200 <= answer.status < 300:
        return Ending("success", None, None)
    code = _code(answer)
    error = TrialError(message=well_formed(answer.why), code=code, retryable=is_retryable(answer))
    if answer.outcome == "timed_out":
        return Ending("timeout_exhausted", error, "timeout_exhausted")
    if answer.status == 404 or code in GONE:
        return Ending("model_unavailable", error, None)
    return Ending("error", error, None)


def attempt_of(asked: Asked) -> Attempt:
    """Say when a call was made."""
    sent = asked.sent
    return Attempt(
        started_at=instant(sent.began),
        completed_at=instant(sent.ended),
        latency_ms=max(0, (sent.ended - sent.began) // timedelta(milliseconds=1)),
        retry_count=asked.retries,
    )


def call_of(index: int, turn: int, role: Speaker, model: str, asked: Asked, ended: Ending) -> Call:
    """Return the record of a call in a debate.

    Args:
        index: Its place among the calls of the trial, from 0.
        turn: The turn it was made for, from 0.
        role: Who spoke.
        model: The model that was asked for.
        asked: What was sent, and what came.
        ended: How it ended.
    """
    answer = asked.sent.answer
    return Call(
        call_index=index,
        turn=turn,
        role=role,
        model_requested=model,
        model_actual=well_formed(answer.model_reported) or None,
        request_payload=dict(asked.sent.body),
        response_payload=payload_of(answer.reply),
        usage=usage_of(answer),
        attempt=attempt_of(asked),
        error_message=ended.error.message if ended.error else None,
    )


def usage_of(answer: Answer) -> Usage | None:
    """Return what a reply says it used; None when it says nothing that can be."""
    used = answer.usage
    if used is None:
        return None
    told = (payload_of(answer.reply) or {}).get("usage")
    figures = told if isinstance(told, Mapping) else {}
    total = figures.get("total_tokens")
    costs = [_price(figures.get(name)) for name in ("cost", "total_cost")]
    return Usage(
        prompt_tokens=used.input,
        completion_tokens=used.output,
        total_tokens=total if type(total) is int and total >= 0 else used.input + used.output,
        cost=next((one for one in costs if one is not None), None),
    )


def payload_of(reply: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a reply is, as a file can hold it; None where it is none."""
    try:
        told = json.loads(reply, parse_constant=lambda _name: None)
        return _clean(told) if isinstance(told, dict) else None
    except (ValueError, RecursionError):
        return None


def _code(answer: Answer) -> str | None:
    """Return the code of an error: the provider's, else the kind of fault."""
    told = payload_of(answer.reply) or {}
    return code_in(told, "code") or answer.fault or None


def _price(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def _clean(value: Any) -> Any:
    """Return JSON without halves of surrogate pairs and without numbers beyond those of JSON."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {well_formed(name): _clean(one) for name, one in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
