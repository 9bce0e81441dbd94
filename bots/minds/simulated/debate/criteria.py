"""The seven risk scores as words: how people write them, and how to find them in what people write."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from moot.bots.tools.strategies import ARCHETYPES
from moot.channels.showing.wording import words
from moot.protocols.research.strictness import START_THRESHOLDS

CRITERIA: Final = tuple(START_THRESHOLDS)
"""The scores of a RISK_ASSESSMENT, in its order."""

NAMES: Final = {
    "tail_risk": "tail risk",
    "overfitting": "overfitting",
    "execution_risk": "execution risk",
    "correlation_risk": "correlation risk",
    "signal_decay": "signal decay",
    "crowding_risk": "crowding",
    "event_window_risk": "event-window risk",
}
"""How a sentence names a score."""

CODES: Final = {
    "low_sharpe": "low test Sharpe",
    "few_trades": "too few trades",
    "deep_drawdown": "deep drawdown",
    "untestable": "untestable ideas",
    "conceded": "early concession",
    "no_assessment": "missing assessment",
    "low_confidence": "low confidence",
    "weak_alpha": "weak alpha",
    "override": "an override",
    "timeout": "missed deadlines",
    "silence": "missed deadlines",
    "repeats": "repeated failure",
    "few_approvals": "missing approvals",
    "principles": "standing principles",
    "cycle_budget": "lack of time",
    "revise_cap": "a second revision",
    "underperformed_live": "weak live results",
    "recalled": "a recall",
}
"""How a sentence names any other reason to fail."""

REGIMES: Final = {
    "calm_up": "calm, rising",
    "calm_down": "calm, falling",
    "volatile_up": "volatile, rising",
    "volatile_down": "volatile, falling",
}
"""How a sentence names a market."""

_STEMS: Final = {
    "tail_risk": r"tail|drawdown|crash|bad days",
    "overfitting": r"overfit|over fit|curve fit|out of sample",
    "execution_risk": r"execution|slippage|turnover|trading cost",
    "correlation_risk": r"correlat|already own|diversif",
    "signal_decay": r"decay|stale|fading",
    "crowding_risk": r"crowd|everybody does|plain momentum",
    "event_window_risk": r"event",
}
_PATTERNS: Final = {name: re.compile(rf"\b(?:{stems})", re.IGNORECASE) for name, stems in _STEMS.items()}
_ARCHETYPES: Final = {name: re.compile(rf"\b{name.replace('_', '[ _-]?')}") for name in ARCHETYPES}
_AGAINST: Final = re.compile(
    r"\b(avoid|against|stop|leave|less|no more|not|never|enough|without|doubt|tired|drop|skip)\b"
)


def mentioned(text: str) -> tuple[str, ...]:
    """Find the scores that a text speaks of, the one that it names first in front.

    Args:
        text: What a bot or a person wrote: `tail_risk`, "tail risk" and "drawdowns" all speak of one score.
    """
    plain = text.replace("_", " ").replace("-", " ")
    found = {name: match.start() for name in CRITERIA if (match := _PATTERNS[name].search(plain))}
    return tuple(sorted(found, key=lambda name: found[name]))


def archetypes_in(text: str) -> tuple[str, ...]:
    """Find the archetypes that a text names, in their own order."""
    plain = text.casefold()
    return tuple(name for name in ARCHETYPES if _ARCHETYPES[name].search(plain))


def symbols_in(text: str, symbols: Iterable[str]) -> tuple[str, ...]:
    """Find the symbols that a text names as whole words, in the order given."""
    return tuple(
        one for one in symbols if re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", text, re.IGNORECASE)
    )


def speaks_against(text: str) -> bool:
    """Say whether a text warns or turns away rather than asks for more."""
    return _AGAINST.search(text.casefold()) is not None


def spoken(name: str) -> str:
    """Turn an identifier into words: a score or a code by its name, `mean_reversion` into "mean reversion"."""
    return NAMES.get(name) or CODES.get(name) or REGIMES.get(name) or words(name)


def listed(items: Iterable[str], last: str = "and") -> str:
    """Join items as a sentence does: "a", "a and b", "a, b and c"."""
    names = list(items)
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
