"""The notebook's hooks: what is asked before, during and after the loop, and what an answer leads to (8, 9.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from moot.protocols.arena import reasons
from moot.protocols.arena.cleaning import Told, cleaned, quoted
from moot.protocols.arena.contracts import HookStatus, NotebookHookResult, Phase
from moot.protocols.arena.course import begun
from moot.protocols.arena.endings import failed
from moot.protocols.arena.messages import HookResult
from moot.protocols.arena.state import RunState
from moot.protocols.arena.trail import HookRun, Notes, all_left_out
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Exactly, Figures
from moot.protocols.kernel.steps import Effect, Owe, RuleInput

SKIPPED, DEGRADED, FAILED = "SKIPPED_DISABLED", "SKIPPED_DEGRADED", "FAILED"


class Hook(NamedTuple):
    """A place where the notebook is consulted.

    Attributes:
        phase: When.
        asks: What its query is for, in any case.
        then: The step that comes next; "": the first round begins.
    """

    phase: Phase
    asks: str
    then: str = ""

    def query(self, state: RunState) -> str:
        """Return what it asks in any case: for the context of the task, its claims, its drift (8)."""
        return f"{self.asks} {state.task_id}: {state.prompt[:300]}"

    def figures(self, _state: RunState, _given: RuleInput) -> Figures:
        """Hold an answer to the phase of the hook."""
        return {"phase": Exactly(self.phase, f"this is the hook {self.phase} the loop")}

    def told(self, state: RunState, given: RuleInput) -> Effect:
        """Take what a hook of the notebook found.

        Raises:
            Violation: It says what its place does not allow.
        """
        failure = FAILED if state.is_required else DEGRADED
        _check(given.body, failure)
        told: Told = {}
        # What is asked and found goes into the record (R-A9).
        body: HookResult = cleaned(
            given.body, f"{self.phase}-hook-{state.round_index}", told, given.context.version
        )
        notes = all_left_out(told)
        if body.status != "SUCCESS":
            return self._without(state, body.query, body.why or "the notebook failed", notes)
        changes: dict[str, Any] = {"evidence": _joined(state.evidence, body.evidence_refs)}
        if self.phase == "during":
            # A retried review is of the same draft: what the first pass consulted and found stays on the table.
            changes["consulted"] = _joined(state.consulted, body.evidence_refs)
            changes["findings"] = _joined(state.findings, body.findings)
        run = self._run(state, body.query, "SUCCESS", "", body.evidence_refs)
        return self._after(state, "the notebook has seeded the context", (*notes, run), changes)

    def missed(self, state: RunState, given: RuleInput) -> Effect:
        """A seat that does not tell leaves the run without the notebook (9.4)."""
        assert given.due is not None
        why = f"the {given.due.seat.capitalize()} was silent (timeout)"
        return self._without(state, self.query(state), why)

    def _without(self, state: RunState, query: str, why: str, notes: Notes = ()) -> Effect:
        """Go on without the notebook, or fail when the task requires it (9.4, R-A3)."""
        why = quoted(why)
        run = self._run(state, query, FAILED if state.is_required else DEGRADED, why)  # type: ignore[arg-type]
        notes = (*notes, run)
        if state.is_required:
            sentence = f"the task requires the notebook, and {self.phase} the loop {why}"
            return failed(reasons.NOTEBOOK, sentence, notes)
        return self._after(state, f"degraded: {why}", notes, {})

    def _after(self, state: RunState, reason: str, notes: Notes, changes: Mapping[str, Any]) -> Effect:
        if not self.then:
            return begun(state, reason, notes, changes)
        return Effect(changes, owe=(Owe(self.then),), notes=notes)

    def _run(
        self, state: RunState, query: str, status: HookStatus, why: str, refs: tuple[str, ...] = ()
    ) -> HookRun:
        n = state.round_index
        result = NotebookHookResult(phase=self.phase, query=query, evidence_refs=refs, status=status)
        return HookRun(result, n, state.attempt if self.phase == "during" else min(n, 1), why)


BEFORE: Final = Hook("before", "context of")
DURING: Final = Hook("during", "evidence on the claims of", "review")
AFTER: Final = Hook("after", "drift from", "final/approved")
AFTER_CAP: Final = AFTER._replace(then="final/cap")


def _check(body: HookResult, failure: str) -> None:
    if body.status not in ("SUCCESS", failure):
        raise Violation("9.4", f"is SUCCESS or {failure} here", field="status")
    if not all(ref.strip() for ref in body.evidence_refs):
        raise Violation("8.2", "a reference that is blank leads nowhere", field="evidence_refs")
    if not body.query.strip():
        raise Violation("8", "is blank: a hook asks at least one question", field="query")
    if unknown := [one.evidence_ref for one in body.findings if one.evidence_ref not in body.evidence_refs]:
        raise Violation("8.2", f"{unknown[0]} is not among the evidence", field="findings")
    if body.status != "SUCCESS" and body.evidence_refs:
        raise Violation("9.4", "a notebook that failed has given no evidence", field="evidence_refs")


def _joined(before: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*before, *more)))


def skipped() -> Notes:
    """Note the three hooks that a disabled notebook spares (R-A6)."""
    phases: tuple[Phase, ...] = ("before", "during", "after")
    return tuple(
        [
            HookRun(
                NotebookHookResult(phase=phase, query="", evidence_refs=(), status="SKIPPED_DISABLED"),
                0,
                0,
                "the notebook is disabled",
            )
            for phase in phases
        ]
    )
