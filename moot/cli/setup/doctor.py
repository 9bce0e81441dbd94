"""`moot doctor`: whether the set-up is whole, and what to do where it is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

import typer

from moot.cli.app import command
from moot.cli.output import console, has_colour, plural, print_hanging, write_json
from moot.cli.place import DEFAULT, AsJson
from moot.cli.setup.config import ConfigFile

if TYPE_CHECKING:
    from rich.console import Console

State = Literal["ok", "warning", "failure"]


class Diagnosis(NamedTuple):
    """What a check found.

    Attributes:
        check: What was checked.
        state: `failure` when Moot cannot work so.
        said: What was found.
        advice: What to do; "" when nothing is to be done.
    """

    check: str
    state: State
    said: str
    advice: str = ""


MARKS: Final[dict[State, tuple[str, str]]] = {
    "ok": ("✓", "green"),
    "warning": ("!", "yellow"),
    "failure": ("✗", "bold red"),
}


@command(
    "moot doctor",
    "moot doctor ./my-data --json",
    "moot doctor --config my-society.toml",
    "moot doctor nats://10.0.0.5:4222/desk",
)
def doctor(
    named: Annotated[
        str,
        typer.Argument(
            metavar="DIR|nats://HOST/NAME",
            help="Data directory to look at, or a society on NATS; by default ./moot-data.",
        ),
    ] = str(DEFAULT),
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> int:
    """Check the set-up and say what is missing; exit code 1 when Moot cannot work so."""
    from rich.text import Text

    findings: list[Diagnosis] = []
    target = console()
    for finding in _findings(named, config):
        findings.append(finding)
        if not as_json:
            print_diagnosis(target, finding)
    failures = sum(finding.state == "failure" for finding in findings)
    if as_json:
        write_json({"ok": not failures, "findings": [finding._asdict() for finding in findings]})
    elif failures:
        target.print(Text(f"{plural(failures, 'failure')}", "bold red"))
    return 1 if failures else 0


def _findings(named: str, config: Path | None) -> Iterator[Diagnosis]:
    from moot.channels.nats.address import is_nats

    if is_nats(named):
        from moot.cli.setup.nats import examine_nats

        return examine_nats(named)
    return examine(Path(named), config)


def print_diagnosis(target: Console, finding: Diagnosis) -> None:
    """Print what a check found, in one line if it fits."""
    from rich.text import Text

    mark, style = MARKS[finding.state]
    prefix = Text.assemble((f"{mark} ", style), (f"{finding.check:<11} ", "dim"))
    advice = (f"; {finding.advice}", style) if finding.advice else ""
    print_hanging(target, prefix, Text.assemble(finding.said, advice), prefix.cell_len)


def examine(directory: Path, config: Path | None = None) -> Iterator[Diagnosis]:
    """Run every check; one that breaks is a finding too."""
    from moot.cli.setup import ailments

    checks: tuple[tuple[str, Callable[[], Diagnosis]], ...] = (
        ("python", ailments.python),
        ("packages", ailments.packages),
        ("sqlite", ailments.sqlite),
        ("disk", lambda: ailments.disk(directory)),
        ("sockets", ailments.sockets),
        ("terminal", terminal),
        ("time zones", ailments.time_zones),
        ("prices", ailments.prices),
        ("settings", lambda: ailments.settings(config)),
        ("data", lambda: ailments.data(directory)),
    )
    for name, check in checks:
        try:
            yield check()
        except Exception as exc:
            yield Diagnosis(name, "failure", f"{type(exc).__name__}: {exc}")
    yield from ailments.surfaces(config)


def terminal() -> Diagnosis:
    """Look at where output goes."""
    width = console().width
    encoding = (sys.stdout.encoding or "ascii").lower()
    where = f"{width} columns" if sys.stdout.isatty() else "not a terminal"
    said = f"{where}, {'colours' if has_colour(sys.stdout) else 'no colours'}, {encoding}"
    if "utf" not in encoding:
        return Diagnosis("terminal", "warning", said, "set LANG to a UTF-8 locale, for example C.UTF-8")
    if sys.stdout.isatty() and width < 60:
        return Diagnosis("terminal", "warning", said, "60 columns or more read better")
    if os.environ.get("NO_COLOR"):
        said += " (NO_COLOR)"
    return Diagnosis("terminal", "ok", said)
