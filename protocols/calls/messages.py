"""The messages of calls: the bursar's in #calls, the admin's in #admin (K26, K27)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from moot.protocols.calls.usage import Usage
from moot.protocols.kernel.fields import SeatName, Whole
from moot.protocols.kernel.message import Count, Ident, Message, Number

Outcome = Literal[
    "answered", "refused", "truncated", "filtered", "unparsable", "provider_error", "timed_out", "abandoned", "unknown"
]  # fmt: skip
"""How a call ended (K30); `unknown`: it was sent, and nobody knows whether it was answered and charged."""

REPLIED: Final = frozenset({"answered", "refused", "truncated", "filtered", "unparsable"})
"""Outcomes of calls to which a model said something: they were charged for, and are never asked again."""

Scope = Literal["society", "day", "seat", "case"]
"""What a budget is for: all calls, those of a day in UTC, of each seat, of each case."""

Micro = Annotated[Whole, Field(ge=0)]
"""Millionths of a US dollar."""

CallId = Annotated[str, Field(min_length=1, max_length=400)]
"""`<obligation>/<attempt>/<turn>/<try>`."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 in hexadecimal."""

Line = Annotated[str, Field(max_length=500)]


class _Asked(Message):
    """What the messages about a call that is asked for share.

    Attributes:
        call_id: Obligation, attempt, turn and try.
        seat: Whose mind asks.
        case: The case that it is about.
        obligation: What the seat owes; or the case, for calls that an experiment makes as a whole.
        attempt: Answers to it that broke a rule so far.
        turn: Counts the calls of one answer, from 1.
        try_: Counts what was asked for in this turn, from 1.
        model: The model's name in the configuration.
        max_cost: The most that it may cost; None: its price is not known.
        max_tokens: The most tokens that it may use, of prompt and output.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    call_id: CallId
    seat: SeatName
    case: Ident | None
    obligation: CallId
    attempt: Count
    turn: Annotated[int, Field(ge=1)]
    try_: Annotated[int, Field(ge=1, validation_alias="try", serialization_alias="try")]
    model: Ident
    max_cost: Micro | None
    max_tokens: Micro


class CallReserved(_Asked):
    """Book the worst case of a call before it is sent. Bursar, #calls (K26).

    Attributes:
        request_sha256: Of the body that will be sent.
    """

    type: Literal["CALL_RESERVED"] = "CALL_RESERVED"
    request_sha256: Digest


class CallRefused(_Asked):
    """Say which budget a call does not fit into: it is not sent. Bursar, #calls (K27)."""

    type: Literal["CALL_REFUSED"] = "CALL_REFUSED"
    why: Line


class CallSettled(Message):
    """Say how a call ended, and book what it used. Bursar, #calls (K26).

    Attributes:
        call_id: Of the reservation.
        outcome: How it ended; only what is answered may be used.
        why: One line for people where it is not answered.
        model_reported: The model that the provider says it was.
        provider_id: The provider's id of the reply.
        finish: Why the model stopped, in the provider's word.
        usage: Tokens as told; None: the worst case is booked, or nothing where nothing was charged.
        cost: What is booked; None: the price is not known.
        tokens: What is booked.
        overrun: Whether that is more than was reserved.
        latency_ms: Wall milliseconds from the call to its end, waits included.
        reply_sha256: Of the record of its reply; None: none came.
    """

    type: Literal["CALL_SETTLED"] = "CALL_SETTLED"
    call_id: CallId
    outcome: Outcome
    why: Line
    model_reported: Line
    provider_id: Line
    finish: Line
    usage: Usage | None
    cost: Micro | None
    tokens: Micro
    overrun: bool
    latency_ms: Micro
    reply_sha256: Digest | None


class BudgetSet(Message):
    """Set what may be spent from here on; what is left out stays. Admin, #admin (K27).

    It holds until `[budget]` in the configuration changes.
    """

    type: Literal["BUDGET_SET"] = "BUDGET_SET"
    scope: Scope
    usd: Annotated[Number, Field(ge=0, le=1_000_000)] | None = None
    tokens: Micro | None = None
    calls: Micro | None = None
