"""`moot compare`: ways of answering beside their cheap alternatives, against a truth."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import typer

from moot.cli.app import Group, app, command
from moot.cli.errors import CheckFailed, Unusable
from moot.cli.output import heading, page, plural, print_prose, print_table, say, table, write_json
from moot.cli.place import AsJson
from moot.cli.run.simulate import progress

if TYPE_CHECKING:
    from rich.console import Console

    from moot.compare.results import Result
    from moot.compare.summary import Summary

RUN: Final = "run"

NAMED: Final = 28
"""Columns that the names of figures take in a table of arms."""

WIDEST: Final = 26
"""Columns that an arm takes in one: a figure with its interval, and what is between arms."""


class CompareGroup(Group):
    """A study's file stands where a command would: `run` need not be said."""

    panels: ClassVar = {"Commands": (RUN, "report")}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` before what is no command."""
        return super().parse_args(ctx, self._with_run(args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is meant."""
        return super().resolve_command(ctx, self._with_run(args))

    def _with_run(self, args: list[str]) -> list[str]:
        is_other = not args or args[0] in self.commands or args[0] in ("--help", "-h")
        return args if is_other else [RUN, *args]


group = typer.Typer(
    cls=CompareGroup,
    help="""Compare ways of answering, each a protocol with its minds and its budget, on cases whose truth is known.

    A study says which arms answer which cases and how answers are scored. It is registered in a log before the first
    call, and its report gives every figure with a 95 % interval. moot arbiter compare is another thing: it asks whether
    two runs of Arbiter answer differently.""",
    epilog="moot compare study.yaml --out ./study\nmoot compare report ./study",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="compare")


@command(
    "moot compare study.yaml --out ./study",
    "moot compare run study.yaml --out ./study --at-once 2 --json",
    "moot compare study.yaml --out ./study --budget 2.00",
    "moot compare --replay ./study",
    name=RUN,
    within=group,
)
def run(
    named: Annotated[Path | None, typer.Argument(metavar="STUDY.yaml", help="The file of a study.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Takes registration, results and logs; a study there goes on."
        ),
    ] = None,
    at_once: Annotated[
        int | None,
        typer.Option(
            "--at-once", metavar="N", min=1, max=256, help="Processes; by default one for each processor."
        ),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", metavar="DIR", help="Answer a study again, and say whether all is the same."
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="USD",
            min=0.0,
            help="US dollars that the whole study may cost, what it has cost already included.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Run a study: every arm answers every case, and what is answered already is not asked again.

    It is registered first: cases, arms, budgets, seeds, scores and the hashes of minds, prompts and protocols stand in
    the log of DIR. A study that differs from what is registered there is refused. After Ctrl-C, or a kill, the same
    command goes on. With --budget it ends before a case that might cost more than is left; a larger one goes on. With
    --replay nothing is kept unless --out says where. Exit code 1: a replay differs, or the budget ended the study.
    """
    from moot.compare.reading import needs_scipy
    from moot.compare.replaying import replayed
    from moot.compare.running import Run
    from moot.compare.running import run as hold
    from moot.compare.study import read_study

    processes = at_once or os.cpu_count() or 1
    if (named is None) == (replay is None):
        raise Unusable("name the file of a study, or with --replay the directory of one")
    needs_scipy()
    with progress("answering") as bar:

        def tell(done: int, total: int, last: Result) -> None:
            if bar is not None:
                bar(done / total, f"{last.arm}, {last.case}")

        if replay is not None:
            count, where = replayed(replay, out, processes, tell)
            if where:
                raise CheckFailed(f"the replay differs from {replay}: {where}")
            say(f"replayed {replay}: the same {plural(count, 'result')}, byte for byte")
            return 0
        if named is None or out is None:
            raise Unusable("--out is missing: name a directory for what is registered and answered")
        study = read_study(named)
        given = Run(study=study, folder=named.parent, directory=out, at_once=processes, budget=budget)
        done = hold(given, tell)
    code = report(out, as_json=as_json)
    if done.unpaid:
        raise CheckFailed(f"{done.unpaid}: the same command goes on with a larger --budget")
    return code


@command(
    "moot compare report ./study",
    "moot compare report ./study --pages ./study-report",
    "moot compare report ./study --json | jq .differences",
    within=group,
)
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a study.")],
    pages: Annotated[
        Path | None,
        typer.Option(
            "--pages",
            metavar="FOLDER",
            help="Write report.html with pictures, report.md and pages of all cases here.",
        ),
    ] = None,
    without_cases: Annotated[
        bool, typer.Option("--without-cases", help="With --pages: leave the pages of all cases out.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Say what a study found: each arm's figures, and how arms differ, case by case."""
    from moot.compare.reading import is_published, keep_report, summary_of
    from moot.compare.report import PAGE, write_pages

    found = summary_of(directory)
    has_results = not is_published(directory)
    if not has_results:
        say(f"{directory} is published without its results: these are the figures that it keeps")
    try:
        if not found.left and has_results:
            keep_report(directory, found)
        if pages is not None:
            write_pages(directory, found, pages, with_cases=has_results and not without_cases)
            say(f"the report is {pages / PAGE}")
    except OSError as error:
        raise Unusable(f"{error.filename or pages}: cannot be written: {error.strerror or error}") from None
    if as_json:
        write_json(found.as_json())
    else:
        print_summary(page(), found)
    return 0


def print_summary(target: Console, found: Summary) -> None:
    """Print what the study came to, then figures with their intervals: arms, and differences in what decides it."""
    from moot.compare.summary import is_part
    from moot.compare.telling import arms_table, differences_table, led, score_of, sentences, worded

    target.print(heading(found.study, f"{plural(found.cases, 'case')}, {plural(found.answers, 'answer')}"))
    for text in (found.question, led(found), *sentences(found)):
        if text:
            print_prose(target, text)
    # What a score is made of by kind is a page's, not a terminal's.
    arms = [
        replace(one, scores={name: of for name, of in one.scores.items() if not is_part(name)})
        for one in found.arms
    ]
    abreast = max(1, (target.width - NAMED) // WIDEST)
    for n in range(0, len(arms), abreast):
        _print_table(target, *arms_table(arms[n : n + abreast]))
    if not found.differences:
        return
    decides = score_of(found)
    target.print()
    target.print(heading(f"Differences in {worded(decides)}"))
    _print_table(target, *differences_table(found, decides))
    target.print()
    print_prose(
        target,
        "Figures in parentheses and under 95 % bound each for itself. What was not registered as the primary "
        "comparison is exploratory; --json has the differences in all other figures, --pages has pictures of them.",
    )


def _print_table(target: Console, heads: tuple[str, ...], told: Sequence[tuple[str, ...]]) -> None:
    from moot.compare.telling import MINDS

    if not told:
        return
    target.print()
    rows = table(*heads, right=heads[1:], fold=heads[:1])
    for row in told:
        # A label may be longer than a column: "critic and judge simulated, no model".
        rows.add_row(*(fill(cell, WIDEST - 2) for cell in row) if row[0] == MINDS else row)
    print_table(target, rows)
