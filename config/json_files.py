"""Read a file that holds one JSON document; what is wrong with it is told as one line."""

from __future__ import annotations

import json
from math import isinf
from pathlib import Path
from typing import Any, NoReturn

from moot.protocols.kernel.errors import BadInput


class BadJson(BadInput):
    """Say what keeps a file from being read as JSON, without the file's name."""


def read_text(path: Path, most_bytes: int) -> str:
    """Read a file as UTF-8.

    Raises:
        BadJson: It cannot be read, is larger than `most_bytes`, or is not UTF-8.
        FileNotFoundError: There is none.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as exc:
        why = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
        raise BadJson(f"cannot be read: {why}") from None
    if len(data) > most_bytes:
        raise BadJson(f"is larger than {most_bytes:,} bytes: shorten it")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise BadJson(f"is not UTF-8: see byte {exc.start}") from None


def parsed(text: str) -> object:
    """Return what a JSON text says.

    Raises:
        BadJson: It is no JSON, or says a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as exc:
        raise BadJson(f"is not JSON: {exc.msg}, line {exc.lineno}") from None
    except RecursionError:
        raise BadJson("is not JSON that anybody needs: it nests too deep") from None
    except ValueError as exc:
        raise BadJson(f"is not JSON: {exc}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BadJson(f"has the key {key[:60]!a} twice in one object")
        found[key] = value
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        raise BadJson(f"is not JSON that anybody can use: {digits[:20]} is too large a number")
    return value


def _no_constant(name: str) -> NoReturn:
    raise BadJson(f"is not JSON: {name} is no number of it")
