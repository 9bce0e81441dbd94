"""Triggers in words and back: `no methods section or fewer than 2 sample sizes` is what a plan says and holds to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from moot.bots.minds.simulated.panel.found import Found
from moot.bots.minds.simulated.panel.measures import MEASURES, Measure
from moot.bots.minds.simulated.panel.paper import Paper
from moot.bots.minds.simulated.panel.standards import Relation

OR: Final = " or "
AND: Final = " and "
MOST_OFF: Final = 0.1
"""A bound that is missed by this part of it is missed narrowly, and so is one of a count by one."""
LEAST_COUNT: Final = 5
"""Below this a count is not missed narrowly."""

_SAYING: Final = Measure("word about", "words about")


class Clause(NamedTuple):
    """A committed condition on one measure.

    Attributes:
        measure: Its name; "" for the words of `about`.
        relation: There is none of it, it is below, or it is above the bound.
        bound: For `no` it is 0.
        about: Words that are looked for.
    """

    measure: str
    relation: Relation
    bound: int = 0
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it as a plan does."""
        measure = MEASURES[self.measure] if self.measure else _SAYING
        about = f" {'/'.join(self.about)}" if self.about else ""
        if self.relation == "no":
            return f"no {measure.one}{about}"
        if measure.many and (self.relation, self.bound) == ("above", 0):
            return f"any {measure.one}{about}"
        if measure.many:
            noun = measure.one if self.bound == 1 else measure.many
            return f"{'fewer' if self.relation == 'below' else 'more'} than {self.bound} {noun}{about}"
        return f"{measure.one} {self.relation} {self.bound}{' ' if measure.unit else ''}{measure.unit}"

    def measured(self, paper: Paper) -> Found:
        """Return what a paper has of it."""
        return paper[self.measure] if self.measure else paper.saying(self.about)

    def holds(self, paper: Paper) -> bool:
        """Say whether it is true of a paper; a quantity that is not stated is neither below nor above."""
        value = self.measured(paper).value
        if self.relation == "no":
            return not value if self._is_counted else value is None
        if value is None:
            return False
        return value < self.bound if self.relation == "below" else value > self.bound

    def is_narrow(self, paper: Paper) -> bool:
        """Say whether it is true by so little that the bound may be questioned."""
        value = self.measured(paper).value
        if self.relation == "no" or value is None or not self.holds(paper):
            return False
        slack = MOST_OFF * self.bound
        if self._is_counted and self.bound >= LEAST_COUNT:
            slack = max(1.0, slack)
        return abs(value - self.bound) <= slack

    @property
    def _is_counted(self) -> bool:
        return not self.measure or bool(MEASURES[self.measure].many)


Trigger = tuple[tuple[Clause, ...], ...]
"""Alternatives; each holds when all of its clauses do."""


def written(trigger: Trigger) -> str:
    """Write a trigger as one line."""
    return OR.join(AND.join(map(str, one)) for one in trigger)


def read(line: str) -> tuple[Trigger, tuple[str, ...]]:
    """Read a trigger back.

    Returns:
        The alternatives that are of this language, and the others as they stand: nothing can be measured by those.
    """
    trigger: list[tuple[Clause, ...]] = []
    foreign: list[str] = []
    for text in line.split(OR):
        clauses = [_clause(part) for part in text.split(AND)]
        known = tuple(one for one in clauses if one is not None)
        if len(known) == len(clauses):
            trigger.append(known)
        else:
            foreign.append(text)
    return tuple(trigger), tuple(foreign)


def firing(trigger: Trigger, paper: Paper) -> list[tuple[Clause, ...]]:
    """Return the alternatives that hold of a paper."""
    return [one for one in trigger if all(clause.holds(paper) for clause in one)]


def _forms() -> Iterator[tuple[re.Pattern[str], str, Relation]]:
    relations: Sequence[tuple[Relation, str]] = (("below", "fewer"), ("above", "more"))
    for name, measure in {**MEASURES, "": _SAYING}.items():
        noun = f"(?:{re.escape(measure.many)}|{re.escape(measure.one)})"
        about = "" if name else r" ([^\W\d_]+(?:/[^\W\d_]+)*)"
        yield re.compile(rf"no {re.escape(measure.one)}(){about}"), name, "no"
        yield re.compile(rf"any {re.escape(measure.one)}(){about}"), name, "above"
        for relation, word in relations:
            unit = f" {re.escape(measure.unit)}" if measure.unit else ""
            yield (
                re.compile(
                    rf"{word} than (\d{{1,6}}) {noun}{about}"
                    if measure.many
                    else rf"{re.escape(measure.one)} {relation} (\d{{1,6}}){unit}"
                ),
                name,
                relation,
            )


_FORMS: Final[Mapping[re.Pattern[str], tuple[str, Relation]]] = {
    pattern: (name, relation) for pattern, name, relation in _forms()
}


def _clause(text: str) -> Clause | None:
    for pattern, (name, relation) in _FORMS.items():
        if match := pattern.fullmatch(text):
            about = tuple(match[2].split("/")) if not name else ()
            return Clause(name, relation, int(match[1] or 0), about)
    return None
