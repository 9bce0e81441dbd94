"""`moot arbiter compare`: whether two runs answer differently."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.app import command
from moot.cli.arbiter.certifying import named
from moot.cli.arbiter.judging import group
from moot.cli.arbiter.opening import opened, told
from moot.cli.errors import CheckFailed
from moot.cli.output import console, plural, print_prose, print_table, say, table, write_json
from moot.cli.place import AsJson

if TYPE_CHECKING:
    from rich.console import Console

    from moot.arbiter.comparing import Comparison, Difference, Quantity

MEASURES: Final[dict[str, str]] = {
    "decisions": "share that moved",
    "answers": "energy distance",
    "replies": "share that moved",
    "tokens": "mean a trial",
    "cost": "mean a trial",
}
"""What is measured of a quantity."""


@command(
    "moot arbiter compare runs/20260223T100000Z_3fa9c1 runs/20260301T100000Z_77ab02",
    "moot arbiter compare runs/before runs/after --permutations 9999 --seed 7",
    "moot arbiter compare runs/before runs/after --json | jq -r .conclusion",
    within=group,
)
def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    second: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of another one.")],
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Of the shuffles: equal seeds, equal figures.")
    ] = 1,
    permutations: Annotated[
        int,
        typer.Option(
            "--permutations", metavar="N", min=99, max=100_000, help="Shuffles of each test; 999 by default."
        ),
    ] = 999,
    as_json: AsJson = False,
) -> None:
    """Say whether two runs answer differently: did the new prompt, or the new model, change the verdicts?

    What trials decided, what they said (by their embeddings), how replies could be read, tokens and cost are each
    tested by shuffling which trial belongs to which run, and the p-values adjusted for how many tests there are. What
    cannot be compared is left out, and told. The exit code is 0 whatever is found.
    """
    from moot.arbiter.comparing import compare_runs
    from moot.config.arbiter.reading import Faulty

    runs = [opened(first), opened(second)]
    if runs[0].config.run.run_id == runs[1].config.run.run_id:
        raise CheckFailed(f"{first} and {second} are the same run: name two")
    try:
        found = compare_runs(*runs, seed=seed, permutations=permutations)
    except Faulty as error:
        raise told(error) from None
    if as_json:
        write_json(_as_json(found, (first, second)))
        return
    for line in found.warnings:
        say(f"moot arbiter compare: {line}")
    _print(console(), found, (first, second))


def conclusion(found: Comparison) -> str:
    """Say in a sentence what was found."""
    names = found.differing()
    if names:
        others = [name for name in found.differences if name not in names]
        rest = f" In {_listed(others)}, no difference was found." if others else ""
        return f"The two runs differ in {_listed(names)}: chance alone would rarely give as much.{rest}"
    if not found.differences:
        return "Nothing of the two runs can be compared."
    return (
        f"No difference was found in {_listed([*found.differences])}: "
        "chance alone gives as much. That is no proof that they are alike."
    )


def _listed(names: list[Quantity]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _print(target: Console, found: Comparison, paths: tuple[Path, Path]) -> None:
    for letter, path, trials in zip("AB", paths, found.trials, strict=True):
        target.print(f"{letter}  {path}  {plural(trials, 'trial')}", soft_wrap=True)
    how = "trial by trial, as both drew them alike" if found.is_paired else "as a whole"
    target.print(f"compared {how}; {found.permutations:,} shuffles, seed {found.seed}\n", soft_wrap=True)
    for name, one in found.differences.items():
        if one.categories:
            _print_categories(target, "decision" if name == "decisions" else "reply", one)
    rows = table("difference in", "measured", *_TESTED, right=_TESTED)
    sizes = table("how large", *_SIZES, right=_SIZES)
    for name, one in found.differences.items():
        rows.add_row(
            name,
            MEASURES[name],
            _number(name, one.tested.statistic),
            _number(name, one.tested.by_chance),
            f"{one.tested.p_value:.4f}",
            f"{one.p_adjusted:.4f}",
        )
        if one.interval is not None:
            means = [_number(name, mean) for mean in one.means or ()] or ["–", "–"]
            sizes.add_row(name, *means, " to ".join(_number(name, bound) for bound in one.interval))
    print_table(target, rows)
    if sizes.row_count:
        target.print()
        print_table(target, sizes)
    for name, why in found.skipped.items():
        print_prose(target, f"{name}: not compared: {why}")
    target.print()
    print_prose(target, conclusion(found))


_TESTED: Final = ("seen", "by chance", "p", "adjusted")
_SIZES: Final = ("A", "B", "95 %")


def _print_categories(target: Console, head: str, one: Difference) -> None:
    rows = table(head, "A", "B", "B less A", "95 %", right=("A", "B", "B less A", "95 %"), fold=(head,))
    for each in one.categories:
        if not each.first and not each.second:
            continue
        rows.add_row(
            named(each.category),
            *(
                f"{count:,} ({count / trials * 100:.1f} %)"
                for count, trials in zip((each.first, each.second), one.trials, strict=True)
            ),
            f"{each.difference * 100 + 0.0:+.1f} points",
            f"{each.interval.low * 100:+.1f} to {each.interval.high * 100:+.1f}",
        )
    print_table(target, rows)
    target.print()


def _number(name: str, value: float) -> str:
    if name == "tokens":
        return f"{value:,.1f}"
    if name == "cost":
        return f"${Decimal(f'{value:.3g}'):f}".replace("$-", "-$")
    return f"{round(value, 3) + 0.0:.3f}"


def _as_json(found: Comparison, paths: tuple[Path, Path]) -> dict[str, Any]:
    return {
        "runs": [
            {
                "path": str(path),
                "run_id": run.config.run.run_id,
                "question": run.config.question.text,
                "trials": trials,
            }
            for path, run, trials in zip(paths, found.runs, found.trials, strict=True)
        ],
        "is_paired": found.is_paired,
        "seed": found.seed,
        "permutations": found.permutations,
        "differences": {name: _difference(one) for name, one in found.differences.items()},
        "skipped": dict(found.skipped),
        "warnings": [*found.warnings],
        "differing": found.differing(),
        "conclusion": conclusion(found),
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {
        **one.tested._asdict(),
        "p_adjusted": one.p_adjusted,
        "trials": [*one.trials],
        "means": None if one.means is None else [*one.means],
        "interval": None if one.interval is None else [*one.interval],
        "categories": [
            {
                "category": each.category,
                "counts": [each.first, each.second],
                "difference": each.difference,
                "interval": [*each.interval],
            }
            for each in one.categories
        ],
    }
