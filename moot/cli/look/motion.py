"""How a motion reads in a terminal: what it came to, and the objections that stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from moot.cli.output import print_hanging

if TYPE_CHECKING:
    from rich.console import Console

LABEL: Final = 12
"""Columns of the labels on the left."""

MOST_TEXT: Final = 600
"""Of a text so much is shown; the log has all of it."""

COLOURS: Final = {"UPHELD": "green", "REJECTED": "red"}
"""Of outcomes; the others are yellow."""


def print_outcome(target: Console, record: Mapping[str, Any]) -> None:
    """Print what a motion came to, with whose word it is.

    Args:
        target: Where.
        record: As `moot.cases.motion.record` makes it.
    """
    from rich.text import Text

    from moot.channels.showing.wording import clean, number
    from moot.protocols.authorship import summary

    def row(label: str, *said: str | tuple[str, str]) -> None:
        print_hanging(target, Text(f"{label:<{LABEL}}", "dim"), Text.assemble(*said), LABEL)

    def short(text: str) -> str:
        return clean(text, MOST_TEXT)

    outcome = record["outcome"] or "open"
    row("question", short(record["question"]))
    row("claim", short(record["claim"]) or "none")
    row(
        "outcome",
        (outcome, COLOURS.get(outcome, "yellow")),
        f", {short(record['answer'])}" if record["answer"] else "",
    )
    if record["confidence"] is not None:
        scores = f"for {number(record['for_score'])}, against {number(record['against_score'])}"
        row("confidence", f"{number(record['confidence'])} ({scores})")
        row("because", short(record["reasoning"]))
    standing = [one for one in record["objections"] if one["stands"]]
    for n, one in enumerate(standing):
        how = (
            "conceded"
            if one["is_conceded"]
            else "not answered"
            if not one["answer"]
            else "answered, and stands"
        )
        row("" if n else "objections", f"{one['number']} {one['severity']}, {how}: {short(one['text'])}")
    if not standing:
        row("objections", "none stands" if record["objections"] else "none was raised")
    if record["written_by"]:
        row("by", summary(record["written_by"]))
