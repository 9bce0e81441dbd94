"""What a surface remembers, in a dictionary that outlives it."""

from __future__ import annotations


class SurfaceMemory:
    """A `moot.channels.surface.Memory`."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        return self.texts.get(key)

    async def under(self, prefix: str) -> dict[str, str]:
        return {key: text for key, text in self.texts.items() if key.startswith(prefix)}

    async def put(self, key: str, value: str) -> None:
        self.texts[key] = value
