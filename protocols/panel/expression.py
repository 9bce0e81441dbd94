"""The closed grammar of a condition's expression (spec 9): a text in, a typed predicate out.

    expression = atom *(" AND " atom)
    atom       = "any " P " dimension scores 'S'" | "any dimension with priority=" P " scores 'S'"
               | "any " P "-priority dimension scores 'S'"
               | "two or more " P " dimensions score 'S' or worse"
               | "two or more dimensions with priority=" P " score 'S' or worse"
               | "every " P " dimension scores 'S'"
               | Dn " scores 'S'"

P is mandatory, high or normal; S is pass, warn or block. The match is case-sensitive and of the whole text, blanks are
single. An expression about a dimension, or a priority, that the contract does not have is an error and never
vacuously true (R-P3).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from moot.protocols.kernel.errors import ProtocolError
from moot.protocols.panel.contract import SCORES, Contract, Priority, Score

Kind = Literal["any", "two", "every", "one"]

AND: Final = " AND "

_P: Final = "(mandatory|high|normal)"
_S: Final = "'(pass|warn|block)'"

_ANY: Final = (
    f"any {_P} dimension scores {_S}",
    f"any dimension with priority={_P} scores {_S}",
    f"any {_P}-priority dimension scores {_S}",
)
_TWO: Final = (
    f"two or more {_P} dimensions score {_S} or worse",
    f"two or more dimensions with priority={_P} score {_S} or worse",
)
_EVERY: Final = (f"every {_P} dimension scores {_S}",)
_ONE: Final = (f"(D[1-9][0-9]?) scores {_S}",)

FORMS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    *(("any", re.compile(form)) for form in _ANY),
    *(("two", re.compile(form)) for form in _TWO),
    *(("every", re.compile(form)) for form in _EVERY),
    *(("one", re.compile(form)) for form in _ONE),
)
"""The recognised patterns of spec 9; a new one is a row here and in the spec."""


class Unrecognised(ProtocolError):
    """Refuse an expression that the grammar does not have.

    Attributes:
        expression: The whole expression.
        why: One line.
    """

    def __init__(self, expression: str, why: str) -> None:
        """Keep expression and reason."""
        super().__init__(why)
        self.expression = expression
        self.why = why


class Orphaned(Unrecognised):
    """Refuse an expression about a dimension, or a priority, that the contract does not have (R-P3)."""


@dataclass(frozen=True, slots=True)
class Atom:
    """One statement about the scores of one reviewer.

    Attributes:
        kind: Whether it is about any, two or more, or every dimension of a priority, or about one dimension.
        priority: Of the dimensions; None when it names one dimension.
        dimensions: The ids that it is about; never empty.
        score: What they are compared with.
        matching: The scores that count: as bad or worse for `two`, else that score alone.
        needed: How many dimensions must match.
    """

    kind: Kind
    priority: Priority | None
    dimensions: tuple[str, ...]
    score: Score
    matching: frozenset[Score]
    needed: int

    def counted(self, scores: Mapping[str, Score]) -> tuple[str, ...]:
        """Return the dimensions whose score matches.

        Raises:
            KeyError: A dimension has no score.
        """
        return tuple([one for one in self.dimensions if scores[one] in self.matching])

    def holds(self, scores: Mapping[str, Score]) -> bool:
        """Say whether it is true of a reviewer's scores, by dimension id."""
        count = 0
        for one in self.dimensions:
            if scores[one] in self.matching:
                count += 1
        return count >= self.needed

    def explain(self, scores: Mapping[str, Score]) -> str:
        """Spell out the count behind `holds`."""
        if self.kind == "one":
            (one,) = self.dimensions
            return f"{one} is {scores[one]}, {self.score} is asked for"
        counted = self.counted(scores)
        worse = " or worse" if self.kind == "two" else ""
        named = f" ({', '.join(counted)})" if counted else ""
        return (
            f"{len(counted)} of {len(self.dimensions)} {self.priority} at {self.score}{worse}{named}, "
            f"{self.needed} needed"
        )


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a condition says of one reviewer's scores: all of its atoms.

    Attributes:
        expression: As the contract has it.
        atoms: At least one.
    """

    expression: str
    atoms: tuple[Atom, ...]

    def holds(self, scores: Mapping[str, Score]) -> bool:
        """Say whether every atom is true of a reviewer's scores, by dimension id.

        Raises:
            KeyError: A dimension that it is about has no score; there is no substitute.
        """
        return all([atom.holds(scores) for atom in self.atoms])  # noqa: C419  # a hole is told wherever it is

    def explain(self, scores: Mapping[str, Score]) -> str:
        """Spell out why it holds of a reviewer's scores or does not.

        Raises:
            KeyError: As `holds`.
        """
        counts = "; ".join(atom.explain(scores) for atom in self.atoms)
        return f"{'holds' if self.holds(scores) else 'does not hold'}: {counts}"


def parse(expression: str, contract: Contract) -> Predicate:
    """Read an expression against the dimensions of its contract.

    Raises:
        Orphaned: It names a dimension or a priority that the contract does not have.
        Unrecognised: It does not follow the grammar.
    """
    return Predicate(expression, tuple([_atom(text, expression, contract) for text in expression.split(AND)]))


def _atom(text: str, expression: str, contract: Contract) -> Atom:
    read = _read(text)
    if read is None:
        raise Unrecognised(expression, f"{_shown(text)} is none of the recognised expressions")
    kind, subject, score = read
    matching = frozenset(SCORES[SCORES.index(score) :] if kind == "two" else (score,))
    if kind == "one":
        if subject not in [one.id for one in contract.acceptance_dimensions]:
            raise Orphaned(expression, f"the contract has no dimension {subject}")
        return Atom(kind, None, (subject,), score, matching, 1)
    dimensions = tuple([one.id for one in contract.acceptance_dimensions if one.priority == subject])
    if not dimensions:
        raise Orphaned(expression, f"the contract has no dimension of priority {subject}")
    needed = {"any": 1, "two": 2, "every": len(dimensions)}[kind]
    return Atom(kind, cast(Priority, subject), dimensions, score, matching, needed)


def _read(text: str) -> tuple[Kind, str, Score] | None:
    """Return the form of an atom, its dimension or priority, and its score; None when it is no atom."""
    for kind, pattern in FORMS:
        found = pattern.fullmatch(text)
        if found is not None:
            return kind, found[1], cast(Score, found[2])
    return None


def _shown(text: str) -> str:
    return ascii(text) if len(text) <= 80 else ascii(text[:79]) + "…"
