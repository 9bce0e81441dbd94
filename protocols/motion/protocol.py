"""The protocol of motions."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.protocol import Protocol, declared
from moot.protocols.kernel.rules import Minted
from moot.protocols.kernel.seats import ADMIN, VIEWER
from moot.protocols.motion import acts, grounds, messages, rights, seats, wording
from moot.protocols.motion.machine import MOTION
from moot.protocols.research.seats import CRITIC

PROTOCOL: Final = Protocol(
    name="motion",
    messages=declared(messages),
    wording=wording.WORDING,
    grounds=grounds.GROUNDS,
    duties=wording.DUTIES,
    seats=seats.SEATS,
    switch="motion",
    uses=(ADMIN, VIEWER, CRITIC),
    channels=rights.CHANNELS,
    rights=rights.RIGHTS,
    cases=(MOTION,),
    acts=acts.ACTS,
    minted={"MOTION": Minted(("motion_id",), "motion", True)},
)
