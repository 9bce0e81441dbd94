"""What guests may ask a society, and what they report to it, beside their drafts (K22)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from channels.errors import Refused
from moot.host import Host
from protocols.escalation.case import EscalationState
from protocols.kernel.errors import Violation
from protocols.kernel.seats import OFFICERS, PEOPLE


class Reception:
    """Answers a surface's questions in words, and puts its reports into the audit."""

    def __init__(self, host: Host) -> None:
        """Speak for a society."""
        self._host = host

    async def ask(self, question: str, args: Mapping[str, Any]) -> str:
        """Answer `status` or `escalations`; anything else is told what can be asked."""
        if question == "status":
            return self._status()
        if question == "escalations":
            return self._escalations()
        return f"there is no answer to {question!r}: ask for status or escalations"

    def _status(self) -> str:
        docket, clock = self._host.docket, self._host.clock
        owed = [o for o in docket.open.values() if o.seat not in OFFICERS | PEOPLE]
        lines = [f"{clock.now():%a %d %b %H:%M} UTC, message {docket.seq}, {len(docket.cases)} open cases"]
        lines += [
            f"{o.seat} owes {' or '.join(o.expects)} until {o.due_at:%H:%M} ({o.id})" for o in owed[:10]
        ]
        if docket.house.conservative_a:
            lines.append("System A is conservative until an admin acts")
        return "\n".join(lines)

    def _escalations(self) -> str:
        waiting = [s for s in self._host.docket.cases.values() if isinstance(s, EscalationState)]
        if not waiting:
            return "nothing waits for an admin"
        lines = []
        for state in waiting:
            options = ", ".join(f"{option.n}: {option.label}" for option in state.options)
            lines.append(f"{state.case_id} {state.level} {state.code} {state.subject}: {options}")
        return "\n".join(lines)

    async def report(self, event: Mapping[str, Any]) -> None:
        """Keep what a guest reports (a post that its platform refused) as an AUDIT line."""
        name = str(event.get("event", "report"))
        why = str(event.get("why", "a guest reports"))
        await self._host.audit_refusal(
            json.dumps(dict(event), default=str).encode(),
            Refused(Violation("K22", why)),
            seat=str(event.get("surface", ""))[:200] or None,
            channel=str(event.get("channel", ""))[:200] or None,
            event=name[:200],
        )
