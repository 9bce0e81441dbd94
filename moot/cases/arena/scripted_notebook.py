"""A notebook that behaves as a script says: it answers, contradicts, fails, or does not answer in time (T07, T08)."""

from __future__ import annotations

from moot.bots.notebook.answers import Described, Passage
from moot.bots.notebook.errors import NotebookTimeout, NotebookUnavailable, StudioUnavailable
from moot.bots.seats.weighing import sentences
from moot.cases.arena.script import Behaviour

LIMIT_S = 20
"""What a scripted timeout says that it waited, in seconds."""


class ScriptedNotebook:
    """Answers as one phase of a script says."""

    def __init__(self, notebook_id: str, behaviour: Behaviour) -> None:
        """Take the notebook's name and its behaviour."""
        self._id = notebook_id
        self._behaviour = behaviour
        self._known: dict[str, int] = {}

    async def describe(self) -> Described:
        """Describe the notebook."""
        self._check()
        return Described(
            id=self._id,
            title="a scripted notebook",
            notes=(),
            note_count=1,
            passage_count=1,
            tools=("notebook_describe", "notebook_query"),
        )

    async def query(self, text: str, limit: int = 5) -> tuple[Passage, ...]:
        """Answer: with what was asked, or with its opposite."""
        self._check()
        claims = sentences(text)[-limit:] or (text,)
        if self._behaviour == "contradict":
            # Equal words have an equal reference, whatever they were asked for with.
            return tuple(
                self._passage(
                    self._known.setdefault(claim, len(self._known) + 1), f"It is not true that {claim}."
                )
                for claim in claims
            )
        return (self._passage(1, f"Known of this: {claims[0]}"),)

    async def studio_create(self, title: str, text: str) -> str:
        """Refuse: nothing is written (8.3)."""
        raise StudioUnavailable("a scripted notebook writes no reports")

    async def close(self) -> None:
        """Hold nothing."""

    def _passage(self, n: int, text: str) -> Passage:
        return Passage(ref=f"{self._id}#{self._behaviour}-{n}", note=self._id, text=text, score=1.0)

    def _check(self) -> None:
        if self._behaviour == "timeout":
            raise NotebookTimeout(f"the notebook did not answer within {LIMIT_S} s")
        if self._behaviour == "fail":
            raise NotebookUnavailable("the notebook is not there")
