"""How well simulated societies argue, read from their logs: `python -m tests.soak.argument DIR...` prints a table.

The true Sharpe ratio of a strategy is what it earns on the test split, which no seat saw when it was debated, averaged
over draws of the simulated stocks' own noise other than the society's; the real indices stay as they are.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections import Counter
from datetime import datetime
from functools import cache
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, Final

from moot.bots.minds.simulated.debate.specs import spec_of
from moot.bots.tools.backtest import backtest
from moot.bots.tools.errors import ToolError
from moot.bots.tools.prices import load_universe
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.protocols.kernel.docket import Docket
from moot.protocols.research.debate import DebateState
from moot.protocols.rulebook import rules
from moot.simulation.arguing import Arguing
from moot.stored import stored_envelopes

DRAWS: Final = 12
FIRST_DRAW: Final = 900_001
"""Seeds of the draws; societies have others."""


def read(directory: Path) -> dict[str, Any]:
    """Return the figures of one society."""
    docket, arguing = Docket(rules()), Arguing()
    debates: list[tuple[str, StrategySpec]] = []
    weekly: list[dict[str, Any]] = []
    thresholds: list[str] = []
    production: dict[str, str] = {}
    peak: Counter[str] = Counter()
    archetypes: dict[str, str] = {}
    passed = failed = recalls = 0
    start = last = None
    for env in stored_envelopes(directory):
        fx = docket.fold(env)
        arguing.take(env, fx)
        start, last = start or env.sent_at, env.sent_at
        body = env.body
        if body.type == "META_REFLECTION":
            weekly.append({"override": body.critic_override_rate})  # type: ignore[attr-defined]
        elif body.type == "THRESHOLD_REVIEW":
            thresholds.append(body.recommendation)  # type: ignore[attr-defined]
        elif body.type == "STRATEGY_MOVED" and fx.violation is None:
            name = body.strategy_id  # type: ignore[attr-defined]
            if body.strategy is not None:  # type: ignore[attr-defined]
                archetypes[name] = body.strategy.archetype  # type: ignore[attr-defined]
            if body.to == "production":  # type: ignore[attr-defined]
                production[name] = archetypes.get(name, "?")
                peak[production[name]] += 1
            elif name in production and body.to != "production":  # type: ignore[attr-defined]
                production.pop(name)
                recalls += 1
        for state in fx.ended:
            if isinstance(state, DebateState) and state.strategy is not None and state.linked is None:
                debates.append((state.verdict or "none", spec_of(state.strategy)))
                passed += state.passed is True
                failed += state.passed is False
    assert start is not None and last is not None
    truth: dict[str, list[float]] = {"APPROVE": [], "REJECT": []}
    for verdict, spec in debates:
        if verdict in truth and (value := true_sharpe(spec, start, last)) is not None:
            truth[verdict].append(value)
    return {
        "seed": directory.name,
        **arguing.as_json(),
        "verdicts": dict(Counter(verdict for verdict, _ in debates)),
        "backtests": [passed, failed],
        "left_production": recalls,
        "true_sharpe": {name: [len(v), round(mean(v), 4) if v else None] for name, v in truth.items()},
        "promoted": dict(peak),
        "production": dict(Counter(production.values())),
        "override": [one["override"] for one in weekly],
        "thresholds": thresholds,
        "correlations": [round(one, 4) for one in arguing.correlations],
    }


@cache
def _universes(start: datetime, last: datetime) -> tuple[Universe, ...]:
    return tuple(load_universe("sample", start=start, seed=FIRST_DRAW + n).until(last) for n in range(DRAWS))


def true_sharpe(spec: StrategySpec, start: datetime, last: datetime) -> float | None:
    """Return what a strategy earns where nobody looked, on average over the draws; None where it cannot trade."""
    try:
        found = [backtest(spec, one, splits(one).test).metrics["sharpe"] for one in _universes(start, last)]
    except ToolError:
        return None
    return mean(found)


def summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of all societies together."""

    def total(name: str) -> Counter[str]:
        return sum((Counter(row[name]) for row in rows), Counter())

    changed, unchanged = total("rebuttals_with_change"), total("rebuttals_without_change")
    extended, promoted, production = total("after_extension"), total("promoted"), total("production")
    gaps = [
        row["true_sharpe"]["APPROVE"][1] - row["true_sharpe"]["REJECT"][1]
        for row in rows
        if row["true_sharpe"]["APPROVE"][1] is not None and row["true_sharpe"]["REJECT"][1] is not None
    ]
    alike = [one for row in rows for one in row["correlations"]]
    t = mean(gaps) / (stdev(gaps) / len(gaps) ** 0.5) if len(gaps) > 1 else None
    return {
        "societies": len(rows),
        "verdicts": dict(total("verdicts")),
        "with a change": dict(changed),
        "without a change": dict(unchanged),
        "after an extension": dict(extended),
        "backtests passed, failed": [sum(row["backtests"][n] for row in rows) for n in (0, 1)],
        "true Sharpe": {
            name: round(
                sum(r["true_sharpe"][name][0] * (r["true_sharpe"][name][1] or 0) for r in rows)
                / max(sum(r["true_sharpe"][name][0] for r in rows), 1),
                3,
            )
            for name in ("APPROVE", "REJECT")
        },
        "gap by society: mean, t": [round(mean(gaps), 3), round(t, 2) if t is not None else None],
        "promoted": dict(promoted),
        "left production": sum(row["left_production"] for row in rows),
        "in production at the end": dict(production),
        "largest share of production by society": [
            round(max(row["production"].values()) / sum(row["production"].values()), 2)
            for row in rows
            if row["production"]
        ],
        "approvals above 0.7, 0.8; median": [
            sum(one > 0.7 for one in alike),
            sum(one > 0.8 for one in alike),
            round(median(alike), 3),
        ]
        if alike
        else None,
        "weeks with an override": sum(one > 0 for row in rows for one in row["override"]),
        "weeks": sum(len(row["override"]) for row in rows),
        "threshold reviews": dict(Counter(one for row in rows for one in row["thresholds"])),
        "societies with a change of thresholds": sum(
            any(one != "keep" for one in row["thresholds"]) for row in rows
        ),
    }


def main() -> int:
    """Print the figures of all societies together, as JSON."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rows = pool.map(read, [Path(one) for one in sys.argv[1:]])
    sys.stdout.write(json.dumps(summed(rows), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
