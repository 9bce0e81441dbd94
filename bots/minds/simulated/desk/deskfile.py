"""What the Operator reads of a brief: its subject, the desk, the strategy in question, fields that are fixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from moot.bots.minds.generic import filled
from moot.bots.minds.simulated.turn import Turn
from moot.bots.tools.strategies import StrategySpec
from moot.protocols.kernel.message import Message

M = TypeVar("M", bound=Message)


def subject(turn: Turn) -> str:
    """Return what an obligation is about: a strategy's id, a metric."""
    return str(turn.view.brief.get("subject", ""))


def desk(turn: Turn) -> Mapping[str, Any]:
    """Return the desk as the brief shows it, see `moot.protocols.trading.briefing`."""
    found: Mapping[str, Any] = turn.view.brief["desk"]
    return found


def known(turn: Turn, strategy_id: str = "") -> Mapping[str, Any]:
    """Return what the desk knows of a strategy, by default the one in question; empty when nothing."""
    found: Mapping[str, Any] = desk(turn)["strategies"].get(strategy_id or subject(turn), {})
    return found


def spec_of(known_as: Mapping[str, Any]) -> StrategySpec | None:
    """Return a strategy as the desk knows it; None when the log does not say what it trades."""
    if not known_as.get("archetype"):
        return None
    return StrategySpec(known_as["archetype"], dict(known_as["params"]), tuple(known_as["symbols"]))


def filled_in(kind: type[M], turn: Turn, **said: Any) -> M:
    """Make a message of what the brief fixes, by field name, and of what is said besides.

    Args:
        kind: Its class.
        turn: The brief.
        **said: Fields of the mind's own choice; they win.
    """
    return filled(kind, {**turn.view.brief, **said}, turn.rng("filling"), turn.now)
