"""Hashes of a configuration and of a plan: equal content, equal hash, however it was written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from moot.protocols.kernel.canonical import canonical_json


def sha256_of(value: object) -> str:
    """Return the SHA-256 of plain data, in hex: keys sorted, no blanks, 1.0 the same as 1."""
    return sha256_of_text(canonical_json(whole_numbers(value)))


def sha256_of_text(text: str) -> str:
    """Return the SHA-256 of a text as UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def config_sha256(resolved: Mapping[str, Any]) -> str:
    """Return the hash of a resolved configuration; its run_id does not count, so equal configurations hash equal.

    Source: ruling R-S7.
    """
    run = {name: value for name, value in resolved["run"].items() if name != "run_id"}
    return sha256_of({**resolved, "run": run})


def plan_sha256(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the hash of a plan, given as the lines of trial_plan.jsonl."""
    return sha256_of(list(entries))


def whole_numbers(value: object) -> object:
    """Return plain data with 1 for 1.0, as files hold it: then a hash of what is read is the same in any language."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: whole_numbers(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(one) for one in value]
    return value
