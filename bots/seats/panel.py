"""The shell around the mind of a panel's seat: what is asked of it, phase by phase (spec 2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta

import structlog

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.seats.panel_prompts import Prompt, prompt_for
from moot.protocols.kernel.message import Message
from moot.protocols.panel.messages import Phase1, Phase2, Synthesis

_log = structlog.get_logger("moot.panel")


class PanelWriter(ABC):
    """Writes what a seat of a panel owes."""

    @abstractmethod
    def delay(self, view: View) -> timedelta | None:
        """Say how long after its opening an obligation is answered; None: not at all."""

    def begins_at_once(self, view: View) -> bool:
        """Say whether it is asked when the obligation opens, as `Mind.begins_at_once`."""
        return False

    @abstractmethod
    async def write(self, view: View, prompt: Prompt) -> str | None:
        """Write the raw text of an output; None: it stays silent after all.

        Args:
            view: What the mind is shown; `content` is empty in Phase 1.
            prompt: The same in words.
        """


class PanelMind(Mind):
    """Fills a seat of a panel: the writer gives the words, the log everything else."""

    def __init__(self, writer: PanelWriter) -> None:
        """Take the writer."""
        self._writer = writer

    def begins_at_once(self, view: View) -> bool:
        return self._writer.begins_at_once(view)

    def consider(self, view: View) -> timedelta | None:
        """Say when the writer will be done."""
        return self._writer.delay(view)

    async def answer(self, view: View) -> Reply | None:
        """Let the writer write what is owed."""
        kind = view.obligation.expects[0]
        if kind == "PHASE2" and not view.content:
            # Silence shrinks the panel; a review of nothing would be a substitute score (spec 8).
            _log.error("the work cannot be read", seat=view.seat, ref=view.obligation.may_see.content_ref)
            return None
        text = await self._writer.write(view, prompt_for(view))
        if text is None:
            return None
        body: Message
        if kind == "PHASE1":
            body = Phase1(text=text)
        elif kind == "PHASE2":
            body = Phase2(text=text)
        else:
            body = Synthesis(text=text)
        return Reply(body)
