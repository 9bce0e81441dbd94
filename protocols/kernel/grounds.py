"""Grounds: what a decision rests on, said once for the guards that apply it and for whoever asks why.

Data of a protocol, by type of message: which field decides, which figures are held against which limits, which row of
a decision table applied, and what an objection says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, NamedTuple

Relation = Literal["at least", "at most", "above", "below"]

_HOLDS: Final[Mapping[Relation, Callable[[float, float], bool]]] = {
    "at least": lambda value, limit: value >= limit,
    "at most": lambda value, limit: value <= limit,
    "above": lambda value, limit: value > limit,
    "below": lambda value, limit: value < limit,
}


class Bar(NamedTuple):
    """A limit that a figure of a message is held against.

    Attributes:
        name: The figure, in words.
        path: Where it stands: fields of the body or of what is measured, with dots between.
        relation: How it must stand to the limit.
        limit: The limit; or the path of it, where the message itself names it.
        purpose: What it takes that for: "to approve".
        rule: The spec section or ruling that says so.
        applies: (body) -> whether it is asked for at all.
    """

    name: str
    path: str
    relation: Relation
    limit: float | str
    purpose: str
    rule: str
    applies: Callable[[Any], bool] = lambda _body: True

    def value(self, body: Any) -> Any:
        """Return the figure; None where there is none."""
        return next(iter(found(body, self.path)), None)

    def bound(self, body: Any) -> Any:
        """Return the limit; None where the message should name it and does not."""
        limit = self.limit
        return next(iter(found(body, limit)), None) if isinstance(limit, str) else limit

    def holds(self, body: Any) -> bool:
        """Say whether the figure keeps the limit; one that is missing keeps none."""
        value, limit = self.value(body), self.bound(body)
        return value is not None and limit is not None and _HOLDS[self.relation](value, limit)


class Table(NamedTuple):
    """A decision table, in words; the first row that matches applies.

    Attributes:
        title: What it decides.
        head: The names of its columns.
        rows: Its rows.
        on: (messages in effect of the case up to the decision, its body) -> which row applied, counted from 0; None for
            none of them.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    on: Callable[[Sequence[Any], Any], int | None]


class Decides(NamedTuple):
    """How a message decides.

    Attributes:
        what: The field that says what was decided.
        why: The fields that say why, in the author's words.
    """

    what: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """What the decisions of a protocol rest on, by type of message.

    Attributes:
        decides: Which messages decide, and by which field.
        bars: Which limits their figures are held against.
        tables: Which decision table they follow.
        objects: (body) -> the objections of a message, in its author's words; none where it does not object. An
            empty text stands for an objection that the message's sentence says.
    """

    decides: Mapping[str, Decides] = field(default_factory=dict)
    bars: Mapping[str, tuple[Bar, ...]] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    objects: Mapping[str, Callable[[Any], Sequence[str]]] = field(default_factory=dict)

    @property
    def types(self) -> frozenset[str]:
        """Return the types of which it says anything."""
        return frozenset().union(*(getattr(self, one.name) for one in fields(self)))


def together(every: Iterable[Grounds]) -> Grounds:
    """Put the grounds of several protocols together."""
    listed = tuple(every)
    return Grounds(
        **{
            one.name: {kind: said for grounds in listed for kind, said in getattr(grounds, one.name).items()}
            for one in fields(Grounds)
        }
    )


def found(value: Any, path: str) -> Iterator[Any]:
    """Yield what stands under a path: of a list, what stands under it in each item; nothing that is missing or None."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from found(item, path)
    elif not path:
        if value is not None:
            yield value
    elif value is not None:
        name, _, rest = path.partition(".")
        inner = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        yield from found(inner, rest)
