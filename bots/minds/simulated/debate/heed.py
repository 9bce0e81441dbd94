"""What people's notes ask for: scores to look at harder, archetypes to try or to leave, symbols."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from moot.bots.minds.mind import NAMELESS
from moot.bots.minds.simulated.debate.criteria import archetypes_in, mentioned, speaks_against, symbols_in
from moot.bots.minds.simulated.wording import quoted
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.people import Note


@dataclass(frozen=True, slots=True)
class Heeded:
    """One note as a bot understands it.

    Attributes:
        who: Its author.
        quote: Its words, shortened, in quotation marks.
        criteria: Scores that it speaks of.
        archetypes: Archetypes that it names.
        symbols: Symbols that it names.
        is_against: Whether it warns rather than asks for more.
    """

    who: str
    quote: str
    criteria: tuple[str, ...]
    archetypes: tuple[str, ...]
    symbols: tuple[str, ...]
    is_against: bool

    @property
    def facts(self) -> dict[str, str]:
        """Return what every phrase about a note may name."""
        return {"who": self.who, "quote": self.quote}


def heeded(
    notes: Iterable[Envelope],
    cases: Collection[str],
    symbols: Iterable[str],
    now: datetime,
    most_hours: float,
    people: Mapping[str, str] = NAMELESS,
) -> tuple[Heeded, ...]:
    """Read the notes that concern some cases.

    Args:
        notes: NOTE messages, oldest first; anything else is passed over.
        cases: Case ids; a note that names none of them but another case is left out.
        symbols: What may be traded.
        now: Society time.
        most_hours: Age up to which a note that names no case is heeded.
        people: What people are called, by their ids.

    Returns:
        The notes, oldest first; the same text counts once.
    """
    names = tuple(symbols)
    found: dict[tuple[str, str], Heeded] = {}
    for env in notes:
        if not isinstance(env.body, Note):
            continue
        about = env.body.about_case_id or env.case_id
        if about not in cases and (about is not None or now - env.sent_at > timedelta(hours=most_hours)):
            continue
        text = env.body.text
        quote = quoted(text)
        user_id = env.actor.user_id or env.author
        found[user_id, quote] = Heeded(
            people.get(user_id, user_id),
            quote,
            mentioned(text),
            archetypes_in(text),
            symbols_in(text, names),
            speaks_against(text),
        )
    return tuple(found.values())


def attention(notes: Iterable[Heeded], archetype: str, worst: str, shift: float) -> dict[str, float]:
    """Say what notes take off the tolerance of which score.

    Args:
        notes: As a bot understands them.
        archetype: What is debated.
        worst: The score that is highest already; a note that only names the archetype sharpens it.
        shift: How much one note takes off; several about one score count once.
    """
    found: dict[str, float] = {}
    for note in notes:
        for name in note.criteria:
            found[name] = shift
        if not note.criteria and archetype in note.archetypes:
            found.setdefault(worst, shift / 2.0)
    return found
