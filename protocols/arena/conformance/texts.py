"""Finds the texts in data of any depth."""

from __future__ import annotations

from collections.abc import Iterator

from moot.protocols.kernel.redact import redact


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a value, keys of objects too; without recursion, so that no depth is too deep."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            waiting.extend(part.keys())
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            waiting.extend(part)


def placed_texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Yield every text in a value with its path."""
    waiting: list[tuple[str, object]] = [(path, value)]
    while waiting:
        where, part = waiting.pop()
        if isinstance(part, str):
            yield where, part
        elif isinstance(part, dict):
            waiting += [(f"{where} key", key) for key in part]
            waiting += [(_below(where, key), item) for key, item in part.items()]
        elif isinstance(part, list | tuple):
            waiting += [(f"{where[:200]}[{index}]", item) for index, item in enumerate(part)]


def _below(where: str, key: object) -> str:
    # Paths stay short however deep they lead.
    is_plain = isinstance(key, str) and len(key) <= 40 and key.isidentifier() and redact(key) == key
    return f"{where[:200]}.{key}" if is_plain else f"{where[:200]}[…]"
