"""The protocol of escalations."""

from __future__ import annotations

from typing import Final

from moot.protocols.escalation import acts, grounds, messages, rights, wording
from moot.protocols.escalation.case import ESCALATION
from moot.protocols.escalation.mode import Modes
from moot.protocols.escalation.watch import RuleFaults
from moot.protocols.kernel.protocol import Protocol, declared, type_of
from moot.protocols.kernel.rules import Minted
from moot.protocols.kernel.seats import ADMIN, REFEREE

PROTOCOL: Final = Protocol(
    name="escalation",
    messages=declared(messages),
    wording=wording.WORDING,
    grounds=grounds.GROUNDS,
    duties=wording.DUTIES,
    unshown=wording.UNSHOWN,
    urgent=frozenset(map(type_of, declared(messages))),
    marks={"ESCALATION": "escalation"},
    uses=(ADMIN, REFEREE),
    rights=rights.RIGHTS,
    cases=(ESCALATION,),
    folds=(Modes,),
    sources=lambda: (RuleFaults(),),
    acts=acts.ACTS,
    minted={"ESCALATION": Minted(("escalation_id",), "esc", True)},
)
