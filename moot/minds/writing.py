"""Minds of one's own in the Arena and on panels: they give the words, the shell around the seat gives the rest."""

from __future__ import annotations

from datetime import timedelta

from moot.bots.minds.mind import View
from moot.bots.seats.panel import PanelWriter
from moot.bots.seats.panel_prompts import Prompt
from moot.bots.seats.writer import Work, Writer
from moot.minds.seated import SeatedMind


class OwnWriter(Writer):
    """Writes in the Arena what the text of a mind's answer is."""

    def __init__(self, mind: SeatedMind) -> None:
        """Take the mind."""
        self._mind = mind

    def delay(self, view: View) -> timedelta | None:
        return self._mind.consider(view)

    async def write(self, work: Work) -> str | None:
        return await self._mind.text(work.view)


class OwnPanelWriter(PanelWriter):
    """Writes on a panel what the text of a mind's answer is."""

    def __init__(self, mind: SeatedMind) -> None:
        """Take the mind."""
        self._mind = mind

    def delay(self, view: View) -> timedelta | None:
        return self._mind.consider(view)

    async def write(self, view: View, prompt: Prompt) -> str | None:
        return await self._mind.text(view)
