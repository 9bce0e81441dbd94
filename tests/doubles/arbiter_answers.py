"""A run of Arbiter whose models answer as a seed says: decisions, rationales, prose, silence and faults, with usage.

Carried out by the real engine in virtual time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import numpy as np

from moot.arbiter.artifacts import ArtifactWriter
from moot.arbiter.engine import Engine
from moot.arbiter.events import Event
from moot.arbiter.interrupt import Interrupt
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.ports import Embedded, RanTrial
from moot.arbiter.resolving import Prepared, prepare
from moot.clock import Clock, VirtualClock
from moot.config.arbiter.bank import load_bank
from moot.config.arbiter.configuring import resolve
from moot.config.arbiter.judging import judge_of
from moot.config.arbiter.templates import from_template
from moot.protocols.arbiter.generated import Configuration, PlannedTrial, Policy, Trial, TrialError, Usage

START = datetime(2026, 2, 23, 10, tzinfo=UTC)

RATIONALES = {
    "yes": (
        "People who work on weekdays can come only on Sundays.",
        "Families would use the reading room together on Sundays.",
        "A trial period costs little and shows how many come.",
        "Students need a quiet place before Monday's lessons.",
    ),
    "no": (
        "Nobody has said who pays the staff on Sundays.",
        "Opening longer on Saturdays serves as many people for less.",
        "The staff needs one day of rest that all of them share.",
    ),
}


def configured(template: str = "heterogeneity", **execution: Any) -> Configuration:
    """Return a template's configuration, with other fields of its execution."""
    found = from_template(template).as_json()
    found["execution"].update(execution)
    return Configuration.from_json(json.dumps(found))


def prepared(config: Configuration, run_id: str = "20260223T100000Z_a1b2c3") -> Prepared:
    """Return a run before its first call."""
    bank = load_bank(None)
    return prepare(resolve(config, bank, run_id, "arbiter.config.json"), bank)


def text_of(trial_id: int, model: str) -> str | None:
    """Say what a model answers: mostly a decision, sometimes prose, nothing, or None for a fault."""
    chance = Random(crc32(f"{trial_id}/{model}".encode()))
    fate = chance.random()
    if fate < 0.03:
        return None
    if fate < 0.05:
        return " "
    if fate < 0.1:
        return "There is much to be said for both sides, and I would rather not decide."
    decision = "yes" if chance.random() < 0.5 + 0.4 * (crc32(model.encode()) % 7) / 7 else "no"
    rationale = chance.choice(RATIONALES[decision])
    return json.dumps({"decision": decision, "rationale": rationale, "confidence": 0.8})


class Answering:
    """Carries out and embeds the trials of a run.

    Args:
        answers: Says what a model answers to a trial; None is a fault.
    """

    def __init__(self, run: Prepared, clock: Clock, answers: Callable[[int, str], str | None]) -> None:
        contract = run.config.protocol.decision_contract
        self._outcomes = Outcomes(run.config, judge_of(contract) if contract else None, "live-v0")
        self._clock, self._answers = clock, answers

    async def run(self, planned: PlannedTrial) -> RanTrial:
        model = planned.assigned_config.model
        text = self._answers(planned.trial_id, model)
        await self._clock.sleep(timedelta(seconds=1 + planned.trial_id % 3))
        size = len(text or "")
        trial = Trial(
            trial_id=planned.trial_id,
            requested_model_slug=model,
            actual_model=None if text is None else model,
            protocol="independent",
            status="error" if text is None else "success",
            assigned_config=planned.assigned_config,
            error=None if text is not None else TrialError(message="HTTP 500", code=None, retryable=True),
            error_code=None,
            raw_assistant_text=text,
            usage=None
            if text is None
            else Usage(
                prompt_tokens=180,
                completion_tokens=size // 4,
                total_tokens=180 + size // 4,
                cost=(180 + size) * 1e-7,
            ),
        )
        return RanTrial(trial, self._outcomes.read(planned.trial_id, text))

    async def embed(self, trial_id: int, text: str, *, kept: str | None = None) -> Embedded:
        words = np.zeros(16, dtype=np.float32)
        for word in text.lower().split():
            words[crc32(word.encode()) % 16] += 1
        noise = np.random.default_rng(trial_id).normal(0, 0.12, 16).astype(np.float32)
        return Embedded(words + noise, model="scripted/bag-of-words")


def answered(
    run: Prepared,
    subscribers: Sequence[Callable[[Event], None]],
    answers: Callable[[int, str], str | None] = text_of,
    *,
    stop_after_s: float | None = None,
    asked: int = 1,
) -> None:
    """Carry out a run, and interrupt it after so many seconds of its time: gracefully, or at once when asked twice."""
    clock, interrupt = VirtualClock(START), Interrupt()
    policy = Policy(strict=False, allow_free=False, allow_aliased=False, contract_failure_policy="warn")

    async def main(clock: Clock) -> None:
        async def stop() -> None:
            await clock.sleep(timedelta(seconds=stop_after_s or 0))
            for _ in range(asked):
                interrupt.ask()

        stopping = asyncio.create_task(stop()) if stop_after_s is not None else None
        answering = Answering(run, clock, answers)
        await Engine(run, policy, answering, answering, clock, interrupt, subscribers).run()
        if stopping is not None:
            stopping.cancel()

    clock.run(main)


def kept(folder: Path, config: Configuration | None = None, **how: Any) -> Path:
    """Carry out a run and keep it in a folder, as the program does; return the folder of the run.

    Args:
        config: What is asked; by default `configured()`.
        how: Its run_id, further subscribers, and what `answered` is given.
    """
    run = prepared(config or configured(), **({"run_id": how.pop("run_id")} if "run_id" in how else {}))
    directory = folder / run.config.run.run_id
    answered(run, [ArtifactWriter(directory, print), *how.pop("subscribers", ())], **how)
    return directory
