"""What the simulated mind of a seat would answer: a starting point for the person who sits there (K12, K14).

The view that a mind is shown is made here from the folded docket, the index and the memory file, as the host makes it
from what it keeps; the mind then thinks in a thread.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog

from moot.bots.minds.mind import View
from moot.channels.showing.wording import seat_name
from moot.console.errors import NotReady, NotThere
from moot.console.minds import Minds
from moot.console.model.interface import MOST_WINDOW, ReadModel
from moot.memory.errors import MemoryStoreError
from moot.memory.evidence import DirectoryEvidence, text_of
from moot.memory.inmemory import InMemoryStore
from moot.memory.shelves import BY_NAME, Put
from moot.memory.sqlite_file import LOAD, STATE
from moot.plan import Plan
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.seeing import may_see

if TYPE_CHECKING:
    from moot.console.watching import Watching

LIMIT_S: Final = 15.0
"""Wall time a page waits for a suggestion; the mind thinks on, and the next question gets what it found."""

MOST_BEHIND: Final = 20_000
"""Messages by which the memory file may be behind the log; a living society writes it every few hundred."""

NOTES_SHOWN: Final = 50
NO_TIME: Final = timedelta(0)
EMPTY: Final = InMemoryStore().read()

_log = structlog.get_logger("moot.console")


class Suggesting:
    """Asks simulated minds on behalf of people, one at a time."""

    def __init__(self, watching: Watching) -> None:
        """Prepare; nobody is asked yet.

        Args:
            watching: The society.
        """
        self._watching = watching
        self._one = asyncio.Lock()
        self._under_way: dict[tuple[str, int], asyncio.Task[Message | None]] = {}
        self._minds: Minds | None = None

    async def suggest(self, model: ReadModel, obligation_id: str) -> Message:
        """Return what the simulated mind would answer.

        Args:
            model: The present as nobody in particular sees it: the seat's own rights decide what the mind is shown.
            obligation_id: What is owed.

        Raises:
            NotThere: Nobody owes it any more, or the mind would say nothing.
            NotReady: The mind is still thinking, or cannot be asked now.
        """
        key = (obligation_id, model.docket().attempts.get(obligation_id, 0))
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._think(model, obligation_id), name="suggestion")
            self._under_way[key] = task
            task.add_done_callback(_retrieved)
        seat = seat_name(obligation_id.rsplit("/", 1)[-1])
        try:
            found = await asyncio.wait_for(asyncio.shield(task), LIMIT_S)
        except TimeoutError:
            raise NotReady(f"The simulated {seat} is still thinking: ask again in a moment.") from None
        finally:
            if task.done():
                self._under_way.pop(key, None)
        if found is None:
            raise NotThere(f"The simulated {seat} would say nothing here.")
        return found

    async def close(self) -> None:
        """Let go; a thread that thinks is waited for (K25)."""
        tasks = list(self._under_way.values())
        self._under_way.clear()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _think(self, model: ReadModel, obligation_id: str) -> Message | None:
        async with self._one:
            memory = await asyncio.to_thread(stored, self._watching.directory / "moot.memory.sqlite")
            view = await view_of(
                model, obligation_id, DirectoryEvidence(self._watching.directory / "evidence")
            )
            if view.obligation.may_see.has_memory:
                view = view._replace(memory=(await caught_up(model, memory)).read())
            context = model.docket().context
            plan = Plan(
                settings=self._watching.settings,
                seed=context.seed,
                start=context.started_at or view.now,
                directory=self._watching.directory,
                bus="sqlite",
            )
            if self._minds is None or self._minds.log_id != self._watching.log_id:
                self._minds = Minds(self._watching.log_id)
            try:
                return await asyncio.to_thread(self._minds.answer, plan, view)
            except Exception as exc:
                _log.warning("no suggestion", obligation=obligation_id, why=f"{type(exc).__name__}: {exc}")
                raise NotReady("The simulated mind cannot be asked now; the gateway's log says why.") from exc


async def view_of(model: ReadModel, obligation_id: str, evidence: DirectoryEvidence) -> View:
    """Return what a seat's mind is shown for an obligation, but for memory (K12).

    Raises:
        NotThere: Nobody owes it, or not any more.
        NotReady: The docket is not folded yet.
    """
    owed = _owed(model.docket(), obligation_id)
    seat, sight = owed.seat, owed.may_see
    said, why = await _transcript(model, owed)
    notes = await _notes(model)
    content = await asyncio.to_thread(text_of, evidence, sight.content_ref) if sight.content_ref else ""
    # From here on nothing is waited for: the rest is of one moment (K13).
    docket = model.docket()
    owed = _owed(docket, obligation_id)
    state, context = docket.cases[owed.case_id], docket.context
    readable = docket.rules.matrix.readable(seat)
    now = model.now().at or context.at or owed.opened_at
    return View(
        obligation=owed,
        seat=seat,
        now=now,
        attempt=docket.attempts.get(owed.id, 0),
        refused=why,
        transcript=tuple(e for e in said if e.channel in readable and may_see(sight, e)),
        notes=tuple(e for e in notes if e.channel in readable and may_see(sight, e)),
        brief=docket.rules.types[state.kind].brief(state, owed, context),
        memory=EMPTY,
        is_conservative=context.conservative_a,
        elapsed=max(now - state.anchor_at, NO_TIME),
        config=context.config,
        content=content,
        names=context.fold_named("people").called,
        rules_version=context.version,
    )


def _owed(docket: Docket, obligation_id: str) -> Obligation:
    owed = docket.open.get(obligation_id)
    if owed is None:
        raise NotThere(f"nobody owes {obligation_id[:120]}, or not any more")
    return owed


async def _transcript(model: ReadModel, owed: Obligation) -> tuple[list[Envelope], str]:
    """Return the messages of the case, its ended parts, the case it is part of and the one it goes back to.

    Returns:
        The messages in order, and why the last answer to the obligation was refused, "" when none was.
    """
    state = model.docket().cases[owed.case_id]
    found = await _said(model, state.parent) if state.parent is not None else []
    if (linked := getattr(state, "linked", None)) is not None:
        found += (await model.case(linked)).transcript
        # What opened this case stands under the ended one (K23).
        found.append(await model.message(state.opened_seq))
    found += await _said(model, owed.case_id)
    window = await model.window(case_id=owed.case_id, limit=MOST_WINDOW)
    refused = [e.seq for e in window.envelopes if e.obligation_id == owed.id and e.seq in window.flaws]
    each = {env.seq: env for env in found}
    return list(each.values()), window.flaws[refused[-1]] if refused else ""


async def _said(model: ReadModel, case_id: str) -> list[Envelope]:
    """Return what was said in a case, and, where each ended, in its parts; as the host joins them."""
    try:
        told = await model.case(case_id)
    except NotThere:
        return []
    parts = [(env.seq, [env]) for env in told.transcript]
    for child in told.children:
        ended = model.docket().ended.get(child)
        if ended is not None:
            parts.append((ended.seq, await _said(model, child)))
    parts.sort(key=lambda part: part[0])
    return [env for _, said in parts for env in said]


async def _notes(model: ReadModel) -> list[Envelope]:
    """Return what people said lately."""
    said = list((await model.search(type="NOTE", limit=NOTES_SHOWN)).envelopes)
    answers = await model.search(type="ESCALATION_ANSWER", limit=NOTES_SHOWN)
    said += [env for env in answers.envelopes if getattr(env.body, "text", None)]
    return sorted(said, key=lambda env: env.seq)[-NOTES_SHOWN:]


async def caught_up(model: ReadModel, store: InMemoryStore) -> InMemoryStore:
    """Apply what was logged since the memory file was written, as far as nothing is missing in between."""
    head = model.docket().seq
    if head - store.applied_seq > MOST_BEHIND:
        return store
    while store.applied_seq < head:
        window = await model.window(after=store.applied_seq, limit=MOST_WINDOW)
        if not window.envelopes or window.damaged:
            break
        for env in window.envelopes:
            store.apply(env, env.seq not in window.flaws)
    return store


def stored(path: Path) -> InMemoryStore:
    """Read the memory file; in a thread. Empty where there is none, or none that can be read."""
    store = InMemoryStore()
    if not path.exists():
        return store
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5.0)) as db:
            db.execute("BEGIN")
            seq, digest, low = db.execute(STATE).fetchone()
            puts = [_put(*row) for row in db.execute(LOAD)]
        store.restore(puts, applied_seq=seq, applied_hash=digest, low_water=low)
    except (sqlite3.Error, MemoryStoreError, TypeError, KeyError) as exc:
        _log.warning("a suggestion without memory", why=str(exc))
        return InMemoryStore()
    return store


def _put(shelf: str, _key: str, _seq: int, body: str) -> Put:
    return Put(BY_NAME[shelf], BY_NAME[shelf].decode(body))


def _retrieved(task: asyncio.Task[Any]) -> None:
    """Look at a fault that nobody may have waited for."""
    if not task.cancelled():
        task.exception()
