"""The protocol of System A."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.protocol import Protocol, declared
from moot.protocols.kernel.rules import Minted
from moot.protocols.kernel.seats import ADMIN, REFEREE, TIMEKEEPER
from moot.protocols.research import grounds, messages, rights, seats, triggers, wording
from moot.protocols.research.architecture_table import ARCHITECTURE
from moot.protocols.research.calendar import Calendar
from moot.protocols.research.cycle import CYCLE
from moot.protocols.research.daily import DAILY
from moot.protocols.research.debate_machine import DEBATE
from moot.protocols.research.ledger import Ledger
from moot.protocols.research.policies import Policies, check_record


def _same(expected: Message, given: Message, context: RuleContext) -> bool:
    calendar: Calendar = context.fold_named("calendar")
    return calendar.same(expected, given, context)


PROTOCOL: Final = Protocol(
    name="research",
    messages=declared(messages),
    wording=wording.WORDING,
    grounds=grounds.GROUNDS,
    duties=wording.DUTIES,
    quiet={"CAUSAL_RECORD": lambda _body: True},
    seats=seats.SEATS,
    uses=(ADMIN, REFEREE, TIMEKEEPER),
    channels=rights.CHANNELS,
    rights=(*rights.RIGHTS, *rights.ABROAD),
    cases=(CYCLE, DEBATE, DAILY, ARCHITECTURE),
    folds=(Ledger, Policies),
    cycles=(Calendar,),
    sources=triggers.sources,
    caseless={"RESEARCH_NOTE": None, "REFLECTION": check_record, "CAUSAL_RECORD": check_record},
    asides=frozenset({"RESEARCH_NOTE"}),
    remarks=frozenset({"REFLECTION", "CAUSAL_RECORD"}),
    minted={
        "CYCLE_TRIGGER": Minted(("cycle_id",), "cycle", True),
        "HYPOTHESIS": Minted(("hypothesis_id",), "hyp", True, also="lineage_id"),
        "CAUSAL_RECORD": Minted(("record", "record_id"), "cau", False),
        "REFLECTION": Minted(("record", "record_id"), "ref", False),
        "PRINCIPLE_SYNTHESIS": Minted(("principles", "principle_id"), "prin", False, each=True),
        "ARCHITECTURE_PROPOSAL": Minted(("proposals", "change_id"), "arch", False, each=True),
    },
    resembles=_same,
)
