"""The protocol of System B."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.protocol import Protocol, declared
from moot.protocols.kernel.rules import Minted
from moot.protocols.kernel.seats import ADMIN, REFEREE, TIMEKEEPER
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading import (
    acts,
    grounds,
    limits,
    messages,
    moves,
    rights,
    seats,
    trade_fills,
    triggers,
    wording,
)
from moot.protocols.trading.alert import ALERT
from moot.protocols.trading.book import Book
from moot.protocols.trading.bridge_cases import FEEDBACK, RECALL
from moot.protocols.trading.deploy import DEPLOYMENT
from moot.protocols.trading.desk_calendar import DeskCalendar
from moot.protocols.trading.halt import HALT, check_resume
from moot.protocols.trading.health import Health
from moot.protocols.trading.life import Life
from moot.protocols.trading.policies import DeskPolicies
from moot.protocols.trading.promotion import PROMOTION
from moot.protocols.trading.session import SESSION
from moot.protocols.trading.trade import TRADE

PROTOCOL: Final = Protocol(
    name="trading",
    messages=declared(messages),
    wording=wording.WORDING,
    grounds=grounds.GROUNDS,
    duties=wording.DUTIES,
    urgent=frozenset({"RISK_ALERT", "HALT", "RESUME", "RESUME_CONFIRMED"}),
    marks={"HALT": "halt"},
    # The desk measures its risk every five minutes and looks for signals every fifteen; what it finds is shown.
    quiet={
        "RISK_CHECK": lambda body: not limits.breaches(body),
        "DESK_CHECK": lambda body: body.signals == 0 and not body.faults,
        "CHECK_NEW_STRATEGIES": lambda body: not body.found,
        "HEALTH_CHECK": lambda body: body.status == "HEALTHY",
    },
    seats=seats.SEATS,
    uses=(EVOLVER, ADMIN, REFEREE, TIMEKEEPER),
    switch="desk",
    channels=rights.CHANNELS,
    rights=(*rights.RIGHTS, *rights.ABROAD),
    cases=(SESSION, TRADE, DEPLOYMENT, PROMOTION, ALERT, HALT, FEEDBACK, RECALL),
    folds=(Life, Book, DeskPolicies),
    cycles=(DeskCalendar, Health),
    sources=triggers.sources,
    caseless={
        "STRATEGY_MOVED": moves.check_moved,
        "EXECUTION": trade_fills.check_execution,
        "RESUME": check_resume,
    },
    acts=acts.ACTS,
    minted={
        "DEPLOY_PROPOSAL": Minted(("deployment_id",), "dep", True),
        "PROMOTION_PROPOSAL": Minted(("promotion_id",), "prom", True),
        "RISK_ALERT": Minted(("alert_id",), "alert", True),
        "HALT": Minted(("halt_id",), "halt", True),
        "SIGNAL": Minted(("signal_id",), "sig", True),
        "EXECUTION": Minted(("execution_id",), "exec", True),
        "PERFORMANCE_FEEDBACK": Minted(("feedback_id",), "fb", True),
        "RECALL_FLAG": Minted(("recall_id",), "recall", True),
    },
)
