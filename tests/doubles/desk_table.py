"""A society with a desk: the real session, calendar and health beside all other rules; tests post for the seats."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import GENESIS, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import ADMIN, TIMEKEEPER, Seat
from moot.protocols.rulebook import VERSION, rulebook, rules
from moot.protocols.trading import messages as t
from moot.protocols.trading.book import Book
from moot.protocols.trading.desk_calendar import DeskCalendar
from moot.protocols.trading.health import Health
from moot.protocols.trading.hours import new_york
from moot.protocols.trading.life import Life
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import SYSTEM_B
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from moot.protocols.trading.session import SESSION
from moot.protocols.trading.session_state import SessionState
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.life_table import AGREED, decision, guardian, notice, trader
from tests.doubles.table import Table

MONDAY = date(2026, 2, 23)
OPERATOR, GUARDIAN, TRADER = OPERATOR_SEAT, GUARDIAN_SEAT, TRADER_SEAT


def at(hour: int, minute: int = 0, day: date = MONDAY) -> datetime:
    """Return the instant at which New York's clocks show a time of a day."""
    return new_york(day, hour, minute)


class DeskTable(Table):
    """The society of `Table` with a desk, by default from 09:15 New York time of a Monday on."""

    def __init__(
        self, start: datetime | None = None, *, enabled: bool = True, schedules: dict[str, Any] | None = None
    ) -> None:
        """Start it."""
        base = rules()

        def folds() -> Sequence[Fold]:
            ours: list[Fold] = [DeskCalendar(), Health()]
            names = {fold.name for fold in ours}
            return [*(f for f in base.new_folds() if f.name not in names), *ours]

        self.rules = replace(base, types={**base.types, SESSION.kind: SESSION}, new_folds=folds)
        self.gate = Gate(self.rules)
        self.docket = Docket(self.rules)
        self.log = []
        self.effects = []
        self.now = start or at(9, 15)
        self.head = GENESIS
        self.keys = 0
        self.schedules = schedules or {}
        self.desk: dict[str, Any] | None = {"enabled": enabled, "capital": 1_000_000}
        self.start()

    def start(self) -> None:
        """Say SOCIETY_STARTED with a desk, and let the officers do what is due."""
        body = SocietyStarted(
            society_id="test",
            config={
                "schedules": self.schedules,
                "admins": {"test": ["ann"]},
                **({"desk": self.desk} if self.desk else {}),
            },
            rules_version=VERSION,
            seed=1,
            data={},
            speed=1.0,
            clock="virtual",
            durability="none",
            moot_version="test",
        )
        self.post(TIMEKEEPER, body, channel="#admin", key=f"started/{len(self.log) + 1}")
        self.officers()

    # ---------------------------------------------------------------- questions

    @property
    def book(self) -> Book:
        """Return the fold of money."""
        found: Book = self.docket.context.fold_named("book")
        return found

    @property
    def life(self) -> Life:
        """Return the fold of strategies."""
        found: Life = self.docket.context.fold_named("life")
        return found

    @property
    def session(self) -> SessionState:
        """Return the session that opened last, if it is open."""
        return next(s for s in reversed(self.docket.cases.values()) if isinstance(s, SessionState))

    def steps(self, kind: str = "") -> list[str]:
        """Return the steps of what the open session is owed, those of a kind if one is named."""
        return [o.step for o in self.session.owed if o.step.startswith(kind)]

    def brief(self, owed: Obligation) -> dict[str, Any]:
        """Return what the mind is shown for an obligation."""
        state = self.docket.cases[owed.case_id]
        found: dict[str, Any] = self.rules.types[state.kind].brief(state, owed, self.docket.context)
        return found

    def broke(self, env: Envelope) -> str:
        """Return the rule that a message broke, "" for none."""
        violation = self.effects[env.seq - 1].violation
        return violation.rule if violation is not None else ""

    # ---------------------------------------------------------------- answers

    def answer(self, owed: Obligation, **over: Any) -> Envelope:
        """Answer an obligation of a session as its brief asks, and let the officers act."""
        kind = owed.expects[0]
        return self.say(owed.seat, body_of(kind, self.brief(owed), owed, over), owed=owed)

    def answer_all(self, until: datetime, *, silent: Sequence[Seat] = (), but: Sequence[str] = ()) -> None:
        """Let the seats of B answer what sessions owe, each at its nominal instant, until an instant."""
        while True:
            ready = [
                o
                for o in self.docket.open.values()
                if o.seat in SYSTEM_B
                and o.seat not in silent
                and o.expects[0] not in but
                and self.docket.cases[o.case_id].kind == "session"
            ]
            owed = min(ready, key=lambda o: o.opened_at, default=None)
            due = self.docket.next_instant()
            if owed is None or owed.opened_at > until:
                if due is None or due > until:
                    break
                self.until(due)
                continue
            if due is not None and self.now < due <= owed.opened_at:
                self.until(due)
                continue
            self.now = max(self.now, owed.opened_at)
            self.answer(owed)
        self.until(until)

    def tell(self, seat: Seat, body: Message, **how: Any) -> Envelope:
        """Post what no obligation asks for, in its channel, then let the officers act."""
        how.setdefault("channel", rulebook().channel_of[body.type])
        return self.say(seat, body, **how)

    # ---------------------------------------------------------------- strategies and positions

    def candidate(self, strategy_id: str = "strat_1", **over: Any) -> None:
        """Let an admin put a strategy among the candidates."""
        self.tell(ADMIN, bodies.moved(strategy_id=strategy_id, **over))

    def staged(self, strategy_id: str = "strat_1") -> None:
        """Let an admin put a strategy into staging, without asking anybody."""
        self.candidate(strategy_id)
        self.tell(ADMIN, bodies.moved(strategy_id=strategy_id, from_="candidates", to="staging"))

    def produced(self, strategy_id: str = "strat_1") -> None:
        """Let an admin put a strategy into production, where it is traded, without asking anybody."""
        self.staged(strategy_id)
        self.tell(ADMIN, bodies.moved(strategy_id=strategy_id, from_="staging", to="production"))

    def deployed(self, strategy_id: str = "strat_1") -> None:
        """Let the desk find a new candidate in the morning, and agree to trade it on paper."""
        self.candidate(strategy_id)
        self.answer_all(at(9, 31))
        proposal = self.last("DEPLOY_PROPOSAL")
        for form in (guardian(), trader()):
            owed = self.of_case(proposal, "DEPLOY_REVIEW", Seat(form.form))
            self.say(owed.seat, form, owed=owed)
        self.say(OPERATOR, decision("DEPLOY", 3, **AGREED))
        self.say(OPERATOR, notice(strategy_id=strategy_id))
        assert self.life.is_traded(strategy_id)

    def hold(self, strategy_id: str, symbol: str, quantity: int, price: float = 100.0) -> None:
        """Let a strategy buy or sell: signal, order and fill in the open session."""
        side: Any = "BUY" if quantity > 0 else "SELL"
        signal = t.Signal(
            session_id=self.session.case_id,
            strategy_id=strategy_id,
            symbol=symbol,
            action=side,
            quantity=abs(quantity),
            order_type="limit",
            limit_price=price,
            confidence=0.8,
            reason="it rises",
        )
        said = self.tell(TRADER, signal)
        assert not self.broke(said), self.effects[said.seq - 1].violation
        self.fill(said)

    def fill(self, said: Envelope, price: float = 100.0) -> None:
        """Order and fill what a signal wants."""
        body = said.body
        assert isinstance(body, t.Signal)
        order = t.Order(
            client_order_id=f"{body.signal_id}-1",
            symbol=body.symbol,
            side=body.action,  # type: ignore[arg-type]
            quantity=body.quantity,
            order_type="limit",
            limit_price=price,
        )
        self.say(TRADER, order, owed=self.of_case(said, "ORDER"))
        fill = t.Execution(
            client_order_id=order.client_order_id,
            symbol=body.symbol,
            action=order.side,
            qty_filled=body.quantity,
            avg_price=price,
            slippage_bps=0.0,
            status="filled",
        )
        assert not self.broke(self.say(TRADER, fill, owed=self.of_case(said, "EXECUTION")))

    def of_case(self, opener: Envelope, kind: str, seat: Seat | None = None) -> Obligation:
        """Find what is owed in the case of an opener, by a seat if one is named."""
        owed = (o for o in self.docket.open.values() if o.case_id == opener.case_id and kind in o.expects)
        return next(o for o in owed if seat in (None, o.seat))


def body_of(kind: str, brief: dict[str, Any], owed: Obligation, over: dict[str, Any]) -> Message:
    """Make a message of what a brief fixes, and of little else."""
    classes = {
        c.model_fields["type"].default: c
        for c in (*vars(t).values(), *vars(bodies.m).values())
        if _is_body(c)
    }
    cls = classes[kind]
    desk = brief.get("desk", {})
    fields: dict[str, Any] = {name: brief[name] for name in cls.model_fields if name in brief}
    fields |= DEFAULTS.get(kind, {})
    if kind == "RISK_CHECK":
        from moot.protocols.trading.briefing import measured

        marks = over.get("marks", {})
        fields |= {"marks": marks, "var95": 0.0, "correlation": 0.0, **measured(desk, marks)}
    if kind == "MARKET_CLOSE":
        from moot.protocols.trading.book_figures import dollars, share, units
        from moot.protocols.trading.briefing import measured

        closes = over.get("closes", {})
        equity, opening = units(measured(desk, closes)["equity"]), units(desk["opening"])
        fields |= {
            "closes": closes,
            "equity": dollars(equity),
            "pnl_usd": dollars(equity - opening),
            "pnl_pct": share(equity - opening, opening),
            "trades": desk["trades_today"],
        }
    if kind in ("SIGNAL", "RISK_ALERT", "HALT", "DEPLOY_PROPOSAL", "PROMOTION_PROPOSAL", "RECALL_FLAG"):
        fields["session_id"] = owed.case_id
    if kind == "PERFORMANCE_FEEDBACK":
        fields["session_id"] = owed.case_id
    if kind == "STRATEGY_MOVED" and not isinstance(brief.get("to"), str):
        fields["to"] = "staging"
    if kind == "STRATEGY_MOVED":
        fields["strategy_id"] = brief["subject"]
    return cls(**{**fields, **over})


def _is_body(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Message) and "type" in value.model_fields


DEFAULTS: dict[str, dict[str, Any]] = {
    "PRE_MARKET_CHECK": {"checks": ("all well",)},
    "OVERNIGHT_RISK_CHECK": {"var95": 0.0},
    "RISK_ALERT": {"message": "it is beyond its limit"},
    "HALT": {"reason": "silence"},
    "SIGNAL": {"order_type": "market", "confidence": 1.0, "reason": "it is to be halved"},
    "STRATEGY_MOVED": {"reason": "validated", "strategy": None, "hypothesis_id": ""},
    "DEPLOY_PROPOSAL": {"risk_profile": {}},
    "PERFORMANCE_FEEDBACK": {"proposed_adjustment": "less of it"},
}
