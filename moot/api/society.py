"""`moot.society`: a society in memory and in virtual time, to act in from a test, a script or a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from moot.api.acting import Acting
from moot.api.options import a_seed, minds_of
from moot.api.society_input import (
    DEFAULT_WITHIN,
    Expected,
    Given,
    MessageSource,
    ProtocolSource,
    Span,
    instant_of,
    is_script,
    protocols_of,
    sections_of,
)
from moot.log_setup import quiet_logging
from moot.minds.choosing import MindSources
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.seats import ADMIN, PEOPLE, VIEWER
from moot.simulation.durations import DEFAULT_START, first_instant
from moot.society import Society as Host

T = TypeVar("T")


class Society(Acting):
    """A society to act in, from coroutines; `async with moot.society(...)` gives one.

    Society time passes only in `expect` and `advance`.
    """

    async def post(
        self, who: str, message: MessageSource, *, channel: str | None = None, **fields: Any
    ) -> Envelope:
        """Post a message and return it as logged.

        Args:
            who: A seat such as `"forecaster"`, `"admin"`, `"viewer"`, or a person of `people`.
            message: The message, or a mapping of its fields with `type`. The case may be left out where one is open.
            channel: Where; by default the channel of the type.
            fields: Fields that replace those of `message`.

        Raises:
            moot.Refused: It may not be posted, or it was logged and breaks a rule: see `rule` and `reason`.
            BadInput: There is no such seat, person, type or channel, or the case is not clear.
        """
        return await self._awaited(self._posting(who, message, channel, fields))

    async def answer(
        self, who: str, message: MessageSource | None = None, *, case: str | None = None, **fields: Any
    ) -> Envelope:
        """Answer what a seat or a person owes and return the answer as logged.

        Fields that the rules fix, such as the id of the case, are filled in.

        Args:
            who: As of `post`.
            message: The answer, or a mapping of its fields; `type` may be left out where one type fits.
            case: The case, where the seat owes answers in several.
            fields: Fields of the answer: `answer("admin", option=1)`.

        Raises:
            moot.Refused: As `post`.
            BadInput: Nothing of the kind is owed, or several are.
        """
        return await self._awaited(self._answering(who, message, case, fields))

    async def expect(
        self,
        what: Expected,
        *,
        within: Span = DEFAULT_WITHIN,
        case: str | None = None,
        seat: str | None = None,
    ) -> Envelope:
        """Let time pass until a message is there and return it; each message is returned once.

        A message that was said before, and that no `expect` has returned, is returned at once.

        Args:
            what: A type, its class, or a predicate over envelopes.
            within: Society time to wait at most.
            case: Only in this case.
            seat: Only by this author.

        Raises:
            ExpectTimeout: It did not come; the line says what is owed by whom.
            BadInput: There is no such type or seat.
        """
        return await self._awaited(self._expecting(what, within, case, seat))

    async def advance(
        self,
        by: Span | None = None,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        until: datetime | None = None,
    ) -> datetime:
        """Let society time pass and return the instant that is reached.

        Args:
            by: How long: a timedelta, a text such as "1h30m", or seconds.
            days: Days to add.
            hours: Hours to add.
            minutes: Minutes to add.
            seconds: Seconds to add.
            until: The instant to reach instead; naive means UTC.

        Raises:
            BadInput: No time would pass.
        """
        span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return await self._awaited(self._advancing(instant_of(self.now, by, span, until)))

    async def _awaited(self, job: Callable[[Host], Coroutine[Any, Any, T]]) -> T:
        future = asyncio.wrap_future(self._submit(job))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if self._thread is not None and not future.done():
                self._thread.interrupt()
                await asyncio.wait([future])
            raise

    async def _enter(self) -> None:
        thread = await asyncio.to_thread(self._open)
        try:
            await asyncio.wrap_future(thread.opened)
        except BaseException:
            thread.close()
            self._exits.close()
            raise

    async def _exit(self) -> None:
        try:
            if self._thread is not None:
                await asyncio.wrap_future(self._thread.close())
        finally:
            self._exits.close()


class BlockingSociety(Acting):
    """A society to act in, from functions; `with moot.society(...)` gives one. Methods are those of `Society`."""

    def post(
        self, who: str, message: MessageSource, *, channel: str | None = None, **fields: Any
    ) -> Envelope:
        """Post a message; see `Society.post`."""
        return self._submit(self._posting(who, message, channel, fields)).result()

    def answer(
        self, who: str, message: MessageSource | None = None, *, case: str | None = None, **fields: Any
    ) -> Envelope:
        """Answer what is owed; see `Society.answer`."""
        return self._submit(self._answering(who, message, case, fields)).result()

    def expect(
        self,
        what: Expected,
        *,
        within: Span = DEFAULT_WITHIN,
        case: str | None = None,
        seat: str | None = None,
    ) -> Envelope:
        """Let time pass until a message is there; see `Society.expect`."""
        return self._submit(self._expecting(what, within, case, seat)).result()

    def advance(
        self,
        by: Span | None = None,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        until: datetime | None = None,
    ) -> datetime:
        """Let society time pass; see `Society.advance`."""
        span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._submit(self._advancing(instant_of(self.now, by, span, until))).result()

    def _enter(self) -> None:
        thread = self._open()
        try:
            thread.opened.result()
        except BaseException:
            thread.close()
            self._exits.close()
            raise

    def _exit(self) -> None:
        try:
            if self._thread is not None:
                self._thread.close().result()
        finally:
            self._exits.close()


class OpenSociety:
    """A society that is about to open; enter it by `async with` or by `with`."""

    def __init__(self, given: Given) -> None:
        """Keep the checked arguments; nothing starts before the block is entered."""
        self._given = given
        self._inner: Society | BlockingSociety | None = None

    async def __aenter__(self) -> Society:
        """Open it for coroutines."""
        society = Society(self._given)
        self._claim(society)
        await society._enter()
        return society

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        if isinstance(self._inner, Society):
            await self._inner._exit()

    def __enter__(self) -> BlockingSociety:
        """Open it for functions."""
        society = BlockingSociety(self._given)
        self._claim(society)
        society._enter()
        return society

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if isinstance(self._inner, BlockingSociety):
            self._inner._exit()

    def _claim(self, society: Society | BlockingSociety) -> None:
        if self._inner is not None:
            raise BadInput("this society was opened before: call moot.society again for another one")
        self._inner = society


def society(
    protocols: ProtocolSource | Iterable[ProtocolSource] | Mapping[str, Any] | Path = (),
    *,
    config: Path | str | Mapping[str, Any] | None = None,
    minds: MindSources | None = None,
    people: Mapping[str, str] | Iterable[str] = (),
    seed: int = 1,
    start: str | date | None = None,
) -> OpenSociety:
    """Open a society in memory and in virtual time, to act in: `async with moot.society(PROTOCOL) as s`.

    The same calls give the same log, byte for byte, as long as no model sits. Nothing is written to disk.

    Args:
        protocols: Protocols of your own, as objects, modules, or names of modules; they need not be installed. A
            mapping or a path is taken as `config`.
        config: A TOML file, or its sections as a mapping. Cycles and the desk are off unless it says otherwise.
        minds: What fills a seat, as of `moot.simulate`, or a script as in a scene: `{"script": [{...}]}`. Who is not
            named is simulated.
        people: Names of people, each an admin; or a mapping of names to "admin" or "viewer". `"admin"` and
            `"viewer"` are always there.
        seed: Seeds simulated minds.
        start: The first instant, UTC; by default 2026-02-23.

    Raises:
        BadInput: An argument cannot be used; the line says which and why.
        ConfigError: The configuration cannot be used.
        UnusableProtocol: What is given is no protocol, or contradicts another. As with the two before, some of this is
            found only when the society is entered.
    """
    quiet_logging()
    if isinstance(protocols, Mapping | Path) or (isinstance(protocols, str) and protocols.endswith(".toml")):
        if config is not None:
            raise BadInput("config: is given twice, as the first argument and by name")
        config, protocols = protocols, ()
    brought = protocols_of(protocols)
    roles = (
        people
        if isinstance(people, Mapping)
        else dict.fromkeys((people,) if isinstance(people, str) else people, "admin")
    )
    for name, role in roles.items():
        if role not in PEOPLE:
            raise BadInput(f"people: {name} is {role!r}: choose admin or viewer")
    given = minds_of(minds)
    scripts = {seat: source for seat, source in given.items() if is_script(source)}
    return OpenSociety(
        Given(
            protocols=brought,
            config=sections_of(config),
            minds={seat: source for seat, source in given.items() if seat not in scripts},
            scripts=scripts,
            roles={str(ADMIN): "admin", str(VIEWER): "viewer", **roles},
            seed=a_seed(seed),
            start=DEFAULT_START if start is None else first_instant(start),
        )
    )
