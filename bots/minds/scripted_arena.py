"""An Arena writer that says what a script says: raw outputs in their order, the last one again and again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from moot.bots.minds.mind import View
from moot.bots.notebook.errors import AccessError
from moot.bots.seats.writer import Work, Writer

DELAY: Final = timedelta(minutes=1)
"""How long a scripted output takes."""


class ScriptedWriter(Writer):
    """Writes from a script; where that says nothing, another writer does.

    Each run has its own place in the script, so that one script serves any number of runs.
    """

    def __init__(self, texts: Sequence[str], then: Writer, *, tries_to_write: bool = False) -> None:
        """Take the texts.

        Args:
            texts: Outputs in their order; none: `then` writes.
            then: Writes what no script says.
            tries_to_write: Whether the first output of each run is preceded by an attempt to write (T11).
        """
        self._texts = tuple(texts)
        self._then = then
        self._tries_to_write = tries_to_write

    def begins_at_once(self, view: View) -> bool:
        """Say whether the other writer would, where it writes."""
        return not self._texts and self._then.begins_at_once(view)

    def delay(self, view: View) -> timedelta | None:
        """Take a minute."""
        return DELAY

    async def write(self, work: Work) -> str | None:
        """Say the next text; which one follows from what stands in the transcript, so a restart changes nothing."""
        if self._tries_to_write:
            # Whoever wants to write does not mind being told that it may not.
            with suppress(AccessError):
                await work.toolbox.call("studio_create", title="review", text="written by the Reviewer")
        if not self._texts:
            return await self._then.write(work)
        said = sum(env.body.type == work.kind for env in work.view.transcript)
        return self._texts[min(said, len(self._texts) - 1)]

    def question(self, work: Work) -> str:
        """Ask what the other writer would."""
        return self._then.question(work)
