"""How the matrix reads in a terminal: a line a scenario, a path a run, and whatever was missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from moot.cli.arena.show import path_text
from moot.cli.output import plural, print_hanging

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from moot.cases.arena.matrix.result import MatrixResult, RunResult

INDENT = 11


def print_matrix(target: Console, found: MatrixResult) -> None:
    """Print every scenario with its runs; where a path or a criterion was missed, both sides of it."""
    from rich.text import Text

    for one in found.scenarios:
        prefix = Text.assemble((one.id, "bold"), "  ", _word(one.is_passed), "  ")
        print_hanging(target, prefix, Text(one.title, "bold"), INDENT)
        for run in one.runs:
            _print_run(target, run)
    passed = sum(one.is_passed for one in found.scenarios)
    criteria = [held for run in found.runs for held in run.held]
    kept = sum(held.is_passed for held in criteria)
    line = f"{passed} of {len(found.scenarios)} scenarios pass: {plural(len(found.runs), 'run')}, "
    line += f"{kept} of {len(criteria)} criteria hold"
    target.print(Text(line, "green" if found.is_passed else "bold red"))


def _print_run(target: Console, run: RunResult) -> None:
    from rich.text import Text

    held = f"{plural(len(run.held), 'criterion')}".replace("criterions", "criteria")
    told = f"path as expected, {held}" if run.is_passed else "missed"
    print_hanging(
        target,
        Text(" " * INDENT),
        Text.assemble(run.name, (f"  {told}", "dim" if run.is_passed else "red")),
        INDENT,
    )
    if run.actual == run.expected:
        _print_path(target, "", run.actual)
    else:
        _print_path(target, "expected  ", run.expected)
        _print_path(target, "actual    ", run.actual)
    for one in run.held:
        if not one.is_passed:
            said = Text.assemble(
                ("missed: ", "red"), one.text, (f" ({one.source}); seen: ", "dim"), one.evidence
            )
            print_hanging(target, Text(" " * (INDENT + 2)), said, INDENT + 4)


def _print_path(target: Console, label: str, states: Sequence[str]) -> None:
    from rich.text import Text

    prefix = Text(" " * (INDENT + 2) + label, "dim")
    print_hanging(target, prefix, path_text([*states] or ["nowhere"]), prefix.cell_len)


def _word(is_passed: bool) -> Text:
    from rich.text import Text

    return Text("PASS", "green") if is_passed else Text("FAIL", "bold red")
