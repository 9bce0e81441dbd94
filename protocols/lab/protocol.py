"""The protocol of experiments."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.protocol import Protocol, declared
from moot.protocols.kernel.seats import ADMIN, LAB
from moot.protocols.lab import grounds, messages, rights, wording
from moot.protocols.lab.experiment import EXPERIMENT
from moot.protocols.lab.stoppers import Stoppers

PROTOCOL: Final = Protocol(
    name="lab",
    messages=declared(messages),
    wording=wording.WORDING,
    duties=wording.DUTIES,
    grounds=grounds.GROUNDS,
    unshown=wording.UNSHOWN,
    uses=(ADMIN, LAB),
    channels=rights.CHANNELS,
    rights=rights.RIGHTS,
    cases=(EXPERIMENT,),
    folds=(Stoppers,),
    unowed=frozenset({"EXPERIMENT_STARTED", "EXPERIMENT_BATCH", "EXPERIMENT_ENDED"}),
)
