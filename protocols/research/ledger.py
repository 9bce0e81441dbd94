"""The research ledger: what reports must equal, folded from the log (K9, R-D13, R-D14, R-D17)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.context import Deed, Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import DERIVED, NEWEST, SECOND_AUDIT
from moot.protocols.research import learning, strictness
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import (
    CausalEntry,
    CausalRecord,
    CycleContext,
    DailyReport,
    Hypothesis,
    Principle,
    PrincipleSynthesis,
    Reflection,
    Strategy,
    StrategyMoved,
    ThresholdsAdjusted,
    WeeklyReport,
)
from moot.protocols.research.seats import SYSTEM_A

KEPT: Final = timedelta(days=15)
"""What is older is forgotten, unless a window that is still to come reaches back to it."""

PARENTS: Final = 5
"""So many of the last approved strategies are offered as parents."""


REEVALUATED_WITHIN: Final = 10
"""Cycles for which a recalled strategy is offered for re-evaluation (spec 6.2, R-F11)."""

REPORT: Final = ("MICRO_CYCLE_REPORT",)
"""What a cycle's last obligation expects: it came to its report."""

_Context = tuple[str | None, str | None, tuple[str, ...]]
"""Fields of a CycleContext, in their order."""


class Counts(NamedTuple):
    """What a window held: cycles that came to their report, and debates that ended so."""

    cycles: int
    approved: int
    rejected: int
    revised: int


NOTHING_YET: Final = Counts(0, 0, 0, 0)


class Known(NamedTuple):
    """What is kept of a debate for a case linked to it (K23), and for a late move of its strategy (R-D15)."""

    lineage_id: str
    regime: str | None
    strategy: Strategy | None
    verdict: str
    passed: bool | None
    ended_at: datetime


class Debated(NamedTuple):
    """One ended debate; `of` is when that ended which it takes up again (K23)."""

    at: datetime
    of: datetime | None
    lineage_id: str
    first: str
    final: str
    passed: bool | None
    quality: float | None
    overrode: bool


class Ledger(Fold):
    """Counts, records, principles and thresholds of System A.

    Attributes:
        thresholds: The Critic's strictness by criterion, in [0.2, 0.95] (R-D14).
        principles: The principles by id, as last synthesised.
        strategies: Lineage, strategy and verdict of every ended debate, by its case id.
        retired: Lineages that an admin retired (R-D11).
        in_production: Strategies that System B trades for real.
        parents: The last approved strategies, to breed from; none that was withdrawn.
        reevaluate: Recalled strategies that no hypothesis has named as its parent, with the cycles since (R-F11).
    """

    name = "research"
    types = frozenset(
        {
            "CAUSAL_RECORD",
            "REFLECTION",
            "HYPOTHESIS",
            "RECALL_REQUEST",
            "STRATEGY_MOVED",
            "PRINCIPLE_SYNTHESIS",
            "THRESHOLDS_ADJUSTED",
            "DAILY_REPORT",
            "WEEKLY_REPORT",
        }
    )
    deeds = Deed.ENDED | Deed.RULED

    def __init__(self) -> None:
        """Start empty, with the starting thresholds."""
        self.thresholds: dict[str, float] = dict(strictness.START_THRESHOLDS)
        self.principles: dict[str, Principle] = {}
        self.strategies: dict[str, Known] = {}
        self.retired: set[str] = set()
        self.in_production: set[str] = set()
        self.parents: deque[str] = deque(maxlen=PARENTS)
        self.reevaluate: dict[str, int] = {}
        self.last_verdict: str | None = None
        self.direction: str | None = None
        self._contexts: deque[_Context] = deque(maxlen=16)
        self._cycles: deque[datetime] = deque()
        self._debates: deque[Debated] = deque()
        self._records: deque[tuple[datetime, CausalEntry]] = deque()
        self._sharpes: deque[tuple[datetime, str, float]] = deque()
        self._passing: dict[str, datetime] = {}
        self._today = [0, 0, 0, 0]
        self._day_ends: datetime | None = None

    # ------------------------------------------------------------ folding

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Draft] | None:
        """Take in one envelope and what it changed."""
        for ended in fx.ended:
            if isinstance(ended, DebateState):
                self._ended(env.sent_at, ended, docket)
        for opened in fx.opened:
            if opened.expects == REPORT:
                self._cycles.append(env.sent_at)
                self._day(env.sent_at, docket)[0] += 1
                self.reevaluate = {
                    name: n + 1 for name, n in self.reevaluate.items() if n + 1 < REEVALUATED_WITHIN
                }
        if fx.violation is not None or fx.superseded:
            return None
        body = env.body
        if type(body) is CausalRecord or type(body) is Reflection:
            if body.record.kind in ("failure", "success"):
                self._records.append((env.sent_at, body.record))
        elif type(body) is Hypothesis:
            self.reevaluate.pop(body.parent_strategy_id or "", None)
        elif body.type == "RECALL_REQUEST":
            self.reevaluate[body.strategy_id] = 0  # type: ignore[attr-defined]
        elif type(body) is StrategyMoved:
            self._moved(env, body, docket)
        elif type(body) is PrincipleSynthesis:
            self.principles.update({p.principle_id: p for p in body.principles})
        elif type(body) is ThresholdsAdjusted:
            self.thresholds = dict(body.after)
        elif type(body) is DailyReport:
            self._steer(body.tomorrow_priority)
        elif type(body) is WeeklyReport:
            self._steer(body.next_week_direction)
        return None

    def _ended(self, at: datetime, state: DebateState, docket: Docket) -> None:
        self.strategies[state.case_id] = Known(
            state.lineage_id, state.regime, state.strategy, state.verdict, state.passed, at
        )
        if state.outcome == "stopped":
            return
        final = state.verdict or "REJECT"
        first = "REVISE" if state.revised else final
        overrode = final == "APPROVE" and state.rating == "REJECT"
        of = self.strategies[state.linked].ended_at if state.linked is not None else None
        self._debates.append(
            Debated(at, of, state.lineage_id, first, final, state.passed, state.quality, overrode)
        )
        today = self._day(at, docket)
        if of is None or docket.context.fold_named("calendar").day_end(of) != self._day_ends:
            today[1 if final == "APPROVE" else 2] += 1
            if state.revised:
                today[3] += 1
        if state.passed and final == "APPROVE":
            self._passing[state.lineage_id] = at
        if final != self.last_verdict:
            self._remember()
            self.last_verdict = final

    def _moved(self, env: Envelope, body: StrategyMoved, docket: Docket) -> None:
        if body.to == "production":
            self.in_production.add(body.strategy_id)
        else:
            self.in_production.discard(body.strategy_id)
        if body.to == "withdrawn" and body.strategy_id in self.parents:
            self._remember()
            others = [one for one in self.parents if one != body.strategy_id]
            self.parents = deque(others, maxlen=PARENTS)
        elif body.to == "candidates":
            self.reevaluate.pop(body.strategy_id, None)
        if body.to != "candidates" or env.author not in SYSTEM_A:
            return  # what System B sends back is no parent
        self._remember()
        self.parents.append(body.strategy_id)
        state = docket.cases.get(env.case_id or "")
        if isinstance(state, DebateState) and state.sharpe is not None:
            self._sharpes.append((env.sent_at, body.strategy_id, state.sharpe))

    def _steer(self, direction: str) -> None:
        self._remember()
        self.direction = direction

    def diversify(self) -> None:
        """Point the next cycles at other archetypes (an admin's answer)."""
        self._steer("diversify: leave the archetypes of the last failures")

    def _forget(self, before: datetime) -> None:
        while self._cycles and self._cycles[0] <= before:
            self._cycles.popleft()
        while self._debates and self._debates[0].at <= before:
            self._debates.popleft()
        while self._records and self._records[0][0] <= before:
            self._records.popleft()
        while self._sharpes and self._sharpes[0][0] <= before:
            self._sharpes.popleft()

    # ------------------------------------------------------------ questions

    def _present(self) -> _Context:
        return (self.last_verdict, self.direction, tuple(self.parents))

    def _remember(self) -> None:
        present = self._present()
        if not self._contexts or self._contexts[-1] != present:
            self._contexts.append(present)

    def context(self) -> CycleContext:
        """Return what a CYCLE_TRIGGER says about the cycles before it."""
        last_verdict, direction, parents = self._present()
        return CycleContext(
            last_verdict=last_verdict, priority_direction=direction, available_parents=parents
        )

    def was_context(self, context: CycleContext) -> bool:
        """Say whether this was the context a moment ago (the trigger may have been under way)."""
        given = (context.last_verdict, context.priority_direction, context.available_parents)
        return given == self._present() or given in self._contexts

    def _debated(self, since: datetime, until: datetime) -> list[Debated]:
        """List the debates of (since, until]; one taken up again is no new debate in its old window (R-F13)."""
        return [d for d in self._debates if since < d.at <= until and not (d.of is not None and since < d.of)]

    def counts(self, since: datetime, until: datetime) -> Counts:
        """Count what fell into (since, until]."""
        debates = self._debated(since, until)
        return Counts(
            sum(1 for at in self._cycles if since < at <= until),
            sum(1 for d in debates if d.final == "APPROVE"),
            sum(1 for d in debates if d.final == "REJECT"),
            sum(1 for d in debates if d.first == "REVISE"),
        )

    def day_so_far(self, now: datetime) -> Counts:
        """Count what the present day held so far; a day ends at the daily instant (R-D17)."""
        is_today = self._day_ends is not None and now <= self._day_ends
        return Counts(*self._today) if is_today else NOTHING_YET

    def _day(self, at: datetime, docket: Docket) -> list[int]:
        """Return the counts of the day that `at` belongs to, in the order of `Counts`."""
        if self._day_ends is None or at > self._day_ends:
            calendar = docket.context.fold_named("calendar")
            self._day_ends = calendar.day_end(at)
            self._today = [0, 0, 0, 0]
            self._forget(min(at - KEPT, calendar.oldest(at)))
        return self._today

    def records(self, since: datetime, until: datetime) -> tuple[CausalEntry, ...]:
        """Return the failures and successes recorded in (since, until]."""
        found = [(at, record) for at, record in self._records if since < at <= until]
        return tuple(r if r.at == at else r.model_copy(update={"at": at}) for at, r in found)

    def check_synthesis(
        self, body: PrincipleSynthesis, since: datetime, until: datetime, *, version: int = NEWEST
    ) -> None:
        """Check that the principles are those that the recorded failures make (spec 2.1, R-D13).

        Args:
            body: The synthesis.
            since: Where its window begins.
            until: Where that ends.
            version: The rules version of the log. From 3 on a new principle is validated when it is created, from 4
                on an update adds to the earlier sources and is validated in the window or after it (R-G3).

        Raises:
            Violation: A principle rests on fewer than three recorded failures of its kind in the window, its
                figures are not what they give, or a pattern has no principle.
        """
        patterns = {p[:3]: p for p in learning.find_patterns(self.records(since, until))}
        taken = set(self.principles)
        for n, given in enumerate(body.principles):
            field = f"principles[{n}]"
            pattern = patterns.pop((given.archetype, given.failure_code, given.regime), None)
            if version >= DERIVED and given.change == "created" and given.created != given.last_validated:
                raise Violation(
                    "2.1", "a new principle is validated when it is created", field=f"{field}.created"
                )
            if pattern is None:
                why = "three similar failures make a principle; they are not recorded"
                raise Violation("R-D13", why, field=field)
            existing = learning.matching(pattern, self.principles.values())
            found = learning.principle_from(pattern, existing, is_cumulative=version >= SECOND_AUDIT)
            if existing is not None and given.principle_id != existing.principle_id:
                raise Violation("R-D13", f"it updates {existing.principle_id}", field=f"{field}.principle_id")
            if existing is None and given.principle_id in taken:
                raise Violation("R-D13", "the id is another principle's", field=f"{field}.principle_id")
            taken.add(given.principle_id)
            if version >= SECOND_AUDIT and existing is not None and given.last_validated <= since:
                why = "an update is validated on the day of its synthesis"
                raise Violation("R-G3", why, field=f"{field}.last_validated")
            for name, value in (
                ("source_reflections", found.sources),
                ("evidence_count", found.evidence_count),
                ("confidence", found.confidence),
                ("change", found.change),
            ):
                if getattr(given, name) != value:
                    raise Violation("R-D13", f"the recorded failures give {value}", field=f"{field}.{name}")
        if patterns:
            raise Violation("R-D13", f"{len(patterns)} patterns have no principle", field="principles")

    def threshold_review(self, since: datetime, until: datetime) -> dict[str, Any]:
        """Return the figures of THRESHOLD_REVIEW (spec 2.2, R-D14)."""
        debates = self._debated(since, until)
        rejects = [d for d in debates if d.final == "REJECT"]
        approvals = [d for d in debates if d.final == "APPROVE"]
        wrongly = sum(1 for d in rejects if (at := self._passing.get(d.lineage_id)) is not None and at > d.at)
        review = strictness.threshold_review(
            rejects=len(rejects),
            wrongly_rejected=wrongly,
            approvals=len(approvals),
            failed_backtests=sum(1 for d in approvals if d.passed is False),
        )
        return review._asdict()

    def adjusted(self, before: dict[str, float], factor: float) -> dict[str, float]:
        """Return the thresholds after a review's factor (R-D14)."""
        return strictness.adjust(before, factor)

    def meta(self, since: datetime, until: datetime) -> dict[str, Any]:
        """Return the figures of META_REFLECTION (spec 2.3)."""
        debates = self._debated(since, until)
        total = len(debates)
        qualities = [d.quality for d in debates if d.quality is not None]

        def share(n: float, of: int) -> float:
            return round(n / of, 6) if of else 0.0

        return {
            "period": f"{until.isocalendar().year}-W{until.isocalendar().week:02d}",
            "total_debates": total,
            "verdict_distribution": {
                name: sum(1 for d in debates if d.first == name) for name in ("APPROVE", "REJECT", "REVISE")
            },
            "avg_debate_quality": share(sum(qualities), len(qualities)),
            "explorer_win_rate": share(sum(1 for d in debates if d.final == "APPROVE"), total),
            "critic_override_rate": share(sum(1 for d in debates if d.overrode), total),
        }

    def top_strategy(self, since: datetime, until: datetime) -> dict[str, Any] | None:
        """Return the best strategy that passed its backtest in (since, until], None when none did."""
        found = [(sharpe, sid) for at, sid, sharpe in self._sharpes if since < at <= until]
        if not found:
            return None
        sharpe, strategy_id = max(found)
        return {"id": strategy_id, "sharpe": sharpe}

    def best_sharpe(self, since: datetime, until: datetime) -> float | None:
        """Return the best Sharpe ratio that passed in (since, until]."""
        top = self.top_strategy(since, until)
        return None if top is None else float(top["sharpe"])
