"""The mind of a seat that a person holds: it never answers; people do, through surfaces (K14)."""

from __future__ import annotations

from datetime import timedelta

from moot.bots.minds.mind import Mind, Reply, View


class HumanMind(Mind):
    """Stands in while a person holds the seat."""

    def consider(self, view: View) -> timedelta | None:
        """Stay silent."""
        return None

    async def answer(self, view: View) -> Reply | None:
        """Stay silent."""
        return None
