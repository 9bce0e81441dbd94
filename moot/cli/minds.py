"""What fills seats, wherever that is chosen on the command line: a class of one's own, a language model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from moot.cli.errors import Unusable
from moot.cli.output import say

if TYPE_CHECKING:
    from moot.config.settings import Settings
    from moot.minds.choosing import Chosen
    from moot.minds.model_choice import Wanted

MindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mind",
        metavar="SEAT=MIND",
        help="What fills a seat: package.module:Class, simulated or silent. May be repeated.",
    ),
]

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="URL#NAME",
        help="A language model for the seats; or NAME of a [models.NAME] of the configuration.",
    ),
]
SeatsOption = Annotated[
    list[str] | None,
    typer.Option("--seats", metavar="A,B", help="Which seats it takes; by default all. May be repeated."),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget", metavar="USD", help="US dollars that models may spend; by default as configured."
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key-env",
        metavar="VAR",
        help="The variable that holds the key of URL#NAME; by default MOOT_MODEL_KEY, if that is set.",
    ),
]


def minds_of(given: list[str] | None) -> dict[str, str]:
    """Read `--mind`; whether there are such seats and classes is found out where minds are made.

    Raises:
        Unusable: One is not written as SEAT=MIND, or a seat is filled twice.
    """
    found: dict[str, str] = {}
    for text in given or ():
        seat, equals, mind = text.partition("=")
        if not (seat and equals and mind):
            raise Unusable(
                f"--mind {text}: write SEAT=package.module:Class, such as critic=my_minds:MyCritic"
            )
        if seat in found:
            raise Unusable(f"--mind {text}: {seat} is filled by {found[seat]} already")
        found[seat] = mind
    return found


def wanted(model: str | None, seats: list[str] | None, budget: str | None, key_env: str | None) -> Wanted:
    """Return what the four options say."""
    from moot.minds.model_choice import Wanted

    names = None if seats is None else [name.strip() for text in seats for name in text.split(",")]
    return Wanted(model=model, seats=names, budget=budget, key_env=key_env, is_typed=True)


def say_models(minds: Mapping[str, Chosen], settings: Settings) -> None:
    """Tell on standard error which seats are models', and what these may spend, if any is."""
    from moot.minds.model_choice import models_told

    if line := models_told(minds, settings):
        say(line)
