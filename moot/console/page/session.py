"""One open page: answers what it asks, tells it what happens; knows the society through the read model alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from moot.channels.showing.wording import clean
from moot.console.errors import ConsoleError
from moot.console.model.interface import Person, ReadModel
from moot.console.page import views
from moot.console.page.cards import card_of
from moot.console.page.pictures import drawings
from moot.console.page.places import nothing, split_moment, view_of
from moot.console.page.questions import Json, Questions
from moot.console.page.titles import case_nouns

Push = Callable[[Json], None]
"""Tells the page something; never blocks."""

MOST_TOLD: Final = 120
"""More new messages than this are not shown one by one: the page loads its window again."""

GATHER_S: Final = 0.03
"""Wall time in which what follows a message is gathered, so that a busy society is one update and not thirty."""

ESCALATIONS: Final = "#admin"
BOARD_S: Final = 0.25
"""Wall time between two updates of the board."""

AGAIN_S: Final = 1.0
"""Wall time after which what could not be told is tried again."""


class Visit(Questions):
    """A page from its first byte to its end. `run` follows the society; `close` lets go of everything."""

    def __init__(self, model: ReadModel, person: Person, *, page: str) -> None:
        """Look at a society.

        Args:
            model: The society as this person may see it.
            person: Who looks.
            page: Names the page; every act gets its key from it.
        """
        super().__init__(model, person, page=page)
        self._push: Push = lambda _news: None
        self._shown: frozenset[str] = frozenset()
        self._view: Json = {}
        self._open: frozenset[str] = frozenset()
        self._cursor = model.head
        self._told_rights: Json = {}
        self._told_board: Json = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger("moot.console.page")

    # ------------------------------------------------------------ the first paint

    async def boot(self, path: str) -> Json:
        """Return all that the first paint needs."""
        self._channels = await self._live.channels()
        path, at = split_moment(path)
        past: Json | None = None
        tell = ""
        if at is not None:
            try:
                past = await self._on_at({"seq": at})
            except ConsoleError as exc:
                tell = f"Cannot show the past moment {clean(str(at), 20)}: {exc}. This is the present."
        try:
            view = await view_of(self.model, self.person, self._channels, path)
        except ConsoleError as exc:
            view = nothing(str(exc))
        self._note(view)
        board = await self._board()
        return {
            "me": {
                "user": clean(self.person.user_id, 60),
                "role": str(self.person.seat),
                "why": "" if self.person.is_admin else "you may look, and write notes where viewers may",
            },
            "groups": views.groups_of(self._channels),
            "pages": views.pages_for(self._live),
            "seats": views.seats(),
            "cases": views.case_prefixes(),
            "nouns": case_nouns(),
            "drawn": drawings(),
            **self._rights(),
            "clock": past["clock"] if past else views.clock_of(self._live.now()),
            "past": past["past"] if past else None,
            "tell": tell,
            "board": board,
            "view": view,
            "head": self._cursor,
            "path": path,
        }

    def _rights(self) -> Json:
        """Return what this person may do now; it changes when the society goes or comes back."""
        self._told_rights = {
            "commands": views.commands_for(self._live, self.person),
            "may": views.rights_of(self._live, self.person, self._channels),
        }
        return self._told_rights

    # ------------------------------------------------------------ what happens

    async def run(self, push: Push) -> None:
        """Tell the page what happens, until cancelled."""
        self._push = push
        self._start(self._follow_board())
        has_missed = False
        while True:
            try:
                if has_missed:
                    push({"head": self._cursor, "reload": self._past is None})
                    has_missed = False
                async for batch in self._live.changes(self._cursor):
                    self._cursor = batch.head
                    news: Json = {"head": batch.head, "clock": views.clock_of(self._live.now())}
                    if batch.must_reload or len(batch.envelopes) > MOST_TOLD:
                        news["reload"] = self._past is None
                    elif batch.envelopes:
                        news["cards"] = [card_of(one, self._live.speakers()) for one in batch.envelopes]
                    if self._past is not None:
                        del news["clock"]
                    push(news)
                    self._changed.set()
                    await asyncio.sleep(GATHER_S)
                return
            except Exception as exc:
                has_missed = True
                self._log.warning("page not told", page=self.page, why=_why(exc))
                await asyncio.sleep(AGAIN_S)

    async def _follow_board(self) -> None:
        known = ""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._tell_board()
                known = ""
            except Exception as exc:
                if (why := _why(exc)) != known:
                    known = why
                    self._log.warning("board not told", page=self.page, why=why)
                self._changed.set()
                await asyncio.sleep(AGAIN_S)
            await asyncio.sleep(BOARD_S)

    async def _tell_board(self) -> None:
        if self._past is None:
            board = await self._board()
            before = self._told_rights
            rights = {} if self._rights() == before else self._told_rights
            if self._past is None and (rights or board != self._told_board):
                self._told_board = board
                self._push({"board": board, "clock": views.clock_of(self._live.now()), **rights})
        await self._note_open()

    async def _board(self) -> Json:
        try:
            board = await views.board_of(self.model, self.person)
        except ConsoleError as exc:
            board = {"owed": [], "raised": [], "duties": [], "building": str(exc)}
        if self.model is self._live:
            raised = (one["id"] for one in board["raised"] if not one["how"])
            self._open = frozenset((*raised, *(one["case"] for one in board["duties"])))
        return board

    async def _note_open(self) -> None:
        """Let the society wait for what an admin has before them (K8).

        That is the inbox, the channel of escalations, or the case itself. The board beside every page does
        not count: a society that is watched at all would never run faster than people read.
        """
        is_all = self._view.get("kind") == "inbox" or self._view.get("channel") == ESCALATIONS
        shown = frozenset[str]()
        if self.person.is_admin and self._past is None:
            shown = self._open if is_all else self._open & {str(self._view.get("case"))}
        if shown != self._shown:
            self._shown = shown
            await self._live.show_escalations(self.page, shown)

    def _start(self, work: Awaitable[None]) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Let go: no escalation is open here any more, no past moment either."""
        for task in list(self._tasks):
            task.cancel()
        if self._shown:
            self._shown = frozenset()
            await self._live.show_escalations(self.page, frozenset())
        if self._past is not None:
            past, self._past = self._past, None
            await past.close()

    def _note(self, view: Json) -> None:
        self._view = {name: view.get(name) for name in ("kind", "case", "channel")}
        self._changed.set()


def _why(exc: Exception) -> str:
    return str(exc) if isinstance(exc, ConsoleError) else f"{type(exc).__name__}: {exc}"
