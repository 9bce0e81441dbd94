"""Who posts the messages of a motion: one row a type, all in `#motions`."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.seats import PEOPLE
from moot.protocols.motion.seats import ADVOCATE, GROUP, JUDGE
from moot.protocols.research.seats import CRITIC

PLACE: Final = "#motions"
_HERE: Final = frozenset({PLACE})
_ADVOCATE: Final = frozenset({ADVOCATE})
_JUDGE: Final = frozenset({JUDGE})

CHANNELS: Final = (Channel(PLACE, GROUP, "questions of all kinds, debated and judged"),)

RIGHTS: Final = (
    Right("MOTION", PEOPLE, _HERE),
    Right("CLAIM", _ADVOCATE, _HERE),
    Right("OBJECTIONS", frozenset({CRITIC}), _HERE),
    Right("REPLIES", _ADVOCATE, _HERE),
    Right("EXTEND_MOTION", _JUDGE, _HERE),
    Right("JUDGMENT", _JUDGE, _HERE),
)
