"""The record of a reply: what is kept of how a call ended, and the answer that is read of it again (K26)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from moot.bots.models.answer import Answer
from moot.bots.models.errors import BadRecord

Read = Callable[[int, bytes], Answer]
"""Says what a reply means, by its status and body."""

JUDGED: Final = frozenset({"answered", "unparsable"})
"""Outcomes that depend on what was asked for, so that they are found anew when a reply is read again."""


def record_of(call_id: str, answer: Answer) -> bytes:
    """Return what is kept of how a call ended: JSON, ASCII alone, whatever bytes the reply has."""
    told = {
        "call_id": call_id,
        "outcome": answer.outcome,
        "why": answer.why,
        "fault": answer.fault,
        "tries": answer.tries,
        "latency_ms": answer.latency_ms,
        "status": answer.status,
        "body": answer.reply.decode("utf-8", "surrogateescape"),
    }
    return json.dumps(told, separators=(",", ":")).encode()


def answer_in(record: bytes, read: Read, *, is_judged: bool = False) -> Answer:
    """Return the answer that a record is of.

    Args:
        record: As `record_of` made it.
        read: Says what its reply means.
        is_judged: Whether the recorded outcome counts; else that is found anew which depends on what was asked for.

    Raises:
        BadRecord: It is none.
    """
    try:
        told = json.loads(record)
        ended = Answer(
            outcome=told["outcome"],
            why=told["why"],
            fault=told["fault"],
            tries=told["tries"],
            latency_ms=told["latency_ms"],
            status=told["status"],
            reply=told["body"].encode("utf-8", "surrogateescape"),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise BadRecord(f"the record of a reply cannot be read: {exc}") from None
    if not ended.status:
        return ended
    found = replace(read(ended.status, ended.reply), tries=ended.tries, latency_ms=ended.latency_ms)
    if found.is_flagged and ended.outcome == "answered":
        # It was used when it came.
        return replace(found, outcome="answered", why="", is_flagged=False)
    if not is_judged and ended.outcome in JUDGED and found.outcome in JUDGED:
        return found
    return replace(found, outcome=ended.outcome, why=ended.why, fault=ended.fault)
