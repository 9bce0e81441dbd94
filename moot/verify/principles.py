"""Lessons: records tell of the debate they end, principles keep what they update (spec 2.1, R-D13).

The ledger judges the rest: evidence, confidence, and that three recorded failures stand behind each.
"""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import CausalRecord, Principle, PrincipleSynthesis, Reflection
from moot.verify.report import Findings

LESSONS: Final = frozenset({"CAUSAL_RECORD", "REFLECTION", "PRINCIPLE_SYNTHESIS"})
"""Types that `Principles` is shown."""


class Principles:
    """Checks records, and statement and dates of principles."""

    def __init__(self, findings: Findings) -> None:
        """Start with no principle."""
        self._findings = findings
        self._known: dict[str, Principle] = {}
        self._debate: DebateState | None = None

    def before(self, env: Envelope, docket: Docket) -> None:
        """Look at the debate that a record tells of, as it was before the record ended it."""
        state = docket.cases.get(env.case_id or "")
        self._debate = state if isinstance(state, DebateState) else None

    def after(self, env: Envelope, fx: Effects) -> None:
        """Check a message in effect."""
        if fx.violation is not None or fx.superseded:
            return
        body = env.body
        if isinstance(body, PrincipleSynthesis):
            for n, given in enumerate(body.principles):
                self._principle(env, f"principles[{n}]", given)
        elif isinstance(body, CausalRecord | Reflection) and self._debate is not None:
            debate, record = self._debate, body.record
            if record.hypothesis_id not in (None, debate.case_id, debate.linked):
                self._bad(env, f"record.hypothesis_id: {record.hypothesis_id}, this is {debate.case_id}")
            if record.lineage_id not in (None, debate.lineage_id):
                self._bad(env, f"record.lineage_id: {record.lineage_id}, this is of {debate.lineage_id}")

    def _principle(self, env: Envelope, field: str, given: Principle) -> None:
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
