"""The scope of the architecture debate: the system, never a single strategy's parameter (spec 3.1, R-D16)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

PLAIN: Final = ("channel", "entry", "exit", "fast", "slow", "threshold", "window")
"""Parameters of archetypes whose names are everyday words."""

PARAMETERS: Final = frozenset(PLAIN) | {
    "allow_short",
    "exit_channel",
    "momentum_days",
    "momentum_weight",
    "reversal_days",
    "reversal_weight",
    "target_vol",
    "volatility_days",
    "volatility_weight",
}
"""Every parameter of every archetype that the society's strategies are made of."""

ALSO: Final = ("lookback", "stop_loss", "take_profit")
"""What a strategy's numbers are called besides."""


def _any_of(names: Iterable[str]) -> str:
    """Match one of some names as a whole, its parts joined in any way."""
    return rf"\b(?:{'|'.join(name.replace('_', '[ _-]?') for name in sorted(names, reverse=True))})\b"


_EVERYDAY: Final = _any_of(PLAIN)
_OWN: Final = _any_of((PARAMETERS - set(PLAIN)) | set(ALSO))
_NAME: Final = f"(?:{_OWN}|{_EVERYDAY})"
_NUMBER: Final = r"[-−]?\.?\d"
_BOUND: Final = rf"\s*(?:=|:|\b(?:to|from|at|by|of)\b)\s*{_NUMBER}"
_SET: Final = r"\b(?:set|lower|raise|increase|decrease|reduce|change|move|put|tune|cut|widen|shorten|use)\s+"
_ARCHETYPE: Final = r"\b(?:momentum|mean[ _-]?reversion|break-?out|multi[ _-]?factor)\b"
_STRATEGY: Final = (
    r"\b(?:strategy\s+\w*[_\d]\w*"
    r"|(?:the|this|that|one|our)\s+(?:[\w-]+\s+){0,2}(?:strategy|hypothesis)\b"
    rf"(?=\s*(?:$|[.,;:)]|(?:and|is|so|with)\b|(?:at|by|from|to)\s+{_NUMBER})))"
)
_WHOSE: Final = rf"(?:{_ARCHETYPE}(?:\s+strategy)?|\b(?:strategy|hypothesis))['’]s\s+"

PARAMETER_TALK: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"\b(hyp|strat|strategy|lin)_\d",
        r"\bparameters? (of|for|in) (the |a |one )?(single |individual |\w+ )?strateg",
        r"\b(single|individual) strateg\w+('s)? param",
        r"\bstrategy('s)?[ _-]param",
        rf"{_OWN}\s*(?:=|:|\b(?:to|from|at|by)\b)\s*{_NUMBER}",
        rf"{_EVERYDAY}\s*=\s*{_NUMBER}",
        rf"{_SET}{_EVERYDAY}{_BOUND}",
        rf"{_NAME}{_BOUND}[^.;\n]{{0,80}}?\b(?:for|of|in|on)\s+(?:the\s+)?{_ARCHETYPE}",
        rf"{_NAME}\s+(?:\w+\s+)?(?:for|of|in)\s+(?:the\s+)?{_ARCHETYPE}(?:\s+[\w-]+)?{_BOUND}",
        rf"{_NAME}\s+(?:\w+\s+)?(?:for|of|in)\s+{_STRATEGY}",
        rf"{_NAME}{_BOUND}[^.;\n]{{0,80}}?\b(?:for|of|in|on)\s+{_STRATEGY}",
        rf"{_ARCHETYPE}(?:\s+[\w-]+){{0,2}}\s+{_NAME}{_BOUND}",
        rf"{_WHOSE}(?:\w+\s+)?{_NAME}",
    )
)
"""How a text names a single strategy's parameter: a strategy's id, or a name bound to a value or to a strategy."""


def names_a_parameter(*texts: str) -> bool:
    """Say whether one of some texts names a single strategy's parameter, which no architecture debate is about."""
    return any(pattern.search(text) for pattern in PARAMETER_TALK for text in texts)
