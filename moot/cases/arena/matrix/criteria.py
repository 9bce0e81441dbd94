"""The criteria of the matrix on path, rounds and parser: each looks at an audit record and says what it saw."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Record = Mapping[str, Any]
Seen = tuple[bool, str]
"""Whether it holds, and what was seen."""


class Criterion(NamedTuple):
    """A sentence of the matrix and how a record is held against it.

    Attributes:
        text: What is asked.
        source: Where: `3` for the scenario table, `4` for its detailed assertions, a ruling or a section.
        see: Looks at a record.
    """

    text: str
    source: str
    see: Callable[[Record], Seen]


# ---------------------------------------------------------------- what a record says


def events(record: Record, *kinds: str) -> list[dict[str, Any]]:
    """Return the data of the events of these types, in order."""
    return [event["data"] for event in record["events"] if event["type"] in kinds]


def steps(record: Record) -> list[tuple[str, str]]:
    """Return the transitions, as (from, to)."""
    return [(step["from"], step["to"]) for step in record["transitions"]]


def path(record: Record) -> tuple[str, ...]:
    """Return the states of a run in their order."""
    taken = steps(record)
    return (taken[0][0], *(to for _, to in taken)) if taken else ()


def verdicts(record: Record) -> list[str]:
    """Return the verdict of each round."""
    return [one["verdict"] for one in record["rounds"]]


def unresolved(record: Record, round_index: int) -> list[str]:
    """Return the ids of what a round left to be resolved."""
    return [
        issue["id"]
        for one in record["rounds"]
        if one["round_index"] == round_index
        for issue in one["issues"]
        if issue["kind"] != "evidence"
    ]


# ---------------------------------------------------------------- how it went


def ends_in(state: str, code: str) -> Callable[[Record], Seen]:
    """It ends in a state for a reason with a code."""

    def see(record: Record) -> Seen:
        reason = str(record["terminal_reason"])
        return record["terminal_state"] == state and reason.startswith(f"{code}: "), reason

    return see


def reason_has(text: str) -> Callable[[Record], Seen]:
    """The terminal reason contains a text."""
    return lambda record: (text in str(record["terminal_reason"]), str(record["terminal_reason"]))


def rounds_say(*wanted: str) -> Callable[[Record], Seen]:
    """The rounds are numbered from 1 and have these verdicts."""

    def see(record: Record) -> Seen:
        numbers = [one["round_index"] for one in record["rounds"]]
        is_right = verdicts(record) == [*wanted] and numbers == [*range(1, len(wanted) + 1)]
        return is_right, ", ".join(
            f"{n} {v}" for n, v in zip(numbers, verdicts(record), strict=True)
        ) or "no round"

    return see


def times(kind: str, n: int, **of: Any) -> Callable[[Record], Seen]:
    """An event happens so many times with this data."""

    def see(record: Record) -> Seen:
        found = [data for data in events(record, kind) if all(data.get(key) == of[key] for key in of)]
        return len(found) == n, f"{len(found)} × {kind}"

    return see


def takes(before: str, after: str, *, ahead_of: str) -> Callable[[Record], Seen]:
    """A transition happens before a state is entered."""

    def see(record: Record) -> Seen:
        taken = steps(record)
        entered = [n for n, (_, to) in enumerate(taken) if to == ahead_of]
        found = (before, after) in taken[: entered[0]] if entered else False
        return found, f"{before} → {after} " + ("comes first" if found else f"is not before {ahead_of}")

    return see


def leaves_reviewing_for(*wanted: str) -> Callable[[Record], Seen]:
    """The reviews lead to these states, one a round."""

    def see(record: Record) -> Seen:
        found = [to for source, to in steps(record) if source == "REVIEWING"]
        return found == [*wanted], f"REVIEWING → {', '.join(found)}"

    return see


def stops_at(n: int) -> Callable[[Record], Seen]:
    """Planner and Reviewer are invoked in rounds 1 to n and not once more."""

    def see(record: Record) -> Seen:
        wanted = [*range(1, n + 1)]
        asked = [
            [data["round_index"] for data in events(record, f"{seat}_INVOKED")]
            for seat in ("PLANNER", "REVIEWER")
        ]
        recorded = [one["round_index"] for one in record["rounds"]]
        cap = record["config"]["max_rounds"]
        return asked == [
            wanted,
            wanted,
        ] and recorded == wanted and cap == n, f"rounds {recorded} at max_rounds {cap}"

    return see


def critique_is_applied(record: Record) -> Seen:
    """Each revision is asked for with all critiques so far, and changes the draft."""
    reviews = [one["reviewer_output_ref"] for one in record["rounds"]]
    for n, data in enumerate(events(record, "PLANNER_INVOKED")):
        if data["prior_critiques"] != reviews[:n] or not all(
            ref in record["artifacts"] for ref in reviews[:n]
        ):
            return False, f"round {n + 1}: the Planner was given {data['prior_critiques']}"
    drafts = [one["planner_output_ref"].split("/sha256:")[-1] for one in record["rounds"]]
    if len(set(drafts)) != len(drafts):
        return False, "a revision repeats a draft"
    return True, f"round {len(drafts)} was drafted with {len(reviews) - 1} critiques"


def notice_is_given(record: Record) -> Seen:
    """The Finalizer is told what the last round left unresolved."""
    told = events(record, "FINALIZER_INVOKED")
    last = len(record["rounds"])
    if len(told) != 1 or not told[0]["is_best_effort"]:
        return False, f"the Finalizer was invoked {len(told)} times for a best effort"
    ids = [one["id"] for one in told[0]["unresolved"]]
    return bool(ids) and ids == unresolved(record, last), f"unresolved: {', '.join(ids) or 'nothing'}"


# ---------------------------------------------------------------- the parser


def parsed_as(*wanted: str | None) -> Callable[[Record], Seen]:
    """The reviews, retries included, were parsed so, each once."""

    def see(record: Record) -> Seen:
        found = [one["verdict"] for one in record["parser"]]
        return found == [*wanted], f"parsed: {', '.join(map(str, found)) or 'nothing'}"

    return see


def codes_are(*wanted: str | None) -> Callable[[Record], Seen]:
    """The parser warned or failed so, and the events tell the same."""

    def see(record: Record) -> Seen:
        found = [one["code"] for one in record["parser"]]
        told = [data["code"] for data in events(record, "PARSER_WARNING", "PARSER_ERROR")]
        is_right = found == [*wanted] and told == [code for code in wanted if code]
        return is_right, f"parser: {', '.join(str(code or 'no code') for code in found)}"

    return see


def last_line_decides(record: Record) -> Seen:
    """Of the first review's verdict lines the last one was taken."""
    first = record["parser"][0]
    lines = re.split(r"\r\n|\r|\n", record["artifacts"][first["output_ref"]])
    marked = [n for n, line in enumerate(lines, 1) if line.strip().upper().startswith("VERDICT:")]
    word = lines[marked[-1] - 1].split(":")[1].strip() if marked else ""
    is_last = first["line"] == marked[-1] and first["verdict"] == word if marked else False
    return len(marked) > 1 and is_last, f"lines {marked}: line {first['line']} counts, {first['verdict']}"


def prose_follows(record: Record) -> Seen:
    """Text stands below the verdict line of the first review."""
    first = record["parser"][0]
    lines = re.split(r"\r\n|\r|\n", record["artifacts"][first["output_ref"]])
    below = [line for line in lines[first["line"] or len(lines) :] if line.strip()]
    return bool(below), f"{len(below)} lines below line {first['line']}"
