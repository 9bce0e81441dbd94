"""Trials in which models hold a whole debate of Moot's: Advocate, Critic and Judge, by the rules of a motion."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from moot.arbiter.asking import EMBEDDING, Place, Post, ask
from moot.arbiter.debate import SEATS, Debate
from moot.arbiter.live import NO_BUDGET, PERSONA_RULE, LiveRunner, whole
from moot.arbiter.outcomes import Outcomes, cut_short
from moot.arbiter.ports import NotBegun, RanTrial
from moot.arbiter.replies import Ending, call_of, ending
from moot.bots.minds.mind import Mind, View
from moot.bots.minds.model.asking import ModelOptions
from moot.bots.minds.model.mind import ModelMind, at_once
from moot.bots.models.answer import Answer
from moot.bots.models.caller import NoBudget
from moot.bots.models.request import Request
from moot.clock import Clock
from moot.config.prompts import Prompts
from moot.minds.foreseeing import fault_of
from moot.minds.model_minds import SHIPPED
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.arbiter.generated import (
    Call,
    MootSeat,
    MootSeats,
    PlannedTrial,
    ResolvedConfiguration,
    Role,
    Trial,
    TrialError,
)
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.minds import MODEL
from moot.protocols.kernel.seats import Seat

REQUESTS: Final = 20
"""So many numbers each call has for its requests: the first and those that are sent again."""

MOST_CALLS: Final = 45
"""So often are the seats of one debate asked; by the numbers that requests of a run have there is room for no more."""


class _Over(Exception):
    """Say how a debate ended before its judgment."""

    def __init__(self, ended: Ending) -> None:
        super().__init__(ended.error.message if ended.error else "")
        self.ended = ended


class MotionRunner(LiveRunner):
    """Has models debate and judge; a call that fails, or a seat that gives no usable answer, ends the trial."""

    def __init__(self, config: ResolvedConfiguration, outcomes: Outcomes, post: Post, clock: Clock) -> None:
        """Begin a run; as `LiveRunner`."""
        super().__init__(config, outcomes, post, clock)
        self._config = config
        self._prompts_of_seats = SHIPPED.load()

    async def run(self, planned: PlannedTrial) -> RanTrial:
        assert isinstance(planned.role_assignments, MootSeats)
        debate = Debate(self._config, planned.trial_id)
        held = _Held(self, debate, planned.trial_id, self._clock, self._trial_limit)
        try:
            ended = await held.hold(planned.role_assignments, self._prompts_of_seats)
        except asyncio.CancelledError:
            short = cut_short(planned, self._outcomes.read(planned.trial_id, None)).trial
            ended = Ending(short.status, short.error, short.error_code)
        if ended.error_code == NO_BUDGET and ended.error is not None and not held.calls:
            raise NotBegun(ended.error.message)
        text = held.debate.verdict if ended.status == "success" else None
        trial = Trial(
            trial_id=planned.trial_id,
            requested_model_slug=planned.assigned_config.model,
            actual_model=held.calls[-1].model_actual if text is not None else None,
            protocol=planned.protocol,
            status=ended.status,
            assigned_config=planned.assigned_config,
            attempt=whole(held.calls),
            error=ended.error,
            error_code=ended.error_code,
            raw_assistant_text=text,
            role_assignments=planned.role_assignments,
            calls=tuple(held.calls),
            transcript=tuple(held.debate.turns),
        )
        return RanTrial(trial, self._outcomes.read(planned.trial_id, text))

    async def ask(self, held: _Held, seat: MootSeat, role: Role, request: Request) -> Answer:
        """Make a call of a debate, and keep it."""
        n, left = held.asked, held.until - self._clock.now()
        if n == MOST_CALLS:
            raise _Over(_failed(f"its seats were asked {n} times, and it did not end"))
        if left <= timedelta(0):
            raise _Over(held.over())
        held.asked += 1
        place = Place(held.trial_id, n % EMBEDDING, REQUESTS * (n // EMBEDDING))
        # Each call has room for a few requests more: those that an endpoint takes only otherwise are no retries.
        most = min(self._patience.retries, REQUESTS - 5)
        patience = self._patience._replace(limit=min(self._patience.limit, left), retries=most)
        turn = len(held.debate.turns)
        asked = await ask(
            self._post, self._clock, place, role.model_slug, self._worded(role, request), patience
        )
        answer = asked.sent.answer
        ended = ending(answer)
        held.calls.append(call_of(len(held.calls), turn, seat, role.model_slug, asked, ended))
        if ended.error is not None:
            raise _Over(ended)
        return answer

    def _worded(self, role: Role, request: Request) -> Request:
        """Put the persona before what the seat is told, and sample as the trial drew it."""
        persona = self._personas[role.persona_id or ""].strip()
        first, *others = request.messages
        if persona:
            first = {**first, "content": f"{persona}{PERSONA_RULE}{first['content']}"}
        drawn = {} if role.decode is None else role.decode.as_json()
        # What an answer in a form may take is the form's, where the file does not say; one cut off may take more.
        drawn.pop("max_tokens", None)
        return replace(request, messages=(first, *others), **drawn)


class _Held:
    """A debate that models hold, within its time limit."""

    def __init__(
        self, runner: MotionRunner, debate: Debate, trial_id: int, clock: Clock, limit: timedelta
    ) -> None:
        self.trial_id = trial_id
        self.debate = debate
        self.calls: list[Call] = []
        self.asked = 0
        self.until = clock.now() + limit
        self._runner = runner
        self._clock = clock
        self._limit = limit
        self._ended: Ending | None = None

    async def hold(self, seats: MootSeats, prompts: Prompts) -> Ending:
        """Hold it; say how it ended."""
        late = asyncio.create_task(self._late(), name="a trial's limit")
        roles: dict[MootSeat, Role] = {seat: getattr(seats, seat) for seat in SEATS}
        minds = {Seat(seat): self._mind(seat, role, prompts) for seat, role in roles.items()}
        named: dict[str, str] = {seat: f"{MODEL}{role.model_slug}" for seat, role in roles.items()}
        try:
            await self.debate.hold(self._clock, minds, named)
        except _Over as over:
            return over.ended
        finally:
            late.cancel()
        if self.debate.verdict is None:
            return _too_late("the debate ran into a time limit of its own, without a judgment")
        return Ending("success", None, None)

    async def _late(self) -> None:
        await self._clock.sleep(self._limit)
        self._end(self.over())

    def over(self) -> Ending:
        """Say that the trial's time is over."""
        limit, turns = self._limit.total_seconds(), len(self.debate.turns)
        return _too_late(f"the trial had {limit:g} s, and they were over after {turns} turns")

    def _end(self, ended: Ending) -> None:
        """Stop the debate; the first reason counts."""
        if self._ended is None:
            self._ended = ended
            self.debate.stop(_Over(ended))

    def _mind(self, seat: MootSeat, role: Role, prompts: Prompts) -> Mind:
        decode = role.decode
        options = ModelOptions(
            name=f"{MODEL}{role.model_slug}", max_tokens=None if decode is None else decode.max_tokens
        )
        caller = _Caller(self, seat, role)
        return ModelMind(caller, options, prompts, delay=at_once, tell=self._silent, fault_of=self._fault_of)

    def _fault_of(self, view: View, body: Message) -> str:
        assert self.debate.shop is not None
        return fault_of(self.debate.shop.host, view, body)

    async def _silent(self, _view: View, why: str) -> None:
        self._end(_failed(why))

    async def ask(self, seat: MootSeat, role: Role, request: Request) -> Answer:
        """Make a call for a seat.

        Raises:
            NoBudget: The debate has ended, for that reason or another.
        """
        try:
            if self._ended is None:
                return await self._runner.ask(self, seat, role, request)
        except _Over as over:
            self._end(over.ended)
        except NoBudget as lack:
            self._end(_failed(str(lack), NO_BUDGET))
            raise
        raise NoBudget("the debate has ended")


class _Caller:
    """Asks the model of a seat through the run's post."""

    def __init__(self, held: _Held, seat: MootSeat, role: Role) -> None:
        self._ask = partial(held.ask, seat, role)

    async def ask(self, view: View, turn: int, request: Request) -> Answer:
        return await self._ask(request)


def _failed(why: str, code: str | None = None) -> Ending:
    return Ending("error", TrialError(message=well_formed(why), code=code, retryable=False), code)


def _too_late(why: str) -> Ending:
    error = TrialError(message=why, code=None, retryable=False)
    return Ending("timeout_exhausted", error, "timeout_exhausted")
