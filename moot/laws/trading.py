"""Laws of System B's desk."""

from __future__ import annotations

from typing import Final

from moot.laws.instants import minutes
from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.positions import UNIT, Positions, exact
from moot.laws.recent import Recent

HALF_A_CENT: Final = 50


class Desk(Memory, source="", hears_facts=True):
    """Follow the positions; no law by itself."""

    def __init__(self) -> None:
        self.positions = Positions()

    @hears("SIGNAL")
    def signalled(self, message: Message) -> Findings:
        """Judge a signal, and take it in."""
        found = list(self.judge(message))
        self.positions.signalled(message)
        return found

    @hears("ORDER")
    def ordered(self, message: Message) -> Findings:
        """Judge an order, and take it in."""
        found = list(self.judge(message))
        self.positions.ordered(message)
        return found

    @hears("EXECUTION")
    def executed(self, message: Message) -> Findings:
        """Take an execution in."""
        return self.positions.executed(message)

    def judge(self, message: Message) -> Findings:
        """Judge a SIGNAL or an ORDER by what is held before it."""
        return ()


class HaltedMeansNothingGrows(Desk, source="R-B5, K11", hears_facts=True):
    """From a halt until its confirmed end no signal and no order opens a position or makes one larger."""

    def __init__(self) -> None:
        super().__init__()
        self.halts: dict[str, int] = {}
        self.resumed: Recent[str, int] = Recent(64)

    @hears("HALT", "RISK_ALERT")
    def halted(self, message: Message) -> Findings:
        """Note a halt."""
        if message["body"].get("level", "HALT") != "HALT":
            return ()
        if self.halts:
            # It joins the halt in force, and a resume that is under way is void (R-G12).
            for case in self.halts:
                self.resumed.pop(case, None)
        else:
            self.halts[message["case_id"]] = message["seq"]
        return ()

    @hears("RESUME")
    def resuming(self, message: Message) -> Findings:
        """Note that somebody wants to go on."""
        self.resumed[message["case_id"]] = message["seq"]
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note that an admin answered so."""
        if message["body"]["reason"] == "resume":
            self.resumed[message["case_id"]] = message["seq"]
        elif message["body"]["outcome"] == "stop":
            self.halts.pop(message["case_id"], None)
        return ()

    @hears("RESUME_CONFIRMED")
    def confirmed(self, message: Message) -> Findings:
        """End a halt."""
        case = message["case_id"]
        self.halts.pop(case, None)
        return () if case in self.resumed else ("confirms what nobody asked for",)

    def judge(self, message: Message) -> Findings:
        """Nothing grows."""
        grows = self.positions.grows(message) if self.halts else ""
        return (f"{grows} while halted since seq {min(self.halts.values())}",) if grows else ()


class HalvedMeansNothingGrows(Desk, source="R-B8, R-F1", hears_facts=True):
    """After the conservative halving no order opens a position or makes one larger until that session's end."""

    def __init__(self) -> None:
        super().__init__()
        self.closes_at = ""
        self.until = ""
        self.is_pending = False

    @hears("TRADING_DAY")
    def opened(self, message: Message) -> Findings:
        """Note when the session closes; a halving that waited for one lasts until then."""
        self.closes_at = message["body"]["closes_at"]
        if self.is_pending and message["sent_at"] < self.closes_at:
            self.until, self.is_pending = self.closes_at, False
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note a halving."""
        body = message["body"]
        if (body["outcome"], body["reason"]) == ("reduce_exposure", "conservative"):
            self.is_pending = message["sent_at"] >= self.closes_at
            self.until = "" if self.is_pending else self.closes_at
        return ()

    def judge(self, message: Message) -> Findings:
        """Nothing grows; a signal may say what it likes, its order may not."""
        is_halved = self.is_pending or message["sent_at"] < self.until
        if not is_halved or message["body"]["type"] != "ORDER":
            return ()
        grows = self.positions.grows(message)
        return (f"{grows} while every position is halved",) if grows else ()


class OrdersKeepTheLimits(Desk, source="R-B7, R-F17", hears_facts=True):
    """What grows a position is sure enough, at no session's edge, within 5 % each, 80 % in all, 50 trades a day."""

    def __init__(self) -> None:
        super().__init__()
        self.day: tuple[str, str] = "", ""
        self.traded: set[str] = set()
        self.marks: dict[str, float] = {}
        self.capital: float | None = None
        self.confidence: Recent[str, float] = Recent()

    @hears("TRADING_DAY")
    def opened(self, message: Message) -> Findings:
        """Begin to count anew."""
        self.day = message["body"]["opens_at"], message["body"]["closes_at"]
        self.traded.clear()
        return ()

    @hears("RISK_CHECK", "MARKET_CLOSE")
    def marked(self, message: Message) -> Findings:
        """Take prices in."""
        body = message["body"]
        self.marks.update(body.get("marks") or body.get("closes") or {})
        self.capital = body["equity"] - self._made()
        return ()

    def _made(self) -> float:
        """Return what all trades made by now, at the prices told."""
        held = sum(n * self.marks.get(symbol, 0.0) for (_, symbol), n in self.positions.held.items())
        return held - self.positions.spent / UNIT

    @hears("EXECUTION")
    def traded_today(self, message: Message) -> Findings:
        """Count the orders that were filled."""
        body = message["body"]
        if body["qty_filled"]:
            self.traded.add(body["client_order_id"])
            if body["avg_price"] > 0:
                self.marks.setdefault(body["symbol"], body["avg_price"])
        return ()

    def judge(self, message: Message) -> Findings:
        """Hold an order that grows a position against the limits."""
        body, case = message["body"], message["case_id"]
        if body["type"] == "SIGNAL":
            self.confidence[case] = body["confidence"]
            return
        grows = self.positions.grows(message)
        if not grows:
            return
        if len(self.traded) >= 50:
            yield f"{grows}, after {len(self.traded)} trades of the day"
        if self.confidence.get(case, 1) < 0.5:
            yield f"{grows}, on a confidence of {self.confidence[case]}"
        opens_at, closes_at = self.day
        if body["order_type"] == "market" and opens_at and not self._is_inside(message["sent_at"]):
            yield f"{grows}, less than 15 minutes from an end of the session {opens_at} to {closes_at}"
        if self.capital is None:
            return
        worth, equity = self._worth(message), self.capital + self._made()
        for what, value, limit in (("a position", worth[0], 0.05), ("all positions", worth[1], 0.8)):
            if value > limit * equity * 1.001:
                yield f"{grows}: {what} of {value:,.2f} of {equity:,.2f}, over {limit:.0%}"

    def _is_inside(self, at: str) -> bool:
        opens_at, closes_at = self.day
        return minutes(opens_at, at) >= 15 and minutes(at, closes_at) >= 15

    def _worth(self, message: Message) -> tuple[float, float]:
        position = self.positions.position(message)
        body = message["body"]
        change = body["quantity"] if body["side"] == "BUY" else -body["quantity"]
        held = {**self.positions.held, position: self.positions.held.get(position, 0) + change}
        worth = {one: abs(n) * self.marks.get(one[1], 0.0) for one, n in held.items()}
        return worth[position], sum(worth.values())


class OrdersFitSignals(Memory, source="K11, R-F4", hears_facts=True):
    """An order is of its signal's symbol and side and about no more, or takes back what was filled of it."""

    def __init__(self) -> None:
        self.signals: Recent[str, Message] = Recent()
        self.filled: Recent[str, int] = Recent()

    @hears("SIGNAL")
    def signalled(self, message: Message) -> Findings:
        """Keep a signal."""
        self.signals[message["case_id"]] = message["body"]
        return ()

    @hears("EXECUTION")
    def executed(self, message: Message) -> Findings:
        """Note what was filled, also where it should not have been."""
        case = message["case_id"] or ""
        self.filled[case] = self.filled.get(case, 0) + message["body"]["qty_filled"]
        return ()

    @hears("ORDER")
    def ordered(self, message: Message) -> Findings:
        """Hold an order against its signal."""
        body, case = message["body"], message["case_id"]
        signal = self.signals.get(case)
        if signal is None:
            return ("is of no signal",)
        is_back = body["side"] != signal["action"] and body["quantity"] <= self.filled.get(case, 0)
        if body["symbol"] != signal["symbol"] or (body["side"] != signal["action"] and not is_back):
            return (
                f"{body['side']} {body['symbol']}, its signal says {signal['action']} {signal['symbol']}",
            )
        if body["quantity"] > signal["quantity"]:
            return (f"is about {body['quantity']}, its signal about {signal['quantity']}",)
        return ()


class FillsFitOrders(Memory, source="K11, K23"):
    """An execution is of an order that stood in the log before it: its symbol, its side, no more than it wanted."""

    def __init__(self) -> None:
        self.open: Recent[str, Message] = Recent()
        self.filled: Recent[str, int] = Recent()

    @hears("ORDER")
    def ordered(self, message: Message) -> Findings:
        """Keep an order."""
        name = message["body"]["client_order_id"]
        before = self.open.get(name)
        self.open[name] = message["body"]
        return () if before is None else (f"{name} was ordered before",)

    @hears("EXECUTION")
    def executed(self, message: Message) -> Findings:
        """Hold an execution against its order."""
        body = message["body"]
        name = body["client_order_id"]
        order = self.open.get(name)
        if order is None:
            return (f"{name} was never ordered",)
        filled = self.filled[name] = self.filled.get(name, 0) + body["qty_filled"]
        if (body["symbol"], body["action"]) != (order["symbol"], order["side"]):
            return (f"{body['action']} {body['symbol']}, {name} is {order['side']} {order['symbol']}",)
        if filled > order["quantity"]:
            return (f"{filled} are filled of {name}, which is about {order['quantity']}",)
        return ()


class MoneyAddsUp(Desk, source="K11, R-F6", hears_facts=True):
    """Equity is the capital, less what was paid, plus what is held at the prices told: to the cent."""

    def __init__(self) -> None:
        super().__init__()
        self.capital: int | None = None
        self.marks: dict[str, int] = {}

    @hears("SOCIETY_STARTED")
    def started(self, message: Message) -> Findings:
        """Take the capital of the first start."""
        if self.capital is None:
            self.capital = exact(message["body"]["config"].get("desk", {}).get("capital", 1_000_000))
        return ()

    def executed(self, message: Message) -> Findings:
        """Take an execution in; its price is one where there is none yet."""
        body = message["body"]
        if body["qty_filled"] and body["avg_price"] > 0:
            self.marks.setdefault(body["symbol"], exact(body["avg_price"]))
        return self.positions.executed(message)

    @hears("RISK_CHECK", "MARKET_CLOSE")
    def told(self, message: Message) -> Findings:
        """Reckon the equity again."""
        body = message["body"]
        marks = body.get("marks") or body.get("closes") or {}
        self.marks.update({symbol: exact(price) for symbol, price in marks.items() if price > 0})
        held = sum(n * self.marks.get(symbol, 0) for (_, symbol), n in self.positions.held.items())
        equity = (self.capital or 0) - self.positions.spent + held
        if self.capital is not None and abs(exact(body["equity"]) - equity) > HALF_A_CENT:
            return (f"equity {body['equity']:.2f}, by its trades {equity / 10_000:.4f}",)
        return ()
