"""The sentences of simulated seats: every file holds what its seat says, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.bots.minds.simulated.phrases import HERE, Phrases, PhrasesError, checked

OPENED = re.compile(r'^(\w+): Final = Phrases\("([\w/]+)"\)', re.MULTILINE)
FILES = sorted({name for path in HERE.glob("*/*.py") for _, name in OPENED.findall(path.read_text())})


def asked() -> dict[str, set[str]]:
    """Gather which keys the code asks of which file; of a computed key, what stands before the computed part."""
    found: dict[str, set[str]] = {name: set() for name in FILES}
    names: dict[tuple[str, str], str] = {}
    sources = {path: path.read_text() for path in HERE.glob("*/*.py")}
    for path, text in sources.items():
        names |= {(module(path), constant): name for constant, name in OPENED.findall(text)}
    for path, text in sources.items():
        opened = {constant: name for (of, constant), name in names.items() if of == module(path)}
        for of, constants in re.findall(r"from ([\w.]+) import ([\w, ]+)", text):
            for constant in constants.split(", "):
                if (of, constant) in names:
                    opened[constant] = names[of, constant]
        for constant, name in opened.items():
            for plural in re.findall(rf"\b{constant}(?:\[|\.get\()([^\]\n]+)", text):
                found[name] |= set(re.findall(r'f?"([a-z][\w.]*)', plural))
    return found


def module(path: Path) -> str:
    return "moot.bots.minds.simulated." + ".".join(path.relative_to(HERE).with_suffix("").parts)


@pytest.mark.parametrize("name", FILES)
def test_a_file_holds_what_is_asked_of_it_and_nothing_else(name: str) -> None:
    held = set(Phrases(name))
    wanted = asked()[name]
    parts = {key for key in wanted if key.endswith(".")}
    computed = {key for key in held if key.startswith(tuple(parts))}
    assert wanted - parts <= held
    assert all(any(key.startswith(part) for key in held) for part in parts)
    assert held - computed - wanted == set()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = [", "no TOML"),
        ("a = 'one'", "no list"),
        ("a = []", "no list"),
        ("a = ['one', 2]", "no text"),
        ("a = ['one', ' ']", "no text"),
        ("a = ['one', 'one']", "twice"),
        ("a = ['{who']", "a: "),
        ("a = ['{}']", "may only name"),
        ("a = ['{who.secret}']", "may only name"),
        ("[a]\n'b c' = ['one']", "a.b c: is no name"),
    ],
)
def test_a_file_that_is_not_as_it_must_be_is_refused(text: str, why: str) -> None:
    with pytest.raises(PhrasesError, match=why):
        checked("it", text)


def test_tables_give_keys_with_a_point() -> None:
    assert checked("it", "a = ['x {who}']\n[b]\nc = ['y']") == {"a": ("x {who}",), "b.c": ("y",)}


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(PhrasesError, match="debate/nobody"):
        len(Phrases("debate/nobody"))
