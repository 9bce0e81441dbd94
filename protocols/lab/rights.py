"""Who posts the messages of experiments, and where: one row a type."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.seats import LAB

PLACE: Final = "#lab"

CHANNELS: Final = (
    Channel(PLACE, "lab", "experiments that sample how answers are distributed", "Experiments"),
)

RIGHTS: Final = tuple(
    Right(name, frozenset({LAB}), frozenset({PLACE}))
    for name in ("EXPERIMENT_STARTED", "EXPERIMENT_BATCH", "EXPERIMENT_ENDED")
)
