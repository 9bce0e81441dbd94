"""The conservative halvings of System B: which orders halve which position, and that nothing grows meanwhile (R-F1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tests.independent.money import Money
from tests.independent.said import Said, instant

OPEN: Final = "partial"
"""An EXECUTION that says anything else is the last of its order."""

Key = tuple[str, str]
"""A position: its strategy and symbol."""
Found = Iterator[str]


@dataclass
class Halving:
    """A halving: from its ruling until the close of the session in which the exchange is open first.

    Attributes:
        until: That close; None while the session is still to come.
        wanted: What every position was at the ruling.
        orders: The orders that halved each of them.
    """

    until: datetime | None
    wanted: dict[Key, int]
    orders: dict[Key, list[str]] = field(default_factory=dict)


class Halvings:
    """Follow the halvings, before the books take in each message."""

    def __init__(self, money: Money) -> None:
        self.money = money
        self.now: Halving | None = None
        self.closes_at: datetime | None = None
        self.rests: dict[str, tuple[Key, int]] = {}
        """What is not filled yet of each order of the day, signed."""
        self.reduces: dict[str, tuple[Key, int]] = {}
        """By its trade: what a SIGNAL that halves takes off which position, signed."""
        self.excused = False
        self.expired: set[int] = set()
        """Ends of escalations that nobody answered: what an admin decides may halve anew."""
        self.compared: Counter[str] = Counter()

    def take(self, said: Said) -> list[str]:
        """Return what a message does that the halving in force does not allow, and take it in."""
        found = list(self._end(said))
        handle = HANDLED.get(said.kind)
        if handle is not None:
            found += handle(self, said)
        return [f"{said.seq} {said.kind} {said.at:%d.%m. %H:%M} {one}" for one in found]

    def _held(self, key: Key) -> int:
        return self.money.held.get(key, (0, 0))[0]

    def _sure(self, key: Key) -> int:
        """Return what remains of a position whatever becomes of the orders under way."""
        held = self._held(key)
        closing = sum(rest for one, rest in self.rests.values() if one == key and rest * held < 0)
        return held + closing if (held + closing) * held > 0 else 0

    # ------------------------------------------------------------ from the ruling to the close

    def _opened(self, said: Said) -> Found:
        self.closes_at = instant(said.body["closes_at"])
        self.rests.clear()
        if self.now is not None and self.now.until is None:
            self.now.until = self.closes_at
        yield from ()

    def _ruled(self, said: Said) -> Found:
        body = said.body
        self.excused |= "/reduce-" in (body["obligation_id"] or "") or said.case in self.reduces
        if (body["outcome"], body["reason"]) != ("reduce_exposure", "conservative"):
            return
        self.compared["halvings"] += 1
        if self.now is not None and body["of_seq"] in self.expired:
            yield f"halves anew what is halved until {self.now.until}"
        is_over = self.closes_at is None or said.at >= self.closes_at
        wanted = {key: n for key, (n, _) in self.money.held.items()}
        self.now, self.excused = Halving(None if is_over else self.closes_at, wanted), False

    def _end(self, said: Said) -> Found:
        """End a halving whose session is over: what it was to halve was halved, or the log says why not."""
        halving = self.now
        if halving is None or halving.until is None or said.at < halving.until:
            return
        self.now = None
        for key, n in halving.wanted.items():
            if key not in halving.orders and self._held(key) == n and not self.excused:
                yield f"{n} {key[1]} of {key[0]} were to be halved, and no order did"

    def _resolved(self, said: Said) -> Found:
        if said.body["how"] == "expired":
            self.expired.add(said.seq)
        yield from ()

    def _mode(self, said: Said) -> Found:
        if said.body["system"] == "B" and (said.body["mode"] == "conservative") != (self.now is not None):
            yield f"says {said.body['mode']}, and a halving is {'' if self.now else 'not '}in force"

    # ------------------------------------------------------------ trades

    def _signalled(self, said: Said) -> Found:
        body = said.body
        if "/reduce-" not in said.answers:
            return
        self.compared["signals that halve"] += 1
        key = (body["strategy_id"], body["symbol"])
        sure, change = self._sure(key), signed(body["action"], body["quantity"])
        half = -(-abs(sure) // 2)
        if change != (-half if sure > 0 else half):
            yield f"changes {sure} {key[1]} of {key[0]} by {change}: half of them are {half}"
        self.reduces[said.case] = key, change

    def _ordered(self, said: Said) -> Found:
        body = said.body
        key = (self.money.signals.get(said.case, ""), body["symbol"])
        change, sure = signed(body["side"], body["quantity"]), self._sure(key)
        if said.case in self.reduces:
            whose, most = self.reduces[said.case]
            if key != whose or change * most <= 0 or abs(change) > abs(most):
                yield f"changes {key[1]} of {key[0]} by {change}, its signal {whose[1]} by {most}"
            elif self.now is not None and key in self.now.wanted:
                self.now.orders.setdefault(key, []).append(body["client_order_id"])
        if self.now is not None:
            self.compared["orders while halved"] += 1
            if change * sure >= 0 or abs(change) > abs(sure):
                yield f"changes {sure} {key[1]} of {key[0]} by {change} while a halving is in force"
        self.rests[body["client_order_id"]] = key, change

    def _executed(self, said: Said) -> Found:
        body: dict[str, Any] = said.body
        known = self.rests.pop(body["client_order_id"], None)
        if known is not None and body["status"] == OPEN:
            key, rest = known
            self.rests[body["client_order_id"]] = key, rest - signed(body["action"], body["qty_filled"])
        yield from ()

    def _declined(self, said: Said) -> Found:
        self.excused |= said.case in self.reduces
        yield from ()


def signed(side: str, quantity: int) -> int:
    """Return a change of a position."""
    return quantity if side == "BUY" else -quantity


HANDLED: Final = {
    "TRADING_DAY": Halvings._opened,
    "ESCALATION_RESOLVED": Halvings._resolved,
    "RULING": Halvings._ruled,
    "MODE_CHANGED": Halvings._mode,
    "SIGNAL": Halvings._signalled,
    "ORDER": Halvings._ordered,
    "NO_ORDER": Halvings._declined,
    "EXECUTION": Halvings._executed,
}
