"""Who posts the messages of System B, and where: one row a type."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Right
from moot.protocols.kernel.rights import ADMIN, ADMIN_CHANNEL, REFEREE, TIMEKEEPER
from moot.protocols.kernel.seats import Seat

OPERATOR: Final = frozenset({Seat.OPERATOR})
GUARDIAN: Final = frozenset({Seat.GUARDIAN})
TRADER: Final = frozenset({Seat.TRADER})
EVOLVER: Final = frozenset({Seat.EVOLVER})

OPS: Final = frozenset({"#b-ops"})
DESK: Final = frozenset({"#b-desk"})
RISK: Final = frozenset({"#b-risk"})
REPORTS: Final = frozenset({"#b-report"})
BRIDGE: Final = frozenset({"#bridge"})

RIGHTS: Final = (
    Right("TRADING_DAY", TIMEKEEPER, OPS),
    Right("DEPLOY_PROPOSAL", OPERATOR, OPS),
    Right("DEPLOY_REVIEW", GUARDIAN | TRADER, OPS),
    Right("DEPLOY_DECISION", OPERATOR, OPS),
    Right("DEPLOY_NOTICE", OPERATOR, OPS),
    Right("RISK_CHECK", GUARDIAN, RISK),
    Right("RISK_ALERT", GUARDIAN, RISK),
    Right("RISK_DISCUSSION", OPERATOR, OPS),
    Right("RISK_PROJECTION", GUARDIAN, OPS),
    Right("FEASIBILITY", TRADER, OPS),
    Right("RISK_DECISION", OPERATOR, OPS),
    # The Operator only while the Guardian is silent, the admin's confirmation likewise: the case looks (R-B13).
    Right("HALT", GUARDIAN | OPERATOR | ADMIN, RISK),
    Right("RESUME", OPERATOR | ADMIN, OPS),
    Right("RESUME_CONFIRMED", GUARDIAN | ADMIN, RISK),
    Right("PROMOTION_PROPOSAL", OPERATOR, OPS),
    Right("PROMOTION_REVIEW", GUARDIAN | TRADER, OPS),
    Right("PROMOTION_DECISION", OPERATOR, OPS),
    Right("SIGNAL", TRADER, DESK),
    Right("ORDER", TRADER, DESK),
    Right("NO_ORDER", TRADER, DESK),
    Right("EXECUTION", TRADER, DESK),
    Right("DESK_CHECK", TRADER, DESK),
    Right("PRE_MARKET_CHECK", OPERATOR, OPS),
    Right("MARKET_CLOSE", OPERATOR, OPS),
    Right("CHECK_NEW_STRATEGIES", OPERATOR, OPS),
    Right("OVERNIGHT_RISK_CHECK", GUARDIAN, RISK),
    Right("RECALL_FLAG", GUARDIAN, RISK),
    Right("TRADING_SUMMARY", OPERATOR, REPORTS),
    Right("DAILY_TRADING_REPORT", OPERATOR, REPORTS),
    Right("WEEKLY_TRADING_REPORT", OPERATOR, REPORTS),
    Right("METRICS_RECORDED", GUARDIAN, BRIDGE),
    Right("PERFORMANCE_FEEDBACK", EVOLVER, BRIDGE),
    Right("FEEDBACK_RESPONSE", OPERATOR, BRIDGE),
    Right("RECALL_REQUEST", OPERATOR, BRIDGE),
    Right("HEALTH_CHECK", REFEREE, ADMIN_CHANNEL),
)
