"""`moot chaos`: societies that are broken on purpose, and what is found wrong with what they leave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from moot.chaos.faults import CLASSES, RATE, classes_of
from moot.cli.app import command
from moot.cli.numbers import MOST_WHOLE
from moot.cli.output import console, heading, plural, print_table, say, table, write_json
from moot.cli.place import AsJson
from moot.cli.run.simulate import progress
from moot.protocols.kernel.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

    from moot.chaos.run import ChaosResult, Week
    from moot.chaos.scenes import FoundScene

SHOWN: Final = 3
"""Findings of one world that are printed; chaos --json has them all."""


@command(
    "moot chaos --weeks 100 --seed 1 --jobs 2",
    "moot chaos --seed 4711",
    "moot chaos --seed 4711 --shrink --out ./found",
    "moot chaos --weeks 20 --seed 1 --faults crash,bots --rate 0.5 --out ./broken",
    "moot chaos --weeks 20 --seed 1 --json | jq .findings",
)
def chaos(
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            min=-MOST_WHOLE,
            max=MOST_WHOLE,
            help="What the first week is drawn from; the others have the seeds that follow.",
        ),
    ],
    weeks: Annotated[int, typer.Option("--weeks", metavar="N", help="How many; by default 1.")] = 1,
    faults: Annotated[
        str | None,
        typer.Option(
            "--faults", metavar="A,B", help=f"What may go wrong: {', '.join(CLASSES)}; by default all."
        ),
    ] = None,
    rate: Annotated[
        float,
        typer.Option(
            "--rate",
            metavar="R",
            help=f"Share of occasions that a spell strikes, 0 to 1; by default {RATE:g}.",
        ),
    ] = RATE,
    days: Annotated[
        float,
        typer.Option("--days", metavar="N", help="How long each is; by default 7, of which 1.5 are calm."),
    ] = 7.0,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Processes; by default 1.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="A new folder for the figures, and for plan and log of each week with a finding.",
        ),
    ] = None,
    files: Annotated[
        bool, typer.Option("--files", help="Let all weeks live on files, not one in fifty; slower.")
    ] = False,
    shrink: Annotated[
        bool,
        typer.Option(
            "--shrink", help="Make the first week of each kind of finding small: a scene that finds it too."
        ),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Live weeks of societies in which bots, people, the process and the clock fail, and judge what they leave.

    A seed draws what goes wrong and when; the same seed gives the same week, byte for byte, unless it lives on files,
    as one in fifty does. Each log is checked as moot verify does it; besides, nothing acknowledged may be lost, and
    once faults have stopped all that is owed must be settled. Exit code 1: something was found. With --shrink it is
    then told as a scene, as small as it gets, which moot scene runs; with --out it is DIR/SEED/scene.yaml.
    """
    classes = CLASSES if faults is None else classes_of(faults)

    from moot.chaos.run import ChaosOptions, check, run
    from moot.chaos.scenes import scenes_of

    options = ChaosOptions(
        seed=seed, weeks=weeks, days=days, classes=classes, rate=rate, jobs=jobs, on_files=files, out=out
    )
    check(options)
    done = 0
    with progress(plural(weeks, "week")) as told:

        def tell(week: Week) -> None:
            nonlocal done
            done += 1
            if told is not None:
                told(done / weeks, f"seed {week.seed}")

        result = run(options, tell)
    if shrink and weeks == 1 and not result.found:
        raise BadInput(f"seed {seed}: nothing was found, so there is nothing to shrink")
    scenes: list[FoundScene] = []
    if shrink:
        with progress("shrinking") as told:
            scenes = list(scenes_of(result, told))
    if as_json:
        write_json(result.as_json() | ({"scenes": [one.as_json() for one in scenes]} if shrink else {}))
    else:
        print_result(console(), result)
        for scene in scenes:
            print_scene(console(), scene)
    return 1 if result.found else 0


def print_scene(target: Console, scene: FoundScene) -> None:
    """Print a scene, and where it is kept."""
    target.print(heading(f"seed {scene.seed} as a scene", scene.says))
    target.print(scene.text, soft_wrap=True, markup=False, highlight=False, end="")
    if scene.path is not None:
        target.print(f"moot scene {scene.path}", style="dim", soft_wrap=True)


def print_names(target: Console, label: str, names: Sequence[str]) -> None:
    """Print a list of names, wrapped to the width of the terminal; 80 columns where there is none."""
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size().columns)
    lines = textwrap.wrap(
        f"{label}{', '.join(names)}",
        width,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        target.print(line, style="dim", soft_wrap=True, markup=False, highlight=False)


def print_result(target: Console, result: ChaosResult) -> None:
    """Print what went wrong by class, and what was found."""
    options = result.options
    last = options.seed + options.weeks - 1
    seeds = f"seed {options.seed}" if options.weeks == 1 else f"seeds {options.seed} to {last}"
    target.print(heading(plural(len(result.weeks), "week"), f"{seeds}, rate {options.rate:g}"))
    happened = result.happened()
    rows = table("faults", "struck", "most often", right=("struck",), fold=("most often",))
    for name, n in result.faults().items():
        most = [
            (one.partition(".")[2], times)
            for one, times in happened.most_common()
            if one.startswith(f"{name}.")
        ]
        rows.add_row(
            name, f"{n:,}", ", ".join(f"{times:,} {one.replace('_', ' ')}" for one, times in most[:4])
        )
    print_table(target, rows)
    taken = result.rows()
    messages, lives = sum(week.messages for week in result.weeks), sum(week.lives for week in result.weeks)
    target.print(
        f"{plural(messages, 'message')} in {plural(lives, 'life') if lives == 1 else f'{lives:,} lives'}, "
        f"{sum(map(bool, taken.values()))} of {len(taken)} rows of the machines' tables taken, "
        f"{result.wall_s:.1f} s",
        style="dim",
    )
    if options.weeks > 1 and (never := result.never()):
        print_names(target, "never struck: ", never)
    if options.weeks == 1:
        target.print(f"head {result.weeks[0].head}", style="dim", soft_wrap=True)
    for week in result.found:
        target.print(heading(f"seed {week.seed}", options.command(week.seed)), soft_wrap=True)
        for line in week.findings[:SHOWN]:
            target.print(f"  {line}", soft_wrap=True, markup=False, highlight=False)
        if len(week.findings) > SHOWN:
            target.print(f"  and {len(week.findings) - SHOWN} more", style="dim")
    if result.found:
        say(f"moot chaos: {plural(len(result.found), 'week')} with findings")
    else:
        target.print("nothing was found")
