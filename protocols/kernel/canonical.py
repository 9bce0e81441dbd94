"""Canonical JSON: equal data, equal bytes, for what is known by its content: evidence, records, drafts in an inbox.

Envelopes do not: their hash covers the bytes that are stored, which nobody lays out again (K15).
"""

from __future__ import annotations

from json.encoder import JSONEncoder
from typing import Final

_ENCODER: Final = JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def canonical_json(value: object) -> str:
    """Write plain data as JSON with sorted keys, no blanks, non-ASCII kept.

    Raises:
        ValueError: A number is not finite.
        TypeError: It holds what JSON cannot say.
    """
    return _ENCODER.encode(value)
