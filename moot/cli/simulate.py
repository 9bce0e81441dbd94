"""`moot simulate`: days of a society in seconds, the same every time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.app import command
from moot.cli.config import ConfigFile, settings
from moot.cli.errors import Unusable
from moot.cli.output import console, duration, has_colour, heading, plural, print_table, table, write_json
from moot.cli.place import LOG_NAME, AsJson
from moot.cli.up import Prices

if TYPE_CHECKING:
    from rich.console import Console

    from moot.simulation.summary import SimulationSummary

RUNS: Final = Path("runs")
"""Where runs are kept when no directory is named (K24)."""


@command(
    "moot simulate",
    "moot simulate --days 28 --seed 7 --out ./runs/february",
    "moot simulate --start 2026-06-01 --prices ./prices.csv --json | jq .verdicts",
)
def simulate(
    days: Annotated[float, typer.Option("--days", metavar="N", help="How many days; by default 7.")] = 7.0,
    start: Annotated[
        str | None, typer.Option("--start", metavar="DATE", help="The first day, UTC; by default 2026-02-23.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="Seeds minds and prices; by default 1.")
    ] = 1,
    prices: Prices = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where the log goes; by default ./runs/<start>-<seed>."),
    ] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Let a society live some days in virtual time, and sum them up.

    The same options give the same log, byte for byte. Read it with moot log, check it with moot verify.
    """
    from moot.simulation.simulate import DEFAULT_START, SimulateOptions
    from moot.simulation.simulate import simulate as run

    first = DEFAULT_START if start is None else first_instant(start)
    if not 0 < days <= 36_525:
        raise Unusable(f"--days {days:g}: choose a number above 0, up to 36525")
    place = out if out is not None else free_directory(f"{first:%Y%m%d}-{seed}")
    if (place / LOG_NAME).exists():
        raise Unusable(f"{place} holds a log already: choose another --out")
    options = SimulateOptions(
        days=days, start=first, seed=seed, prices=prices, out=place, settings=settings(config)
    )
    with progress(_days(days)) as told:
        summary = run(options, told)
    if as_json:
        write_json(summary.as_json())
    else:
        print_summary(console(), summary)


def first_instant(text: str) -> datetime:
    """Read `--start`: a day, or an instant; without a zone it is UTC.

    Raises:
        Unusable: It is neither.
    """
    try:
        instant = datetime.fromisoformat(text)
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unusable(f"--start {text}: write a day such as 2026-02-23") from None


def free_directory(name: str) -> Path:
    """Return a directory below `runs` that holds no log yet: the name, or the name with a number."""
    place, n = RUNS / name, 1
    while (place / LOG_NAME).exists():
        n += 1
        place = RUNS / f"{name}-{n}"
    return place


@contextmanager
def progress(what: str) -> Iterator[Callable[[float, str], None] | None]:
    """Show a bar on standard error while something runs, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    bar = BarColumn(bar_width=None, complete_style="cyan" if has_colour(sys.stderr) else "default")
    columns = (TextColumn("{task.description}"), bar, TaskProgressColumn(), TextColumn("{task.fields[at]}"))
    with Progress(*columns, console=console(sys.stderr), transient=True) as shown:
        task = shown.add_task(what, total=1.0, at="")
        last = 0.0

        def tell(share: float, at: str) -> None:
            nonlocal last
            if share - last >= 0.002 or share >= 1.0:
                last = share
                shown.update(task, completed=share, at=at)

        yield tell


def print_summary(target: Console, summary: SimulationSummary) -> None:
    """Print the figures of a simulation."""
    s = summary
    debates = [f"{n} {verdict}" for verdict, n in sorted(s.verdicts.items())]
    if s.early_ends:
        debates.append(f"{s.early_ends} ended early by a clear signal")
    ended = sum(s.escalations_ended.values())
    how = [f"{n} {word}" for word, n in sorted(s.escalations_ended.items())]
    if (still := sum(s.escalations.values()) - ended) > 0:
        how.append(f"{still} open")
    rows = table("", "", "", right=("",), fold=("",))
    rows.show_header = False
    rows.columns[0].style, rows.columns[0].no_wrap, rows.columns[0].justify = "dim", True, "left"
    rows.columns[1].no_wrap, rows.columns[2].justify = True, "left"
    for name, n, about in (
        ("cycles", s.cycles, ""),
        ("debates", s.debates, ", ".join(debates)),
        ("revisions", s.revisions, ""),
        ("extensions", s.extensions, ""),
        ("concessions", s.concessions, ""),
        (
            "timeouts",
            s.timeouts,
            f"{plural(s.pings, 'reminder')}; rulings: {_counts(s.rulings)}" if s.pings else "",
        ),
        ("violations", s.violations, ""),
        (
            "escalations",
            sum(s.escalations.values()),
            f"{_counts(s.escalations)}; {', '.join(how)}" if how else "",
        ),
        ("principles", s.principles, ""),
        ("backtests", s.backtests_passed + s.backtests_failed, _backtests(s)),
        ("messages", s.messages, f"head {s.head_hash[:16]}"),
    ):
        rows.add_row(name, f"{n:,}", about)
    target.print(heading(f"{_days(s.days)} from {s.start[:10]}, seed {s.seed}", f"prices {s.prices}"))
    print_table(target, rows)
    virtual = duration(timedelta(seconds=s.virtual_s))
    target.print(
        f"{virtual} of society time in {s.wall_s:.1f} s" + (f", log in {s.out}" if s.out else ""), style="dim"
    )


def _days(n: float) -> str:
    return "1 day" if n == 1 else f"{n:g} days"


def _counts(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(found.items())) or "none"


def _backtests(summary: SimulationSummary) -> str:
    if not summary.backtests_passed + summary.backtests_failed:
        return ""
    return f"{summary.backtests_passed} passed, {summary.backtests_failed} failed"
