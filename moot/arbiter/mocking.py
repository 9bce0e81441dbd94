"""A run that asks nobody: what is answered comes from `protocols.arbiter.mock`, and takes the way of all answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from moot.arbiter.instants import instant
from moot.arbiter.outcomes import Outcomes, cut_short
from moot.arbiter.ports import Embedded, RanTrial
from moot.clock import Clock, in_thread
from moot.protocols.arbiter.generated import Attempt, Call, PlannedTrial, Speaker, Trial, TrialError, Turn
from moot.protocols.arbiter.mock import mock_answer, mock_debate, mock_vector
from moot.protocols.arbiter.parsing import Parsed

if TYPE_CHECKING:
    from moot.arbiter.meetings.meeting import Meeting

BREATH: Final = 64
"""After so many trials that nothing delays, others on the loop have their turn: signals, a progress bar."""

_MOCK: Final = {"mock": True}

Said = tuple[tuple[Speaker, str], ...]
"""What was said in a trial, by whom."""


class _Held(NamedTuple):
    """What was held as a trial: what was said, the final text, and why there is none."""

    said: Said
    verdict: str | None
    failure: str


class MockRunner:
    """Answers trials; by the model that was asked for. Only what simulated minds hold may end without an answer.

    Args:
        outcomes: Reads what is answered.
        clock: Tells the time.
        delay: How long each trial takes.
        is_mute: Nothing is left of an answer that could be embedded.
        meeting: Has simulated minds hold a case of Moot's as a trial, in a thread; None: what is said is made up.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        clock: Clock,
        *,
        delay: timedelta = timedelta(0),
        is_mute: bool = False,
        meeting: Callable[[int], Meeting] | None = None,
    ) -> None:
        """Begin a run."""
        self._outcomes = outcomes
        self._clock = clock
        self._delay = delay
        self._is_mute = is_mute
        self._meeting = meeting
        self._ran = 0

    async def run(self, planned: PlannedTrial) -> RanTrial:
        started = self._clock.now()
        held: _Held | None = None
        try:
            await self._pause()
            if planned.role_assignments is not None:
                held = await self._hold(planned.trial_id)
        except asyncio.CancelledError:
            return cut_short(planned, self._outcomes.read(planned.trial_id, None))
        if held is not None:
            return self._debated(planned, started, held)
        answer = mock_answer(planned.trial_id)
        trial = Trial(
            trial_id=planned.trial_id,
            requested_model_slug=planned.assigned_config.model,
            actual_model=planned.assigned_config.model,
            protocol=planned.protocol,
            status="success",
            assigned_config=planned.assigned_config,
            attempt=self._attempt(started),
            error_code=None,
            raw_assistant_text=answer,
        )
        return RanTrial(trial, self._read(planned.trial_id, answer))

    async def _pause(self) -> None:
        self._ran += 1
        if self._delay:
            await self._clock.sleep(self._delay)
        elif self._ran % BREATH == 0:
            await asyncio.sleep(0)

    async def _hold(self, trial_id: int) -> _Held:
        if self._meeting is not None:
            found = await in_thread(self._clock, self._meeting, trial_id)
            return _Held(
                tuple((turn.role, turn.content) for turn in found.turns), found.verdict, found.failure
            )
        debate = mock_debate(trial_id)
        said: Said = (
            ("proposer", debate.proposal),
            ("critic", debate.critique),
            ("proposer", debate.final),
        )
        return _Held(said, debate.final, "")

    def _debated(self, planned: PlannedTrial, started: datetime, held: _Held) -> RanTrial:
        said, final = held.said, held.verdict
        model = planned.assigned_config.model
        attempt = self._attempt(started)
        why = held.failure or "nobody decided in time"
        trial = Trial(
            trial_id=planned.trial_id,
            requested_model_slug=model,
            actual_model=model if final is not None else None,
            protocol=planned.protocol,
            status="success" if final is not None else "error",
            assigned_config=planned.assigned_config,
            attempt=attempt if said else None,
            error=TrialError(message=why, code=None, retryable=False) if final is None else None,
            error_code=None,
            raw_assistant_text=final,
            role_assignments=planned.role_assignments,
            calls=tuple(
                Call(
                    call_index=turn,
                    turn=turn,
                    role=role,
                    model_requested=model,
                    model_actual=model,
                    request_payload=_MOCK,
                    response_payload={**_MOCK, "content": content},
                    attempt=attempt,
                    error_message=None,
                )
                for turn, (role, content) in enumerate(said)
            ),
            transcript=tuple(
                Turn(turn=turn, role=role, content=content) for turn, (role, content) in enumerate(said)
            ),
        )
        return RanTrial(trial, self._read(planned.trial_id, final))

    def _read(self, trial_id: int, text: str | None) -> Parsed:
        parsed = self._outcomes.read(trial_id, text)
        if not self._is_mute:
            return parsed
        return Parsed(parsed.line.model_copy(update={"embed_text": None}), None)

    def _attempt(self, started: datetime) -> Attempt:
        now = self._clock.now() if self._delay else started
        began = instant(started)
        return Attempt(
            started_at=began,
            completed_at=began if now is started else instant(now),
            latency_ms=(now - started) // timedelta(milliseconds=1),
            retry_count=0,
        )


class MockEmbedder:
    """Embeds each trial by its number, whatever it said; four dimensions.

    Args:
        seed: The run's.
    """

    def __init__(self, seed: int | str) -> None:
        """Begin a run."""
        self._seed = seed

    async def embed(self, trial_id: int, text: str, *, kept: str | None = None) -> Embedded:
        return Embedded(np.array(mock_vector(self._seed, trial_id), dtype=np.float32))
