"""The duty runner: duties at their instant, once, whoever posts them, whatever the disk does (K5, K9)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from moot.bots.officers.duty_runner import DutyRunner
from moot.channels.bus import Receipt
from moot.channels.errors import BusClosed, StorageError
from moot.clock import VirtualClock
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from tests.doubles.canned import CannedMind
from tests.doubles.checking import findings
from tests.doubles.stage import Stage, play
from tests.doubles.table import START


def kinds(log: list[Envelope]) -> list[str]:
    return [env.body.type for env in log]


def minutes(log: list[Envelope], kind: str) -> list[float]:
    return [(env.sent_at - START) / timedelta(minutes=1) for env in log if env.body.type == kind]


# ---------------------------------------------------------------- at work in a society


def test_duties_are_posted_at_the_very_instant_at_which_they_fall_due() -> None:
    async def script(stage: Stage) -> None:
        await stage.wait(hours=4)

    log = play({}, script, schedules={"micro": {"cron": "0 */2 * * *"}})
    assert kinds(log)[:4] == ["SOCIETY_STARTED", "CYCLE_TRIGGER", "TIMEOUT_PING", "RULING"]
    assert minutes(log, "CYCLE_TRIGGER")[:2] == [0, 120]
    ping, ruling = log[2], log[3]
    assert ping.sent_at.microsecond == ruling.sent_at.microsecond == 0
    assert minutes(log, "TIMEOUT_PING")[0] == log[2].body.waited_min  # type: ignore[attr-defined]
    assert ruling.sent_at > ping.sent_at
    assert not findings(log)


@pytest.mark.rule("K9")
def test_k9_two_offices_on_one_host_leave_one_message_for_each_duty() -> None:
    def run(offices: int) -> list[Envelope]:
        async def script(stage: Stage) -> None:
            others = [DutyRunner(stage.host, stage.clock) for _ in range(offices - 1)]
            tasks = [asyncio.create_task(duty_runner.run()) for duty_runner in others]
            for duty_runner in others:
                stage.host.listeners.append(lambda _env, _fx, duty_runner=duty_runner: duty_runner.wake())
            await stage.wait(hours=9)
            for task in tasks:
                assert not task.done() or task.result() is None
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        silent_critic = {EXPLORER: CannedMind(), EVOLVER: CannedMind()}
        return play(silent_critic, script, schedules={"micro": {"cron": "0 */2 * * *"}})

    alone, three = run(1), run(3)
    assert [env.id for env in three] == [env.id for env in alone]
    assert {"TIMEOUT_PING", "RULING", "CYCLE_TRIGGER", "ESCALATION"} <= set(kinds(three))
    assert not findings(three)


def test_a_duty_that_is_overtaken_while_it_is_written_changes_nothing() -> None:
    """The critic answers just before the ruling that voids its silence comes into the log."""
    void_at: list[datetime] = []

    async def script(stage: Stage) -> None:
        docket = stage.host.docket
        while not docket.owed_by(CRITIC):
            await stage.wait(minutes=1)
        (owed,) = docket.owed_by(CRITIC)
        void_at.append(owed.void_at)
        publish = stage.host.publish

        async def slowly(draft: Draft) -> Receipt:
            if draft.body.type == "RULING":
                view = await stage.host.view(CRITIC, owed)
                assert view is not None
                reply = await CannedMind().answer(view)
                answer = stage.host.answer_draft(view, reply.body) if reply else None
                assert answer is not None
                await publish(answer)
            return await publish(draft)

        stage.host.publish = slowly  # type: ignore[method-assign]
        await stage.clock.sleep_until(owed.void_at + timedelta(seconds=1))
        stage.host.publish = publish  # type: ignore[method-assign]
        await stage.wait(hours=1)

    log = play({EXPLORER: CannedMind(), EVOLVER: CannedMind()}, script)
    ruling = next(env for env in log if env.body.type == "RULING")
    assert ruling.sent_at == void_at[0]
    assert log[ruling.seq - 2].body.type == "RISK_ASSESSMENT"
    assert log[ruling.seq].body.type == "REBUTTAL", "the debate goes on as if there were no ruling"
    assert not findings(log)


def test_duties_survive_a_disk_that_fails_once() -> None:
    failed: list[str] = []

    async def script(stage: Stage) -> None:
        publish = stage.bus.publish

        async def once(draft: Draft) -> Receipt:
            if draft.author == REFEREE and draft.body.type not in failed:
                failed.append(draft.body.type)
                raise StorageError("disk full")
            return await publish(draft)

        stage.bus.publish = once  # type: ignore[method-assign]
        await stage.wait(hours=1)

    log = play({}, script)
    assert {"TIMEOUT_PING", "RULING"} <= set(failed)
    assert kinds(log)[:4] == ["SOCIETY_STARTED", "CYCLE_TRIGGER", "TIMEOUT_PING", "RULING"]
    assert log[2].sent_at.second == 1, "it looks again a second later"


# ---------------------------------------------------------------- on its own


class Desk:
    """Duties in the test's hands."""

    def __init__(self, outcomes: Sequence[str | Exception], due: Callable[[datetime], list[str]]) -> None:
        self.outcomes = list(outcomes)
        self.names = due
        self.tried: list[str] = []
        self.next: datetime | None = None

    def due(self, now: datetime) -> list[Draft]:
        return [
            Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=Note(text=name), key=name)
            for name in self.names(now)
        ]

    def next_instant(self) -> datetime | None:
        return self.next

    def mute(self, _draft: Draft) -> bool:
        return False

    async def publish(self, draft: Draft) -> Receipt:
        self.tried.append(draft.key)
        outcome = self.outcomes.pop(0) if self.outcomes else "accepted"
        await asyncio.sleep(0)
        if isinstance(outcome, Exception):
            raise outcome
        return Receipt(1, draft.key, outcome)  # type: ignore[arg-type]


def work(
    desk: Desk, script: Callable[[VirtualClock, DutyRunner, asyncio.Task[None]], Awaitable[None]]
) -> None:
    async def main(clock: VirtualClock) -> None:
        duty_runner = DutyRunner(desk, clock)
        task = asyncio.create_task(duty_runner.run())
        try:
            await script(clock, duty_runner, task)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    VirtualClock(START).run(main)


@pytest.mark.rule("K5")
def test_k5_a_duty_that_is_due_although_it_stands_in_the_log_is_a_fault() -> None:
    desk = Desk(["duplicate"] * 100, lambda _now: ["same"])

    async def script(clock: VirtualClock, _duty_runner: DutyRunner, task: asyncio.Task[None]) -> None:
        await clock.sleep(timedelta(minutes=1))
        with pytest.raises(OfficerFault, match="referee owes NOTE same, which stands in the log"):
            task.result()

    work(desk, script)
    assert len(desk.tried) == 4


def test_a_duplicate_that_another_office_posted_first_is_no_fault() -> None:
    desk = Desk(["duplicate"] * 3, lambda _now: ["same"] if len(desk.tried) < 3 else [])

    async def script(clock: VirtualClock, _duty_runner: DutyRunner, task: asyncio.Task[None]) -> None:
        await clock.sleep(timedelta(minutes=1))
        assert not task.done()

    work(desk, script)


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"]])
def test_a_batch_of_duties_waits_once_for_the_disk_and_goes_on(names: list[str]) -> None:
    twice = 2 * len(names)
    desk = Desk([StorageError("full")] * len(names), lambda _now: names if len(desk.tried) < twice else [])
    at: list[datetime] = []

    async def script(clock: VirtualClock, _duty_runner: DutyRunner, task: asyncio.Task[None]) -> None:
        while len(desk.tried) < twice:
            await clock.sleep(timedelta(milliseconds=100))
        at.append(clock.now())
        await clock.sleep(timedelta(minutes=1))
        assert not task.done()

    work(desk, script)
    assert desk.tried == names * 2
    assert timedelta(seconds=1) <= at[0] - START < timedelta(seconds=1.5)


def test_an_office_closes_with_its_bus() -> None:
    desk = Desk([BusClosed("closed")], lambda _now: ["a"])

    async def script(clock: VirtualClock, _duty_runner: DutyRunner, task: asyncio.Task[None]) -> None:
        await clock.sleep(timedelta(seconds=1))
        assert task.done() and task.result() is None

    work(desk, script)


def test_an_instant_that_passes_while_the_office_looks_is_not_slept_through() -> None:
    """A clock that runs between the look and the wait: what fell due in between is posted all the same."""
    instant = START + timedelta(microseconds=1)

    class Running:
        """Virtual time that has moved on whenever it is asked again."""

        def __init__(self, clock: VirtualClock) -> None:
            self.clock = clock
            self.asked = 0

        def now(self) -> datetime:
            self.asked += 1
            return START if self.asked == 1 else max(self.clock.now(), START + timedelta(milliseconds=1))

        async def sleep_until(self, until: datetime) -> None:
            await self.clock.sleep_until(until)

    desk = Desk([], lambda now: ["late"] if now >= instant and not desk.tried else [])
    desk.next = instant

    async def main(clock: VirtualClock) -> None:
        task = asyncio.create_task(DutyRunner(desk, Running(clock)).run())
        await clock.sleep(timedelta(minutes=1))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    VirtualClock(START).run(main)
    assert desk.tried == ["late"]


def test_an_office_wants_waking_for_what_falls_due_before_its_next_look() -> None:
    desk = Desk([], lambda _now: [])
    desk.next = START + timedelta(hours=1)

    async def script(clock: VirtualClock, duty_runner: DutyRunner, _task: Any) -> None:
        assert duty_runner.wants_waking(START + timedelta(days=1)), "it has not looked yet"
        await clock.sleep(timedelta(minutes=1))
        assert duty_runner.wants_waking(START + timedelta(minutes=59))
        assert not duty_runner.wants_waking(START + timedelta(minutes=61))

    work(desk, script)
