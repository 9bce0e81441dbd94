"""Hashes of a configuration and of a plan: equal content, equal hash, however it was written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from moot.protocols.kernel.canonical import canonical_json

AT_ONCE: Final = 256
"""Lines of a plan that are written together: it bounds the memory that takes."""


_FRACTIONS: Final = (".0,", ".0}", ".0]", "e+")
"""How whole numbers look that are fractions to Python; they may also stand in a text."""


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


def plan_sha256(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the hash of a plan, given as the lines of trial_plan.jsonl, one after the other: of all as one list."""
    found = hashlib.sha256()
    left, before = iter(entries), "["
    while some := list(islice(left, AT_ONCE)):
        text = canonical_json(some)
        if any(one in text for one in _FRACTIONS):
            text = canonical_json(whole_numbers(some))
        found.update(f"{before}{text[1:-1]}".encode())
        before = ","
    found.update(b"]" if before == "," else b"[]")
    return found.hexdigest()


def whole_numbers(value: object) -> object:
    """Return plain data with 1 for 1.0, as files hold it: then a hash of what is read is the same in any language."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: whole_numbers(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(one) for one in value]
    return value
