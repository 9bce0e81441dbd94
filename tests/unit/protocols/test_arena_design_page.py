"""The design page of the Arena draws the transition table, and nothing else."""

import re
from pathlib import Path

from moot.protocols.arena.states import TERMINAL, State
from tests.doubles.arena_table import TRANSITIONS

PAGE = (Path(__file__).parents[3] / "docs" / "design" / "arena.md").read_text(encoding="utf-8")


def test_5_1_the_diagram_has_every_transition_of_the_table_and_no_other():
    drawn = re.findall(r"^    (\S+) --> (\S+?)(?::.*)?$", PAGE, re.MULTILINE)
    assert len(drawn) == len(set(drawn))
    steps = {(str(before), str(after)) for before, after in TRANSITIONS}
    ends = {(str(state), "[*]") for state in TERMINAL}
    assert set(drawn) == steps | ends | {("[*]", str(State.INIT))}
