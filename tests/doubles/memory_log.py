"""A log to fold into memory: builders of the messages that write it, in seq order."""

from datetime import UTC, datetime, timedelta
from typing import Any

from moot.protocols.arena.messages import ArenaTask, FinalOutput, RunTerminated
from moot.protocols.arena.seats import FINALIZER
from moot.protocols.kernel.envelope import BOT, GENESIS, Draft, Envelope, seal
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import ADMIN, ORCHESTRATOR, Seat
from moot.protocols.research.messages import (
    ApprovedChange,
    ArchitectureProposal,
    ArchitectureVerdict,
    BacktestMetrics,
    BacktestResult,
    CausalEntry,
    CausalRecord,
    ExpectedTraits,
    Hypothesis,
    Principle,
    PrincipleSynthesis,
    ProposedChange,
    Rebuttal,
    Reflection,
    ResearchNote,
    RevisedHypothesis,
    Split,
    Strategy,
    StrategyMoved,
    ThresholdsAdjusted,
    Window,
)
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from moot.protocols.trading.messages import MetricsRecorded, Realised
from moot.protocols.trading.seats import GUARDIAN, OPERATOR

START = datetime(2026, 2, 23, 10, tzinfo=UTC)
MOMENTUM = Strategy(archetype="momentum", params={"fast": 10, "slow": 50.5}, symbols=("SP500",))
REVERSION = Strategy(archetype="mean_reversion", params={"entry_z": 2.0}, symbols=("SP500", "NASDAQ"))
CHANNEL = "#a-report"


class Log:
    """Messages in seq order, one every `step` unless told otherwise."""

    def __init__(self, step: timedelta = timedelta(minutes=1)) -> None:
        self.envelopes: list[Envelope] = []
        self.at = START
        self._step = step
        self._hash = GENESIS

    def post(self, author: Seat, body: Message, *, at: datetime | None = None, key: str = "") -> Envelope:
        self.at = self.at + self._step if at is None else at
        seq = len(self.envelopes) + 1
        draft = Draft(channel=CHANNEL, author=author, body=body, actor=BOT, key=key or f"m{seq}")
        env, self._hash = seal(
            draft, seq=seq, envelope_id=draft.identity(), sent_at=self.at, previous=self._hash
        )
        self.envelopes.append(env)
        return env

    def note(self, title: str = "nothing") -> Envelope:
        return self.post(EXPLORER, ResearchNote(title=title, findings=(), sources=()))

    def record(self, record_id: str, *, causal: bool = False, **fields: Any) -> Envelope:
        author = fields.pop("author", EVOLVER)
        at = fields.pop("sent_at", None)
        return self.post(author, record(record_id, causal=causal, **fields), at=at)

    def hypothesis(self, hypothesis_id: str, lineage_id: str = "", strategy: Strategy = MOMENTUM) -> Envelope:
        return self.post(EXPLORER, hypothesis(hypothesis_id, lineage_id, strategy))

    def revised(self, hypothesis_id: str, strategy: Strategy) -> Envelope:
        body = RevisedHypothesis(
            hypothesis_id=hypothesis_id, statement="", rationale="", strategy=strategy, addressed=()
        )
        return self.post(EXPLORER, body)

    def rebuttal(self, hypothesis_id: str, strategy: Strategy | None) -> Envelope:
        body = Rebuttal(
            hypothesis_id=hypothesis_id, round=2, responses=(), modifications=(), strategy=strategy
        )
        return self.post(EXPLORER, body)

    def backtest(self, hypothesis_id: str, *, passed: bool = True, sharpe: float = 0.5) -> Envelope:
        return self.post(EVOLVER, backtest(hypothesis_id, passed=passed, sharpe=sharpe))

    def moved(
        self,
        strategy_id: str,
        to: str,
        *,
        hypothesis_id: str = "",
        from_: str | None = None,
        strategy: Strategy | None = None,
        author: Seat | None = None,
        reason: str = "because",
    ) -> Envelope:
        body = StrategyMoved(
            hypothesis_id=hypothesis_id,
            strategy_id=strategy_id,
            from_=from_,  # type: ignore[arg-type]
            to=to,  # type: ignore[arg-type]
            reason=reason,
            strategy=strategy,
        )
        return self.post(author or (EVOLVER if to == "candidates" else OPERATOR), body)

    def metrics(
        self,
        date: str,
        strategy_id: str,
        *,
        pnl: float = 1.0,
        sharpe: float | None = None,
        author: Seat = GUARDIAN,
        sent_at: datetime | None = None,
    ) -> Envelope:
        realised = Realised(pnl=pnl, sharpe_30d=sharpe, n=20, max_drawdown=-0.01, trades=2)
        body = MetricsRecorded(date=date, strategy_id=strategy_id, realised=realised)
        return self.post(author, body, at=sent_at)

    def principles(self, *principles: Principle) -> Envelope:
        window = Window(from_=self.at - timedelta(days=1), to=self.at)
        return self.post(
            EVOLVER, PrincipleSynthesis(cycle_id="cycle_1", window=window, principles=principles)
        )

    def proposals(self, period: str, **changes: str) -> Envelope:
        proposed = tuple(
            ProposedChange(change_id=change_id, scope="system", description=text, expected_benefit="")
            for change_id, text in changes.items()
        )
        return self.post(EXPLORER, ArchitectureProposal(period=period, proposals=proposed))

    def run(
        self,
        change_id: str,
        run_id: str = "arena_20260228_1700",
        *,
        output: str = "First measure, then change.",
        state: str = "TERMINATED_APPROVED",
        parent_id: str = "cycle_1",
    ) -> Envelope:
        """Open a run of the Arena for an approved change, and end it."""
        self.post(
            EVOLVER,
            ArenaTask(run_id=run_id, parent_id=parent_id, config={}, task={"task_id": change_id}),
        )
        self.post(FINALIZER, FinalOutput(run_id=run_id, text=output))
        body = RunTerminated(run_id=run_id, state=state, reason="APPROVED: it is", rounds=1)  # type: ignore[arg-type]
        return self.post(ORCHESTRATOR, body)

    def architecture(
        self,
        period: str,
        *,
        approved: tuple[str, ...] = (),
        deferred: tuple[str, ...] = (),
        rejected: tuple[str, ...] = (),
    ) -> Envelope:
        changes = tuple(
            ApprovedChange(
                change_id=change_id,
                description=f"{change_id} as approved",
                priority="high",
                implementation_notes="soon",
                assigned_to="evolver",
            )
            for change_id in approved
        )
        body = ArchitectureVerdict(
            period=period,
            proposals_evaluated=len(approved) + len(deferred) + len(rejected),
            approved_changes=changes,
            deferred=deferred,
            rejected=rejected,
        )
        return self.post(EVOLVER, body)

    def adjusted(self, period: str, after: dict[str, float], author: Seat = CRITIC) -> Envelope:
        return self.post(author, ThresholdsAdjusted(period=period, before={}, after=after))

    def override(self, case_id: str, override_id: str) -> Envelope:
        body = Override(override_id=override_id, case_id=case_id, verdict="APPROVE", why="it is good")
        return self.post(ADMIN, body, key=f"cli/{override_id}")


def record(record_id: str, *, causal: bool = False, **fields: Any) -> CausalRecord | Reflection:
    """Make a CAUSAL_RECORD or REFLECTION, by default a failed momentum hypothesis."""
    defaults: dict[str, Any] = {
        "at": START,
        "kind": "failure",
        "hypothesis_id": f"hyp of {record_id}",
        "lineage_id": None,
        "seat": "explorer",
        "archetype": "momentum",
        "failure_code": "overfitting",
        "regime": "calm_up",
        "summary": "it failed",
        "metrics": {"sharpe": -0.25, "trades": 12},
    }
    entry = CausalEntry(record_id=record_id, **{**defaults, **fields})
    return CausalRecord(record=entry) if causal else Reflection(record=entry)


def principle(principle_id: str, *, count: int = 3, archetype: str = "momentum", **fields: Any) -> Principle:
    """Make a principle about overfitting in a calm, rising market."""
    defaults: dict[str, Any] = {
        "statement": f"{archetype} fails",
        "confidence": 0.4385,
        "source_reflections": ("ref_001", "ref_002", "ref_003"),
        "created": START,
        "last_validated": START,
        "change": "created",
        "failure_code": "overfitting",
        "regime": "calm_up",
    }
    return Principle(
        principle_id=principle_id, evidence_count=count, archetype=archetype, **{**defaults, **fields}
    )


def hypothesis(hypothesis_id: str, lineage_id: str = "", strategy: Strategy = MOMENTUM) -> Hypothesis:
    """Make a HYPOTHESIS about a strategy."""
    traits = ExpectedTraits(
        holding_period_days=(2, 20),
        target_sharpe=0.8,
        max_drawdown=0.15,
        win_rate=0.5,
        asset_class="equity",
        archetype=strategy.archetype,
    )
    return Hypothesis(
        hypothesis_id=hypothesis_id,
        cycle_id="cycle_1",
        lineage_id=lineage_id,
        statement="it trends",
        rationale="it did",
        strategy=strategy,
        expected_traits=traits,
        signal_sources=(),
        entry_trigger="",
        exit_trigger="",
        evidence=(),
    )


def backtest(hypothesis_id: str, *, passed: bool = True, sharpe: float = 0.5) -> BacktestResult:
    """Make a BACKTEST_RESULT."""
    metrics = BacktestMetrics(
        sharpe=sharpe, max_drawdown=0.1, win_rate=0.5, total_trades=30, profit_factor=None, annual_return=0.07
    )
    return BacktestResult(
        hypothesis_id=hypothesis_id,
        passed=passed,
        reason="as it is",
        metrics=metrics,
        split=Split(from_="2015-01-02", to="2018-12-31"),
        equity_ref="equity/0123456789abcdef",
    )


def a_week() -> Log:
    """Return a log in which every message that writes memory occurs, and some that do not."""
    log = Log()
    log.note()
    log.hypothesis("hyp_1", "lin_1")
    log.revised("hyp_1", REVERSION)
    log.backtest("hyp_1")
    log.moved("strat_1", "candidates", hypothesis_id="hyp_1")
    log.record("cau_001", causal=True, kind="success", hypothesis_id="hyp_1", failure_code=None)
    for n in range(1, 5):
        log.record(f"ref_00{n}", summary=f"ä lesson {n}")
    log.principles(principle("prin_001"), principle("prin_002", archetype="breakout"))
    log.moved("strat_1", "staging", from_="candidates")
    log.proposals("2026-W09", arch_001="news data", arch_002="sentiment", arch_003="more seats")
    log.architecture("2026-W09", approved=("arch_001",), deferred=("arch_002",), rejected=("arch_003: dear",))
    log.run("arch_001")
    log.adjusted("2026-W09", {"tail_risk": 0.54, "overfitting": 0.54})
    log.principles(principle("prin_001", count=5, change="updated"))
    log.moved("strat_1", "production", from_="staging")
    log.adjusted("2026-W10", {"tail_risk": 0.486})
    return log


def many(count: int) -> Log:
    """Return a log of many cycles, the same on every call: most of its messages write memory."""
    log = Log(step=timedelta(minutes=10))
    n = 0
    while len(log.envelopes) < count:
        n += 1
        log.note(f"cycle {n}")
        log.hypothesis(f"hyp_{n}", f"lin_{n % 7}", MOMENTUM if n % 2 else REVERSION)
        log.backtest(f"hyp_{n}", passed=n % 3 != 0, sharpe=n / 100)
        if n % 3:
            log.moved(f"strat_{n}", "candidates", hypothesis_id=f"hyp_{n}")
            log.record(f"cau_{n:03d}", causal=True, kind="success", failure_code=None)
        else:
            log.record(f"ref_{n:03d}", archetype=("momentum", "breakout")[n % 2])
        if n % 4 == 0:
            log.moved(f"strat_{n - 3}", "staging", from_="candidates")
            log.metrics(f"2026-03-{n % 28 + 1:02d}", f"strat_{n - 3}", pnl=n / 10, sharpe=(n - 40) / 50)
        if n % 20 == 0:
            log.moved(f"strat_{n - 3}", "withdrawn", from_="staging", reason="recalled")
            log.record(f"recall_{n:03d}", archetype="momentum", failure_code="recalled")
        if n % 12 == 0:
            log.principles(principle(f"prin_{n % 5:03d}", count=n))
        if n % 84 == 0:
            log.adjusted(f"2026-W{n // 84 % 52 + 1:02d}", {"tail_risk": 0.3 + (n % 50) / 100})
    del log.envelopes[count:]
    return log
