"""Issues of rounds (4.6): plain texts are fine; those of Moot's form are whole, numbered, and name their evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any, Final

from moot.protocols.arena.conformance.reading import Round
from moot.protocols.arena.conformance.report import Findings, show
from moot.protocols.arena.conformance.texts import texts_in
from moot.protocols.arena.conformance.walk import Walk
from moot.protocols.arena.conformance.words import PHASES

FIELDS: Final = frozenset({"id", "kind", "text", "claim", "evidence_ref"})
OUR_ID: Final = re.compile(r"r[0-9]{1,3}-[0-9]{1,9}")

NAMES: Final[Mapping[str, frozenset[str]]] = {
    "issue": frozenset(),
    "unnamed": frozenset(),
    "evidence": frozenset({"evidence_ref"}),
    "contradiction": frozenset({"claim", "evidence_ref"}),
}
"""What each kind names besides its text (8.2, R-A10)."""


def check_issues(walk: Walk, found: Findings) -> None:
    """Check that issues say something, and all of them in a record in which one has Moot's form: then all have it."""
    for index, said in enumerate(walk.reading.rounds):
        for at, issue in enumerate(said.issues):
            words = list(issue.values()) if isinstance(issue, dict) else issue
            if not any(text.strip() for text in texts_in(words)):
                found.wrong(f"rounds[{index}].issues[{at}]", f"says nothing: {show(issue)} (4.6)")
    if not any(_is_ours(issue) for said in walk.reading.rounds for issue in said.issues):
        return
    consulted = _consulted(walk)
    for index, said in enumerate(walk.reading.rounds):
        _check_round(f"rounds[{index}].issues", said, consulted.get(said.index, frozenset()), found)


def _is_ours(issue: object) -> bool:
    if not isinstance(issue, dict) or issue.keys() != FIELDS:
        return False
    return isinstance(issue["id"], str) and OUR_ID.fullmatch(issue["id"]) is not None


def _check_round(section: str, said: Round, consulted: Set[str], found: Findings) -> None:
    for at, issue in enumerate(said.issues):
        path = f"{section}[{at}]"
        if not isinstance(issue, dict) or not issue.keys() >= FIELDS:
            found.wrong(path, f"is no issue with {', '.join(sorted(FIELDS))} as the others are")
            continue
        if issue["id"] != f"r{said.index}-{at + 1}":
            found.wrong(f"{path}.id", f"is {show(issue['id'])}, not r{said.index}-{at + 1}")
        _check_issue(path, issue, consulted, found)


def _check_issue(path: str, issue: dict[str, Any], consulted: Set[str], found: Findings) -> None:
    kind, ref = issue["kind"], issue["evidence_ref"]
    names = NAMES.get(kind) if isinstance(kind, str) else None
    if names is None:
        found.wrong(f"{path}.kind", f"is {show(kind)}, none of {', '.join(NAMES)}")
        return
    for key in ("text", *sorted(names)):
        if not isinstance(issue[key], str) or not issue[key].strip():
            found.wrong(
                f"{path}.{key}", f"is {show(issue[key])}, and the issue is of kind {kind} (8.2, R-A10)"
            )
    for key in ("claim", "evidence_ref"):
        if key not in names and issue[key] is not None:
            found.wrong(f"{path}.{key}", f"is {show(issue[key])}, and the issue is of kind {kind}")
    if isinstance(ref, str) and ref not in consulted:
        found.wrong(f"{path}.evidence_ref", f"{show(ref)} was not consulted by then (8.2)")


def _consulted(walk: Walk) -> Mapping[int, Set[str]]:
    """Return for each round the evidence that the hooks had found by then."""
    found: dict[int, Set[str]] = {}
    refs: set[str] = set()
    for hook, told in zip(walk.reading.hooks, walk.of_type("HOOK_EXECUTED"), strict=False):
        if hook.phase in PHASES[:2]:
            refs.update(hook.evidence_refs)
            found[told.round_index] = frozenset(refs)
    return found
