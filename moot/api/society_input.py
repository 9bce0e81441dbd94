"""Arguments of an in-memory society: their accepted forms, their checks, and the configuration."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel

from moot.api.options import a_path
from moot.config.protocols import protocol_of
from moot.config.settings import ConfigError, Settings, load_settings, text_of
from moot.plan import Plan
from moot.protocols.kernel.envelope import Actor, Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.rulebook import rulebook
from moot.seating import Script
from moot.simulation.durations import duration
from moot.simulation.scene import MindScene, SceneError, script_of

T = TypeVar("T")

ProtocolSource = Protocol | ModuleType | str
"""A protocol, a module that holds one as PROTOCOL, or that module's name."""

MessageSource = Message | Mapping[str, Any]
"""A message: an object, or its fields with `type`."""

Expected = str | type[Message] | Callable[[Envelope], object]
"""A message type, its class, or a predicate over envelopes."""

Span = timedelta | str | float
"""A duration: a timedelta, a text such as "1h30m", or seconds."""

PLATFORM: Final = "test"
"""Platform of the people who act in a society of this kind."""

DEFAULT_WITHIN: Final = timedelta(days=1)
"""Default limit of `expect`, in society time."""

QUIET: Final[Mapping[str, Any]] = {"schedules": {}, "desk": {"enabled": False}}
"""Configuration of a society in which nothing happens but what its user starts."""


class Person(NamedTuple):
    """Somebody who acts: a seat, and the person if it is one."""

    seat: Seat
    actor: Actor | None


class Given(NamedTuple):
    """The arguments of `society`, checked as far as they can be before its protocols are spoken."""

    protocols: tuple[Protocol, ...]
    config: Mapping[str, Any]
    minds: Mapping[str, Any]
    scripts: Mapping[str, Any]
    roles: Mapping[str, str]
    seed: int
    start: datetime

    def plan(self) -> Plan:
        settings = load_settings(**{**QUIET, **self.config})
        admins = {name: tuple(ids) for name, ids in settings.admins.items()}
        own = tuple(name for name, role in self.roles.items() if role == ADMIN)
        admins[PLATFORM] = tuple(dict.fromkeys((*admins.get(PLATFORM, ()), *own)))
        seats = rulebook().seats
        for seat in (*self.minds, *self.scripts):
            if seat not in seats:
                raise BadInput(f"minds: Unknown seat {seat!r}{nearest(seat, sorted(rulebook().bots))}")
        scripts: dict[Seat, Script] = {}
        for seat, source in self.scripts.items():
            try:
                scripts[Seat(seat)] = script_of(MindScene.model_validate(source), f"minds.{seat}")
            except (SceneError, ValueError) as exc:
                raise BadInput(" ".join(str(exc).split())) from None
        return Plan(
            settings=settings.model_copy(update={"admins": admins}),
            seed=self.seed,
            start=self.start,
            society_id=f"society/{self.seed}",
            scripts=scripts,
            is_admin_simulated=ADMIN in self.minds or ADMIN in self.scripts,
            minds={seat: mind for seat, mind in self.minds.items() if seat != ADMIN},
        )

    def people(self, settings: Settings) -> dict[str, Person]:
        found = {
            user: Person(ADMIN, Actor("human", platform, user))
            for platform, users in settings.admins.items()
            for user in users
        }
        return found | {
            name: Person(Seat(role), Actor("human", PLATFORM, name)) for name, role in self.roles.items()
        }


def protocols_of(given: ProtocolSource | Iterable[ProtocolSource]) -> tuple[Protocol, ...]:
    """Return protocols that a program brings: one or several.

    Raises:
        UnusableProtocol: One is none.
    """
    if isinstance(given, Protocol | ModuleType | str) or not isinstance(given, Iterable):
        return (protocol_of(given),)
    return tuple(map(protocol_of, given))


def sections_of(config: Path | str | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the sections of a configuration.

    Raises:
        ConfigError: It cannot be read.
    """
    if config is None or isinstance(config, Mapping):
        return config or {}
    path = a_path("config", config)
    try:
        read: Mapping[str, Any] = tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{path}: is not TOML: {exc}") from None
    return read


def is_script(source: object) -> bool:
    """Return whether a seat is filled by a script."""
    return isinstance(source, Mapping) and "script" in source


def raw_message(message: MessageSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as plain data with its type.

    Raises:
        BadInput: It is none.
    """
    if isinstance(message, BaseModel):
        raw: dict[str, Any] = json.loads(message.model_dump_json(by_alias=True))
    elif isinstance(message, Mapping):
        raw = dict(message)
    else:
        raise BadInput(f"message {message!r:.80}: give a message, or a mapping of its fields with `type`")
    raw.update(fields)
    kind = raw.get("type")
    known = rulebook().messages
    if not isinstance(kind, str) or not kind:
        raise BadInput(f"Missing `type` of the message {raw!r:.80}")
    if kind not in known:
        raise BadInput(f"Unknown message type {kind!r}{nearest(kind, known)}")
    try:
        json.dumps(raw)
    except (TypeError, ValueError, RecursionError) as exc:
        raise BadInput(f"Cannot post {kind}: {exc}: give what JSON has") from None
    return raw


def kinds_of(owed: Obligation, fields: Mapping[str, Any]) -> list[str]:
    """Return the types that settle an obligation and have all of these fields."""
    messages = rulebook().messages
    return [kind for kind in owed.expects if all(name in messages[kind].model_fields for name in fields)]


def kind_of(owed: Obligation, fields: Mapping[str, Any]) -> str:
    """Return the type of an answer by the fields that it has.

    Raises:
        BadInput: Several types have them.
    """
    fitting = kinds_of(owed, fields)
    named = [
        kind
        for kind in fitting
        if all(
            name in fields
            for name, field in rulebook().messages[kind].model_fields.items()
            if field.is_required()
        )
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fields and len(named) == 1:
        return named[0]
    raise BadInput(f"{owed.seat} owes {' or '.join(owed.expects)}: say which by `type`")


def matcher(what: Expected, case: str | None, seat: str | None) -> tuple[Callable[[Envelope], bool], str]:
    """Return what recognizes an expected message, and what it is called.

    Raises:
        BadInput: There is no such type or seat.
    """
    known = rulebook().messages
    if seat is not None and Seat(seat) not in rulebook().seats:
        raise BadInput(f"Unknown seat {seat!r}{nearest(seat, [str(one) for one in rulebook().seats])}")
    if isinstance(what, type) and issubclass(what, Message):
        what = str(what.model_fields["type"].default)
    if isinstance(what, str):
        if what not in known:
            raise BadInput(f"Unknown message type {what!r}{nearest(what, known)}")
        name, wanted = what, what
        fits: Callable[[Envelope], object] = lambda env: env.body.type == wanted  # noqa: E731
    elif callable(what):
        name, fits = f"a message that satisfies {getattr(what, '__name__', 'the predicate')}", what
    else:
        raise BadInput(f"expect {what!r:.80}: give a message type, its class, or a function of an envelope")
    told = name + (f" by {seat}" if seat else "") + (f" in {case}" if case else "")

    def matches(env: Envelope) -> bool:
        if seat is not None and env.author != seat:
            return False
        if case is not None and not (env.case_id or "").startswith(case):
            return False
        return bool(fits(env))

    return matches, told


def span_of(given: Span) -> timedelta:
    """Return a duration.

    Raises:
        BadInput: It is none.
    """
    try:
        if isinstance(given, timedelta):
            found = given
        elif isinstance(given, str):
            found = duration(given)
        else:
            found = timedelta(seconds=given)
    except (ValueError, TypeError, OverflowError) as exc:
        raise BadInput(f"duration {given!r}: {exc}") from None
    if found < timedelta(0):
        raise BadInput(f"duration {given!r}: time does not run backwards")
    return found


def instant_of(now: datetime, by: Span | None, span: timedelta, until: datetime | None) -> datetime:
    """Return the instant to advance to.

    Raises:
        BadInput: It is in the past, or none is given.
    """
    if until is not None:
        reached = until.replace(tzinfo=UTC) if until.tzinfo is None else until.astimezone(UTC)
    else:
        reached = now + span + (timedelta(0) if by is None else span_of(by))
    if reached < now:
        raise BadInput(f"Cannot go back from {now:%Y-%m-%d %H:%M} to {reached:%Y-%m-%d %H:%M}")
    if until is None and reached == now and by is None:
        raise BadInput("advance: say how long: advance(hours=2), or advance('1h30m')")
    return reached


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the end of a line on an unknown word: the nearest one, or which there are."""
    names = [*known]
    close = get_close_matches(word, names, 1) or get_close_matches(word.upper(), names, 1)
    return f": did you mean {close[0]!r}?" if close else f": choose from {listed(sorted(names))}"


def listed(names: Iterable[str]) -> str:
    """Return some names as a list in a sentence."""
    every = [*names]
    return (", ".join(every[:12]) + (" …" if len(every) > 12 else "")) or "none"
