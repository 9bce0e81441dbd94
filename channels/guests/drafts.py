"""Drafts as JSON: how a guest sends one, and how the host reads it (K3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from moot.channels.log.sequencer import MAX_ID
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.envelope import SCHEMA_VERSION, Actor, Draft
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.faults import first_fault
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.naming import MOST_NAME
from moot.protocols.kernel.seats import SEAT_NAME, Seat

MAX_DRAFT: Final = 1_000_000
"""Characters of a draft as JSON."""

DecodeBody = Callable[[str], Message]
"""Read a body from JSON text; raises `Malformed`, which names the field."""

_Id = Annotated[str, Field(max_length=MAX_ID)]
_Name = Annotated[str, Field(max_length=MOST_NAME)]
_Count = Annotated[int, Field(ge=0, le=1_000_000_000)]


class _WireActor(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    kind: Literal["bot", "human", "officer"]
    platform: _Id = "moot"
    user_id: _Id = ""


class _WireDraft(BaseModel):
    """The keys of an envelope without what the sequencer assigns, the idempotency key, and the person's name."""

    model_config = ConfigDict(strict=True, extra="forbid")

    v: _Count = SCHEMA_VERSION
    channel: _Id
    author: Annotated[Seat, Field(pattern=SEAT_NAME)]
    actor: _WireActor = _WireActor(kind="bot")
    case_id: _Id | None = None
    obligation_id: _Id | None = None
    attempt: _Count = 0
    tenure: _Count = 0
    in_reply_to: _Id | None = None
    hops: _Count = 0
    key: _Id = ""
    display_name: _Name = ""
    body: dict[str, Any]


_WIRE: Final[TypeAdapter[_WireDraft]] = TypeAdapter(_WireDraft)


def draft_to_json(draft: Draft) -> str:
    """Write a draft as canonical JSON."""
    return canonical_json(
        {
            "v": SCHEMA_VERSION,
            "channel": draft.channel,
            "author": draft.author,
            "actor": draft.actor.as_json(),
            "case_id": draft.case_id,
            "obligation_id": draft.obligation_id,
            "attempt": draft.attempt,
            "tenure": draft.tenure,
            "in_reply_to": draft.in_reply_to,
            "hops": draft.hops,
            "key": draft.key,
            "body": draft.body.model_dump(),
            **({"display_name": draft.display_name} if draft.display_name else {}),
        }
    )


def draft_from_json(raw: bytes | str | Mapping[str, object], decode_body: DecodeBody) -> Draft:
    """Read a draft: any bytes give a draft or a `Malformed`, nothing else.

    Args:
        raw: JSON text, or what it stands for.
        decode_body: Reads the body (`moot.protocols.codec.decode_body`).

    Raises:
        Malformed: It is no draft; the field and the reason are named.
    """
    try:
        text = raw if isinstance(raw, bytes | str) else json.dumps(raw, default=_refuse)
        if len(text) > MAX_DRAFT:
            raise Malformed("messages", f"has {len(text)} characters, {MAX_DRAFT} are allowed", field="draft")
        wire = _WIRE.validate_json(text)
        body_text = json.dumps(wire.body)
    except ValidationError as exc:
        field, why = first_fault(exc, "draft")
        raise Malformed("messages", why[:300], field=field) from None
    except (ValueError, TypeError, RecursionError) as exc:
        raise Malformed("messages", f"is not JSON: {exc}", field="draft") from None
    if wire.v > SCHEMA_VERSION:
        raise Malformed(
            "K4", f"schema version {wire.v} is newer than {SCHEMA_VERSION}: update moot", field="v"
        )
    return Draft(
        channel=wire.channel,
        author=wire.author,
        body=_body(body_text, decode_body),
        actor=Actor(wire.actor.kind, wire.actor.platform, wire.actor.user_id),
        case_id=wire.case_id,
        obligation_id=wire.obligation_id,
        attempt=wire.attempt,
        tenure=wire.tenure,
        in_reply_to=wire.in_reply_to,
        hops=wire.hops,
        key=wire.key,
        display_name=wire.display_name,
    )


def _body(text: str, decode_body: DecodeBody) -> Message:
    try:
        return decode_body(text)
    except Malformed as exc:
        field = "body" if exc.field in (None, "", "body") else f"body.{exc.field}"
        raise Malformed(exc.rule, exc.why, field=field) from exc


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} has no JSON")
