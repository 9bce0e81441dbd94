"""Who posts the messages of officers and people, and where: one row a type."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import ANY, Right
from moot.protocols.kernel.seats import Seat

TIMEKEEPER: Final = frozenset({Seat.TIMEKEEPER})
REFEREE: Final = frozenset({Seat.REFEREE})
ADMIN: Final = frozenset({Seat.ADMIN})

ADMIN_CHANNEL: Final = frozenset({"#admin"})

RIGHTS: Final = (
    Right("SOCIETY_STARTED", TIMEKEEPER, ADMIN_CHANNEL),
    Right("SOCIETY_STOPPED", TIMEKEEPER, ADMIN_CHANNEL),
    Right("CONFIG_CHANGED", TIMEKEEPER, ADMIN_CHANNEL),
    Right("CLOCK_SET", TIMEKEEPER, ADMIN_CHANNEL),
    Right("ANCHOR", TIMEKEEPER, ADMIN_CHANNEL),
    Right("TIMEOUT_PING", REFEREE, ANY),
    Right("RULING", REFEREE, ANY),
    Right("VIOLATION", REFEREE, ANY),
    Right("AUDIT", REFEREE, ADMIN_CHANNEL),
    Right("PERSON_NAMED", REFEREE, ADMIN_CHANNEL),
    Right("NOTE", ADMIN | {Seat.VIEWER}, ANY),
    Right("OVERRIDE", ADMIN, ANY),
    Right("SEAT_TAKEN", ADMIN | REFEREE, ADMIN_CHANNEL),
    Right("SEAT_RELEASED", ADMIN | REFEREE, ADMIN_CHANNEL),
    Right("STOP", ADMIN, ADMIN_CHANNEL),
)
