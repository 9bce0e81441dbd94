"""Who posts the messages of officers and people, and where: one row a type."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import ANY, Channel, Right
from moot.protocols.kernel.seats import ADMIN, REFEREE, TIMEKEEPER, VIEWER

ADMIN_CHANNEL: Final = frozenset({"#admin"})

CHANNELS: Final = (Channel("#admin", "both", "the society's life, escalations, audits", "People"),)

OFFICERS_RIGHTS: Final = (
    Right("SOCIETY_STARTED", frozenset({TIMEKEEPER}), ADMIN_CHANNEL),
    Right("SOCIETY_STOPPED", frozenset({TIMEKEEPER}), ADMIN_CHANNEL),
    Right("CONFIG_CHANGED", frozenset({TIMEKEEPER}), ADMIN_CHANNEL),
    Right("CLOCK_SET", frozenset({TIMEKEEPER}), ADMIN_CHANNEL),
    Right("ANCHOR", frozenset({TIMEKEEPER}), ADMIN_CHANNEL),
    Right("TIMEOUT_PING", frozenset({REFEREE}), ANY),
    Right("DUTY_NOTICE", frozenset({REFEREE}), ANY),
    Right("RULING", frozenset({REFEREE}), ANY),
    Right("VIOLATION", frozenset({REFEREE}), ANY),
    Right("AUDIT", frozenset({REFEREE}), ADMIN_CHANNEL),
    Right("PERSON_NAMED", frozenset({REFEREE}), ADMIN_CHANNEL),
)

PEOPLES_RIGHTS: Final = (
    Right("NOTE", frozenset({ADMIN, VIEWER}), ANY),
    Right("OVERRIDE", frozenset({ADMIN}), ANY),
    Right("SEAT_TAKEN", frozenset({ADMIN, REFEREE}), ADMIN_CHANNEL),
    Right("SEAT_RELEASED", frozenset({ADMIN, REFEREE}), ADMIN_CHANNEL),
    Right("STOP", frozenset({ADMIN}), ADMIN_CHANNEL),
)
