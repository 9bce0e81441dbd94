"""Looks: the name, the small picture and the colour under which each seat speaks on a chat platform. Data only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from moot.channels.showing.rendering import UNKNOWN, Speakers, beside, speaker
from moot.channels.showing.wording import clean
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import REHEARSAL
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import Rulebook, rulebook

MOST_NAME: Final = 80
"""Characters of a name, on either platform."""

HEX: Final[Mapping[str, str]] = {
    "red": "#c0392b",
    "green": "#2e9e5b",
    "yellow": "#d09a10",
    "blue": "#2f6fd0",
    "magenta": "#a23fa8",
    "cyan": "#1593a5",
    "bright_black": "#66707c",
    "bright_red": "#e8483f",
    "bright_green": "#55b82e",
    "bright_yellow": "#e0a800",
    "bright_blue": "#5b6ee8",
    "bright_magenta": "#d6478f",
    "bright_cyan": "#12a88a",
    "default": "#4a5568",
}
"""What the names of terminal colours look like where a colour is a number; white stands out on each."""


@dataclass(frozen=True, slots=True)
class Look:
    """How somebody appears.

    Attributes:
        name: What stands above the message.
        icon_emoji: A standard emoji of Slack, with its colons.
        colour: `#rrggbb`.
    """

    name: str
    icon_emoji: str
    colour: str

    @property
    def colour_number(self) -> int:
        """Return the colour as Discord takes it."""
        return int(self.colour[1:], 16)


def looks() -> Mapping[Seat, Look]:
    """Return every seat's own look."""
    return _looks(rulebook())


@cache
def _looks(book: Rulebook) -> Mapping[Seat, Look]:
    return {seat: Look(info.shown, info.emoji, HEX[info.colour]) for seat, info in book.seats.items()}


MOOT: Final = Look("Moot", ":speech_balloon:", HEX["default"])
"""Who speaks for several seats at once, and for a seat that this version does not know."""


def look_of(
    envelopes: Sequence[Envelope], *, here: str = "", who: Speakers = UNKNOWN
) -> tuple[Seat | None, Look]:
    """Return who speaks, and how they appear.

    Args:
        envelopes: What is posted as one message, at least one.
        here: Name of the platform it is posted on; a person from there is named without it.
        who: What is known of who speaks.

    Returns:
        The seat, None where several speak or nobody known; and the look, with the person's name where one sits
        in the seat ("Critic (Ann on slack)").
    """
    first = envelopes[0]
    speakers = {name(envelope, here=here, who=who) for envelope in envelopes}
    if len(speakers) > 1:
        return None, replace(MOOT, name=f"{MOOT.name} ({REHEARSAL})") if who.minds.is_rehearsal else MOOT
    known = looks().get(first.author)
    base = known or MOOT
    return (first.author if known else None), Look(speakers.pop() or MOOT.name, base.icon_emoji, base.colour)


def name(envelope: Envelope, *, here: str = "", who: Speakers = UNKNOWN) -> str:
    """Name who speaks, as `rendering.speaker` does; a person from this platform without its name."""
    actor = envelope.actor
    if actor.kind == "human" and here and actor.platform == here:
        return clean(beside(envelope, clean(who.names.get(actor.user_id, actor.user_id), 60), who), MOST_NAME)
    return clean(speaker(envelope, who), MOST_NAME)
