"""What a case view shows of a motion: what it came to, and every objection with its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot.cases.motion.record import motion_record
from moot.channels.showing.wording import clean, number
from moot.protocols.authorship import summary
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import Minds

MOST_TEXT = 2_000
"""Characters of a text that is shown."""


def motion_tables(said: Sequence[Envelope], outcome: str | None, minds: Minds) -> list[dict[str, Any]]:
    """Show what a motion came to, and its objections with what became of them."""
    try:
        told = motion_record(said, outcome, minds)
    except ValueError:
        return []
    rows = [["claim", clean(told["claim"], 200) or "none yet"]]
    if told["confidence"] is not None:
        answer = f": {clean(told['answer'], 200)}" if told["answer"] else ""
        scores = f"for {number(told['for_score'])}, against {number(told['against_score'])}"
        rows += [
            ["judgment", f"{told['outcome'].lower()}{answer}"],
            ["confidence", f"{number(told['confidence'])} ({scores})"],
            ["because", clean(told["reasoning"], MOST_TEXT)],
        ]
    if told["written_by"]:
        rows.append(["by", summary(told["written_by"])])
    objections = [
        [
            str(one["number"]),
            one["severity"],
            clean(one["text"], MOST_TEXT),
            "conceded" if one["is_conceded"] else clean(one["answer"], MOST_TEXT) or "no answer",
            "stands" if one["stands"] else "–",
        ]
        for one in told["objections"]
    ]
    return [
        {"title": clean(told["question"], 300), "note": "", "head": ["", ""], "rows": rows},
        {
            "title": "Objections",
            "note": "",
            "head": ["", "", "objection", "answer", ""],
            "rows": objections,
            "none": "None was raised.",
        },
    ]
