"""Simulated readers of documents: one, or several who are blind to each other or see what was found before."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

from moot.bots.minds.simulated.proofreading.checks import Finding
from moot.bots.minds.simulated.proofreading.reader import Reader
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.cases.case import DOCUMENT
from moot.protocols.kernel.frozen import Json


class OneReader(Arm):
    """Has a document read once."""

    kinds = frozenset({DOCUMENT})
    least = most = 1

    def __init__(self, **skill: Any) -> None:
        """Take what differs from a usual reader (`Reader`)."""
        self.reader = Reader(**skill)

    async def run(self, trial: Trial) -> Answer:
        """Read what is shown."""
        found = self.reader.read(str(trial.case.shown["text"]), trial.seed)
        return Answer(answer=_told(found), calls=1)


class Readers(Arm):
    """Has a document read by several, one after the other; what enough of them object to is the answer.

    Each is another reader of the same skill.
    """

    kinds = frozenset({DOCUMENT})

    def __init__(self, readers: int = 5, blind: bool = True, needed: int = 1, **skill: Any) -> None:
        """Convene readers.

        Args:
            readers: How many.
            blind: Whether they read without what was found before them.
            needed: How many of them must object to the same line.
            skill: What differs from a usual reader (`Reader`).

        Raises:
            ValueError: More must agree than there are.
        """
        if not 1 <= needed <= readers:
            raise ValueError(f"{needed} of {readers} readers cannot agree")
        self.least = self.most = readers
        self.blind = blind
        self.needed = needed
        self.reader = Reader(**skill)

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


def _told(found: Iterable[Finding]) -> tuple[Json, ...]:
    """Return findings as an answer, of each line the first."""
    by_line: dict[int, Json] = {}
    for one in found:
        by_line.setdefault(one.line, {"lines": (one.line, one.line), "text": one.text})
    return tuple(by_line[line] for line in sorted(by_line))
