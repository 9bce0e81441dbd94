"""A simulated reader of documents, alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from moot.bots.minds.simulated.proofreading.reader import Reader
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.cases.case import DOCUMENT
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.frozen import Json


class OneReader(Arm):
    """Has a document read once."""

    kinds = frozenset({DOCUMENT})
    least = most = 1

    def __init__(self, skill: Mapping[str, float] | None = None) -> None:
        """Take what differs from a usual reader (`Reader`).

        Raises:
            BadInput: A reader has no such property.
        """
        self.reader = reader_of(skill)

    async def run(self, trial: Trial) -> Answer:
        """Read what is shown."""
        found = self.reader.read(str(trial.case.shown["text"]), trial.seed)
        by_line = {one.line: one for one in reversed(found)}
        told: list[Json] = [{"lines": (line, line), "text": by_line[line].text} for line in sorted(by_line)]
        return Answer(answer=tuple(told), calls=1)


def reader_of(skill: Mapping[str, float] | None) -> Reader:
    """Return a reader of whom is said what differs from a usual one.

    Raises:
        BadInput: A reader has no such property.
    """
    names = [one.name for one in fields(Reader)]
    for name, value in (skill or {}).items():
        if name not in names:
            raise BadInput(f"skill: a reader has no {name!r:.40}, but {', '.join(names)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise BadInput(f"skill: {name} is a number from 0 on, not {value!r:.40}")
    return Reader(**(skill or {}))  # type: ignore[arg-type]
