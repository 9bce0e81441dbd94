"""Acting in a society in memory: the jobs that its users have done on its thread, and what they may read of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from moot.api.case import Case
from moot.api.log import Log, log_of
from moot.api.society_input import (
    Expected,
    Given,
    MessageSource,
    Person,
    Span,
    kind_of,
    kinds_of,
    listed,
    matcher,
    nearest,
    raw_message,
    span_of,
)
from moot.api.society_thread import SocietyThread
from moot.bots.minds.replying import body_of
from moot.channels.errors import Refused
from moot.config.protocols import speaking
from moot.door import Door
from moot.protocols.codec import decode_body
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import BOT, Draft, Envelope
from moot.protocols.kernel.errors import BadInput, Malformed, MootError, Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.kernel.seats import OFFICERS, Seat
from moot.protocols.rulebook import rulebook
from moot.simulation.injection import AmbiguousCase, case_named_by, with_case
from moot.society import Society as Host
from moot.verify.report import Report

T = TypeVar("T")


class ExpectTimeout(MootError, TimeoutError):
    """An expected message did not come; the text names the open obligations and their seats.

    Attributes:
        owed: The open obligations.
    """

    def __init__(self, text: str, owed: tuple[Owed, ...]) -> None:
        """Keep the obligations beside the line."""
        super().__init__(text)
        self.owed = owed


class Owed(NamedTuple):
    """An open obligation.

    Attributes:
        id: Its id.
        seat: Who owes it.
        types: The message types that settle it.
        case: The case that it belongs to.
        due_at: When it is due.
    """

    id: str
    seat: str
    types: tuple[str, ...]
    case: str
    due_at: datetime

    def __str__(self) -> str:
        """Read as a phrase."""
        due = self.due_at.strftime("%Y-%m-%d %H:%M")
        return f"{' or '.join(self.types)} by {self.seat} in {self.case} until {due}"


class Acting:
    """Methods that blocking and asynchronous societies share; the jobs run on the society's thread."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._protocols: tuple[Protocol, ...] = ()
        self._people: dict[str, Person] = {}
        self._exits = ExitStack()
        self._messages: list[Envelope] = []
        self._kinds: dict[str, str] = {}
        self._broke: dict[int, Violation] = {}
        self._returned: set[int] = set()
        self._keys = 0
        self._thread: SocietyThread | None = None
        self._host: Host | None = None
        self._door: Door | None = None

    # ------------------------------------------------------------ opening and closing

    def _open(self) -> SocietyThread:
        self._exits.enter_context(speaking(self._given.protocols))
        try:
            plan = self._given.plan()
            added = rulebook().added
            self._protocols = tuple(one for one in rulebook().protocols if one.name in added)
            self._people = self._given.people(plan.settings)
            self._thread = SocietyThread(plan, on_open=self._attach, listener=self._note)
        except BaseException:
            self._exits.close()
            raise
        return self._thread

    def _attach(self, society: Host) -> None:
        self._host = society
        self._door = Door(society.host, society.plan.settings)

    def _note(self, env: Envelope, fx: Effects) -> None:
        self._messages.append(env)
        if fx.violation is not None:
            self._broke[env.seq] = fx.violation
        for state in fx.started:
            self._kinds[state.case_id] = state.kind

    def _submit(self, job: Callable[[Host], Coroutine[Any, Any, T]]) -> Future[T]:
        if self._thread is None:
            raise BadInput("the society is not open: use it inside its `with` block")
        return self._thread.submit(job)

    # ------------------------------------------------------------ reading

    @property
    def now(self) -> datetime:
        """The society's time, in UTC."""
        if self._host is None:
            raise BadInput("the society is not open: use it inside its `with` block")
        return self._host.clock.now()

    @property
    def log(self) -> Log:
        """The log so far, as `moot.open_log` gives it."""
        return log_of(tuple(self._messages), self._protocols)

    @property
    def cases(self) -> Mapping[str, Case]:
        """The cases by id, in the order in which they were opened."""
        return self.log.cases

    def case(self, id: str | None = None) -> Case:
        """Return a case as it stands now.

        Args:
            id: Its id, or the beginning of it; None: the only case there is.

        Raises:
            BadInput: There is no such case, or more than one; the nearest is named.
        """
        cases = self.cases
        if id is None:
            if len(cases) == 1:
                return next(iter(cases.values()))
            raise BadInput(f"{len(cases)} cases were opened: name one of {listed(cases)}")
        if id in cases:
            return cases[id]
        begun = [one for one in cases if one.startswith(id)]
        if len(begun) == 1:
            return cases[begun[0]]
        if begun:
            raise BadInput(f"{len(begun)} cases begin with {id}: name one of {listed(begun)}")
        raise BadInput(f"Unknown case {id!r}{nearest(id, cases)}")

    @property
    def owed(self) -> tuple[Owed, ...]:
        """The open obligations of bots and people, what is due first first."""
        if self._host is None:
            return ()
        found = [o for o in self._host.host.docket.open.values() if o.seat not in OFFICERS]
        return tuple(
            Owed(o.id, str(o.seat), tuple(o.expects), o.case_id, o.due_at)
            for o in sorted(found, key=lambda o: (o.due_at, o.id))
        )

    def verify(self, *, evidence: bool = True, strict: bool = False) -> Report:
        """Judge the log so far as `moot verify` does, trusting nothing in it; see `Log.verify`."""
        return self.log.verify(evidence=evidence, strict=strict)

    # ------------------------------------------------------------ jobs

    def _posting(
        self, who: str, message: MessageSource, channel: str | None, fields: Mapping[str, Any]
    ) -> Callable[[Host], Coroutine[Any, Any, Envelope]]:
        person = self._who(who)
        raw = raw_message(message, fields)

        async def job(society: Host) -> Envelope:
            host = society.host
            try:
                filled, lacking = with_case(host, raw, self._last)
                if lacking:
                    raise BadInput(f"Cannot post {raw['type']}: {lacking}")
                body = decode_body(json.dumps(filled))
            except AmbiguousCase as exc:
                raise BadInput(f"Cannot post {raw['type']}: {exc}") from None
            except Malformed as exc:
                raise Refused(exc) from None
            draft = Draft(
                channel=self._channel(channel, body.type),
                author=person.seat,
                body=body,
                actor=person.actor or host.docket.context.holders.get(person.seat) or BOT,
                case_id=case_named_by(host, body),
                tenure=0 if person.actor else host.docket.context.tenures.get(person.seat, 0),
                key=self._key(),
                display_name=person.actor.user_id if person.actor else "",
            )
            return await self._publish(society, draft)

        return job

    def _answering(
        self, who: str, message: MessageSource | None, case: str | None, fields: Mapping[str, Any]
    ) -> Callable[[Host], Coroutine[Any, Any, Envelope]]:
        person = self._who(who)
        raw = dict(fields) if message is None else raw_message(message, fields)

        async def job(society: Host) -> Envelope:
            host = society.host
            kind = raw.get("type")
            owed = self._owed_by(host.docket.owed_by(person.seat), who, kind, case, raw)
            view = await host.view(person.seat, owed)
            assert view is not None
            given = {name: value for name, value in raw.items() if name != "type"}
            body = body_of(view, kind or kind_of(owed, given), given)
            draft = host.answer_draft(view, body)
            assert draft is not None
            actor = person.actor or host.docket.context.holders.get(person.seat)
            if actor is not None:
                draft = Draft(
                    channel=draft.channel,
                    author=draft.author,
                    body=body if person.actor is None else draft.body,
                    actor=actor,
                    case_id=draft.case_id,
                    obligation_id=owed.id,
                    attempt=draft.attempt,
                    tenure=draft.tenure,
                    key=self._key(),
                    display_name=actor.user_id if person.actor else "",
                )
            return await self._publish(society, draft)

        return job

    def _expecting(
        self, what: Expected, within: Span, case: str | None, seat: str | None
    ) -> Callable[[Host], Coroutine[Any, Any, Envelope]]:
        matches, name = matcher(what, case, seat)
        span = span_of(within)

        async def job(society: Host) -> Envelope:
            arrived = asyncio.Event()
            found: list[Envelope] = []

            def look(env: Envelope, _fx: object = None) -> None:
                if not found and env.seq not in self._returned and matches(env):
                    found.append(env)
                    arrived.set()

            for env in tuple(self._messages):
                look(env)
            if not found:
                society.host.listeners.append(look)
                until = society.clock.now() + span
                try:
                    await society.run_until(until, arrived)
                finally:
                    society.host.listeners.remove(look)
            if not found:
                raise self._timed_out(name, span)
            self._returned.add(found[0].seq)
            return found[0]

        return job

    def _advancing(self, until: datetime) -> Callable[[Host], Coroutine[Any, Any, datetime]]:
        async def job(society: Host) -> datetime:
            await society.run_until(until)
            return society.clock.now()

        return job

    # ------------------------------------------------------------ helpers of the jobs

    async def _publish(self, society: Host, draft: Draft) -> Envelope:
        assert self._door is not None
        is_person = draft.actor.kind == "human"
        receipt = await (self._door.publish(draft) if is_person else society.host.publish(draft))
        await society.run_until(society.clock.now())
        if (violation := self._broke.get(receipt.seq)) is not None:
            raise Refused(violation)
        return self._messages[receipt.seq - 1]

    def _timed_out(self, name: str, span: timedelta) -> ExpectTimeout:
        owed = self.owed
        told = "; ".join(map(str, owed[:5])) + (f"; and {len(owed) - 5} more" if len(owed) > 5 else "")
        return ExpectTimeout(
            f"Expected {name} within {span}, but it did not come until {self.now:%Y-%m-%d %H:%M}."
            f" Owed now: {told or 'nothing'}",
            owed,
        )

    def _owed_by(
        self, open_: list[Obligation], who: str, kind: object, case: str | None, raw: Mapping[str, Any]
    ) -> Obligation:
        found = [o for o in open_ if case is None or o.case_id.startswith(case)]
        if kind is not None:
            found = [o for o in found if kind in o.expects]
        else:
            found = [o for o in found if kinds_of(o, raw)] or found
        named = [o for o in found if any(value == o.case_id for value in raw.values())]
        found = named or found
        if len(found) == 1:
            return found[0]
        if found:
            some = "; ".join(f"{' or '.join(o.expects)} in {o.case_id}" for o in found)
            raise BadInput(f"{who} owes {len(found)} answers: name one by `case` or `type`: {some}")
        own = "; ".join(f"{' or '.join(o.expects)} in {o.case_id}" for o in open_)
        what = f"no {kind}" if kind else "nothing"
        others = "; ".join(map(str, self.owed[:5]))
        raise BadInput(
            f"{who} owes {what if not own or kind else 'nothing there'}. Owed by {who}: {own or 'nothing'}."
            f" Owed in all: {others or 'nothing'}"
        )

    def _who(self, who: str) -> Person:
        if who in self._people:
            return self._people[who]
        seat = Seat(who)
        if seat in rulebook().seats and seat not in OFFICERS:
            return Person(seat, None)
        if seat in OFFICERS:
            raise BadInput(f"Cannot act as {who}: officers are code, and say what the rules derive")
        known = [*self._people, *sorted(rulebook().bots)]
        raise BadInput(f"Unknown seat or person {who!r}{nearest(who, known)}")

    def _channel(self, channel: str | None, kind: str) -> str:
        if channel is None:
            return rulebook().channel_of.get(kind, "#admin")
        name = channel if channel.startswith("#") else f"#{channel}"
        if name not in rulebook().channel_names:
            raise BadInput(f"Unknown channel {channel!r}{nearest(name, rulebook().channel_names)}")
        return name

    def _last(self, kinds: Iterable[str]) -> str | None:
        wanted = frozenset(kinds)
        return next((case for case, kind in reversed(self._kinds.items()) if kind in wanted), None)

    def _key(self) -> str:
        self._keys += 1
        return f"society/{self._keys}"
