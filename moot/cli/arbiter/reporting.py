"""`moot arbiter report`: what a run found, as text, as JSON and as a page."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from moot.cli.app import command
from moot.cli.arbiter.judging import group
from moot.cli.errors import CheckFailed
from moot.cli.output import console, plural, print_hanging, write_json
from moot.cli.place import AsJson

if TYPE_CHECKING:
    from moot.arbiter.reading import ReadRun
    from moot.arbiter.summary import Summary

LABEL: Final = 12
"""Columns of what stands before each line."""

MOST_TOP: Final = 1_000

COLOURS: Final = {"question": "bold", "lacks": "yellow"}
"""Of lines, by what they are about."""


@command(
    "moot arbiter report runs/20260223T100000Z_3fa9c1",
    "moot arbiter report runs/20260223T100000Z_3fa9c1 --html report.html --top 5",
    "moot arbiter report runs/20260223T100000Z_3fa9c1 --json | jq .decisions",
    within=group,
)
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    form: Annotated[
        Literal["text", "json"],
        typer.Option("--format", metavar="FORM", help="text (the default) or json.", show_default=False),
    ] = "text",
    top: Annotated[
        int,
        typer.Option(
            "--top", metavar="N", min=0, max=MOST_TOP, help="Rationales, clusters and texts of each, at most."
        ),
    ] = 3,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page besides: one file, with pictures."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a run found: how often each decision, how answers group, whether new ones still come.

    A run that goes on, was interrupted or was killed is told as far as it came. Nothing is asked or changed.
    """
    from rich.text import Text

    from moot.arbiter.reading import read_run
    from moot.arbiter.summarising import summarise
    from moot.arbiter.telling import lines
    from moot.config.arbiter.reading import Faulty

    try:
        found = read_run(run)
        summary = summarise(found, top=top)
        if html is not None:
            _write_page(html, found, summary)
    except Faulty as error:
        more = f" (and {plural(len(error.lines) - 1, 'fault')} more)" if len(error.lines) > 1 else ""
        raise CheckFailed(f"{error.lines[0]}{more}") from None
    if as_json or form == "json":
        write_json({**asdict(summary), "page": str(html) if html else None})
        return
    target = console()
    told = [*lines(summary), *([("page", str(html))] if html else [])]
    for label, text in told:
        hang = LABEL + len(text) - len(text.lstrip())
        prefix = Text(f"{label:<{LABEL}}{' ' * (hang - LABEL)}", "dim")
        print_hanging(target, prefix, Text(text.lstrip(), COLOURS.get(label, "")), hang + 2)


def _write_page(path: Path, run: ReadRun, summary: Summary) -> None:
    from moot.arbiter.page import page

    try:
        path.write_text(page(run, summary), encoding="utf-8")
    except OSError as error:
        raise CheckFailed(f"{path}: cannot be written: {error.strerror or error}") from None
