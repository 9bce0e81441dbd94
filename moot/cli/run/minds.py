"""`moot minds check`: a class of one's own, played through everything that its seat owes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from moot.cli.app import Group, app, command
from moot.cli.errors import Unusable
from moot.cli.numbers import seed_option
from moot.cli.output import console, print_hanging, write_json
from moot.cli.place import AsJson
from moot.cli.run.simulate import progress
from moot.cli.setup.config import ConfigFile, settings

if TYPE_CHECKING:
    from pathlib import Path

    from moot.config.minds import MindSettings
    from moot.minds.rehearsal import Rehearsal

MOST_DAYS = 60

group = typer.Typer(
    cls=Group,
    help="Try minds of your own.",
    epilog="moot minds check my_minds:MyCritic --seat critic",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="minds")


@command(
    "moot minds check my_minds:MyCritic --seat critic",
    "moot minds check my_minds:MyCritic --seat critic --option tone=kind --option limit=0.5",
    "moot minds check --seat critic --config my-society.toml",
    "moot minds check my_minds:MyReviewer --seat reviewer --json | jq .steps",
    within=group,
)
def check(
    seat: Annotated[str, typer.Option("--seat", metavar="SEAT", help="Where it sits.")],
    mind: Annotated[
        str | None,
        typer.Argument(
            metavar="MODULE:CLASS",
            help="The class, as package.module:Class; left out, the one of the configuration.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="One of its options; JSON or text. Repeatable."),
    ] = None,
    days: Annotated[
        float,
        typer.Option("--days", metavar="N", help="How long the society lives that asks it; by default 6."),
    ] = 6.0,
    seed: Annotated[int, seed_option("Seeds everybody else")] = 1,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> int:
    """Ask a mind for everything that its seat owes, and say what is wrong with its answers.

    Everybody else is simulated, and goes on as if a simulated mind had answered. Exit code 1: an answer breaks a rule,
    raises, hangs or is of another type, or there was no answer at all. A step that it leaves silent is no fault.
    """
    from moot.log_setup import set_up_logging
    from moot.minds.choosing import chosen
    from moot.minds.rehearsing import rehearse
    from moot.protocols.kernel.seats import Seat

    if not 0 < days <= MOST_DAYS:
        raise Unusable(f"--days {days:g}: choose a number above 0, up to {MOST_DAYS}")
    set_up_logging(None)
    source = _configured(seat, option, config) if mind is None else {"module": mind, **_options(option)}
    found = chosen({seat: source})[seat]
    if found.model is not None:
        raise Unusable(
            f"the model {found.name} fills the {seat}: this tries classes; moot models check {found.name} tries a model"
        )
    if found.mind is None:
        raise Unusable(f"{found.name} is a mind that Moot brings: name a class of your own")
    with progress("rehearsal") as told:
        done = rehearse(Seat(seat), found, days=days, seed=seed, progress=told)
    if as_json:
        write_json(done.as_json())
    else:
        _print(done)
    return 0 if done.is_passed else 1


def _configured(seat: str, options: list[str] | None, config: Path | None) -> MindSettings:
    """Return what the configuration puts into a seat.

    Raises:
        Unusable: It puts nothing there, or options are given beside it.
    """
    from moot.config.minds import mind_seat

    if options:
        raise Unusable("--option goes with MODULE:CLASS: a configuration has options of its own")
    try:
        name = mind_seat(seat)
    except ValueError as exc:
        raise Unusable(str(exc)) from None
    found = settings(config).minds.get(name)
    if found is None:
        raise Unusable(
            f"no configuration names a mind of the {seat}: name MODULE:CLASS, or give --config FILE"
        )
    return found


def _options(given: list[str] | None) -> dict[str, Any]:
    import json

    found: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not (name and equals) or name == "module":
            raise Unusable(f"--option {text}: write NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _print(done: Rehearsal) -> None:
    from rich.text import Text

    target = console()
    target.print(Text(f"{done.mind} as {done.seat}", "bold"))
    width = max((len(f"{one.case} {one.step}") for one in done.steps.values()), default=0)
    for one in done.steps.values():
        name = f"{one.case} {one.step}"
        colour, word = (
            ("red", "wrong ") if one.wrong else ("green", "right ") if one.right else ("dim", "silent")
        )
        told = {"right": one.right, "wrong": one.wrong.total(), "silent": one.silent}
        counts = ", ".join(f"{n} {what}" for what, n in told.items() if n)
        print_hanging(
            target,
            Text.assemble((word, colour), f"  {name:<{width}}  "),
            Text(f"{' or '.join(one.asked)}: {counts}"),
            width + 10,
        )
        for why, n in one.wrong.items():
            times = f" ({n} times)" if n > 1 else ""
            print_hanging(target, Text("        "), Text(f"{why}{times}"), 10)
    if done.missed:
        print_hanging(target, Text("never   ", "dim"), Text(f"came up: {', '.join(done.missed)}", "dim"), 8)
    verdict = "passes" if done.is_passed else "does not pass"
    wrong = sum(one.wrong.total() for one in done.steps.values())
    right = sum(one.right for one in done.steps.values())
    silent = sum(one.silent for one in done.steps.values())
    target.print(Text(f"{verdict}: {right} right, {wrong} wrong, {silent} silent", "bold"))
