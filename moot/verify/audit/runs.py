"""Runs of the Arena: the audit record of each that ended, judged by the conformance checker."""

from __future__ import annotations

from typing import Final

from moot.protocols.arena.conformance.checker import check
from moot.protocols.arena.record import audit_record, versions_of
from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.verify.audit.ended import EndedCases, Said
from moot.verify.report import Findings

MOST_EVIDENCE: Final = 2
"""So much of what a failed check shows is told; `moot arena conformance` tells all."""


class Runs(EndedCases):
    """Judges runs of the Arena."""

    opener = "ARENA_TASK"
    ends = frozenset({"RUN_TERMINATED"})

    def __init__(self, findings: Findings) -> None:
        """Start with no run and no rules version."""
        super().__init__(findings)
        self._versions: list[tuple[int, str]] = []

    def take(self, env: Envelope, fx: Effects | None) -> None:
        """Take in a message, and which rules version is in force from it on."""
        self._versions += versions_of((env,))
        super().take(env, fx)

    def _judge(self, last: Envelope, said: Said) -> None:
        try:
            record = audit_record([env for env, is_idle in said if not is_idle], versions=self._versions)
        except Exception as exc:
            # A tampered run may ask for anything; it must not end the verification.
            self._findings.add(last.seq, "arena", "11", f"there is no audit record of the run: {exc}")
            return
        for one in check(record).checks:
            if not one.is_passed:
                shown = "; ".join(one.evidence[:MOST_EVIDENCE])
                self._findings.add(last.seq, "arena", one.rule, f"check {one.number}, {one.title}: {shown}")
