"""Where the models of a run are: the options that say so."""

from __future__ import annotations

import os
from collections.abc import Callable
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

EndpointOption = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        metavar="URL[#MODEL]",
        help="Where models are asked, OpenRouter by default; with #MODEL that one, instead of the file's.",
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key-env",
        metavar="VAR",
        help="The variable that holds its key; by default OPENROUTER_API_KEY there, and MOOT_MODEL_KEY elsewhere, "
        "if that is set.",
    ),
]
EmbeddingsOption = Annotated[
    str | None,
    typer.Option(
        "--embeddings",
        metavar="URL[#MODEL]|wordllama",
        help="What embeds answers: another address, or the package wordllama, offline; by default the endpoint.",
    ),
]


def settings_of() -> Settings:
    """Return the configuration that counts, for its models and its budget."""
    from moot.cli.setup.config import settings

    return settings(None)


def told_of(settings: Settings, endpoint: str | None, key_env: str | None, embeddings: str | None) -> Told:
    """Return what options and configuration say of where models are."""
    from moot.arbiter.embedders import LOCAL
    from moot.arbiter.endpoints import Told
    from moot.minds.model_choice import key_variable

    url = (endpoint or "").partition("#")[0]
    return Told(
        endpoint=url,
        key_env=key_variable(key_env) if url else key_env or "",
        embeddings="" if embeddings in (None, LOCAL) else (embeddings or "").partition("#")[0],
        configured=settings.models,
    )


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


def own_names(endpoint: str | None) -> Callable[[str], bool]:
    """Return what says whether a model's name is no slug, but that of a server or of MOOT_CONFIG."""
    from moot.arbiter.endpoints import OPENROUTER

    is_elsewhere = (endpoint or "").partition("#")[0] not in ("", OPENROUTER)
    return lambda name: is_elsewhere or name in settings_of().models


def with_models(
    change: Callable[[Configuration], Configuration], endpoint: str | None, embeddings: str | None
) -> Callable[[Configuration], Configuration]:
    """Put the models that options name in the place of the file's."""
    from moot.arbiter.embedders import LOCAL
    from moot.protocols.arbiter.generated import ModelChoice

    asked = (endpoint or "").partition("#")[2]
    embeds = LOCAL if embeddings == LOCAL else (embeddings or "").partition("#")[2]

    def changing(config: Configuration) -> Configuration:
        config = change(config)
        if asked:
            one = ModelChoice(model=asked, weight=1)
            config = config.model_copy(
                update={"sampling": config.sampling.model_copy(update={"models": (one,)})}
            )
        if embeds:
            measured = config.measurement.model_copy(update={"embedding_model": embeds})
            config = config.model_copy(update={"measurement": measured})
        return config

    return changing
