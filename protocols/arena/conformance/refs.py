"""References of a record: each leads to an artifact, and a reference that holds a digest tells the truth."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from moot.protocols.arena.conformance.report import Findings, show
from moot.protocols.arena.conformance.walk import Walk

DIGEST: Final = re.compile(r"sha256:([0-9a-fA-F]{64})(?![0-9a-zA-Z])")
_CLAIM: Final = "sha256:"
_PLACE: Final = re.compile(r"round-([0-9]{1,3})/(draft|review-([0-9]{1,3}))/")
_FINAL: Final = "final/"


def check_refs(walk: Walk, found: Findings) -> None:
    """Check the references of rounds, parser and events, and the digests of artifacts."""
    reading = walk.reading
    for path, ref, wanted in _references(walk):
        if ref not in reading.artifacts:
            found.wrong(path, f"{show(ref)} is no artifact")
        place = _PLACE.match(ref)
        if place is not None and wanted and place[0] != wanted:
            found.wrong(path, f"{show(ref)} is that of {place[0][:-1]}, not of {wanted[:-1]}")
    for ref, text in reading.artifacts.items():
        if _CLAIM not in ref:
            continue
        said = DIGEST.search(ref)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if said is None or said[1].lower() != digest:
            found.wrong(
                f"artifacts[{show(ref)}]", "its text does not have the digest that its reference tells"
            )
    for index, round_ in enumerate(reading.rounds):
        if not reading.artifacts.get(round_.draft_ref, "x").strip():
            found.wrong(
                f"rounds[{index}].planner_output_ref", "leads to a blank draft, which was reviewed (5.1)"
            )
    _check_kept(walk, found)


def _references(walk: Walk) -> Iterator[tuple[str, str, str]]:
    """Yield where a reference stands, the reference, and how it begins if it is one of Moot's."""
    for index, said in enumerate(walk.reading.rounds):
        rows = walk.rows.get(said.index, ())
        yield f"rounds[{index}].planner_output_ref", said.draft_ref, f"round-{said.index}/draft/"
        attempt = rows[-1].attempt if rows else 1
        yield f"rounds[{index}].reviewer_output_ref", said.review_ref, f"round-{said.index}/review-{attempt}/"
    for index, row in enumerate(walk.reading.parser):
        yield f"parser[{index}].output_ref", row.output_ref, f"round-{row.round_index}/review-{row.attempt}/"
    for place in walk.of_type("RELEVANCE_FILTERED"):
        where = place.event.data.get("where")
        if isinstance(where, str) and _CLAIM in where:
            yield f"{place.path}.data.where", where, ""


def _check_kept(walk: Walk, found: Findings) -> None:
    """Check that no two outputs share a reference, and that what is named as Moot names it is whole."""
    reading = walk.reading
    named = [found_ for found_ in map(_PLACE.match, reading.artifacts) if found_ is not None]
    drafts = {int(place[1]) for place in named if place[2] == "draft"}
    if walk.visits and not reading.artifacts:
        found.wrong("artifacts", "are empty, and a draft was reviewed (5.1, 6.7)")
    if named:
        for visit in walk.visits:
            if visit.round_index not in drafts:
                found.wrong(
                    "artifacts", f"lack the draft of round {visit.round_index}, which was reviewed (5.1)"
                )
    for ref, text in reading.artifacts.items():
        if ref.startswith(_FINAL) and text != reading.final_output:
            found.wrong("final_output", f"is not the text of {show(ref)}")
    _check_shared(walk, found)


def _check_shared(walk: Walk, found: Findings) -> None:
    """Check that two outputs share a reference only where they say the same, as where a reference is a digest.

    Who points at the wrong output leaves another one that nothing points at. The drafts of rounds that were never
    recorded are such outputs, too.
    """
    reading = walk.reading
    refs = [said.draft_ref for said in reading.rounds] + [row.output_ref for row in reading.parser]
    known = set(refs)
    left = [
        ref for ref, text in reading.artifacts.items() if ref not in known and text != reading.final_output
    ]
    if len(known) != len(refs) and len(left) > max(walk.drafts - len(reading.rounds), 0):
        found.wrong("rounds", f"two outputs share one reference, and nothing refers to {show(left[0])}")
