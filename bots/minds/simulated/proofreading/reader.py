"""A reader of limited attention, and what it does when it is shown what others have found.

It says nothing about real readers or models: its attention, its habits and its slips are numbers that are stated here,
so that a study with it shows what a protocol makes of such readers, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from moot.bots.minds.simulated.proofreading.checks import CHECKS, Finding, findings
from moot.bots.tools.seeding import generator

HABITS: Final = {
    "wrong_sum": 3.0,
    "wrong_percentage": 2.0,
    "contradiction": 2.0,
    "claim_without_source": 2.0,
    "missing_control": 2.0,
    "dates_out_of_order": 2.0,
    "missing_owner": 2.0,
    "wrong_weekday": 0.3,
    "repeated_number": 0.5,
    "words_and_figures": 0.5,
}
"""How much likelier than another a check is to be made; 1 where nothing is said."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader.

    It makes `effort` checks, drawn by its habits. Each earlier finding that it is shown takes one of them, with the
    chance `heed`: the reader makes the check by which that was found, before any of its own choice, and agrees when it
    finds the same, and else with the chance `credulity`. So whoever reads after others looks at less that is new.

    Attributes:
        effort: How many of the checks it makes of a text.
        shared: How much readers of one text turn to the same checks beyond common habits, in [0, 1].
        slips: The chance, of each check made, to object to a line without any ground.
        heed: See above.
        credulity: See above.
    """

    effort: int = 7
    shared: float = 0.2
    slips: float = 0.03
    heed: float = 0.5
    credulity: float = 0.1

    def read(self, text: str, seed: int, others: Sequence[Finding] = ()) -> tuple[Finding, ...]:
        """Read a text.

        Args:
            text: All that the reader has.
            seed: Of this reading.
            others: What was found before, where it is shown; () for a blind reader.

        Returns:
            What it objects to, by line, each once.
        """
        rng = generator("reader", seed)
        left, found = round(self.effort), set[Finding]()
        made: set[str] = set()
        for one in dict.fromkeys(others):
            if not left or rng.random() >= self.heed:
                continue
            left -= 1
            made.add(one.kind)
            found.update(own := findings(one.kind, text))
            if one not in own and rng.random() < self.credulity:
                found.add(one)
        for kind in [kind for kind in self._order(text, rng) if kind not in made][:left]:
            found.update(findings(kind, text))
            if rng.random() < self.slips:
                found.add(_groundless(kind, text, rng))
        return tuple(sorted(found))

    def _order(self, text: str, rng: np.random.Generator) -> list[str]:
        """Draw in which order it would make all checks: what is habitual is likely to come early."""
        common = generator("text", text).exponential(size=len(CHECKS))
        own = rng.exponential(size=len(CHECKS))
        is_shared = rng.random(len(CHECKS)) < math.sqrt(self.shared)
        waits = np.where(is_shared, common, own) / np.array([HABITS.get(kind, 1.0) for kind in CHECKS])
        return [tuple(CHECKS)[int(at)] for at in np.argsort(waits)]


def _groundless(kind: str, text: str, rng: np.random.Generator) -> Finding:
    """Object to any line that says something."""
    lines = [
        number for number, line in enumerate(text.split("\n"), 1) if line.strip() and line[0] not in "#|"
    ]
    return Finding(lines[int(rng.integers(len(lines)))] if lines else 1, kind, "this does not look right")
