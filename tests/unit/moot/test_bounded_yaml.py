"""YAML of strangers costs no more than its text: bombs are told in one line, before anything is made of them."""

from pathlib import Path
from time import perf_counter

import pytest
import yaml

from moot import bounded_yaml
from moot.cases.arena.script import ScriptError, read_script
from tests.doubles.command_line import complaint, write

LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)
MERGES = "a0: &a0 {k0: 1, k1: 2}\n" + "".join(
    f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]\n  m{n}: 1\n" for n in range(1, 30)
)
BOMBS = {
    "aliases": (LAUGHS, "with all aliases written out"),
    "merge keys": (MERGES, "with all aliases written out"),
    "itself": ("start: &a [*a]\n", "*a holds itself"),
    "depth": ("[" * 10_000, "nested too deeply"),
    "plain": ("[" + "x, " * 200_000 + "]", "with all aliases written out"),
}


@pytest.mark.parametrize("bomb", sorted(BOMBS))
def test_a_bomb_is_told_before_it_goes_off(bomb: str, tmp_path: Path) -> None:
    text, why = BOMBS[bomb]
    began = perf_counter()
    with pytest.raises(bounded_yaml.UnboundedYaml, match=why.replace("*", r"\*")):
        bounded_yaml.load(text)
    assert perf_counter() - began < 10
    file = write(tmp_path / "bomb.yaml", text)
    assert why in complaint(2, "scene", file)
    with pytest.raises(ScriptError, match=why.replace("*", r"\*")):
        read_script(file)


@pytest.mark.parametrize(
    "text",
    ["", "a: 1", "a: &x {b: 1}\nc:\n  <<: *x\n  d: *x\n", "- &n 3\n- *n\n- *n\n", "a: 2026-02-23T10:00:00Z"],
)
def test_what_people_write_is_read_as_ever(text: str) -> None:
    assert bounded_yaml.load(text) == yaml.safe_load(text)
