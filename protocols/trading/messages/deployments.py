"""Deployment and promotion: proposals, reviews, decisions, notices (spec 4.1, 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from moot.protocols.kernel.fields import FrozenJson, Minted, Numbers, Several
from moot.protocols.kernel.message import Count, Ident, Message, Number, Part, Share, Text
from moot.protocols.research.messages.strategies import Stage

OrderType = Literal["market", "limit"]
Form = Literal["guardian", "trader"]
Recommendation = Literal["approve", "extend_validation", "reject"]


def _only(review: Message, forms: Mapping[str, tuple[str, ...]]) -> None:
    """Check that a review of two forms fills the fields of its own form and leaves the other's.

    Raises:
        ValueError: It does not; the field is named.
    """
    form: str = review.form  # type: ignore[attr-defined]
    for name, fields in forms.items():
        for field in fields:
            value = getattr(review, field)
            if name == form and value is None:
                raise ValueError(f"the {form}'s form needs {field}")
            if name != form and value is not None and value != ():
                raise ValueError(f"{field} belongs to the {name}'s form")


class DeployProposal(Message):
    """Propose to deploy a strategy that stands in staging. Operator, #b-ops (spec 4.1)."""

    case_field: ClassVar[str] = "deployment_id"
    type: Literal["DEPLOY_PROPOSAL"] = "DEPLOY_PROPOSAL"
    deployment_id: Minted = ""
    session_id: Minted = ""
    strategy_id: Ident
    backtest_metrics: Numbers
    risk_profile: FrozenJson


class DeployReview(Message):
    """Review a deployment: its risk, or whether it can be executed. Guardian or Trader, #b-ops (spec 4.1).

    `recommended_position_limit` is a share of the equity.
    """

    case_field: ClassVar[str] = "deployment_id"
    forms: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "guardian": ("risk_assessment", "concerns", "recommended_position_limit"),
        "trader": ("executability", "liquidity_concern", "suggested_order_type", "estimated_slippage_bps"),
    }
    type: Literal["DEPLOY_REVIEW"] = "DEPLOY_REVIEW"
    deployment_id: Minted = ""
    form: Form
    risk_assessment: Literal["acceptable", "elevated", "excessive"] | None = None
    concerns: Several[Text] = ()
    recommended_position_limit: Share | None = None
    executability: Literal["ready", "needs_adjustment"] | None = None
    liquidity_concern: bool | None = None
    suggested_order_type: OrderType | None = None
    estimated_slippage_bps: Number | None = None

    @model_validator(mode="after")
    def _is_of_one_form(self) -> DeployReview:
        _only(self, self.forms)
        return self


class DeployParameters(Part):
    """What a deployment was agreed on; `position_limit` is a share of the equity."""

    position_limit: Share | None = None
    order_type: OrderType | None = None


class DeployDecision(Message):
    """Decide on a deployment by the decision table. Operator, #b-ops (spec 4.1, R-B1)."""

    case_field: ClassVar[str] = "deployment_id"
    type: Literal["DEPLOY_DECISION"] = "DEPLOY_DECISION"
    deployment_id: Minted = ""
    decision: Literal["DEPLOY", "DEPLOY_MODIFIED", "REJECT", "ESCALATE"]
    row: Count
    parameters: DeployParameters = DeployParameters()
    feedback: Text | None = None


class DeployNotice(Message):
    """Say that a strategy is staged, promoted or withdrawn. Operator, #b-ops (R-B12)."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    type: Literal["DEPLOY_NOTICE"] = "DEPLOY_NOTICE"
    action: Literal["STAGE", "PROMOTE", "WITHDRAW"]
    strategy_id: Ident
    from_: Stage | None = Field(validation_alias="from", serialization_alias="from")
    to: Stage
    validation_period_days: Count | None = None
    reason: Text


class PromotionProposal(Message):
    """Propose to promote a strategy that was traded on paper. Operator, #b-ops (spec 4.3, R-B3)."""

    case_field: ClassVar[str] = "promotion_id"
    type: Literal["PROMOTION_PROPOSAL"] = "PROMOTION_PROPOSAL"
    promotion_id: Minted = ""
    session_id: Minted = ""
    strategy_id: Ident
    paper_trading_metrics: Numbers
    days: Count


class PromotionReview(Message):
    """Review a promotion: live risk, or execution quality. Guardian or Trader, #b-ops (spec 4.3)."""

    case_field: ClassVar[str] = "promotion_id"
    forms: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "guardian": ("risk_trend", "max_drawdown_observed", "correlation_with_existing"),
        "trader": ("avg_slippage_bps", "fill_rate", "execution_issues"),
    }
    type: Literal["PROMOTION_REVIEW"] = "PROMOTION_REVIEW"
    promotion_id: Minted = ""
    form: Form
    risk_trend: Literal["improving", "stable", "deteriorating"] | None = None
    max_drawdown_observed: Number | None = None
    correlation_with_existing: Number | None = None
    avg_slippage_bps: Number | None = None
    fill_rate: Share | None = None
    execution_issues: Several[Text] = ()
    recommendation: Recommendation

    @model_validator(mode="after")
    def _is_of_one_form(self) -> PromotionReview:
        _only(self, self.forms)
        return self


class PromotionDecision(Message):
    """Decide on a promotion by the decision table. Operator, #b-ops (spec 4.3, R-B3)."""

    case_field: ClassVar[str] = "promotion_id"
    type: Literal["PROMOTION_DECISION"] = "PROMOTION_DECISION"
    promotion_id: Minted = ""
    decision: Literal["PROMOTE", "EXTEND", "REJECT"]
    row: Count
    extensions: Count
