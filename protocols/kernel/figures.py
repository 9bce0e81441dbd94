"""Figures: what the rules hold an answer to, said once for the check, the brief and the minds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from sys import maxsize
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Part

if TYPE_CHECKING:
    from moot.protocols.kernel.steps import RuleInput


NEWEST: Final = maxsize
"""Later than every version of the rules."""


DERIVED: Final = 3
"""The rules version from which on what can be derived from a log is held to it; see `Exactly.since`."""


SECOND_AUDIT: Final = 4
"""The rules version that brings rulings R-G1 to R-G16 into force."""


@dataclass(slots=True)
class Exactly:
    """A field has this value and no other.

    Attributes:
        value: It.
        because: Why, for people; "": because the log says so.
        rule: The spec section or ruling that a wrong one breaks, "" for that of its step.
        since: The rules version from which on it is held.
    """

    value: Final[Any]
    because: Final[str] = ""
    rule: Final[str] = ""
    since: Final[int] = 0

    @property
    def shown(self) -> Any:
        """Return what a brief says."""
        return self.value

    def why_not(self, given: Any) -> str:
        """Say what is wrong with a field's value, "" when nothing is."""
        if given == self.value or (isinstance(given, Part) and given.model_dump() == self.value):
            return ""
        plain = given.model_dump() if isinstance(given, Part) else given
        return self.because or f"the log says {self.value}, the message {plain}"


@dataclass(slots=True)
class OneOf:
    """A field has one of these values; what they follow from is said for people.

    Attributes:
        values: They.
        because: What leads to them.
        rule: The spec section or ruling that a wrong one breaks, "" for that of its step.
        since: The rules version from which on it is held.
    """

    values: Final[tuple[Any, ...]]
    because: Final[str]
    rule: Final[str] = ""
    since: Final[int] = 0

    @property
    def shown(self) -> Any:
        """Return what a brief says."""
        return self.values

    def why_not(self, given: Any) -> str:
        """Say what is wrong with a field's value, "" when nothing is."""
        return "" if given in self.values else f"{self.because} leads to {' or '.join(map(str, self.values))}"


@dataclass(slots=True)
class Fields:
    """Some fields of an object within the answer, or entries of a mapping in it, are held to figures; others are free.

    Attributes:
        figures: They, by field or key.
        rule: The spec section or ruling that a wrong one breaks, "" for that of its step.
    """

    figures: Final[Mapping[str, Any]]
    rule: Final[str] = ""

    @property
    def shown(self) -> Any:
        """Return what a brief says."""
        return {name: figure.shown for name, figure in self.figures.items()}


Figures = Mapping[str, Exactly | OneOf | Fields]
"""What the rules hold an answer to, by field."""


def exactly(values: Any, rule: str = "", since: int = 0) -> Figures:
    """Return the figures of fields that have one value each.

    Args:
        values: They, by field: a mapping, or an object's fields.
        rule: The spec section or ruling that a wrong one breaks, "" for that of its step.
        since: The rules version from which on they are held.
    """
    return {name: Exactly(value, rule=rule, since=since) for name, value in dict(values).items()}


class ByField:
    """Figures of which each field has a rule of its own, so that a machine can say beforehand which is no field.

    Attributes:
        rules: By field, (state, input) -> what it is held to.
    """

    def __init__(self, rules: Mapping[str, Callable[[Any, RuleInput], Exactly | OneOf | Fields]]) -> None:
        """Take the rules."""
        self.rules = rules

    def __call__(self, state: Any, given: RuleInput) -> Figures:
        """Return the figures, as `Step.figures` does."""
        return {name: rule(state, given) for name, rule in self.rules.items()}


def check(body: Any, figures: Figures, rule: str, within: str = "", *, version: int = NEWEST) -> None:
    """Check that an answer says what the rules hold it to.

    Args:
        body: The answer, or an object within it.
        figures: What its fields are held to.
        rule: The spec section or ruling that is broken where a figure names none.
        within: The path of the object, ending in a dot; "" for the answer itself.
        version: Of the rules under which it was said; later figures are not asked of it.

    Raises:
        Violation: A field does not.
    """
    said = body if isinstance(body, Mapping) else body.__dict__
    for name, figure in figures.items():
        if name not in said:
            continue
        given = said[name]
        if isinstance(figure, Fields):
            check(given, figure.figures, figure.rule or rule, f"{within}{name}.", version=version)
        elif figure.since <= version and (why := figure.why_not(given)):
            alias = None if said is body else type(body).model_fields[name].serialization_alias
            raise Violation(figure.rule or rule, why, field=within + (alias or name))
