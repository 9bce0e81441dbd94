"""Papers, plans and contracts with planted errors, and a clean twin of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from moot.bots.tools.seeding import generator
from moot.compare.cases.case import DOCUMENT, Case, Generated
from moot.compare.cases.texts.facts import facts
from moot.compare.cases.texts.part import Wording, outline
from moot.protocols.kernel.frozen import Json

SORTS: Final = ("paper", "plan", "contract")
MOST: Final = 5
"""Errors in a document that has any."""


@dataclass(frozen=True, slots=True)
class Documents(Generated):
    """Documents, each followed by its twin without errors.

    Truth: `errors`, each with its `lines` (first and last, from 1) and its `kind`; none in a twin.
    """

    name: ClassVar[str] = "documents"

    def __getitem__(self, place: int) -> Case:
        number, is_clean = range(self.count)[place] // 2 + 1, place % 2 == 1
        rng = generator(self.name, self.seed, number)
        sort = SORTS[number % len(SORTS)]
        of_sort = outline(sort)
        topic = of_sort.topics[int(rng.integers(len(of_sort.topics)))]
        filled = facts(sort, topic, rng)
        parts = of_sort.wordings(rng, filled)
        title = str(rng.choice(topic["title"])).format_map(filled)
        planted = {} if is_clean else _planted(parts, rng)
        text, errors = _written(title, parts, filled, planted)
        return Case(
            id=f"document-{self.seed}-{number:05d}{'-twin' if is_clean else ''}",
            kind=DOCUMENT,
            shown={"title": title, "field": topic["field"], "text": text},
            truth={"errors": errors},
        )


def _planted(parts: Sequence[Wording], rng: np.random.Generator) -> dict[int, str]:
    """Choose which errors to plant, at most one in a part; every kind that fits is as likely as any."""
    fits: dict[str, list[int]] = {}
    for at, part in enumerate(parts):
        for kind in part.kinds:
            fits.setdefault(kind, []).append(at)
    wanted = int(rng.integers(1, MOST + 1))
    chosen: dict[int, str] = {}
    for kind in rng.permutation(sorted(fits)):
        free = [at for at in fits[str(kind)] if at not in chosen]
        if free and len(chosen) < wanted:
            chosen[free[int(rng.integers(len(free)))]] = str(kind)
    return chosen


def _written(
    title: str, parts: Sequence[Wording], filled: dict[str, Any], planted: dict[int, str]
) -> tuple[str, tuple[Json, ...]]:
    """Write the text, and say where the errors are."""
    lines, errors = [f"# {title}"], list[Json]()
    for at, part in enumerate(parts):
        right, said = part.lines(filled), part.lines(filled, planted.get(at, ""))
        lines.append("")
        wrong = [
            len(lines) + n for n, pair in enumerate(zip(right, said, strict=True), 1) if pair[0] != pair[1]
        ]
        if at in planted:
            errors.append({"lines": (wrong[0], wrong[-1]), "kind": planted[at]})
        lines += said
    return "\n".join(lines) + "\n", tuple(errors)
