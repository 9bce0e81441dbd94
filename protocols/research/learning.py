"""How failures become principles: the arithmetic of the daily synthesis (spec 2.1, R-D13).

Pure functions over whatever records a caller has: memory's, or the bodies of the log itself. The Evolver
writes PRINCIPLE_SYNTHESIS with them, the ledger checks it with them. The weekly counterpart, re-exported
here, is `strictness`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple, Protocol, TypeVar

from moot.protocols.research.messages import Principle
from moot.protocols.research.strictness import (
    DIGITS,
    START_THRESHOLDS,
    Review,
    adjust,
    clip,
    review,
    threshold_review,
)

__all__ = [
    "MIN_FAILURES",
    "START_THRESHOLDS",
    "KnownPrinciple",
    "Lesson",
    "Pattern",
    "PrincipleChange",
    "Review",
    "Setting",
    "adjust",
    "clip",
    "count_attempts",
    "find_patterns",
    "matching",
    "pattern_of",
    "principle_from",
    "principles_from",
    "review",
    "threshold_review",
    "wilson_lower_bound",
    "within",
]

Setting = tuple[str, str]
"""An archetype in a regime."""

MIN_FAILURES: Final = 3
"""So many similar failures make a pattern (spec 2.1)."""

ATTEMPTED: Final = frozenset({"failure", "success"})
"""Kinds of records that tell of an attempt; a timeout or an observation judges no archetype."""

Z_95: Final = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


class Lesson(Protocol):
    """What a causal record or reflection says about one attempt; memory's records and CausalEntry fit.

    `at` decides in which window it counts: give the `sent_at` of the message that carried it, as memory and
    the ledger do. An author may date a record as it likes, and what is dated into a window that was looked
    at already would never count.
    """

    @property
    def record_id(self) -> str: ...
    @property
    def at(self) -> datetime: ...
    @property
    def kind(self) -> str: ...
    @property
    def hypothesis_id(self) -> str | None: ...
    @property
    def archetype(self) -> str | None: ...
    @property
    def failure_code(self) -> str | None: ...
    @property
    def regime(self) -> str | None: ...


class KnownPrinciple(Protocol):
    """What an update needs of a principle; memory's records and the message part fit."""

    @property
    def statement(self) -> str: ...
    @property
    def archetype(self) -> str: ...
    @property
    def failure_code(self) -> str: ...
    @property
    def regime(self) -> str: ...
    @property
    def source_reflections(self) -> Sequence[str]: ...


class Pattern(NamedTuple):
    """Similar failures: same archetype, same failure code, same regime (R-D13).

    Attributes:
        archetype: What failed.
        failure_code: How.
        regime: In which market.
        failures: One record for each failed hypothesis, in the order given.
        attempts: How many hypotheses of that archetype were tried in that regime.
    """

    archetype: str
    failure_code: str
    regime: str
    failures: tuple[Lesson, ...]
    attempts: int

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the record ids of the failures."""
        return tuple(record.record_id for record in self.failures)

    @property
    def confidence(self) -> float:
        """Return the Wilson lower bound of the share of attempts that failed so (R-D13)."""
        return wilson_lower_bound(len(self.failures), self.attempts)


class PrincipleChange(NamedTuple):
    """What a pattern makes of a principle: the fields of spec 2.1's format that arithmetic decides."""

    statement: str
    evidence_count: int
    confidence: float
    sources: tuple[str, ...]
    change: Literal["created", "updated"]


L = TypeVar("L", bound=Lesson)
P = TypeVar("P", bound=KnownPrinciple)


def wilson_lower_bound(hits: int, trials: int, z: float = Z_95) -> float:
    """Bound a share from below, so that few trials claim little.

    Args:
        hits: Trials that count, 0 ≤ hits ≤ trials.
        trials: All trials.
        z: Normal quantile of the two-sided interval.

    Returns:
        The lower end of Wilson's score interval, in [0, 1], rounded to 6 digits; 0 without trials.

    Raises:
        ValueError: More hits than trials, or a negative number.

    Source: R-D13; E. B. Wilson, "Probable inference", JASA 22 (1927).
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} hits of {trials} trials")
    if trials == 0:
        return 0.0
    share = hits / trials
    square = z * z
    centre = share + square / (2 * trials)
    spread = z * math.sqrt((share * (1 - share) + square / (4 * trials)) / trials)
    return round(max(0.0, (centre - spread) / (1 + square / trials)), DIGITS)


def within(records: Iterable[L], since: datetime | None, until: datetime | None) -> tuple[L, ...]:
    """Keep the records of the window (since, until]; None leaves that side open (K16)."""
    return tuple(
        record
        for record in records
        if (since is None or record.at > since) and (until is None or record.at <= until)
    )


def count_attempts(records: Iterable[Lesson]) -> dict[Setting, int]:
    """Count how often each archetype was tried in each regime.

    A hypothesis is one attempt however many records tell of it; a record without one counts by itself.
    """
    seen: dict[Setting, set[str]] = {}
    for record in records:
        if record.archetype and record.regime and record.kind in ATTEMPTED:
            seen.setdefault((record.archetype, record.regime), set()).add(_attempt(record))
    return {setting: len(attempts) for setting, attempts in seen.items()}


def pattern_of(
    records: Iterable[Lesson],
    archetype: str,
    failure_code: str,
    regime: str,
    attempts: Mapping[Setting, int] | None = None,
) -> Pattern:
    """Gather what failed alike, be it a pattern already or not (R-D13).

    Only records of kind `failure` count, and a hypothesis counts once: telling a failure twice adds nothing.

    Args:
        records: Causal records and reflections of the window.
        archetype: What failed.
        failure_code: How.
        regime: In which market.
        attempts: Attempts by (archetype, regime) in the window; None counts them in `records`.

    Raises:
        ValueError: `attempts` holds fewer attempts than failures.
    """
    records = tuple(records)
    if attempts is None:
        attempts = count_attempts(records)
    failures: dict[str, Lesson] = {}
    for record in records:
        if _failed_as(record) == (archetype, failure_code, regime):
            failures.setdefault(_attempt(record), record)
    tried = attempts.get((archetype, regime), 0)
    if tried < len(failures):
        raise ValueError(f"{len(failures)} failures of {tried} attempts: {archetype}, {regime}")
    return Pattern(archetype, failure_code, regime, tuple(failures.values()), tried)


def find_patterns(
    records: Iterable[Lesson],
    attempts: Mapping[Setting, int] | None = None,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> tuple[Pattern, ...]:
    """Find what failed alike at least three times in the window (since, until] (spec 2.1 step 3, R-D13).

    Args:
        records: Causal records and reflections, oldest first; those outside the window are left out.
        attempts: As for `pattern_of`.
        since: Start of the window, exclusive.
        until: End of the window, inclusive.

    Returns:
        The patterns, sorted by archetype, failure code and regime.

    Raises:
        ValueError: `attempts` holds fewer attempts than failures.
    """
    window = within(records, since, until)
    if attempts is None:
        attempts = count_attempts(window)
    kinds = {kind for record in window if (kind := _failed_as(record)) is not None}
    patterns = (pattern_of(window, *kind, attempts) for kind in sorted(kinds))
    return tuple(pattern for pattern in patterns if len(pattern.failures) >= MIN_FAILURES)


def matching(pattern: Pattern, principles: Iterable[P]) -> P | None:
    """Find the principle about the same archetype, failure code and regime, the first if several are."""
    for principle in principles:
        if (principle.archetype, principle.failure_code, principle.regime) == pattern[:3]:
            return principle
    return None


def principle_from(
    pattern: Pattern, existing: KnownPrinciple | None = None, *, is_cumulative: bool = True
) -> PrincipleChange:
    """Turn a pattern into a new principle, or validate the one that says so already (spec 2.1 step 4).

    An update keeps the statement and adds the window's reflections to the earlier ones, each once (R-G3).
    The confidence is that of the pattern's own window (R-D13).

    Args:
        pattern: At least three similar failures.
        existing: The principle about the same three, see `matching`.
        is_cumulative: Whether earlier sources count, as they do from rules version 4 on.

    Raises:
        ValueError: `existing` is about something else.
    """
    if existing is not None and matching(pattern, (existing,)) is None:
        raise ValueError(f"{existing.statement!r} is not about {pattern[:3]}")
    earlier = existing.source_reflections if existing is not None and is_cumulative else ()
    sources = tuple(dict.fromkeys((*earlier, *pattern.sources)))
    return PrincipleChange(
        existing.statement if existing is not None else _statement(pattern),
        len(sources),
        pattern.confidence,
        sources,
        "created" if existing is None else "updated",
    )


def principles_from(
    records: Iterable[Lesson], known: Iterable[Principle], at: datetime, *, is_cumulative: bool = True
) -> tuple[Principle, ...]:
    """Return what a synthesis publishes of a window's records: each pattern as a principle (spec 2.1).

    Args:
        records: Causal records and reflections of the window, oldest first.
        known: The principles so far.
        at: When they are validated; a new one has no id yet.
        is_cumulative: As for `principle_from`.
    """
    known = tuple(known)
    found = []
    for pattern in find_patterns(records):
        existing = matching(pattern, known)
        change = principle_from(pattern, existing, is_cumulative=is_cumulative)
        found.append(
            Principle(
                principle_id=existing.principle_id if existing is not None else "",
                statement=change.statement,
                evidence_count=change.evidence_count,
                confidence=change.confidence,
                source_reflections=change.sources,
                created=existing.created if existing is not None else at,
                last_validated=at,
                change=change.change,
                archetype=pattern.archetype,
                failure_code=pattern.failure_code,
                regime=pattern.regime,
            )
        )
    return tuple(found)


def _statement(pattern: Pattern) -> str:
    archetype, code = (label.replace("_", " ").strip() for label in pattern[:2])
    market = pattern[2].replace("_", " and ")
    return f"{archetype.capitalize()} strategies keep failing while the market is {market}: {code}"


def _failed_as(record: Lesson) -> tuple[str, str, str] | None:
    if record.kind == "failure" and record.archetype and record.failure_code and record.regime:
        return record.archetype, record.failure_code, record.regime
    return None


def _attempt(record: Lesson) -> str:
    return record.hypothesis_id or f"record {record.record_id}"
