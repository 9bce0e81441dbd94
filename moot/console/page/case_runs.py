"""What a case view shows of a run of the Arena: the rounds side by side, and the conformance checks."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Final

from moot.channels.showing.wording import clean
from moot.protocols.arena.conformance.checker import check
from moot.protocols.arena.record import audit_record
from moot.protocols.authorship import label
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import ProtocolError
from moot.protocols.kernel.minds import Minds

MOST_LINES: Final = 400
"""Lines of a draft that are compared and shown."""

MOST_TEXT: Final = 20_000
"""Characters of a text that is shown whole."""


def rounds_of(said: Sequence[Envelope], minds: Minds) -> list[dict[str, Any]]:
    """Set each draft beside its review, with what changed since the draft before, and whose word they are."""
    found: list[dict[str, Any]] = []
    before: list[str] = []
    reviews = {
        int(body.get("round_index") or 0): (str(body.get("text", "")), _by(env, minds))
        for env in said
        if env.body.type == "REVIEW" and (body := env.body.model_dump())
    }
    for envelope in said:
        body = envelope.body.model_dump()
        is_final = envelope.body.type == "FINAL_OUTPUT"
        if envelope.body.type != "DRAFT" and not is_final:
            continue
        lines = str(body.get("text", ""))[:MOST_TEXT].splitlines()[:MOST_LINES]
        n = int(body.get("round_index") or 0)
        review, reviewed_by = reviews.get(n, ("Not reviewed yet.", ""))
        found.append(
            {
                "title": "Final output" if is_final else f"Round {n}",
                "left": ("Draft" if not before else "What changed since the draft before")
                + _by(envelope, minds),
                "right": "" if is_final else f"Review{reviewed_by}",
                "lines": changes(before, lines),
                "text": "" if is_final else review[:MOST_TEXT],
            }
        )
        before = lines
    return found


def _by(envelope: Envelope, minds: Minds) -> str:
    shown = label(envelope, minds)
    return f" ({shown})" if shown else ""


def changes(before: Sequence[str], after: Sequence[str]) -> list[list[str]]:
    """Return the lines of a text, each with `add`, `del` or "" for how it differs from the one before."""
    if not before:
        return [["", line] for line in after]
    kinds = {"+ ": "add", "- ": "del", "  ": ""}
    return [[kinds[line[:2]], line[2:]] for line in difflib.ndiff(before, after) if line[:2] in kinds]


def conformance_tables(
    said: Sequence[Envelope], versions: Sequence[tuple[int, str]], *, is_over: bool
) -> list[dict[str, Any]]:
    """Show the thirteen checks of a run that is over, by the rules versions of its log."""
    if not is_over:
        return []
    try:
        found = check(audit_record(said, versions=versions))
    except (ValueError, ProtocolError):
        return []
    rows = [
        [str(one.number), "pass" if one.is_passed else "fail", one.title, clean("; ".join(one.evidence), 400)]
        for one in found.checks
    ]
    passed = sum(one.is_passed for one in found.checks)
    note = f"{found.level}: {passed} of {len(rows)} checks pass."
    return [{"title": "Conformance", "note": note, "head": ["", "", "check", "what was seen"], "rows": rows}]
