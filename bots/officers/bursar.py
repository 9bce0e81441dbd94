"""The bursar: books the worst case of each call of a model, has it sent, and settles it before its answer is used.

A call goes through four steps, each durable before the next: the request's body is kept, CALL_RESERVED stands in the
log, the call is made and the record of its reply kept, CALL_SETTLED stands in the log (K26). What is done in wall time
is awaited with `Clock.from_thread`, so that in virtual time all goes on in the order in which it was asked (K28).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future as ConcurrentFuture
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import structlog

from moot.bots.minds.mind import View
from moot.bots.models.answer import Answer
from moot.bots.models.caller import Caller, NoBudget
from moot.bots.models.errors import BadRecord, one_line
from moot.bots.models.in_use import ModelInUse
from moot.bots.models.record import answer_in
from moot.bots.models.request import Request
from moot.bots.models.transport import Errand, Transport
from moot.bots.port import Clock
from moot.channels.bus import Receipt
from moot.channels.errors import BusClosed
from moot.memory.bodies import StoredBodies
from moot.memory.errors import MemoryStoreError
from moot.protocols.calls.books import Amount, Asked, Books, Place
from moot.protocols.calls.call import Call, refused_key, reserved_key, settled_key
from moot.protocols.calls.ledger import Ledger
from moot.protocols.calls.messages import BudgetSet, CallRefused, CallReserved, CallSettled
from moot.protocols.calls.rights import PLACE as CALLS
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import ConfigChanged
from moot.protocols.kernel.seats import BURSAR

T = TypeVar("T")

AGAIN: Final = frozenset({"abandoned", "unknown"})
"""Outcomes after which the same request goes out again where it is asked again; any other answer stands."""

_log = structlog.get_logger("moot.bursar")

Key = tuple[str, int, int]
"""Obligation, attempt, turn."""


class CallClock(Clock, Protocol):
    """Society time, as far as calls need it."""

    @property
    def kind(self) -> str:
        """`virtual`, `accelerated` or `real`."""
        ...

    async def from_thread(self, work: ConcurrentFuture[T]) -> T:
        """Await what a thread works on, while virtual and accelerated time stand still."""
        ...


class Publish(Protocol):
    """Publishes a draft."""

    async def __call__(self, draft: Draft) -> Receipt:
        """Return when it is durable and folded."""
        ...


@dataclass(slots=True)
class _Running:
    """A call under way.

    Attributes:
        task: Sees it through.
        given_up: Done when nobody wants its answer any more.
    """

    task: asyncio.Task[Answer]
    given_up: ConcurrentFuture[None]


class _Question(NamedTuple):
    """What a mind asks: which model, for what it owes, in which turn."""

    model: ModelInUse
    view: View
    turn: int
    request: Request

    @property
    def key(self) -> Key:
        return self.view.obligation.id, self.view.attempt, self.turn


class _Caller(Caller):
    """Asks one model."""

    def __init__(self, bursar: Bursar, model: ModelInUse) -> None:
        self._bursar = bursar
        self._model = model

    async def ask(self, view: View, turn: int, request: Request) -> Answer:
        return await self._bursar.ask(_Question(self._model, view, turn, request))


class Bursar:
    """Sees calls through; one per society.

    Order: between the look at the books and the booking there is no await, so callers at once never see the same room.
    A call that would fit if what is under way came to less waits for that.

    Cancellation: whoever asks may be cancelled; the call is settled all the same. In real time it is given up.
    """

    def __init__(
        self,
        *,
        ledger: Ledger,
        publish: Publish,
        is_owed: Callable[[str, int], bool],
        clock: CallClock,
        bodies: StoredBodies,
        transport: Transport,
        models: Mapping[str, ModelInUse],
        fail: Callable[[Exception], None],
    ) -> None:
        """Take the office.

        Args:
            ledger: The fold that says what is booked.
            publish: The host's.
            is_owed: Says whether an obligation is open, at an attempt.
            clock: The society's.
            bodies: What was kept before.
            transport: The way to the models.
            models: Those that may be asked, by name.
            fail: Told what keeps calls from being made or kept.
        """
        self._ledger = ledger
        self._publish = publish
        self._is_owed = is_owed
        self._clock = clock
        self._bodies = bodies
        self._transport = transport
        self._models = models
        self._fail = fail
        self._running: dict[Key, _Running] = {}
        self._unfolded: dict[str, tuple[tuple[Place, ...], Amount]] = {}
        self._booked = Books()
        self._waiting: list[asyncio.Future[None]] = []
        self._is_closing = False

    def caller(self, model: str) -> Caller:
        """Return what the mind of a seat asks a model through."""
        return _Caller(self, self._models[model])

    async def ask(self, question: _Question) -> Answer:
        """Make a call, or return what it was answered before.

        Raises:
            NoBudget: It does not fit.
        """
        key = question.key
        while (earlier := self._running.get(key)) is not None:
            await asyncio.wait({earlier.task})
        given_up: ConcurrentFuture[None] = ConcurrentFuture()
        task = asyncio.create_task(self._see_through(question, given_up), name=f"call {key}")
        self._running[key] = _Running(task, given_up)
        task.add_done_callback(lambda done: self._is_over(key, done))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if self._clock.kind == "real":
                _give_up(given_up)
            raise

    def folded(self, env: Envelope, _fx: Effects) -> None:
        """Take in that the ledger has folded a message; the host's listener."""
        body = env.body
        if type(body) is CallReserved:
            self._unbook(body.call_id)
        elif type(body) in _MAKES_ROOM:
            self._make_room()

    async def recover(self) -> None:
        """Settle what an earlier life of the society left reserved: from the record of its reply, or as unknown."""
        for call_id, call in list(self._ledger.open.items()):
            model = self._models.get(call.asked.model)
            record = self._bodies.reply_of(call_id)
            answer, sha256 = _LOST, None
            if record is not None:
                reader = model.reader(_NOTHING) if model is not None else _unread
                answer, sha256 = answer_in(record, reader, is_judged=True), hashlib.sha256(record).hexdigest()
            _log.info("call settled after a crash", call=call_id, outcome=answer.outcome)
            await self._settle(call, answer, sha256)

    async def close(self, *, gives_up: bool) -> None:
        """Reserve nothing more, and wait until all that is under way is settled.

        Args:
            gives_up: Whether calls are broken off; else their answers are waited for.
        """
        self._is_closing = True
        self._make_room()
        while self._running:
            if gives_up:
                for one in self._running.values():
                    _give_up(one.given_up)
            await asyncio.wait({one.task for one in self._running.values()})

    async def abandon(self) -> None:
        """Leave everything as it is, as a crash does."""
        self._is_closing = True
        tasks = [one.task for one in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---------------------------------------------------------------- one call

    async def _see_through(self, question: _Question, given_up: ConcurrentFuture[None]) -> Answer:
        calls = self._ledger.calls(*question.key)
        before = next((call for call in reversed(calls) if call.is_sent), None)
        if before is not None and before.settled is not None and before.settled.outcome not in AGAIN:
            return self._stored(before.settled, question)
        body = self._body(before, question)
        sha256 = await self._clock.from_thread(self._transport.keep(body))
        reserved = await self._reserve(question, body, sha256)
        if reserved is None:
            return Answer(outcome="abandoned", why="its answer was no longer wanted before it was sent")
        call, seq = reserved
        obligation, left_s = question.view.obligation, None
        if self._clock.kind == "real":
            left_s = (obligation.due_at - self._clock.now()).total_seconds()
        errand = Errand(
            call_id=call.asked.call_id,
            seq=seq,
            model=question.model.name,
            request=question.request,
            body=body,
            left_s=left_s,
            given_up=given_up,
        )
        sent = await self._clock.from_thread(self._transport.send(errand))
        await self._settle(call, sent.answer, sent.reply_sha256)
        return sent.answer

    def _stored(self, settled: CallSettled, question: _Question) -> Answer:
        """Return what a settled call was answered."""
        sha256 = settled.reply_sha256
        if sha256 is None:
            return Answer(outcome=settled.outcome, why=settled.why)
        try:
            return answer_in(self._bodies.get(sha256), question.model.reader(question.request))
        except (MemoryStoreError, BadRecord) as fault:
            _log.error("the reply of a call is lost", call=settled.call_id, error=str(fault))
            return Answer(outcome="unknown", why=f"its reply is not kept any more: {fault}")

    def _body(self, before: Call | None, question: _Question) -> bytes:
        """Return the request as it was sent before, else as it is written now."""
        if before is not None and isinstance(before.asked, CallReserved):
            try:
                return self._bodies.get(before.asked.request_sha256)
            except MemoryStoreError as fault:
                _log.error("the request of a call is lost", call=before.asked.call_id, error=str(fault))
        return question.model.written(question.request)

    async def _reserve(self, question: _Question, body: bytes, sha256: str) -> tuple[Call, int] | None:
        """Reserve a call; None when nobody wants its answer any more.

        Returns:
            The call, which stands, and its place in the log.

        Raises:
            NoBudget: It does not fit.
        """
        view, model = question.view, question.model
        cost, tokens = model.worst(body, question.request)
        asked = Asked(Amount(cost, tokens, 1), view.seat, view.obligation.case_id)
        while self._is_owed(view.obligation.id, view.attempt) and not self._is_closing:
            now = self._clock.now()
            lack = self._ledger.fits(asked, now, self._booked)
            if lack is not None and lack.is_held:
                await self._room()
                continue
            call_id = self._ledger.next_id(*question.key)
            told: dict[str, Any] = {
                "call_id": call_id,
                "seat": view.seat,
                "case": view.obligation.case_id,
                "obligation": view.obligation.id,
                "attempt": view.attempt,
                "turn": question.turn,
                "try": int(call_id.rpartition("/")[2]),
                "model": model.name,
                "max_cost": cost,
                "max_tokens": tokens,
            }
            if lack is not None:
                await self._say(CallRefused(**told, why=lack.line), refused_key(call_id))
                raise NoBudget(lack.short)
            places = asked.places(now)
            self._booked.hold(places, asked.most)
            self._unfolded[call_id] = places, asked.most
            try:
                receipt = await self._say(CallReserved(**told, request_sha256=sha256), reserved_key(call_id))
            finally:
                self._unbook(call_id)
            # What came before it in the log may have taken its room: then it does not stand.
            call = self._ledger.open.get(call_id)
            if call is not None:
                return call, receipt.seq
        return None

    async def _settle(self, call: Call, answer: Answer, reply_sha256: str | None) -> None:
        cost, tokens, is_more = call.came_to(answer.usage, is_free=answer.is_free)
        call_id = call.asked.call_id
        body = CallSettled(
            call_id=call_id,
            outcome=answer.outcome,
            why=one_line(answer.why),
            model_reported=one_line(answer.model_reported),
            provider_id=one_line(answer.provider_id),
            finish=one_line(answer.finish),
            usage=answer.usage,
            cost=cost,
            tokens=tokens,
            overrun=is_more,
            latency_ms=answer.latency_ms,
            reply_sha256=reply_sha256,
        )
        await self._say(body, settled_key(call_id))

    async def _say(self, body: Message, key: str) -> Receipt:
        return await self._publish(Draft(channel=CALLS, author=BURSAR, actor=OFFICER, body=body, key=key))

    # ---------------------------------------------------------------- room

    def _unbook(self, call_id: str) -> None:
        """Take back what was booked ahead of the log: it stands there, or never will."""
        booked = self._unfolded.pop(call_id, None)
        if booked is not None:
            self._booked.release(*booked)

    async def _room(self) -> None:
        """Wait until something is settled."""
        waits: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waits)
        await waits

    def _make_room(self) -> None:
        """Let all that wait look again, in their order."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    def _is_over(self, key: Key, task: asyncio.Task[Answer]) -> None:
        del self._running[key]
        fault = None if task.cancelled() else task.exception()
        if isinstance(fault, Exception) and not isinstance(fault, NoBudget | BusClosed):
            self._fail(fault)


def _give_up(given_up: ConcurrentFuture[None]) -> None:
    if not given_up.done():
        given_up.set_result(None)


def _unread(status: int, raw: bytes) -> Answer:
    """Read nothing of a reply: its model is not configured any more."""
    return Answer(outcome="unknown", status=status, reply=raw)


_MAKES_ROOM: Final = frozenset({CallSettled, BudgetSet, ConfigChanged})
_NOTHING: Final = Request(messages=(), max_tokens=1)
_LOST: Final = Answer(outcome="unknown", why="the society ended before its reply was kept", tries=1)
