"""A panel writer that says what files say; where they say nothing, another writer does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from moot.bots.minds.mind import View
from moot.bots.seats.panel import PanelWriter
from moot.bots.seats.panel_prompts import Prompt

DELAY: Final = timedelta(minutes=1)
"""How long a scripted output takes."""


class ScriptedPanelWriter(PanelWriter):
    """Writes the n-th text of a role and phase at its n-th output of that phase; the last one again and again."""

    def __init__(self, texts: Mapping[tuple[str, str], tuple[str, ...]], then: PanelWriter) -> None:
        """Take texts by role and phase (`phase1`, `phase2`)."""
        self._texts = texts
        self._then = then

    def begins_at_once(self, view: View) -> bool:
        """Say whether the other writer would, where it writes."""
        return not self._said(view) and self._then.begins_at_once(view)

    def delay(self, view: View) -> timedelta | None:
        """Take a minute."""
        return DELAY

    async def write(self, view: View, prompt: Prompt) -> str | None:
        """Say the next text; which one follows from how many the seat has given."""
        texts = self._said(view)
        if not texts:
            return await self._then.write(view, prompt)
        return texts[min(int(view.brief["said"]), len(texts) - 1)]

    def _said(self, view: View) -> tuple[str, ...]:
        return self._texts.get((view.seat, view.obligation.expects[0].lower()), ())
