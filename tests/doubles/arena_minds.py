"""Minds of the Arena on the synchronous table: shown what a seat owes, they answer at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moot.bots.minds.mind import Reply, View
from moot.bots.notebook.answers import Described, Passage
from moot.bots.notebook.errors import NotebookError, StudioUnavailable
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.sessions import SessionStore
from moot.bots.seats.writer import Work, Writer
from moot.memory.inmemory import InMemoryStore
from moot.protocols.arena.seats import ARENA
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from tests.doubles.arena_table import ArenaTable
from tests.doubles.views import run


class Notes:
    """A notebook in memory that remembers what it was asked; with an error it only raises that."""

    def __init__(self, *texts: str, error: Exception | None = None) -> None:
        """Hold some passages."""
        self.texts = texts
        self.error = error
        self.asked: list[str] = []
        self.reports: list[str] = []

    async def describe(self) -> Described:
        self._check("describe")
        return Described("nb", "notes", (), len(self.texts), len(self.texts), ())

    async def query(self, text: str, limit: int = 5) -> tuple[Passage, ...]:
        self._check(text)
        return tuple(Passage(f"n#{n}", "n", said, 1.0) for n, said in enumerate(self.texts, 1))[:limit]

    async def studio_create(self, title: str, text: str) -> str:
        if self.error is not None:
            raise StudioUnavailable("no studio")
        self.reports.append(title)
        return f"report/{title}"

    async def close(self) -> None:
        """Hold nothing."""

    def _check(self, asked: str) -> None:
        self.asked.append(asked)
        if isinstance(self.error, NotebookError):
            raise self.error


class SayingWriter(Writer):
    """Writes what a function says."""

    def __init__(self, say: Callable[[Work], str] = lambda work: f"{work.kind}\nVERDICT: APPROVED") -> None:
        """Take the function; it may be a coroutine function."""
        self.say: Any = say
        self.works: list[Work] = []

    def delay(self, view: View) -> None:
        return None

    async def write(self, work: Work) -> str:
        self.works.append(work)
        said = self.say(work)
        return said if isinstance(said, str) else str(await said)


class Stage(ArenaTable):
    """A table whose three seats have minds, asked one obligation at a time."""

    def __init__(self, minds: dict[Seat, ArenaMind]) -> None:
        """Seat the minds."""
        super().__init__()
        self.minds = minds
        self.store = InMemoryStore()

    def view(self) -> View:
        """Show the run's open obligation."""
        (owed,) = self.state.owed
        attempt = self.docket.attempts.get(owed.id, 0)
        return View(
            obligation=owed,
            seat=owed.seat,
            now=self.now,
            attempt=attempt,
            refused="",
            transcript=tuple(env for env in self.log if env.case_id == self.run_id),
            notes=(),
            brief=self.rules.types["run"].brief(self.state, owed, self.docket.context),
            memory=self.store.read(),
        )

    def answer(self) -> Message:
        """Let whoever owes answer, and post that."""
        view = self.view()
        reply: Reply | None = run(self.minds[view.seat].answer(view))  # type: ignore[arg-type]
        assert reply is not None
        self.say(view.seat, reply.body, owed=view.obligation)
        return reply.body

    def to(self, kind: str) -> Stage:
        """Let the seats answer until a message of a kind is owed."""
        while self.state.owed[0].expects[0] != kind:
            self.answer()
        return self

    def play(self) -> Stage:
        """Let the seats answer until the run has ended."""
        while self.run_id in self.docket.cases:
            self.answer()
        return self


def stage(
    writer: Writer | dict[Seat, Writer] | None = None,
    notes: Any = None,
    sessions: SessionStore | None = None,
    **how: Any,
) -> Stage:
    """Open a run whose seats have a writer each, or share one."""
    sessions = sessions if sessions is not None else SessionStore()
    shared = SayingWriter()
    minds = {}
    for seat in ARENA:
        own = writer.get(seat, shared) if isinstance(writer, dict) else writer or shared
        minds[seat] = ArenaMind(own, lambda _view: notes, sessions)
    table = Stage(minds)
    table.run(**how)
    return table
