"""The sentences of simulated seats: TOML files beside them, read and checked here.

A file holds lists of `str.format` templates, the variants of one sentence, by key; a table of lists gives keys such as
`basis.overfitting`. Plurals of one are chosen as `wording.worded` says: `{trades} trade[s]`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Any, Final

from moot.bots.minds.simulated.wording import CHOICE

Variants = tuple[str, ...]

HERE: Final = Path(__file__).resolve().parent

_KEY: Final = re.compile(r"[a-zA-Z]\w*")


class PhrasesError(Exception):
    """A file of sentences cannot be used: the message names file, key and fault."""


class Phrases(Mapping[str, Variants]):
    """The sentences of one file, variants by key; it is read when the first one is asked for."""

    def __init__(self, name: str) -> None:
        """Name the file, such as `debate/critic`."""
        self._name = name

    @cached_property
    def _variants(self) -> Mapping[str, Variants]:
        try:
            text = (HERE / f"{self._name}.toml").read_text(encoding="utf-8")
        except OSError as error:
            raise PhrasesError(f"{self._name} cannot be read: {error.strerror}") from None
        return checked(self._name, text)

    def __getitem__(self, key: str) -> Variants:
        return self._variants[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variants)

    def __len__(self) -> int:
        return len(self._variants)


def checked(name: str, text: str) -> dict[str, Variants]:
    """Read the text of a file.

    Args:
        name: Which one, for errors.
        text: It.

    Raises:
        PhrasesError: It is no TOML, or not of this form.
    """
    try:
        found = dict(_flat(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise PhrasesError(f"{name} is no TOML: {error}") from None
    for key, variants in found.items():
        if fault := _fault(key, variants):
            raise PhrasesError(f"{name}, {key}: {fault}")
    return found


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", tuple(value) if isinstance(value, list) else value


def _fault(key: str, variants: Any) -> str:
    """Say what is wrong with the variants of a sentence, "" when nothing is."""
    if not all(_KEY.fullmatch(part) for part in key.split(".")):
        return "is no name"
    if not isinstance(variants, tuple) or not variants:
        return "is no list of sentences"
    if not all(isinstance(one, str) and one.strip() for one in variants):
        return "holds something that is no text"
    if len(set(variants)) < len(variants):
        return "says the same twice"
    for one in variants:
        try:
            named = [field for _, field, form, conversion in Formatter().parse(one) if field is not None]
        except ValueError as error:
            return f"{one!r}: {error}"
        if not all(field.isidentifier() for field in named):
            return f"{one!r} may only name facts, such as {{name}}"
        for choice in CHOICE.finditer(one):
            if not (choice["fact"] in named if choice["fact"] else "{" in one[: choice.start()]):
                return f"{one!r}: {choice[0]} goes by no fact of the sentence, such as {{count}} before it"
        if re.search(r"[\[\]]", CHOICE.sub("", one)):
            return f"{one!r}: a choice is written as [s] or [were|was]"
    return ""
