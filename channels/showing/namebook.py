"""What people are called, in a gateway: learned from the log's PERSON_NAMED, kept beside what was posted."""

from __future__ import annotations

from typing import Final

from moot.channels.showing.rendering import NAMING, Names
from moot.channels.surface import Memory
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.naming import NameBook as Known
from moot.protocols.rulebook import rulebook

_KEY: Final = "named/"


class NameBook:
    """The names of a society's people, shared by a gateway's surfaces.

    Attributes:
        names: User id to name.
    """

    def __init__(self) -> None:
        """Know nobody."""
        self._known = Known(rulebook().seats)
        self.names: Names = self._known.called

    async def hear(self, envelope: Envelope, memory: Memory) -> None:
        """Learn from a message of the log, if it names somebody."""
        if self.note(envelope):
            body = envelope.body.model_dump()
            await memory.put(f"{_KEY}{body['platform']}/{body['user_id']}", str(body["display_name"]))

    def note(self, envelope: Envelope) -> bool:
        """Learn from a message, and say whether it names somebody; for readers that keep nothing."""
        if envelope.body.type != NAMING:
            return False
        body = envelope.body.model_dump()
        told = [body.get(name) for name in ("platform", "user_id", "display_name")]
        if not all(isinstance(one, str) and one for one in told):
            return False
        self._known.learn(*map(str, told))
        return True

    async def recall(self, memory: Memory) -> None:
        """Take up what a surface kept."""
        for key, name in (await memory.under(_KEY)).items():
            platform, _, user_id = key.removeprefix(_KEY).partition("/")
            if not self._known.name_of(platform, user_id):
                self._known.learn(platform, user_id, name)
