"""Models in the Arena and on panels: they give the words, the shell around the seat gives the rest.

Where the protocol reads a text by its grammar, the model fills in a form that is written as that text (`reviews`,
`judging`); a draft is plain words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

from moot.bots.minds.mind import View
from moot.bots.minds.model.asking import (
    Asking,
    ModelOptions,
    SeatTool,
    Spare,
    Tell,
    nobody,
    nobody_instead,
)
from moot.bots.minds.model.judging import panel_form
from moot.bots.minds.model.material import MOST_WORK, Quoted, as_json, cut, presented
from moot.bots.minds.model.mind import DelayOf
from moot.bots.minds.model.reviews import ReviewForm
from moot.bots.models.caller import Caller, NoBudget
from moot.bots.models.forms import form_of
from moot.bots.models.request import Tool
from moot.bots.seats.hooks import question_of
from moot.bots.seats.panel import PanelWriter
from moot.bots.seats.panel_prompts import Prompt
from moot.bots.seats.writer import Work, Writer
from moot.bots.tools.errors import ToolError
from moot.config.prompts import Prompts
from moot.protocols.kernel.errors import ProtocolError

T = TypeVar("T")

PASSAGES = 5
"""Passages of the notebook that one question gives."""

RUN = "run of the Arena"
PANEL = "review panel"


class _ModelsWords(Generic[T]):
    """What a model's writers are made of; `T` is what may write in their place."""

    def __init__(
        self,
        caller: Caller,
        options: ModelOptions,
        prompts: Prompts,
        *,
        delay: DelayOf,
        when_spent: Spare[T] = nobody_instead,
        tell: Tell = nobody,
    ) -> None:
        """Take what the writer is made of, as `ModelMind` does."""
        self._asking = Asking(caller, options, tell)
        self._prompts = prompts
        self._delay = delay
        self._when_spent = when_spent

    def delay(self, view: View) -> timedelta | None:
        return self._delay(view)


class ModelWriter(_ModelsWords[Writer], Writer):
    """Fills Planner, Reviewer or Finalizer of the Arena with a model; it may ask the notebook, and read only."""

    def begins_at_once(self, view: View) -> bool:
        """Say whether a model is asked: hooks are the shell's."""
        return view.obligation.expects[0] != "HOOK_RESULT"

    def question(self, work: Work) -> str:
        return question_of(work)

    async def write(self, work: Work) -> str | None:
        view = work.view
        form = form_of(ReviewForm) if work.kind == "REVIEW" else None
        try:
            found = await self._asking.ask(
                view,
                self._prompts.instructions(view.seat, [work.kind], RUN),
                presented(view, _of_run(work)),
                form,
                _notebook(work),
            )
        except NoBudget as exc:
            if (spare := await self._when_spent(view)) is not None:
                return await spare.write(work)
            await self._asking.silent(view, f"was not asked: {exc}")
            return None
        if isinstance(found, ReviewForm):
            return found.text(view.brief["round_index"])
        return None if found is None else str(found)


def _of_run(work: Work) -> list[Quoted]:
    """Return what a seat of the Arena is shown of its run, what changes least first."""
    view, brief, session = work.view, work.view.brief, work.session
    last = view.last("REVIEW")
    reviews = session.reviews if session is not None else (() if last is None else (last.body.text,))  # type: ignore[attr-defined]
    told = ("round_index", "max_rounds", "attempt", "is_best_effort")
    return [
        Quoted("task", cut(brief["prompt"], MOST_WORK)),
        Quoted("figures", "\n".join(f"{name}: {as_json(brief[name])}" for name in told)),
        Quoted("evidence", "\n".join(brief["evidence_refs"])),
        Quoted("findings", "\n".join(as_json(one) for one in brief["findings"])),
        Quoted("draft", cut(work.last_draft(), MOST_WORK)),
        Quoted("reviews", cut("\n\n".join(reviews), MOST_WORK)),
        Quoted("unresolved", "\n".join(f"{one.id}: {as_json(one.text)}" for one in brief["unresolved"])),
        Quoted("refused", view.refused),
    ]


def _notebook(work: Work) -> Sequence[SeatTool]:
    """Return the one question that may be put to the notebook; nothing where the run has none."""
    if not work.view.brief["notebook_id"]:
        return ()

    async def run(arguments: Mapping[str, Any]) -> str:
        text = arguments.get("text")
        if not isinstance(text, str) or not text.strip():
            raise ValueError("ask_notebook needs the field text, a question in words")
        try:
            found = await work.toolbox.call("notebook_query", text=text[:1_000], limit=PASSAGES)
        except ToolError as exc:
            raise ValueError(str(exc)) from None
        return "\n\n".join(f"{one.ref} ({one.note}):\n{one.text}" for one in found) or "nothing was found"

    parameters = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "the question"}},
        "required": ["text"],
        "additionalProperties": False,
    }
    about = "Asks the notebook a question; gives passages, each with the reference by which it is cited."
    return (SeatTool(Tool(name="ask_notebook", about=about, parameters=parameters), run),)


class ModelPanelWriter(_ModelsWords[PanelWriter], PanelWriter):
    """Fills a seat of a panel with a model; what the phase does not show it does not know."""

    def begins_at_once(self, view: View) -> bool:
        """Say that a model is asked."""
        return True

    async def write(self, view: View, prompt: Prompt) -> str | None:
        instructions = self._prompts.instructions(view.seat, view.obligation.expects[:1], PANEL)
        try:
            form = panel_form(view)
        except ProtocolError as exc:
            await self._asking.silent(view, f"was not asked: {exc}")
            return None
        try:
            found = await self._asking.ask(view, instructions, presented(view, _of_panel(view)), form)
        except NoBudget as exc:
            if (spare := await self._when_spent(view)) is not None:
                return await spare.write(view, prompt)
            await self._asking.silent(view, f"was not asked: {exc}")
            return None
        return None if found is None else str(found)


def _of_panel(view: View) -> list[Quoted]:
    """Return what a phase shows: of the work itself nothing before Phase 2 (spec 2)."""
    brief = view.brief
    told = ("role", "title", "field", "word_count", "scores", "majority")
    return [
        Quoted("contract", as_json(brief["contract"])),
        Quoted("figures", "\n".join(f"{name}: {as_json(brief[name])}" for name in told if name in brief)),
        Quoted("plan", brief.get("phase1_output", "")),
        Quoted("work", cut(view.content, MOST_WORK)),
        Quoted("gaps", "\n".join(brief.get("gaps", ()))),
        Quoted("diagnostics", brief.get("diagnostics", "")),
        Quoted("refused", view.refused),
    ]
