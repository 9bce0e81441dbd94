"""Runs of the Arena: the audit record of each that ended, judged by the conformance checker."""

from __future__ import annotations

from typing import Final

from moot.protocols.arena.conformance.checker import check
from moot.protocols.arena.record import audit_record
from moot.protocols.kernel.envelope import Envelope
from moot.verify.audit.ended import EndedCases, Said

MOST_EVIDENCE: Final = 2
"""So much of what a failed check shows is told; `moot arena conformance` tells all."""


class Runs(EndedCases):
    """Judges runs of the Arena."""

    opener = "ARENA_TASK"
    ends = frozenset({"RUN_TERMINATED"})

    def _judge(self, last: Envelope, said: Said) -> None:
        try:
            record = audit_record([env for env, is_idle in said if not is_idle])
        except Exception as exc:
            # A tampered run may ask for anything; it must not end the verification.
            self._findings.add(last.seq, "arena", "11", f"there is no audit record of the run: {exc}")
            return
        for one in check(record).checks:
            if not one.is_passed:
                shown = "; ".join(one.evidence[:MOST_EVIDENCE])
                self._findings.add(last.seq, "arena", one.rule, f"check {one.number}, {one.title}: {shown}")
