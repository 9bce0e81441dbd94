"""Takes excluded content out of data that a run is given, in whatever text of it that stands (10.3, R-A9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.arena.relevance import Removed, cleanse, redactions
from moot.protocols.kernel.message import Part, changed

LONGEST: Final = 1_000
"""Characters of somebody's words that a reason quotes."""

Told = dict[str, tuple[Removed, ...]]
"""What was removed, by the path of the text that it stood in."""


def cleaned(value: Any, path: str, told: Told, version: int) -> Any:
    """Return data without excluded content; what holds none is returned as it is.

    Args:
        value: A part of a message, a mapping, a tuple or a plain value.
        path: Where it stands, for `told`.
        told: Takes what was removed.
        version: The rules version of the log.
    """
    if isinstance(value, str):
        text, removed = cleanse(value, version)
        if found := tuple(sorted((*redactions(value), *removed))):
            told[path] = found
        return text
    elif isinstance(value, Part):
        for name, field in value.__dict__.items():
            new = cleaned(field, f"{path}.{name}", told, version)
            if new is not field:
                value = changed(value, name, new)
    elif isinstance(value, Mapping):
        plain = {
            _key(key): cleaned(item, f"{path}.{_key(key)}", told, version) for key, item in value.items()
        }
        if any(key not in plain or plain[key] is not item for key, item in value.items()):
            return plain
    elif isinstance(value, tuple):
        items = tuple([cleaned(item, f"{path}[{n}]", told, version) for n, item in enumerate(value)])
        if any(new is not old for new, old in zip(items, value, strict=True)):
            return items
    return value


def quoted(text: str, limit: int = LONGEST) -> str:
    """Return somebody's words as one printable line of bounded length, without excluded content.

    Reasons are quoted in logs of every rules version: what all of them exclude is left out.
    """
    line = "".join(c if c.isprintable() else " " for c in text[: 2 * limit])
    line = " ".join(line.split())
    return cleanse(line if len(line) <= limit else line[: limit - 1] + "…", 0).text


def _key(key: object) -> str:
    return quoted(str(key))
