"""One point of a debate for each score: what the Critic holds against a strategy, what can be answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from moot.bots.minds.simulated.debate.casefile import CaseFile
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.wording import Voice, percent, two
from moot.bots.tools.statistics import published
from moot.protocols.research.debate_table import PASS_DRAWDOWN, PASS_SHARPE

AGAINST: Final = Phrases("debate/critic")
IN_FAVOUR: Final = Phrases("debate/explorer")

WEAK: Final = 0.3
"""Strength below which an answer admits more than it refutes."""


@dataclass(frozen=True, slots=True)
class Point:
    """What stands behind one score.

    Attributes:
        facts: Figures that both sides quote, by the names that the phrases use.
        strength: How well the best answer holds against the figures, in [0, 1]; the Critic computes the same.
    """

    facts: Mapping[str, str]
    strength: float


def point(criterion: str, file: CaseFile) -> Point:
    """Look up what a case file says about one criterion."""
    facts, strength = _POINTS[criterion](file)
    return Point(facts, published(min(max(strength, 0.0), 1.0)))


def objection(criterion: str, file: CaseFile, voice: Voice) -> str:
    """Say in one clause what the figures behind a score are."""
    return voice.say(AGAINST[f"basis.{criterion}"], **point(criterion, file).facts)


def answer(criterion: str, file: CaseFile, voice: Voice) -> tuple[str, str]:
    """Answer an objection.

    Returns:
        The answer and the figures it rests on, one sentence each.
    """
    found = point(criterion, file)
    is_weak = found.strength < WEAK
    said = IN_FAVOUR[f"admissions.{criterion}"] if is_weak else IN_FAVOUR[f"answers.{criterion}"]
    return voice.say(said, **found.facts), grounds(criterion, file, voice)


def grounds(criterion: str, file: CaseFile, voice: Voice) -> str:
    """Say in one clause what an answer rests on."""
    return voice.say(IN_FAVOUR[f"evidence.{criterion}"], **point(criterion, file).facts)


def _tail(file: CaseFile) -> tuple[dict[str, str], float]:
    facts = {"cvar": percent(file.cvar, 2), "drawdown": percent(file.drawdown)}
    return facts, (PASS_DRAWDOWN - file.drawdown) / 0.14


def _overfitting(file: CaseFile) -> tuple[dict[str, str], float]:
    train, validation = file.train["sharpe"], file.validation["sharpe"]
    facts = {"train": two(train), "validation": two(validation), "gap": two(train - validation)}
    return facts, (validation - PASS_SHARPE / 2) / 0.8


def _execution(file: CaseFile) -> tuple[dict[str, str], float]:
    gross = file.cost + max(file.net, 0.0)
    share = file.cost / gross if gross > 0.0 else 1.0
    facts = {
        "turnover": f"{file.turnover:.1f}",
        "cost": percent(file.cost, 2),
        "net": percent(file.net),
        "share": percent(share, 0),
        "days": days(file.holding_days),
    }
    return facts, 1.0 - 2.0 * share


def _correlation(file: CaseFile) -> tuple[dict[str, str], float]:
    facts = {
        "correlation": two(file.scores["correlation_risk"]),
        "partner": file.partner or "any approved strategy",
        "shared": percent(file.shared, 0),
        "own": percent(1.0 - file.shared, 0),
    }
    return facts, 1.0 - file.shared


def _decay(file: CaseFile) -> tuple[dict[str, str], float]:
    first, second = file.halves
    facts = {
        "first": two(first),
        "second": two(second),
        "prompt": two(file.prompt),
        "late": two(file.late),
        "lost": two(file.prompt - file.late),
    }
    return facts, min(second, file.late) / 0.8


def _crowding(file: CaseFile) -> tuple[dict[str, str], float]:
    own = file.validation["sharpe"]
    facts = {
        "crowding": two(file.scores["crowding_risk"]),
        "own": two(own),
        "market": two(file.market_sharpe),
        "lead": two(own - file.market_sharpe),
    }
    return facts, (own - file.market_sharpe) / 0.6


def _events(file: CaseFile) -> tuple[dict[str, str], float]:
    facts = {
        "share": percent(file.scores["event_window_risk"], 0),
        "trades": str(file.trades),
        "wins": percent(file.validation["win_rate"], 0),
    }
    return facts, (file.trades - 60) / 160


def days(length: float) -> str:
    """Write a holding period."""
    return "a day" if length < 1.5 else f"{length:.0f} days"


_POINTS: Final[Mapping[str, Callable[[CaseFile], tuple[dict[str, str], float]]]] = {
    "tail_risk": _tail,
    "overfitting": _overfitting,
    "execution_risk": _execution,
    "correlation_risk": _correlation,
    "signal_decay": _decay,
    "crowding_risk": _crowding,
    "event_window_risk": _events,
}
