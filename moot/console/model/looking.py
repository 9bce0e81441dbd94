"""What every read model does alike: windows, search, messages, cases, memory, up to some message."""

from __future__ import annotations

import asyncio
import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from moot.channels.log.reader import PAGE, LogRows
from moot.console.errors import NotReady, NotThere, Unreadable
from moot.console.model.calls import Calls
from moot.console.model.interface import (
    MAX_COUNTED_HITS,
    MOST_WINDOW,
    WINDOW,
    CaseView,
    ChannelView,
    Count,
    EscalationView,
    ObligationView,
    Progress,
    ReadModel,
    StandingView,
    Window,
)
from moot.console.phases import phases_of
from moot.console.reading.cases import (
    Story,
    closed_view,
    escalations_of,
    lateness_of,
    obligation_view,
    open_escalations,
    path_of,
    story_of,
    with_dues,
)
from moot.console.reading.windows import Found, Wanted, counted, decoded, query_of, searched, stretch
from moot.console.watching import Watching
from moot.desk import holdings, money, strategies
from moot.explaining.explain import explain
from moot.explaining.explanation import Explanation
from moot.memory.errors import MemoryStoreError, UnknownEvidence
from moot.memory.evidence import DirectoryEvidence
from moot.memory.records import Record
from moot.memory.shelves import BY_NAME, SHELVES
from moot.protocols.arena.record import versions_of
from moot.protocols.kernel.case import Ended
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.seats import OFFICERS, Seat
from moot.protocols.rulebook import rulebook

LAST: Final = "SELECT channel, max(last), sum(n) FROM tally GROUP BY channel"
LAST_BY: Final = "SELECT channel, max(seq), count(*) FROM entry WHERE seq <= ? GROUP BY channel"
SHELF: Final = """
SELECT body FROM record AS r WHERE shelf = ? AND seq < ? AND seq <= ? AND NOT EXISTS (
    SELECT 1 FROM record AS newer
    WHERE newer.shelf = r.shelf AND newer.key = r.key AND newer.seq > r.seq AND newer.seq <= ?
) ORDER BY seq DESC LIMIT ?
"""
ENDED: Final = "SELECT case_id, kind, outcome, opened_seq, ended_seq FROM cases WHERE ended_seq <= ?"

FRESH_S: Final = 1.0
"""How long a search waits for the index to take in what was said last."""


MOST_SEQ: Final = 2**53
"""Beyond it JSON readers lose digits; no log gets there, and no table holds a number of any length."""


class Looking(ReadModel):
    """Looks at a society up to some message, as somebody who reads some channels."""

    def __init__(self, watching: Watching, seat: Seat | None) -> None:
        """Look through the eyes of a seat; None: of nobody in particular, who reads everything."""
        self.watching = watching
        self.seat = seat
        readable = rulebook().channel_names if seat is None else watching.rules.matrix.readable(seat)
        # Whoever reads every channel also reads those that a newer version adds.
        self.channels_read: frozenset[str] | None = None if readable >= rulebook().channel_names else readable

    @property
    @abstractmethod
    def until(self) -> int:
        """Return the last message that counts."""

    @property
    def calls(self) -> Calls:
        return Calls(self)

    def index_progress(self) -> Progress:
        return self.watching.index_progress()

    def may_read(self, env: Envelope) -> bool:
        """Say whether a message is for these eyes."""
        return self.channels_read is None or env.channel in self.channels_read

    # ------------------------------------------------------------ messages

    async def window(
        self,
        *,
        channel: str | None = None,
        case_id: str | None = None,
        but: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int = WINDOW,
    ) -> Window:
        wanted = Wanted(channel=channel, case_id=case_id, channels=self.channels_read, but=but)
        return await self._window(wanted, before, after, limit)

    async def search(
        self,
        text: str = "",
        *,
        type: str | None = None,
        seat: str | None = None,
        case_id: str | None = None,
        channel: str | None = None,
        before: int | None = None,
        limit: int = WINDOW,
    ) -> Window:
        wanted = Wanted(channel=channel, case_id=case_id, type=type, author=seat, channels=self.channels_read)
        if not text.strip():
            return await self._window(wanted, before, None, limit)
        query = query_of(text)
        if not query:
            return Window(envelopes=(), progress=self.index_progress())
        high = min(self.until, before - 1) if before is not None else self.until
        limit = _bounded(limit)
        if before is None:
            await self.watching.texts_up_to(high, FRESH_S)
        if not self.watching.texts_reach.size:
            return Window(envelopes=(), progress=self.index_progress())
        return await self.watching.readers.run(
            lambda db: self._read(db, searched(db, wanted, query, high=high, limit=limit), before, None)
        )

    async def count_found(
        self,
        text: str = "",
        *,
        type: str | None = None,
        seat: str | None = None,
        case_id: str | None = None,
        channel: str | None = None,
    ) -> int:
        wanted = Wanted(channel=channel, case_id=case_id, type=type, author=seat, channels=self.channels_read)
        query = query_of(text)
        if (text.strip() and not query) or not self.watching.reach.size:
            return 0
        high, most = self.until, MAX_COUNTED_HITS + 1
        if query:
            await self.watching.texts_up_to(high, FRESH_S)
        return await self.watching.readers.run(lambda db: counted(db, wanted, query, high=high, most=most))

    async def _window(self, wanted: Wanted, before: int | None, after: int | None, limit: int) -> Window:
        limit, until = _bounded(limit), self.until
        is_down = after is None or before is not None
        high = until if before is None else min(until, max(0, before - 1))
        low = 1 if after is None else max(1, after + 1)
        if low > high:
            return Window(envelopes=(), before=None, after=None, progress=self.index_progress())
        reach = self.watching.reach
        return await self.watching.readers.run(
            lambda db: self._read(
                db,
                stretch(db, reach, wanted, low=low, high=high, is_down=is_down, limit=limit),
                before,
                None if is_down else after,
            )
        )

    def _read(self, db: sqlite3.Connection, found: Found, before: int | None, after: int | None) -> Window:
        """Turn rows into a window; on a reading thread."""
        envelopes, damaged = decoded(found.rows)
        first = found.rows[0].seq if found.rows else None
        last = found.rows[-1].seq if found.rows else None
        if after is None:
            above, below = found.edge, last if before is not None else None
        else:
            above, below = first, found.edge
        return Window(
            envelopes=envelopes,
            damaged=damaged,
            before=above,
            after=below,
            flaws=_flaws(db, [env.seq for env in envelopes], self.until),
            progress=self.index_progress(),
        )

    async def message(self, seq: int) -> Envelope:
        end = self.until
        # The log may hold what has not come by the live stream yet, such as what a receipt just named.
        if not 1 <= seq <= MOST_SEQ or (self.is_past and seq > end):
            raise NotThere(f"there is no message {seq}: the log ends at {end}")
        rows = await self.watching.readers.run(lambda db: LogRows(db, "log").between(seq, seq))
        envelopes, damaged = decoded(rows)
        if damaged:
            raise NotThere(f"message {seq} is damaged: {damaged[0].why}")
        if not envelopes and seq > end:
            raise NotThere(f"there is no message {seq}: the log ends at {end}")
        if not envelopes:
            raise NotThere(f"message {seq} is missing in the log: moot verify says more")
        if not self.may_read(envelopes[0]):
            raise NotThere(f"message {seq} is not for viewers")
        return envelopes[0]

    async def channels(self) -> tuple[ChannelView, ...]:
        until, high = self.until, self.watching.reach.high
        low = high + 1

        def look(db: sqlite3.Connection) -> list[tuple[str, int, int]]:
            rows = db.execute(LAST_BY, (until,)) if self.is_past else db.execute(LAST)
            return [(str(name), last, n) for name, last, n in rows]

        rows = await self.watching.readers.run(look) if high else []
        known = {name: (last, n) for name, last, n in rows}
        for env in self.watching.hub.after(low - 1) or ():
            if env.seq <= until:
                last, n = known.get(env.channel, (0, 0))
                known[env.channel] = (max(last, env.seq), n + (env.seq > high))
        names = [channel for channel in rulebook().channels if self.reads(channel.name)]
        views = [
            ChannelView(c.name, c.system, c.purpose, c.heading, *known.get(c.name, (0, 0))) for c in names
        ]
        others = sorted(
            name for name in known if name not in rulebook().channel_names and name and self.reads(name)
        )
        return (*views, *(ChannelView(name, "", "", "Others", *known[name]) for name in others))

    def reads(self, channel: str) -> bool:
        """Say whether a channel is for these eyes."""
        return self.channels_read is None or channel in self.channels_read

    async def counts(self, *types: str) -> tuple[Count, ...]:
        marks = ",".join("?" * len(types))
        where = f" WHERE type IN ({marks})" if types else ""
        sql = f"SELECT day, type, author, channel, sum(n) FROM tally{where} GROUP BY 1, 2, 3, 4 ORDER BY 1"
        if not self.watching.reach.size:
            return ()
        if self.is_past:
            sql = (
                "SELECT day, type, author, channel, count(*) FROM entry"
                f"{where or ' WHERE 1'} AND seq <= {int(self.until)} GROUP BY 1, 2, 3, 4 ORDER BY 1"
            )
        rows = await self.watching.readers.run(lambda db: db.execute(sql, types).fetchall())
        return tuple(
            Count(day, kind, seat, channel, n) for day, kind, seat, channel, n in rows if self.reads(channel)
        )

    # ------------------------------------------------------------ cases and duties

    async def case(self, case_id: str) -> CaseView:
        until, reach = self.until, self.watching.reach
        wanted = Wanted(case_id=case_id, channels=self.channels_read)
        # What is not written yet is taken first: what is written meanwhile is then seen twice, never missed.
        news = self.watching.story_rows(case_id)

        def look(db: sqlite3.Connection) -> tuple[Found, tuple[Envelope, ...], Story]:
            newest = stretch(db, reach, wanted, low=1, high=until, is_down=True, limit=MOST_WINDOW)
            known = story_of(db, case_id, until) if reach.size else Story([], [], [], [], [])
            return newest, decoded(newest.rows)[0], known.with_news(news, until)

        newest, transcript, story = await self.watching.readers.run(look)
        if not transcript:
            raise NotThere(f"there is no case {case_id}")
        docket = self._docket_or_none()
        state = docket.cases.get(case_id) if docket is not None else None
        ended = docket.ended.get(case_id) if docket is not None else None
        row = story.case[0] if story.case else None
        first = transcript[0]
        opener = self.watching.rules.openers.get(first.body.type)
        kind = state.kind if state else ended.kind if ended else row[1] if row else ""
        path = path_of(story.phases)
        is_over = row is not None and row[6] is not None and row[6] <= until and state is None
        outcome = ended.outcome if ended else row[5] if is_over and row else None
        closed = [closed_view(found) for found in story.owed]
        still = [obligation_view(docket, o) for o in state.owed] if state and docket else []
        known = {view.id for view in still}
        phase = str(state.phase) if state else path[-1].phase if path else row[4] if row else ""
        return CaseView(
            case_id=case_id,
            kind=kind or (opener.kind if opener is not None else ""),
            phase=phase,
            phases=phases_of(kind),
            outcome=outcome,
            parent=state.parent if state else row[2] if row else None,
            children=tuple(child for (child,) in story.children),
            opened_seq=state.opened_seq if state else ended.opened_seq if ended else first.seq,
            ended_seq=ended.seq if ended else row[6] if is_over and row else None,
            transcript=transcript,
            older=newest.edge,
            path=path,
            obligations=tuple(
                view
                for view in (*(v for v in closed if v.id not in known), *still)
                if self.reads(view.channel)
            ),
            late=lateness_of(story.late),
            waits_for_ruling=docket is not None and case_id in docket.waiting,
            state=state,
            progress=self._story_progress(),
        )

    async def rules_versions(self) -> Sequence[tuple[int, str]]:
        until, reach = self.until, self.watching.reach
        wanted = Wanted(type="SOCIETY_STARTED")

        def look(db: sqlite3.Connection) -> Sequence[tuple[int, str]]:
            found = stretch(db, reach, wanted, low=1, high=until, is_down=True, limit=MOST_WINDOW)
            return versions_of(decoded(found.rows)[0])

        return await self.watching.readers.run(look)

    async def explain(self, given: str) -> Explanation:
        try:
            return await self.watching.readers.run(
                lambda db: explain(lambda: nullcontext(_Readable(db, self)), given)
            )
        except BadInput as exc:
            raise NotThere(str(exc)) from exc

    def _docket_or_none(self) -> Docket | None:
        try:
            return self.docket()
        except NotReady:
            return None

    @abstractmethod
    def _story_progress(self) -> Progress:
        """Return how far cases have been told."""

    async def obligations(self) -> tuple[ObligationView, ...]:
        docket = self.docket()
        owed = sorted(docket.open.values(), key=lambda o: (o.seat in OFFICERS, o.due_at, o.id))
        return tuple(obligation_view(docket, o) for o in owed if self.reads(o.channel))

    async def escalations(self, *, limit: int = WINDOW) -> tuple[EscalationView, ...]:
        if not self.reads("#admin"):
            return ()
        docket, until, reach = self._docket_or_none(), self.until, self.watching.reach
        still = open_escalations(docket) if docket is not None else {}
        found = await self.watching.readers.run(
            lambda db: (
                escalations_of(db, reach, high=until, limit=_bounded(limit), also=still)
                if self.watching.indexer_is_open
                else []
            )
        )
        docket = self._docket_or_none()
        if docket is not None:
            found = with_dues(found, docket)
        return tuple(sorted(found, key=lambda view: (not view.is_open, -view.seq)))

    async def standing(self) -> StandingView:
        docket = self.docket()
        context = docket.context
        book = context.fold_named("book")
        reads_desk = self.reads("#b-desk")
        return StandingView(
            seq=docket.seq,
            is_halted=bool(book.halted),
            halt_id=book.halt_id or "",
            is_conservative=context.conservative_a,
            stopped=tuple(sorted(context.stopped)),
            holders={seat: holder.user_id for seat, holder in context.holders.items()},
            cases={kind: n for kind, n in context.running.items() if n},
            ended=len(docket.ended),
            seed=context.seed,
            rules_version=context.rules_version,
            is_warm_up=self.watching.is_warm_up and not self.is_past,
            desk=money(context) if reads_desk else {},
            positions=[h._asdict() for h in holdings(context)] if reads_desk else (),
            strategies=strategies(context) if reads_desk else (),
        )

    async def ended(self, kind: str | None = None, *, limit: int = WINDOW) -> tuple[Ended, ...]:
        if not self.watching.indexer_is_open:
            return ()
        sql = ENDED
        values: list[object] = [self.until]
        if kind is not None:
            sql += " AND kind = ?"
            values.append(kind)
        if self.channels_read is not None:
            # A case is for those who read the channel in which it was opened.
            marks = ",".join("?" * len(self.channels_read))
            sql += (
                f" AND opened_seq IN (SELECT seq FROM entry WHERE seq = opened_seq AND channel IN ({marks}))"
            )
            values += sorted(self.channels_read)
        sql += " ORDER BY ended_seq DESC LIMIT ?"
        rows = await self.watching.readers.run(
            lambda db: db.execute(sql, (*values, _bounded(limit))).fetchall()
        )
        return tuple(
            Ended(case_id, kind, outcome or "", opened, seq) for case_id, kind, outcome, opened, seq in rows
        )

    # ------------------------------------------------------------ memory and evidence

    async def memory(
        self, shelf: str, *, before: int | None = None, limit: int = WINDOW
    ) -> tuple[Record, ...]:
        if shelf not in {known.name for known in SHELVES}:
            raise NotThere(f"there is no shelf {shelf!r}: {', '.join(known.name for known in SHELVES)}")
        path, until = self.watching.directory / "moot.memory.sqlite", self.until
        most = before if before is not None else until + 1
        return await asyncio.to_thread(_records, path, shelf, most, until, _bounded(limit))

    async def evidence(self, ref: str) -> Mapping[str, Any]:
        keeper = DirectoryEvidence(self.watching.directory / "evidence")
        try:
            return await asyncio.to_thread(keeper.get, ref)
        except UnknownEvidence as exc:
            raise NotThere(str(exc)) from exc
        except MemoryStoreError as exc:
            raise Unreadable(str(exc)) from exc


class _Readable:
    """The log up to some message, as somebody may read it, for who looks through it."""

    def __init__(self, db: sqlite3.Connection, eyes: Looking) -> None:
        self._rows = LogRows(db, "log")
        self._until = eyes.until
        self._may_read = eyes.may_read

    def texts(self) -> Iterator[tuple[int, str]]:
        return self._rows.texts(self._until)

    def at(self, numbers: Sequence[int]) -> Iterator[Envelope]:
        for n in range(0, len(numbers), PAGE):
            for env in decoded(self._rows.these(numbers[n : n + PAGE]))[0]:
                if self._may_read(env):
                    yield env


def _records(path: Path, shelf: str, before: int, until: int, limit: int) -> tuple[Record, ...]:
    if not path.exists():
        return ()
    try:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=5.0
        )
        try:
            rows = db.execute(SHELF, (shelf, before, until, until, limit)).fetchall()
        finally:
            db.close()
        return tuple(BY_NAME[shelf].decode(body) for (body,) in rows)
    except sqlite3.Error as exc:
        raise Unreadable(f"{path}: {exc}") from exc
    except MemoryStoreError as exc:
        raise Unreadable(str(exc)) from exc


def _flaws(db: sqlite3.Connection, seqs: list[int], until: int) -> dict[int, str]:
    """Return which of some messages broke a rule, as found by then, and how; nothing where there is no index."""
    if not seqs:
        return {}
    marks = ",".join("?" * len(seqs))
    try:
        sql = f"SELECT seq, why FROM flaw WHERE seq IN ({marks}) AND found_seq <= ? ORDER BY found_seq"
        return dict(db.execute(sql, (*seqs, until)).fetchall())
    except sqlite3.OperationalError as exc:
        if "no such table" in str(exc):
            return {}
        raise


def _bounded(limit: int) -> int:
    return max(1, min(limit, MOST_WINDOW))


def as_plain(view: Any) -> dict[str, Any]:
    """Return a view of this package as plain data, without states and envelopes in it."""
    plain = asdict(view)
    return {name: value for name, value in plain.items() if name not in ("state", "transcript", "progress")}
