"""`moot.debate`: any question, debated and judged in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from moot.api.log import log_of, open_log
from moot.api.options import a_listener, a_seed, place_of, seated
from moot.api.result import CaseResult
from moot.api.running import Prepared, twins
from moot.cases.motion.offline import SEATS, MotionOptions, hold_motion
from moot.cases.texts import a_text
from moot.channels.showing.wording import an
from moot.clock import VirtualClock
from moot.minds.choosing import MindSources
from moot.minds.model_choice import BudgetSource, ModelSource
from moot.protocols.authorship import summary
from moot.protocols.kernel.errors import BadInput
from moot.workshop import START


@dataclass(frozen=True, slots=True)
class Objection:
    """What the Critic objected.

    Attributes:
        number: Counted from 1 over all rounds.
        round: When it was raised.
        text: What it says.
        severity: minor, major or fatal.
        evidence_ref: What it rests on, "" for nothing.
        answer: What the Advocate answered, "" for nothing.
        is_conceded: Whether the Advocate conceded it.
        stands: Whether it stands by the judgment; without one, whether nobody answered it.
    """

    number: int
    round: int
    text: str
    severity: str
    evidence_ref: str
    answer: str
    is_conceded: bool
    stands: bool


@dataclass(frozen=True, repr=False)
class DebateResult(CaseResult):
    """What a debate came to.

    Attributes:
        log: Every message.
        question: What was asked.
        options: The answers to choose from.
        outcome: UPHELD, REJECTED or UNDECIDED by the judgment; TIMEOUT where nobody claimed or judged anything.
        claim: What the Advocate claimed, one of the options; "" for nothing.
        answer: What the judgment names as right, one of the options; "" for none.
        confidence: The Judge's; None without a judgment.
        reasoning: The Judge's; "" without a judgment.
        objections: What the Critic objected, by number.
    """

    question: str
    options: tuple[str, ...]
    outcome: str
    claim: str
    answer: str
    confidence: float | None
    reasoning: str
    objections: tuple[Objection, ...]

    def rows(self) -> list[tuple[str, object]]:
        sure = "" if self.confidence is None else f", confidence {self.confidence:.2f}"
        standing = sum(one.stands for one in self.objections)
        return [
            ("question", " ".join(self.question.split())[:200]),
            ("outcome", f"{self.outcome}{sure}"),
            ("claim", self.claim or "none"),
            ("answer", self.answer or "none"),
            ("objections", _counted(len(self.objections), standing)),
        ]


def _counted(objections: int, standing: int) -> str:
    if objections == 0:
        return "none"
    if objections == 1:
        return "1, it stands" if standing else "1, it does not stand"
    return f"{objections}, {standing or 'none'} of them {'stands' if standing == 1 else 'stand'}"


def _debate(
    question: str,
    *,
    options: Sequence[str] = (),
    context: str | Path | None = None,
    rounds: int = 2,
    minds: MindSources | None = None,
    model: ModelSource | None = None,
    seats: Collection[str] | None = None,
    budget: BudgetSource | None = None,
    seed: int = 1,
    out: Path | str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Prepared[DebateResult]:
    """Have a question debated by Advocate and Critic, and judged.

    Args:
        question: What is asked.
        options: The answers to choose from, 2 to 20; none: yes or no.
        rounds: How many rounds of objections and replies there are before the judgment, 1 to 3.
        context: A text that all seats are shown, or the path of a file that holds it; up to 100,000 characters.
        minds: What fills a seat (advocate, critic, judge): a mind, its class, `"package.module:Class"`,
            `"simulated"` or `"silent"`; seats that are not named are simulated.
        model: A language model for seats: `"URL#NAME"`, NAME of a configured `[models.NAME]`, or a mapping with what
            such a section holds, and `temperature` and `max_tokens`. The key of `"URL#NAME"` stands in MOOT_MODEL_KEY.
        seats: Which seats it takes; by default all, but those that `minds` names.
        budget: What it may spend: US dollars, or a mapping with what `[budget]` holds; by default as configured.
        seed: Seeds simulated minds.
        out: A directory that keeps the log; by default it is kept in memory.
        progress: Called with a line whenever somebody has spoken.

    Raises:
        BadInput: An argument cannot be used; the line says which and why.
        ConfigError: A mind cannot be used, or there is no such model.
        MootError: A model cannot be called, or the directory cannot be written.
    """
    if not isinstance(context, str | Path | None):
        raise BadInput(f"context: give a text or a pathlib.Path, not {an(type(context).__name__)}")
    filled = seated(minds, SEATS, model=model, seats=seats, budget=budget)
    given = MotionOptions(
        question=question,
        options=options,
        context=a_text(context) if isinstance(context, Path) else context or "",
        rounds=rounds,
        seed=a_seed(seed),
        minds=filled.minds,
        models=filled.models,
        budget=filled.budget,
        prompts=filled.settings.prompts,
        directory=place_of(out),
    )
    return Prepared(partial(_debated, given, a_listener(progress)), START)


debate, adebate = twins(_debate)


def _debated(
    given: MotionOptions, progress: Callable[[str], None] | None, clock: VirtualClock
) -> DebateResult:
    done = hold_motion(given, progress, clock=clock)
    log = log_of(done.log) if given.directory is None else open_log(given.directory)
    record = done.record
    return DebateResult(
        log=log,
        **{
            name: record[name]
            for name in ("question", "outcome", "claim", "answer", "confidence", "reasoning")
        },
        options=tuple(record["options"]),
        objections=tuple(Objection(**one) for one in record["objections"]),
        written_by=summary(record["written_by"]),
        record=record,
        case=log.cases[done.case_id],
    )
