"""Messages as people read them: a sentence for every envelope, a card for platforms that show fields.

Both are pure and never raise, whatever the body: an unknown type, an opaque body or a future field reads as
its name and its fields (K4). The wording is data, in `channels.templates`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from channels.templates import SEAT_COLOURS, TEMPLATES
from channels.wording import Template, clean, compile_template, plain, seat_name, words
from protocols.kernel.envelope import Envelope
from protocols.kernel.seats import Seat

MOST_SENTENCE: Final = 1_000
"""Characters of a sentence; the whole message is in its envelope."""

MOST_FIELDS: Final = 25
"""Fields of a card."""

MOST_FIELD: Final = 1_000
"""Characters of one field of a card."""

_COMPILED: Final[Mapping[str, Template]] = {name: compile_template(text) for name, text in TEMPLATES.items()}


@dataclass(frozen=True, slots=True)
class Field:
    """A named figure or text of a card."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press; the surface hands in an `InboundAct` of this kind with these fields.

    Attributes:
        label: What stands on it.
        kind: `ack` or `answer`.
        fields: The act's fields.
    """

    label: str
    kind: Literal["ack", "answer"]
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Card:
    """A message for a platform: title, sentence, fields, buttons; plain text, never markup.

    Attributes:
        title: The message type in words and its case.
        sentence: As `sentence` gives it.
        fields: The body's contents by name, at most `MOST_FIELDS`.
        buttons: What an admin may do about it.
    """

    title: str
    sentence: str
    fields: tuple[Field, ...] = ()
    buttons: tuple[Button, ...] = ()


def sentence(envelope: Envelope) -> str:
    """Say in one line what was said, by whom: "Critic rates hyp_… PASS, confidence 0.62"."""
    return _sentence(envelope, envelope.body.model_dump())


def card(envelope: Envelope) -> Card:
    """Lay a message out for a platform."""
    body = envelope.body.model_dump()
    about = f" · {clean(envelope.case_id, 100)}" if envelope.case_id else ""
    return Card(
        title=words(envelope.body.type).capitalize() + about,
        sentence=_sentence(envelope, body),
        fields=tuple(
            Field(clean(words(str(name)), 100), clean(plain(value), MOST_FIELD))
            for name, value in sorted(body.items())
            if name != "type" and value not in (None, "", (), [], {})
        )[:MOST_FIELDS],
        buttons=_buttons(body) if envelope.body.type == "ESCALATION" else (),
    )


def colour(seat: Seat) -> str:
    """Return a seat's terminal colour."""
    return SEAT_COLOURS.get(seat, "default")


def speaker(envelope: Envelope) -> str:
    """Name who speaks: the seat, and the person where one sits in it."""
    seat = seat_name(str(envelope.author))
    if envelope.actor.kind != "human":
        return seat
    return f"{seat} ({clean(envelope.actor.user_id, 60)} on {clean(envelope.actor.platform, 30)})"


def predicate(envelope: Envelope) -> str:
    """Say in one line what was said, without by whom: "rates hyp_… PASS, confidence 0.62"."""
    return _predicate(envelope.body.type, envelope.body.model_dump())


def _sentence(envelope: Envelope, body: Mapping[str, object]) -> str:
    return f"{speaker(envelope)} {_predicate(envelope.body.type, body)}"


def _predicate(kind: str, body: Mapping[str, object]) -> str:
    template = _COMPILED.get(kind)
    return clean(template.fill(body) if template is not None else _generic(kind, body), MOST_SENTENCE)


def _generic(kind: str, body: Mapping[str, object]) -> str:
    rest = {name: value for name, value in body.items() if name != "type"}
    return f"says {clean(kind, 60)}" + (f": {plain(rest)}" if rest else "")


def _buttons(body: Mapping[str, object]) -> tuple[Button, ...]:
    escalation_id, options = body.get("escalation_id"), body.get("options")
    if not isinstance(escalation_id, str) or not escalation_id:
        return ()
    found = [Button("Acknowledge", "ack", {"escalation_id": escalation_id})]
    for option in options if isinstance(options, Sequence) and not isinstance(options, str) else ():
        n = option.get("n") if isinstance(option, Mapping) else None
        if isinstance(n, int) and not isinstance(n, bool):
            label = clean(f"{n}: {plain(option.get('label'))}", 80)
            found.append(Button(label, "answer", {"escalation_id": escalation_id, "option": n, "text": None}))
    return tuple(found[:MOST_FIELDS])
