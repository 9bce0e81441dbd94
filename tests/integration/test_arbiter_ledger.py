"""The ledger of a live run: budgets hold, what was answered is paid once, and its log is one as any other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.arbiter.events import Event, TrialEnded
from moot.arbiter.interrupt import Interrupt
from moot.arbiter.ledger import FOLDER, Ledger
from moot.bots.models.errors import UnusableModel
from moot.channels.errors import LeaseHeld
from moot.channels.log.lease import Lease
from moot.logs import open_log
from moot.protocols.calls.messages import CallSettled
from moot.protocols.lab.messages import ExperimentBatch, ExperimentEnded
from moot.stored import stored_envelopes
from moot.verify import verify
from tests.doubles.arbiter_live import run_live
from tests.doubles.arbiter_runs import configured
from tests.doubles.model_server import ModelServer, Turn, completion, embedding, refusal

KEY = "sk-test-0123456789abcdefghij"


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer(key=KEY) as server:
        yield server


@pytest.fixture
def server(running: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    monkeypatch.setenv("A_KEY", KEY)
    running.forget().always = completion("yes")
    return running


def settled(directory: Path) -> list[CallSettled]:
    found = (env.body for env in stored_envelopes(directory / FOLDER))
    return [body for body in found if isinstance(body, CallSettled)]


def is_sound(directory: Path) -> bool:
    with open_log(directory / FOLDER / "log.sqlite") as source:
        report = verify(source)
    assert not report.findings
    return report.ok


def test_each_call_is_booked_sent_once_and_settled_and_no_key_is_kept(
    server: ModelServer, tmp_path: Path
) -> None:
    server.always = completion(f"my key is {KEY}")
    ran = run_live(server, tmp_path, key_env="A_KEY")
    assert (ran.ended.stop_reason, ran.ended.k_attempted) == ("k_max_reached", 8)
    assert (len(server.calls), len(server.embedded)) == (8, 8)
    assert [one.outcome for one in settled(tmp_path)] == ["answered"] * 16
    assert is_sound(tmp_path)
    assert {one.trial.raw_assistant_text for one in ran.trials} == {"my key is [redacted:key]"}
    assert all(KEY not in str(one.trial.as_json()) for one in ran.trials)
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_budget_that_is_spent_ends_a_run_and_what_was_paid_is_not_paid_again(
    server: ModelServer, tmp_path: Path
) -> None:
    first = run_live(server, tmp_path, budget={"calls": 9}, key_env="A_KEY")
    assert (first.ended.stop_reason, first.ended.incomplete) == ("user_interrupt", True)
    assert first.ended.notes == "the budget of the run is 9 calls, which leaves no room for the call"
    paid = len(server.calls), len(server.embedded)
    assert sum(paid) == 9 and 0 < first.ended.k_attempted < 8
    second = run_live(server, tmp_path, budget={"calls": 16}, key_env="A_KEY")
    assert (second.ended.stop_reason, second.ended.k_attempted) == ("k_max_reached", 8)
    assert (len(server.calls), len(server.embedded)) == (8, 8)
    third = run_live(server, tmp_path, budget={"calls": 16}, key_env="A_KEY")
    assert len(server.sent) == 16
    # What is answered from the ledger is the same, down to when it was said.
    by_id = sorted((one.trial.trial_id, str(one.trial.as_json())) for one in second.trials)
    assert by_id == sorted((one.trial.trial_id, str(one.trial.as_json())) for one in third.trials)
    assert third.ended.aggregates == second.ended.aggregates
    assert is_sound(tmp_path)
    # Each life is an experiment of its own, and says what its run said.
    log = [env.body for env in stored_envelopes(tmp_path / FOLDER)]
    ends = [(one.experiment_id, one.stop_reason) for one in log if isinstance(one, ExperimentEnded)]
    case = f"exp_{configured().run.run_id}"
    assert ends == [
        (case, "out_of_budget"),
        (f"{case}-1", "k_max_reached"),
        (f"{case}-2", "k_max_reached"),
    ]
    told = [one for one in log if isinstance(one, ExperimentBatch) and one.experiment_id == f"{case}-2"]
    assert [one.k_attempted for one in told] == [4, 8]
    assert told[-1].tokens == 960 and told[-1].examples[0].text == "yes"


def test_a_run_answers_from_its_ledger_what_failed_and_was_tried_again(
    server: ModelServer, tmp_path: Path
) -> None:
    config = configured(k_max=2, workers=1, batch_size=1, k_min=1)
    server.plays(
        refusal(503, "busy"),
        refusal(429, "slow down"),
        completion("no"),
        Turn(stall="break"),
        completion("yes"),
    )
    server.embedding_script.extend([refusal(500, "broke"), embedding([1.0, 0.0]), embedding([1.0, 0.0])])
    first = run_live(server, tmp_path, config=config, key_env="A_KEY")
    assert [one.trial.raw_assistant_text for one in first.trials] == ["no", "yes"]
    assert [one.trial.attempt.retry_count for one in first.trials if one.trial.attempt] == [2, 1]
    sent = len(server.sent)
    second = run_live(server, tmp_path, config=config, key_env="A_KEY")
    assert len(server.sent) == sent
    assert [one.trial.raw_assistant_text for one in second.trials] == ["no", "yes"]
    assert second.ended.aggregates == first.ended.aggregates
    assert is_sound(tmp_path)


def test_a_second_interrupt_cancels_what_is_in_flight_and_the_ledger_settles_it(
    server: ModelServer, tmp_path: Path
) -> None:
    config = configured(k_max=4, workers=2, batch_size=4)
    server.plays(completion("yes"), Turn(stall="before"), Turn(stall="before"))

    def stop(ledger: Ledger, interrupt: Interrupt, event: Event) -> None:
        if isinstance(event, TrialEnded) and not interrupt.level:
            waits = server.expects(3)

            async def twice() -> None:
                while not waits.is_set() and len(server.calls) < 3:
                    await asyncio.sleep(0.01)
                interrupt.ask()
                interrupt.ask()

            tasks.append(asyncio.get_running_loop().create_task(twice()))

    tasks: list[asyncio.Task[None]] = []
    ran = run_live(server, tmp_path, config=config, key_env="A_KEY", watch=stop)
    assert (ran.ended.stop_reason, ran.ended.incomplete) == ("user_interrupt", True)
    assert [(one.trial.status, one.trial.error_code) for one in ran.trials] == [
        ("success", None),
        ("error", "shutdown_abort"),
        ("error", "shutdown_abort"),
    ]
    assert [one.outcome for one in settled(tmp_path)].count("abandoned") == 2
    assert is_sound(tmp_path)
    server.always = completion("no")
    again = run_live(server, tmp_path, config=config, key_env="A_KEY")
    assert again.ended.stop_reason == "k_max_reached"
    assert len(server.calls) == 1 + 2 + 3


def test_a_dollar_budget_needs_a_price_and_a_ledger_one_writer(server: ModelServer, tmp_path: Path) -> None:
    with pytest.raises(UnusableModel, match=r"models\.a-one: a budget in US dollars needs its price"):
        run_live(server, tmp_path, budget={"usd": 1})
    with pytest.raises(UnusableModel, match="NOT_SET"):
        run_live(server, tmp_path, key_env="NOT_SET")
    with Lease.acquire(tmp_path / FOLDER), pytest.raises(LeaseHeld):
        run_live(server, tmp_path)
    assert not server.sent
