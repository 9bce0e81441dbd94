"""Seats: the roles that own obligations and author messages; those of officers and people stand here."""

from __future__ import annotations

from typing import Final, NamedTuple, NewType

Seat = NewType("Seat", str)
"""A role in the society, by the name that envelopes give as `author`. A protocol's own stand in its `seats.py`."""

SEAT_NAME: Final = r"^[a-z][a-z0-9_-]{0,39}$"
"""What the name of a seat looks like; which seats there are, the rulebook says."""

COLOURS: Final = frozenset(
    {"default", "bright_black"}
    | {
        f"{light}{hue}"
        for light in ("", "bright_")
        for hue in ["red", "green", "yellow", "blue", "magenta", "cyan"]
    }
)
"""Names of colours that every terminal has."""

REFEREE: Final = Seat("referee")
TIMEKEEPER: Final = Seat("timekeeper")
LIAISON: Final = Seat("liaison")
ORCHESTRATOR: Final = Seat("orchestrator")
BURSAR: Final = Seat("bursar")
LAB: Final = Seat("lab")
ADMIN: Final = Seat("admin")
VIEWER: Final = Seat("viewer")

OFFICERS: Final = frozenset({REFEREE, TIMEKEEPER, LIAISON, ORCHESTRATOR, BURSAR, LAB})
"""Seats that are code and hold the rest to the rules; their messages never cause violations (K5)."""
PEOPLE: Final = frozenset({ADMIN, VIEWER})


class SeatInfo(NamedTuple):
    """What a protocol says of a seat that it brings.

    Attributes:
        seat: Its name in envelopes.
        does: What it does, in one line.
        colour: The name of a terminal colour, of the sixteen that every terminal has.
        emoji: A standard emoji of Slack, with its colons.
        group: The group of channels that it reads besides those of protocols that use it, "" for none.
        title: How people write its name; "": the name with a capital.
    """

    seat: Seat
    does: str
    colour: str
    emoji: str
    group: str = ""
    title: str = ""

    @property
    def shown(self) -> str:
        """Return the name as people write it."""
        return self.title or self.seat.capitalize()


OFFICER_SEATS: Final = (
    SeatInfo(
        REFEREE, "pings, rules on what was missed, and says what broke a rule", "bright_yellow", ":scales:"
    ),
    SeatInfo(
        TIMEKEEPER,
        "opens what the calendar says, and keeps the society's clock",
        "bright_black",
        ":alarm_clock:",
    ),
    SeatInfo(LIAISON, "carries what passes between the systems", "bright_black", ":bridge_at_night:"),
    SeatInfo(ORCHESTRATOR, "leads runs and panels to their ends", "bright_black", ":control_knobs:"),
    SeatInfo(
        BURSAR, "keeps the budgets of language models, and the ledger of calls", "bright_black", ":receipt:"
    ),
    SeatInfo(LAB, "says how experiments go, and ends those that fell silent", "bright_black", ":test_tube:"),
)

PEOPLE_SEATS: Final = (
    SeatInfo(
        ADMIN,
        "a person who runs the society: answers escalations, overrides, stops",
        "bright_magenta",
        ":crown:",
    ),
    SeatInfo(VIEWER, "a person who looks on and leaves notes", "bright_blue", ":eyeglasses:"),
)
