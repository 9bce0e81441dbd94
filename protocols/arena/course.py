"""The course of a run: what each phase makes a seat owe, and where it leads (section 6)."""

from __future__ import annotations

from moot.protocols.arena import reasons
from moot.protocols.arena.cleaning import Told, cleaned, quoted
from moot.protocols.arena.contracts import NotebookHookResult, Phase, RoundRecord
from moot.protocols.arena.messages import Draft, FinalOutput, HookResult, Review
from moot.protocols.arena.move import Move
from moot.protocols.arena.reading import NOT_LAST, UNREASONED, has_rationale, is_last, issues_of
from moot.protocols.arena.seats import FINALIZER, PLANNER, REVIEWER
from moot.protocols.arena.session import next_ref
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import State
from moot.protocols.arena.verdict import MULTIPLE, parse_verdict
from moot.protocols.kernel.errors import Violation

SKIPPED, DEGRADED, FAILED = "SKIPPED_DISABLED", "SKIPPED_DEGRADED", "FAILED"


def start(m: Move) -> RunState:
    """Leave INIT: seed from the notebook, or draft at once (5.1, R-A6)."""
    if m["is_enabled"]:
        m.to(State.SEEDING, "the notebook is enabled")
        m.owe(PLANNER, "HOOK_RESULT", "before")
        return m.done()
    for phase in ("before", "during", "after"):
        skipped = NotebookHookResult(phase=phase, query="", evidence_refs=(), status=SKIPPED)  # type: ignore[arg-type]
        m.trail.hook(skipped, round_index=0, attempt=0, why="the notebook is disabled")
    return draft(m, "the notebook is disabled")


def draft(m: Move, reason: str) -> RunState:
    """Begin the next round: the Planner gets prompt, critiques and evidence (6.5, 6.6)."""
    m.to(State.DRAFTING, reason)
    n = m["round_index"] + 1
    m.set(round_index=n, attempt=1, consulted=(), findings=())
    m.trail.event(
        "PLANNER_INVOKED", round_index=n, prior_critiques=m["critiques"], evidence_refs=m["evidence"]
    )
    m.owe(PLANNER, "DRAFT", f"draft-{n}")
    return m.done()


def drafted(m: Move, body: Draft) -> RunState:
    """Take the draft of this round (6.7).

    Raises:
        Violation: It is of another round.
    """
    n = m["round_index"]
    if body.round_index != n:
        raise Violation("6", f"this is round {n}", field="round_index")
    ref, text = m.keep(f"round-{n}/draft", body.text)
    if not text.strip():
        return m.fail(reasons.EMPTY_DRAFT, f"the Planner's draft of round {n} is blank")
    m.set(draft_ref=ref)
    m.to(State.REVIEWING, f"the draft of round {n} is there")
    return review(m)


def review(m: Move) -> RunState:
    """Invoke the Reviewer, read-only and in its resumed session; first it consults the notebook (6.8, 8.2)."""
    n, attempt = m["round_index"], m["attempt"]
    m.trail.event(
        "REVIEWER_INVOKED",
        round_index=n,
        attempt=attempt,
        mode="read-only",
        session_id=m["session_id"],
        resume_ref=m["resume_ref"],
        resumed_round=n - 1,
        unresolved=tuple([issue.id for issue in m["issues"]]),
    )
    if m["is_enabled"]:
        m.owe(REVIEWER, "HOOK_RESULT", f"during-{n}-{attempt}")
    else:
        m.owe(REVIEWER, "REVIEW", f"review-{n}-{attempt}")
    return m.done()


def reviewed(m: Move, body: Review) -> RunState:
    """Take a review: parse it, retry once, record the round, go where its verdict leads (6.9 to 6.14).

    Raises:
        Violation: It is of another round or attempt.
    """
    n, attempt = m["round_index"], m["attempt"]
    if (body.round_index, body.attempt) != (n, attempt):
        field = "round_index" if body.round_index != n else "attempt"
        raise Violation("6", f"this is review {attempt} of round {n}", field=field)
    gone = _is_stateless(m, body)
    if gone:
        # What was written without the session is no review of this run: it is not kept (9.5).
        m.trail.event("SESSION_RESUME_MISSING", round_index=n, session_id=m["session_id"], why=quoted(gone))
        return m.fail(reasons.SESSION, gone)
    ref, text = m.keep(f"round-{n}/review-{attempt}", body.text)
    found = parse_verdict(text)
    m.trail.parsed(n, attempt, ref, found)
    m.set(resume_ref=next_ref(m["resume_ref"], ref))
    if found.verdict is None:
        m.trail.event("PARSER_ERROR", code=found.code, round_index=n, attempt=attempt, output_ref=ref)
        if attempt == 2:
            return m.fail(found.code or "", f"neither review of round {n} has a verdict line")
        m.set(attempt=2)
        m.trail.event("REVIEWER_RETRIED", round_index=n, attempt=2)
        return review(m)
    if found.code == MULTIPLE:
        m.trail.event("PARSER_WARNING", code=MULTIPLE, round_index=n, attempt=attempt, matches=found.matches)
    if not is_last(text, found):
        m.trail.event("REVIEW_WARNING", code=NOT_LAST, round_index=n)
    verdict, findings = found.verdict, m["findings"]
    is_contradicted = any(one.stance == "contradicts" for one in findings)
    if verdict == "APPROVED" and is_contradicted and not has_rationale(text):
        m.trail.event("REVIEW_WARNING", code=UNREASONED, round_index=n)
    issues = issues_of(text, verdict, n, m["consulted"], findings)
    m.trail.round(
        RoundRecord(
            round_index=n,
            planner_output_ref=m["draft_ref"],
            reviewer_output_ref=ref,
            verdict=verdict,
            issues=issues,
            timestamp=m.env.sent_at,
        )
    )
    m.set(
        critiques=(*m["critiques"], ref),
        issues=tuple([issue for issue in issues if issue.is_unresolved]),
        rounds=n,
    )
    if verdict == "APPROVED":
        m.to(State.FINALIZING, f"the review of round {n} says APPROVED")
        return finalize(m)
    m.to(State.REVISING, f"the review of round {n} says REVISE")
    if n < m["max_rounds"]:
        return draft(m, f"round {n} of {m['max_rounds']} asks for a revision")
    return finalize(m)


def _is_stateless(m: Move, body: Review) -> str:
    """Say what shows that a review was not written in its resumed session; "" when nothing does (9.5)."""
    if body.session_id != m["session_id"]:
        return f"the review was written in session {body.session_id or '(none)'}, not in {m['session_id']}"
    if body.resume_ref != m["resume_ref"]:
        return f"the review of round {m['round_index']} does not resume session {m['session_id']}"
    if body.unresolved != tuple([issue.id for issue in m["issues"]]):
        return f"the session lacks what round {m['round_index'] - 1} left unresolved"
    return ""


def finalize(m: Move) -> RunState:
    """Invoke the Finalizer: after an approval, or for its best effort at the cap (6.15, 9.3, R-A2)."""
    issues = m["issues"]
    is_best_effort = m.at is State.REVISING
    m.trail.event(
        "FINALIZER_INVOKED",
        is_best_effort=is_best_effort,
        unresolved=tuple([{"id": one.id, "text": one.text} for one in issues]) if is_best_effort else (),
    )
    if m["is_enabled"]:
        m.owe(FINALIZER, "HOOK_RESULT", "after")
    else:
        m.owe(FINALIZER, "FINAL_OUTPUT", "final")
    return m.done()


def finalized(m: Move, body: FinalOutput) -> RunState:
    """Take the final output, and terminate."""
    is_blank = not body.text.strip()
    if not is_blank:
        m.trail.final(m.keep("final", body.text)[1])
    if m.at is State.REVISING:
        return capped(m, "" if not is_blank else ", and the Finalizer's best effort is blank")
    if is_blank:
        return m.fail(reasons.EMPTY_FINAL, "the Finalizer's output is blank")
    n = m["round_index"]
    return m.end(
        State.TERMINATED_APPROVED, reasons.APPROVED, f"approved in round {n}, the final output stands"
    )


def capped(m: Move, more: str = "") -> RunState:
    """Terminate at the cap (9.3)."""
    n = m["max_rounds"]
    return m.end(
        State.TERMINATED_MAX_ROUNDS, reasons.CAPPED, f"round {n} of {n} still asks for a revision{more}"
    )


PHASE_OF: dict[State, Phase] = {
    State.SEEDING: "before",
    State.REVIEWING: "during",
    State.REVISING: "after",
    State.FINALIZING: "after",
}
"""Which hook runs in which state (R-A2, R-A3)."""


def hooked(m: Move, body: HookResult) -> RunState:
    """Take what the notebook said, or that it failed (8, 9.4).

    Raises:
        Violation: It is another phase's, or says what cannot be.
    """
    phase = PHASE_OF[m.at]
    if body.phase != phase:
        raise Violation("8", f"this is the hook {phase} the loop", field="phase")
    failure = FAILED if m["is_required"] else DEGRADED
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
    body = _without_excess(m, body)
    if body.status != "SUCCESS":
        return unavailable(m, body.query, body.why or "the notebook failed")
    _hook(
        m,
        NotebookHookResult(phase=phase, query=body.query, evidence_refs=body.evidence_refs, status="SUCCESS"),
        "",
    )
    m.set(evidence=tuple(dict.fromkeys((*m["evidence"], *body.evidence_refs))))
    if phase == "during":
        # A retried review is of the same draft: what the first pass consulted and found stays on the table.
        m.set(
            consulted=tuple(dict.fromkeys((*m["consulted"], *body.evidence_refs))),
            findings=tuple(dict.fromkeys((*m["findings"], *body.findings))),
        )
    return _after_hook(m, "the notebook has seeded the context")


def _without_excess(m: Move, body: HookResult) -> HookResult:
    """Leave excluded content out of what a hook asked and found: it goes into the record (R-A9)."""
    told: Told = {}
    clean: HookResult = cleaned(body, f"{body.phase}-hook-{m['round_index']}", told)
    for where, removed in told.items():
        m.trail.filtered(where, removed)
    return clean


def unavailable(m: Move, query: str, why: str) -> RunState:
    """Go on without the notebook, or fail when the task requires it (9.4, R-A3)."""
    phase, why = PHASE_OF[m.at], quoted(why)
    status = FAILED if m["is_required"] else DEGRADED
    _hook(m, NotebookHookResult(phase=phase, query=query, evidence_refs=(), status=status), why)  # type: ignore[arg-type]
    if m["is_required"]:
        return m.fail(reasons.NOTEBOOK, f"the task requires the notebook, and {phase} the loop {why}")
    return _after_hook(m, f"degraded: {why}")


def _hook(m: Move, result: NotebookHookResult, why: str) -> None:
    n = m["round_index"]
    m.trail.hook(
        result, round_index=n, attempt=m["attempt"] if result.phase == "during" else min(n, 1), why=why
    )


def _after_hook(m: Move, reason: str) -> RunState:
    if m.at is State.SEEDING:
        return draft(m, reason)
    if m.at is State.REVIEWING:
        m.owe(REVIEWER, "REVIEW", f"review-{m['round_index']}-{m['attempt']}")
    else:
        m.owe(FINALIZER, "FINAL_OUTPUT", "final")
    return m.done()
