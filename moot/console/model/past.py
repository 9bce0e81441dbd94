"""The read model of a past moment: a docket of its own, folded up to there; nobody can act in it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import structlog

from moot.channels.log.reader import LogRows
from moot.channels.surface import ActReply
from moot.console.errors import NotReady, NotThere
from moot.console.model.interface import Batch, Op, Person, Progress, ReadModel, SocietyTime
from moot.console.model.looking import Looking
from moot.console.reading.folding import Stuck, fold_file
from moot.console.watching import Watching
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import VIEWER, Seat

MOST_OPEN: Final = 8
"""Past moments that are open at once; each holds a docket."""

MOST_OF_VIEWERS: Final = 5
"""So many of them are viewers'; the others are kept for who looks after the society."""

NOT_HERE: Final = "this is the past: go back to the present to act"


class Past(Looking):
    """The society as it stood after a message."""

    def __init__(self, watching: Watching, seat: Seat | None) -> None:
        """Prepare; `open` goes there."""
        super().__init__(watching, seat)
        self._seq = 0
        self._docket = Docket(watching.rules)
        self._at: Any = None
        self._stop = threading.Event()
        self._folding: asyncio.Task[None] | None = None
        self._problem = ""
        self._is_open = False

    async def open(self, seq: int) -> None:
        """Go to a message.

        Raises:
            NotReady: Too many past moments are open.
        """
        pasts, most = self.watching.pasts, MOST_OF_VIEWERS if self.seat == VIEWER else MOST_OPEN
        if pasts.total() >= MOST_OPEN or pasts[self.seat] >= most:
            raise NotReady(f"{pasts.total()} past moments are open already: close one first")
        pasts[self.seat] += 1
        self._is_open = True
        await self._go(seq)

    @property
    def head(self) -> int:
        return self._seq

    @property
    def is_past(self) -> bool:
        return True

    @property
    def until(self) -> int:
        return self._seq

    def now(self) -> SocietyTime:
        return SocietyTime(at=self._at, speed=0.0, is_paused=True, is_running=False, clock="")

    def progress(self) -> Progress:
        is_there = self._folding is None or self._folding.done()
        done = self._seq if is_there and not self._problem else min(self._docket.seq, self._seq - 1)
        return Progress(done, self._seq, "going back", self._problem)

    def _story_progress(self) -> Progress:
        return self.watching.story_progress()

    def seen_by(self, person: Person) -> ReadModel:
        if person.seat != self.seat:
            raise NotThere("a past moment belongs to who opened it")
        return self

    def docket(self) -> Docket:
        progress = self.progress()
        if not progress.is_complete:
            raise NotReady(str(progress))
        return self._docket

    async def changes(self, cursor: int) -> AsyncGenerator[Batch, None]:
        """Yield nothing: the past does not change."""
        nothing: tuple[Batch, ...] = ()
        for batch in nothing:
            yield batch

    async def ready(self) -> None:
        """Wait until the docket stands there, or cannot."""
        if self._folding is not None:
            await asyncio.shield(self._folding)

    async def step_to(self, seq: int) -> None:
        if not 1 <= seq <= self.watching.hub.head:
            raise NotThere(f"there is no message {seq}: the log ends at {self.watching.hub.head}")
        await self._go(seq)

    async def _go(self, seq: int) -> None:
        await self._halt()
        if seq < self._docket.seq:
            self._docket = Docket(self.watching.rules)
        self._seq = seq
        self._problem = ""
        self._at = _instant(
            await self.watching.readers.run(lambda db: LogRows(db, "log").field(seq, "sent_at"))
        )
        self._stop.clear()
        self._folding = asyncio.create_task(self._fold(seq), name="console past")

    async def _fold(self, seq: int) -> None:
        try:
            await asyncio.to_thread(fold_file, self.watching.directory, self._docket, seq, stop=self._stop)
        except Stuck as exc:
            self._problem = str(exc)
        except Exception as exc:
            self._problem = f"it cannot be folded: {type(exc).__name__}: {exc}"
            structlog.get_logger("moot.console").exception("the past is not shown", seq=seq)
        self.watching.hub.stir()

    async def _halt(self) -> None:
        """Stop a fold under way; its thread steps back soon."""
        self._stop.set()
        if self._folding is not None:
            await asyncio.gather(self._folding, return_exceptions=True)
            self._folding = None

    async def close(self) -> None:
        await self._halt()
        if self._is_open:
            self._is_open = False
            self.watching.pasts[self.seat] -= 1
            self._docket = Docket(self.watching.rules)

    # ------------------------------------------------------------ acting

    async def at(self, seq: int) -> ReadModel:
        raise NotThere("go on from the present, or step_to another moment")

    def why_not(self, person: Person, kind: str, channel: str = "#admin") -> str:
        return NOT_HERE

    async def act(self, *_act: Any, **_how: Any) -> ActReply:
        return ActReply(NOT_HERE, ok=False)

    async def form(self, person: Person, obligation_id: str) -> Mapping[str, Any]:
        raise NotThere(NOT_HERE)

    async def suggestion(self, person: Person, obligation_id: str) -> Message:
        raise NotThere(NOT_HERE)

    async def answer(self, person: Person, obligation_id: str, body: Mapping[str, Any]) -> ActReply:
        return ActReply(NOT_HERE, ok=False)

    async def control(self, person: Person, op: Op, value: float | None = None) -> ActReply:
        return ActReply(NOT_HERE, ok=False)

    async def show_escalations(self, page: str, escalation_ids: frozenset[str]) -> None:
        """Do nothing: what is over waits for nobody."""


def _instant(text: object) -> Any:
    from moot.protocols.kernel.errors import ProtocolError
    from moot.protocols.kernel.times import parse_instant

    try:
        return parse_instant(str(text))
    except (ValueError, ProtocolError):
        return None
