"""Strategies: what a hypothesis would trade, how its backtest went, which store holds it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from moot.protocols.kernel.fields import Day, Minted, Numbers, Several
from moot.protocols.kernel.message import Count, Ident, Message, Number, Part, Share, Text

Stage = Literal["candidates", "staging", "production", "withdrawn"]
"""Where a strategy stands."""


class Strategy(Part):
    """An executable strategy: an archetype and its numbers, applied to symbols."""

    archetype: Ident
    params: Numbers
    symbols: Several[Ident]


class BacktestMetrics(Part):
    """The figures of one backtest; `profit_factor` is None when no trade lost."""

    sharpe: Number
    max_drawdown: Number
    win_rate: Share
    total_trades: Count
    profit_factor: Number | None
    annual_return: Number


class Split(Part):
    """The days of data a backtest ran on, both included."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    from_: Day = Field(validation_alias="from", serialization_alias="from")
    to: Day


class BacktestResult(Message):
    """Say how an approved strategy fared on data no seat has seen. Evolver, #a-verdict (R-D15)."""

    case_field: ClassVar[str] = "hypothesis_id"
    type: Literal["BACKTEST_RESULT"] = "BACKTEST_RESULT"
    hypothesis_id: Minted = ""
    passed: bool
    reason: Text
    metrics: BacktestMetrics
    split: Split
    equity_ref: Minted


class StrategyMoved(Message):
    """Move a strategy between stores. Evolver (to candidates), Operator, Admin; Referee (R-F7), #bridge (R-D20).

    It belongs to whatever case moves it, which the envelope names; `hypothesis_id` is the debate that it came from.
    Outside one a bot takes nothing up that was not approved and passed (R-D15), nothing into staging or production.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    type: Literal["STRATEGY_MOVED"] = "STRATEGY_MOVED"
    hypothesis_id: Minted = ""
    strategy_id: Ident
    from_: Stage | None = Field(validation_alias="from", serialization_alias="from")
    to: Stage
    reason: Text
    strategy: Strategy | None = None
