"""The view: what a mind reads of memory, as of the seq that woke it (K12, K13)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime

from moot.memory.errors import StorePruned
from moot.memory.records import (
    ChangeRecord,
    ChangeStatus,
    Experience,
    MetricsRecord,
    PrincipleRecord,
    StrategyRecord,
)
from moot.memory.shelves import (
    ARCHITECTURE,
    CAUSAL,
    METRICS,
    PRINCIPLES,
    REFLECTIONS,
    SHELVES,
    STRATEGIES,
    THRESHOLDS,
    R,
    Shelf,
)
from moot.memory.tables import Tables
from moot.protocols.kernel.frozen import FrozenDict
from moot.protocols.kernel.times import iso_week
from moot.protocols.research.messages.strategies import Stage
from moot.protocols.research.strictness import START_THRESHOLDS


class MemoryView:
    """Memory as the messages up to one seq left it; what is written later never shows.

    Queries answer at once and may be asked from any thread. All arguments narrow; those left out do not.
    Windows are (since, until] and go by `at`, the log's time (K16).

    Attributes:
        as_of: The seq.
    """

    __slots__ = ("_tables", "as_of")

    def __init__(self, tables: Tables, as_of: int) -> None:
        """Look at some tables; stores make views, see `Store.read`.

        Raises:
            StorePruned: What they held at that seq was let go.
        """
        self._tables = tables
        self.as_of = as_of
        self._check()

    def causal(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        kind: str | None = None,
        archetype: str | None = None,
        failure_code: str | None = None,
        regime: str | None = None,
        hypothesis_id: str | None = None,
        lineage_id: str | None = None,
    ) -> tuple[Experience, ...]:
        """Return causal records in the order in which they were logged."""
        found = self._window(CAUSAL, since, until)
        return _matching(
            found,
            kind=kind,
            archetype=archetype,
            failure_code=failure_code,
            regime=regime,
            hypothesis_id=hypothesis_id,
            lineage_id=lineage_id,
        )

    def reflections(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        kind: str | None = None,
        archetype: str | None = None,
        failure_code: str | None = None,
        regime: str | None = None,
        hypothesis_id: str | None = None,
        lineage_id: str | None = None,
    ) -> tuple[Experience, ...]:
        """Return reflections in the order in which they were logged."""
        found = self._window(REFLECTIONS, since, until)
        return _matching(
            found,
            kind=kind,
            archetype=archetype,
            failure_code=failure_code,
            regime=regime,
            hypothesis_id=hypothesis_id,
            lineage_id=lineage_id,
        )

    def experiences(
        self, *, since: datetime | None = None, until: datetime | None = None
    ) -> tuple[Experience, ...]:
        """Return causal records and reflections together, as they were logged; what synthesis reads."""
        found = (*self._window(CAUSAL, since, until), *self._window(REFLECTIONS, since, until))
        return tuple(sorted(found, key=lambda record: record.seq))

    def principles(
        self, *, archetype: str | None = None, failure_code: str | None = None, regime: str | None = None
    ) -> tuple[PrincipleRecord, ...]:
        """Return the principles by id."""
        return _matching(self._all(PRINCIPLES), archetype=archetype, failure_code=failure_code, regime=regime)

    def principle(self, principle_id: str) -> PrincipleRecord | None:
        """Return one principle, None when there is none."""
        return self._get(PRINCIPLES, principle_id)

    def architecture(
        self, *, status: ChangeStatus | None = None, period: str | None = None
    ) -> tuple[ChangeRecord, ...]:
        """Return the changes that were decided, by id."""
        return _matching(self._all(ARCHITECTURE), status=status, period=period)

    def strategies(
        self, *, stage: Stage | None = None, lineage_id: str | None = None
    ) -> tuple[StrategyRecord, ...]:
        """Return the strategies by id."""
        return _matching(self._all(STRATEGIES), stage=stage, lineage_id=lineage_id)

    def newest_strategies(self) -> Iterator[StrategyRecord]:
        """Yield the strategies, those of which something was written last first; who stops early pays for no more."""
        self._check()
        return self._tables.versions(STRATEGIES).newest(self.as_of)

    def strategy(self, strategy_id: str) -> StrategyRecord | None:
        """Return one strategy, None when there is none."""
        return self._get(STRATEGIES, strategy_id)

    def metrics(
        self, *, strategy_id: str | None = None, since: str | None = None, until: str | None = None
    ) -> tuple[MetricsRecord, ...]:
        """Return realised figures by day and strategy; here the window is of days, both included."""
        self._check()
        found = self._tables.versions(METRICS).since(since or "", self.as_of)
        return tuple(
            record
            for record in _matching(found, strategy_id=strategy_id)
            if until is None or record.date <= until
        )

    def thresholds(self, on: datetime | None = None) -> FrozenDict[str, float]:
        """Return the Critic's strictness by criterion (R-D14).

        Args:
            on: The instant at which they are applied: an adjustment counts from the week after its own on.
                None: as adjusted last, whatever the week.
        """
        week = None if on is None else iso_week(on)
        applied = {}
        for criterion, start in START_THRESHOLDS.items():
            record = self._get(THRESHOLDS, criterion)
            if record is None:
                applied[criterion] = start
            else:
                is_old = week is not None and record.period >= week
                applied[criterion] = record.previous if is_old else record.strictness
        return FrozenDict(applied)

    def digest(self) -> str:
        """Return hex SHA-256 over every record on the seven shelves, in canonical order and form."""
        digest = hashlib.sha256()
        for shelf in SHELVES:
            for record in sorted(self._all(shelf), key=lambda record: record.key):
                digest.update(f"{shelf.name} {shelf.encode(record)}\n".encode())
        return digest.hexdigest()

    def _get(self, shelf: Shelf[R], key: str) -> R | None:
        self._check()
        return self._tables[shelf].get(key, self.as_of)

    def _all(self, shelf: Shelf[R]) -> list[R]:
        self._check()
        return self._tables[shelf].all(self.as_of)

    def _window(self, shelf: Shelf[R], since: datetime | None, until: datetime | None) -> list[R]:
        self._check()
        return self._tables.journal(shelf).window(since, until, self.as_of)

    def _check(self) -> None:
        if self.as_of < self._tables.low_water:
            raise StorePruned(
                f"memory as of seq {self.as_of} was let go, it starts at {self._tables.low_water}"
            )


def _matching(records: Iterable[R], **wanted: str | None) -> tuple[R, ...]:
    asked = [(name, value) for name, value in wanted.items() if value is not None]
    return tuple(_keep(records, asked)) if asked else tuple(records)


def _keep(records: Iterable[R], asked: list[tuple[str, str]]) -> Iterator[R]:
    for record in records:
        if all(getattr(record, name) == value for name, value in asked):
            yield record
