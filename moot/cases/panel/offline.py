"""A panel in virtual time, without a society around it: its reviewers, a synthesizer, an Orchestrator (spec 2 to 8)."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from moot.bots.minds.human import HumanMind
from moot.bots.minds.mind import Mind, View
from moot.bots.minds.scripted_panel import ScriptedPanelWriter
from moot.bots.minds.simulated.panel.addressed import addressed, speaks
from moot.bots.minds.simulated.panel.writer import SimulatedPanelWriter
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.seats.in_turn import InTurn
from moot.bots.seats.panel import PanelMind, PanelWriter
from moot.bots.seats.panel_prompts import Prompt
from moot.cases.panel.record import PanelRecord, panel_record
from moot.cases.panel.script import Texts
from moot.clock import VirtualClock
from moot.config.budget import BudgetSettings
from moot.config.models import ModelSettings
from moot.config.prompts import PromptSettings
from moot.memory.evidence import text_of
from moot.minds.choosing import Chosen, MindSources, chosen, named
from moot.minds.silences import silences_of
from moot.minds.writing import OwnPanelWriter
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.faults import first_fault
from moot.protocols.kernel.minds import SCRIPTED, Minds, behind_scripts
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.panel import audit
from moot.protocols.panel.contract import ROLES, Contract, as_json, contract_from, prepared
from moot.protocols.panel.messages import PanelOpened, Phase2
from moot.protocols.panel.rights import PLACE
from moot.protocols.panel.seats import PANEL, PANELISTS, SYNTHESIZER
from moot.protocols.panel.synthesis import Majority, OnNoneFired
from moot.recording import Life, Recording
from moot.workshop import ASKER, START, Fitted, evidence_in, fitted, workshop

KIND: Final = "paper"
"""Under which works are kept as evidence."""

Progress = Callable[[str], None]

Shows = Callable[[str, Mapping[str, str]], str]
"""Makes of a work, and the reviews so far by role, what a reviewer is shown."""


def work_alone(work: str, _reviews: Mapping[str, str]) -> str:
    """Show the work and nothing else, as the protocol has it."""
    return work


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelOptions:
    """One panel.

    Attributes:
        contract: As loaded; its `generated_at` is set when the panel opens (spec 3).
        content: The work, which no Phase 1 is shown.
        title, field: What Phase 1 knows of it, with its word count.
        texts: What reviewers say; whoever has no text is simulated.
        majority: R-P1.
        on_none_fired: R-P2.
        seed: Seeds simulated reviewers.
        minds: What fills seats instead of simulated reviewers; texts go before their words.
        models: The models that minds name.
        budget: What they may spend.
        prompts: Where what they are told is.
        warn: Called with a line for each reason for which one's own mind gave no answer.
        directory: Keeps the log and the work; None: nothing is written.
        life: A recorded one that is held again, of which `again` gives all else; None: none.
        simulated: Writes for the seats that nothing else fills; None: the reviewers who measure.
        shows: What reviewers are shown of the work.
        is_in_turn: Whether they review one after the other, so that there are reviews to show.

    Raises:
        UnusableMind: A mind cannot be used.
    """

    contract: Contract
    content: str
    title: str
    field: str
    texts: Texts = dataclasses.field(default_factory=dict)
    majority: Majority = "spec"
    on_none_fired: OnNoneFired = "accept"
    seed: int = 1
    minds: MindSources = dataclasses.field(default_factory=dict)
    models: Mapping[str, ModelSettings] = dataclasses.field(default_factory=dict)
    budget: BudgetSettings = dataclasses.field(default_factory=BudgetSettings)
    prompts: PromptSettings = dataclasses.field(default_factory=PromptSettings)
    warn: Callable[[str], None] | None = None
    directory: Path | None = None
    life: Life | None = None
    simulated: PanelWriter | None = None
    shows: Shows = work_alone
    is_in_turn: bool = False
    chosen: Mapping[str, Chosen] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        """Make the minds of one's own."""
        object.__setattr__(self, "chosen", chosen(self.minds, PANEL))

    @property
    def named(self) -> dict[str, Any]:
        """Return how the log calls what fills the seats that are not simulated."""
        return _named(self.texts, named(self.chosen))


def again(recording: Recording, directory: Path | None = None, *, texts: Texts | None = None) -> PanelOptions:
    """Return what it takes to hold a recorded panel again.

    Args:
        recording: The panel.
        directory: Keeps the log and the work; None: nothing is written.
        texts: What a script said for its reviewers, if one did.

    Raises:
        BadInput: There is none in it, or its script is missing.
    """
    life = recording.first
    recording.check_scripts(scripted=bool(texts))
    body = recording.opener(PanelOpened, "moot panel run")
    return PanelOptions(
        contract=contract_from(body.model_dump()["contract"]),
        content=text_of(evidence_in(recording.directory), body.content_ref),
        title=body.title,
        field=body.field,
        texts=texts or {},
        majority=body.majority,
        on_none_fired=body.on_none_fired,
        seed=life.started.seed,
        minds=life.minds,
        models=life.settings.models,
        budget=life.settings.budget,
        prompts=life.settings.prompts,
        directory=directory,
        life=life,
    )


def seats_of(contract: Contract) -> tuple[Seat, ...]:
    """Return the seats that speak under a contract: its reviewers, then the synthesizer."""
    return (*(Seat(role) for role in ROLES.get(contract.mode, ())), SYNTHESIZER)


@dataclass(frozen=True, slots=True)
class PanelRun:
    """What a panel leaves behind.

    Attributes:
        record: Its audit record.
        prompts: What each output was asked with, in order: (role, phase, attempt, prompt).
        log: Everything that was logged.
    """

    record: PanelRecord
    prompts: tuple[tuple[str, str, int, Prompt], ...]
    log: tuple[Envelope, ...]


class _Listening(PanelWriter):
    """Notes what is asked of another writer."""

    def __init__(self, writer: PanelWriter, asked: list[tuple[str, str, int, Prompt]]) -> None:
        self._writer = writer
        self._asked = asked

    def begins_at_once(self, view: View) -> bool:
        return self._writer.begins_at_once(view)

    def delay(self, view: View) -> timedelta | None:
        return self._writer.delay(view)

    async def write(self, view: View, prompt: Prompt) -> str | None:
        role, phase = view.seat, view.obligation.expects[0].lower()
        attempt = 1 + sum(one[:2] == (role, phase) for one in self._asked)
        self._asked.append((role, phase, attempt, prompt))
        return await self._writer.write(view, prompt)


def _named(texts: Texts, minds: Mapping[str, Any]) -> dict[str, Any]:
    """Name what fills the seats, of which a script speaks for some: alone, or only in one of the phases."""
    phases = {str(seat): {"phase1", "phase2"} for seat in PANELISTS} | {str(SYNTHESIZER): {"synthesis"}}
    given = {seat: {phase for role, phase in texts if role == seat} for seat in phases}
    scripted = {seat: said for seat, said in given.items() if said}
    wholly = {seat: SCRIPTED for seat, said in scripted.items() if said >= phases[seat]}
    return {**behind_scripts(minds, scripted), **wholly}


def run_panel(
    options: PanelOptions, progress: Progress | None = None, *, clock: VirtualClock | None = None
) -> PanelRun:
    """Hold one panel.

    Args:
        options: The panel.
        progress: Called with a sentence whenever somebody has spoken.
        clock: A new clock, for who wants to end it early.

    Raises:
        BadInput: The directory holds a log.
        Malformed: Title or field are longer than a message may be.
    """
    evidence = evidence_in(options.directory)
    asked: list[tuple[str, str, int, Prompt]] = []
    log: list[Envelope] = []
    reviews: dict[str, str] = {}

    def stands(env: Envelope, fx: Effects) -> None:
        if fx.is_in_effect and isinstance(env.body, Phase2):
            reviews[env.author] = env.body.text

    async def main(clock: VirtualClock) -> Minds:
        async with fitted(options, clock) as fit:
            ref = evidence.put(KIND, {"text": options.content})
            minds = {seat: _mind(seat, options, fit, asked) for seat in PANEL}
            async with workshop(
                clock,
                minds,
                seed=options.seed,
                contents=lambda ref: options.shows(text_of(evidence, ref), reviews),
                named=options.named,
                fit=fit,
            ) as shop:
                shop.host.listeners.append(stands)
                if progress is not None:
                    shop.host.listeners.append(lambda env, _fx: progress(f"{env.author}: {env.body.type}"))
                await shop.hold([_opener(options, ref)])
                log.extend(shop.log)
                if options.warn is not None:
                    for line in silences_of(log):
                        options.warn(line)
                return shop.minds

    filled = (clock or VirtualClock(START)).run(main)
    case_id = next(env.case_id for env in log if env.body.type == "PANEL_OPENED")
    record = panel_record([env for env in log if env.case_id == case_id], filled, _sha256(options.content))
    record["tags"] += _suspicions(options.content, record)
    return PanelRun(record, tuple(asked), tuple(log))


def _mind(seat: Seat, options: PanelOptions, fit: Fitted, asked: list[tuple[str, str, int, Prompt]]) -> Mind:
    if fit.own.is_silent(seat):
        return HumanMind()
    writer = options.simulated or SimulatedPanelWriter(options.seed, RELIABLE)
    if fit.models.fills(seat):
        writer = fit.models.panel_writer(seat, writer)
    elif mind := fit.own.mind(seat):
        writer = OwnPanelWriter(mind)
    if options.texts:
        writer = ScriptedPanelWriter(options.texts, writer)
    filled = PanelMind(_Listening(writer, asked))
    roles = ROLES.get(options.contract.mode, ()) if options.is_in_turn else ()
    return InTurn(filled, START, roles.index(seat)) if seat in roles else filled


def _suspicions(content: str, record: PanelRecord) -> list[str]:
    """Tag a work, or a Phase 1 output, that speaks to its readers: it is treated as data all the same."""
    texts = {"paper": content}
    for role, phases in record["outputs"].items():
        texts |= {f"{role}.phase1.{n}": text for n, text in enumerate(phases["phase1"], 1)}
    return [
        audit.injection_suspected(where, n) for where, text in texts.items() if (n := _spoken(text, where))
    ]


def _spoken(text: str, where: str) -> int:
    """Count the lines; in a Phase 1 output pinned lines are at home."""
    if where == "paper":
        return sum(bool(addressed(line)[1]) for line in text.splitlines())
    return sum(map(speaks, text.splitlines()))


def _opener(options: PanelOptions, ref: str) -> Draft:
    try:
        body = PanelOpened(
            contract=as_json(prepared(options.contract, START)),
            title=options.title,
            field=options.field,
            word_count=len(options.content.split()),
            content_ref=ref,
            majority=options.majority,
            on_none_fired=options.on_none_fired,
        )
    except ValidationError as error:
        where, why = first_fault(error, "panel")
        raise Malformed("2", why, field=where) from None
    return Draft(channel=PLACE, author=ADMIN, body=body, actor=ASKER, key="panel-1")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
