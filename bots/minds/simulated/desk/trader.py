"""The Trader's rounds: what strategies want, what the limits leave, what is signalled (R-B7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from moot.bots.desk.market import Market
from moot.bots.desk.signals import Fault, steady, target
from moot.bots.minds.mind import Aside, Reply
from moot.bots.minds.simulated.desk.deskfile import desk, filled_in, spec_of
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import briefly, counted, percent, sentence
from moot.bots.tools.strategies import StrategySpec
from moot.protocols.kernel.officers import Ruling
from moot.protocols.trading.alert import REDUCE as REDUCE_EXPOSURE
from moot.protocols.trading.limits import LEVELS, LIMITS, Reach, breaches, grows, surely_held, worst
from moot.protocols.trading.messages import (
    DeskCheck,
    RiskCheck,
    RiskParams,
    Signal,
    StrategyFault,
)
from moot.protocols.trading.messages.deployments import OrderType
from moot.protocols.trading.messages.desk import Side
from moot.protocols.trading.no_order import LEAST_CONFIDENCE, is_edge
from moot.protocols.trading.seats import TRADER
from moot.protocols.trading.session_state import FLATTEN

PHRASES: Final = Phrases("desk/trader")

DESK: Final = "#b-desk"

EVERY: Final = timedelta(minutes=15)
"""From one round to the next."""
BAND: Final = 0.2
"""A difference of less than this share of a full position is not traded: signals move in tenths."""
HEADROOM: Final = 0.98
"""Of every limit so much is used: marks move between a signal and its order."""
LIMIT_DISTANCE: Final = 0.001
"""A limit order's price lies so far beyond the last one."""

ASSET: Final = 0.9 * LIMITS["largest_position"].warning
"""Most that all strategies together hold of one symbol, as a share of the equity: what warns is not bought."""
CALM_CHECKS: Final = 12
"""So many RISK_CHECKs, an hour of them, pass without a WARNING before positions grow again."""
CRITICAL: Final = LEVELS.index("CRITICAL")

PARAMS: Final = RiskParams(
    stop_loss_pct=-0.03,
    take_profit_pct=0.06,
    trailing_stop_trigger_pct=0.03,
    trailing_stop_distance_pct=0.015,
    max_position_pct=0.05,
)
"""The desk's usual protection."""

CAPS: Final = (0.6, 0.75, 0.9)
"""Most confidence of one, two, three and more strategies that want the same."""
CONFLICT: Final = 0.15
"""What each strategy that wants the opposite takes off it."""
FLOOR: Final = 0.05
"""Least confidence of all."""

# ---------------------------------------------------------------- rounds


@dataclass(slots=True)
class Room:
    """What the limits leave for one round (R-B7); what was signalled in it counts as filled.

    Attributes:
        equity: In dollars.
        gross: Absolute value of what is held, in dollars.
        net: Signed value of what is held by symbol, all strategies together, in dollars.
        trades: Orders with a fill today, and signals of this round.
        limits: The portfolio's limits.
        may_grow: Whether positions may grow at all, see `may_grow`.
    """

    equity: float
    gross: float
    net: dict[str, float]
    trades: int
    limits: Mapping[str, float]
    may_grow: bool

    def most(
        self, symbol: str, held: int, wanted: int, full: float, price: float, *, is_barred: bool = False
    ) -> int:
        """Return how much of a change from `held` to `wanted` shares the limits leave, signed.

        Args:
            symbol: What is traded.
            held: Signed shares.
            wanted: Signed shares.
            full: Most shares of this position.
            price: Dollars a share.
            is_barred: Whether this position may not be opened or grow now.
        """
        delta = wanted - held
        if not grows(held, delta):
            return delta
        sign = 1 if delta > 0 else -1
        closed = abs(held) if held * wanted < 0 else 0
        if is_barred or not self.may_grow or self.trades >= self.limits["trades"]:
            return sign * closed
        of_position = full - (0 if closed else abs(held))
        of_exposure = (self.limits["exposure"] * HEADROOM * self.equity - self.gross) / price + closed
        of_symbol = (ASSET * self.equity - sign * self.net.get(symbol, 0.0)) / price - closed
        opened = min(abs(delta) - closed, int(min(of_position, of_exposure, of_symbol)))
        return sign * (closed + max(opened, 0))

    def take(self, symbol: str, held: int, delta: int, price: float) -> None:
        """Count a signal."""
        self.trades += 1
        self.gross += (abs(held + delta) - abs(held)) * price
        self.net[symbol] = self.net.get(symbol, 0.0) + delta * price


def may_grow(turn: Turn) -> bool:
    """Say whether positions may grow in this session as far as its risk shows (R-B4, R-B5, R-F1).

    Not while the desk is halted; not after exposure was ordered down or a metric was CRITICAL, or the next round would
    buy back what was just sold; and not within an hour of a WARNING.
    """
    shown = desk(turn)
    if shown["halted"] or (shown["reduced_until"] is not None and turn.now < shown["reduced_until"]):
        return False
    if any(ruling.outcome == REDUCE_EXPOSURE for ruling in turn.transcript.all(Ruling)):
        return False
    levels = [worst(breach.level for breach in breaches(check)) for check in turn.transcript.all(RiskCheck)]
    return not any(levels[-CALM_CHECKS:]) and not any(LEVELS.index(level) >= CRITICAL for level in levels)


@dataclass(slots=True)
class Round:
    """What strategies want at an instant.

    Attributes:
        wishes: Target in [-1, 1] by (strategy, symbol); None while it wavers.
        faults: Strategies that could not say, with the first reason of each.
        specs: Strategies that were asked.
    """

    wishes: dict[tuple[str, str], float | None] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    specs: dict[str, StrategySpec] = field(default_factory=dict)

    def confidence(self, symbol: str, wish: float) -> float:
        """Say how sure a wish is: by how many strategies share it, and how many want the opposite."""
        others = [w for (_, name), w in self.wishes.items() if name == symbol and w]
        alike = sum(1 for other in others if other * wish > 0)
        conflicts = len(others) - alike if wish else 0
        cap = CAPS[min(max(alike, 1), len(CAPS)) - 1]
        return round(max(cap - CONFLICT * conflicts, FLOOR), 6)


def check(turn: Turn) -> Reply:
    """Ask every strategy what it wants, signal what differs enough from what is held, end the round."""
    shown = desk(turn)
    asked = ask(shown, turn.tools.market, turn.view.brief["nominal_at"])
    asides = tuple(Aside(DESK, signal) for signal in _signals(turn, shown, asked)) if _is_open(turn) else ()
    faults = tuple(
        StrategyFault(strategy_id=name, error=error) for name, error in sorted(asked.faults.items())
    )
    signals = turn.view.brief["signals"] + len(asides)
    said = filled_in(DeskCheck, turn, signals=signals, faults=faults)
    return Reply(said, asides)


def _is_open(turn: Turn) -> bool:
    session = turn.view.brief["session"]
    return bool(session["opens_at"] <= turn.now < session["closes_at"])


def ask(shown: Mapping[str, Any], market: Market, at: datetime) -> Round:
    """Ask every traded strategy for its target in each of its symbols; with one fault it is not heard at all.

    Args:
        shown: The desk.
        market: Where prices come from.
        at: The round's nominal instant.
    """
    asked = Round()
    for strategy_id, entry in sorted(shown["strategies"].items()):
        spec = spec_of(entry)
        if not entry["is_deployed"] or spec is None:
            continue
        asked.specs[strategy_id] = spec
        wishes: dict[tuple[str, str], float | None] = {}
        held = shown["positions"].get(strategy_id, {})
        for symbol in spec.symbols:
            wish, before = target(spec, market, symbol, at), target(spec, market, symbol, at - EVERY)
            if isinstance(wish, Fault):
                asked.faults[strategy_id] = wish.error
                wishes = {}
                break
            known_before = 0.0 if isinstance(before, Fault) else before
            wishes[strategy_id, symbol] = steady(known_before, wish, held.get(symbol, 0))
        asked.wishes.update(wishes)
    return asked


def _signals(turn: Turn, shown: Mapping[str, Any], asked: Round) -> Iterator[Signal]:
    """Yield a signal for each position that differs enough from what is wanted: first what shrinks, then what grows."""
    room = room_for(turn)
    growing = []
    for key, wish in [*_orphans(shown, asked), *asked.wishes.items()]:
        found = _change(turn, shown, key, wish) if wish is not None else None
        if wish is None or found is None:
            continue
        held, wanted, price = found
        if grows(held, wanted - held):
            growing.append((key, wish, held, wanted, price))
        else:
            yield _signal(turn, shown, asked, key, wish, held, wanted - held, price)
            # What it frees is there once it is executed, which nobody can promise now.
            room.trades += 1
    for key, wish, held, wanted, price in growing:
        full = full_position(shown, key[0], price)
        is_barred = _is_barred(turn, shown, asked, key, wish)
        delta = room.most(key[1], held, wanted, full, price, is_barred=is_barred)
        if abs(delta) < max(BAND * full, 1.0) and delta != -held:
            continue
        if delta:
            yield _signal(turn, shown, asked, key, wish, held, delta, price)
            room.take(key[1], held, delta, price)


def _order_type(shown: Mapping[str, Any], strategy_id: str) -> OrderType:
    found: OrderType = shown["strategies"].get(strategy_id, {}).get("order_type") or "market"
    return found


def _is_barred(turn: Turn, shown: Mapping[str, Any], asked: Round, key: tuple[str, str], wish: float) -> bool:
    """Say whether an order that opens or grows a position would be refused, so that it is not signalled (R-F17)."""
    if asked.confidence(key[1], wish) < LEAST_CONFIDENCE:
        return True
    return _order_type(shown, key[0]) == "market" and is_edge(turn.now)


def room_for(turn: Turn) -> Room:
    """Return what the limits leave at the turn's instant."""
    shown, market = desk(turn), turn.tools.market
    net: dict[str, float] = {}
    gross = 0.0
    for held in shown["positions"].values():
        for symbol, quantity in held.items():
            worth = quantity * price_for(market, shown, symbol, turn.now)
            net[symbol] = net.get(symbol, 0.0) + worth
            gross += abs(worth)
    return Room(shown["equity"], gross, net, shown["trades_today"], shown["limits"], may_grow(turn))


def price_for(market: Market, shown: Mapping[str, Any], symbol: str, now: datetime) -> float:
    """Return the price that sizes are computed from: the market's or the last mark, which the rules go by."""
    return max(market.price(symbol, now) or 0.0, float(shown["marks"].get(symbol, 0.0)))


def _orphans(shown: Mapping[str, Any], asked: Round) -> list[tuple[tuple[str, str], float]]:
    """List what is held that no traded strategy asks for: it is closed; what a faulty strategy holds stays."""
    return [
        ((strategy_id, symbol), 0.0)
        for strategy_id, held in sorted(shown["positions"].items())
        for symbol in held
        if (strategy_id, symbol) not in asked.wishes and strategy_id not in asked.faults
    ]


def _change(
    turn: Turn, shown: Mapping[str, Any], key: tuple[str, str], wish: float
) -> tuple[int, int, float] | None:
    """Return held and wanted shares and the price; None when nothing is to be traded, or cannot be now.

    While orders are under way, only what remains for sure of a position may shrink; the rest waits for the next round.
    """
    strategy_id, symbol = key
    market, now = turn.tools.market, turn.now
    if not market.is_open(symbol, now):
        return None
    price = price_for(market, shown, symbol, now)
    held = int(shown["positions"].get(strategy_id, {}).get(symbol, 0))
    reach = reach_of(shown, strategy_id, symbol)
    is_moving = reach.low != reach.high
    if is_moving:
        held = surely_held(held, reach)
    full = full_position(shown, strategy_id, price)
    wanted = int(full * abs(wish)) * (1 if wish > 0 else -1)
    if wanted == held or (is_moving and grows(held, wanted - held)):
        return None
    is_turning = wanted == 0 or wanted * held < 0
    if not is_turning and abs(wanted - held) < max(BAND * full, 1.0):
        return None
    return held, wanted, price


def reach_of(shown: Mapping[str, Any], strategy_id: str, symbol: str) -> Reach:
    """Return what a position may become by the orders under way."""
    held = int(shown["positions"].get(strategy_id, {}).get(symbol, 0))
    low, high = shown["reach"].get(strategy_id, {}).get(symbol, (held, held))
    return Reach(low, high)


def full_position(shown: Mapping[str, Any], strategy_id: str, price: float) -> float:
    """Return how many shares a full position of a strategy has (R-B7)."""
    entry = shown["strategies"].get(strategy_id, {})
    return float(entry.get("position_limit", 0.0) * HEADROOM * shown["equity"] / price)


def _signal(
    turn: Turn,
    shown: Mapping[str, Any],
    asked: Round,
    key: tuple[str, str],
    wish: float,
    held: int,
    delta: int,
    price: float,
) -> Signal:
    strategy_id, symbol = key
    spec = asked.specs.get(strategy_id)
    entry = shown["strategies"].get(strategy_id, {})
    side: Side = "BUY" if delta > 0 else "SELL"
    if spec is None:
        code = "untraded"
    elif not wish:
        code = "close"
    else:
        code = "shrink" if not grows(held, delta) else "grow" if held * delta > 0 else "open"
    what = briefly(spec) if spec is not None else strategy_id
    said = turn.voice.say(
        PHRASES[f"wants.{code}"],
        what=what,
        target="its whole limit" if abs(wish) >= 1.0 else f"{percent(abs(wish), 0)} of its limit",
        symbol=symbol,
        held=counted(abs(held), "share"),
        side="long" if wish > 0 else "short",
        strategy=strategy_id,
    )
    order_type = _order_type(shown, strategy_id)
    # Before a symbol's first mark the rules hold a market order against the signal's price.
    needs_price = order_type == "limit" or symbol not in shown["marks"]
    return Signal(
        session_id=turn.case_id,
        strategy_id=strategy_id,
        symbol=symbol,
        action=side,
        quantity=abs(delta),
        order_type=order_type,
        limit_price=_limit(turn.tools.market, symbol, side, turn.now) if needs_price else None,
        confidence=asked.confidence(symbol, wish),
        reason=sentence(said),
        signal_sources=(what,),
        risk_params=PARAMS.model_copy(update={"max_position_pct": entry.get("position_limit", 0.0)}),
    )


def _limit(market: Market, symbol: str, side: Side, now: datetime) -> float | None:
    """Return a limit a little beyond the last price, so that it is likely to be filled."""
    price = market.price(symbol, now)
    if price is None:
        return None
    return max(round(price * (1.0 + (LIMIT_DISTANCE if side == "BUY" else -LIMIT_DISTANCE)), 4), 1e-4)


def reduce(turn: Turn) -> Reply | None:
    """Signal the reduction that is owed (R-B4, R-B8), or what undoes a late fill (K11); nothing where none is left."""
    brief = turn.view.brief
    if not brief["quantity"]:
        return None
    is_late = turn.view.obligation.rule == FLATTEN
    why = PHRASES["flattens"] if is_late else PHRASES["reduces"]
    said = turn.voice.say(why, symbol=str(brief["symbol"]), strategy=str(brief["strategy_id"]))
    return Reply(
        filled_in(
            Signal,
            turn,
            session_id=turn.case_id,
            order_type="market",
            confidence=1.0,
            reason=sentence(said),
            signal_sources=("flatten" if is_late else "reduce_exposure",),
        )
    )


ANSWERS: Final[Answers] = {
    (TRADER, DeskCheck): check,
    (TRADER, Signal): reduce,
}
