"""What fills seats, wherever that is chosen on the command line: a class of one's own, a language model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from moot.cli.errors import Unusable
from moot.cli.output import say

if TYPE_CHECKING:
    from moot.config.settings import Settings
    from moot.minds.choosing import Chosen
    from moot.minds.model_choice import Seated, Wanted
    from moot.protocols.kernel.seats import Seat

KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key-env",
        metavar="VAR",
        help="The variable that holds the key of URL#NAME; by default MOOT_MODEL_KEY, if that is set.",
    ),
]


@dataclass(frozen=True, slots=True)
class Minds:
    """The options of every command that fills seats."""

    mind: Annotated[
        list[str] | None,
        typer.Option(
            "--mind",
            metavar="SEAT=MIND",
            help="What fills a seat: package.module:Class, simulated or silent. May be repeated.",
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="URL#NAME",
            help="A language model for the seats; or NAME of a [models.NAME] of the configuration.",
        ),
    ] = None
    seats: Annotated[
        list[str] | None,
        typer.Option("--seats", metavar="A,B", help="Which seats it takes; by default all. May be repeated."),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget", metavar="USD", help="US dollars that models may spend; by default as configured."
        ),
    ] = None
    key_env: KeyOption = None

    @property
    def own(self) -> dict[str, str]:
        """What `--mind` names, by seat; whether there are such seats and classes shows where minds are made.

        Raises:
            Unusable: One is not written as SEAT=MIND, or a seat is filled twice.
        """
        found: dict[str, str] = {}
        for text in self.mind or ():
            seat, equals, mind = text.partition("=")
            if not (seat and equals and mind):
                raise Unusable(
                    f"--mind {text}: write SEAT=package.module:Class, such as critic=my_minds:MyCritic"
                )
            if seat in found:
                raise Unusable(f"--mind {text}: {seat} is filled by {found[seat]} already")
            found[seat] = mind
        return found

    @property
    def wanted(self) -> Wanted:
        """What the other options say of models."""
        from moot.minds.model_choice import Wanted

        seats = self.seats
        names = None if seats is None else [name.strip() for text in seats for name in text.split(",")]
        return Wanted(model=self.model, seats=names, budget=self.budget, key_env=self.key_env, is_typed=True)

    def over(self, settings: Settings, among: Collection[Seat]) -> Seated:
        """Return who sits where; as `Wanted.over`."""
        return self.wanted.over(settings, self.own, among)


def say_models(minds: Mapping[str, Chosen], settings: Settings) -> None:
    """Tell on standard error which seats are models', and what these may spend, if any is."""
    from moot.minds.model_choice import models_told

    if line := models_told(minds, settings):
        say(line)
