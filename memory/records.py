"""Records: what memory holds, one frozen class for each shelf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from moot.protocols.kernel.fields import FrozenJson, Numbers
from moot.protocols.kernel.message import Instant
from moot.protocols.research.messages.strategies import BacktestMetrics, Split, Stage, Strategy

ChangeStatus = Literal["approved", "deferred", "rejected"]
"""What became of a proposed change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One version of one record.

    Attributes:
        key: Its id on its shelf.
        seq: Seq of the message that wrote this version.
        at: `sent_at` of that message.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    key: str
    seq: int
    at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience(Record):
    """What happened to a hypothesis (causal) or what it taught (reflections); written once, never changed.

    Attributes:
        happened_at: When it happened, in its author's words; windows go by `at` (K16).
        kind: failure, success, timeout or observation.
        metrics: Figures that belong to it.
    """

    happened_at: Instant
    kind: Literal["failure", "success", "timeout", "observation"]
    hypothesis_id: str | None
    lineage_id: str | None
    seat: str | None
    archetype: str | None
    failure_code: str | None
    regime: str | None
    summary: str
    metrics: Numbers

    @property
    def record_id(self) -> str:
        """Return its id, `ref_NNN` or the like."""
        return self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincipleRecord(Record):
    """A principle in the format of spec 2.1, with what it is about (R-D13)."""

    statement: str
    evidence_count: int
    confidence: float
    source_reflections: tuple[str, ...]
    created: Instant
    last_validated: Instant
    archetype: str
    failure_code: str
    regime: str

    @property
    def principle_id(self) -> str:
        """Return its id, `prin_NNN`."""
        return self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord(Record):
    """A change to the system and what an ARCHITECTURE_VERDICT made of it (spec 3.2).

    Attributes:
        priority: Of an approved change.
        assigned_to: Who makes an approved change.
        implementation_notes: Of an approved change; as its run of the Arena refined them, once there is one.
        run_id: The run whose approved output they are, "" before.
    """

    period: str
    status: ChangeStatus
    description: str
    priority: Literal["low", "medium", "high"] | None = None
    assigned_to: Literal["explorer", "evolver"] | None = None
    implementation_notes: str = ""
    run_id: str = ""

    @property
    def change_id(self) -> str:
        """Return its id, `arch_NNN`."""
        return self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestNote:
    """How a strategy fared on the data no seat had seen (R-D15)."""

    seq: int
    passed: bool
    reason: str
    metrics: BacktestMetrics
    split: Split
    equity_ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageMove:
    """One step of a strategy between stages, and why."""

    seq: int
    at: Instant
    from_: Stage | None
    to: Stage
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRecord(Record):
    """A strategy and where it stands (R-D20).

    Attributes:
        strategy: What it trades; None when no message said.
        hypothesis_id: The debate it came from, "" when unknown.
        lineage_id: The hypotheses it continues (R-D11), "" when unknown.
        backtest: Its last backtest, if any.
        history: Its last moves, oldest first.
    """

    stage: Stage
    strategy: Strategy | None
    hypothesis_id: str
    lineage_id: str
    backtest: BacktestNote | None
    history: tuple[StageMove, ...]

    @property
    def strategy_id(self) -> str:
        """Return its id."""
        return self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsRecord(Record):
    """A strategy's realised figures on one day; System B records them (R-D20)."""

    date: str
    strategy_id: str
    realised: FrozenJson

    @staticmethod
    def key_of(date: str, strategy_id: str) -> str:
        """Return the key for a day and a strategy."""
        return f"{date}/{strategy_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdRecord(Record):
    """The Critic's strictness in one criterion (R-D14).

    Attributes:
        strictness: In [0.2, 0.95], from the week after `period` on.
        previous: What applies until the end of `period`.
        period: ISO week of the adjustment.
    """

    strictness: float
    previous: float
    period: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisNote(Record):
    """What a later message about a hypothesis leaves unsaid; kept for the fold, shown to nobody."""

    lineage_id: str
    strategy: Strategy | None
    backtest: BacktestNote | None = None
    strategy_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalNote(Record):
    """A proposed change before its verdict; kept for the fold, shown to nobody."""

    period: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNote(Record):
    """A run of the Arena that refines an approved change; kept for the fold, shown to nobody.

    Attributes:
        change_id: The change.
        text: The run's output, "" before there is one.
    """

    change_id: str
    text: str = ""
