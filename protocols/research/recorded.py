"""The figures of a debate's record that the log determines: what memory is learnt from is what was said (R-D13).

A record may leave any of them out, and hold others besides, which are its author's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol

from moot.protocols.kernel.figures import ByField, Exactly, Fields

if TYPE_CHECKING:
    from moot.protocols.kernel.steps import RuleInput
    from moot.protocols.research.debate import DebateState

PARAM, SYMBOL = "param.", "symbol."
"""Prefixes of the strategy itself: its parameters by name, its symbols with their places."""

FIRST: Final = "first."
"""Prefix of the strategy as it was proposed, where the debate changed it."""

SCORE: Final = "score."
"""Prefix of the Critic's last scores, by criterion."""


class _Strategy(Protocol):
    @property
    def params(self) -> Mapping[str, float]: ...

    @property
    def symbols(self) -> tuple[str, ...]: ...


def figures_of(strategy: _Strategy, prefix: str = "") -> dict[str, float]:
    """Write a strategy as figures of a record; as it was proposed with `FIRST` for a prefix."""
    params = {f"{prefix}{PARAM}{name}": value for name, value in strategy.params.items()}
    return {**params, **{f"{prefix}{SYMBOL}{symbol}": n for n, symbol in enumerate(strategy.symbols)}}


def derived(state: DebateState) -> dict[str, float]:
    """Return the figures of a debate's record that the log determines, by name."""
    found: dict[str, float] = {"revised": int(state.revised), "extended": int(state.extended)}
    if state.strategy is not None:
        found |= figures_of(state.strategy)
    if state.proposed is not None and state.proposed != state.strategy:
        found |= figures_of(state.proposed, FIRST)
    argued = {"alpha": state.alpha, "risk": state.risk, "confidence": state.confidence}
    found |= {name: value for name, value in argued.items() if value is not None}
    found |= {f"{SCORE}{name}": value for name, value in (state.scores or {}).items()}
    return found | {f"test_{name}": value for name, value in (state.tested or {}).items()}


def _record(state: DebateState, _given: RuleInput) -> Fields:
    """Hold a record to what the log says of its debate (R-D13), and to its backtest (R-D15)."""
    held = {
        name: Exactly(value, rule="R-D15" if name.startswith("test_") else "")
        for name, value in derived(state).items()
    }
    return Fields({"metrics": Fields(held)})


RECORD: Final = ByField({"record": _record})
"""What a record of a debate is held to."""
