"""How a run of the Arena, its conformance and the matrix read in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from moot.cli.output import heading, plural, print_hanging

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from moot.protocols.arena.conformance.checker import Conformance

LABEL: Final = 10
"""Columns of the labels on the left."""

MOST_LINES: Final = 40
MOST_TEXT: Final = 4000
"""Of a final output so much is shown; the record has all of it."""

WARNINGS: Final = {
    "VERDICT_NOT_LAST": "text follows the verdict line",
    "APPROVED_WITHOUT_RATIONALE": "approved without a RATIONALE line although the evidence contradicts a claim",
}
"""Explanation of each REVIEW_WARNING, by its code."""

MOST_REFS: Final = 3
"""Evidence references that one line names."""

COLOURS: Final = {
    "TERMINATED_APPROVED": "green",
    "TERMINATED_MAX_ROUNDS": "yellow",
    "TERMINATED_ERROR": "red",
    "APPROVED": "green",
    "REVISE": "yellow",
    "SUCCESS": "",
    "FAILED": "red",
    "SKIPPED_DEGRADED": "yellow",
    "SKIPPED_DISABLED": "dim",
}
"""How the words of the protocol look where colours are wanted."""

_BREAK: Final = re.compile(r"\r\n|\r|\n")


def print_account(target: Console, record: Mapping[str, Any]) -> None:
    """Print what happened in a run, from its audit record: path, rounds, notebook, what was noted, how it ended."""
    from rich.text import Text

    from moot.protocols.authorship import labels, summary

    task = record["task"] if isinstance(record["task"], Mapping) else {}
    rounds = record["rounds"]
    cap = record["config"].get("max_rounds") if isinstance(record["config"], Mapping) else None
    target.print(
        heading(
            _plain(str(task.get("task_id") or "a task without an id"), 60),
            f"{plural(len(rounds), 'round')} of at most {cap}" if rounds else "no round was recorded",
        )
    )
    written = record.get("written_by") or {}
    if written:
        _row(target, "by", Text(summary(written)))
    _row(target, "path", path_text(path_of(record)))
    for one in rounds:
        _rows(target, f"round {one['round_index']}", _round(one))
    _rows(target, "notebook", _hooks(record))
    _rows(target, "noted", map(Text, _noted(record["events"])))
    state = record["terminal_state"]
    if state is None:
        _row(target, "end", Text("the run is not over", "dim"))
    else:
        reason = _plain(str(record["terminal_reason"]), 600)
        _row(target, "end", Text(reason, COLOURS.get(state, "")))
    _print_output(target, record["final_output"], labels(written))


def path_of(record: Mapping[str, Any]) -> list[str]:
    """Return the states of a run in their order; INIT alone before its first transition."""
    steps = record["transitions"]
    return [steps[0]["from"], *(step["to"] for step in steps)] if steps else ["INIT"]


def path_text(states: Sequence[str]) -> Text:
    """Write a path of states; the terminal one is coloured."""
    from rich.text import Text

    return Text(" → ", "dim").join(
        Text(state, COLOURS.get(state, "") if state.startswith("TERMINATED") else "") for state in states
    )


def _row(target: Console, label: str, text: Text) -> None:
    from rich.text import Text

    print_hanging(target, Text(f"{label:<{LABEL}}", "dim"), text, LABEL)


def _rows(target: Console, label: str, lines: Iterable[Text]) -> None:
    """Print lines under one label."""
    for n, line in enumerate(lines):
        _row(target, "" if n else label, line)


def _round(one: Mapping[str, Any]) -> Iterator[Text]:
    """Word a round: its verdict, then its issues."""
    from rich.text import Text

    yield Text(one["verdict"], COLOURS.get(one["verdict"], ""))
    for issue in one["issues"]:
        if isinstance(issue, Mapping):
            text, kind = str(issue.get("text")), issue.get("kind")
            # The texts of contradictions and evidence say themselves what they are.
            said = f"issue: {text}" if kind == "issue" else text
            yield Text.assemble((f"{issue.get('id')} ", "dim"), _plain(said, 300))
        else:
            yield Text(_plain(str(issue), 300))


def _hooks(record: Mapping[str, Any]) -> Iterator[Text]:
    """Word what the notebook was asked and how that went."""
    from rich.text import Text

    notebook = record["notebook"]
    hooks = [event["data"] for event in record["events"] if event["type"] == "HOOK_EXECUTED"]
    if hooks and all(one["status"] == "SKIPPED_DISABLED" for one in hooks):
        yield Text("disabled", "dim")
        return
    if isinstance(notebook, Mapping):
        yield Text(_plain(str(notebook.get("notebook_id")), 60))
    for one in hooks:
        status, refs = one["status"], one["evidence_refs"]
        of = f" round {one['round_index']}" if one["phase"] == "during" else ""
        again = " again" if one["phase"] == "during" and one["attempt"] == 2 else ""
        rest = f": {_plain(str(one['why']), 300)}" if one.get("why") else _refs(refs)
        yield Text.assemble(f"{one['phase']}{of}{again} ", (status, COLOURS.get(status, "")), rest)


def _refs(refs: Sequence[Any]) -> str:
    if not refs:
        return ", no evidence"
    named = ", ".join(_plain(str(ref), 60) for ref in refs[:MOST_REFS])
    more = len(refs) - MOST_REFS
    return f": {named}" + (f" and {more} more" if more > 0 else "")


def _noted(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Word the events that a person should look at."""
    for event in events:
        data = event["data"]
        where = f"round {data.get('round_index')}"
        review = f"{where}, review {data.get('attempt')}"
        match event["type"]:
            case "PARSER_WARNING":
                yield f"{review}: {data['code']}, the last of {data['matches']} verdict lines counts"
            case "PARSER_ERROR":
                yield f"{review}: {data['code']}"
            case "REVIEWER_RETRIED":
                yield f"{where}: the Reviewer was asked once more"
            case "REVIEW_WARNING":
                yield f"{where}: {data['code']}, {WARNINGS.get(str(data['code']), 'unknown warning')}"
            case "SAFETY_VIOLATION":
                tool = _plain(str(data["tool"] or "a tool"), 60)
                yield f"{where}: SAFETY_VIOLATION, the {data['seat']} tried to write with {tool}"
            case "SESSION_RESUME_MISSING":
                yield f"{where}: SESSION_RESUME_MISSING, session {_plain(str(data['session_id']), 60)}"
            case "RELEVANCE_FILTERED":
                kinds = sorted({str(one["category"]) for one in data["removed"]})
                lines = plural(len({one["line"] for one in data["removed"]}), "line")
                yield f"{_short_ref(str(data['where']))}: {lines} filtered ({', '.join(kinds)})"


def _short_ref(ref: str) -> str:
    return _plain(ref.split("/sha256:", maxsplit=1)[0], 60)


def _print_output(target: Console, text: str | None, label: str) -> None:
    """Print the final output, or its beginning, with whose word it is."""
    from rich.text import Text

    if text is None:
        return
    target.print()
    target.print(Text.assemble(("final output", "bold"), f" ({label})" if label else ""))
    shown = 0
    text = text.rstrip()
    lines = _BREAK.split(text[:MOST_TEXT])[:MOST_LINES]
    for line in lines:
        shown += len(line) + 1
        if not line.strip():
            target.print()
            continue
        indent = "  " + " " * (len(line) - len(line.lstrip(" ")))
        print_hanging(target, Text(indent), Text(_printable(line.strip(" "))), len(indent))
    if (rest := len(text) - shown) > 0:
        target.print(Text(f"  … {rest:,} characters more: the record has them", "dim"))


def _printable(line: str) -> str:
    """Replace what a terminal would obey."""
    spaced = (" " if char.isspace() else char for char in line.expandtabs(4))
    return "".join(char if char.isprintable() else "�" for char in spaced)


def _plain(text: str, most: int) -> str:
    from moot.channels.showing.wording import clean

    return clean(text, most)


# ---------------------------------------------------------------- conformance


def print_conformance(target: Console, named: str, found: Conformance) -> None:
    """Print the thirteen checks with their evidence, and the level of section 2."""
    from rich.text import Text

    passed = sum(check.is_passed for check in found.checks)
    colour = "green" if found.is_conformant else "red"
    target.print(
        Text.assemble(
            (named, "bold"), "  ", (found.level, colour), f", {passed} of {len(found.checks)} checks pass"
        )
    )
    for check in found.checks:
        word = Text("PASS", "green") if check.is_passed else Text("FAIL", "bold red")
        prefix = Text.assemble(word, f"  {check.number:>2}  ")
        print_hanging(target, prefix, Text.assemble(check.title, (f"  {check.rule}", "dim")), 10)
        lines = [*((line, "dim" if check.is_passed else "") for line in check.evidence)]
        lines += [(f"warning: {line}", "yellow") for line in check.warnings]
        for line, style in lines:
            print_hanging(target, Text(" " * 10), Text(line, style), 12)
    for should in found.shoulds:
        why = should.justification
        said = f"{should.what}" + (f"; the record says: {why}" if why else "; the record does not say why")
        prefix = Text("SHOULD    ", "yellow")
        print_hanging(target, prefix, Text.assemble(said, (f"  {should.rule}", "dim")), 10)
