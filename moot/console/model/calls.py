"""The calls of models as a page sees them: a table, sums, budgets, and why a message says what it says.

Prompts hold memory and texts of other channels, so all of it is for those who read #calls: admins, and viewers where
the configuration names the channel.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from moot.call_history.listing import NOT_SENT, Call
from moot.call_history.listing import Calls as Gathered
from moot.call_history.story import Bodies, Words
from moot.channels.log.reader import LogRows
from moot.console.errors import NotReady, NotThere
from moot.console.reading.calls import CallRow, Kind, Sum, call_of, calls_for, calls_of, spend_of, sums_of
from moot.console.reading.windows import decoded
from moot.protocols.calls.books import UNITS
from moot.protocols.calls.rights import PLACE
from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import author_of, is_models

if TYPE_CHECKING:
    from moot.console.model.looking import Looking

T = TypeVar("T")

_ASIDE: Final = re.compile(r"(.+)/(\d{1,9})/aside-\d+")
"""The id of what a seat said beside its answer: obligation and attempt."""

FRESH_S: Final = 1.0
"""How long an answer waits until the index has taken in what was said last."""

MOST_NAMES: Final = 40
"""Seats, cases or models that are added up; the dearest come first."""

MOST_TIMES: Final = 400
"""Days of which the spend is shown."""

MOST_CALLS: Final = 60
"""Calls of one answer that are told; a mind makes a few."""

CLOSED: Final = f"calls of models are in {PLACE}, which you do not read"


@dataclass(frozen=True, slots=True)
class Gauge:
    """What is left of one budget.

    Attributes:
        place: Whose budget it is, for people.
        scope: `society`, `day`, `seat` or `case`.
        key: Which day, seat or case; "" for the society.
        unit: What it counts: `usd` in micro-USD, `tokens` or `calls`.
        limit: What may be spent; None: any amount.
        booked: What is booked, calls under way with the most that they may come to.
        held: The part of that which is under way.
    """

    place: str
    scope: str
    key: str
    unit: str
    limit: int | None
    booked: int
    held: int

    @property
    def left(self) -> int | None:
        """Return what may still be spent; None: any amount."""
        return None if self.limit is None else max(0, self.limit - self.booked)


@dataclass(frozen=True, slots=True)
class CallsPage:
    """A stretch of calls, newest first.

    Attributes:
        rows: The calls.
        before: Pass it as `before` for older ones; None when there are none.
    """

    rows: tuple[CallRow, ...]
    before: int | None


@dataclass(frozen=True, slots=True)
class Why:
    """Who wrote a message, and the calls that were made for it.

    Attributes:
        by: Who, in one line.
        obligation: What was owed; "" where nothing was.
        attempt: Which answer to it this was; earlier ones broke a rule.
        calls: The calls for the obligation, in order, with what was said in each; empty where no model was asked.
    """

    by: str
    obligation: str
    attempt: int
    calls: tuple[tuple[Call, Words], ...]


class Calls:
    """Calls, through somebody's eyes. Every method raises `NotThere` for who does not read #calls."""

    def __init__(self, looking: Looking) -> None:
        """Look through the eyes of a read model."""
        self._looking = looking

    @property
    def may_be_seen(self) -> bool:
        """Say whether these eyes may see calls."""
        return self._looking.reads(PLACE)

    async def page(self, kind: Kind, *, before: int | None = None, limit: int) -> CallsPage:
        """Return the newest calls of a kind.

        Args:
            kind: Which.
            before: Only calls reserved before this message.
            limit: At most so many.
        """
        until = self._looking.until
        found = await self._read(lambda db: calls_of(db, kind, until=until, before=before, limit=limit + 1))
        rows, is_open = found[:limit], self._is_open
        rows = [
            row if row.settled_seq or is_open(row.call_id) else row._replace(state=NOT_SENT) for row in rows
        ]
        return CallsPage(tuple(rows), rows[-1].seq if len(found) > limit else None)

    async def sums(self, kind: Kind, by: str) -> tuple[Sum, ...]:
        """Add up the settled calls of a kind by `seat`, `case` or `model`, the dearest first."""
        until = self._looking.until
        return tuple(await self._read(lambda db: sums_of(db, kind, by, until=until, limit=MOST_NAMES)))

    async def spend(self, kind: Kind) -> tuple[Sum, ...]:
        """Add up the settled calls of a kind by the hour, or by the day where there are many."""
        until = self._looking.until
        return tuple(await self._read(lambda db: spend_of(db, kind, until=until, limit=MOST_TIMES)))

    def gauges(self) -> tuple[Gauge, ...]:
        """Return every budget, and what is booked where nothing is limited: the society, today, seats, open cases.

        Raises:
            NotReady: The log has not been read yet.
        """
        self._check()
        docket = self._looking.docket()
        at = self._looking.now().at or docket.at
        if at is None:
            return ()
        return tuple(
            Gauge(place.shown, place.scope, place.key, unit, most, has or 0, open_ or 0)
            for place, limit, booked, held in docket.context.fold_named("ledger").room(at)
            for unit, most, has, open_ in zip(UNITS, limit, booked, held, strict=True)
        )

    async def why(self, seq: int) -> Why:
        """Say who wrote a message, and tell the calls that were made for it.

        Raises:
            NotThere: There is no such message for these eyes.
        """
        self._check()
        env = await self._looking.message(seq)
        if env.channel == PLACE and (call_id := env.body.model_dump().get("call_id")):
            return await self.call(str(call_id))
        owed = _answered(env)
        calls = await self._told(owed[0]) if owed is not None else ()
        attempt = owed[1] if owed is not None else None
        if attempt is None:
            attempt = calls[-1][0].attempt if calls else 0
        return Why(self._by(env, calls), owed[0] if owed is not None else "", attempt, calls)

    async def call(self, call_id: str) -> Why:
        """Tell all calls that were made for the same answer as one of them.

        Raises:
            NotThere: There is no such call.
        """
        until = self._looking.until
        row = await self._read(lambda db: call_of(db, call_id, until=until))
        if row is None:
            raise NotThere(f"there is no call {call_id[:200]}")
        calls = await self._told(row.obligation)
        attempt = next((one.attempt for one, _ in calls if one.id == call_id), 0)
        return Why("", row.obligation, attempt, calls)

    async def _told(self, obligation: str) -> tuple[tuple[Call, Words], ...]:
        until = self._looking.until

        def look(db: sqlite3.Connection) -> tuple[list[CallRow], tuple[Envelope, ...]]:
            rows = calls_for(db, obligation, until=until)[-MOST_CALLS:]
            seqs = {row.seq for row in rows} | {row.settled_seq for row in rows if row.settled_seq}
            return rows, decoded(LogRows(db, "log").these(sorted(seqs)))[0]

        rows, said = await self._read(look)
        lost = {row.seq for row in rows if not row.settled_seq and not self._is_open(row.call_id)}
        gathered = Gathered()
        for env in said:
            fx = Effects()
            fx.superseded = env.seq in lost
            gathered.take(env, fx)
        return tuple(await asyncio.to_thread(self._with_words, gathered.by_id.values()))

    def _with_words(self, calls: Collection[Call]) -> list[tuple[Call, Words]]:
        if not calls:
            return []
        with Bodies(self._looking.watching.directory) as bodies:
            return [(call, bodies.words(call)) for call in calls]

    def _is_open(self, call_id: str) -> bool:
        """Say whether a call is under way; while the log is still being read, that it may be."""
        try:
            return call_id in self._looking.docket().context.fold_named("ledger").open
        except NotReady:
            return True

    def _by(self, env: Envelope, calls: tuple[tuple[Call, Words], ...]) -> str:
        """Say in one line who filled the seat when a message was said."""
        who = self._looking.speakers()
        if env.actor.kind == "human":
            name = who.names.get(env.actor.user_id, env.actor.user_id)
            return f"{name} on {env.actor.platform} wrote this."
        if env.actor.kind == "officer":
            follows = f"The {env.author} is code: this follows from the rules"
            return f"{follows}; what the seat's model was asked is below." if calls else f"{follows}."
        mind = who.minds.writer(env)
        return f"Written by {author_of(mind)}." if is_models(mind) else f"Written by: {author_of(mind)}."

    def _check(self) -> None:
        if not self.may_be_seen:
            raise NotThere(CLOSED)

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._check()
        watching = self._looking.watching
        await watching.rows_up_to(self._looking.until, FRESH_S)
        if not watching.indexer_is_open:
            raise NotReady("the index is not there yet")
        return await watching.readers.run(work)


def _answered(env: Envelope) -> tuple[str, int | None] | None:
    """Return the obligation that a message answers or is about, and which attempt it was; None for any other message.

    What the referee says of an answer that did not come (a ruling, a reminder) is about no attempt.
    """
    if env.actor.kind == "officer" and isinstance(about := env.body.model_dump().get("obligation_id"), str):
        return about, None
    if env.actor.kind != "bot":
        return None
    if env.obligation_id is not None:
        return env.obligation_id, env.attempt
    aside = _ASIDE.fullmatch(env.id)
    return (aside[1], int(aside[2])) if aside else None
