"""The two protocols of every society: what its people may say, and what its officers do."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel import anchors, officers, people, people_acts, stop, tenure
from moot.protocols.kernel import rights as kernel_rights
from moot.protocols.kernel import seats as kernel_seats
from moot.protocols.kernel import wording as kernel_wording
from moot.protocols.kernel.grounds import Decides, Grounds
from moot.protocols.kernel.protocol import Protocol, declared
from moot.protocols.kernel.rules import Minted

PEOPLE: Final = Protocol(
    name="people",
    messages=declared(people),
    wording=kernel_wording.PEOPLE,
    grounds=Grounds(decides={"OVERRIDE": Decides("verdict", ("why",)), "STOP": Decides("type", ("why",))}),
    urgent=frozenset({"OVERRIDE", "STOP"}),
    marks={"STOP": "halt"},
    seats=kernel_seats.PEOPLE_SEATS,
    uses=(kernel_seats.REFEREE,),
    rights=kernel_rights.PEOPLES_RIGHTS,
    acts=people_acts.ACTS,
    folds=(tenure.Tenures, stop.Stops),
    caseless={
        "NOTE": None,
        "SEAT_TAKEN": tenure.check_taken,
        "SEAT_RELEASED": tenure.check_released,
        "STOP": stop.check_stop,
    },
    asides=frozenset({"NOTE", "SEAT_TAKEN", "SEAT_RELEASED", "STOP"}),
    remarks=frozenset({"SEAT_RELEASED"}),
    minted={"OVERRIDE": Minted(("override_id",), "ovr", True)},
)

# Whoever started the society can put right what is wrong with a platform or a mind, and looks at the feed.
_SHOWN: Final = frozenset(
    {"surface_trouble", officers.MIND_FAILED, officers.ON_PURPOSE, officers.STREAM_LIMITED}
)
"""Events of an AUDIT that are not quiet."""

OFFICERS: Final = Protocol(
    name="officers",
    messages=declared(officers),
    wording=kernel_wording.OFFICERS,
    grounds=Grounds(decides={"RULING": Decides("outcome")}),
    unshown=kernel_wording.UNSHOWN,
    urgent=frozenset({"DUTY_NOTICE", "RULING"}),
    marks={
        "VIOLATION": "violation",
        "RULING": "ruling",
        "SOCIETY_STOPPED": "halt",
    },
    quiet={
        "AUDIT": lambda body: body.event not in _SHOWN,
        "PERSON_NAMED": lambda _body: True,
    },
    seats=kernel_seats.OFFICER_SEATS,
    channels=kernel_rights.CHANNELS,
    rights=kernel_rights.OFFICERS_RIGHTS,
    cycles=(anchors.Anchors,),
    lifecycle=frozenset({"SOCIETY_STARTED", "SOCIETY_STOPPED", "CONFIG_CHANGED", "CLOCK_SET"}),
    unowed=frozenset({"AUDIT", "PERSON_NAMED"}),
    remarks=frozenset({"AUDIT", "VIOLATION"}),
    resembles=lambda expected, given, _context: anchors.same(expected, given),
)
