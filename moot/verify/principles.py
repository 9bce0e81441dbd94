"""Principles: their dates, and that an update keeps what it updates; the ledger judges the rest (2.1)."""

from __future__ import annotations

from moot.verify.report import Findings
from protocols.kernel.docket import Effects
from protocols.kernel.envelope import Envelope
from protocols.research.messages import Principle, PrincipleSynthesis


class Principles:
    """Checks statement and dates of principles; evidence and confidence are the docket's to judge."""

    def __init__(self, findings: Findings) -> None:
        """Start with no principle."""
        self._findings = findings
        self._known: dict[str, Principle] = {}

    def after(self, env: Envelope, fx: Effects) -> None:
        """Check the principles of a synthesis in effect."""
        body = env.body
        if not isinstance(body, PrincipleSynthesis) or fx.violation is not None:
            return
        for n, given in enumerate(body.principles):
            field = f"principles[{n}]"
            if not given.created <= given.last_validated <= env.sent_at:
                self._bad(env, f"{field}.created, last_validated: not in this order, or after the message")
            known = self._known.get(given.principle_id)
            if given.change == "updated" and known is not None:
                if (given.statement, given.created) != (known.statement, known.created):
                    self._bad(env, f"{field}: an update keeps statement and date of {given.principle_id}")
            elif known is not None:
                self._bad(env, f"{field}: {given.principle_id} was created before")
            self._known[given.principle_id] = given

    def _bad(self, env: Envelope, why: str) -> None:
        self._findings.add(env.seq, "principle", "2.1", why)
