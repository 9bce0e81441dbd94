"""A motion in virtual time, without a society around it: Advocate, Critic, Judge, one channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from moot.bots.minds.human import HumanMind
from moot.bots.minds.mind import Mind
from moot.bots.minds.simulated.motion.debater import SimulatedDebater
from moot.bots.minds.simulated.temper import RELIABLE
from moot.cases.motion.record import MotionRecord, motion_record
from moot.channels.filling import MOST_KEPT
from moot.channels.showing.wording import an
from moot.clock import VirtualClock
from moot.config.budget import BudgetSettings
from moot.config.models import ModelSettings
from moot.config.prompts import PromptSettings
from moot.memory.evidence import Evidence, text_of
from moot.minds.choosing import Chosen, MindSources, chosen, named
from moot.minds.silences import silences_of
from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.faults import EMPTY, line
from moot.protocols.kernel.minds import SIMULATED, Minds
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.motion.messages import ROUNDS, Motion
from moot.protocols.motion.rights import PLACE
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from moot.protocols.motion.state import KIND as MOTION
from moot.protocols.research.seats import CRITIC
from moot.recording import Life, Recording
from moot.workshop import ASKER, START, Fitted, evidence_in, fitted, workshop

SEATS: Final = (ADVOCATE, CRITIC, JUDGE)

KIND: Final = "context"
"""Under which contexts are kept as evidence."""


Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionOptions:
    """One motion.

    Attributes:
        question: What is asked.
        options: The answers to choose from; none: yes or no.
        rounds: Rounds of objections and replies before the judgment, 1 to 3.
        context: A text that all seats are shown, up to `MOST_KEPT` characters; "" for none.
        seed: Seeds simulated minds.
        minds: What fills the seats instead of simulated minds.
        models: The models that minds name.
        budget: What they may spend.
        prompts: Where what they are told is.
        directory: Keeps the log; None: nothing is written.
        life: A recorded one that is held again, of which `again` gives all else; None: none.

    Raises:
        BadInput: Question, options or context cannot be used.
        UnusableMind: A mind cannot.
    """

    question: str
    options: Sequence[str] = ()
    context: str = ""
    rounds: int = ROUNDS
    seed: int = 1
    minds: MindSources = field(default_factory=dict)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    prompts: PromptSettings = field(default_factory=PromptSettings)
    directory: Path | None = None
    life: Life | None = None
    chosen: Mapping[str, Chosen] = field(init=False)

    def __post_init__(self) -> None:
        """Check the question, and make the minds of one's own."""
        _motion(self)
        object.__setattr__(self, "chosen", chosen(self.minds, SEATS))

    @property
    def named(self) -> dict[str, Any]:
        """Return how the log calls what fills the seats that are not simulated."""
        return {seat: name for seat, name in named(self.chosen).items() if name != SIMULATED}


@dataclass(frozen=True, slots=True)
class MotionRun:
    """What a motion leaves behind.

    Attributes:
        case_id: Its case.
        log: Everything that was logged.
        record: What it came to.
    """

    case_id: str
    log: tuple[Envelope, ...]
    record: MotionRecord


def again(recording: Recording, directory: Path | None = None) -> MotionOptions:
    """Return what it takes to hold a recorded motion again.

    Raises:
        BadInput: There is none in it.
    """
    life = recording.first
    body = recording.opener(Motion, "moot debate")
    evidence = evidence_in(recording.directory)
    return MotionOptions(
        question=body.question,
        options=body.options,
        context=text_of(evidence, body.context_ref) if body.context_ref else "",
        rounds=body.rounds,
        seed=life.started.seed,
        minds=life.minds,
        models=life.settings.models,
        budget=life.settings.budget,
        prompts=life.settings.prompts,
        directory=directory,
        life=life,
    )


def hold_motion(
    options: MotionOptions,
    progress: Progress | None = None,
    *,
    listener: Callable[[Envelope], None] | None = None,
    clock: VirtualClock | None = None,
) -> MotionRun:
    """Have a question debated and judged.

    Args:
        options: The motion.
        progress: Called with a sentence whenever somebody has spoken.
        listener: Called for every message as it is logged.
        clock: A new clock, for who wants to end it early.

    Raises:
        BadInput: The directory holds a log.
    """
    log: list[Envelope] = []
    ended: list[CaseState] = []
    evidence = evidence_in(options.directory)

    async def main(clock: VirtualClock) -> Minds:
        async with fitted(options, clock) as fit:
            minds = {seat: _mind(seat, options.seed, fit) for seat in SEATS}
            contents = partial(text_of, evidence)
            async with workshop(
                clock,
                minds,
                seed=options.seed,
                contents=contents,
                named=options.named,
                fit=fit,
            ) as shop:
                if progress is not None:
                    shop.host.listeners.append(lambda env, _fx: progress(f"{env.author}: {env.body.type}"))
                if listener is not None:
                    for env in shop.log:
                        listener(env)
                    shop.host.listeners.append(lambda env, _fx: listener(env))
                shop.host.listeners.append(
                    lambda _env, fx: ended.extend(state for state in fx.ended if state.kind == MOTION)
                )
                await shop.hold([_opener(options, evidence)])
                log.extend(shop.log)
                return shop.minds

    by_log = (clock or VirtualClock(START)).run(main)
    (state,) = ended
    said = (env for env in log if env.case_id == state.case_id)
    record = motion_record(said, state.outcome, by_log) | {"warnings": silences_of(log)}
    return MotionRun(state.case_id, tuple(log), record)


def _mind(seat: Seat, seed: int, fit: Fitted) -> Mind:
    if fit.own.is_silent(seat):
        return HumanMind()
    simulated = SimulatedDebater(seed, RELIABLE)
    return fit.models.mind(seat, simulated) if fit.models.fills(seat) else fit.own.mind(seat) or simulated


def _opener(options: MotionOptions, evidence: Evidence) -> Draft:
    ref = evidence.put(KIND, {"text": options.context}) if options.context else ""
    return Draft(channel=PLACE, author=ADMIN, body=_motion(options, ref), actor=ASKER, key="motion-1")


def _motion(options: MotionOptions, context_ref: str = "") -> Motion:
    question, answers = options.question, options.options
    if not isinstance(question, str):
        raise BadInput(f"question: give a text, not {an(type(question).__name__)}")
    if not question.strip():
        raise BadInput(f"question: {EMPTY}")
    if isinstance(answers, str) or not isinstance(answers, Sequence):
        what = "text" if isinstance(answers, str) else type(answers).__name__
        raise BadInput(f"options: give a list of texts, not {an(what)}")
    for n, one in enumerate(answers, 1):
        if not isinstance(one, str):
            raise BadInput(f"options: option {n} is {an(type(one).__name__)}: give texts")
        if not one.strip():
            raise BadInput(f"options: option {n} is blank")
    if len(options.context) > MOST_KEPT:
        raise BadInput(f"context: has {len(options.context):,} characters, {MOST_KEPT:,} are the most")
    try:
        return Motion(
            question=question,
            options=tuple(answers),
            context_ref=context_ref,
            rounds=options.rounds,  # type: ignore[arg-type]  # judged here
        )
    except ValidationError as error:
        raise BadInput(line(error, "motion")) from None
