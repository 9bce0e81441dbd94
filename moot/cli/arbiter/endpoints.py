"""Where the models of a run are: the options that say so."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from moot.cli.errors import CheckFailed

if TYPE_CHECKING:
    from moot.arbiter.endpoints import Told
    from moot.arbiter.ledger import Models
    from moot.cli.arbiter.judging import Judged
    from moot.config.budget import BudgetSettings
    from moot.config.settings import Settings
    from moot.protocols.arbiter.generated import Configuration


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The options that say where models are."""

    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            metavar="URL[#MODEL]",
            help="Where models are asked, OpenRouter by default; with #MODEL that one, instead of the file's.",
        ),
    ] = None
    key_env: Annotated[
        str | None,
        typer.Option(
            "--key-env",
            metavar="VAR",
            help="The variable that holds its key; by default OPENROUTER_API_KEY there, and MOOT_MODEL_KEY elsewhere, "
            "if that is set.",
        ),
    ] = None
    embeddings: Annotated[
        str | None,
        typer.Option(
            "--embeddings",
            metavar="URL[#MODEL]|wordllama",
            help="What embeds answers: another address, or the package wordllama, offline; by default the endpoint.",
        ),
    ] = None

    def __bool__(self) -> bool:
        """Whether any of them was given."""
        return bool(self.endpoint or self.key_env or self.embeddings)

    @property
    def url(self) -> str:
        """Where models are asked; "": where the file says."""
        return (self.endpoint or "").partition("#")[0]

    def told(self, settings: Settings) -> Told:
        """Return what options and configuration say of where models are."""
        from moot.arbiter.embedders import LOCAL
        from moot.arbiter.endpoints import Told
        from moot.minds.model_choice import key_variable

        return Told(
            endpoint=self.url,
            key_env=key_variable(self.key_env) if self.url else self.key_env or "",
            embeddings="" if self.embeddings == LOCAL else (self.embeddings or "").partition("#")[0],
            configured=settings.models,
        )

    def is_own_name(self, name: str) -> bool:
        """Whether a model's name is no slug, but that of a server or of MOOT_CONFIG."""
        from moot.arbiter.endpoints import OPENROUTER

        return self.url not in ("", OPENROUTER) or name in settings_of().models

    def put_into(self, config: Configuration) -> Configuration:
        """Return a run's file with the models that options name in the place of its own."""
        from moot.arbiter.embedders import LOCAL
        from moot.protocols.arbiter.generated import ModelChoice

        asked = (self.endpoint or "").partition("#")[2]
        embeds = LOCAL if self.embeddings == LOCAL else (self.embeddings or "").partition("#")[2]
        if asked:
            one = ModelChoice(model=asked, weight=1)
            config = config.model_copy(
                update={"sampling": config.sampling.model_copy(update={"models": (one,)})}
            )
        if embeds:
            measured = config.measurement.model_copy(update={"embedding_model": embeds})
            config = config.model_copy(update={"measurement": measured})
        return config


def settings_of() -> Settings:
    """Return the configuration that counts, for its models and its budget."""
    from moot.cli.setup.config import settings

    return settings(None)


def models_of_run(judged: Judged, told: Told, budget: BudgetSettings) -> Models:
    """Return what a run may call.

    Raises:
        CheckFailed: An address is none, a configured model of the wrong kind, or a key is missing.
    """
    from moot.arbiter.endpoints import models_of
    from moot.protocols.kernel.errors import BadInput

    try:
        models = models_of(judged.prepared.config, told, budget)
    except BadInput as error:
        raise CheckFailed(str(error)) from None
    for one in models.settings.values():
        if one.key_env and not one.key_file and not os.environ.get(one.key_env):
            raise CheckFailed(
                f"{one.model} is asked at {one.url}, whose key is missing: set {one.key_env}, or name another address"
                " with --endpoint and the variable of its key with --key-env"
            )
    return models
