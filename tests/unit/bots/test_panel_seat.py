"""The shell of a panel's seat: what it never lets a writer do."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from moot.bots.minds.mind import View
from moot.bots.seats.panel import PanelMind
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.obligation import NO_GRACE, Obligation, Visibility
from moot.protocols.panel.seats import EIC
from tests.doubles.table import START


class Eager:
    """A writer that reviews whatever it is given, nothing included."""

    def __init__(self) -> None:
        self.asked = 0

    def delay(self, view: View) -> timedelta | None:
        return timedelta(minutes=1)

    async def write(self, view: View, prompt: str) -> str:
        self.asked += 1
        return "## Review"


def view(kind: str, content: str) -> View:
    owed = Obligation(
        id=f"panel/{kind}/eic",
        case_id="panel",
        seat=EIC,
        expects=(kind,),
        channel="#r-panel",
        opened_at=START,
        due_at=START + timedelta(minutes=60),
        grace=NO_GRACE,
        may_see=Visibility(content_ref="evidence/paper"),
    )
    return View(
        obligation=owed, seat=EIC, now=START, attempt=0, refused="", transcript=(), notes=(), brief={},
        memory=InMemoryStore().read(), content=content,
    )  # fmt: skip


def test_a_work_that_cannot_be_read_is_not_reviewed() -> None:
    """Silence shrinks the panel; a review of nothing would be a substitute score (spec 8)."""
    writer = Eager()
    assert asyncio.run(PanelMind(writer).answer(view("PHASE2", ""))) is None
    assert writer.asked == 0
