"""System B's published figures against the books (R-B3, R-B7, R-B9, R-B10, R-F5, R-F6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final

from tests.independent.money import Day, Money, Session
from tests.independent.said import ZERO, Said, deepest, differ, differ_money, part, sharpe
from tests.independent.standings import Standings

WINDOW: Final = 30
ENOUGH: Final = 20
"""A Sharpe ratio over fewer sessions is not published, but for decisions (R-F6)."""
FIVE: Final = 5
"""Decisions rest on so many at least (R-B3, R-B9, R-B10)."""

Found = Iterator[str]


class Desk:
    """Compare each message of the desk, before it is taken in."""

    def __init__(self) -> None:
        self.standings = Standings()
        self.money = Money(self.standings)
        self.halted = False
        self.worst = ""
        self.flags: list[str] = []
        self.is_reported = False
        self.moves: list[tuple[str, str, str]] = []
        self.figures: dict[str, dict[str, Any]] = {}
        """Of each feedback and recall: what its strategy did since its promotion, when it opened."""
        self.requested: set[str] = set()
        self.recalling: dict[str, str] = {}
        """The strategy of each recall that is open."""
        self.compared: dict[str, int] = {}

    def take(self, said: Said) -> list[str]:
        """Return what a message publishes wrongly, and take it in."""
        compare = COMPARED.get(said.kind)
        found: list[str] = []
        if compare is not None:
            self.compared[said.kind] = self.compared.get(said.kind, 0) + 1
            found = [f"{said.seq} {said.kind} {said.at:%d.%m. %H:%M} {one}" for one in compare(self, said)]
        self._note(said)
        self.money.take(said)
        self.standings.take(said)
        return found

    def _note(self, said: Said) -> None:
        body = said.body
        if said.kind == "TRADING_DAY":
            self.worst = ""
        elif said.kind == "HALT" or (said.kind == "RISK_ALERT" and body["level"] == "HALT"):
            self.halted = True
        elif said.kind == "RESUME_CONFIRMED":
            self.halted = False
        elif said.kind == "DAILY_TRADING_REPORT":
            self.is_reported = True
        elif said.kind == "RECALL_FLAG":
            if self.is_reported:
                self.flags, self.is_reported = [], False
            self.flags.append(body["strategy_id"])
            self.moves.append((self.money.date, "recall", body["strategy_id"]))
            self.recalling[said.case] = body["strategy_id"]
        elif said.kind == "STRATEGY_MOVED":
            self.recalling = {
                case: name for case, name in self.recalling.items() if name != body["strategy_id"]
            }
            if body["to"] == "production":
                self.moves.append((self.money.date, "promotion", body["strategy_id"]))
                self.requested.discard(body["strategy_id"])
        elif said.kind == "RULING" and "/reflection/" not in (body["obligation_id"] or ""):
            self.recalling.pop(said.case, None)
        elif said.kind == "RECALL_REQUEST":
            self.requested.add(body["strategy_id"])

    # ------------------------------------------------------------ the session

    def _day(self, body: Mapping[str, Any], pnl: Decimal, opening: Decimal, prefix: str = "") -> Found:
        yield from differ_money(f"{prefix}pnl_usd", body[f"{prefix}pnl_usd"], pnl)
        yield from differ(f"{prefix}pnl_pct", body[f"{prefix}pnl_pct"], part(pnl, opening))

    def risk(self, said: Said) -> Found:
        body, money = said.body, self.money
        prices, equity = money.marked(body["marks"]), money.equity(body["marks"])
        yield from differ_money("equity", body["equity"], equity)
        yield from self._day(body, equity - money.opening, money.opening, "daily_")
        yield from self._positions(body, prices, equity)
        drawdowns = money.drawdowns(prices)
        yield from differ("drawdowns", sorted(body["drawdowns"]), sorted(drawdowns))
        for name, wanted in drawdowns.items():
            yield from differ(f"drawdowns.{name}", body["drawdowns"].get(name), wanted)

    def _positions(self, body: Mapping[str, Any], prices: Mapping[str, Decimal], equity: Decimal) -> Found:
        gross, worth = ZERO, dict[str, Decimal]()
        for (_, symbol), (n, _) in self.money.held.items():
            value = n * prices.get(symbol, ZERO)
            gross += abs(value)
            worth[symbol] = worth.get(symbol, ZERO) + value
        yield from differ("exposure", body["exposure"], part(gross, equity))
        most = max(map(abs, worth.values()), default=ZERO)
        yield from differ("largest_position", body["largest_position"], part(most, equity))
        if worth and "largest_symbol" in body:
            yield from differ("largest_symbol", abs(worth[body["largest_symbol"]]), most)

    def overnight(self, said: Said) -> Found:
        yield from self._positions(said.body, self.money.marks, self.money.equity())

    def close(self, said: Said) -> Found:
        body, money = said.body, self.money
        equity = money.equity(body["closes"])
        yield from differ_money("equity", body["equity"], equity)
        yield from self._day(body, equity - money.opening, money.opening)
        yield from differ("trades", body["trades"], money.trades)
        yield from differ("date", body["date"], money.date)

    def summary(self, said: Said) -> Found:
        body, money = said.body, self.money
        yield from self._day(body, money.equity() - money.opening, money.opening)
        for name in ("trades", "wins", "losses"):
            yield from differ(name, body[name], getattr(money, name))
        yield from differ("active_strategies", body["active_strategies"], self.standings.traded())
        yield from differ("halted", body["risk_status"] == "HALTED", self.halted)

    # ------------------------------------------------------------ reports

    def _cumulative(self, body: Mapping[str, Any]) -> Found:
        money, capital = self.money, self.money.capital or ZERO
        wanted = part(money.equity() - capital, capital)
        yield from differ("cumulative_pnl_pct", body["cumulative_pnl_pct"], wanted)

    def daily(self, said: Said) -> Found:
        body, money = said.body, self.money
        today = money.day()
        window = [*money.days, today][-WINDOW:] if money.takes_place else money.days[-WINDOW:]
        results = [day.pnl for day in window]
        yield from self._day(body, today.pnl, today.opening)
        yield from self._cumulative(body)
        yield from differ("n", body.get("n"), len(results))
        yield from differ("sharpe_30d", body["sharpe_30d"], reported(results))
        start = window[0].opening if window else ZERO
        yield from differ("max_dd_30d", body["max_dd_30d"], deepest(start, results))
        yield from differ("total_trades", body["total_trades"], money.trades)
        decided = money.wins + money.losses
        rate = Decimal(money.wins) / decided if decided else None
        yield from differ("win_rate", body["win_rate"], rate)
        yield from attributed(body, [today])
        yield from self._staged(body)
        flags = [] if self.is_reported else sorted(set(self.flags))
        yield from differ("recall_flags", body["recall_flags"], flags)

    def _staged(self, body: Mapping[str, Any]) -> Found:
        names = [name for name in self.standings.traded() if self.standings.of(name).stage == "staging"]
        yield from differ("staging_strategies", [one["id"] for one in body["staging_strategies"]], names)
        for one in body["staging_strategies"]:
            results = recent(self.money.sessions(one["id"]))
            name = f"staging_strategies.{one['id']}"
            yield from differ(f"{name}.days", one["days_in_staging"], self.standings.of(one["id"]).days)
            yield from differ(f"{name}.n", one.get("n"), len(results))
            yield from differ(f"{name}.staging_sharpe", one["staging_sharpe"], reported(results))

    def weekly(self, said: Said) -> Found:
        body, money = said.body, self.money
        week = iso_week(money.date)
        days = [
            day
            for day in (*money.days, *([money.day()] if money.takes_place else []))
            if iso_week(day.date) == week
        ]
        pnl = sum((day.pnl for day in days), ZERO)
        yield from differ("week", body["week"], week)
        yield from differ("sessions", body["sessions"], len(days))
        yield from self._day(body, pnl, days[0].opening if days else ZERO)
        yield from self._cumulative(body)
        yield from differ("total_trades", body["total_trades"], sum(day.trades for day in days))
        yield from attributed(body, days)
        for field, what in (("promotions", "promotion"), ("recalls", "recall")):
            names = {name for day, kind, name in self.moves if kind == what and day and iso_week(day) == week}
            yield from differ(field, body[field], sorted(names))

    # ------------------------------------------------------------ strategies

    def metrics(self, said: Said) -> Found:
        name, realised, money = said.body["strategy_id"], said.body["realised"], self.money
        sessions = money.sessions(name)
        last = sessions[-WINDOW:]
        results = recent(sessions)
        made, _ = money.day().shares.get(name, (ZERO, 0))
        yield from differ("date", said.body["date"], money.date)
        yield from differ_money("realised.pnl", realised["pnl"], made)
        yield from differ("realised.n", realised.get("n"), len(results))
        yield from differ("realised.sharpe_30d", realised["sharpe_30d"], reported(results))
        start = money.allocation(name) + sum((one.pnl for one in sessions[:-WINDOW]), ZERO)
        yield from differ("realised.max_drawdown", realised["max_drawdown"], deepest(start, results))
        yield from differ("realised.trades", realised["trades"], sum(one.trades for one in last))

    def promotion(self, said: Said) -> Found:
        body, money, name = said.body, self.money, said.body["strategy_id"]
        paper, account, standing = body["paper_trading_metrics"], money.account(name), self.standings.of(name)
        sessions = money.sessions(name)
        results = recent(sessions)
        decided = account.wins + account.losses
        wanted: dict[str, Any] = {
            "sharpe": sharpe(results),
            "n": len(results),
            "max_drawdown": deepest(
                money.allocation(name) + sum((one.pnl for one in sessions[:-WINDOW]), ZERO), results
            ),
            "trades": account.trades,
            "win_rate": Decimal(account.wins) / decided if decided else None,
            "avg_slippage_bps": account.slipped / account.filled if account.filled else ZERO,
            "fill_rate": min(Decimal(account.filled) / account.ordered, Decimal(1))
            if account.ordered
            else Decimal(1),
            "days": standing.days,
        }
        for figure, value in wanted.items():
            yield from differ(f"paper_trading_metrics.{figure}", paper.get(figure), value)
        yield from differ_money(
            "paper_trading_metrics.pnl_usd", paper["pnl_usd"], money.pnl(name) - account.base
        )
        yield from differ("days", body["days"], standing.days)
        if standing.days < FIVE:
            yield f"promoted after {standing.days} sessions"

    def feedback(self, said: Said) -> Found:
        name, given = said.body["strategy_id"], said.body["expected_vs_actual"]
        standing, live = self.standings.of(name), self.money.live(name)
        ratio = sharpe(lived(live))
        wanted = {
            "expected_sharpe": standing.promised,
            "actual_sharpe": ratio,
            "n": len(lived(live)),
        }
        for figure, value in wanted.items():
            yield from differ(f"expected_vs_actual.{figure}", given.get(figure), value)
        if (
            standing.live < FIVE
            or ratio is None
            or standing.promised is None
            or ratio >= standing.promised / 2
        ):
            yield f"a ratio of {ratio} over {standing.live} sessions is worth no feedback"
        if name in self.recalling.values():
            yield f"a recall of {name} is open"
        self._remember(said, name)

    def recall(self, said: Said) -> Found:
        body, name = said.body, said.body["strategy_id"]
        live = self.money.live(name)
        ratio = sharpe(lived(live))
        yield from differ("sharpe", body["sharpe"], ratio)
        yield from differ("n", body.get("n"), len(lived(live)))
        if self.standings.of(name).live < FIVE or ratio is None or ratio >= 0:
            yield f"a ratio of {ratio} over {self.standings.of(name).live} sessions is worth no recall"
        self._remember(said, name)

    def response(self, said: Said) -> Found:
        name = self.standings.about.get(said.case, "")
        if said.body["stance"] == "disagree" and name in self.requested:
            yield f"disputes what a recall of {name} was requested for"

    def _remember(self, said: Said, name: str) -> None:
        """Keep what a strategy did since its promotion, as it stands when a case about it opens (R-F5)."""
        live, money = self.money.live(name), self.money
        results = lived(live)
        start = money.allocation(name) + sum((one.live_pnl for one in live[:-WINDOW]), ZERO)
        self.figures[said.case] = {
            "live_pnl": sum(results, ZERO),
            "live_max_drawdown": deepest(start, results),
            "live_trades": sum(one.live_trades for one in live[-WINDOW:]),
            "live_sharpe": sharpe(results),
            "live_n": len(results),
        }

    def record(self, said: Said) -> Found:
        wanted = self.figures.get(said.case)
        if wanted is None:
            return
        given = said.body["record"]["metrics"]
        for name in sorted(given):
            if not name.startswith("live_"):
                continue
            if name not in wanted:
                yield f"{name}: published {given[name]}, nothing fixes it"
            elif name == "live_pnl":
                yield from differ_money(name, given[name], wanted[name])
            else:
                yield from differ(name, given[name], wanted[name])


def recent(sessions: list[Session]) -> list[Decimal]:
    """Return the P&L of the last 30 sessions."""
    return [one.pnl for one in sessions[-WINDOW:]]


def lived(sessions: list[Session]) -> list[Decimal]:
    """Return the P&L since a promotion of the last 30 sessions."""
    return [one.live_pnl for one in sessions[-WINDOW:]]


def reported(results: list[Decimal]) -> Decimal | None:
    """Return a Sharpe ratio as reports show it: none over fewer than 20 sessions (R-F6)."""
    return sharpe(results) if len(results) >= ENOUGH else None


def iso_week(day: str) -> str:
    """Return the ISO week of a day."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02d}"


def attributed(body: Mapping[str, Any], days: list[Day]) -> Found:
    """Compare what each strategy is said to have contributed to some days."""
    made: dict[str, tuple[Decimal, int]] = {}
    for day in days:
        for name, (pnl, trades) in day.shares.items():
            before = made.get(name, (ZERO, 0))
            made[name] = (before[0] + pnl, before[1] + trades)
    given = {one["id"]: one for one in body["strategy_attribution"]}
    yield from differ("strategy_attribution", list(given), sorted(made))
    for name, (pnl, trades) in made.items():
        if name in given:
            yield from differ(f"{name}.pnl_pct", given[name]["pnl_pct"], part(pnl, days[0].opening))
            yield from differ(f"{name}.trades", given[name]["trades"], trades)


COMPARED: Final[Mapping[str, Callable[[Desk, Said], Found]]] = {
    "RISK_CHECK": Desk.risk,
    "OVERNIGHT_RISK_CHECK": Desk.overnight,
    "MARKET_CLOSE": Desk.close,
    "TRADING_SUMMARY": Desk.summary,
    "DAILY_TRADING_REPORT": Desk.daily,
    "WEEKLY_TRADING_REPORT": Desk.weekly,
    "METRICS_RECORDED": Desk.metrics,
    "PROMOTION_PROPOSAL": Desk.promotion,
    "PERFORMANCE_FEEDBACK": Desk.feedback,
    "FEEDBACK_RESPONSE": Desk.response,
    "RECALL_FLAG": Desk.recall,
    "CAUSAL_RECORD": Desk.record,
    "REFLECTION": Desk.record,
}
