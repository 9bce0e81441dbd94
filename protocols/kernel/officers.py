"""What the officers say: the society's life, its clock, deadlines, rulings, violations, audits."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import Field

from moot.protocols.kernel.fields import FrozenJson, Minted, SeatName, Several, Whole
from moot.protocols.kernel.message import Count, Ident, Instant, Message, Number, Share, Text

Outcome = Ident
"""What a ruling does. Moot's own protocols void an obligation, REJECT, skip a slot, turn conservative, stop a chain,
reduce_exposure, DEPLOY or ESCALATE; others use their own words. `faulted` ends a case whose rule raised (R-G14)."""


class SocietyStarted(Message):
    """Open a stretch of the log with all that explains it. Timekeeper, #admin (K4, K6).

    `rehearsal` says that things are made to go wrong on purpose, and at what share of occasions; 0: at none in this
    stretch. A log is a rehearsal's from its first message on, or never.
    """

    type: Literal["SOCIETY_STARTED"] = "SOCIETY_STARTED"
    society_id: Ident
    config: FrozenJson
    rules_version: Ident
    seed: Whole
    data: FrozenJson
    speed: Number
    paused: bool = False
    clock: Literal["virtual", "accelerated", "real"]
    durability: Ident
    warm_up: bool = False
    rehearsal: Share | None = None
    moot_version: Ident


class SocietyStopped(Message):
    """Close a stretch of the log. Timekeeper, #admin (K6)."""

    type: Literal["SOCIETY_STOPPED"] = "SOCIETY_STOPPED"
    reason: Text
    last_seq: Count


class ConfigChanged(Message):
    """Change the effective configuration from here on. Timekeeper, #admin (K4)."""

    type: Literal["CONFIG_CHANGED"] = "CONFIG_CHANGED"
    changes: FrozenJson
    reason: Text


WAITING: Final = "waiting for"
"""So the reason of a CLOCK_SET begins that slows time down because people are waited for (K8)."""


class ClockSet(Message):
    """Set the society's time, its speed, or pause it. Timekeeper, #admin (K6, K7, K8).

    `held_s` are the seconds before it in which a society in real time could do nothing: its process or its machine
    stood, or the disk took nothing. They are nobody's silence, and move what is due.
    """

    type: Literal["CLOCK_SET"] = "CLOCK_SET"
    society_at: Instant
    speed: Number
    paused: bool
    reason: Text
    held_s: Annotated[Number, Field(ge=0)] = 0.0

    @property
    def held(self) -> timedelta:
        """Return the time that was nobody's."""
        return timedelta(seconds=self.held_s)


def ends_outage(body: Message) -> bool:
    """Say whether a message is the first after time in which nobody could do anything (K6)."""
    return type(body) is SocietyStarted or (type(body) is ClockSet and bool(body.held_s))


class Anchor(Message):
    """Say which the last message before an instant was, and its hash. Timekeeper, #admin, daily (K9, K15)."""

    type: Literal["ANCHOR"] = "ANCHOR"
    nominal_at: Instant
    seq: Count
    hash: Ident


class TimeoutPing(Message):
    """Remind a seat of what it owes. Referee, the obligation's channel (spec 1.4, R-D1)."""

    type: Literal["TIMEOUT_PING"] = "TIMEOUT_PING"
    obligation_id: Ident
    seat: SeatName
    waited_min: Number


class DutyNotice(Message):
    """Ask a person for what they owe, and remind them of it. Referee, the obligation's channel (R-E2, R-G16).

    `n` is 0 when the duty opens and counts its reminders; at `until` the referee rules on it. `expects` are the types
    that answer it, `brief` is what the step shows of it.
    """

    type: Literal["DUTY_NOTICE"] = "DUTY_NOTICE"
    obligation_id: Ident
    seat: SeatName
    n: Count
    until: Instant
    expects: Several[Ident]
    brief: FrozenJson


class Ruling(Message):
    """Decide what a table derives. Referee, the channel of the obligation or case (K5, R-D9, R-D10)."""

    type: Literal["RULING"] = "RULING"
    obligation_id: Ident | None
    case_id: Ident | None
    outcome: Outcome
    reason: Ident
    rule: Ident
    of_seq: Count | None = None


class Violation(Message):
    """Point at a message that breaks a rule of its case. Referee, the message's channel (K10)."""

    type: Literal["VIOLATION"] = "VIOLATION"
    of_seq: Count
    seat: SeatName
    rule: Ident
    field: Ident | None
    why: Text


class PersonNamed(Message):
    """Say what a person is called on their platform, when first heard or called otherwise. Referee, #admin."""

    type: Literal["PERSON_NAMED"] = "PERSON_NAMED"
    platform: Ident
    user_id: Ident
    display_name: Annotated[str, Field(min_length=1, max_length=40)]


ANSWERED_BEFORE: Final = "answered_before"
"""Event of the AUDIT of an answer to a resolved escalation; its author alone is told, so no platform shows it."""

MIND_FAILED: Final = "mind_failed"
"""The event of an AUDIT that says why a mind left its seat silent."""

ON_PURPOSE: Final = "rehearsed_fault"
"""The event of an AUDIT that says what was made to go wrong in a rehearsal."""


STREAM_LIMITED: Final = "stream_limited"
"""Event of an AUDIT that says that the stream of the log has limits that lose messages."""


class Audit(Message):
    """Keep what was refused, bytes in base64, capped and redacted. Referee, #admin (K18)."""

    type: Literal["AUDIT"] = "AUDIT"
    event: Ident
    seat: Minted | None
    channel: Minted | None
    reason: Text
    bytes: Annotated[str, Field(max_length=20_000)] | None
    truncated: bool
    count: Count = 1

    @classmethod
    def noting(cls, event: str, reason: str, *, seat: str | None = None, channel: str | None = None) -> Audit:
        """Return an AUDIT of an event, without bytes; its reason is cut to 2,000 characters."""
        return cls(event=event, seat=seat, channel=channel, reason=reason[:2000], bytes=None, truncated=False)
