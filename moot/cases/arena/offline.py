"""Runs of the Arena in virtual time, without a society around them: three seats, an Orchestrator, one channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from moot.bots.minds.human import HumanMind
from moot.bots.minds.mind import Mind, View
from moot.bots.minds.scripted_arena import ScriptedWriter
from moot.bots.minds.simulated.arena.writer import SimulatedWriter
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.notebook.client import Notebook
from moot.bots.seats.arena import ArenaMind, NotebookOf
from moot.bots.seats.sessions import LostSessions, SessionStore
from moot.bots.seats.writer import Writer
from moot.cases.arena.script import ArenaScript, Behaviour, NotebookScript
from moot.cases.arena.scripted_notebook import ScriptedNotebook
from moot.cases.arena.source import NotebookService, NotebookSource, opened
from moot.clock import VirtualClock
from moot.config.budget import BudgetSettings
from moot.config.models import ModelSettings
from moot.config.prompts import PromptSettings
from moot.minds.choosing import Chosen, MindSources, chosen, named
from moot.minds.silences import silences_of
from moot.minds.writing import OwnWriter
from moot.protocols.arena.contracts import complaint
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.arena.record import AuditRecord, audit_record
from moot.protocols.arena.run import KIND as RUN
from moot.protocols.arena.seats import ARENA, FINALIZER, PLANNER, REVIEWER
from moot.protocols.authorship import written_by
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.minds import SCRIPTED
from moot.protocols.kernel.minds import Minds as Filling
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.rulebook import VERSION
from moot.recording import Life, Recording
from moot.workshop import ASKER, START, Fitted, fitted, workshop

PLACE: Final = "#r-arena"
PHASES: Final = {PLANNER: "before", REVIEWER: "during", FINALIZER: "after"}

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """One run.

    Attributes:
        task: A TaskContext as given; the run itself judges it.
        config: A ProtocolConfig as given.
        notebook: A NotebookContext as given, or None.
        script: What the seats say; None: simulated minds.
        source: The notebook service; None: the script's, or none at all.
        seed: Seeds simulated minds.
        minds: What fills seats instead of simulated minds; a script's words go before theirs.
        models: The models that minds name.
        budget: What they may spend.
        prompts: Where what they are told is.
        warn: Called with a line for each reason for which one's own mind gave no answer.
        directory: Keeps the log; None: nothing is written.
        life: A recorded one that is held again, of which `again` gives all else; None: none.

    Raises:
        UnusableMind: A mind cannot be used.
    """

    task: Any
    config: Any = field(default_factory=dict)
    notebook: Any = None
    script: ArenaScript | None = None
    source: NotebookSource | None = None
    seed: int = 1
    minds: MindSources = field(default_factory=dict)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    prompts: PromptSettings = field(default_factory=PromptSettings)
    warn: Callable[[str], None] | None = None
    directory: Path | None = None
    life: Life | None = None
    chosen: Mapping[str, Chosen] = field(init=False)

    def __post_init__(self) -> None:
        """Make the minds of one's own."""
        object.__setattr__(self, "chosen", chosen(self.minds, ARENA))

    @property
    def named(self) -> dict[str, Any]:
        """Return how the log calls what fills the seats that are not simulated."""
        return {**named(self.chosen), **scripted_seats(self.script)}


def again(
    recording: Recording,
    directory: Path | None = None,
    *,
    script: ArenaScript | None = None,
    source: NotebookSource | None = None,
) -> RunOptions:
    """Return what it takes to hold a recorded run again.

    Args:
        recording: The run.
        directory: Keeps the log; None: nothing is written.
        script: What its seats said, if a script spoke.
        source: Its notebook service, if it had one.

    Raises:
        BadInput: There is none in it, or its script or notebook is missing.
    """
    life = recording.first
    recording.check_scripts(scripted=script is not None)
    body = recording.opener(ArenaTask, "moot arena run")
    plain = body.model_dump()
    return RunOptions(
        task=plain["task"],
        config=plain["config"],
        notebook=plain["notebook"],
        script=script,
        source=source,
        seed=life.started.seed,
        minds=life.minds,
        models=life.settings.models,
        budget=life.settings.budget,
        prompts=life.settings.prompts,
        directory=directory,
        life=life,
    )


def scripted_seats(script: ArenaScript | None) -> dict[str, str]:
    """Name the seats for which a script speaks, and never anything else."""
    return {} if script is None else {str(seat): SCRIPTED for seat in sorted(ARENA) if getattr(script, seat)}


def run_offline(options: RunOptions, progress: Progress | None = None) -> AuditRecord:
    """Hold one run and return its audit record.

    Args:
        options: The run.
        progress: Called with a sentence whenever a seat has spoken.

    Raises:
        BadInput: Task, config or notebook are no JSON objects, or larger than a message may be; or the directory
            holds a log.
    """
    (record,) = run_many([options], progress)
    return record


def run_many(
    many: list[RunOptions],
    progress: Progress | None = None,
    *,
    clock: VirtualClock | None = None,
    log: list[Envelope] | None = None,
) -> list[AuditRecord]:
    """Hold several runs at once, in one society; they share all but task, config and notebook with the first.

    Args:
        many: The runs.
        progress: As for `run_offline`.
        clock: A new clock, for who wants to end them early.
        log: Takes everything that was logged.

    Raises:
        BadInput: As `run_offline`.
    """
    if not many:
        return []
    logged: list[Envelope] = [] if log is None else log
    messages: dict[str, list[Envelope]] = {}
    order: list[str] = []

    def listen(env: Envelope, fx: Effects) -> None:
        for state in fx.started:
            if state.kind == RUN:
                messages[state.case_id] = []
                order.append(state.case_id)
        if env.case_id in messages:
            messages[env.case_id].append(env)
            if progress is not None:
                progress(f"{env.author}: {env.body.type}")

    async def main(clock: VirtualClock) -> Filling:
        async with fitted(many[0], clock) as fit:
            return await _hold(many, clock, fit, listen, logged)

    minds = (clock or VirtualClock(START)).run(main)
    return [
        audit_record(messages[case_id], written_by(messages[case_id], minds), [(0, VERSION)])
        for case_id in order
    ]


async def _hold(
    many: list[RunOptions],
    clock: VirtualClock,
    fit: Fitted,
    listen: Callable[[Envelope, Effects], None],
    logged: list[Envelope],
) -> Filling:
    """Seat the three, open the runs, and wait until all have ended; return who filled the seats."""
    first = many[0]
    openers = [opener(options, n) for n, options in enumerate(many, 1)]
    async with opened(first.source, clock) as notebook:
        sessions = SessionStore()
        minds = {seat: _mind(seat, first, notebook, sessions, fit) for seat in ARENA}
        async with workshop(
            clock,
            minds,
            seed=first.seed,
            named=first.named,
            fit=fit,
        ) as shop:
            shop.host.listeners.append(listen)
            await shop.hold(openers)
            logged.extend(shop.log)
            if first.warn is not None:
                for line in silences_of(shop.log):
                    first.warn(line)
            return shop.minds


def opener(options: RunOptions, n: int) -> Draft:
    """Return the message that opens a run, the n-th.

    Raises:
        BadInput: Task, config or notebook are no JSON objects, or larger than a message may be.
    """
    try:
        body = ArenaTask(config=options.config, task=options.task, notebook=options.notebook)
    except ValidationError as error:
        raise BadInput(complaint(error)) from None
    return Draft(channel=PLACE, author=ADMIN, body=body, actor=ASKER, key=f"run-{n}")


def _mind(
    seat: Seat, options: RunOptions, notebook: NotebookService | None, sessions: SessionStore, fit: Fitted
) -> Mind:
    if fit.own.is_silent(seat):
        return HumanMind()
    writer: Writer = SimulatedWriter(options.seed, RELIABLE)
    if fit.models.fills(seat):
        writer = fit.models.writer(seat, writer)
    elif mind := fit.own.mind(seat):
        writer = OwnWriter(mind)
    script = options.script
    notebook_of: NotebookOf = partial(_named, notebook)
    if script is None:
        return ArenaMind(writer, notebook_of, sessions)
    if notebook is None:
        behaviour = getattr(script.notebook or NotebookScript(), PHASES[seat])
        notebook_of = partial(_scripted, behaviour)
    is_reviewer = seat == REVIEWER
    writer = ScriptedWriter(
        getattr(script, seat), writer, tries_to_write=is_reviewer and script.reviewer_writes
    )
    if is_reviewer and script.resume_token == "missing":
        sessions = LostSessions()
    return ArenaMind(writer, notebook_of, sessions)


def _named(notebook: NotebookService | None, view: View) -> Notebook | None:
    return None if notebook is None else notebook.named(view.brief["notebook_id"])


def _scripted(behaviour: Behaviour, view: View) -> Notebook:
    return ScriptedNotebook(view.brief["notebook_id"], behaviour)
