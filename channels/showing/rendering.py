"""Messages as people read them: a sentence for every envelope, a card for platforms that show fields.

Both are pure and never raise, whatever the body: an unknown type, an opaque body or a future field reads as
its name and its fields (K4). The wording is data of its protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal

from moot.channels.showing.person_duties import NOTICE, answers_to
from moot.channels.showing.templates import Template, compile_template
from moot.channels.showing.wording import MOST_TEXT, clean, derived, plain, seat_name, words
from moot.protocols.authorship import label
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.docket import MAX_CASE_ID
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import REHEARSAL, Minds
from moot.protocols.kernel.seats import OFFICERS, Seat
from moot.protocols.rulebook import Rulebook, rulebook

MOST_SENTENCE: Final = 1_000
"""Characters of a sentence; the whole message is in its envelope."""

MOST_FIELDS: Final = 25
"""Fields of a card."""

MOST_FIELD: Final = 1_000
"""Characters of one field of a card."""

NAMING: Final = "PERSON_NAMED"
"""Says which id has which name, so here an id stands for itself."""

Names = Mapping[str, str]
"""User id to what the person is called on their platform; by PERSON_NAMED; for show only, the log knows ids."""

NAMELESS: Final[Names] = {}


@dataclass(frozen=True, slots=True)
class Speakers:
    """What is known of who speaks: people by name, seats by what fills them; for show only.

    Attributes:
        names: What people are called, by their ids.
        minds: Which mind filled which seat.
    """

    names: Names = field(default_factory=dict)
    minds: Minds = field(default_factory=Minds)


UNKNOWN: Final = Speakers()
"""Nobody has a name, and the minds of all seats are those that ship with Moot."""


def speakers_of(context: RuleContext) -> Speakers:
    """Return what the folds of a society know of who speaks; it grows with them."""
    return Speakers(context.fold_named("people").called, context.fold_named("minds"))


@cache
def _compiled(book: Rulebook) -> Mapping[str, Template]:
    return {name: compile_template(text) for name, text in book.wording.items()}


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
        kind: `ack` or `answer` of an escalation, or `act` for an answer to a person's duty.
        fields: The act's fields; of an answer to a duty its `act`, its number `n` and the `case_id`.
    """

    label: str
    kind: Literal["ack", "answer", "act"]
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Card:
    """A message for a platform: title, sentence, fields, buttons; plain text, never markup.

    Attributes:
        title: The message type in words and its case.
        sentence: As `sentence` gives it.
        fields: What the sentence leaves unsaid of the body, by name, at most `MOST_FIELDS`.
        buttons: What an admin may do about it.
    """

    title: str
    sentence: str
    fields: tuple[Field, ...] = ()
    buttons: tuple[Button, ...] = ()


def sentence(envelope: Envelope, who: Speakers = UNKNOWN) -> str:
    """Say in one line what was said, by whom: "Critic rates hyp_… PASS, confidence 0.62"."""
    return _sentence(envelope, _named(envelope.body.model_dump(), who.names), who)


def card(envelope: Envelope, who: Speakers = UNKNOWN) -> Card:
    """Lay a message out for a platform.

    Args:
        envelope: The message.
        who: What is known of who speaks.
    """
    body = _named(envelope.body.model_dump(), who.names)
    about = f" · {clean(envelope.case_id, MAX_CASE_ID)}" if envelope.case_id else ""
    said = _sentence(envelope, body, who)
    return Card(
        title=words(envelope.body.type).capitalize() + about,
        sentence=said,
        fields=tuple(_fields(envelope, body, said))[:MOST_FIELDS],
        buttons=_buttons(body) if envelope.body.type == "ESCALATION" else _duty_buttons(envelope, body),
    )


def colour(seat: Seat) -> str:
    """Return a seat's terminal colour."""
    info = rulebook().seats.get(seat)
    return info.colour if info is not None else "default"


def speaker(envelope: Envelope, who: Speakers = UNKNOWN) -> str:
    """Name who speaks: the seat, and the person where one sits in it, or that no model wrote an opinion.

    In a rehearsal each is told with a word that says so.
    """
    shown = label(envelope, who.minds)
    if envelope.actor.kind == "human":
        name = who.names.get(envelope.actor.user_id, envelope.actor.user_id)
        shown = f"{clean(name, 60)} on {clean(envelope.actor.platform, 30)}"
    return beside(envelope, shown, who)


def beside(envelope: Envelope, shown: str, who: Speakers = UNKNOWN) -> str:
    """Put beside a seat what is to be shown of who speaks there, and that it is a rehearsal."""
    seat = seat_name(clean(str(envelope.author), 40))
    told = "; ".join(filter(None, (REHEARSAL if who.minds.is_rehearsal else "", shown)))
    return f"{seat} ({told})" if told else seat


def predicate(envelope: Envelope, who: Speakers = UNKNOWN) -> str:
    """Say in one line what was said, without by whom: "rates hyp_… PASS, confidence 0.62"."""
    return _told(envelope, _named(envelope.body.model_dump(), who.names))


def _sentence(envelope: Envelope, body: Mapping[str, object], who: Speakers) -> str:
    return f"{speaker(envelope, who)} {_told(envelope, body)}"


def _told(envelope: Envelope, body: Mapping[str, object]) -> str:
    """Say what was said; what decides names its case, for which one can ask why."""
    kind, case_id = envelope.body.type, envelope.case_id
    text = _predicate(kind, body)
    is_named = case_id is None or kind not in rulebook().grounds.decides or case_id in text
    return text if is_named else f"{text} ({clean(str(case_id), MAX_CASE_ID)})"


def _named(body: Mapping[str, object], names: Names) -> Mapping[str, object]:
    """Put names in place of ids that a body gives ("answered by …")."""
    if not names or body.get("type") == NAMING:
        return body
    return {key: names.get(value, value) if isinstance(value, str) else value for key, value in body.items()}


def _predicate(kind: str, body: Mapping[str, object]) -> str:
    template = _compiled(rulebook()).get(kind)
    said = template.fill(body) if template is not None else _generic(kind, body)
    # A text that ends with a mark may stand within the sentence.
    return clean(said.replace(".; ", "; ").replace(".. ", ". "), MOST_SENTENCE)


def _generic(kind: str, body: Mapping[str, object]) -> str:
    rest = {name: value for name, value in body.items() if name != "type"}
    return f"says {clean(kind, 60)}" + (f": {plain(rest)}" if rest else "")


def _fields(envelope: Envelope, body: Mapping[str, object], said: str) -> Iterator[Field]:
    """Yield what the sentence leaves unsaid; an id that is told, an empty field and a template's own are not."""
    kind = envelope.body.type
    template = _compiled(rulebook()).get(kind)
    told = (
        {slot.path[0] for slot in template.slots() if len(slot.path) == 1} if template is not None else set()
    )
    for name, value in sorted(body.items()):
        if name == "type" or name in rulebook().unshown.get(kind, ()) or value in (None, "", (), [], {}):
            continue
        text = clean(plain(_derived(value) if envelope.author in OFFICERS else value), MOST_FIELD)
        is_told = name in told and isinstance(value, str | int | float)
        if isinstance(value, str):
            # A sentence cuts what is longer.
            is_told = text in said or (is_told and len(text) <= MOST_TEXT)
        if is_told and not text.endswith("…"):
            continue
        if value != envelope.case_id:
            yield Field(clean(words(str(name)), 100), text)


def _derived(value: object) -> object:
    """Word the texts of a field that a table wrote."""
    if isinstance(value, Mapping):
        return {name: _derived(one) for name, one in value.items()}
    return derived(value) if isinstance(value, str) else value


def _duty_buttons(envelope: Envelope, body: Mapping[str, object]) -> tuple[Button, ...]:
    """Return the answers to a person's duty that need no form (R-G16)."""
    expects = body.get("expects")
    if envelope.body.type != NOTICE or not envelope.case_id or not isinstance(expects, Sequence):
        return ()
    return tuple(
        Button(one.label, "act", {"act": one.act, "n": one.n, "case_id": envelope.case_id})
        for one in answers_to([str(kind) for kind in expects])
    )


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
