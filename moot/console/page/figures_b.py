"""The dashboard of System B."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from moot.channels.showing.wording import clean, words
from moot.console.errors import NotReady
from moot.console.model.interface import ReadModel, StandingView
from moot.console.page.figures_parts import (
    MOST_ROWS,
    Page,
    body_of,
    counted,
    dollars,
    last_of,
    link_to,
    minute_of,
    signed,
    strategy_link,
)
from moot.desk import Market, day_told, market
from moot.protocols.trading.messages.desk import TradingDay

UNREAD: Final = "Not known yet: the log is still being read."


async def system_b(model: ReadModel) -> Page:
    """Return the dashboard of System B: equity, drawdown, positions, alerts, strategies."""
    closes = await last_of(model, "MARKET_CLOSE")
    alerts = await last_of(model, "RISK_ALERT")
    notices = await last_of(model, "DEPLOY_NOTICE")
    try:
        standing: StandingView | None = await model.standing()
    except NotReady:
        standing = None
    points = [(str(body_of(env).get("date")), float(body_of(env).get("equity") or 0.0)) for env in closes]
    days = [day[5:] for day, _ in points]
    desk = standing.desk if standing else {}
    return {
        "kind": "figures",
        "title": "System B",
        "about": "money, positions, strategies",
        "note": "" if standing else UNREAD,
        "part": standing is None,
        "tiles": [
            ["equity", dollars(desk.get("equity", points[-1][1] if points else None)), ""],
            [
                f"P&L {day_told(desk.get('date'), model.now().at)}",
                dollars(desk.get("pnl_usd"), is_signed=True),
                "late" if (desk.get("pnl_usd") or 0) < 0 else "",
            ],
            ["positions", str(len(standing.positions)) if standing else "–", ""],
            ["alerts", str(len(alerts)), ""],
            trading_tile(standing, await market_of(model), model.now().at),
        ],
        "figures": [
            {
                "title": "Equity at the close",
                "kind": "line",
                "fill": True,
                "x": days,
                "series": [{"name": "equity", "data": [round(equity, 2) for _, equity in points]}],
            },
            {
                "title": "Drawdown, %",
                "kind": "line",
                "fill": True,
                "colours": ["--late"],
                "top": 0,
                "x": days,
                "series": [{"name": "drawdown", "data": drawdown([equity for _, equity in points])}],
            },
            counted("Alerts by level", Counter(str(body_of(env).get("level")) for env in alerts), words),
        ],
        "tables": [
            {
                "title": "Positions",
                "head": ["strategy", "symbol", "quantity", "worth", "unrealised"],
                "nums": [2, 3, 4],
                "rows": [
                    [
                        strategy_link(p.get("strategy_id")),
                        str(p.get("symbol")),
                        signed(p.get("quantity") or 0),
                        dollars(p.get("value")),
                        dollars(p.get("unrealised_usd"), is_signed=True),
                    ]
                    for p in (standing.positions if standing else ())
                ][:MOST_ROWS],
                "none": "The desk holds nothing." if standing else UNREAD,
            },
            {
                "title": "Strategies",
                "head": ["strategy", "stage", "kind", "symbols", "days"],
                "nums": [4],
                "rows": [
                    [
                        strategy_link(s.get("strategy_id")),
                        words(str(s.get("stage"))),
                        words(str(s.get("archetype") or "")),
                        ", ".join(map(str, s.get("symbols") or ())),
                        f"{s.get('days', '')}",
                    ]
                    for s in (standing.strategies if standing else ())
                ][:MOST_ROWS],
                "none": "No strategy has come to the desk yet." if standing else UNREAD,
            },
            {
                "title": "Notices",
                "head": ["when", "strategy", "action", "why", ""],
                "rows": [
                    [
                        minute_of(env),
                        strategy_link(b.get("strategy_id")),
                        words(str(b.get("action"))),
                        clean(str(b.get("reason")), 300),
                        link_to(env),
                    ]
                    for env in reversed(notices[-MOST_ROWS:])
                    for b in (body_of(env),)
                ],
                "none": "No strategy was staged, promoted or withdrawn yet.",
            },
        ],
    }


async def market_of(model: ReadModel) -> Market:
    """Return whether the exchange is open, by the desk day that was opened last (R-D18)."""
    found = (await model.search(type="TRADING_DAY", limit=1)).envelopes
    body = found[-1].body if found else None
    return market(body if isinstance(body, TradingDay) else None, model.now().at)


def trading_tile(standing: StandingView | None, hours: Market, now: datetime | None) -> list[str]:
    """Say whether the exchange is open and until when, or that the desk is halted whatever it is."""
    until = ""
    if hours.until is not None and now is not None:
        is_today = hours.until.date() == now.date()
        until = f" until {hours.until:{'%H:%M' if is_today else '%a %d %b %H:%M'}} UTC"
    word = "open" if hours.is_open else "closed"
    if standing is not None and standing.is_halted:
        return [f"trading; exchange {word}{until}", "halted", "late"]
    return [f"exchange{until}", word, ""]


def drawdown(values: Sequence[float]) -> list[float]:
    """Return how far each value lies below the highest before it, in per cent, 0 or negative."""
    found, top = [], 0.0
    for value in values:
        top = max(top, value)
        found.append(round((value / top - 1) * 100, 3) if top > 0 else 0.0)
    return found
