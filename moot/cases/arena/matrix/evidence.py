"""The criteria of the matrix on notebook, session, safety and relevance (T07 to T09, T11, T12)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from moot.cases.arena.matrix.criteria import Record, Seen, events, unresolved
from moot.protocols.arena.reading import is_mentioned

# ---------------------------------------------------------------- the notebook


def hooks_are(**wanted: Sequence[str]) -> Callable[[Record], Seen]:
    """Each phase has these statuses, in order."""

    def see(record: Record) -> Seen:
        found = {
            phase: [hook["status"] for hook in record["hooks"] if hook["phase"] == phase]
            for phase in ("before", "during", "after")
        }
        told = ", ".join(f"{phase} {' '.join(found[phase]) or '(none)'}" for phase in found)
        return all(found[phase] == [*wanted.get(phase, ())] for phase in found), told

    return see


def evidence_is_named(record: Record) -> Seen:
    """Every passage consulted in a round stands in its review or in its issues."""
    for one in record["rounds"]:
        consulted = {
            ref
            for data in events(record, "HOOK_EXECUTED")
            if (data["phase"], data["round_index"]) == ("during", one["round_index"])
            for ref in data["evidence_refs"]
        }
        text = record["artifacts"][one["reviewer_output_ref"]]
        listed = {issue["evidence_ref"] for issue in one["issues"]}
        missing = sorted(ref for ref in consulted if not is_mentioned(ref, text) and ref not in listed)
        if missing or not consulted:
            return False, f"round {one['round_index']}: " + (
                f"{missing} not named" if missing else "no evidence"
            )
    return bool(record["rounds"]), f"{len(record['rounds'])} rounds name their evidence"


def contradiction_is_listed(record: Record) -> Seen:
    """The first round's issues hold a contradiction: a claim of the draft, and evidence that the hook returned."""
    if not record["rounds"]:
        return False, "no round"
    one = record["rounds"][0]
    draft = record["artifacts"][one["planner_output_ref"]]
    consulted = {
        ref for hook in record["hooks"] if hook["phase"] == "during" for ref in hook["evidence_refs"]
    }
    for issue in one["issues"]:
        if (
            issue["kind"] == "contradiction"
            and issue["claim"] in draft
            and issue["evidence_ref"] in consulted
        ):
            return True, f"{issue['id']} {issue['text']}"
    return False, f"issues: {[issue['kind'] for issue in one['issues']]}"


def rationale_is_given(is_given: bool) -> Callable[[Record], Seen]:
    """The approving review has a rationale line, or its lack is warned of."""

    def see(record: Record) -> Seen:
        text = record["artifacts"][record["rounds"][-1]["reviewer_output_ref"]] if record["rounds"] else ""
        found = re.search(r"^RATIONALE: \S", text, re.MULTILINE) is not None
        warned = [data["code"] for data in events(record, "REVIEW_WARNING")]
        is_right = found is is_given and warned == ([] if is_given else ["APPROVED_WITHOUT_RATIONALE"])
        return is_right, f"rationale {'given' if found else 'missing'}, warnings {warned}"

    return see


# ---------------------------------------------------------------- session and safety


def session_goes_on(record: Record) -> Seen:
    """Every review resumes the same session, each from another point than the one before."""
    asked = events(record, "REVIEWER_INVOKED")
    names = {data["session_id"] for data in asked}
    points = [data["resume_ref"] for data in asked]
    is_right = names == {record["task"]["session_id"]} and all(points) and len(set(points)) == len(points)
    resumed = [data["resumed_round"] for data in asked]
    return is_right and resumed == [data["round_index"] - 1 for data in asked], f"resumed rounds {resumed}"


def round_2_knows_round_1(record: Record) -> Seen:
    """Round 2 is reviewed with what round 1 left unresolved, and its review names each of these items."""
    left = unresolved(record, 1)
    asked = [data for data in events(record, "REVIEWER_INVOKED") if data["round_index"] == 2]
    reviewed = [one for one in record["rounds"] if one["round_index"] == 2]
    if not left or not asked or not reviewed:
        return False, f"{len(left)} items, {len(asked)} invocations and {len(reviewed)} records of round 2"
    text = record["artifacts"][reviewed[0]["reviewer_output_ref"]]
    is_right = asked[0]["unresolved"] == left and all(name in text for name in left)
    return is_right, f"round 2 names {', '.join(name for name in left if name in text) or 'none of them'}"


def nothing_is_reviewed(record: Record) -> Seen:
    """No review was kept, parsed or recorded."""
    kept = [ref for ref in record["artifacts"] if "/review" in ref]
    is_right = not (kept or record["parser"] or record["rounds"])
    return (
        is_right,
        f"{len(kept)} reviews kept, {len(record['parser'])} parsed, {len(record['rounds'])} rounds",
    )


def violation_is_told(record: Record) -> Seen:
    """A write of the Reviewer was blocked, and the audit trail says which."""
    found = events(record, "SAFETY_VIOLATION")
    is_right = (
        len(found) == 1 and found[0]["seat"] == "reviewer" and bool(found[0]["tool"] and found[0]["detail"])
    )
    return is_right, "; ".join(f"{one['seat']}, {one['tool']}: {one['detail']}" for one in found) or "none"


def reviewer_is_read_only(record: Record) -> Seen:
    """Every invocation of the Reviewer is read-only."""
    modes = {data["mode"] for data in events(record, "REVIEWER_INVOKED")}
    return modes == {"read-only"}, f"modes {sorted(modes)}"


# ---------------------------------------------------------------- relevance


def texts_of(record: Record) -> list[str]:
    """Return every text of a run that is a protocol artifact: prompt, drafts, reviews, final output."""
    return [record["task"]["initial_prompt"], *record["artifacts"].values(), str(record["final_output"])]


def lacks(lines: Iterable[str]) -> Callable[[Record], Seen]:
    """No artifact holds any of these lines."""
    wanted = [*lines]

    def see(record: Record) -> Seen:
        found = [line for line in wanted if any(line in text for text in texts_of(record))]
        return not found, f"still there: {found}" if found else f"{len(wanted)} lines are gone"

    return see


def keeps(lines: Iterable[str]) -> Callable[[Record], Seen]:
    """Every artifact holds all of these lines."""
    wanted = [*lines]

    def see(record: Record) -> Seen:
        gone = sorted({line for line in wanted for text in texts_of(record) if line not in text})
        return not gone, f"gone: {gone}" if gone else f"{len(wanted)} lines stand"

    return see


def leaks_nothing(secrets: Iterable[str]) -> Callable[[Record], Seen]:
    """None of these secrets stands anywhere in the record."""
    wanted = [*secrets]

    def see(record: Record) -> Seen:
        whole = json.dumps(record, ensure_ascii=False)
        found = sum(secret in whole for secret in wanted)
        return not found, f"{found} of {len(wanted)} secrets are in the record"

    return see


def removal_is_told(categories: Iterable[str]) -> Callable[[Record], Seen]:
    """The audit trail lists what was removed from every artifact, and why.

    Secrets may be gone before the Orchestrator sees a text, for no message carries one; `secrets_are_marked` looks
    for what stands in their place.
    """
    wanted = {*categories}

    def see(record: Record) -> Seen:
        filtered = events(record, "RELEVANCE_FILTERED")
        told = {data["where"]: {one["category"] for one in data["removed"]} for data in filtered}
        places = {"task.initial_prompt", *record["artifacts"]}
        poor = sorted(place for place in places if not told.get(place, set()) >= wanted)
        seen = f"not told of: {poor}" if poor else f"{len(places)} texts, {len(wanted)} categories each"
        return not poor, seen

    return see


def secrets_are_marked(n: int) -> Callable[[Record], Seen]:
    """Every artifact shows where each of so many secrets stood, and of which kind it was."""

    def see(record: Record) -> Seen:
        marks = [len(re.findall(r"\[redacted:[a-z_]+\]", text)) for text in texts_of(record)]
        return all(found == n for found in marks), f"{marks} marks"

    return see


ALL_HOOKS: Final = hooks_are(before=["SUCCESS"], during=["SUCCESS"], after=["SUCCESS"])
"""Before, during and after once each, all well."""
