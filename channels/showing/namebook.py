"""What people are called on their platforms: learned from what they do there, for show only.

The log knows people by their ids. A name is what its owner chose, so it stands beside the seat, never in its place.
"""

from __future__ import annotations

from typing import Final

from channels.showing.rendering import Names
from channels.showing.wording import clean
from channels.surface import Memory

MOST_NAME: Final = 40
MOST_KNOWN: Final = 10_000

_KEY: Final = "name/"


class NameBook:
    """The names of a gateway's people, shared by its surfaces; each keeps those of its own.

    Attributes:
        names: User id to name.
    """

    def __init__(self) -> None:
        """Know nobody."""
        self._names: dict[str, str] = {}
        self.names: Names = self._names

    async def learn(self, user_id: str, name: str, memory: Memory) -> None:
        """Note a name, unless it says no more than the id."""
        name = clean(name, MOST_NAME)
        if not name or name.casefold() == user_id.casefold() or self._names.get(user_id) == name:
            return
        if len(self._names) < MOST_KNOWN or user_id in self._names:
            self._names[user_id] = name
            await memory.put(_KEY + user_id, name)

    async def recall(self, memory: Memory) -> None:
        """Take up what a surface kept."""
        for key, name in (await memory.under(_KEY)).items():
            self._names.setdefault(key.removeprefix(_KEY), name)
