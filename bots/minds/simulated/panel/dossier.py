"""The dossier of a strategy before its promotion, written from the log's figures, memory and prices alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from moot.bots.minds.simulated.debate.criteria import listed
from moot.bots.minds.simulated.desk.deskfile import desk, known, spec_of, subject
from moot.bots.minds.simulated.desk.operator_strategies import Gap
from moot.bots.minds.simulated.turn import Turn
from moot.bots.minds.simulated.wording import counted, paragraph, percent, sentence, two
from moot.bots.tools.backtest import BacktestReport, backtest
from moot.bots.tools.errors import ToolError
from moot.bots.tools.splits import splits
from moot.bots.tools.statistics import tail_loss
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.bots.tools.wording import describe, triggers
from moot.memory.records import Experience, StrategyRecord
from moot.protocols.trading.limits import LIMITS, PORTFOLIO

BEST_DAYS: Final = 10
"""Of so many days the share of all gains is told."""
VOLUME_DAYS: Final = 60
"""Sessions over which the usual volume of a symbol is taken."""
MOST_LESSONS: Final = 5
"""Records about a strategy's own idea that are told, the latest."""


def dossier(turn: Turn) -> str:
    """Write what a panel is to judge: Markdown, with what is not known said as such."""
    file = _File(turn)
    sections = {
        "Strategy": file.strategy(),
        "Backtest": file.backtest(),
        "Paper trading": file.paper_trading(),
        "Risks": file.risks(),
        "Costs": file.costs(),
        "Way back": file.way_back(),
        "Limitations": file.limitations(),
    }
    parts = [f"# Dossier of {subject(turn)}"]
    for title, said in sections.items():
        parts += [f"## {title}", *said]
    return "\n\n".join(parts) + "\n"


class _File:
    """What is known of the strategy in question; each method yields the paragraphs of a section."""

    def __init__(self, turn: Turn) -> None:
        """Look everything up."""
        brief, entry = turn.view.brief, known(turn)
        self.id = subject(turn)
        self.entry = entry
        self.desk = desk(turn)
        self.memory = turn.view.memory
        self.universe: Universe = turn.universe
        self.days: int = brief["proposal"]["days"]
        self.paper: Mapping[str, float] = brief["proposal"]["paper_trading_metrics"]
        self.guardian: Mapping[str, Any] = brief.get("guardian") or {}
        self.trader: Mapping[str, Any] = brief.get("trader") or {}
        self.record: StrategyRecord | None = self.memory.strategy(self.id)
        self.spec, self.report = self._tested(spec_of(entry))

    def _tested(self, spec: StrategySpec | None) -> tuple[StrategySpec | None, BacktestReport | None]:
        """Run it on train and validation; without a result when it does not run here."""
        if spec is None:
            return None, None
        try:
            return spec, backtest(spec, self.universe, splits(self.universe).evidence)
        except ToolError:
            return spec, None

    # ------------------------------------------------------------ sections

    def strategy(self) -> Iterator[str]:
        if self.spec is None:
            yield "The log does not say what it trades."
            return
        said = [f"{self.id} trades {self._words()}"]
        if self.report is not None:
            when = triggers(self.spec)
            said += [f"it buys when {when.entry}", f"it exits when {when.exit}"]
        yield paragraph(*said)
        params = [f"{name} = {value:g}" for name, value in sorted(self.spec.params.items())]
        yield sentence(f"its parameters are {listed(params)}") if params else "It has no parameters."
        if self.record is not None and self.record.hypothesis_id:
            yield sentence(f"it comes from the debate on {self.record.hypothesis_id}")

    def _words(self) -> str:
        assert self.spec is not None
        return (
            describe(self.spec)
            if self.report is not None
            else f"{self.spec.archetype} on {listed(self.spec.symbols)}"
        )

    def backtest(self) -> Iterator[str]:
        tested, note = (
            self.entry.get("backtest", {}),
            self.record.backtest if self.record is not None else None,
        )
        figures = _figures(tested)
        if figures and note is not None:
            span = f"the test split from {note.split.from_} to {note.split.to}"
            where = f"the run with the id {note.equity_ref}" if note.equity_ref else "the run"
            yield sentence(
                f"on {span}, unseen until then, {where} in message {note.seq} of the log made {figures}"
            )
        elif figures:
            yield sentence(f"its backtest on data held out made {figures}, as the log has it")
        else:
            yield "The log has no backtest on data held out."
        if self.report is None:
            return
        said = [f"on train and validation together it makes {_figures(self.report.metrics)}"]
        said.append(
            "what is decided at one close is traded at the next open, so no price is used before it was known"
        )
        yield paragraph(*said)
        gains = np.sort(self.report.returns[self.report.returns > 0.0])[::-1]
        if len(gains) > BEST_DAYS:
            share = percent(float(gains[:BEST_DAYS].sum() / gains.sum()))
            yield sentence(
                f"the best {BEST_DAYS} days of {len(gains)} with a gain bring {share} of all gains"
            )

    def paper_trading(self) -> Iterator[str]:
        paper = self.paper
        trades = counted(int(paper.get("trades", 0)), "trade")
        said = [f"it was traded on paper for {counted(self.days, 'session')}, with {trades}"]
        if "pnl_usd" in paper:
            said.append(f"on paper it made ${paper['pnl_usd']:,.2f}")
        if "win_rate" in paper:
            said.append(f"{percent(paper['win_rate'], 0)} of its trades won")
        if "fill_rate" in paper:
            rate, slippage = percent(paper["fill_rate"], 0), two(paper.get("avg_slippage_bps", 0.0))
            said.append(f"{rate} of what was ordered was filled, at a slippage of {slippage} bps")
        yield paragraph(*said)
        yield from self._compared()
        rows = [(one.date, one.realised) for one in self.memory.metrics(strategy_id=self.id)]
        if rows:
            lines = [
                f"| {day} | {_money(made.get('pnl'))} | {made.get('trades', '')} |"
                for day, made in rows[-self.days :]
            ]
            yield "\n".join(["| day | gain in $ | trades of 30 sessions |", "|---|---|---|", *lines])

    def _compared(self) -> Iterator[str]:
        """Compare paper and backtest, with how much so few sessions can tell."""
        promised, live = self.entry.get("backtest", {}).get("sharpe"), self.paper.get("sharpe")
        if promised is None or live is None or self.days < 2:
            yield "Too little was traded to compare it with the backtest."
            return
        gap = Gap(promised, live, self.days)
        how = "lower than" if live < promised else "higher than" if live > promised else "the same as"
        yield paragraph(
            f"its Sharpe ratio on paper is {two(live)}, {how} the {two(promised)} of the backtest",
            f"it differs by {two(abs(gap.z))} standard errors of {two(gap.error)}, which so few sessions explain"
            if abs(gap.z) < 2.0
            else f"it differs by {two(abs(gap.z))} standard errors of {two(gap.error)}, for a reason that is not known",
        )

    def risks(self) -> Iterator[str]:
        said = []
        fallen = self.paper.get("max_drawdown")
        if fallen is not None:
            said.append(f"on paper its deepest drawdown was {percent(abs(fallen))}")
        if self.report is not None and len(self.report.returns):
            returns, deepest = self.report.returns, percent(self.report.metrics["max_drawdown"])
            worst, tail = percent(max(-float(returns.min()), 0.0)), percent(tail_loss(returns))
            said.append(f"on train and validation its maximum drawdown was {deepest}")
            said.append(f"its worst day lost {worst}, the worst 5 % of days lost {tail} on average")
        limit, exposure = self.entry.get("position_limit", PORTFOLIO.position), percent(PORTFOLIO.exposure, 0)
        said.append(f"a position is at most {percent(limit)} of the equity")
        said.append(f"the exposure of the whole desk is at most {exposure}")
        yield paragraph(*said)
        yield self._beside()
        yield from self._room(limit)

    def _beside(self) -> str:
        others = [
            name for name, one in self.desk["strategies"].items() if one["is_deployed"] and name != self.id
        ]
        if not others:
            return "The desk trades no other strategy."
        count = "one other strategy" if len(others) == 1 else f"{len(others)} other strategies"
        said = [f"beside it the desk trades {count}"]
        alike = self.guardian.get("correlation_with_existing")
        if alike is not None:
            said.append(
                f"the Guardian measured a correlation of {two(alike)} with the one that is most alike"
            )
        return paragraph(*said)

    def _room(self, limit: float) -> Iterator[str]:
        """Say how much of a usual day's volume a full position is, for the symbol that has the least."""
        if self.spec is None:
            return
        equity, shares = float(self.desk["equity"]), []
        for symbol in self.spec.symbols:
            bars = self.universe.bars.get(symbol)
            if bars is None or not len(bars):
                continue
            traded = float(np.median((bars.volume * bars.close)[-VOLUME_DAYS:]))
            if traded > 0.0:
                shares.append((limit * equity / traded, symbol))
        if shares:
            share, symbol = max(shares)
            yield sentence(
                f"there is room for its size: a full position is {percent(share, 3)} of the daily volume of {symbol}"
            )

    def costs(self) -> Iterator[str]:
        if self.report is not None:
            costs, turnover = self.report.costs, two(self.report.turnover_a_year)
            rates = f"{costs.commission_bps:g} bps of fees and half the spread, {costs.slippage_bps:g} bps of slippage"
            yield paragraph(
                f"the backtest pays {rates}, on all that it trades",
                f"costs take {percent(self.report.cost_a_year, 2)} of the capital a year",
                f"it trades {turnover} times the capital a year",
                "all returns here are those after costs",
            )
        slippage = self.paper.get("avg_slippage_bps")
        if slippage is None:
            yield "Nothing was filled on paper, so its costs there are not known."
        else:
            yield sentence(f"on paper slippage cost {two(float(slippage))} bps a fill")

    def way_back(self) -> Iterator[str]:
        drawdown = LIMITS["drawdown"]
        warning, halt = percent(-drawdown.warning, 0), percent(-drawdown.halt, 0)
        yield paragraph(
            f"at a drawdown of {warning} the Guardian warns, at one of {halt} the desk is halted and it stops trading",
            "when its realised Sharpe ratio of 30 sessions is negative, the Guardian flags it",
            "the Operator then withdraws it",
            "when that ratio is below half of the promised one, the Evolver wants it halved or withdrawn",
            "three faults in a row send it back to the candidates within the session",
        )

    def limitations(self) -> Iterator[str]:
        said = [
            f"its figures on paper rest on only {counted(self.days, 'session')}, which cannot tell luck from skill"
        ]
        said += [one.rstrip(".") for one in self.trader.get("execution_issues", ())]
        if self.guardian.get("risk_trend") == "deteriorating":
            said.append("the Guardian sees its risk deteriorate")
        if self.report is None:
            said.append("it could not be run on train and validation for this dossier")
        yield paragraph(*said)
        lessons = [f"* {sentence(one.summary)}" for one in self._lessons()]
        if lessons:
            yield "Memory holds of its idea:"
            yield "\n".join(lessons)

    def _lessons(self) -> Sequence[Experience]:
        if self.record is None or not self.record.hypothesis_id:
            return ()
        name = self.record.hypothesis_id
        found = (*self.memory.causal(hypothesis_id=name), *self.memory.reflections(hypothesis_id=name))
        return sorted(found, key=lambda one: one.seq)[-MOST_LESSONS:]


def _figures(metrics: Mapping[str, Any]) -> str:
    """Write the figures of a backtest that there are."""
    said = []
    if metrics.get("sharpe") is not None:
        said.append(f"a Sharpe ratio of {two(metrics['sharpe'])}")
    if metrics.get("max_drawdown") is not None:
        said.append(f"a maximum drawdown of {percent(metrics['max_drawdown'])}")
    if metrics.get("total_trades") is not None:
        said.append(counted(int(metrics["total_trades"]), "trade"))
    return listed(said) if said else ""


def _money(amount: object) -> str:
    return f"{amount:,.2f}" if isinstance(amount, int | float) else ""
