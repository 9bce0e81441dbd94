"""The rulebook: every protocol of Moot put together.

One union of all messages, one permission matrix, one table of openers, one list of folds. This module and
`codec` are the only ones that know all protocols; the kernel gets what they assemble as a `Rules`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Union

from pydantic import Field, TypeAdapter

from moot.protocols.arena import messages as arena_messages
from moot.protocols.arena import rights as arena_rights
from moot.protocols.arena import seats as arena_seats
from moot.protocols.arena.run import RUN
from moot.protocols.escalation import messages as escalation_messages
from moot.protocols.escalation import rights as escalation_rights
from moot.protocols.escalation.case import ESCALATION
from moot.protocols.escalation.mode import Modes
from moot.protocols.escalation.watch import Watch
from moot.protocols.kernel import anchors, officers, people, stop, tenure
from moot.protocols.kernel import rights as kernel_rights
from moot.protocols.kernel import seats as kernel_seats
from moot.protocols.kernel.case import CaseType
from moot.protocols.kernel.catalogue import ANY, Matrix, Viewers
from moot.protocols.kernel.context import Fold, RuleContext
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.naming import People
from moot.protocols.kernel.rules import Minted, Rules
from moot.protocols.panel import messages as panel_messages
from moot.protocols.panel import rights as panel_rights
from moot.protocols.panel import seats as panel_seats
from moot.protocols.panel import triggers_watch as panel_triggers
from moot.protocols.panel.panel import PANEL
from moot.protocols.panel.rounds import Rounds
from moot.protocols.research import messages as research_messages
from moot.protocols.research import rights as research_rights
from moot.protocols.research import seats as research_seats
from moot.protocols.research import triggers
from moot.protocols.research.architecture_table import ARCHITECTURE
from moot.protocols.research.calendar import Calendar
from moot.protocols.research.cycle import CYCLE
from moot.protocols.research.daily import DAILY
from moot.protocols.research.debate_machine import DEBATE
from moot.protocols.research.ledger import Ledger
from moot.protocols.research.policies import Policies, check_record
from moot.protocols.trading import life, trade_fills
from moot.protocols.trading import messages as trading_messages
from moot.protocols.trading import rights as trading_rights
from moot.protocols.trading import seats as trading_seats
from moot.protocols.trading import triggers as trading_triggers
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

VERSION: Final = "1"
"""Version of the rules; cases are pinned to the one at their opening (K4)."""

MODULES: Final = (
    officers,
    people,
    escalation_messages,
    research_messages,
    trading_messages,
    arena_messages,
    panel_messages,
)


def _classes() -> dict[str, type[Message]]:
    found = {}
    for module in MODULES:
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Message) and "type" in value.model_fields:
                name = value.model_fields["type"].default
                if isinstance(name, str):
                    found[name] = value
    return dict(sorted(found.items()))


MESSAGES: Final = _classes()
"""Every message class by its `type`."""

if TYPE_CHECKING:
    AnyMessage = Message
else:
    AnyMessage = Annotated[Union[tuple(MESSAGES.values())], Field(discriminator="type")]  # noqa: UP007
    """Any message, told apart by `type`."""

ANY_MESSAGE: Final[TypeAdapter[Message]] = TypeAdapter(AnyMessage)

ROWS: Final = (
    *kernel_rights.RIGHTS,
    *escalation_rights.RIGHTS,
    *research_rights.RIGHTS,
    *trading_rights.RIGHTS,
    *arena_rights.RIGHTS,
    *panel_rights.RIGHTS,
    *research_rights.ABROAD,
    *trading_rights.ABROAD,
)
"""The rows of the permission matrix."""

CHANNELS: Final = (
    *research_rights.CHANNELS,
    *trading_rights.CHANNELS,
    *kernel_rights.CHANNELS,
    *arena_rights.CHANNELS,
    *panel_rights.CHANNELS,
)
"""All channels."""

CHANNEL_NAMES: Final = frozenset(channel.name for channel in CHANNELS)

SEATS: Final = (
    *research_seats.SEATS,
    *trading_seats.SEATS,
    *arena_seats.SEATS,
    *panel_seats.SEATS,
    *kernel_seats.SEATS,
)
"""All seats, with what is said of them."""

INFO: Final = {info.seat: info for info in SEATS}
"""What is said of each seat."""

BOTS: Final = frozenset(info.seat for info in SEATS) - kernel_seats.OFFICERS - kernel_seats.PEOPLE
"""Seats that a mind fills and that a person may take."""

CHANNEL_OF: Final = {
    row.type: next(iter(row.channels)) for row in ROWS if len(row.channels) == 1 and row.channels != ANY
}
"""The channel of every type that has one of its own."""

CASE_TYPES: Final[dict[str, CaseType]] = {
    case_type.kind: case_type
    for case_type in (
        *(CYCLE, DEBATE, DAILY, ARCHITECTURE, ESCALATION),
        *(SESSION, TRADE, DEPLOYMENT, PROMOTION, ALERT, HALT, FEEDBACK, RECALL),
        *(RUN, PANEL),
    )
}

MINTED: Final[dict[str, Minted]] = {
    "CYCLE_TRIGGER": Minted(("cycle_id",), "cycle", True),
    "HYPOTHESIS": Minted(("hypothesis_id",), "hyp", True, also="lineage_id"),
    "ESCALATION": Minted(("escalation_id",), "esc", True),
    "CAUSAL_RECORD": Minted(("record", "record_id"), "cau", False),
    "REFLECTION": Minted(("record", "record_id"), "ref", False),
    "PRINCIPLE_SYNTHESIS": Minted(("principles", "principle_id"), "prin", False, each=True),
    "ARCHITECTURE_PROPOSAL": Minted(("proposals", "change_id"), "arch", False, each=True),
    "DEPLOY_PROPOSAL": Minted(("deployment_id",), "dep", True),
    "PROMOTION_PROPOSAL": Minted(("promotion_id",), "prom", True),
    "RISK_ALERT": Minted(("alert_id",), "alert", True),
    "HALT": Minted(("halt_id",), "halt", True),
    "SIGNAL": Minted(("signal_id",), "sig", True),
    "EXECUTION": Minted(("execution_id",), "exec", True),
    "PERFORMANCE_FEEDBACK": Minted(("feedback_id",), "fb", True),
    "RECALL_FLAG": Minted(("recall_id",), "recall", True),
    "OVERRIDE": Minted(("override_id",), "ovr", True),
    "ARENA_TASK": Minted(("run_id",), "arena", True),
    "PANEL_OPENED": Minted(("panel_id",), "panel", True),
}
"""Ids that the sequencer counts (R-D12, K20)."""


def _folds() -> Sequence[Fold]:
    return (
        Ledger(),
        Policies(),
        tenure.Tenures(),
        stop.Stops(),
        Life(),
        Book(),
        People(INFO),
        DeskPolicies(),
        Modes(),
        Rounds(),
        Watch((*triggers.sources(), *trading_triggers.sources(), *panel_triggers.sources())),
        Calendar(),
        DeskCalendar(),
        Health(),
        anchors.Anchors(),
    )


def _resembles(expected: Message, given: Message, context: RuleContext) -> bool:
    calendar: Calendar = context.fold_named("calendar")
    return anchors.same(expected, given) or calendar.same(expected, given, context)


def rules(viewers: Viewers = Viewers()) -> Rules:  # noqa: B008  # immutable
    """Assemble the rules of a society.

    Args:
        viewers: What people without the admin role may read and write.
    """
    return Rules(
        types=CASE_TYPES,
        matrix=Matrix(ROWS, CHANNELS, SEATS, viewers),
        caseless={
            "NOTE": None,
            "RESEARCH_NOTE": None,
            "REFLECTION": check_record,
            "CAUSAL_RECORD": check_record,
            "STRATEGY_MOVED": life.check_moved,
            "EXECUTION": trade_fills.check_execution,
            "SEAT_TAKEN": tenure.check_taken,
            "SEAT_RELEASED": tenure.check_released,
            "STOP": stop.check_stop,
            "RESUME": check_resume,
        },
        asides=frozenset({"NOTE", "RESEARCH_NOTE", "SEAT_TAKEN", "SEAT_RELEASED", "STOP"}),
        lifecycle=frozenset({"SOCIETY_STARTED", "SOCIETY_STOPPED", "CONFIG_CHANGED", "CLOCK_SET"}),
        unowed=frozenset({"AUDIT", "PERSON_NAMED"}),
        remarks=frozenset({"REFLECTION", "CAUSAL_RECORD", "AUDIT", "VIOLATION", "SEAT_RELEASED"}),
        minted=MINTED,
        new_folds=_folds,
        version=VERSION,
        resembles=_resembles,
    )
