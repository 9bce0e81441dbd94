"""Shelves: the seven kinds of records, how each is kept, and a record's canonical bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from moot.memory.errors import CorruptStore
from moot.memory.records import (
    ChangeRecord,
    Experience,
    HypothesisNote,
    MetricsRecord,
    PrincipleRecord,
    ProposalNote,
    Record,
    RunNote,
    StrategyRecord,
    ThresholdRecord,
)
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.faults import first_fault

R = TypeVar("R", bound=Record)

WORKING_KEPT: Final = 16_384
"""Notes of the fold that each working shelf keeps, the newest: almost four years of micro-cycles."""


@dataclass(frozen=True, slots=True, eq=False)
class Shelf(Generic[R]):
    """One kind of record.

    Attributes:
        name: As in the file and in the rights.
        record: Its class.
        keeping: `journal`: each record is written once; `versions`: every version is kept until pruned;
            `working`: the newest version of the newest records, for the fold alone.
    """

    name: str
    record: type[R]
    keeping: Literal["journal", "versions", "working"]
    _adapter: TypeAdapter[R] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compile the codec."""
        object.__setattr__(self, "_adapter", TypeAdapter(self.record))

    def encode(self, record: R) -> str:
        """Write a record as canonical JSON: equal records, equal bytes."""
        return canonical_json(self._adapter.dump_python(record, mode="json"))

    def decode(self, text: str | bytes) -> R:
        """Read a record.

        Raises:
            CorruptStore: It is none of this shelf.
        """
        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            place, why = first_fault(error, "as a whole")
            raise CorruptStore(f"a record on {self.name} is damaged ({place}): {why}") from error


CAUSAL: Final = Shelf("causal", Experience, "journal")
REFLECTIONS: Final = Shelf("reflections", Experience, "journal")
PRINCIPLES: Final = Shelf("principles", PrincipleRecord, "versions")
ARCHITECTURE: Final = Shelf("architecture", ChangeRecord, "versions")
STRATEGIES: Final = Shelf("strategies", StrategyRecord, "versions")
METRICS: Final = Shelf("metrics", MetricsRecord, "versions")
THRESHOLDS: Final = Shelf("thresholds", ThresholdRecord, "versions")

HYPOTHESES: Final = Shelf("hypotheses", HypothesisNote, "working")
PROPOSALS: Final = Shelf("proposals", ProposalNote, "working")
RUNS: Final = Shelf("runs", RunNote, "working")

SHELVES: Final[tuple[Shelf[Any], ...]] = (
    CAUSAL,
    REFLECTIONS,
    PRINCIPLES,
    ARCHITECTURE,
    STRATEGIES,
    METRICS,
    THRESHOLDS,
)
"""What memory shows and what its digest covers."""

WORKING: Final[tuple[Shelf[Any], ...]] = (HYPOTHESES, PROPOSALS, RUNS)
"""What the fold notes for itself."""

BY_NAME: Final[dict[str, Shelf[Any]]] = {shelf.name: shelf for shelf in (*SHELVES, *WORKING)}


class Put(NamedTuple):
    """One record that a message writes."""

    shelf: Shelf[Any]
    record: Record


class Context(Protocol):
    """What the fold knows of the records before a message."""

    def latest(self, shelf: Shelf[R], key: str) -> R | None:
        """Return the newest version of a record, None when there is none."""
        ...
