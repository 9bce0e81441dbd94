"""Simulated readers of documents: one, or several who are blind to each other or see what was found before."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields

from moot.bots.minds.simulated.proofreading.checks import Finding
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
        self.reader = _reader(skill)

    async def run(self, trial: Trial) -> Answer:
        """Read what is shown."""
        found = self.reader.read(str(trial.case.shown["text"]), trial.seed)
        return Answer(answer=_told(found), calls=1)


class Readers(Arm):
    """Has a document read by several, one after the other; what enough of them object to is the answer.

    Each is another reader of the same skill.
    """

    kinds = frozenset({DOCUMENT})

    def __init__(
        self,
        readers: int = 5,
        blind: bool = True,
        needed: int = 1,
        skill: Mapping[str, float] | None = None,
    ) -> None:
        """Convene readers.

        Args:
            readers: How many.
            blind: Whether they read without what was found before them.
            needed: How many of them must object to the same line.
            skill: What differs from a usual reader (`Reader`).

        Raises:
            BadInput: More must agree than there are, or a reader has no such property.
        """
        if not 1 <= needed <= readers:
            raise BadInput(f"needed: {needed} of {readers} readers cannot agree")
        self.least = self.most = readers
        self.blind = blind
        self.needed = needed
        self.reader = _reader(skill)

    async def run(self, trial: Trial) -> Answer:
        """Read what is shown."""
        text = str(trial.case.shown["text"])
        given: list[tuple[Finding, ...]] = []
        for n in range(self.least):
            seed = int.from_bytes(hashlib.sha256(f"{trial.seed}/{n}".encode()).digest()[:6])
            before = () if self.blind else tuple(one for found in given for one in found)
            given.append(self.reader.read(text, seed, before))
        objects = Counter(line for found in given for line in {one.line for one in found})
        said = {one.line: one for found in reversed(given) for one in reversed(found)}
        agreed = (said[line] for line in sorted(objects) if objects[line] >= self.needed)
        return Answer(answer=_told(agreed), calls=self.least, votes=tuple(map(_told, given)))


def _reader(skill: Mapping[str, float] | None) -> Reader:
    names = [one.name for one in fields(Reader)]
    for name, value in (skill or {}).items():
        if name not in names:
            raise BadInput(f"skill: a reader has no {name!r:.40}, but {', '.join(names)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise BadInput(f"skill: {name} is a number from 0 on, not {value!r:.40}")
    return Reader(**(skill or {}))  # type: ignore[arg-type]


def _told(found: Iterable[Finding]) -> tuple[Json, ...]:
    """Return findings as an answer, of each line the first."""
    by_line: dict[int, Json] = {}
    for one in found:
        by_line.setdefault(one.line, {"lines": (one.line, one.line), "text": one.text})
    return tuple(by_line[line] for line in sorted(by_line))
