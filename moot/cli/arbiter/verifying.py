"""`moot arbiter verify`: whether a run is what its files say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moot.cli.app import command
from moot.cli.arbiter.judging import group
from moot.cli.output import plural, write_json, write_lines
from moot.cli.place import AsJson


@command(
    "moot arbiter verify runs/20260105T090000Z_1f3c9a",
    "moot arbiter verify runs/20260105T090000Z_1f3c9a --json | jq '.checks[] | select(.level != \"PASS\")'",
    within=group,
)
def verify(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    as_json: AsJson = False,
) -> int:
    """Judge a run that anybody made; exit code 1 when a check fails.

    Each file is held against its schema, and all that can be computed again is: hashes, the plan from its seed,
    what was read from each text, every figure of every batch, every cluster, sums, and why the run ended. A line
    says PASS, WARN (odd, but contradicts nothing) or FAIL, with file, line and field.
    """
    from moot.arbiter.verify import verify_run

    report = verify_run(run)
    if as_json:
        write_json(report.as_json())
        return 0 if report.ok else 1
    failures, warnings = report.count("FAIL"), report.count("WARN")
    odd = f", {plural(warnings, 'warning')}" if warnings else ""
    said = "every check holds" if report.ok else plural(failures, "fault")
    write_lines([*report.lines(), f"{run}: {said}{odd}"])
    return 0 if report.ok else 1
