"""The Trader: what strategies want, signals, orders, what the broker did, and whether a thing can be traded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from bots.desk.broker import SHARE, Ticket, answer, cancel, cost_bps, ends_at
from bots.desk.market import Market
from bots.desk.signals import Fault, steady, target
from bots.minds.mind import Aside, Reply, View
from bots.minds.simulated import phrases_trader as phrases
from bots.minds.simulated.deskfile import desk, filled_in, known, spec_of, subject
from bots.minds.simulated.tools import SimulatedTools
from bots.minds.simulated.transcript import Transcript
from bots.minds.simulated.turn import Turn
from bots.minds.simulated.wording import briefly, counted, percent, sentence, two
from bots.tools.backtest import backtest
from bots.tools.errors import ToolError
from bots.tools.returns import BASIS_POINT
from bots.tools.splits import splits
from bots.tools.strategies import StrategySpec
from protocols.kernel.officers import Ruling
from protocols.trading.alert import REDUCE as REDUCE_EXPOSURE
from protocols.trading.limits import LEVELS, LIMITS, breaches, grows, worst
from protocols.trading.messages import (
    DeployReview,
    DeskCheck,
    Execution,
    Feasibility,
    Order,
    PromotionReview,
    RiskCheck,
    RiskParams,
    Signal,
    StrategyFault,
)
from protocols.trading.messages.deployments import OrderType, Recommendation
from protocols.trading.messages.desk import Side
from protocols.trading.trade import CANCELLING

DESK: Final = "#b-desk"

EVERY: Final = timedelta(minutes=15)
"""From one round to the next."""
BAND: Final = 0.2
"""A difference of less than this share of a full position is not traded: signals move in tenths."""
HEADROOM: Final = 0.98
"""Of every limit so much is used: marks move between a signal and its order."""
LIMIT_DISTANCE: Final = 0.001
"""A limit order's price lies so far beyond the last one (facts 8)."""

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
"""The desk's usual protection (facts 8)."""

CAPS: Final = (0.6, 0.75, 0.9)
"""Most confidence of one, two, three and more strategies that want the same (facts 8)."""
CONFLICT: Final = 0.15
"""What each strategy that wants the opposite takes off it."""
LEAST_CONFIDENCE: Final = 0.05

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

    def most(self, symbol: str, held: int, wanted: int, full: float, price: float) -> int:
        """Return how much of a change from `held` to `wanted` shares the limits leave, signed.

        Args:
            symbol: What is traded.
            held: Signed shares.
            wanted: Signed shares.
            full: Most shares of this position.
            price: Dollars a share.
        """
        delta = wanted - held
        if not grows(held, delta):
            return delta
        sign = 1 if delta > 0 else -1
        closed = abs(held) if held * wanted < 0 else 0
        if not self.may_grow or self.trades >= self.limits["trades"]:
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
    """Say whether positions may grow in this session as far as its risk shows (R-B4, R-B5, R-B8).

    Not while the desk is halted; not after exposure was ordered down or a metric was CRITICAL, or the next round would
    buy back what was just sold; and not within an hour of a WARNING.
    """
    if desk(turn)["halted"]:
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
        return round(max(cap - CONFLICT * conflicts, LEAST_CONFIDENCE), 6)


def check(turn: Turn) -> Reply:
    """Ask every strategy what it wants, signal what differs enough from what is held, end the round (facts 7, 10)."""
    shown = desk(turn)
    asked = ask(shown, turn.tools.market, turn.view.brief["nominal_at"])
    asides = tuple(Aside(DESK, signal) for signal in _signals(turn, shown, asked)) if _is_open(turn) else ()
    faults = tuple(
        StrategyFault(strategy_id=name, error=error) for name, error in sorted(asked.faults.items())
    )
    said = filled_in(DeskCheck, turn, strategies=len(asked.specs), signals=len(asides), faults=faults)
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
    room = _room(turn)
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
        full = _full(shown, key[0], price)
        delta = room.most(key[1], held, wanted, full, price)
        if abs(delta) < max(BAND * full, 1.0) and delta != -held:
            continue
        if delta:
            yield _signal(turn, shown, asked, key, wish, held, delta, price)
            room.take(key[1], held, delta, price)


def _room(turn: Turn) -> Room:
    shown, market = desk(turn), turn.tools.market
    net: dict[str, float] = {}
    gross = 0.0
    for held in shown["positions"].values():
        for symbol, quantity in held.items():
            worth = quantity * _price(market, shown, symbol, turn.now)
            net[symbol] = net.get(symbol, 0.0) + worth
            gross += abs(worth)
    return Room(shown["equity"], gross, net, shown["trades_today"], shown["limits"], may_grow(turn))


def _price(market: Market, shown: Mapping[str, Any], symbol: str, now: datetime) -> float:
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
    """Return held and wanted shares and the price; None when nothing is to be traded, or cannot be now."""
    strategy_id, symbol = key
    market, now = turn.tools.market, turn.now
    if not market.is_open(symbol, now):
        return None
    price = _price(market, shown, symbol, now)
    held = int(shown["positions"].get(strategy_id, {}).get(symbol, 0))
    full = _full(shown, strategy_id, price)
    wanted = int(full * abs(wish)) * (1 if wish > 0 else -1)
    if wanted == held:
        return None
    is_turning = wanted == 0 or wanted * held < 0
    if not is_turning and abs(wanted - held) < max(BAND * full, 1.0):
        return None
    return held, wanted, price


def _full(shown: Mapping[str, Any], strategy_id: str, price: float) -> float:
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
        phrases.WANTS[code],
        what=what,
        target=percent(wish, 0),
        symbol=symbol,
        held=str(held),
        side="long" if delta > 0 else "short",
        strategy=strategy_id,
    )
    order_type: OrderType = entry.get("order_type") or "market"
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
    """Return a limit a little beyond the last price, so that it is likely to be filled (facts 8)."""
    price = market.price(symbol, now)
    if price is None:
        return None
    return max(round(price * (1.0 + (LIMIT_DISTANCE if side == "BUY" else -LIMIT_DISTANCE)), 4), 1e-4)


def reduce(turn: Turn) -> Reply:
    """Signal the reduction that is owed (R-B4, R-B8)."""
    brief = turn.view.brief
    said = turn.voice.say(phrases.REDUCES, symbol=str(brief["symbol"]), strategy=str(brief["strategy_id"]))
    return Reply(
        filled_in(
            Signal,
            turn,
            session_id=turn.case_id,
            order_type="market",
            confidence=1.0,
            reason=sentence(said),
            signal_sources=("reduce_exposure",),
        )
    )


# ---------------------------------------------------------------- orders


def order(turn: Turn) -> Reply | None:
    """Order what was signalled, less when the limits leave less; nothing when they leave nothing (R-B7)."""
    brief, shown = turn.view.brief, desk(turn)
    quantity = int(brief["quantity"])
    sign = 1 if brief["side"] == "BUY" else -1
    strategy_id, symbol = subject(turn), str(brief["symbol"])
    held = int(shown["positions"].get(strategy_id, {}).get(symbol, 0))
    if grows(held, sign * quantity):
        price = max(_price(turn.tools.market, shown, symbol, turn.now), brief["limit_price"] or 0.0)
        if price <= 0.0 or not known(turn).get("is_deployed"):
            return None
        full = _full(shown, strategy_id, price)
        quantity = min(quantity, abs(_room(turn).most(symbol, held, held + sign * quantity, full, price)))
        # What else is under way is not shown here: an order that was too large is tried at half its size.
        quantity >>= turn.view.attempt
    return Reply(filled_in(Order, turn, quantity=quantity)) if quantity else None


def ticket_of(view: View) -> Ticket | None:
    """Return the order that an EXECUTION is owed for, as the broker got it; None when the log shows none."""
    wanted = view.brief["client_order_id"]
    for env in reversed(Transcript(view.transcript).envelopes):
        if isinstance(env.body, Order) and env.body.client_order_id == wanted:
            body = env.body
            limit = body.limit_price if body.order_type == "limit" else None
            return Ticket(wanted, body.symbol, body.side, body.quantity, env.sent_at, limit)
    return None


def ready_at(view: View, tools: SimulatedTools) -> datetime | None:
    """Return from when on the broker has an answer to what is owed; None when there is nothing to wait for."""
    if view.brief["phase"] == CANCELLING:
        return None
    ticket = ticket_of(view)
    if ticket is None:
        return None
    return ends_at(ticket, tools.market, tools.market.seed, int(view.brief["filled"]))


def execute(turn: Turn) -> Reply | None:
    """Tell what the broker did with an order: its next part, or at a halt what was filled until then (K11, R-B5)."""
    view, tools, brief = turn.view, turn.tools, turn.view.brief
    ticket = ticket_of(view)
    if ticket is None:
        return None
    told = int(brief["filled"])
    is_cancelled = brief["phase"] == CANCELLING
    if is_cancelled:
        found = cancel(ticket, tools.market, view.obligation.opened_at, tools.market.seed, told)
    else:
        # A script may hurry the answer; what it then tells is what will have happened.
        at = max(turn.now, ready_at(view, tools) or turn.now)
        asked = answer(ticket, tools.market, at, tools.market.seed, told)
        if asked is None:
            return None
        found = asked
    return Reply(
        filled_in(
            Execution,
            turn,
            action=ticket.side,
            qty_filled=found.quantity,
            avg_price=found.price,
            slippage_bps=found.slippage_bps,
            status=found.status,
            fee=found.fee,
            fill_after_halt=is_cancelled and found.quantity > 0,
        )
    )


# ---------------------------------------------------------------- feasibility and reviews

USUAL_DAYS: Final = 20
"""Days whose volume says what is usual."""
BARS_A_DAY: Final = 26
THIN_DAYS: Final = 60
"""Days of which the thinnest is looked at."""
EATEN: Final = 0.1
"""A strategy whose slippage eats more than this share of its return needs limit orders."""
MOST_BPS: Final = 12.0
"""More slippage on paper than this is an issue."""
LEAST_FILLED: Final = 0.9
HOPELESS_FILLED: Final = 0.5


def _volumes(market: Market, symbol: str, now: datetime) -> tuple[float, float]:
    """Return the usual and the thinnest volume of a 15-minute bar, of days that ended; 0 when nobody counted."""
    bars = market.tail(symbol, now, THIN_DAYS + 1)
    if bars is None or len(bars) < 2:
        return 0.0, 0.0
    ended = bars.volume[:-1] / BARS_A_DAY
    return float(ended[-USUAL_DAYS:].mean()), float(ended.min())


def assess(turn: Turn) -> Reply:
    """Say whether exposure can be reduced at once, and what it costs (spec 4.2, R-B4)."""
    shown, voice, market = desk(turn), turn.voice, turn.tools.market
    affected = turn.view.brief["affected"] or tuple(shown["reductions"])
    orders = [
        (symbol, abs(delta))
        for strategy_id in affected
        for symbol, delta in shown["reductions"].get(strategy_id, {}).items()
    ]
    worth = cost = 0.0
    largest, thinnest = 0.0, ""
    for symbol, quantity in orders:
        usual, _ = _volumes(market, symbol, turn.now)
        share = quantity / usual if usual else 0.0
        value = quantity * (market.price(symbol, turn.now) or 0.0)
        worth, cost = worth + value, cost + value * cost_bps(share)
        if share >= largest:
            largest, thinnest = share, symbol
    if not orders:
        note, is_feasible = voice.say(phrases.NOTHING), True
    elif not any(market.is_open(symbol, turn.now) for symbol, _ in orders):
        note, is_feasible = voice.say(phrases.CLOSED), False
    elif largest > SHARE:
        note, is_feasible = voice.say(phrases.THIN, symbol=thinnest, share=percent(largest)), False
    else:
        count = counted(len(orders), "order")
        note, is_feasible = voice.say(phrases.FEASIBLE, count=count, share=percent(largest, 2)), True
    bps = round(cost / worth, 4) if worth else 0.0
    return Reply(filled_in(Feasibility, turn, feasible=is_feasible, cost_bps=bps, note=sentence(note)))


def review_deployment(turn: Turn) -> Reply:
    """Review whether a strategy's orders can be executed: full positions against what trades (spec 4.1, R-B1)."""
    shown, entry, market = desk(turn), known(turn), turn.tools.market
    slippage, is_thin = 0.0, False
    for symbol in entry.get("symbols", ()):
        price = market.price(symbol, turn.now)
        usual, thinnest = _volumes(market, symbol, turn.now)
        shares = entry["position_limit"] * shown["equity"] / price if price else 0.0
        slippage = max(slippage, cost_bps(shares / usual if usual else 0.0))
        # Where nobody counts volume nobody knows whether a position can be left again.
        is_thin = is_thin or not thinnest or shares / thinnest > SHARE
    is_ready = _eaten(turn, slippage) <= EATEN
    return Reply(
        filled_in(
            DeployReview,
            turn,
            form="trader",
            executability="ready" if is_ready else "needs_adjustment",
            liquidity_concern=is_thin,
            suggested_order_type="market" if is_ready else "limit",
            estimated_slippage_bps=round(slippage, 4),
        )
    )


def _eaten(turn: Turn, slippage_bps: float) -> float:
    """Return which share of its yearly return a strategy pays for slippage, on train and validation; 1 at most."""
    spec = spec_of(known(turn))
    if spec is None:
        return 1.0
    try:
        report = backtest(spec, turn.universe, splits(turn.universe).evidence)
    except ToolError:
        return 1.0
    paid, gained = report.turnover_a_year * slippage_bps * BASIS_POINT, report.metrics["annual_return"]
    return min(paid / gained, 1.0) if gained > 0.0 else 1.0


def review_promotion(turn: Turn) -> Reply:
    """Review how a strategy's orders were executed on paper (spec 4.3, R-B3)."""
    voice, paper = turn.voice, turn.view.brief["proposal"]["paper_trading_metrics"]
    trades, slippage = paper.get("trades", 0), float(paper.get("avg_slippage_bps", 0.0))
    rate = min(max(float(paper.get("fill_rate", 0.0)), 0.0), 1.0)
    issues = []
    if not trades:
        issues.append(voice.say(phrases.ISSUES["untraded"]))
    else:
        if slippage > MOST_BPS:
            issues.append(voice.say(phrases.ISSUES["slippage"], value=two(slippage), limit=two(MOST_BPS)))
        if rate < LEAST_FILLED:
            issues.append(
                voice.say(phrases.ISSUES["fills"], value=percent(rate, 0), limit=percent(LEAST_FILLED, 0))
            )
    recommendation: Recommendation = "extend_validation" if issues else "approve"
    if trades and (rate < HOPELESS_FILLED or slippage > 2.0 * MOST_BPS):
        recommendation = "reject"
    return Reply(
        filled_in(
            PromotionReview,
            turn,
            form="trader",
            avg_slippage_bps=slippage,
            fill_rate=rate,
            execution_issues=tuple(map(sentence, issues)),
            recommendation=recommendation,
        )
    )
