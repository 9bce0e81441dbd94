"""Runs of the Arena: the audit record of each that ended, judged by the conformance checker and a second opinion."""

from __future__ import annotations

from typing import Final

from moot.verify.report import Findings
from moot.verify.second_arena import SecondArena
from protocols.arena.conformance import check
from protocols.arena.messages import ArenaTask, RunTerminated
from protocols.arena.record import audit_record
from protocols.kernel.effects import Effects
from protocols.kernel.envelope import Envelope

MOST_EVIDENCE: Final = 2
"""So much of what a failed check shows is told; `moot arena conformance` tells all."""

REMARKS: Final = frozenset({"VIOLATION", "AUDIT", "NOTE", "TIMEOUT_PING"})
"""What stands beside the messages of a run and moves nothing."""


class Runs:
    """Keeps the messages of runs that are open, and judges a run when it ends.

    A log without runs costs one look-up a message.
    """

    def __init__(self, findings: Findings) -> None:
        """Start with no run."""
        self._findings = findings
        self._open: dict[str, list[tuple[Envelope, bool]]] = {}

    def __len__(self) -> int:
        """Return how many runs are open."""
        return len(self._open)

    def take(self, env: Envelope, fx: Effects | None) -> None:
        """Take in a message.

        Args:
            env: The message.
            fx: What it changed; None when it could not be folded.
        """
        if env.case_id not in self._open and not isinstance(env.body, ArenaTask):
            return
        is_idle = fx is not None and (fx.violation is not None or fx.superseded)
        if isinstance(env.body, ArenaTask):
            if not is_idle:
                self._open[env.body.run_id] = [(env, False)]
            return
        run_id = env.case_id or ""
        self._open[run_id].append((env, is_idle))
        if isinstance(env.body, RunTerminated) and not is_idle:
            self._judge(env, self._open.pop(run_id))

    def _judge(self, last: Envelope, said: list[tuple[Envelope, bool]]) -> None:
        why = SecondArena(unstruck(said)).judge()
        if why:
            self._findings.add(last.seq, "arena", "5.1", why)
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


def unstruck(said: list[tuple[Envelope, bool]]) -> list[Envelope]:
    """Return what no VIOLATION stands beside.

    For what came just before the run's end it may stand after that: there the docket is believed (K10).
    """
    struck = {env.body.of_seq for env, _ in said if env.body.type == "VIOLATION"}  # type: ignore[attr-defined]
    *before, (last, _) = said
    while before and (before[-1][1] or before[-1][0].body.type in REMARKS):
        before.pop()
    return [*(env for env, _ in before if env.seq not in struck), last]
