"""The case of an experiment: it runs, it may be stopped by a person, it ends; one that falls silent is lost (K31).

A run tells what it wants when it has it, so no message of it but the last is owed: what is owed is a sign of life. The
lab's own duty is to end an experiment of which nothing was heard for as long as its last message allowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message, changed
from moot.protocols.kernel.seats import LAB
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Move, Owe, RuleInput, Step, passes
from moot.protocols.lab.figures import RULE, check_batch, check_end, check_start, quiet_after
from moot.protocols.lab.messages import (
    LONGEST_SILENCE_S,
    LOST,
    ExperimentBatch,
    ExperimentEnded,
    ExperimentStarted,
    Person,
    Told,
)
from moot.protocols.lab.rights import PLACE

KIND: Final = "experiment"
OUTCOMES: Final = {"k_max_reached": "finished", "user_interrupt": "interrupted", "error": "failed"}
"""How a case ends, where the reason of its run is no word for it."""
RUNNING, STOPPING = "running", "stopping"
STOPPERS: Final = "stoppers"
"""The name of the fold that knows who stopped what."""


@dataclass(frozen=True, kw_only=True)
class ExperimentState(CaseState):
    """State of an experiment.

    Attributes:
        start: How it started.
        last: The last batch, None before the first.
        quiet: Batches in a row that brought nothing new.
        silence_s: Seconds of the society that it may be silent from its last message on.
    """

    start: ExperimentStarted
    last: ExperimentBatch | None = None
    quiet: int = 0
    silence_s: int

    @property
    def told(self) -> int:
        """Return how many batches were told."""
        return 0 if self.last is None else self.last.batch_number + 1


def filled(body: Told, by: Person, fastest: float, context: RuleContext) -> Told:
    """Fill in what no run knows: who sent it, how fast time goes in the society, whose STOP it obeyed.

    Args:
        body: What a run tells; its `silence_s` are seconds of the wall.
        by: Who sent it.
        fastest: Seconds of the society that may go by in one of the wall.
        context: The society.
    """
    if isinstance(body, ExperimentEnded):
        return changed(body, "stopped_by", stopped_by(body.experiment_id, body.stop_reason, context))
    if isinstance(body, ExperimentStarted):
        body = changed(body, "started_by", by)
    return changed(body, "silence_s", min(LONGEST_SILENCE_S, math.ceil(body.silence_s * fastest)))


def _check_key(given: RuleInput) -> None:
    env, key = given.message, given.body.key
    if env.obligation_id is None and env.id != key:
        raise Violation("K1", f"is {env.id}, this is {key}", field="id")


def begin(given: RuleInput) -> ExperimentState:
    """Open the case of a run that has begun."""
    env, body = given.message, given.body
    _check_key(given)
    check_start(body)
    return ExperimentState(
        case_id=body.experiment_id,
        kind=KIND,
        phase=RUNNING,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        start=body,
        silence_s=body.silence_s,
    )


def go_on(state: ExperimentState, given: RuleInput) -> Effect:
    """Take in a batch, and wait for the next sign of life."""
    body = given.body
    _check_key(given)
    quiet = quiet_after(state.start, state.quiet, body)
    check_batch(state.start, state.last, quiet, body)
    changes = {"last": body, "quiet": quiet, "silence_s": body.silence_s}
    return Effect(changes, owe=(Owe(state.phase),))


def end(state: ExperimentState, given: RuleInput) -> Effect:
    """Take in the end.

    Raises:
        Violation: The figures do not fit, it says falsely who stopped it, or nobody waited long enough for it.
    """
    body, env = given.body, given.message
    if body.stop_reason == LOST and env.obligation_id is None:
        raise Violation(RULE, "no run says so of itself: it is what silence leads to", field="stop_reason")
    _check_key(given)
    check_end(state.start, state.last, body)
    if body.stopped_by != stopped_by(state.case_id, body.stop_reason, given.context):
        raise Violation(RULE, "is whoever said STOP to a run that was interrupted", field="stopped_by")
    return Effect(outcome=OUTCOMES.get(body.stop_reason, body.stop_reason))


def stopped_by(experiment_id: str, reason: str, context: RuleContext) -> Person | None:
    """Return the person whose STOP a run obeyed that ended for a reason."""
    stopper: Person | None = context.fold_named(STOPPERS).stopper(experiment_id)
    return stopper if reason == "user_interrupt" else None


def lose(state: ExperimentState, _given: RuleInput) -> ExperimentEnded:
    """Return the end of an experiment of which nothing was heard any more: what it said last stands."""
    last = state.last
    waited = timedelta(seconds=state.silence_s)
    return ExperimentEnded(
        experiment_id=state.case_id,
        k_attempted=last.k_attempted if last else 0,
        k_eligible=last.k_eligible if last else 0,
        novelty_rate=last.novelty_rate if last else None,
        mean_max_sim_to_prior=last.mean_max_sim_to_prior if last else None,
        labels=last.labels if last else (),
        other_labels=last.other_labels if last else 0,
        tokens=last.tokens if last else 0,
        cost=last.cost if last else 0,
        stop_reason="lost",
        incomplete=True,
        notes=f"nothing was heard of it for {waited}",
        batches=state.told,
        stopped_by=None,
    )


def _silence(state: ExperimentState, _given: RuleInput) -> timedelta:
    return timedelta(seconds=state.silence_s)


def _name(state: ExperimentState, _subject: Any) -> str:
    return f"{state.phase}-{state.told}"


_MOVES: Final[dict[str, dict[type[Message], Move]]] = {
    phase: {ExperimentBatch: Move((phase,), go_on), ExperimentEnded: Move((ENDED,), end)}
    for phase in (RUNNING, STOPPING)
}

EXPERIMENT: Final = Machine(
    kind=KIND,
    system="",
    phases=(RUNNING, STOPPING),
    rule=RULE,
    start={ExperimentStarted: Start(begin, (RUNNING,))},
    steps={
        phase: Step(
            phase=phase,
            seat=LAB,
            channel=PLACE,
            moves=moves,
            missed=None,
            rule=RULE,
            within=_silence,
            grace=timedelta(0),
            name=_name,
            discharge=lose,
        )
        for phase, moves in _MOVES.items()
    },
    rulings={STOP: Move((STOPPING,), passes)},
)
