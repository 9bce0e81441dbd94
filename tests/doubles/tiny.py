"""The smallest society that a bus can serve: two messages, one rule, one counted id."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.errors import Forbidden, Malformed
from moot.protocols.kernel.message import Message, Share, Text
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.times import parse_instant
from moot.protocols.research.seats import CRITIC, EVOLVER

START = datetime(2026, 2, 23, 10, tzinfo=UTC)


class Said(Message):
    """Anything."""

    type: Literal["SAID"] = "SAID"
    text: Text = ""
    weight: Share = 0.5


class Numbered(Message):
    """A message whose id the sequencer counts (K20)."""

    type: Literal["NUMBERED"] = "NUMBERED"
    number: str = ""


ANY: TypeAdapter[Said | Numbered] = TypeAdapter(Annotated[Said | Numbered, Field(discriminator="type")])


class TinyAdmission:
    """Everybody may speak in `#open`; nobody elsewhere; `NUMBERED` gets `n_1`, `n_2` and so on."""

    def __init__(self, counted: int = 0) -> None:
        self.counts: Counter[str] = Counter(n=counted)
        self.asked = 0

    def admit(self, draft: Draft) -> Draft:
        self.asked += 1
        if draft.channel != "#open":
            raise Forbidden("tiny", f"{draft.author} may not write in {draft.channel}", field="channel")
        return replace(draft, case_id="case_1") if draft.case_id == "?" else draft

    def mint(self, draft: Draft, sent_at: datetime) -> Message:
        if not isinstance(draft.body, Numbered):
            return draft.body
        self.counts["n"] += 1
        return Numbered(number=f"n_{self.counts['n']}")

    def unmint(self, draft: Draft, body: Message) -> None:
        if isinstance(body, Numbered):
            assert body.number == f"n_{self.counts['n']}", "unmint goes backwards, latest first"
            self.counts["n"] -= 1


class Ticks:
    """A clock that moves by a millisecond a reading, or as told."""

    def __init__(self, start: datetime = START) -> None:
        self.at = start
        self.step = timedelta(milliseconds=1)

    def __call__(self) -> datetime:
        self.at += self.step
        return self.at


def said(key: str, text: str = "", *, channel: str = "#open", seat: Seat = CRITIC) -> Draft:
    return Draft(channel=channel, author=seat, body=Said(text=text), key=key)


def numbered(key: str) -> Draft:
    return Draft(channel="#open", author=EVOLVER, body=Numbered(), key=key)


def decode_body(text: str) -> Message:
    """Read a body; anything else is Malformed and names the field."""
    try:
        return ANY.validate_json(text)
    except ValidationError as exc:
        first = exc.errors()[0]
        field = ".".join(str(part) for part in first["loc"] if part not in ("SAID", "NUMBERED"))
        raise Malformed("tiny", first["msg"], field=field or None) from exc


def decode(text: str, digest: str) -> Envelope:
    """Read a stored row."""
    data = json.loads(text)
    return Envelope(
        v=data["v"],
        seq=data["seq"],
        id=data["id"],
        channel=data["channel"],
        author=Seat(data["author"]),
        actor=Actor(**data["actor"]),
        case_id=data["case_id"],
        obligation_id=data["obligation_id"],
        attempt=data["attempt"],
        tenure=data["tenure"],
        in_reply_to=data["in_reply_to"],
        hops=data["hops"],
        sent_at=parse_instant(data["sent_at"]),
        body=decode_body(json.dumps(data["body"])),
        json=text,
        hash=digest,
    )
