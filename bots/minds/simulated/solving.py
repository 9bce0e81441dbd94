"""A solver who slips: it works out arithmetic, orders and tables step by step, and errs in a step by chance.

As with the simulated readers, its skill is a number that is stated and no finding about any real mind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from moot.bots.tools.seeding import generator

_STEPS: Final = (
    (re.compile(r"has (\d+) "), lambda value, by: by),
    (re.compile(r"(\d+) times as many"), lambda value, by: value * by),
    (re.compile(r"(\d+) of them are given away"), lambda value, by: value - by),
    (re.compile(r"Half of them are sold()"), lambda value, by: value // 2),
    (re.compile(r"(\d+) more are bought"), lambda value, by: value + by),
)
_ORDER: Final = re.compile(r"(\w+) is (not as )?\w+ (?:than|as) (\w+)\.")
_PLACE: Final = re.compile(r"exactly (one|\d+) of the others")
_BOUND: Final = re.compile(r"at least (\d+) (\w+)")


@dataclass(frozen=True, slots=True)
class Solver:
    """A solver.

    Attributes:
        slip: The chance to err in each step.
    """

    slip: float = 0.06

    def solve(self, shown: Mapping[str, Any], seed: int) -> tuple[str | None, float]:
        """Answer a question.

        Args:
            shown: `question`, and `options` and `context` where there are any.
            seed: Of this attempt.

        Returns:
            The answer, None where it cannot work it out and has nothing to choose from, and its confidence: the chance
            that no step slipped, or that of a guess.
        """
        rng = generator("solver", seed)
        question, options = str(shown["question"]), tuple(map(str, shown.get("options", ())))
        if "exactly" in question and (chain := _chain(question)):
            return self._counted(chain, question, options, rng)
        if context := str(shown.get("context", "")):
            return self._looked_up(context, question, rng)
        if steps := _steps(question):
            return self._reckoned(steps, options, rng)
        if not options:
            return None, 0.0
        return options[int(rng.integers(len(options)))], 1.0 / len(options)

    def _reckoned(
        self, steps: Sequence[Any], options: Sequence[str], rng: np.random.Generator
    ) -> tuple[str, float]:
        """Reckon, and take the option that is nearest to what comes out."""
        value = 0
        for step, by in steps:
            value = step(value, by)
            if rng.random() < self.slip:
                value += (1, -1, 10, -10)[int(rng.integers(4))]
        numbers = [int(one) for one in options if one.isdecimal()]
        nearest = min(numbers, key=lambda one: abs(one - value), default=value)
        return str(nearest), (1.0 - self.slip) ** len(steps)

    def _counted(
        self, chain: Sequence[str], question: str, options: Sequence[str], rng: np.random.Generator
    ) -> tuple[str, float]:
        place = _PLACE.search(question)
        at = 0 if place is None else 1 if place[1] == "one" else int(place[1])
        sure = (1.0 - self.slip) ** len(chain)
        if rng.random() >= sure:
            others = [one for one in options if one != chain[min(at, len(chain) - 1)]]
            return others[int(rng.integers(len(others)))], sure
        return chain[min(at, len(chain) - 1)], sure

    def _looked_up(self, context: str, question: str, rng: np.random.Generator) -> tuple[str, float]:
        head, _, *rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in context.splitlines()
        ]
        wanted = question.partition(" the most ")[2].partition(",")[0]
        steps = 1
        for bound, name in _BOUND.findall(question):
            at = head.index(name)
            # A row is overlooked, or taken by mistake.
            rows = [
                row for row in rows if (int(row[at]) >= int(bound)) != (rng.random() < self.slip / 3)
            ] or rows
            steps += len(rows)
        best = max(rows, key=lambda row: int(row[head.index(wanted)]))
        return best[0], (1.0 - self.slip / 3) ** steps


def _steps(question: str) -> list[Any]:
    found = []
    for sentence in question.split(". "):
        for pattern, step in _STEPS:
            if match := pattern.search(sentence):
                found.append((step, int(match[1] or 0)))
                break
    return found


def _chain(question: str) -> list[str]:
    """Put people in the order in which neighbours are compared."""
    after: dict[str, str] = {}
    for first, negated, second in _ORDER.findall(question):
        after |= {second: first} if negated else {first: second}
    start = next((one for one in after if one not in after.values()), None)
    chain = [start] if start else []
    while chain and chain[-1] in after and len(chain) <= len(after):
        chain.append(after[chain[-1]])
    return [str(one) for one in chain]
