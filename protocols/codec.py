"""Bytes in, envelope or message out, or a `Malformed` that says which field and why; nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from moot.protocols.kernel.envelope import SCHEMA_VERSION, Actor, Envelope, with_hash
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.faults import why
from moot.protocols.kernel.message import Instant, Message
from moot.protocols.kernel.seats import SEAT_NAME, Seat
from moot.protocols.kernel.upcast import Opaque, upcast
from moot.protocols.rulebook import Rulebook, rulebook

LAID_OUT_ANEW: Final = (
    "another tool laid this line out anew: a hash holds for the bytes that `moot export` wrote"
)
"""What is said of a line whose hash is not where it was put."""

_Id = Annotated[str, Field(max_length=500)]
_Count = Annotated[int, Field(ge=0)]


Body = TypeVar("Body")


class _WireActor(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: Literal["bot", "human", "officer"]
    platform: _Id
    user_id: _Id


class _Wire(BaseModel, Generic[Body]):
    """An envelope on the wire; `hash` stands last and is optional."""

    model_config = ConfigDict(strict=True, extra="forbid")

    v: Annotated[int, Field(ge=1)]
    seq: Annotated[int, Field(ge=1)]
    id: Annotated[str, Field(min_length=1, max_length=500)]
    channel: _Id
    author: Annotated[Seat, Field(pattern=SEAT_NAME)]
    actor: _WireActor
    case_id: _Id | None
    obligation_id: _Id | None
    attempt: _Count
    tenure: _Count
    in_reply_to: _Id | None
    hops: _Count
    sent_at: Instant
    body: Body
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


@cache
def _reader(book: Rulebook) -> Callable[[str], Any]:
    """Return what reads a line by a rulebook."""
    wire: Any = _Wire
    adapter: TypeAdapter[Any] = TypeAdapter(wire[book.any_type])
    # The adapter's own method looks at eight options before it does the same.
    read: Callable[[str], Any] = adapter.validator.validate_json
    return read


def decode_body(raw: bytes | str) -> Message:
    """Read one message body from JSON.

    Raises:
        Malformed: It is no message; the field and the reason are named.
    """
    try:
        return rulebook().any_message.validate_json(raw)
    except ValidationError as exc:
        raise _malformed(exc, "body") from None
    except (UnicodeError, RecursionError) as exc:
        raise Malformed("messages", f"is not JSON: {exc}", field="body") from None
    except Exception as exc:
        # A validator of a foreign message raised what none may raise (R-G14).
        raise Malformed("R-G14", f"its validator fails: {type(exc).__name__}", field="body") from None


def decode_envelope(raw: bytes | str) -> Envelope:
    """Read one line of a log. Unknown types become opaque bodies, older versions are upcast (K4).

    `json` of the result is the line as it stands, without its hash.

    Raises:
        Malformed: It is no envelope, or its hash does not stand where `Envelope.line` puts it; the field and the
            reason are named.
    """
    try:
        text = raw.decode() if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as exc:
        raise Malformed("messages", f"is not UTF-8 at byte {exc.start}", field="line") from None
    wire, body = _decode(text)
    return _envelope(wire, body, without_hash(text, wire.hash or ""), wire.hash or "")


def decode_stored(text: str, digest: str) -> Envelope:
    """Read one stored row: the text without `hash`, and the hash as hex (K15).

    Raises:
        Malformed: It is no envelope.
    """
    return _envelope(*_decode(text), text, digest)


def _decode(text: str) -> tuple[Any, Message]:
    """Read the fields around a body, and the body.

    Raises:
        Malformed: It is no envelope.
    """
    try:
        wire = _reader(rulebook())(text)
        if wire.v == SCHEMA_VERSION:
            return wire, wire.body
        return _decode_rare(text, None)
    except ValidationError as exc:
        return _decode_rare(text, exc)
    except (UnicodeError, RecursionError) as exc:
        raise Malformed("messages", f"is not JSON: {exc}", field="line") from None
    except Exception:
        # A validator of a foreign message raised what none may raise: the body folds as nothing (R-G14).
        return _decode_rare(text, None)


def _envelope(wire: Any, body: Message, json: str, digest: str) -> Envelope:
    actor = wire.actor
    return Envelope(
        wire.v,
        wire.seq,
        wire.id,
        wire.channel,
        wire.author,
        Actor(actor.kind, actor.platform, actor.user_id),
        wire.case_id,
        wire.obligation_id,
        wire.attempt,
        wire.tenure,
        wire.in_reply_to,
        wire.hops,
        wire.sent_at,
        body,
        json,
        digest,
    )


def without_hash(line: str, digest: str) -> str:
    """Cut the hash off a line of JSON Lines: what it was made of (K15).

    Args:
        line: The line, blanks around it allowed.
        digest: The hash that stands in it, "" for none.

    Raises:
        Malformed: The hash does not stand last, as `Envelope.line` writes it, so the line was laid out anew.
    """
    line = line.strip()
    if not digest:
        return line
    end = with_hash("}", digest)
    if not line.endswith(end):
        raise Malformed("K15", LAID_OUT_ANEW, field="hash")
    return line[: -len(end)] + "}"


def _decode_rare(text: str, error: ValidationError | None) -> tuple[Any, Message]:
    """Read a line whose body this version does not know or has to bring up to date.

    Args:
        text: The line.
        error: What is wrong with it as a line of this version, None when only its version differs.

    Raises:
        Malformed: It is no envelope all the same.
    """
    try:
        value = json.loads(text)
        body = value["body"]
        version = value["v"]
        kind = body["type"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _malformed(error, "line") from None
    if type(version) is not int or version < 1 or not isinstance(kind, str) or not kind:
        raise _malformed(error, "line")
    fresh = upcast(body, version)
    if kind in rulebook().messages and fresh is body and error is not None:
        raise _malformed(error, "line")
    stand_in = {"type": "NOTE", "text": "", "about_case_id": None}
    try:
        wire = _reader(rulebook())(json.dumps({**value, "body": stand_in}))
        if kind in rulebook().messages:
            try:
                return wire, decode_body(json.dumps(fresh))
            except Malformed as exc:
                if exc.rule != "R-G14":
                    raise
        return wire, Opaque(type=kind, data=body)
    except ValidationError as exc:
        raise _malformed(exc, "line") from None
    except (ValueError, RecursionError) as exc:
        raise Malformed("messages", f"is not JSON: {exc}", field="line") from None


def _malformed(error: ValidationError | None, whole: str) -> Malformed:
    """Turn pydantic's first complaint into one line."""
    if error is None:
        return Malformed("messages", "is no envelope", field=whole)
    first = error.errors(include_url=False)[0]
    path = [
        str(part)
        for part in first["loc"]
        if part not in rulebook().messages and not str(part).startswith("function-")
    ]
    return Malformed("messages", why(first)[:300], field=".".join(path) or whole)
