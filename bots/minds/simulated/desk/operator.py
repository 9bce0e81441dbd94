"""The Operator's day: checks, closes, reports, and what it says about alerts and halts (spec 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.desk.deskfile import desk, filled_in, subject
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import counted, paragraph, percent, sentence, two
from moot.protocols.trading.alert import MONITOR
from moot.protocols.trading.briefing import measured
from moot.protocols.trading.hours import trading_at
from moot.protocols.trading.limits import LIMITS, PORTFOLIO, threshold_of
from moot.protocols.trading.messages import (
    Feasibility,
    Halt,
    MarketClose,
    PreMarketCheck,
    Resume,
    RiskCheck,
    RiskDecision,
    RiskDiscussion,
    RiskProjection,
    TradingDay,
    TradingSummary,
)
from moot.protocols.trading.messages.risk import Action
from moot.protocols.trading.seats import GUARDIAN, OPERATOR

PHRASES: Final = Phrases("desk/operator")

LOOKED_BACK: Final = 4
"""So many RISK_CHECKs show where a metric goes."""
REVIEWED_AFTER: Final = timedelta(minutes=30)
"""From a decision to wait to its review, or to the next open."""
CLOSE: Final = 0.75
"""From this share of the way to the next limit on, a metric is close to it."""

# ---------------------------------------------------------------- the day


def check_before_open(turn: Turn) -> Reply:
    """Go over money, positions, strategies, prices and the exchange's hours before the open."""
    shown, voice = desk(turn), turn.voice
    held = sum(len(symbols) for symbols in shown["positions"].values())
    stages = [entry["stage"] for entry in shown["strategies"].values() if entry["is_deployed"]]
    money = {"equity": _money(shown["equity"]), "cash": _money(shown["cash"])}
    points = []
    day = turn.transcript.last(TradingDay)
    if day is not None:
        hours = {"opens": f"{day.opens_at:%H:%M}", "closes": f"{day.closes_at:%H:%M}"}
        closes = "early" if day.is_early_close else "exchange"
        points.append(voice.say(PHRASES[f"pre_market.{closes}"], **hours))
    state = "halted" if shown["halted"] else "open"
    points.append(voice.say(PHRASES[f"pre_market.{state}"]))
    points.append(voice.say(PHRASES["pre_market.money"], **money))
    count, exposure = counted(held, "position"), percent(shown["exposure"])
    points.append(voice.say(PHRASES["pre_market.positions"], count=count, exposure=exposure))
    production, paper = str(stages.count("production")), str(stages.count("staging"))
    points.append(voice.say(PHRASES["pre_market.strategies"], production=production, paper=paper))
    last = turn.universe.last_date
    if last is not None:
        symbols = counted(len(turn.universe.symbols), "symbol")
        points.append(voice.say(PHRASES["pre_market.prices"], last=last.isoformat(), symbols=symbols))
    return Reply(filled_in(PreMarketCheck, turn, checks=tuple(points)))


def close_books(turn: Turn) -> Reply:
    """Close the session's books at the closing prices of what is held or traded."""
    closes = closing_prices(turn)
    return Reply(filled_in(MarketClose, turn, closes=closes, **close_figures(desk(turn), closes)))


def closing_prices(turn: Turn) -> dict[str, float]:
    """Return the closing price of each symbol that the desk holds, has marked or trades, in dollars."""
    shown = desk(turn)
    symbols = set(shown["marks"]).union(*shown["positions"].values())
    for entry in shown["strategies"].values():
        if entry["is_deployed"]:
            symbols.update(entry["symbols"])
    day = turn.transcript.last(TradingDay)
    # The answer comes minutes after the close, which is when the books are closed.
    at = day.closes_at if day is not None and day.closes_at <= turn.now else turn.now
    return turn.tools.market.marks(symbols, at)


def close_figures(shown: Mapping[str, Any], closes: Mapping[str, float]) -> dict[str, Any]:
    """Return MARKET_CLOSE's figures at some prices: the book's own arithmetic on what the desk shows."""
    found = measured(shown, closes)
    return {
        "equity": found["equity"],
        "pnl_usd": found["daily_pnl_usd"],
        "pnl_pct": found["daily_pnl_pct"],
        "trades": shown["trades_today"],
    }


def summarise(turn: Turn) -> Reply:
    """Sum up the session so far."""
    day = turn.transcript.last(TradingDay)
    start = f"{day.opens_at:%H:%M} to " if day is not None else "until "
    period = turn.view.brief.get("period") or f"{start}{turn.view.obligation.opened_at:%H:%M} UTC"
    return Reply(filled_in(TradingSummary, turn, period=period))


# ---------------------------------------------------------------- alerts


def discuss(turn: Turn) -> Reply:
    """Propose what to do about a WARNING, by where its metric went and how near the next limit is (spec 4.2)."""
    brief = turn.view.brief
    metric, value = subject(turn), float(brief["value"])
    path = [*metric_path(turn, metric)[-LOOKED_BACK:], value]
    sign = LIMITS[metric].sign if metric in LIMITS else 1
    following = threshold_of(metric, "CRITICAL") if metric in LIMITS else None
    facts = {
        "metric": metric.replace("_", " "),
        "first": percent(path[0], 2),
        "last": percent(value, 2),
        "count": counted(len(path), "check"),
        "threshold": percent(float(brief["threshold"]), 2),
        "next": percent(following, 2) if following is not None else "the next",
    }
    if len(path) > 2 and all((b - a) * sign > 0 for a, b in pairwise(path)):
        code, action = "worse", "reduce_exposure"
    elif following is not None and _is_near(value, float(brief["threshold"]), following):
        code, action = "near", "reduce_exposure"
    else:
        code, action = "calm", "monitor"
    reason = sentence(turn.voice.say(PHRASES[f"tendency.{code}"], **facts))
    return Reply(filled_in(RiskDiscussion, turn, proposed_action=action, reason=reason))


def _is_near(value: float, reached: float, following: float) -> bool:
    way = following - reached
    return way != 0.0 and (value - reached) / way >= CLOSE


def metric_path(turn: Turn, metric: str) -> list[float]:
    """Return what the session's RISK_CHECKs measured of a metric, oldest first; the worst of all drawdowns."""
    found = []
    for check in turn.transcript.all(RiskCheck):
        if metric == "daily_pnl":
            found.append(check.daily_pnl_pct)
        elif metric == "drawdown":
            found.append(min(check.drawdowns.values(), default=0.0))
        elif metric in ("var95", "largest_position"):
            found.append(getattr(check, metric))
    return found


def decide_risk(turn: Turn) -> Reply:
    """Decide as R-B4 fixes it; what the Guardian projected and the Trader found is the reason."""
    brief, voice = turn.view.brief, turn.voice
    projection, feasible = turn.transcript.last(RiskProjection), turn.transcript.last(Feasibility)
    code = brief.get("trend") or brief["level"]
    seen = projection.projection.strip().rstrip(".") if projection is not None else ""
    said = [voice.say(PHRASES[f"decided.{code}"], projection=seen or "without more words")]
    if feasible is not None and feasible.feasible:
        said.append(voice.say(PHRASES["feasible"], cost=two(feasible.cost_bps)))
    elif feasible is not None:
        said.append(
            voice.say(PHRASES["infeasible"], note=feasible.note.strip().rstrip(".") or "no reason given")
        )
    # The first is the one that the table prefers: stable leads to monitor, hold is there for people.
    action: Action = brief["action"][0]
    waits: dict[str, Any] = {}
    if action == MONITOR and brief.get("is_feasible") is False:
        waits = {
            "waits_for": sentence(voice.say(PHRASES["waits"])),
            "until": trading_at(turn.now + REVIEWED_AFTER),
        }
    return Reply(filled_in(RiskDecision, turn, action=action, reason=paragraph(*said), **waits))


# ---------------------------------------------------------------- halts


def halt(turn: Turn) -> Reply:
    """Halt the desk, for the cause that the session names: silence, a limit, a person's word (R-B5, R-B13)."""
    reason = sentence(turn.voice.say(PHRASES.get(f"halts.{subject(turn)}", PHRASES["halts.silence"])))
    return Reply(filled_in(Halt, turn, session_id=turn.case_id, reason=reason))


def resume(turn: Turn) -> Reply:
    """Ask to resume, as a person wants, and say whether anything is beyond a limit; the Guardian confirms (R-B5)."""
    shown = desk(turn)
    pnl = measured(shown, {})["daily_pnl_pct"]
    drawdowns = [entry["drawdown"] for entry in shown["strategies"].values() if entry["is_deployed"]]
    is_over = (
        pnl > LIMITS["daily_pnl"].warning
        and shown["exposure"] <= PORTFOLIO.exposure
        and min(drawdowns, default=0.0) > LIMITS["drawdown"].halt
    )
    facts = {"pnl": percent(pnl, 2), "exposure": percent(shown["exposure"])}
    reason = sentence(turn.voice.say(PHRASES["over"] if is_over else PHRASES["ordered"], **facts))
    return Reply(filled_in(Resume, turn, reason=reason))


def _money(amount: float) -> str:
    return f"${amount:,.2f}"


ANSWERS: Final[Answers] = {
    (OPERATOR, PreMarketCheck): check_before_open,
    (OPERATOR, MarketClose): close_books,
    (OPERATOR, TradingSummary): summarise,
    (OPERATOR, RiskDiscussion): discuss,
    (OPERATOR, RiskDecision): decide_risk,
    (OPERATOR, Halt): halt,
    (GUARDIAN, Halt): halt,
    (OPERATOR, Resume): resume,
}
