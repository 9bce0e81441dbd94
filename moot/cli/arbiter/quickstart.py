"""`moot arbiter quickstart`: from a question to a first run in one command."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from moot.cli.app import command
from moot.cli.arbiter.configuring import ONE_OF, Template, write_config
from moot.cli.arbiter.endpoints import Endpoints
from moot.cli.arbiter.judging import CONFIG, Asked, Judged, begun, group, judge, refused, told
from moot.cli.arbiter.live import BudgetOption, run
from moot.cli.arbiter.running import (
    Carrying,
    RunsOption,
    carry_out,
    directory_of,
    mock_notes,
    mock_ports,
    report,
)
from moot.cli.errors import CheckFailed
from moot.cli.output import write_lines
from moot.cli.place import AsJson


@command(
    "moot arbiter quickstart",
    "moot arbiter quickstart 'Should the library open on Sundays?' --profile heterogeneity",
    "moot arbiter quickstart --profile debate --config debate.json --yes --json",
    "moot arbiter quickstart --live --budget 0.20",
    within=group,
)
def quickstart(
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="What every trial asks; by default an example."),
    ] = None,
    profile: Annotated[
        Template,
        typer.Option("--profile", metavar="NAME", help=ONE_OF),
    ] = "quickstart",
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="Where to write it.", show_default=str(CONFIG))
    ] = CONFIG,
    out: RunsOption = None,
    is_mock: Annotated[bool, typer.Option("--mock", help="Ask nobody, and do not offer to.")] = False,
    is_live: Annotated[bool, typer.Option("--live", help="Ask models, as moot arbiter run does.")] = False,
    where: Endpoints = Endpoints(),
    budget: BudgetOption = None,
    is_agreed: Annotated[
        bool, typer.Option("--yes", help="Ask no question: a file that is there is replaced.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Write the file of a run, judge it, and carry it out with answers that are made up, or with --live.

    It is what init, validate and mock-run (or run) do, one after the other; on a terminal a live run is offered then.
    """
    if is_mock and is_live:
        raise CheckFailed("--mock and --live: choose one of them")
    if (where or budget) and not is_live and (is_mock or not _is_watched()):
        raise CheckFailed("--endpoint, --key-env, --embeddings and --budget go with --live")
    is_forced = is_agreed or (config.is_file() and _agrees(f"{config} is there already. Replace it?"))
    if config.is_file() and not is_forced:
        raise CheckFailed(f"{config}: is there already: --yes replaces it, --config names another")
    write_config(question, profile, config, is_forced=is_forced)
    asked = Asked(config=config)
    judged = judge(asked, begun()[1])
    if not isinstance(judged, Judged):
        return refused("quickstart", config, judged, as_json=as_json)
    if not as_json:
        write_lines([f"{config} is valid: {told(judged)}"])
    way = Carrying(out=out, as_json=as_json)
    ask = partial(run, asked, way, where, budget)
    if is_live:
        if _is_watched() and not is_agreed and not _agrees("Ask models now? It may cost money."):
            return 0
        return ask()
    outcome = carry_out(
        "quickstart",
        judged,
        directory_of(judged, out),
        mock_ports(judged),
        way,
        notes=mock_notes(judged),
    )
    code = report(judged, outcome, way)
    if not (is_mock or is_agreed or as_json) and _agrees("Ask models now? It may cost money."):
        return ask()
    return code


def _agrees(question: str) -> bool:
    """Ask a person; where there is none, the answer is no."""
    return _is_watched() and typer.confirm(question, err=True)


def _is_watched() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
