"""Runs of Arbiter in virtual time, with trials that take as long and end as a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from moot.arbiter.engine import Engine
from moot.arbiter.events import BatchEnded, Event, RunEnded, TrialEnded
from moot.arbiter.interrupt import Interrupt
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.ports import Embedded, RanTrial
from moot.arbiter.resolving import Prepared, prepare
from moot.clock import Clock, VirtualClock
from moot.config.arbiter.bank import load_bank
from moot.config.arbiter.judging import judge_of
from moot.protocols.arbiter.generated import PlannedTrial, Policy, ResolvedConfiguration, Trial
from tests.doubles.arbiter_configs import resolved, verdict_contract

START = datetime(2026, 1, 1, tzinfo=UTC)


def policy(**changed: Any) -> Policy:
    plain = {"strict": False, "allow_free": False, "allow_aliased": False, "contract_failure_policy": "warn"}
    return Policy.model_validate({**plain, **changed})


def configured(
    kind: str = "independent", *, labels: Sequence[str] = (), **execution: Any
) -> ResolvedConfiguration:
    """Return the configuration of a small run.

    Args:
        labels: What its contract lets a trial decide on; without any it has no contract.
    """
    found = resolved(kind)
    if labels:
        found["protocol"]["decision_contract"] = verdict_contract({"enum": [*labels]})
    found["run"]["run_id"] = "20260101T000000Z_abcdef"
    found["execution"].update(execution)
    return ResolvedConfiguration.from_json(json.dumps(found))


def prepared(kind: str = "independent", **settings: Any) -> Prepared:
    """Return a small run, as `configured`, before its first call."""
    return prepare(configured(kind, **settings), load_bank(None))


def trial(planned: PlannedTrial, **fields: Any) -> Trial:
    """Return a trial of an independent run that succeeded."""
    given = {
        "trial_id": planned.trial_id,
        "requested_model_slug": planned.assigned_config.model,
        "actual_model": planned.assigned_config.model,
        "protocol": planned.protocol,
        "status": "success",
        "assigned_config": planned.assigned_config,
        "error_code": None,
    }
    return Trial.model_validate({**given, **fields})


class Scripted:
    """Carries out and embeds the trials of a run.

    Attributes:
        log: What began and ended, in order.
        inside: Trials in flight.
        most: The most there ever were.
    """

    def __init__(
        self,
        run: Prepared,
        clock: Clock,
        *,
        seconds: Callable[[int], float] = lambda trial_id: 1.0,
        text: Callable[[int], str | None] = lambda trial_id: f"answer {trial_id}",
        embedded: Callable[[int], Embedded] | None = None,
        before: Callable[[int], None] = lambda trial_id: None,
    ) -> None:
        self._clock = clock
        self._outcomes = Outcomes(run.config, judge_of(run.config.protocol.decision_contract), "live-v0")
        self._seconds, self._text, self._embedded, self._before = seconds, text, embedded, before
        self.log: list[tuple[str, int]] = []
        self.inside = self.most = 0

    async def run(self, planned: PlannedTrial) -> RanTrial:
        trial_id = planned.trial_id
        self.log.append(("begin", trial_id))
        self._before(trial_id)
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await self._clock.sleep(timedelta(seconds=self._seconds(trial_id)))
        finally:
            self.inside -= 1
        self.log.append(("end", trial_id))
        text = self._text(trial_id)
        status = {} if text is not None else {"status": "error"}
        return RanTrial(trial(planned, **status), self._outcomes.read(trial_id, text))

    async def embed(self, trial_id: int, text: str, *, kept: str | None = None) -> Embedded:
        if self._embedded is not None:
            return self._embedded(trial_id)
        return Embedded(np.random.default_rng(trial_id).random(4).astype(np.float32))


class Held:
    """A run that was carried out.

    Attributes:
        events: What it told.
        error: What it raised.
    """

    def __init__(self, run: Prepared, **script: Any) -> None:
        """Take what `Scripted` is given."""
        self.run = run
        self.clock = VirtualClock(START)
        self.interrupt = Interrupt()
        self.scripted = Scripted(run, self.clock, **script)
        self.events: list[Event] = []
        self.error: Exception | None = None
        self.at: list[float] = []

    def hear(self, event: Event) -> None:
        self.events.append(event)
        self.at.append((self.clock.now() - START).total_seconds())

    def hold(
        self,
        *others: Callable[[Event], None],
        stops: dict[float, int] | None = None,
        enough: Callable[[], str | None] = lambda: None,
        **policies: Any,
    ) -> Held:
        """Carry it out.

        Args:
            others: Further subscribers, told before this one.
            stops: Seconds after which it is interrupted, and how often then.
            enough: Whether it may end after a batch.
        """

        async def main(clock: Clock) -> None:
            loop_tasks = [
                clock_task(clock, seconds, lambda times=times: [self.interrupt.ask() for _ in range(times)])
                for seconds, times in (stops or {}).items()
            ]
            engine = Engine(
                self.run,
                policy(**policies),
                self.scripted,
                self.scripted,
                clock,
                self.interrupt,
                [*others, self.hear],
                enough,
            )
            try:
                await engine.run()
            except Exception as error:
                self.error = error
            for task in loop_tasks:
                task.cancel()

        self.clock.run(main)
        return self

    @property
    def ended(self) -> RunEnded:
        last = self.events[-1]
        assert isinstance(last, RunEnded)
        return last

    @property
    def trials(self) -> list[TrialEnded]:
        return [event for event in self.events if isinstance(event, TrialEnded)]

    @property
    def batches(self) -> list[BatchEnded]:
        return [event for event in self.events if isinstance(event, BatchEnded)]


def clock_task(clock: Clock, seconds: float, act: Callable[[], Any]) -> Any:
    """Do something after so many seconds of society time."""
    import asyncio

    async def later() -> None:
        await clock.sleep(timedelta(seconds=seconds))
        act()

    return asyncio.create_task(later())
