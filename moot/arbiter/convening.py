"""Trials in which models hold a case of Moot's: a debate, a run of the Arena, a review panel (`meetings`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final, cast

from moot.arbiter.asking import EMBEDDING, Place, Post, ask
from moot.arbiter.live import NO_BUDGET, PERSONA_RULE, LiveRunner, whole
from moot.arbiter.meetings import meeting_of
from moot.arbiter.meetings.meeting import Meeting, Model
from moot.arbiter.outcomes import Outcomes, cut_short
from moot.arbiter.ports import NotBegun, RanTrial
from moot.arbiter.replies import Ending, call_of, ending
from moot.bots.minds.mind import View
from moot.bots.minds.model.asking import ModelOptions
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
    PlannedTrial,
    ResolvedConfiguration,
    Role,
    Speaker,
    Trial,
    TrialError,
)
from moot.protocols.arbiter.seats import roles_of
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.minds import MODEL
from moot.protocols.kernel.seats import Seat

REQUESTS: Final = 20
"""So many numbers each call has for its requests: the first and those that are sent again."""

MOST_CALLS: Final = 45
"""So often may the seats of one trial be asked, each its share: the numbers of a run's requests leave no more."""


class _Over(Exception):
    """Say how a trial ended before its verdict."""

    def __init__(self, ended: Ending) -> None:
        super().__init__(ended.error.message if ended.error else "")
        self.ended = ended


class MeetingRunner(LiveRunner):
    """Has models fill the seats; a call that fails, or a seat that gives no usable answer, ends the trial."""

    def __init__(self, config: ResolvedConfiguration, outcomes: Outcomes, post: Post, clock: Clock) -> None:
        """Begin a run; as `LiveRunner`."""
        super().__init__(config, outcomes, post, clock)
        self._config = config
        self._prompts_of_seats = SHIPPED.load()

    async def run(self, planned: PlannedTrial) -> RanTrial:
        assert planned.role_assignments is not None
        roles = dict(roles_of(planned.role_assignments))
        meeting = meeting_of(self._config, planned.trial_id)
        held = _Held(self, meeting, roles, self._clock, self._trial_limit)
        try:
            ended = await held.hold(self._prompts_of_seats)
        except asyncio.CancelledError:
            short = cut_short(planned, self._outcomes.read(planned.trial_id, None)).trial
            ended = Ending(short.status, short.error, short.error_code)
        if ended.error_code == NO_BUDGET and ended.error is not None and not held.calls:
            raise NotBegun(ended.error.message)
        text = meeting.verdict if ended.status == "success" else None
        calls = held.placed()
        trial = Trial(
            trial_id=planned.trial_id,
            requested_model_slug=planned.assigned_config.model,
            actual_model=calls[-1].model_actual if text is not None else None,
            protocol=planned.protocol,
            status=ended.status,
            assigned_config=planned.assigned_config,
            attempt=whole(calls),
            error=ended.error,
            error_code=ended.error_code,
            raw_assistant_text=text,
            role_assignments=planned.role_assignments,
            calls=tuple(calls),
            transcript=tuple(meeting.turns),
        )
        return RanTrial(trial, self._outcomes.read(planned.trial_id, text))

    async def ask(self, held: _Held, seat: Speaker, request: Request) -> Answer:
        """Make a call of a trial, and keep it."""
        role, n, left = held.roles[seat], held.number(seat), held.until - self._clock.now()
        if left <= timedelta(0):
            raise _Over(held.over())
        place = Place(held.meeting.trial_id, n % EMBEDDING, REQUESTS * (n // EMBEDDING))
        # Each call has room for a few requests more: those that an endpoint takes only otherwise are no retries.
        most = min(self._patience.retries, REQUESTS - 5)
        patience = self._patience._replace(limit=min(self._patience.limit, left), retries=most)
        asked = await ask(
            self._post, self._clock, place, role.model_slug, self._worded(role, request), patience
        )
        answer = asked.sent.answer
        ended = ending(answer)
        held.keep(call_of(len(held.calls), held.spoken(seat), seat, role.model_slug, asked, ended))
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
    """What models hold, within its time limit. Its calls are made one after the other, whoever asks for them.

    Attributes:
        meeting: What is held.
        roles: Who fills which seat.
        calls: Those that ended; `turn` counts what their seat had said before.
        until: The end of its time.
    """

    def __init__(
        self,
        runner: MeetingRunner,
        meeting: Meeting,
        roles: Mapping[Speaker, Role],
        clock: Clock,
        limit: timedelta,
    ) -> None:
        self.meeting = meeting
        self.roles = roles
        self.calls: list[Call] = []
        self.until = clock.now() + limit
        self._asked = dict.fromkeys(roles, 0)
        self._one_by_one = asyncio.Lock()
        self._runner = runner
        self._clock = clock
        self._limit = limit
        self._ended: Ending | None = None

    async def hold(self, prompts: Prompts) -> Ending:
        """Hold it; say how it ended."""
        meeting = self.meeting
        late = asyncio.create_task(self._late(), name="a trial's limit")
        minds = {seat: meeting.modelled(seat, self._model(seat, prompts)) for seat in meeting.seats}
        named: dict[str, str] = {seat: f"{MODEL}{role.model_slug}" for seat, role in self.roles.items()}
        try:
            await meeting.hold(self._clock, minds, named)
        except _Over as over:
            return over.ended
        finally:
            late.cancel()
        if meeting.verdict is not None:
            return Ending("success", None, None)
        if meeting.failure:
            return _failed(meeting.failure)
        return _too_late(f"the {meeting.name} ran into a time limit of its own, without a decision")

    def number(self, seat: Speaker) -> int:
        """Number a call among those of the trial: the same in each life of a run, in whatever order seats ask.

        Raises:
            _Over: The seat was asked too often.
        """
        share = MOST_CALLS // len(self.roles)
        n = self._asked[seat]
        if n == share:
            raise _Over(_failed(f"the {seat} was asked {n} times, and it did not end"))
        self._asked[seat] += 1
        return list(self.roles).index(seat) * share + n

    def spoken(self, seat: Speaker) -> int:
        """Count what a seat has said."""
        return sum(turn.role == seat for turn in self.meeting.turns)

    def keep(self, call: Call) -> None:
        """Keep a call that ended."""
        self.calls.append(call)

    def placed(self) -> list[Call]:
        """Return the calls, each with the turn that it was made for; the number of turns where that was never said."""
        turns: dict[Speaker, list[int]] = {seat: [] for seat in self.roles}
        for turn in self.meeting.turns:
            turns[turn.role].append(turn.turn)
        never = len(self.meeting.turns)
        return [
            call.model_copy(update={"turn": next(iter(turns[call.role][call.turn :]), never)})
            for call in self.calls
        ]

    async def _late(self) -> None:
        await self._clock.sleep(self._limit)
        self._end(self.over())

    def over(self) -> Ending:
        """Say that the trial's time is over."""
        limit, turns = self._limit.total_seconds(), len(self.meeting.turns)
        return _too_late(f"the trial had {limit:g} s, and they were over after {turns} turns")

    def _end(self, ended: Ending) -> None:
        """Stop it; the first reason counts."""
        if self._ended is None:
            self._ended = ended
            self.meeting.stop(_Over(ended))

    def _model(self, seat: Seat, prompts: Prompts) -> Model:
        role = self.roles[cast(Speaker, str(seat))]
        options = ModelOptions(
            name=f"{MODEL}{role.model_slug}",
            max_tokens=None if role.decode is None else role.decode.max_tokens,
        )
        return Model(_Caller(self, cast(Speaker, str(seat))), options, prompts, self._silent, self._fault_of)

    def _fault_of(self, view: View, body: Message) -> str:
        assert self.meeting.shop is not None
        return fault_of(self.meeting.shop.host, view, body)

    async def _silent(self, _view: View, why: str) -> None:
        self._end(_failed(why))

    async def ask(self, seat: Speaker, request: Request) -> Answer:
        """Make a call for a seat.

        Raises:
            NoBudget: The trial has ended, for that reason or another.
        """
        try:
            async with self._one_by_one:
                if self._ended is None:
                    return await self._runner.ask(self, seat, request)
        except _Over as over:
            self._end(over.ended)
        except NoBudget as lack:
            self._end(_failed(str(lack), NO_BUDGET))
            raise
        raise NoBudget("the trial has ended")


class _Caller:
    """Asks the model of a seat through the run's post."""

    def __init__(self, held: _Held, seat: Speaker) -> None:
        self._ask = partial(held.ask, seat)

    async def ask(self, view: View, turn: int, request: Request) -> Answer:
        return await self._ask(request)


def _failed(why: str, code: str | None = None) -> Ending:
    return Ending("error", TrialError(message=well_formed(why), code=code, retryable=False), code)


def _too_late(why: str) -> Ending:
    error = TrialError(message=why, code=None, retryable=False)
    return Ending("timeout_exhausted", error, "timeout_exhausted")
