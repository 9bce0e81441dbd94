"""A desk with money: trades, halts and alerts as they are, in a session that takes what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import GENESIS, OFFICER, Draft, Envelope
from moot.protocols.kernel.figures import check, exactly
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import ADMIN, TIMEKEEPER, Seat
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, Owe, RuleInput, Step, ends, passes
from moot.protocols.kernel.times import minutes
from moot.protocols.rulebook import rules
from moot.protocols.trading import messages as t
from moot.protocols.trading.alert import ALERT
from moot.protocols.trading.book import Book
from moot.protocols.trading.bridge_cases import RECALL
from moot.protocols.trading.halt import HALT
from moot.protocols.trading.health import Health
from moot.protocols.trading.life import Life
from moot.protocols.trading.moves import check_moved
from moot.protocols.trading.policies import DeskPolicies
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from moot.protocols.trading.session import SESSION as REAL_SESSION
from moot.protocols.trading.trade import TRADE
from moot.protocols.trading.trade_fills import check_execution
from moot.protocols.trading.trade_state import TradeState
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.table import START, Table

TRADER, GUARDIAN, OPERATOR = TRADER_SEAT, GUARDIAN_SEAT, OPERATOR_SEAT


@dataclass(frozen=True, kw_only=True)
class Hall(CaseState):
    """A session that keeps the last states of its ended children."""

    children: tuple[CaseState, ...] = ()


def _open(given: RuleInput) -> Hall:
    return Hall(
        case_id=given.body.session_id,
        kind="session",
        phase="open",
        opened_seq=given.message.seq,
        anchor_at=given.at,
    )


def _taken(_state: Hall, _given: RuleInput) -> None:
    """What is said changes nothing."""


def _measured(_state: Hall, given: RuleInput) -> None:
    """A RISK_CHECK says what the book measures."""
    measures = given.context.fold_named("book").measures(given.body.marks)
    check(given.body, exactly(measures), "R-B7")


def _closed(_state: Hall, given: RuleInput) -> None:
    """A MARKET_CLOSE says what the book closes with."""
    figures = given.context.fold_named("book").close_figures(given.body.closes)
    check(given.body, exactly(figures), "R-B7")


def _owe_halt(_state: Hall, _given: RuleInput) -> Effect:
    """A PRE_MARKET_CHECK makes the Operator owe a HALT, as the Guardian's silence does in a real session."""
    return Effect(owe=(Owe("halt"),))


def _halted(_state: Hall, _given: RuleInput) -> Effect:
    """After anybody's HALT none is owed."""
    return Effect(drop=lambda _due: True)


def _child_ended(state: Hall, given: RuleInput) -> Effect:
    """The last state of a child is kept."""
    return Effect({"children": (*state.children, given.child)})


STAYS = ("open",)

SESSION = Machine(
    kind="session",
    system="B",
    phases=STAYS,
    rule="R-B5",
    start={t.TradingDay: Start(_open, STAYS)},
    steps={
        "halt": Step(
            phase="open",
            seat=OPERATOR,
            channel="#b-risk",
            moves={t.Halt: Move(STAYS, passes)},
            missed=Missed("R-B5", "void", Move(STAYS, passes)),
            rule="R-B5",
            within=minutes(5),
            grace=minutes(5),
            subjects=lambda _state: (),
        )
    },
    facts={
        ("open", Message): Move(STAYS, _taken),
        ("open", t.RiskCheck): Move(STAYS, _measured),
        ("open", t.MarketClose): Move(STAYS, _closed),
        ("open", t.PreMarketCheck): Move(STAYS, _owe_halt),
        ("open", t.Halt): Move(STAYS, _halted),
    },
    rulings={
        **{reason: Move(STAYS, _taken) for reason in REAL_SESSION.rulings},
        STOP: Move((ENDED,), ends("stopped")),
    },
    children={("open", kind): Move(STAYS, _child_ended) for kind in (TRADE.kind, ALERT.kind)},
)


class Hearing(Health):
    """Health that hears who is silent and says nothing of it."""

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one envelope."""
        super().apply(env, fx, docket)

    def _of_b(self, env: Envelope, docket: Docket) -> list[Draft]:
        return []


class MoneyTable(Table):
    """The society of `Table` with the desk's money; one strategy is in production and trades AAA and BBB."""

    def __init__(self, capital: float = 1_000_000.0) -> None:
        """Start it, put the strategy into production, open a day."""
        base = rules()

        def folds() -> Sequence[Fold]:
            ours: list[Fold] = [Life(), Book(), DeskPolicies(), Hearing()]
            names = {fold.name for fold in ours} | {"desk_calendar"}
            return [*(f for f in base.new_folds() if f.name not in names), *ours]

        self.capital = capital
        self.types = {machine.kind: machine for machine in (TRADE, HALT, ALERT, RECALL, SESSION)}
        self.folds = folds
        self.sessions = 0
        super().__init__(START, schedules={})
        self.rules = replace(
            base,
            types={**base.types, **self.types},
            caseless={**base.caseless, "STRATEGY_MOVED": check_moved, "EXECUTION": check_execution},
            new_folds=folds,
        )
        self.gate = Gate(self.rules)
        self.docket = Docket(self.rules)
        self.log, self.effects, self.head = [], [], GENESIS
        self.start_with({"desk": {"capital": capital}})
        self.put("strat_1")
        self.open_day()

    def start_with(self, config: dict[str, Any]) -> None:
        """Say SOCIETY_STARTED with a configuration."""
        body = self.started.model_copy(update={"config": {"schedules": {}, **config}})
        self.post(TIMEKEEPER, body, channel="#admin", key=f"started/{len(self.log) + 1}")

    def publish(self, draft: Draft) -> Envelope | None:
        """Remember how a society is started."""
        if draft.body.type == "SOCIETY_STARTED":
            self.started = draft.body
        return super().publish(draft)

    @property
    def book(self) -> Book:
        """Return the book."""
        found: Book = self.docket.context.fold_named("book")
        return found

    @property
    def hall(self) -> Hall:
        """Return the newest session."""
        found = self.docket.cases[f"session_{self.sessions}"]
        assert isinstance(found, Hall)
        return found

    def broke(self, env: Envelope) -> tuple[str, str | None]:
        """Return the rule and field that a message broke, ("", None) for none."""
        violation = self.effects[env.seq - 1].violation
        return (violation.rule, violation.field) if violation is not None else ("", None)

    def tell(self, seat: Seat, body: Message, case_id: str | None = None, **how: Any) -> Envelope:
        """Post in the type's channel, as an answer when the seat owes it, then let the officers act."""
        row = next(row for row in self.rules.matrix.rows if row.type == body.type)
        owed = [o for o in self.docket.open.values() if o.seat == seat and body.type in o.expects]
        if found := [o for o in owed if case_id in (None, o.case_id)]:
            how.setdefault("owed", found[0])
            case_id = None if body.type == "HALT" else found[0].case_id
        how.setdefault("channel", next(iter(row.channels)))
        return self.say(seat, body, case_id=case_id, **how)

    # ---------------------------------------------------------------- strategies and days

    def put(
        self, strategy_id: str, to: str = "production", symbols: tuple[str, ...] = ("AAA", "BBB")
    ) -> None:
        """Let an admin bring a strategy from nowhere to a stage, each step by a word that stands alone."""
        way = ["candidates", "staging", "production", "withdrawn"]
        what = bodies.strategy(symbols=symbols)
        before = None
        for stage in way[: way.index(to) + 1]:
            body = bodies.moved(strategy_id, from_=before, to=stage, strategy=what)
            assert self.broke(self.tell(ADMIN, body)) == ("", None)
            before = stage

    def withdraw(self, strategy_id: str = "strat_1") -> None:
        """Take a strategy out of production."""
        self.tell(OPERATOR, bodies.moved(strategy_id, from_="production", to="withdrawn"))

    def open_day(self, *, late: bool = False) -> str:
        """Let the Timekeeper open a desk day now, or one whose session is over; return its session."""
        self.sessions += 1
        session_id = f"session_{self.sessions}"
        body = t.TradingDay(
            session_id=session_id,
            date=f"{self.now:%Y-%m-%d}",
            nominal_at=self.now,
            opens_at=self.now,
            closes_at=self.now + timedelta(hours=-1 if late else 6),
            ends_at=self.now + timedelta(hours=24),
            is_early_close=False,
        )
        key = f"desk/{session_id}"
        self.docket.demand(Draft(channel="#b-ops", author=TIMEKEEPER, actor=OFFICER, key=key, body=body))
        self.officers()
        return session_id

    def close_day(self, **closes: float) -> Envelope:
        """Say MARKET_CLOSE with the book's figures."""
        figures = self.book.close_figures(closes)
        env = self.tell(OPERATOR, t.MarketClose(closes=closes, **figures), self.hall.case_id)
        assert self.broke(env) == ("", None)
        return env

    def day(self, **closes: float) -> None:
        """Close this day at some prices, and open the next a calendar day later."""
        self.close_day(**closes)
        self.wait(hours=24)
        self.open_day()

    def check(self, *, var95: float = 0.0, **marks: float) -> Envelope:
        """Say RISK_CHECK with the book's figures at some marks."""
        figures = self.book.measures(marks)
        body = t.RiskCheck(nominal_at=self.now, marks=marks, var95=var95, correlation=0.0, **figures)
        env = self.tell(GUARDIAN, body, self.hall.case_id)
        assert self.broke(env) == ("", None)
        return env

    # ---------------------------------------------------------------- trades

    def signal(self, action: str = "BUY", quantity: int = 100, **over: Any) -> Envelope:
        """Post a SIGNAL of the session."""
        fields: dict[str, Any] = {
            "session_id": self.hall.case_id,
            "strategy_id": "strat_1",
            "symbol": "AAA",
            "action": action,
            "quantity": quantity,
            "order_type": "market",
            "limit_price": 100.0,
            "confidence": 0.8,
            "reason": "fast above slow",
            **over,
        }
        self.wait(minutes=1)
        return self.tell(TRADER, t.Signal(**fields))

    def state(self, signal: Envelope) -> TradeState:
        """Return a trade's state while it is open."""
        state = self.docket.cases[signal.case_id or ""]
        assert isinstance(state, TradeState)
        return state

    def order(self, signal: Envelope, **over: Any) -> Envelope:
        """Post the ORDER that a trade owes, changed where told."""
        state = self.state(signal)
        fields: dict[str, Any] = {
            "client_order_id": state.client_order_id,
            "symbol": state.symbol,
            "side": state.side,
            "quantity": state.quantity,
            "order_type": state.order_type,
            "limit_price": state.limit_price,
            **over,
        }
        return self.tell(TRADER, t.Order(**fields), state.case_id)

    def execute(self, signal: Envelope, quantity: int, price: float = 100.0, **over: Any) -> Envelope:
        """Post the EXECUTION that a trade owes: filled when that fills the order, else partial."""
        state = self.state(signal)
        order = state.order
        assert order is not None
        is_all = self.book.filled(order.client_order_id) + quantity >= order.quantity
        fields: dict[str, Any] = {
            "client_order_id": order.client_order_id,
            "symbol": order.symbol,
            "action": order.side,
            "qty_filled": quantity,
            "avg_price": price if quantity else 0.0,
            "slippage_bps": 1.0,
            "status": "filled" if is_all else "partial",
            **over,
        }
        return self.tell(TRADER, t.Execution(**fields), state.case_id)

    def trade(
        self, action: str, quantity: int, price: float = 100.0, fee: float = 0.0, **over: Any
    ) -> Envelope:
        """Trade: signal, order, fill, none of which may break a rule."""
        signal = self.signal(action, quantity, limit_price=price, **over)
        assert self.broke(signal) == ("", None), self.effects[signal.seq - 1].violation
        order = self.order(signal)
        assert self.broke(order) == ("", None), self.effects[order.seq - 1].violation
        env = self.execute(signal, quantity, price, fee=fee)
        assert self.broke(env) == ("", None), self.effects[env.seq - 1].violation
        return signal

    def ended(self, case: Envelope) -> str:
        """Return how a case ended."""
        return self.docket.ended[case.case_id or ""].outcome

    # ---------------------------------------------------------------- alerts and halts

    def halt(self, seat: Seat = GUARDIAN) -> Envelope:
        """Post a HALT."""
        return self.tell(seat, t.Halt(reason="too risky", by=seat))

    def alert(self, level: str = "WARNING", **over: Any) -> Envelope:
        """Post a RISK_ALERT of the session."""
        threshold = {"CRITICAL": -0.05, "HALT": -0.08}.get(level, -0.03)
        needs = {"INFO": "none", "HALT": "halt_trading"}.get(level, "reduce_exposure")
        fields: dict[str, Any] = {
            "session_id": self.hall.case_id,
            "level": level,
            "metric": "daily_pnl",
            "current_value": round(threshold - 0.001, 3),
            "threshold": threshold,
            "message": "the day is down",
            "action_required": needs,
            "affected_strategies": ("strat_1",),
            **over,
        }
        return self.tell(GUARDIAN, t.RiskAlert(**fields))
