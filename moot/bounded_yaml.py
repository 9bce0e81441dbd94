"""YAML that people give, read within bounds: how deep it nests, and how much it is with all aliases written out."""

from __future__ import annotations

from typing import Any, Final

import yaml

from moot.protocols.kernel.errors import BadInput

MOST_NODES: Final = 100_000
"""Texts, lists and mappings with aliases and merge keys written out: no scene and no script comes near it."""

MOST_DEPTH: Final = 20


class UnboundedYaml(yaml.YAMLError):
    """Say what of some YAML is beyond all bounds, and in which line."""


def load(text: str) -> Any:
    """Read YAML as plain data.

    Nothing is made of it before its size is known: a few aliases of aliases are a few hundred bytes and a billion
    nodes, and merge keys copy what they name as it is read.

    Raises:
        yaml.YAMLError: It is no YAML, or too deep or too large.
        ValueError: A date in it is none, or a number has too many digits.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _measure(text, loader)
    return yaml.load(text, loader)  # a safe loader


def read(text: str, path: object) -> Any:
    """Read the YAML of a file.

    Raises:
        BadInput: It is none, or too deep or too large; the line says where in the file.
    """
    try:
        return load(text)
    except UnboundedYaml as exc:
        raise BadInput(f"{path}: {exc}") from None
    except (yaml.YAMLError, RecursionError) as exc:
        mark = getattr(exc, "problem_mark", None)
        place = f" line {mark.line + 1}" if mark is not None else ""
        raise BadInput(f"{path}:{place} is not YAML: {getattr(exc, 'problem', exc)}") from None
    except ValueError:
        raise BadInput(f"{path}: a date in it is none, or a number has too many digits") from None


def _measure(text: str, loader: Any) -> None:
    """Add up how much a text is, from its events alone.

    Raises:
        UnboundedYaml: Too deep, too much, or an alias of what is not over yet.
    """
    sizes: dict[str, int] = {}
    total = 0
    begun: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in {name for name, _ in begun}:
                raise _beyond(event, f"*{event.anchor} holds itself")
            total += sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            begun.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            name, before = begun.pop()
            if name is not None:
                sizes[name] = total - before
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if len(begun) > MOST_DEPTH:
            raise _beyond(event, "nested too deeply")
        if total > MOST_NODES:
            raise _beyond(event, f"more than {MOST_NODES:,} parts with all aliases written out")


def _beyond(event: yaml.Event, why: str) -> UnboundedYaml:
    line = event.start_mark.line + 1 if event.start_mark is not None else 1
    return UnboundedYaml(f"line {line}: {why}")
