"""Who posts the messages of System B, and where: one row a type."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.rights import ADMIN_CHANNEL
from moot.protocols.kernel.seats import ADMIN, REFEREE, TIMEKEEPER
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

OPS: Final = frozenset({"#b-ops"})
DESK: Final = frozenset({"#b-desk"})
RISK: Final = frozenset({"#b-risk"})
REPORTS: Final = frozenset({"#b-report"})
BRIDGE: Final = frozenset({"#bridge"})

CHANNELS: Final = (
    Channel("#b-ops", "B", "deployments, promotions, risk decisions"),
    Channel("#b-desk", "B", "signals, orders, executions"),
    Channel("#b-risk", "B", "the Guardian's alerts and halts"),
    Channel("#b-report", "B", "trading reports"),
    Channel("#bridge", "both", "what passes between the two systems", "People"),
)

RIGHTS: Final = (
    Right("TRADING_DAY", frozenset({TIMEKEEPER}), OPS),
    Right("DEPLOY_PROPOSAL", frozenset({OPERATOR}), OPS),
    Right("DEPLOY_REVIEW", frozenset({GUARDIAN, TRADER}), OPS),
    Right("DEPLOY_DECISION", frozenset({OPERATOR}), OPS),
    Right("DEPLOY_NOTICE", frozenset({OPERATOR}), OPS),
    Right("RISK_CHECK", frozenset({GUARDIAN}), RISK),
    Right("RISK_ALERT", frozenset({GUARDIAN}), RISK),
    Right("RISK_DISCUSSION", frozenset({OPERATOR}), OPS),
    Right("RISK_PROJECTION", frozenset({GUARDIAN}), OPS),
    Right("FEASIBILITY", frozenset({TRADER}), OPS),
    Right("RISK_DECISION", frozenset({OPERATOR}), OPS),
    # The Operator only while the Guardian is silent, the admin's confirmation likewise: the case looks (R-B13).
    Right("HALT", frozenset({GUARDIAN, OPERATOR, ADMIN}), RISK),
    Right("RESUME", frozenset({OPERATOR, ADMIN}), OPS),
    Right("RESUME_CONFIRMED", frozenset({GUARDIAN, ADMIN}), RISK),
    Right("PROMOTION_PROPOSAL", frozenset({OPERATOR}), OPS),
    Right("PROMOTION_REVIEW", frozenset({GUARDIAN, TRADER}), OPS),
    Right("PROMOTION_DECISION", frozenset({OPERATOR}), OPS),
    Right("SIGNAL", frozenset({TRADER}), DESK),
    Right("ORDER", frozenset({TRADER}), DESK),
    Right("NO_ORDER", frozenset({TRADER}), DESK),
    Right("EXECUTION", frozenset({TRADER}), DESK),
    Right("DESK_CHECK", frozenset({TRADER}), DESK),
    Right("PRE_MARKET_CHECK", frozenset({OPERATOR}), OPS),
    Right("MARKET_CLOSE", frozenset({OPERATOR}), OPS),
    Right("CHECK_NEW_STRATEGIES", frozenset({OPERATOR}), OPS),
    Right("OVERNIGHT_RISK_CHECK", frozenset({GUARDIAN}), RISK),
    Right("RECALL_FLAG", frozenset({GUARDIAN}), RISK),
    Right("TRADING_SUMMARY", frozenset({OPERATOR}), REPORTS),
    Right("DAILY_TRADING_REPORT", frozenset({OPERATOR}), REPORTS),
    Right("WEEKLY_TRADING_REPORT", frozenset({OPERATOR}), REPORTS),
    Right("METRICS_RECORDED", frozenset({GUARDIAN}), BRIDGE),
    Right("PERFORMANCE_FEEDBACK", frozenset({EVOLVER}), BRIDGE),
    Right("FEEDBACK_RESPONSE", frozenset({OPERATOR}), BRIDGE),
    Right("RECALL_REQUEST", frozenset({OPERATOR}), BRIDGE),
    Right("HEALTH_CHECK", frozenset({REFEREE}), ADMIN_CHANNEL),
)

ABROAD: Final = (
    Right("STRATEGY_MOVED", frozenset({OPERATOR}), BRIDGE),
    Right("PANEL_OPENED", frozenset({OPERATOR}), frozenset({"#r-panel"})),
)
"""What System B may post of other protocols."""
