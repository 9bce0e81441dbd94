"""Hashes of a configuration and of a plan: equal content, equal hash, however it was written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from moot.protocols.kernel.canonical import canonical_json

AT_ONCE: Final = 256
"""Lines of a plan that are written together: it bounds the memory that takes."""


_OTHERWISE: Final = re.compile(r"\.0[,}\]]|\de[-+]\d")
"""How numbers look that ECMAScript writes otherwise than Python; they may also stand in a text."""


def sha256_of(value: object) -> str:
    """Return the SHA-256 of plain data, in hex: keys sorted, no blanks, numbers as ECMAScript writes them."""
    text = canonical_json(value)
    return sha256_of_text(ecma_json(value) if _OTHERWISE.search(text) or text.endswith(".0") else text)


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
        if _OTHERWISE.search(text):
            text = ecma_json(some)
        found.update(f"{before}{text[1:-1]}".encode())
        before = ","
    found.update(b"]" if before == "," else b"[]")
    return found.hexdigest()


def ecma_json(value: object, key: Callable[[str], Any] | None = str) -> str:
    """Write plain data as ECMAScript's `JSON.stringify` does, no blanks.

    Args:
        value: The data; half of a surrogate pair in it is written as an escape.
        key: Gives what names are sorted by; None leaves them as they are.
    """
    if isinstance(value, Mapping):
        names = list(value) if key is None else sorted(value, key=key)
        return f"{{{','.join(f'{ecma_json(name)}:{ecma_json(value[name], key)}' for name in names)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(ecma_json(one, key) for one in value)}]"
    if isinstance(value, float):
        return _ecma_number(value)
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def _ecma_number(value: float) -> str:
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    digits = repr(value)
    if "e" not in digits or abs(value) >= 1:
        return digits
    if abs(value) >= 1e-6:
        return f"{Decimal(digits):f}"
    mantissa, exponent = digits.split("e")
    return f"{mantissa}e{int(exponent)}"


def whole_numbers(value: object) -> object:
    """Return plain data with 1 for 1.0, as files hold it: then a hash of what is read is the same in any language."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: whole_numbers(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(one) for one in value]
    return value
