"""The audit of refusals: what was refused is kept, capped, redacted, and coalesced in a flood (K18)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from moot.protocols.kernel.envelope import OFFICER, Actor, Draft
from moot.protocols.kernel.officers import ANSWERED_BEFORE, ON_PURPOSE, STREAM_LIMITED, Audit, PersonNamed
from moot.protocols.kernel.redact import keepsake, redact
from moot.protocols.kernel.seats import REFEREE

PER_MINUTE: Final = 10
"""So many audit lines a minute and origin; what comes on top is counted in the next one (K18)."""
MOST_KEY: Final = 400


@dataclass(slots=True)
class _Flow:
    since: datetime
    written: int = 0
    held: int = 0


def outage(why: str, which: str) -> Draft:
    """Say that the log could not be written for a while (K17); `which` tells one outage from another."""
    body = Audit.noting("outage", why)
    return Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=body, key=f"audit/outage/{which}")


def stream_limited(why: str, which: str) -> Draft:
    """Return the AUDIT of limits that lose messages of the log; `which` tells one start from another."""
    body = Audit.noting(STREAM_LIMITED, why)
    return Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=body, key=f"audit/stream/{which}")


def rehearsed(what: str, seat: str, which: str) -> Draft:
    """Say what is made to go wrong in a rehearsal; `which` tells one occasion of a fault from all others."""
    body = Audit.noting(ON_PURPOSE, what, seat=seat or None)
    key = f"audit/rehearsal/{which}"
    return Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=body, key=key[:MOST_KEY])


def named(actor: Actor, name: str, key: str) -> Draft:
    """Say what a person is called; `key` is the derived id (`People.key`)."""
    body = PersonNamed(platform=actor.platform, user_id=actor.user_id, display_name=name)
    return Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=body, key=key)


def resolved_audit(actor: Actor, case_id: str, raw: bytes, why: str, *, seat: str) -> Draft:
    """Return the AUDIT of an answer to a resolved escalation; its id is that of person and escalation (R-G13)."""
    text, truncated = keepsake(raw)
    body = Audit(
        event=ANSWERED_BEFORE,
        seat=redact(seat)[:200],
        channel="#admin",
        reason=redact(f"{actor.name}: {why}")[:2000],
        bytes=text,
        truncated=truncated,
    )
    key = f"resolved/{case_id}/{actor.own('')}"
    return Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=body, key=key[:MOST_KEY])


class RefusalAudit:
    """Turns refusals into AUDIT drafts, not more than `PER_MINUTE` a minute and origin."""

    def __init__(self) -> None:
        """Start with no refusal."""
        self._flows: dict[str, _Flow] = {}
        self._n = 0

    def draft(
        self,
        raw: bytes,
        why: str,
        now: datetime,
        *,
        seat: str | None,
        channel: str | None,
        after_seq: int,
        event: str = "refused",
    ) -> Draft | None:
        """Return the AUDIT of one refusal; None when it is counted in a later line.

        Args:
            raw: The refused bytes.
            why: The reason, and the rule where one was broken.
            now: Society time.
            seat: The author it claims, None when unreadable.
            channel: The channel it names, None when unreadable.
            after_seq: Head of the log, for the id.
            event: What happened.
        """
        flow = self._flows.setdefault(seat or "?", _Flow(now))
        if now - flow.since >= timedelta(minutes=1):
            flow.since, flow.written = now, 0
        if flow.written >= PER_MINUTE:
            flow.held += 1
            return None
        flow.written += 1
        count, flow.held = flow.held + 1, 0
        text, truncated = keepsake(raw)
        self._n += 1
        body = Audit(
            event=event,
            seat=redact(seat or "")[:200],
            channel=redact(channel or "")[:200],
            reason=why[:2000],
            bytes=text,
            truncated=truncated,
            count=count,
        )
        return Draft(
            channel="#admin",
            author=REFEREE,
            actor=OFFICER,
            body=body,
            key=f"audit/{after_seq}/{self._n}",
        )
