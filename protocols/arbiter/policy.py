"""The guardrails of a run: what is odd about it, and what a strict policy refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from moot.protocols.arbiter.generated import (
    CatalogEntry,
    ModelChoice,
    Policy,
    Range,
    ResolvedConfiguration,
    WholeRange,
)
from moot.protocols.arbiter.seats import seats_of

TAKEN: Final = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "max_tokens": (1, float("inf")),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}
"""What OpenAI's API takes, from and to; schemas leave it open."""


def warnings(
    config: ResolvedConfiguration,
    models: Mapping[str, CatalogEntry],
    is_own: Callable[[str], bool] = lambda name: False,
) -> list[str]:
    """Return what is odd but allowed, a line each.

    Args:
        config: The run.
        models: What the catalog knows, by slug.
        is_own: Whether a model's name is no slug, as the user said where it is.
    """
    return [*_of_models(config, models, is_own), *_of_decoding(config), *_of_counts(config)]


def refusals(config: ResolvedConfiguration, models: Mapping[str, CatalogEntry], policy: Policy) -> list[str]:
    """Return what a policy refuses, a line each; nothing when it is not strict.

    Args:
        config: The run.
        models: What the catalog knows, by slug.
        policy: What is allowed.
    """
    if not policy.strict:
        return []
    found = []
    for where, one in _places(config):
        if is_free(one.model, models) and not policy.allow_free:
            found.append(
                f"{where}: {one.model} is free, which --strict refuses: choose another or --allow-free"
            )
        if is_aliased(one.model, models) and not policy.allow_aliased:
            found.append(
                f"{where}: {one.model} is an alias, which --strict refuses: name the model or --allow-aliased"
            )
    return found


def is_free(slug: str, models: Mapping[str, CatalogEntry]) -> bool:
    """Say whether a model costs nothing: it is served as load allows, and its answers may be kept."""
    known = models.get(slug)
    return slug.endswith(":free") or (known is not None and known.tier == "free")


def is_aliased(slug: str, models: Mapping[str, CatalogEntry]) -> bool:
    """Say whether a name is known to change its model in time."""
    known = models.get(slug)
    return known is not None and known.is_aliased is True


def _places(config: ResolvedConfiguration) -> Iterator[tuple[str, ModelChoice]]:
    for n, one in enumerate(config.sampling.models):
        yield f"sampling.models[{n}]", one


def _of_models(
    config: ResolvedConfiguration, models: Mapping[str, CatalogEntry], is_own: Callable[[str], bool]
) -> Iterator[str]:
    for where, one in _places(config):
        if "/" not in one.model and not is_own(one.model):
            yield f"{where}: {one.model} names no provider: a slug reads provider/model"
        if one.catalog_status != "known" and not is_own(one.model):
            yield f"{where}: {one.model} is not in the catalog: check its spelling"
        if is_free(one.model, models):
            yield f"{where}: {one.model} is free: expect limits and other answers from day to day"
        if is_aliased(one.model, models):
            yield f"{where}: {one.model} is an alias: the model behind it changes in time"


def _of_decoding(config: ResolvedConfiguration) -> Iterator[str]:
    if config.sampling.decode is None:
        return
    for name, (least, most) in TAKEN.items():
        given = getattr(config.sampling.decode, name)
        if given is None:
            continue
        ends = (given.min, given.max) if isinstance(given, Range | WholeRange) else (given,)
        for one in ends:
            if not least <= one <= most:
                bounds = f"{least:g} to {most:g}" if most < float("inf") else f"{least:g} or more"
                yield f"sampling.decode.{name}: {one:g} is not what OpenAI's API takes: choose {bounds}"


def _of_counts(config: ResolvedConfiguration) -> Iterator[str]:
    sampling, execution = config.sampling, config.execution
    if config.protocol.type == "independent":
        cells = len(sampling.models) * len(sampling.personas) * len(sampling.protocols)
    else:
        cells = len(sampling.models) * len(sampling.personas) ** len(seats_of(config.protocol))
    if execution.k_max < 2 * cells:
        yield (
            f"execution.k_max: {execution.k_max} trials for {cells} combinations are fewer than two each: "
            "raise it, or sample from less"
        )
    if execution.k_min < execution.batch_size:
        yield (
            f"execution.k_min: {execution.k_min} is less than a batch of {execution.batch_size}: "
            "the first batch may already count as settled"
        )
    if execution.k_min > execution.k_max:
        yield (
            f"execution.k_min: {execution.k_min} is more than k_max, {execution.k_max}: "
            "no run can ever count as settled"
        )
    if (clustering := config.measurement.clustering).enabled and clustering.stop_mode == "enforced":
        yield "measurement.clustering.stop_mode: enforced is treated as advisory: clusters stop no run"
