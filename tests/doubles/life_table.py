"""A desk without hours: a session that takes what it is told, for tests of what strategies go through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import GENESIS, OFFICER, Draft, Envelope
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import ADMIN, TIMEKEEPER, Seat
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Move, RuleInput, ends
from moot.protocols.research.seats import EVOLVER
from moot.protocols.rulebook import rules
from moot.protocols.trading import messages as t
from moot.protocols.trading.life import Life
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER
from moot.protocols.trading.session import SESSION as REAL_SESSION
from moot.protocols.trading.standing import Standing
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.table import START, Table


@dataclass(frozen=True, kw_only=True)
class Told(CaseState):
    """A session that keeps the rulings on it."""

    rulings: tuple[Decision, ...] = ()


def _open(given: RuleInput) -> Told:
    return Told(
        case_id=given.body.session_id,
        kind="session",
        phase="open",
        opened_seq=given.message.seq,
        anchor_at=given.at,
    )


def _taken(_state: Told, _given: RuleInput) -> None:
    """Every message is taken, and changes nothing."""


def _ruled(state: Told, given: RuleInput) -> Effect:
    """A ruling is kept."""
    body = given.body
    return Effect({"rulings": (*state.rulings, Decision(body.outcome, body.reason, body.rule))})


SESSION = Machine(
    kind="session",
    system="B",
    phases=("open",),
    rule="4",
    start={t.TradingDay: Start(_open, ("open",))},
    steps={},
    facts={
        ("open", Message): Move(("open",), _taken),
        ("open", t.WeeklyTradingReport): Move((ENDED,), ends("closed")),
    },
    rulings={
        **{reason: Move(("open",), _ruled) for reason in REAL_SESSION.rulings},
        STOP: Move((ENDED,), ends("stopped")),
    },
    idle={"open": "its WEEKLY_TRADING_REPORT"},
)

HOURS = frozenset({"desk_calendar", "health"})
"""Folds that make the officers speak by the exchange's clock."""


class LifeTable(Table):
    """The society of `Table` with a session that takes everything; all other rules are the real ones."""

    def __init__(self, start: datetime = START, schedules: dict[str, Any] | None = None) -> None:
        """Start it; by default nothing is due."""
        base = rules()
        self.rules = replace(
            base,
            types={**base.types, "session": SESSION},
            new_folds=lambda: [fold for fold in base.new_folds() if fold.name not in HOURS],
        )
        self.gate = Gate(self.rules)
        self.docket = Docket(self.rules)
        self.log = []
        self.effects = []
        self.now = start
        self.head = GENESIS
        self.keys = 0
        self.schedules = schedules or {}
        self.days = 0
        self.start()

    @property
    def life(self) -> Life:
        """Return the fold of strategies."""
        found: Life = self.docket.context.fold_named("life")
        return found

    def standing(self, strategy_id: str = "strat_1") -> Standing:
        """Return what is known of a strategy."""
        return self.life.strategies[strategy_id]

    # ---------------------------------------------------------------- the day

    def open_day(self) -> str:
        """Let the Timekeeper open a desk day now; return its session."""
        self.days += 1
        session_id = f"session_{self.days}"
        body = t.TradingDay(
            session_id=session_id,
            date=f"{self.now:%Y-%m-%d}",
            nominal_at=self.now,
            opens_at=self.now,
            closes_at=self.now + timedelta(hours=6),
            ends_at=self.now + timedelta(hours=24),
            is_early_close=False,
        )
        self.docket.demand(
            Draft(channel="#b-ops", author=TIMEKEEPER, actor=OFFICER, key=f"desk/{session_id}", body=body)
        )
        self.officers()
        return session_id

    def tell(self, seat: Seat, body: Message, case_id: str | None = None, **how: Any) -> Envelope:
        """Post what no obligation asks for, in its channel, then let the officers act."""
        row = next(row for row in self.rules.matrix.rows if row.type == body.type)
        how.setdefault("channel", next(iter(row.channels)))
        return self.say(seat, body, case_id=case_id, **how)

    def close_day(self, pnl_pct: float = 0.0, closes: dict[str, float] | None = None) -> Envelope:
        """Say MARKET_CLOSE in the newest session."""
        body = t.MarketClose(
            date=f"{self.now:%Y-%m-%d}",
            closes=closes or {},
            equity=1e6,
            pnl_usd=1e6 * pnl_pct,
            pnl_pct=pnl_pct,
            trades=0,
        )
        return self.tell(OPERATOR, body, f"session_{self.days}")

    def trade_days(self, n: int) -> None:
        """Open and close so many desk days, one a calendar day."""
        for _ in range(n):
            self.open_day()
            self.close_day()
            self.wait(hours=24)

    def week(self) -> None:
        """End the newest session by its weekly report."""
        body = t.WeeklyTradingReport(
            week="2026-W09",
            sessions=1,
            pnl_usd=0.0,
            pnl_pct=0.0,
            cumulative_pnl_pct=0.0,
            total_trades=0,
            strategy_attribution=(),
            promotions=(),
            recalls=(),
        )
        self.tell(OPERATOR, body, f"session_{self.days}")

    def signal(self, quantity: int = 100, price: float = 100.0, strategy_id: str = "strat_1") -> str:
        """Say a BUY; return its trade."""
        body = t.Signal(
            strategy_id=strategy_id,
            symbol="sp500",
            action="BUY",
            quantity=quantity,
            order_type="limit",
            limit_price=price,
            confidence=0.8,
            reason="it rises",
        )
        return self.tell(TRADER, body).case_id or ""

    def order(self, trade: str, quantity: int = 100, price: float = 100.0) -> None:
        """Place the order of a trade."""
        body = t.Order(
            client_order_id=f"{trade}-1",
            symbol="sp500",
            side="BUY",
            quantity=quantity,
            order_type="limit",
            limit_price=price,
        )
        owed = next(o for o in self.docket.owed_by(TRADER) if o.case_id == trade)
        env = self.say(TRADER, body, owed=owed)
        assert self.broke(env) == ""

    def buy(self, quantity: int = 100, price: float = 100.0) -> None:
        """Buy shares from the signal to the fill."""
        trade = self.signal(quantity, price)
        self.order(trade, quantity, price)
        body = t.Execution(
            client_order_id=f"{trade}-1",
            symbol="sp500",
            action="BUY",
            qty_filled=quantity,
            avg_price=price,
            slippage_bps=0.0,
            status="filled",
        )
        self.say(TRADER, body)

    # ---------------------------------------------------------------- strategies

    def move(self, from_: str | None, to: str, seat: Seat = ADMIN, **over: Any) -> Envelope:
        """Move a strategy by a word that stands alone, by default an admin's."""
        how = {"user": over.pop("user", "")}
        return self.tell(seat, bodies.moved(**{"from_": from_, "to": to, **over}), **how)

    def stage(self, strategy_id: str = "strat_1", **over: Any) -> None:
        """Put a strategy into staging by way of the candidates."""
        self.move(None, "candidates", strategy_id=strategy_id, **over)
        self.move("candidates", "staging", strategy_id=strategy_id)

    def propose(self, strategy_id: str = "strat_1", **over: Any) -> str:
        """Propose a deployment; return its case."""
        fields = {"strategy_id": strategy_id, "backtest_metrics": {}, "risk_profile": {}, **over}
        self.tell(OPERATOR, t.DeployProposal(**fields))
        return self.last("DEPLOY_PROPOSAL").case_id or ""

    def deploy(self, strategy_id: str = "strat_1") -> None:
        """Stage a strategy and deploy it by row 3."""
        self.stage(strategy_id)
        self.propose(strategy_id)
        self.say(GUARDIAN, guardian())
        self.say(TRADER, trader())
        self.say(OPERATOR, decision("DEPLOY", 3, **AGREED))
        self.say(OPERATOR, notice(strategy_id=strategy_id))

    def broke(self, env: Envelope) -> str:
        """Return the rule that a message broke, "" for none."""
        violation = self.effects[env.seq - 1].violation
        return violation.rule if violation is not None else ""

    def obligations(self) -> set[tuple[str, str]]:
        """Return who owes what, officers and people aside."""
        seats = (OPERATOR, GUARDIAN, TRADER, EVOLVER)
        return {(o.seat, o.expects[0]) for o in self.docket.open.values() if o.seat in seats}


AGREED: Final[Mapping[str, Any]] = {"position_limit": 0.02, "order_type": "limit"}
"""Parameters on which `guardian()` and `trader()` agree: those of an all-clear deployment (R-G1)."""


def guardian(risk: str = "acceptable", limit: float = 0.02) -> t.DeployReview:
    """Return the Guardian's review of a deployment."""
    return t.DeployReview(form="guardian", risk_assessment=risk, recommended_position_limit=limit)  # type: ignore[arg-type]


def trader(
    executability: str = "ready", liquidity: bool = False, order_type: str = "limit"
) -> t.DeployReview:
    """Return the Trader's review of a deployment."""
    return t.DeployReview(
        form="trader",
        executability=executability,  # type: ignore[arg-type]
        liquidity_concern=liquidity,
        suggested_order_type=order_type,  # type: ignore[arg-type]
        estimated_slippage_bps=2.0,
    )


def decision(what: str, row: int, feedback: str | None = None, **parameters: Any) -> t.DeployDecision:
    """Return the Operator's decision on a deployment."""
    return t.DeployDecision(
        decision=what,  # type: ignore[arg-type]
        row=row,
        parameters=t.DeployParameters(**parameters),
        feedback=feedback,
    )


def notice(
    action: str = "STAGE", to: str = "staging", strategy_id: str = "strat_1", **over: Any
) -> t.DeployNotice:
    """Return a notice."""
    fields = {
        "action": action,
        "strategy_id": strategy_id,
        "from_": "staging",
        "to": to,
        "validation_period_days": 5 if action == "STAGE" else None,
        "reason": "so",
        **over,
    }
    return t.DeployNotice(**fields)


def halt(reason: str = "too risky") -> t.Halt:
    """Return the Guardian's HALT."""
    return t.Halt(reason=reason, by="guardian")
