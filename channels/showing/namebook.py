"""Who speaks, for a gateway and for readers of lines: what people are called, and which mind fills which seat.

Learned from the log's PERSON_NAMED, SOCIETY_STARTED and CONFIG_CHANGED; a gateway keeps it beside what was posted.
"""

from __future__ import annotations

import json
from typing import Final

from moot.channels.showing.rendering import NAMING, Names, Speakers
from moot.channels.surface import Memory
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import REHEARSAL, Minds
from moot.protocols.kernel.naming import NameBook as Known
from moot.protocols.rulebook import rulebook

TELLING: Final = (NAMING, *sorted(Minds.types or ()))
"""Types of messages that say who speaks."""

_NAMED: Final = "named/"
_MINDS: Final = "minds/"
_REHEARSAL: Final = "rehearsal"


class NameBook:
    """The names of a society's people and the minds in its seats, shared by a gateway's surfaces.

    Attributes:
        names: User id to name.
        who: The same, with the minds, as what shows a message takes it.
    """

    def __init__(self) -> None:
        """Know nobody."""
        self._known = Known(rulebook().seats)
        self._minds = Minds()
        self.names: Names = self._known.called
        self.who = Speakers(self.names, self._minds)

    async def hear(self, envelope: Envelope, memory: Memory) -> None:
        """Learn from a message of the log, if it says who speaks."""
        if not self.note(envelope):
            return
        if envelope.body.type == NAMING:
            body = envelope.body.model_dump()
            await memory.put(f"{_NAMED}{body['platform']}/{body['user_id']}", str(body["display_name"]))
        else:
            if self._minds.is_rehearsal:
                await memory.put(_REHEARSAL, REHEARSAL)
            minds = json.dumps(dict(self._minds.at(envelope.seq)), ensure_ascii=False)
            await memory.put(f"{_MINDS}{envelope.seq}", minds)

    def note(self, envelope: Envelope) -> bool:
        """Learn from a message, and say whether it tells who speaks; for readers that keep nothing."""
        if envelope.body.type != NAMING:
            self._minds.learn(envelope)
            return envelope.body.type in TELLING
        body = envelope.body.model_dump()
        told = [body.get(name) for name in ("platform", "user_id", "display_name")]
        if not all(isinstance(one, str) and one for one in told):
            return False
        self._known.learn(*map(str, told))
        return True

    async def recall(self, memory: Memory) -> None:
        """Take up what a surface kept."""
        for key, name in (await memory.under(_NAMED)).items():
            platform, _, user_id = key.removeprefix(_NAMED).partition("/")
            if not self._known.name_of(platform, user_id):
                self._known.learn(platform, user_id, name)
        if await memory.get(_REHEARSAL) is not None:
            self._minds.is_rehearsal = True
        for key, told in (await memory.under(_MINDS)).items():
            self._minds.put(int(key.removeprefix(_MINDS)), json.loads(told))
