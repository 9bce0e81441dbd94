"""Schemas of Arbiter's files are sound, and the models generated from them judge values as they do."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError
from referencing import Registry, Resource

from moot.arbiter.schemas import SUFFIX, names, schema, validator
from tests.doubles.arbiter_configs import config, resolved
from tests.doubles.arbiter_schemas import SCHEMAS

MUTATIONS = 100
"""So many of each schema's are tried."""
OTHERS: tuple[Any, ...] = (None, True, -1, 0, 1, 1.5, 10**20, "", "x", "debate_v1", [], ["x"], {}, {"x": 1})


@pytest.mark.parametrize("name", names())
def test_a_schema_is_one_of_draft_2020_12(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_allows_its_examples_and_its_model_gives_them_back_in_their_order(name: str) -> None:
    model = TypeAdapter(SCHEMAS[name])
    for example in schema(name)["examples"]:
        validator(name).validate(example)
        text = json.dumps(example)
        read = model.validate_json(text)
        assert digits(read.model_dump_json()) == digits(json.dumps(read.as_json())) == digits(text)


def test_a_validator_of_ones_own_follows_the_references() -> None:
    known = Registry().with_resources(
        (f"{one}{SUFFIX}", Resource.from_contents(schema(one))) for one in names()
    )
    for name in SCHEMAS:
        own = jsonschema.Draft202012Validator(schema(name), registry=known)
        for number, example in enumerate(schema(name)["examples"]):
            own.validate(example)
            for value in random.Random(f"{name}{number}").sample(list(mutations(example)), 5):
                assert own.is_valid(value) is validator(name).is_valid(value), value


@pytest.mark.parametrize("name", SCHEMAS)
def test_model_and_schema_judge_what_became_of_the_examples_alike(name: str) -> None:
    model = TypeAdapter(SCHEMAS[name])
    found = [value for example in schema(name)["examples"] for value in mutations(example)]
    for value in random.Random(name).sample(found, min(MUTATIONS, len(found))):
        assert validator(name).is_valid(value) is reads(model, value), value


def digits(text: str) -> object:
    """Read JSON, keep 1.0 and 1 apart, and fields in their order."""
    return json.loads(text, parse_float=str, object_pairs_hook=list)


def reads(model: TypeAdapter[Any], value: object) -> bool:
    try:
        model.validate_json(json.dumps(value))
    except ValidationError:
        return False
    return True


def mutations(whole: Any) -> Iterator[Any]:
    """Leave out each part of a value, put something else for it, and add a field to each object."""
    for path in paths(whole):
        *parents, last = path
        for other in (..., *OTHERS):
            value = copy.deepcopy(whole)
            part = value
            for name in parents:
                part = part[name]
            if other is ...:
                del part[last]
            else:
                part[last] = other
            yield value
    for path in ((), *paths(whole)):
        value = copy.deepcopy(whole)
        part = value
        for name in path:
            part = part[name]
        if isinstance(part, dict):
            part["surplus"] = 1
            yield value


def paths(value: Any) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield (name,)
            yield from ((name, *rest) for rest in paths(part))


def change(value: dict[str, Any], path: str, new: object) -> dict[str, Any]:
    *parents, last = path.split(".")
    part: Any = value
    for name in parents:
        part = part[int(name) if name.isdigit() else name]
    if new is ...:
        del part[last]
    else:
        part[last] = new
    return value


def trial(kind: str = "independent") -> dict[str, Any]:
    attempt = {
        "started_at": "2026-11-05T09:00:00.000Z",
        "completed_at": "2026-11-05T09:00:01.500Z",
        "latency_ms": 1500,
        "retry_count": 0,
    }
    found: dict[str, Any] = {
        "trial_id": 0,
        "requested_model_slug": "a/one",
        "actual_model": None,
        "protocol": kind,
        "status": "success",
        "assigned_config": {"model": "a/one", "persona": "p0", "protocol": "t0"},
        "attempt": attempt,
        "error_code": None,
        "raw_assistant_text": "Yes.",
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }
    if kind == "independent":
        return found
    call = {
        "call_index": 0,
        "turn": 0,
        "role": "proposer",
        "model_requested": "a/one",
        "model_actual": "a/one-2026",
        "request_payload": {"messages": []},
        "response_payload": None,
        "attempt": attempt,
        "error_message": None,
    }
    role = {"model_slug": "a/one", "persona_id": None}
    return {
        **found,
        "assigned_config": {"model": "a/one", "persona": None, "protocol": None},
        "role_assignments": {"proposer": role, "critic": role},
        "calls": [call],
        "transcript": [{"turn": 0, "role": "proposer", "content": "Yes."}],
    }


def debated() -> dict[str, Any]:
    return trial("debate_v1")


def embedding(status: str = "success") -> dict[str, Any]:
    told = {
        "success": ("dimensions", 1),
        "failed": ("error", "slow"),
        "skipped": ("skip_reason", "empty_embed_text"),
    }
    name, value = told[status]
    return {
        "trial_id": 3,
        "embedding_status": status,
        "vector_b64": "AACAPw==" if status == "success" else None,
        "dtype": "float32",
        "encoding": "float32le_base64",
        name: value,
        "embed_text_truncated": False,
        "embed_text_original_chars": 4,
        "embed_text_final_chars": 4,
        "truncation_reason": None,
    }


VERDICTS: list[tuple[str, Callable[[], dict[str, Any]], str, object, bool]] = [
    ("config", config, "description", "A trial run", True),
    ("config", config, "_readme", ["notes"], True),
    ("config", config, "_readme", None, False),
    ("config", config, "run.seed", "alpha-seed", True),
    ("config", config, "run.seed", "", False),
    ("config", config, "run.seed", -1, False),
    ("config", config, "run.seed", True, False),
    ("config", config, "run.seed", ..., False),
    ("config", config, "question.text", "", False),
    ("config", config, "question.source", None, False),
    ("config", config, "sampling.models", [], False),
    ("config", config, "sampling.personas.0.text", "", True),
    ("config", config, "sampling.models.0.weight", -0.5, False),
    ("config", config, "sampling.models.0.weight", "1", False),
    ("config", config, "sampling.decode", {"temperature": {"min": 0, "max": 1}}, True),
    ("config", config, "sampling.decode", {"max_tokens": {"min": 0.5, "max": 9}}, False),
    ("config", config, "sampling.decode", {"max_tokens": 1.5}, False),
    ("config", config, "protocol.type", "debate_v2", False),
    ("config", config, "execution.k_max", 0, False),
    ("config", config, "measurement.novelty_threshold", 1.01, False),
    ("config", config, "measurement.clustering.algorithm", "k_means", False),
    ("config", config, "surplus", 1, False),
    ("config.resolved", resolved, "protocol.timeouts", ..., False),
    ("config.resolved", resolved, "protocol.type", "debate_v1", False),
    ("config.resolved", lambda: resolved("debate_v1"), "description", "whole", True),
    ("config.resolved", lambda: resolved("debate_v1"), "protocol.prompts", ..., False),
    ("config.resolved", resolved, "sampling.personas.0.sha256", "0" * 63, False),
    ("trials", trial, "metadata", {"any": ["thing"]}, True),
    ("trials", trial, "status", "failed", False),
    ("trials", trial, "error_code", ..., False),
    ("trials", trial, "usage", None, False),
    ("trials", trial, "usage.cost", 0.25, True),
    ("trials", trial, "attempt.started_at", "yesterday", False),
    ("trials", trial, "error", {"message": "too slow", "code": None, "retryable": False}, True),
    ("trials", trial, "protocol", "debate_v1", False),
    ("trials", debated, "transcript", [], True),
    ("trials", debated, "transcript", ..., False),
    ("trials", debated, "calls.0.role", "chair", False),
    ("trials", debated, "calls.0.response_payload", ..., False),
    ("embeddings", embedding, "embed_text_sha256", "0" * 64, True),
    ("embeddings", embedding, "dimensions", ..., False),
    ("embeddings", embedding, "vector_b64", None, False),
    ("embeddings", embedding, "error", "slow", False),
    ("embeddings", embedding, "truncation_reason", "max_chars_exceeded", True),
    ("embeddings", lambda: embedding("failed"), "error", "refused", True),
    ("embeddings", lambda: embedding("failed"), "vector_b64", "AACAPw==", False),
    ("embeddings", lambda: embedding("failed"), "error", ..., False),
    ("embeddings", lambda: embedding("skipped"), "skip_reason", "trial_not_success", True),
    ("embeddings", lambda: embedding("skipped"), "skip_reason", "tired", False),
    ("embeddings", lambda: embedding("skipped"), "dimensions", 4, False),
]


@pytest.mark.parametrize(("name", "whole", "path", "new", "is_good"), VERDICTS)
def test_model_and_schema_judge_alike(
    name: str, whole: Callable[[], dict[str, Any]], path: str, new: object, is_good: bool
) -> None:
    value = change(whole(), path, new)
    assert validator(name).is_valid(value) is is_good
    assert reads(TypeAdapter(SCHEMAS[name]), value) is is_good
