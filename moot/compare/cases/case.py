"""A case of a study: what is shown, and the truth that is not."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.frozen import Json

MARKET: Final = "market"
"""Shown: `strategy` (`archetype`, `params`, `symbols`) and `bars`, by symbol `dates` (ISO 8601), `open`, `high`, `low`,
`close`, `volume`; answered by `verdict`, APPROVE or REJECT, and `strategy`, which a debate may have changed: a scorer
wants the truth about the one that was approved, so the truth says how it is computed for any."""

DOCUMENT: Final = "document"
"""Shown: `title`, `field` and `text`; answered by a list of findings, each with its `lines` (first and last, from 1)
and `text`."""

QUESTION: Final = "question"
"""Shown: `question` and, where there are any, `options`, a list of texts, and `context`; answered by a text."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case.

    Attributes:
        id: Names it, once in its study.
        kind: What is shown, and what an answer looks like: `MARKET`, `DOCUMENT`, `QUESTION`, or one's own.
        shown: Goes to minds.
        truth: What answers are scored by; no arm looks at it.
    """

    id: str
    kind: str
    shown: Mapping[str, Json]
    truth: Json

    @property
    def sha256(self) -> str:
        """Return the hash of all of it as canonical JSON, in hex."""
        whole = {"id": self.id, "kind": self.kind, "shown": self.shown, "truth": self.truth}
        return hashlib.sha256(canonical_json(whole).encode()).hexdigest()


Score = tuple[float, float]
"""What an answer adds to a figure, and to what that is in units of: a figure over cases is a ratio of totals.

(1, 1) is right and (0, 1) wrong, of which the ratio is a share; (0.7, 1) for an approval of true Sharpe 0.7 and (0, 0)
for none, of which it is the mean of approvals; (2, 3) for 2 of 3 errors found.
"""

CORRECT: Final = "correct"
"""The score that says whether an answer is right, 0 or 1 of 1; stated confidences are held against it."""

SHARES: Final = frozenset({CORRECT, "approved", "precision", "recall", "f1", "found"})
"""With what names of scores begin that are shares: from 0 to 1 whatever the cases are."""

Scorer = Callable[[Case, Json], Mapping[str, Score]]
"""Scores an answer, None for none, by a case's truth: all figures that it has, by name.

A figure is one over the cases that have it. A name of several words, such as `correct at 3`, is that of a part of
another figure: it is shown for each arm, and arms are compared in it only where a study registers that.

It raises ValueError for a truth that it cannot use.
"""


class Cases(Protocol):
    """Where cases come from: equal name, seed and parameters give equal cases in equal order.

    Each case is made when it is asked for, by its place from 0 on: processes make different ones at the same time.

    Attributes:
        name: Of the generator, or the file.
        seed: Of the generator; 0 for a file.
    """

    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, place: int) -> Case: ...


@dataclass(frozen=True, slots=True)
class Generated(ABC):
    """Cases that a generator makes.

    Attributes:
        seed: Of all of them.
        count: How many.
    """

    seed: int
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Case]:
        return (self[place] for place in range(self.count))

    @abstractmethod
    def __getitem__(self, place: int) -> Case:
        """Make the case at a place, from 0 on."""
