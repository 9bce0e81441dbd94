"""Arbiter's engine: order of trials and events, stopping, embeddings, what ends a run."""

from __future__ import annotations

import asyncio
import errno
import json
from typing import Any

import numpy as np
import pytest

from moot.arbiter.engine import Engine, RunFailed
from moot.arbiter.events import BatchEnded, Event, RunEnded, RunStarted, TrialEnded
from moot.arbiter.interrupt import Interrupt, Level
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.ports import Embedded, NotBegun, RanTrial
from moot.clock import Clock, VirtualClock
from moot.protocols.arbiter.generated import Assignment, PlannedTrial
from tests.doubles.arbiter_runs import START, Held, Scripted, policy, prepared, trial


def vector(*numbers: float) -> Embedded:
    return Embedded(np.array(numbers, dtype=np.float32))


def test_a_batch_ends_before_a_trial_of_the_next_begins() -> None:
    held = Held(prepared(k_max=10, batch_size=4, workers=3), seconds=lambda trial_id: 1 + trial_id % 3).hold()
    for first, last in ((0, 4), (4, 8)):
        log = held.scripted.log
        ends = [log.index(("end", trial_id)) for trial_id in range(first, last)]
        begins = [log.index(("begin", trial_id)) for trial_id in range(last, min(last + 4, 10))]
        assert max(ends) < min(begins)
    assert held.scripted.most == 3
    assert [type(event) for event in held.events] == [
        RunStarted,
        *(([TrialEnded] * 4 + [BatchEnded]) * 2),
        *([TrialEnded] * 2 + [BatchEnded]),
        RunEnded,
    ]
    assert [batch.row.k_attempted for batch in held.batches] == [4, 8, 10]
    assert (held.ended.stop_reason, held.ended.incomplete, held.ended.k_attempted) == (
        "k_max_reached",
        False,
        10,
    )


def test_trials_are_told_as_they_end_and_measured_by_their_number() -> None:
    run = prepared(k_max=8, batch_size=4, workers=4)
    held = Held(run, seconds=lambda trial_id: 9 - trial_id).hold()
    assert [one.trial.trial_id for one in held.trials] == [3, 2, 1, 0, 7, 6, 5, 4]
    plain = Held(run).hold()
    assert [one.trial.trial_id for one in plain.trials] == list(range(8))

    def assigned(of: Held) -> list[Assignment]:
        return [one for batch in of.batches for one in batch.assignments]

    assert assigned(held) == assigned(plain)
    assert [one.trial_id for one in assigned(held)] == list(range(8))
    assert held.ended.aggregates == plain.ended.aggregates
    assert held.ended.cluster_state == plain.ended.cluster_state


def alike(trial_id: int) -> Embedded:
    return vector(1, 0)


def test_an_enforcer_ends_the_run_when_answers_settle_and_an_advisor_does_not() -> None:
    settings = {"k_max": 40, "batch_size": 4, "k_min": 4}
    stopped = Held(prepared(stop_mode="enforcer", **settings), embedded=alike).hold()
    # The first batch holds the first answer of all, which is new; two quiet ones follow.
    assert [one.row.stop.would_stop for one in stopped.batches] == [False, False, True]
    assert (stopped.ended.stop_reason, stopped.ended.incomplete, stopped.ended.k_attempted) == (
        "converged",
        False,
        12,
    )
    advised = Held(prepared(stop_mode="advisor", **settings), embedded=alike).hold()
    assert (advised.ended.stop_reason, advised.ended.k_attempted) == ("k_max_reached", 40)


def test_converging_in_the_last_batch_is_converging() -> None:
    run = prepared(stop_mode="enforcer", k_max=12, batch_size=4, k_min=4)
    assert Held(run, embedded=alike).hold().ended.stop_reason == "converged"
    # The last trials end after 3 rounds of two workers of two trials each, all of one second.
    assert Held(run, embedded=alike).hold(stops={5.5: 1}).ended.stop_reason == "user_interrupt"


def test_an_interrupt_lets_what_is_in_flight_end_and_measures_it() -> None:
    run = prepared(k_max=12, batch_size=6, workers=2)
    held = Held(run, seconds=lambda trial_id: 4).hold(stops={5: 1})
    assert sorted(one.trial.trial_id for one in held.trials) == [0, 1, 2, 3]
    assert {one.trial.status for one in held.trials} == {"success"}
    assert [batch.row.k_attempted for batch in held.batches] == [4]
    assert (held.ended.stop_reason, held.ended.incomplete) == ("user_interrupt", True)
    assert held.ended.aggregates.incomplete is True
    assert held.at[-1] == 8.0


def test_an_interrupt_before_the_first_trial_leaves_a_run_without_trials() -> None:
    held = Held(prepared())
    held.interrupt.ask()
    held.hold()
    assert [type(event) for event in held.events] == [RunStarted, RunEnded]
    assert held.ended.stop_reason == "user_interrupt"


def test_trials_that_outlast_the_grace_are_cancelled_and_written_as_cut_short() -> None:
    run = prepared(k_max=4, batch_size=4, workers=2)
    held = Held(run, seconds=lambda trial_id: 100 if trial_id else 20).hold(stops={1: 1})
    assert held.at[-1] == 31.0
    done, cut = held.trials
    assert (done.trial.trial_id, done.trial.status) == (0, "success")
    assert (cut.trial.trial_id, cut.trial.status, cut.trial.error_code) == (1, "error", "shutdown_abort")
    assert (cut.parsed.parse_status, cut.embedding.skip_reason) == ("failed", "trial_not_success")
    assert [batch.row.k_attempted for batch in held.batches] == [2]


def test_a_second_interrupt_cancels_at_once() -> None:
    run = prepared("debate_v1", k_max=4, batch_size=4, workers=3)
    held = Held(run, seconds=lambda trial_id: 100).hold(stops={1: 1, 2: 1})
    assert held.at[-1] == 2.0
    assert [one.trial.error_code for one in held.trials] == ["shutdown_abort"] * 3
    assert [one.parsed.parser_version for one in held.trials] == ["debate-v1"] * 3
    assert held.ended.stop_reason == "user_interrupt"
    assert held.batches[0].row.has_eligible_in_batch is False


def test_an_embedding_that_is_cut_short_fails_and_its_trial_does_not() -> None:
    run = prepared(k_max=2, batch_size=2, workers=1)
    held = Held(run)

    async def forever(trial_id: int, text: str) -> Embedded:
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    held.scripted.embed = forever  # type: ignore[method-assign]
    held.hold(stops={3: 2})
    (only,) = held.trials
    assert (only.trial.status, only.embedding.embedding_status) == ("success", "failed")
    assert only.embedding.error == "the run was interrupted"


def test_an_interrupt_is_never_taken_back() -> None:
    interrupt, heard = Interrupt(), list[Level]()
    interrupt.subscribe(heard.append)
    interrupt.raise_to(Level.NONE)
    for _ in range(3):
        interrupt.ask()
    interrupt.raise_to(Level.GRACEFUL)
    assert (interrupt.level, heard) == (Level.NOW, [Level.GRACEFUL, Level.NOW])


def test_a_vector_of_another_length_or_without_numbers_fails_and_the_run_goes_on() -> None:
    found = {
        0: Embedded(np.array([1, 0], dtype=np.float32), model="e/one", generation_id="g0"),
        1: Embedded(np.array([1, 0, 0], dtype=np.float32), model="e/one", generation_id="g1"),
        2: vector(float("nan"), 1),
        3: Embedded(None, "the endpoint is away"),
        4: vector(),
        5: Embedded(np.array([0, 1], dtype=np.float32), generation_id="g0"),
    }
    held = Held(prepared(k_max=6, workers=1), embedded=found.__getitem__).hold()
    lines = [one.embedding for one in held.trials]
    assert [line.embedding_status for line in lines] == ["success", *["failed"] * 4, "success"]
    assert [line.error for line in lines[1:5]] == [
        "the vector has 3 dimensions, those before it 2",
        "the vector holds what is no finite number",
        "the endpoint is away",
        "the vector is empty",
    ]
    assert {one.trial.status for one in held.trials} == {"success"}
    assert held.ended.embeddings == (2, "e/one", ("g0", "g1"), 2, 4, 0)
    assert [batch.row.k_eligible for batch in held.batches] == [1, 2]


def test_two_embedding_models_are_none() -> None:
    def of(trial_id: int) -> Embedded:
        return vector(1, 0)._replace(model=f"e/{trial_id}")

    assert Held(prepared(), embedded=of).hold().ended.embeddings.actual_model is None


def test_what_cannot_be_embedded_is_skipped_and_says_why() -> None:
    texts = {0: None, 1: " \n", 2: "x" * 9000, 3: "ü"}
    held = Held(prepared(k_max=4, workers=1), text=texts.__getitem__).hold()
    lines = [one.embedding for one in held.trials]
    assert [line.skip_reason for line in lines] == ["trial_not_success", "empty_embed_text", None, None]
    assert [line.embed_text_sha256 is None for line in lines] == [True, True, False, False]
    assert (lines[2].embed_text_original_chars, lines[2].embed_text_final_chars) == (9000, 8000)
    assert (lines[2].embed_text_truncated, lines[2].truncation_reason) == (True, "max_chars_exceeded")
    assert held.batches[0].row.k_eligible == 2


@pytest.mark.parametrize(
    ("rule", "reason"), [("warn", "k_max_reached"), ("exclude", "k_max_reached"), ("fail", "error")]
)
def test_answers_without_their_form_fail_a_run_only_when_its_policy_says_so(rule: str, reason: str) -> None:
    texts = {0: None, 1: "yes", 2: "no", 3: " "}
    held = Held(prepared(k_max=4), text=texts.__getitem__).hold(contract_failure_policy=rule)
    assert held.error is None
    assert (held.ended.stop_reason, held.ended.incomplete) == (reason, rule == "fail")
    assert held.ended.aggregates.incomplete is held.ended.incomplete
    assert held.ended.notes == (
        "2 of 4 answers have not the form that was asked for" if rule == "fail" else None
    )


def test_an_answer_without_its_form_is_not_embedded_when_the_policy_excludes_it() -> None:
    run = prepared(k_max=3)

    def unparsed(planned: PlannedTrial) -> RanTrial:
        text = ("yes", "no", " ")[planned.trial_id]
        parsed = Outcomes(run.config, None, "live-v0").read(planned.trial_id, text)
        if planned.trial_id == 1:
            parsed = parsed._replace(line=parsed.line.model_copy(update={"parse_status": "fallback"}))
        return RanTrial(trial(planned), parsed)

    class Unparsed(Scripted):
        async def run(self, planned: PlannedTrial) -> RanTrial:
            return unparsed(planned)

    held = Held(run)
    held.scripted = Unparsed(run, held.clock)
    held.hold(contract_failure_policy="exclude")
    assert [one.embedding.skip_reason for one in held.trials] == [
        None,
        "contract_failure",
        "empty_embed_text",
    ]
    assert (held.ended.stop_reason, held.ended.aggregates.k_eligible) == ("k_max_reached", 1)


def test_a_trial_that_was_not_begun_is_none_of_the_run_and_the_end_says_why() -> None:
    def before(trial_id: int) -> None:
        if trial_id >= 2:
            held.interrupt.raise_to(Level.GRACEFUL, "the budget is spent")
            raise NotBegun("the budget is spent")

    held = Held(prepared(k_max=8, batch_size=4, workers=3), before=before)
    held.hold()
    assert sorted(one.trial.trial_id for one in held.trials) == [0, 1]
    assert [one.row.k_attempted for one in held.batches] == [2]
    ended = held.ended
    assert (ended.stop_reason, ended.incomplete, ended.notes) == (
        "user_interrupt",
        True,
        "the budget is spent",
    )


def test_a_record_that_breaks_its_schema_ends_the_run_as_an_error() -> None:
    def before(trial_id: int) -> None:
        if trial_id == 2:
            Assignment.from_json(json.dumps({"trial_id": 2}))

    held = Held(prepared(), before=before).hold()
    assert isinstance(held.error, RunFailed)
    assert held.ended.notes == str(held.error)
    assert str(held.error) == "a record is not what its schema says: Assignment.cluster_id: Field required"
    assert (held.ended.stop_reason, held.ended.incomplete) == ("error", True)
    assert held.ended.aggregates.incomplete is True


def test_a_subscriber_that_fails_ends_the_run_and_the_others_hear_the_end() -> None:
    def full(event: Event) -> None:
        if isinstance(event, BatchEnded | RunEnded):
            raise OSError(errno.ENOSPC, "No space left on device", "runs/x/trials.jsonl")

    held = Held(prepared()).hold(full)
    assert str(held.error) == "runs/x/trials.jsonl: cannot be written: No space left on device"
    assert held.ended.notes == str(held.error)
    assert held.batches == []
    assert held.ended.k_attempted == 4


def test_who_did_not_hear_the_beginning_does_not_hear_the_end() -> None:
    def closed(event: Event) -> None:
        raise FileExistsError(errno.EEXIST, "File exists", "runs/x")

    held = Held(prepared()).hold(closed)
    assert held.events == []
    assert isinstance(held.error, RunFailed)
    assert held.scripted.log == []


def test_a_run_that_nobody_awaits_any_more_tells_no_end() -> None:
    run, events = prepared(), list[Any]()

    async def main(clock: Clock) -> None:
        scripted = Scripted(run, clock, seconds=lambda trial_id: 100)
        engine = Engine(run, policy(), scripted, scripted, clock, Interrupt(), [events.append])
        task = asyncio.create_task(engine.run())
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert scripted.inside == 0

    VirtualClock(START).run(main)
    assert not any(isinstance(event, RunEnded) for event in events)
