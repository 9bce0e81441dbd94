"""Draws, plans and hashes, from the specification alone."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

DECODE = ("temperature", "top_p", "max_tokens", "presence_penalty", "frequency_penalty")
"""In the order in which they are drawn."""


def imul(a: int, b: int) -> int:
    """Multiply as 32-bit machines do."""
    return a * b % 2**32


def hash32(text: str) -> int:
    """FNV-1a over the 16-bit units of a text."""
    value = 2166136261
    raw = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(raw[::2], raw[1::2], strict=True):
        value = imul(value ^ (256 * high + low), 16777619)
    return value


def draws(seed: object, purpose: str, trial: int) -> Iterator[float]:
    """Yield numbers in [0, 1) by mulberry32."""
    state = hash32(f"{seed}:{purpose}:{trial}")
    while True:
        state = (state + 1831565813) % 2**32
        mixed = imul(state ^ (state >> 15), state | 1)
        mixed = (mixed + imul(mixed ^ (mixed >> 7), mixed | 61)) % 2**32 ^ mixed
        yield (mixed ^ (mixed >> 14)) / 4294967296


def pick(number: float, weights: Sequence[float]) -> int:
    """Return the first item whose cumulative weight a draw does not exceed; one of weight 0 is never drawn."""
    mark, reached = number * math.fsum(weights), 0.0
    for place, weight in enumerate(weights):
        reached += weight
        if weight and mark <= reached:
            return place
    raise AssertionError("weights of nothing")


def planned(config: Mapping[str, Any], trial: int) -> dict[str, Any]:
    """Return a line of the plan."""
    seed, sampling = config["run"]["seed"], config["sampling"]
    source = draws(seed, "plan", trial)

    def choose(kind: str, name: str) -> str:
        items = sampling[kind]
        found: str = items[pick(next(source), [one["weight"] for one in items])][name]
        return found

    decode = decoded(sampling.get("decode"), draws(seed, "decode", trial))
    more = {} if decode is None else {"decode": decode}
    model = choose("models", "model")
    one = choose("personas", "persona")
    kind = config["protocol"]["type"]
    line = {"trial_id": trial, "protocol": kind}
    if kind == "independent":
        template = choose("protocols", "protocol")
        return {**line, "assigned_config": {"model": model, "persona": one, "protocol": template, **more}}
    roles = {role: one if not n else choose("personas", "persona") for n, role in enumerate(seats(config))}
    # A debate trial is assigned its proposer's persona and its own protocol (R-G5); other trials with roles neither.
    is_debate = kind == "debate_v1"
    return {
        **line,
        "assigned_config": {
            "model": model,
            "persona": roles["proposer"] if is_debate else None,
            "protocol": kind if is_debate else None,
            **more,
        },
        "role_assignments": {
            role: {"model_slug": model, "persona_id": persona, **more} for role, persona in roles.items()
        },
    }


def seats(config: Mapping[str, Any]) -> Sequence[str]:
    """Return who speaks in a trial, in the order in which personas are drawn."""
    protocol = config["protocol"]
    if "panel" in protocol:
        return (*protocol["panel"]["reviewers"], "synthesizer")
    return {
        "debate_v1": ("proposer", "critic"),
        "moot:debate": ("advocate", "critic", "judge"),
        "moot:arena": ("planner", "reviewer", "finalizer"),
    }[protocol["type"]]


def decoded(given: Mapping[str, Any] | None, source: Iterator[float]) -> dict[str, Any] | None:
    """Draw what stands as a range; a number stays one and uses no draw."""
    if given is None:
        return None
    found = {}
    for name in DECODE:
        if name not in given:
            continue
        bounds = given[name]
        if not isinstance(bounds, Mapping):
            found[name] = bounds
        elif name == "max_tokens":
            low, high = math.ceil(bounds["min"]), math.floor(bounds["max"])
            found[name] = low + int(next(source) * (high - low + 1))
        else:
            found[name] = bounds["min"] + next(source) * (bounds["max"] - bounds["min"])
    return found


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_of_data(value: object) -> str:
    """Hash canonical JSON: sorted keys, no blanks."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def config_hash(config: Mapping[str, Any]) -> str:
    """Hash a resolved configuration without its run_id."""
    run = dict(config["run"])
    del run["run_id"]
    return sha256_of_data({**config, "run": run})
