"""`moot simulate`: days of a society in seconds, the same every time."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.app import command
from moot.cli.errors import Unusable
from moot.cli.minds import Minds, say_models
from moot.cli.numbers import seed_option
from moot.cli.output import (
    console,
    duration,
    has_colour,
    heading,
    money,
    per_cent,
    plural,
    print_table,
    say,
    sparkline,
    table,
    write_json,
)
from moot.cli.place import AsJson
from moot.cli.replaying import Replay, compare, refuse_beside
from moot.cli.run.up import Prices
from moot.cli.setup.config import ConfigFile, settings
from moot.place import LOG_NAME
from moot.simulation.durations import DEFAULT_START, check_days, first_instant

if TYPE_CHECKING:
    from rich.console import Console

    from moot.simulation.arguing import Moved
    from moot.simulation.desk import DeskSummary
    from moot.simulation.simulate import SimulateOptions
    from moot.simulation.summary import SimulationSummary

RUNS: Final = Path("runs")
"""Where runs are kept when no directory is named (K24)."""

MOST_NAMED: Final = 5
"""Strategies that a line names; --json has them all."""


@command(
    "moot simulate",
    "moot simulate --days 28 --seed 7 --out ./runs/february",
    "moot simulate --days 28 --plot equity.png",
    "moot simulate --days 2 --mind critic=my_minds:MyCritic",
    "moot simulate --days 1 --model http://127.0.0.1:8080/v1#qwen3:8b --seats critic,evolver",
    "moot simulate --resume ./runs/20260223-1 --days 1",
    "moot simulate --replay ./runs/20260223-1 --out ./runs/again",
    "moot simulate --start 2026-06-01 --prices ./prices.csv --json | jq .desk.pnl_usd",
)
def simulate(
    ctx: typer.Context,
    days: Annotated[float, typer.Option("--days", metavar="N", help="How many days; by default 7.")] = 7.0,
    start: Annotated[
        str | None, typer.Option("--start", metavar="DATE", help="The first day, UTC; by default 2026-02-23.")
    ] = None,
    seed: Annotated[int, seed_option("Seeds minds and prices")] = 1,
    prices: Prices = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Where the log goes; by default ./runs/<start>-<seed>, with -2, -3 … once that holds a log.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the desk's equity curve.")
    ] = None,
    who: Minds = Minds(),
    config: ConfigFile = None,
    held: Replay = Replay(),
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="DIR",
            help="Go on with the run in this directory where it was broken off, up to --days.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a society live some days in virtual time, and sum them up.

    The same options give the same log, byte for byte, where no model fills a seat. Read it with moot log, check it
    with moot verify.
    """
    if held.replay is None:
        check_days(days, DEFAULT_START if start is None else first_instant(start))

    from moot.heap import settle_heap
    from moot.log_setup import set_up_logging
    from moot.minds.silences import silence_lines
    from moot.simulation.simulate import again, check, plan_of
    from moot.simulation.simulate import simulate as run

    if plot is not None:
        _check_picture(plot)
    recording = held.recording(ctx, who.key_env, besides=("plot",))
    if recording is not None:
        options = again(recording, out or free_directory(f"{recording.start:%Y%m%d}-replay"))
        if held.then is not None:
            options = dataclasses.replace(options, days=days)
    elif resume is not None:
        options = _resumed(ctx, resume, days, who.key_env)
    else:
        options = _told(days, start, seed, prices, out, who, config)
    options = check(options)
    assert options.out is not None
    assert options.settings is not None
    place = options.out
    say_models(plan_of(options).chosen, options.settings)
    set_up_logging(place / "moot.log")
    with progress(_days(options.days)) as told:
        settle_heap()
        summary = run(options, told)
    if as_json:
        write_json(summary.as_json())
    else:
        print_summary(console(), summary)
    for line in silence_lines(summary.silences):
        say(f"moot simulate: {line}")
    if plot is not None:
        from moot.simulation.plot import plot as draw

        try:
            draw(summary, plot)
        except OSError as exc:
            raise Unusable(f"--plot {plot}: {exc.strerror or exc}") from exc
        say(f"the equity curve is in {plot}")
    compare(recording, place)


def _told(
    days: float,
    start: str | None,
    seed: int,
    prices: str | None,
    out: Path | None,
    who: Minds,
    config: Path | None,
) -> SimulateOptions:
    """Return what the command line says is to be simulated."""
    from moot.seating import seats_of
    from moot.simulation.simulate import SimulateOptions

    first = DEFAULT_START if start is None else first_instant(start)
    effective = settings(config)
    seated = who.over(effective, seats_of(effective))
    return SimulateOptions(
        days=days,
        start=first,
        seed=seed,
        prices=prices,
        out=out if out is not None else free_directory(f"{first:%Y%m%d}-{seed}"),
        settings=seated.settings,
        minds=seated.minds,
    )


def _resumed(ctx: typer.Context, named: Path, days: float, key_env: str | None) -> SimulateOptions:
    """Return what it takes to go on with a run that was broken off.

    Raises:
        Unusable: It came to its end, or something is said that its log says.
        BadInput: There is no such run.
    """
    from moot.recording import Recording
    from moot.simulation.simulate import gone_on

    refuse_beside(ctx, "--resume", {"resume", "days", "key_env", "plot", "as_json"})
    return gone_on(Recording(named, goes_on=True, key_env=key_env), days)


def _check_picture(file: Path) -> None:
    """Say before days are simulated that a picture could not be written."""
    if file.suffix.lower() != ".png":
        raise Unusable(f"--plot {file}: name a file that ends in .png")
    if file.is_dir() or not file.parent.is_dir():
        raise Unusable(
            f"--plot {file}: " + ("it is a directory" if file.is_dir() else f"there is no {file.parent}")
        )


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
    """Print the figures of a simulation: of each system, then of both."""
    from rich.text import Text

    s = summary
    rows = table("", "", "", right=("",), fold=("",))
    rows.show_header = False
    rows.columns[0].style, rows.columns[0].no_wrap, rows.columns[0].justify = "dim", True, "left"
    rows.columns[1].no_wrap, rows.columns[2].justify = True, "left"
    sections = (
        ("System A", _research(s)),
        ("System B", _desk(s.desk, target.encoding)),
        ("Arena", _arena(s)),
        ("Both", _both(s)),
    )
    for title, lines in sections:
        rows.add_row(Text(title, "bold not dim"), "", "")
        for name, n, about in lines:
            rows.add_row(name, n if isinstance(n, str) else f"{n:,}", about)
    target.print(heading(f"{_days(s.days)} from {s.start[:10]}, seed {s.seed}", f"prices {s.prices}"))
    print_table(target, rows)
    virtual = duration(timedelta(seconds=s.virtual_s))
    target.print(
        f"{virtual} of society time in {s.wall_s:.1f} s" + (f", log in {s.out}" if s.out else ""), style="dim"
    )


Line = tuple[str, int | str, str]
"""A line of the summary: what, how many or how much, and what more there is to say."""


def _research(s: SimulationSummary) -> Iterator[Line]:
    debates = [f"{n} {verdict}" for verdict, n in sorted(s.verdicts.items())]
    if s.early_ends:
        debates.append(f"{s.early_ends} ended early by a clear signal")
    yield "cycles", s.cycles, ""
    yield "debates", s.debates, ", ".join(debates)
    yield from _exchanges(s)
    yield "concessions", s.concessions, ""
    yield "principles", s.principles, ""
    yield "backtests", s.backtests_passed + s.backtests_failed, _backtests(s)


def _exchanges(s: SimulationSummary) -> Iterator[Line]:
    """Show whether what is said moves anything, and how much of one kind is proposed."""
    from moot.simulation.arguing import CORRELATED

    said = s.arguing
    weeks = (
        f"week of {week}: {', '.join(f'{n} {name}'.replace('_', ' ') for name, n in found.most_common())}"
        for week, found in sorted(said.proposed.items())
    )
    yield from _lines("proposals", sum(n.total() for n in said.proposed.values()), weeks)
    kinds = (("with a change", said.with_change), ("without", said.without_change))
    moved = (f"{found.total()} {kind}, {_moved(found)}" for kind, found in kinds if found)
    yield from _lines("rebuttals", said.with_change.total() + said.without_change.total(), moved)
    yield "extensions", s.extensions, _counts(said.after_extension) if said.after_extension else ""
    yield "revisions", s.revisions, ""
    if said.correlations:
        middle = f"median {said.median_correlation:.2f}"
        alike = (
            f"correlation with what is approved: {middle}, {said.correlated or 'none'} above {CORRELATED:.2f}"
        )
        yield "approvals", len(said.correlations), alike


def _lines(name: str, n: int, about: Iterable[str]) -> Iterator[Line]:
    """Show something that takes several lines; the first one names it."""
    said = list(about) or [""]
    yield name, n, said[0]
    yield from (("", "", more) for more in said[1:])


def _moved(found: Counter[Moved]) -> str:
    """Say how many of the Critic's next assessments a kind of rebuttal moved, and which way."""
    total, down, up = found.total() - found["unmoved"], found["lower"], found["higher"]
    which = ", ".join(f"{n} {word}" for n, word in ((down, "down"), (up, "up")) if n)
    if not total:
        return "none of them moved the scores"
    return f"{total} of them ({round(100 * total / found.total())} %) moved the scores: {which}"


def _desk(desk: DeskSummary, encoding: str | None) -> Iterator[Line]:
    days = desk.measured_days()
    curve = [desk.capital, *(day.equity for day in days)]
    drawn = f"{sparkline(curve, encoding)} from {money(desk.capital)}" if days else ""
    yield "sessions", len(days), ""
    yield "equity", money(desk.equity), drawn
    fall = f"{per_cent(desk.pnl_pct, sign=True)}, max drawdown {per_cent(desk.max_drawdown)}"
    yield "P&L", money(desk.pnl_usd, sign=True), fall
    made = sorted(desk.attribution().items(), key=lambda item: (-abs(item[1]["pnl_usd"]), item[0]))
    yield "by strategy", len(made), _attribution(made)
    yield "trades", desk.cases["trade"], _counts(desk.trades_ended) if desk.trades_ended else ""
    yield "orders", desk.orders, ""
    yield "fills", desk.fills, _counts(desk.executions) if desk.executions else ""
    yield "deployments", desk.cases["deployment"], _counts(desk.deployments) if desk.deployments else ""
    yield "promotions", desk.cases["promotion"], _counts(desk.promotions) if desk.promotions else ""
    yield "feedbacks", desk.cases["feedback"], _counts(desk.feedbacks) if desk.feedbacks else ""
    yield "recalls", desk.cases["recall"], _counts(desk.recalls) if desk.recalls else ""
    yield "withdrawals", len(desk.withdrawn), _some(desk.withdrawn)
    yield "alerts", sum(desk.alerts.values()), _counts(desk.alerts) if desk.alerts else ""
    by = ", ".join(f"{n} by the {seat}" for seat, n in sorted(desk.halted_by.items()))
    yield "halts", desk.cases["halt"], f"{by}; {desk.resumed} lifted" if by else ""


def _arena(s: SimulationSummary) -> Iterator[Line]:
    ended = {state.removeprefix("TERMINATED_").lower(): n for state, n in s.runs.items()}
    yield "runs", s.runs.total(), _counts(ended) if ended else ""
    yield "rounds", s.rounds, ""


def _both(s: SimulationSummary) -> Iterator[Line]:
    from moot.protocols.calls.books import SOCIETY, Amount, Limit, spent

    about = f"{plural(s.pings, 'reminder')}; rulings: {_counts(s.rulings)}" if s.pings else ""
    yield "timeouts", s.timeouts, about
    yield "violations", s.violations, ""
    ended = (
        f"{s.escalations[code]} {code.replace('_', ' ')}: {_counts(+endings)}"
        for code, endings in sorted(s.escalation_endings.items())
    )
    yield "escalations", sum(s.escalations.values()), "; ".join(ended)
    if s.calls:
        yield "spent", "", spent(SOCIETY, Amount(**s.calls["booked"]), Limit(**s.calls["limit"]))
    yield "messages", s.messages, f"head {s.head_hash[:16]}"


def _attribution(made: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    return _some(
        [
            f"{name} {money(of['pnl_usd'], sign=True)} ({plural(int(of['fills']), 'fill')})"
            for name, of in made
        ]
    )


def _some(names: Sequence[str]) -> str:
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _days(n: float) -> str:
    return "1 day" if n == 1 else f"{n:g} days"


def _counts(found: Mapping[Any, Any]) -> str:
    return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(found.items())) or "none"


def _backtests(summary: SimulationSummary) -> str:
    if not summary.backtests_passed + summary.backtests_failed:
        return ""
    return f"{summary.backtests_passed} passed, {summary.backtests_failed} failed"
