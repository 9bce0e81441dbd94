"""Copies with other fields, of dataclasses and named tuples alike: what `copy.replace` is from Python 3.13 on."""

from __future__ import annotations

import dataclasses
from typing import Any


def replace(one: Any, /, **changes: Any) -> Any:
    """Return a copy of a dataclass or of a named tuple with some fields changed."""
    return one._replace(**changes) if isinstance(one, tuple) else dataclasses.replace(one, **changes)
