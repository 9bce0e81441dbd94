"""What a run of Arbiter tells a society of its experiment: its start, its batches, its end, now and then nonsense."""

from __future__ import annotations

from typing import Any, Final

from moot.chaos.dice import Dice
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Actor
from moot.protocols.lab.experiment import ExperimentState
from moot.protocols.lab.messages import (
    ExperimentBatch,
    ExperimentEnded,
    ExperimentStarted,
    Person,
    StopPolicy,
    Told,
)

TRIALS: Final = 2
"""Of a batch."""
BATCHES: Final = 3
SHA: Final = "ab" * 32
HOUR: Final = 3_600


def told(docket: Docket, dice: Dice, who: Actor, n: int) -> Told:
    """Return what a run tells next: of an open experiment what follows, else that a new one begins.

    Args:
        docket: The society's.
        dice: Draw how it goes.
        who: Whose run it is.
        n: Tells it from others.
    """
    found = [state for state in docket.cases.values() if isinstance(state, ExperimentState)]
    if not found or dice.chance(0.2):
        return _started(dice, who, n)
    state = dice.pick(found)
    if state.told < BATCHES and dice.chance(0.75):
        return _batch(state, dice)
    return _ended(state, dice, docket)


def _started(dice: Dice, who: Actor, n: int) -> ExperimentStarted:
    run_id = f"run{n}"
    return ExperimentStarted(
        experiment_id=f"exp_{run_id}",
        run_id=run_id,
        started_by=Person(platform=who.platform, user_id=who.user_id),
        question="Is a week long enough?",
        mode="mock",
        protocol="independent",
        models=("one", "two"),
        k_planned=TRIALS * BATCHES,
        k_min=TRIALS,
        batch_size=TRIALS,
        stop_mode="advisor",
        stop_policy=StopPolicy(novelty_epsilon=0.1, similarity_threshold=0.9, patience=2),
        cluster_limit=None,
        labels=("yes", "no"),
        config_sha256=SHA,
        plan_sha256=SHA,
        silence_s=dice.whole(HOUR, 48 * HOUR),
    )


def _batch(state: ExperimentState, dice: Dice) -> ExperimentBatch:
    """Return the batch that follows, whose trials came to no answer."""
    following = state.told + (1 if dice.chance(0.1) else 0)
    attempted = TRIALS * (state.told + 1)
    return ExperimentBatch(
        experiment_id=state.case_id,
        batch_number=following,
        k_attempted=attempted,
        unsuccessful=attempted,
        unparsed=0,
        should_stop=False,
        would_stop=False,
        clusters=None,
        examples=(),
        silence_s=dice.whole(HOUR, 48 * HOUR),
        **_measured(100 * attempted),
    )


def _ended(state: ExperimentState, dice: Dice, docket: Docket) -> ExperimentEnded:
    last = state.last
    is_whole = last is not None and last.k_attempted == state.start.k_planned
    reason: Any = "k_max_reached" if is_whole else dice.pick(("user_interrupt", "error", "lost"))
    stopper = docket.context.fold_named("stoppers").stopper(state.case_id)
    return ExperimentEnded(
        experiment_id=state.case_id,
        k_attempted=last.k_attempted if last is not None else 0,
        stop_reason=reason,
        incomplete=not is_whole,
        notes="",
        batches=state.told,
        stopped_by=stopper if reason == "user_interrupt" else None,
        **_measured(last.tokens if last is not None else 0),
    )


def _measured(tokens: int) -> dict[str, Any]:
    return {
        "k_eligible": 0,
        "novelty_rate": None,
        "mean_max_sim_to_prior": None,
        "labels": (),
        "other_labels": 0,
        "tokens": tokens,
        "cost": None,
    }
