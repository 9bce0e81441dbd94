"""Posts that nobody owes: a scene's injections, put into the society at their instant."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from moot.bots.port import Clock
from moot.channels.errors import Refused
from moot.host import Host
from moot.protocols.codec import decode_body
from moot.protocols.kernel.envelope import BOT, Actor, Draft
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import PEOPLE, Seat
from moot.protocols.rulebook import Rulebook, rulebook


@cache
def kinds_named(book: Rulebook) -> Mapping[str, str]:
    """Say which kind of case a body's field names: the one that its opener opens."""
    return {
        field: machine.kind
        for machine in book.types.values()
        for opener in machine.openers
        if (field := book.messages[opener].case_field)
    }


def parent_field(book: Rulebook, opener: str) -> str:
    """Return the field by which an opener names a case that its kind opens in, "" for none.

    It is the one that `parent_of` reads.
    """
    cls, parent_of = book.messages[opener], _opened_by(book)[opener].parent_of
    names = [name for name in kinds_named(book) if name in cls.model_fields and name != cls.case_field]
    if parent_of is None:
        return ""
    blank = dict.fromkeys(cls.model_fields)
    return next(
        (name for name in names if parent_of(cls.model_construct(None, **{**blank, name: name})) == name), ""
    )


@cache
def _decided_by(book: Rulebook, kind: str) -> tuple[str, tuple[str, ...]]:
    """Return the field by which a type that people post names a case, and the kinds that it moves unowed."""
    cls = book.messages[kind]
    field = next((act.about for act in book.acts.values() if act.message is cls), "")
    return field, tuple(one.kind for one in book.types.values() if any(row is cls for _, row in one.facts))


@cache
def parent_fields(book: Rulebook) -> frozenset[str]:
    """Return all fields by which openers name cases that theirs open in."""
    return frozenset(parent_field(book, opener) for opener in _opened_by(book)) - {""}


def _opened_by(book: Rulebook) -> Mapping[str, Machine]:
    return {opener: machine for machine in book.types.values() for opener in machine.openers}


class Injection(NamedTuple):
    """One injection: a body, or an admin's reply to an escalation."""

    n: int
    after: timedelta
    seat: Seat
    channel: str | None
    body: dict[str, Any] | None
    reply: dict[str, Any] | None


class AmbiguousCase(Exception):
    """Say that several cases are open where one was meant."""


def with_case(
    host: Host, raw: dict[str, Any], last: Callable[[Collection[str]], str | None]
) -> tuple[dict[str, Any], str]:
    """Fill in the case that a body leaves out: the one open case of its kind, or else the last one that was open.

    Args:
        host: The society's host.
        raw: A message body as plain data.
        last: Returns the case of some kinds that was opened last.

    Returns:
        The body, and why no case was found for it, "" where one was or none is needed.

    Raises:
        AmbiguousCase: Several cases are open where one is meant.
    """
    kind = str(raw.get("type"))
    book = rulebook()
    cls = book.messages.get(kind)
    if cls is None:
        return raw, ""
    is_opener = kind in host.rules.openers
    field = parent_field(book, kind) if is_opener else cls.case_field
    kinds: tuple[str, ...] = (kinds_named(book)[field],) if field in kinds_named(book) else ()
    if not field:
        field, kinds = _decided_by(book, kind)
    if not kinds or raw.get(field) or (field in parent_fields(book) and field in raw):
        return raw, ""  # an opener that names no parent, with an empty id, stands alone
    named = " or ".join(kinds)
    found = [s.case_id for s in host.docket.cases.values() if s.kind in kinds]
    if len(found) > 1:
        raise AmbiguousCase(f"{len(found)} {named}s are open, name one in {field}: {', '.join(found)}")
    if not found and is_opener and field in parent_fields(book):
        return raw, ""  # it may stand alone
    case_id = found[0] if found else last(kinds)
    if case_id is None:
        return raw, f"there is no {named} for it yet"
    return {**raw, field: case_id}, ""


def case_named_by(host: Host, body: Message) -> str | None:
    """Return the case that a body names; None for what opens one whose id is counted."""
    if body.type == "NOTE" or (body.type in rulebook().minted and body.type in host.rules.openers):
        return None
    named = getattr(body, body.case_field, None) if body.case_field else getattr(body, "case_id", None)
    return named or None


class Injector:
    """Posts injections at their instants.

    Attributes:
        refused: How many of them were refused; the warnings say which, and why.
    """

    def __init__(self, host: Host, clock: Clock, start: datetime, warnings: list[str]) -> None:
        """Prepare to post into a society."""
        self.refused = 0
        self._host = host
        self._clock = clock
        self._start = start
        self._warnings = warnings
        self._kinds: dict[str, str] = {}
        host.listeners.append(self._note)

    def _note(self, env: Any, fx: Any) -> None:
        for state in fx.started:
            self._kinds[state.case_id] = state.kind

    def _last(self, kinds: Collection[str]) -> str | None:
        """Return the case of some kinds that was opened last."""
        return next((case for case, kind in reversed(self._kinds.items()) if kind in kinds), None)

    async def run_beside(self, injections: Sequence[Injection], society: Awaitable[None]) -> None:
        """Post everything at its time while the society lives.

        Raises:
            AmbiguousCase: Several cases of a kind are open and the body names none.
        """
        tasks = [asyncio.create_task(self._post_at(item), name=f"inject {item.n}") for item in injections]
        try:
            await society
            for task in tasks:
                if task.done() and not task.cancelled():
                    task.result()
        finally:
            for item, task in zip(injections, tasks, strict=True):
                if not task.done():
                    self._warnings.append(f"inject[{item.n}]: the scene ended before {item.after}")
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _post_at(self, item: Injection) -> None:
        await self._clock.sleep_until(self._start + item.after)
        raw = self._raw(item)
        if raw is None:
            return
        try:
            body = decode_body(json.dumps(raw))
            draft = self._draft(item, body)
            await self._host.publish(draft)
        except Refused as refused:
            self._say_refused(item, refused.violation)
        except Violation as violation:
            channel = item.channel or rulebook().channel_of.get(str(raw.get("type")), "#a-arena")
            await self._host.audit_refusal(
                json.dumps(raw).encode(), Refused(violation), seat=item.seat, channel=channel
            )
            self._say_refused(item, violation)

    def _say_refused(self, item: Injection, violation: Violation) -> None:
        self.refused += 1
        self._warnings.append(f"inject[{item.n}]: refused: {violation}")

    def _raw(self, item: Injection) -> dict[str, Any] | None:
        if item.reply is not None:
            case_id = item.reply["escalation"]
            if case_id == "last":
                case_id = self._last(("escalation",))
            if case_id is None:
                self._warnings.append(f"inject[{item.n}]: there is no escalation to reply to")
                return None
            return {
                "type": "ESCALATION_ANSWER",
                "escalation_id": case_id,
                "option": item.reply["option"],
                "text": item.reply["text"],
            }
        assert item.body is not None
        return self._with_case(item, dict(item.body))

    def _with_case(self, item: Injection, raw: dict[str, Any]) -> dict[str, Any]:
        """Fill in the case that a body leaves out: the one open case of its kind."""
        try:
            filled, lacking = with_case(self._host, raw, self._last)
        except AmbiguousCase as exc:
            raise AmbiguousCase(f"inject[{item.n}]: {exc}") from None
        if lacking:
            self._warnings.append(f"inject[{item.n}]: {lacking}")
        return filled

    def _draft(self, item: Injection, body: Message) -> Draft:
        docket = self._host.docket
        holder = docket.context.holders.get(item.seat)
        person = Actor("human", "scene", item.seat) if item.seat in PEOPLE else holder
        return Draft(
            channel=item.channel or rulebook().channel_of.get(body.type, "#a-arena"),
            author=item.seat,
            body=body,
            actor=person or BOT,
            case_id=case_named_by(self._host, body),
            tenure=docket.context.tenures.get(item.seat, 0),
            key=f"scene/{item.n}",
        )
