"""Where the models of a run are: what its file calls by slugs, and what a command says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import ValidationError

from moot.arbiter.embedders import LOCAL
from moot.arbiter.ledger import Models
from moot.config.budget import BudgetSettings
from moot.config.models import ModelSettings
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.faults import first_fault
from moot.protocols.kernel.minds import in_short

OPENROUTER: Final = "https://openrouter.ai/api/v1"
OPENROUTER_KEY: Final = "OPENROUTER_API_KEY"
"""Where slugs are asked of, and the variable of its key, when nobody says otherwise."""

EMBEDS: Final = "embeddings/"
"""Before the slug of a model in the names that trials ask for, where it embeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a command says of where models are.

    Attributes:
        endpoint: An address where all slugs are asked of; "": OpenRouter.
        key_env: The variable that holds its key; "": none is sent, but to OpenRouter.
        embeddings: The address where texts are embedded; "": the same.
        configured: `[models.NAME]` of the configuration, by name: a slug that is such a name is that model.
    """

    endpoint: str = ""
    key_env: str = ""
    embeddings: str = ""
    configured: Mapping[str, ModelSettings]


def models_of(config: ResolvedConfiguration, told: Told, budget: BudgetSettings) -> Models:
    """Say where each model of a run is.

    Raises:
        BadInput: An address is none, or a configured model is of the wrong kind.
    """
    known: dict[str, ModelSettings] = {}
    names: dict[str, str] = {}
    for slug in dict.fromkeys(one.model for one in config.sampling.models):
        names[slug] = _named(slug, _settings(slug, config, told), known)
    model = config.measurement.embedding_model
    if model != LOCAL:
        names[EMBEDS + model] = _named(model, _embedding(model, config, told), known)
    return Models(settings=known, names=names, budget=budget)


def _settings(slug: str, config: ResolvedConfiguration, told: Told) -> ModelSettings:
    given = told.configured.get(slug)
    if given is not None:
        if given.api == "embeddings":
            raise BadInput(
                f"[models.{slug}] embeds texts, and answers none: choose another in sampling.models"
            )
        return given
    return _at(told.endpoint, slug, config, told.key_env, "--endpoint")


def _embedding(model: str, config: ResolvedConfiguration, told: Told) -> ModelSettings:
    given = told.configured.get(model)
    if given is not None:
        if given.api != "embeddings":
            raise BadInput(f'[models.{model}] answers, and embeds nothing: write api = "embeddings" there')
        return given
    if not told.embeddings:
        return _at(told.endpoint, model, config, told.key_env, "--endpoint", api="embeddings")
    # A key goes where it belongs, and nowhere else.
    is_same = urlsplit(told.embeddings)[:2] == urlsplit(told.endpoint or OPENROUTER)[:2]
    key_env = told.key_env if is_same else ""
    return _at(told.embeddings, model, config, key_env, "--embeddings", api="embeddings")


def _at(
    url: str, model: str, config: ResolvedConfiguration, key_env: str, option: str, **more: Any
) -> ModelSettings:
    """Return a model at an address, with time enough for what the run allows its calls."""
    call_s = config.protocol.timeouts.per_call_timeout_ms / 1_000
    plain = {
        "url": url or OPENROUTER,
        "model": model,
        "key_env": key_env or ("" if url else OPENROUTER_KEY),
        "timeout_s": min(1_800.0, max(1.0, call_s)),
        "at_once": min(1_024, config.execution.workers),
        **more,
    }
    try:
        return ModelSettings.model_validate(plain)
    except ValidationError as exc:
        field, why = first_fault(exc, "", ModelSettings.model_fields)
        raise BadInput(f"{'--key-env' if field == 'key_env' else option}: {why}") from None


def _named(slug: str, settings: ModelSettings, known: dict[str, ModelSettings]) -> str:
    """Give a model a name that no other has."""
    name, n = in_short(slug), 1
    while name in known:
        n += 1
        name = f"{in_short(slug)[:36]}-{n}"
    known[name] = settings
    return name
