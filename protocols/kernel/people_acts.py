"""What people may do in every society: speak, decide a case, take and leave a seat, stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.kernel.acts import Act, Blank, Doer, Words
from moot.protocols.kernel.people import Note, Override, SeatReleased, SeatTaken, Stop

WHY: Final = "why; it stands in the log"
SYSTEMS: Final = ("A", "B")


def _about(fields: Mapping[str, Any], doer: Doer) -> Mapping[str, Any]:
    """What is said in a thread is about its case."""
    return fields if doer.about is None else {"about_case_id": doer.about, **fields}


def _seat(words: Words) -> Mapping[str, Any]:
    seat, _, reason = words["seat"].partition(" ")
    return {"seat": seat.lower(), "reason": reason.strip()}


def _holder(fields: Mapping[str, Any], doer: Doer) -> Mapping[str, Any]:
    """Whoever takes or leaves a seat does it for themselves (K14)."""
    reason = fields.get("reason") or f"asked for on {doer.platform}"
    return {**fields, "user_id": doer.user_id, "reason": reason}


def _stop(words: Words) -> Mapping[str, Any]:
    scope, why = words["scope"], words["why"]
    if scope.lower() == "system":
        scope, _, why = why.partition(" ")
        if scope.upper() not in SYSTEMS:
            raise ValueError(f"a system is A or B, not {scope[:40]!r}")
    if not why.strip():
        raise ValueError("the reason is missing")
    fixed = {"society": "society", **{system.lower(): system for system in SYSTEMS}}
    return {"scope": fixed.get(scope.lower(), scope), "why": why.strip()}


_SEAT: Final = (Blank("seat", "the bot's seat", is_seat=True),)

ACTS: Final = (
    Act(
        name="note",
        does="say something that every mind sees from now on",
        message=Note,
        asks=(Blank("text", "what you want to say"),),
        about="about_case_id",
        complete=_about,
    ),
    Act(
        name="override",
        does="decide a case",
        message=Override,
        asks=(
            Blank("case", "id of the case", "case_id", aliases=("id",)),
            Blank("verdict", "what you decide", choices=("APPROVE", "REJECT")),
            Blank("why", WHY, aliases=("reason",)),
        ),
        about="case_id",
        in_case=True,
    ),
    Act(name="take", does="sit in a bot's seat", message=SeatTaken, asks=_SEAT, read=_seat, complete=_holder),
    Act(
        name="release",
        does="give a seat back",
        message=SeatReleased,
        asks=_SEAT,
        read=_seat,
        complete=_holder,
    ),
    Act(
        name="stop",
        does="stop the society, system A or B, or a case",
        message=Stop,
        asks=(
            Blank("scope", "society, system A, system B, or a case's id", is_loose=True),
            Blank("why", WHY, aliases=("reason",)),
        ),
        read=_stop,
    ),
)
