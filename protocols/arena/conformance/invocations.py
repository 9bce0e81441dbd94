"""Invocations that a record tells besides the required events: each seat got what section 6 says, each time."""

from __future__ import annotations

from moot.protocols.arena.conformance.report import Findings, show
from moot.protocols.arena.conformance.texts import texts_in
from moot.protocols.arena.conformance.walk import Place, Walk


def check_invocations(walk: Walk, found: Findings) -> None:
    """Check that all are told once any is, and what they hand over."""
    if walk.is_telling:
        _check_counts(walk, found)
    for place in walk.of_type("PLANNER_INVOKED"):
        _check_planner(walk, place, found)
    for place in walk.of_type("FINALIZER_INVOKED"):
        _check_finalizer(walk, place, found)
    for place in walk.of_type("RELEVANCE_FILTERED"):
        _check_filtered(place, found)
    for place in walk.of_type("REVIEW_WARNING"):
        said = walk.rounds.get(place.round_index)
        if (
            place.event.data.get("code") == "APPROVED_WITHOUT_RATIONALE"
            and said
            and said.verdict != "APPROVED"
        ):
            found.wrong(place.path, f"round {place.round_index} was not approved")


def _check_counts(walk: Walk, found: Findings) -> None:
    planned = len(walk.of_type("PLANNER_INVOKED"))
    if planned != walk.drafts:
        found.wrong("events", f"tell {planned} PLANNER_INVOKED, and {walk.drafts} rounds were begun (6.6)")
    for visit in walk.visits:
        n = visit.round_index
        told = sum(place.type == "REVIEWER_INVOKED" for place in walk.in_review.get(n, ()))
        retried = sum(place.type == "REVIEWER_RETRIED" for place in walk.in_review.get(n, ()))
        if told != 1 + retried or told < len(walk.rows.get(n, ())):
            found.wrong(
                "events", f"tell {told} REVIEWER_INVOKED in round {n}, which had {1 + retried} passes (6.8)"
            )
    finalized = len(walk.of_type("FINALIZER_INVOKED"))
    is_due = (
        any(step.target == "FINALIZING" for step in walk.reading.transitions)
        or bool(walk.reading.final_output)
        or any(hook.phase == "after" and hook.status != "SKIPPED_DISABLED" for hook in walk.reading.hooks)
    )
    if finalized > 1 or (is_due and not finalized):
        found.wrong("events", f"tell {finalized} FINALIZER_INVOKED (6.15)")


def _check_planner(walk: Walk, place: Place, found: Findings) -> None:
    """Check that the Planner got the critiques and the evidence so far (6.6)."""
    data = place.event.data
    critiques = [said.review_ref for said in walk.reading.rounds if said.index < place.round_index]
    if data.get("prior_critiques", critiques) != critiques:
        found.wrong(
            f"{place.path}.data.prior_critiques", f"are not the {len(critiques)} reviews before this round"
        )
    if "evidence_refs" not in data:
        return
    before = [
        hook
        for hook, told in zip(walk.reading.hooks, walk.of_type("HOOK_EXECUTED"), strict=False)
        if told.index < place.index
    ]
    every = {ref for hook in before for ref in hook.evidence_refs}
    needed = {ref for hook in before if hook.status == "SUCCESS" for ref in hook.evidence_refs}
    refs = data["evidence_refs"]
    is_list = isinstance(refs, list | tuple) and all(isinstance(ref, str) for ref in refs)
    if not is_list or not set(refs) <= every or (walk.is_telling and not needed <= set(refs)):
        found.wrong(
            f"{place.path}.data.evidence_refs", f"are not the evidence so far ({len(needed)} references)"
        )


def _check_finalizer(walk: Walk, place: Place, found: Findings) -> None:
    """Check that the Finalizer knew what it was asked for, and at the cap what is unresolved (9.3, T03)."""
    data = place.event.data
    is_best_effort = place.state == "REVISING"
    if data.get("is_best_effort", is_best_effort) is not is_best_effort:
        found.wrong(
            f"{place.path}.data.is_best_effort", f"is {show(data['is_best_effort'])} in {show(place.state)}"
        )
    cap = walk.reading.field("config", "max_rounds")
    if is_best_effort and place.round_index != cap:
        found.wrong(
            place.path,
            f"the Finalizer is invoked in {show(place.state)} after round {place.round_index} of {show(cap)}",
        )
    if not isinstance(data.get("unresolved", []), list | tuple):
        found.wrong(f"{place.path}.data.unresolved", f"is no list but {show(data['unresolved'])}")
    said = walk.rounds.get(place.round_index)
    if not is_best_effort or said is None or "unresolved" not in data:
        return
    told = set(texts_in(data["unresolved"]))
    known = set(texts_in([round_.issues for round_ in walk.reading.rounds]))
    for entry in data["unresolved"] if isinstance(data["unresolved"], list | tuple) else ():
        issue_id = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(issue_id, str) and issue_id not in known:
            found.wrong(f"{place.path}.data.unresolved", f"{show(issue_id)} is no issue of any round")
    for issue in said.issues:
        if isinstance(issue, dict) and issue.get("kind") != "evidence":
            for key in ("id", "text"):
                if isinstance(issue.get(key), str) and issue[key] not in told:
                    found.wrong(
                        f"{place.path}.data.unresolved", f"lacks the {key} of issue {show(issue.get('id'))}"
                    )


def _check_filtered(place: Place, found: Findings) -> None:
    """Check that the filter says what it removed and why (R-A9)."""
    removed = place.event.data.get("removed", ())
    is_list = isinstance(removed, list | tuple)
    if not is_list or not all(
        isinstance(one, dict) and one.get("category") and one.get("rule") for one in removed
    ):
        found.wrong(f"{place.path}.data.removed", "does not say what was removed and by which rule (R-A9)")
