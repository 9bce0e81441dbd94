"""The round algorithm of section 6: drafts, reviews and the final output, and where each leads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.protocols.arena import reasons
from moot.protocols.arena.cleaning import quoted
from moot.protocols.arena.contracts import RoundRecord, Verdict
from moot.protocols.arena.endings import failed, over
from moot.protocols.arena.messages import Review
from moot.protocols.arena.reading import NOT_LAST, UNREASONED, has_rationale, is_last, issues_of
from moot.protocols.arena.session import next_ref
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import State
from moot.protocols.arena.trail import Entered, Event, Notes, Output, ReviewRead, event, kept
from moot.protocols.arena.verdict import MULTIPLE, Parsed, parse_verdict
from moot.protocols.kernel.figures import Exactly, Figures
from moot.protocols.kernel.steps import Effect, Owe, RuleInput

Changes = Mapping[str, Any]


def begun(state: RunState, reason: str, notes: Notes = (), changes: Changes | None = None) -> Effect:
    """Begin the next round: the Planner gets prompt, critiques and evidence (6.5, 6.6)."""
    changes = changes or {}
    n = state.round_index + 1
    invoked = event(
        "PLANNER_INVOKED",
        round_index=n,
        prior_critiques=state.critiques,
        evidence_refs=changes.get("evidence", state.evidence),
    )
    fresh = {"round_index": n, "attempt": 1, "consulted": (), "findings": ()}
    entered = Entered(State.DRAFTING, reason)
    return Effect({**changes, **fresh}, State.DRAFTING, notes=(*notes, entered, invoked))


def revised(state: RunState, _given: RuleInput) -> Effect:
    """As long as rounds are left, a revision begins the next one (6.13)."""
    return begun(state, f"round {state.rounds} of {state.max_rounds} asks for a revision")


def draft_figures(state: RunState, _given: RuleInput) -> Figures:
    """Hold a draft to its round."""
    n = state.round_index
    return {"round_index": Exactly(n, f"this is round {n}")}


def drafted(state: RunState, given: RuleInput) -> Effect:
    """Take the draft of this round (6.7); a blank one ends the run."""
    n = state.round_index
    draft, notes = kept(f"round-{n}/draft", given.body.text, given.context.version)
    if not draft.text.strip():
        return failed(reasons.EMPTY_DRAFT, f"the Planner's draft of round {n} is blank", notes)
    entered = Entered(State.REVIEWING, f"the draft of round {n} is there")
    invoked = _reviewer(state, state.attempt, state.resume_ref)
    return Effect({"draft_ref": draft.ref}, State.REVIEWING, notes=(*notes, entered, invoked))


def _reviewer(state: RunState, attempt: int, resume_ref: str) -> Event:
    """Note that the Reviewer is invoked, read-only and in its resumed session (6.8)."""
    n = state.round_index
    return event(
        "REVIEWER_INVOKED",
        round_index=n,
        attempt=attempt,
        mode="read-only",
        session_id=state.session_id,
        resume_ref=resume_ref,
        resumed_round=n - 1,
        unresolved=state.unresolved,
    )


def review_figures(state: RunState, _given: RuleInput) -> Figures:
    """Hold a review to its round and attempt."""
    why = f"this is review {state.attempt} of round {state.round_index}"
    return {"round_index": Exactly(state.round_index, why), "attempt": Exactly(state.attempt, why)}


def reviewed(state: RunState, given: RuleInput) -> Effect:
    """Take a review: parse it, and go where its verdict leads (6.9 to 6.14)."""
    n, body = state.round_index, given.body
    gone = _is_stateless(state, body)
    if gone:
        # What was written without the session is no review of this run: it is not kept (9.5).
        why = quoted(gone)
        told = event("SESSION_RESUME_MISSING", round_index=n, session_id=state.session_id, why=why)
        return failed(reasons.SESSION, gone, (told,))
    review, notes = kept(f"round-{n}/review-{state.attempt}", body.text, given.context.version)
    found = parse_verdict(review.text)
    notes = (*notes, ReviewRead(n, state.attempt, review.ref, found))
    resume_ref = next_ref(state.resume_ref, review.ref)
    if found.verdict is None:
        return _retried(state, found, review.ref, resume_ref, notes)
    issues = issues_of(review.text, found.verdict, n, state.consulted, state.findings, given.context.version)
    record = RoundRecord(
        round_index=n,
        planner_output_ref=state.draft_ref,
        reviewer_output_ref=review.ref,
        verdict=found.verdict,
        issues=issues,
        timestamp=given.at,
    )
    notes = (*notes, *_warnings(state, review.text, found), record)
    changes = {
        "resume_ref": resume_ref,
        "critiques": (*state.critiques, review.ref),
        "issues": tuple([issue for issue in issues if issue.is_unresolved]),
        "rounds": n,
    }
    return decided(state, found.verdict, changes, notes)


def _is_stateless(state: RunState, body: Review) -> str:
    """Say what shows that a review was not written in its resumed session; "" when nothing does (9.5)."""
    if body.session_id != state.session_id:
        return f"the review was written in session {body.session_id or '(none)'}, not in {state.session_id}"
    if body.resume_ref != state.resume_ref:
        return f"the review of round {state.round_index} does not resume session {state.session_id}"
    if body.unresolved != state.unresolved:
        return f"the session lacks what round {state.round_index - 1} left unresolved"
    return ""


def _retried(state: RunState, found: Parsed, ref: str, resume_ref: str, notes: Notes) -> Effect:
    """Ask once more for a review without a verdict line; a second one ends the run (9.1, R-A1)."""
    n, changes = state.round_index, {"resume_ref": resume_ref}
    error = event("PARSER_ERROR", code=found.code, round_index=n, attempt=state.attempt, output_ref=ref)
    notes = (*notes, error)
    if state.attempt == 2:
        return failed(found.code or "", f"neither review of round {n} has a verdict line", notes, changes)
    again = event("REVIEWER_RETRIED", round_index=n, attempt=2)
    return Effect(
        {**changes, "attempt": 2},
        State.REVIEWING,
        owe=(Owe("during" if state.is_enabled else "review"),),
        notes=(*notes, again, _reviewer(state, 2, resume_ref)),
    )


def _warnings(state: RunState, text: str, found: Parsed) -> Notes:
    """Warn of what is odd about a review whose verdict stands (7.1, 7.3, R-A10)."""
    n, noted = state.round_index, []
    if found.code == MULTIPLE:
        noted.append(
            event(
                "PARSER_WARNING", code=MULTIPLE, round_index=n, attempt=state.attempt, matches=found.matches
            )
        )
    if not is_last(text, found):
        noted.append(event("REVIEW_WARNING", code=NOT_LAST, round_index=n))
    is_contradicted = any(one.stance == "contradicts" for one in state.findings)
    if found.verdict == "APPROVED" and is_contradicted and not has_rationale(text):
        noted.append(event("REVIEW_WARNING", code=UNREASONED, round_index=n))
    return tuple(noted)


def decided(state: RunState, verdict: Verdict, changes: Changes, notes: Notes) -> Effect:
    """Go where the verdict leads: to the Finalizer, at the cap for its best effort (6.12 to 6.15, 9.3, R-A2)."""
    n = state.round_index
    to = State.FINALIZING if verdict == "APPROVED" else State.REVISING
    notes = (*notes, Entered(to, f"the review of round {n} says {verdict}"))
    if verdict == "APPROVED":
        notes = (*notes, event("FINALIZER_INVOKED", is_best_effort=False, unresolved=()))
    elif n == state.max_rounds:
        left = tuple([{"id": one.id, "text": one.text} for one in changes["issues"]])
        notes = (*notes, event("FINALIZER_INVOKED", is_best_effort=True, unresolved=left))
    return Effect(changes, to, notes=notes)


def finalized(state: RunState, given: RuleInput) -> Effect:
    """The final output of an approved plan ends the run (6.15); a blank one is none."""
    notes = _output(given)
    if not notes:
        return failed(reasons.EMPTY_FINAL, "the Finalizer's output is blank")
    sentence = f"approved in round {state.round_index}, the final output stands"
    return over(State.TERMINATED_APPROVED, reasons.APPROVED, sentence, notes)


def best_effort(state: RunState, given: RuleInput) -> Effect:
    """At the cap the run ends with the Finalizer's best effort, or without (9.3, R-A2)."""
    notes = _output(given)
    return _capped(state, "" if notes else ", and the Finalizer's best effort is blank", notes)


def no_effort(state: RunState, _given: RuleInput) -> Effect:
    """At the cap a silent Finalizer changes nothing (R-A2)."""
    return _capped(state, ", and the Finalizer was silent")


def _output(given: RuleInput) -> Notes:
    """Note the final output, nothing of a blank one."""
    text = given.body.text
    if not text.strip():
        return ()
    final, notes = kept("final", text, given.context.version)
    return (*notes, Output(final.text))


def _capped(state: RunState, more: str, notes: Notes = ()) -> Effect:
    n = state.max_rounds
    sentence = f"round {n} of {n} still asks for a revision{more}"
    return over(State.TERMINATED_MAX_ROUNDS, reasons.CAPPED, sentence, notes)
