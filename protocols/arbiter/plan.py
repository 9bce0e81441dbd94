"""The plan: what each trial asks, drawn from the seed before any call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from moot.protocols.arbiter.generated import (
    AssignedConfig,
    Decode,
    DrawnDecode,
    PlannedTrial,
    Range,
    ResolvedConfiguration,
    Role,
    Speaker,
    WholeRange,
)
from moot.protocols.arbiter.prng import Stream, stream
from moot.protocols.arbiter.seats import assignments_of, seats_of


def plan(config: ResolvedConfiguration) -> Iterator[PlannedTrial]:
    """Draw all trials of a run, by trial_id; a trial is the same whatever k_max is.

    Raises:
        ValueError: Some weights add up to nothing.
    """
    sampling, seed, kind = config.sampling, config.run.seed, config.protocol.type
    models = tuple(one.weight for one in sampling.models)
    personas = tuple(one.weight for one in sampling.personas)
    templates = tuple(one.weight for one in sampling.protocols)
    seats = seats_of(config.protocol)
    for trial_id in range(config.execution.k_max):
        draws = stream(seed, "plan", trial_id)
        decode = drawn(sampling.decode, stream(seed, "decode", trial_id))
        model = sampling.models[draws.choose(models)].model
        if not seats:
            first = sampling.personas[draws.choose(personas)].persona
            template = sampling.protocols[draws.choose(templates)].protocol
            assigned = AssignedConfig(model=model, persona=first, protocol=template, decode=decode)
            yield PlannedTrial(trial_id=trial_id, protocol=kind, assigned_config=assigned)
            continue
        roles = {
            seat: Role(
                model_slug=model, persona_id=sampling.personas[draws.choose(personas)].persona, decode=decode
            )
            for seat in seats
        }
        yield PlannedTrial(
            trial_id=trial_id,
            protocol=kind,
            assigned_config=_assigned(kind, model, roles, decode),
            role_assignments=assignments_of(config.protocol, roles),
        )


def _assigned(
    kind: str, model: str, roles: Mapping[Speaker, Role], decode: DrawnDecode | None
) -> AssignedConfig:
    """Return what a trial with roles asks; a debate_v1 names its proposer's persona and itself (R-G5)."""
    is_debate = kind == "debate_v1"
    return AssignedConfig(
        model=model,
        persona=roles["proposer"].persona_id if is_debate else None,
        protocol=kind if is_debate else None,
        decode=decode,
    )


def drawn(decode: Decode | None, draws: Stream) -> DrawnDecode | None:
    """Draw how a trial is decoded; a number that stands fixed uses up no draw."""
    if decode is None:
        return None
    # The order of the fields is the order of the draws.
    return DrawnDecode(
        temperature=_number(decode.temperature, draws),
        top_p=_number(decode.top_p, draws),
        max_tokens=_whole(decode.max_tokens, draws),
        presence_penalty=_number(decode.presence_penalty, draws),
        frequency_penalty=_number(decode.frequency_penalty, draws),
    )


def _number(given: float | Range | None, draws: Stream) -> float | None:
    return draws.between(given.min, given.max) if isinstance(given, Range) else given


def _whole(given: int | WholeRange | None, draws: Stream) -> int | None:
    return draws.whole(given.min, given.max) if isinstance(given, WholeRange) else given
