"""Questions whose answers can be checked: arithmetic, logic, table look-up, of five difficulties."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from moot.bots.tools.seeding import generator
from moot.compare.cases.case import QUESTION, Case, Generated

HARDEST: Final = 5
OPTIONS: Final = 4
"""Among so many numbers is the result of arithmetic."""

PEOPLE: Final = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gita", "Hugo", "Ines", "Jon")
TOWNS: Final = (
    *("Alden", "Birk", "Corvo", "Dunmere", "Elstow", "Farley", "Grenn", "Holm", "Ister", "Jarrow"),
    *("Kell", "Lorne", "Marsh", "Norrby"),
)
ORDERS: Final = (("taller", "tall"), ("older", "old"), ("faster", "fast"), ("richer", "rich"))
GOODS: Final = ("apples", "bricks", "candles", "plates", "screws", "tickets")


class Asked(NamedTuple):
    """A question with its answer.

    Attributes:
        question: In words.
        answer: A whole number, or a text.
        options: Among what the answer is.
        context: What the question is about, such as a table.
    """

    question: str
    answer: int | str
    options: tuple[str, ...]
    context: str = ""


def arithmetic(difficulty: int, rng: np.random.Generator) -> Asked:
    """Ask for the result of as many steps as the difficulty says, and one more."""
    good = str(rng.choice(GOODS))
    value = int(rng.integers(3, 12 * difficulty))
    said = [f"{rng.choice(PEOPLE)} has {value} {good}."]
    for _ in range(difficulty + 1):
        step, by = int(rng.integers(4)), int(rng.integers(2, 6 + 3 * difficulty))
        if step == 0 and value < 2_000:
            factor = 2 + by % 5
            value, told = value * factor, f"Then there are {factor} times as many."
        elif step == 1 and value > by:
            value, told = value - by, f"{by} of them are given away."
        elif step == 2 and value % 2 == 0:
            value, told = value // 2, "Half of them are sold."
        else:
            value, told = value + by, f"{by} more are bought."
        said.append(told)
    near = [value + by for by in rng.permutation((-10, -2, -1, 1, 2, 10)).tolist() if value + by >= 0]
    options = tuple(str(one) for one in sorted([value, *near[: OPTIONS - 1]]))
    return Asked(" ".join([*said, f"How many {good} are there in the end?"]), value, options)


def logic(difficulty: int, rng: np.random.Generator) -> Asked:
    """Ask who comes where among some people, of whom only neighbours are compared, in any order."""
    count = difficulty + 3
    people = [str(one) for one in rng.permutation(PEOPLE)[:count]]
    more, plain = ORDERS[int(rng.integers(len(ORDERS)))]
    said = [
        f"{first} is {more} than {second}."
        if rng.random() < 0.5
        else f"{second} is not as {plain} as {first}."
        for first, second in pairwise(people)
    ]
    at = int(rng.integers(1, count - 1))
    told = " ".join(said[int(n)] for n in rng.permutation(len(said)))
    before = "one of the others is" if at == 1 else f"{at} of the others are"
    return Asked(
        f"{told} Of whom is it true that exactly {before} {more}?", people[at], tuple(sorted(people))
    )


def table(difficulty: int, rng: np.random.Generator) -> Asked:
    """Ask for the town that has most of something, among those that meet more conditions the harder it is."""
    count = min(3 + 2 * difficulty, len(TOWNS))
    towns = [str(one) for one in rng.permutation(TOWNS)[:count]]
    names = ("inhabitants", "schools", "trees", "bridges")[: 2 + difficulty // 2]
    columns = [rng.permutation(np.arange(11, 11 + 3 * count))[:count] for _ in names]
    rows = list(zip(towns, *columns, strict=True))
    conditions = (difficulty + 1) // 2
    fits, said = rows, list[str]()
    for n in range(1, min(conditions, len(names) - 1) + 1):
        ordered = sorted(int(row[n + 1]) for row in fits)
        bound = ordered[len(ordered) // 3]
        fits = [row for row in fits if int(row[n + 1]) >= bound]
        said.append(f"at least {bound} {names[n]}")
    best = max(fits, key=lambda row: int(row[1]))
    head = f"| town | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}\n"
    body = "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)
    question = f"Which town has the most {names[0]}, among those with {' and '.join(said)}?"
    return Asked(question, best[0], tuple(sorted(towns)), head + body)


SORTS: Final = {"arithmetic": arithmetic, "logic": logic, "table": table}


@dataclass(frozen=True, slots=True)
class Questions(Generated):
    """Questions of all sorts and difficulties in turn.

    Truth: `answer`, a whole number or a text, `sort`, and `difficulty` from 1 to 5.
    """

    name: ClassVar[str] = "questions"

    def __getitem__(self, place: int) -> Case:
        n = range(1, self.count + 1)[place]
        sort = tuple(SORTS)[n % len(SORTS)]
        difficulty = n // len(SORTS) % HARDEST + 1
        asked = SORTS[sort](difficulty, generator(self.name, self.seed, n))
        shown: dict[str, Any] = {"question": asked.question, "options": asked.options}
        shown |= {"context": asked.context} if asked.context else {}
        truth = {"answer": asked.answer, "sort": sort, "difficulty": difficulty}
        return Case(f"question-{self.seed}-{n:05d}", QUESTION, shown, truth)
