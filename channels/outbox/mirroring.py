"""What a surface shows of the log, and what an outbox tells of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import ANSWERED_BEFORE
from moot.protocols.rulebook import rulebook

Stream = Callable[[int], AsyncGenerator[Sequence[str], None]]
"""From a cursor to batches of log lines after it, in order, without end."""

Mirrors = Callable[[Envelope], bool]
"""Whether a surface shows an envelope."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that a surface will never show.

    Attributes:
        surface: Name of the surface.
        seq: Which message.
        channel: Where it stands.
        why: What the platform said.
    """

    surface: str
    seq: int
    channel: str
    why: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A channel in which nothing can be posted for now, while others go on.

    Attributes:
        surface: Name of the surface.
        channel: Which channel of the log; its messages wait.
        why: What the platform said, and what to do; "" once something was posted there again.
    """

    surface: str
    channel: str
    why: str


def everything(_envelope: Envelope) -> bool:
    """Mirror every message."""
    return True


def public_but_own_notes(platform: str) -> Mirrors:
    """Mirror what is said in public, except the notes that people wrote on this platform: they stand there already.

    An AUDIT of an answer to a resolved escalation is not shown either: its author was told (R-G13).
    """
    private = rulebook().channel_names.difference(channel.name for channel in rulebook().public)

    def mirrors(envelope: Envelope) -> bool:
        is_own = envelope.body.type == "NOTE" and envelope.actor.platform == platform
        is_audit = envelope.body.type == "AUDIT"
        is_told = is_audit and envelope.body.model_dump().get("event") == ANSWERED_BEFORE
        return not is_own and not is_told and envelope.channel not in private

    return mirrors


def only(channels: frozenset[str], of: Mirrors = everything) -> Mirrors:
    """Mirror some channels only."""
    return lambda envelope: envelope.channel in channels and of(envelope)
