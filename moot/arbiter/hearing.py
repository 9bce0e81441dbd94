"""How a living society hears of a run, and how a person there stops it.

What is told is put into the society's inbox, where it is on the disk before the next is told: a society that is away,
or starts anew, takes it in order when it is back, each once, for each has an id of its own. The society's lab judges it
and says it. The run never waits for any of that: a thread posts, and reads the log for a person's STOP.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from moot.arbiter.bulletins import Bulletins, silence_of
from moot.arbiter.events import Event
from moot.arbiter.experiment import started_of
from moot.arbiter.interrupt import Interrupt, Level
from moot.arbiter.launching import OpenPorts, Ports, StartRefused
from moot.arbiter.resolving import Prepared
from moot.channels.errors import ChannelError
from moot.channels.guests.drafts import draft_to_json
from moot.channels.guests.inbox import InboxReceipt, post
from moot.channels.log.file import LOG_NAME, reading
from moot.channels.log.lease import holder
from moot.channels.log.reader import holding
from moot.clock import Clock
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.seats import LAB
from moot.protocols.lab.messages import ExperimentEnded, Told
from moot.protocols.lab.rights import PLACE

LOOK_S: Final = 0.25
"""So often the log is read for a STOP, in wall time."""

FIRST_S: Final = 10.0
"""So long a run waits at most for the society to take its start."""

RECEIPT_S: Final = 5.0
"""So long a receipt is waited for; what has none is kept by the inbox."""

AWAY_S: Final = 0.2
"""So long, while the society is away."""

Say = Callable[[str], None]


class Hearing:
    """Tells a society of one run; used within `heard_in`."""

    def __init__(self, path: Path, by: Actor, bulletins: Bulletins, seq: int, say: Say) -> None:
        """Begin once the society has taken the start.

        Args:
            path: The society's `log.sqlite`.
            by: Whose run it is.
            bulletins: What is to be said.
            seq: Where the start stands in the log.
            say: Told a line for people, on this thread or another.
        """
        self._path = path
        self._by = by
        self.bulletins = bulletins
        self._say = say
        self._told: queue.SimpleQueue[Told | None] = queue.SimpleQueue()
        self._is_away = False
        self._is_over = False
        self._seen = seq
        self._on_stop: Callable[[str], None] = lambda _who: None
        self._thread = threading.Thread(target=self._work, name="society", daemon=True)

    def __call__(self, event: Event) -> None:
        """Take an event of the run; never waits."""
        body = self.bulletins.heard(event)
        if body is not None:
            self._is_over = isinstance(body, ExperimentEnded)
            self._told.put(body)

    def begin(self, on_stop: Callable[[str], None]) -> None:
        """Start posting, and listening for a STOP.

        Args:
            on_stop: Told who stopped the run, on another thread.
        """
        self._on_stop = on_stop
        self._thread.start()

    def end(self) -> None:
        """Post what is left; a run that did not tell its end has failed. Waits for the thread."""
        if not self._is_over:
            self._told.put(self.bulletins.broken_off("the run broke off"))
        self._told.put(None)
        self._thread.join()

    # ---------------------------------------------------------------- the thread

    def _work(self) -> None:
        while True:
            self._look()
            try:
                body = self._told.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if body is None:
                return
            if not self._post(body):
                # A society that refuses one refuses all that follows.
                while self._told.get() is not None:
                    pass
                return

    def _post(self, body: Told) -> bool:
        """Post one message; return whether there is any use in the next.

        Where more is to be told already, its receipt is not waited for: what comes later says whether it was taken.
        """
        is_last = self._told.empty() or isinstance(body, ExperimentEnded)
        wait_s = 0.0 if not is_last else AWAY_S if self._is_away else RECEIPT_S
        try:
            receipt = posted(self._path, body, self._by, wait_s)
        except ChannelError as fault:
            self._say(f"the society hears no more of this run: {fault}")
            return False
        if receipt is None:
            if not self._is_away and (is_last or holder(self._path.parent) is None):
                self._say(f"the society in {self._path.parent} is away: what this run tells waits for it")
                self._is_away = True
            return True
        if receipt["status"] == "refused":
            self._say(f"the society hears no more of this run: {receipt.get('why', 'it refuses it')}")
            return False
        if self._is_away:
            self._say("the society is back, and has heard all")
            self._is_away = False
        return True

    def _look(self) -> None:
        """Read whether a person stopped the experiment."""
        experiment_id = self.bulletins.start.experiment_id
        try:
            with reading(self._path) as rows:
                last = rows.head()
                for row in rows.walk(self._seen + 1, last, holding('"type":"RULING"', f'"{experiment_id}"')):
                    ruling = json.loads(row.text)["body"]
                    if ruling["outcome"] == "stop" and ruling["case_id"] == experiment_id:
                        found = rows.at(ruling["of_seq"])
                        actor = json.loads(found.text)["actor"] if found else {}
                        self._on_stop(
                            f"{actor.get('user_id', 'somebody')} on {actor.get('platform', 'its page')}"
                        )
                self._seen = last
        except (ChannelError, ValueError, KeyError, TypeError):
            # A log that cannot be read now may be read at the next look.
            return


def posted(path: Path, body: Told, by: Actor, wait_s: float) -> InboxReceipt | None:
    """Post what a run tells; None when it waits for the society.

    Raises:
        ChannelError: There is no society, or the disk does not take it.
    """
    draft = Draft(channel=PLACE, author=LAB, body=body, actor=by, case_id=body.experiment_id)
    return post(path, draft_to_json(draft), body.key, wait_s)


def begun(path: Path, prepared: Prepared, by: Actor, *, is_mock: bool) -> tuple[Bulletins, int]:
    """Have a society take the start of a run; one that had ended there goes on under a number.

    Returns:
        What is to be said from now on, and where the start stands in the log.

    Raises:
        StartRefused: It lives nowhere, does not answer, or refuses.
        ChannelError: The disk does not take it.
    """
    data, config = path.parent, prepared.config
    if holder(data) is None:
        raise StartRefused(
            f"no society lives in {data}: start it with moot up --data {data}, or leave --data out"
        )
    with reading(path) as rows:
        before = sum(1 for _ in rows.walk(where=holding('"type":"EXPERIMENT_ENDED"', config.run.run_id)))
    start = started_of(prepared, before, mode="mock" if is_mock else "live", silence_s=silence_of(prepared))
    receipt = posted(path, start, by, FIRST_S)
    if receipt is None:
        raise StartRefused(f"the society in {data} does not answer: try again, or leave --data out")
    if receipt["status"] == "refused":
        raise StartRefused(f"the society in {data} refuses this run: {receipt.get('why', 'no reason given')}")
    has_labels = config.protocol.decision_contract is not None or config.protocol.type == "debate_v1"
    return Bulletins(start, has_labels=has_labels), receipt.get("seq", 0)


@asynccontextmanager
async def _heard(hearing: Hearing, interrupt: Interrupt, say: Say) -> AsyncIterator[Hearing]:
    loop = asyncio.get_running_loop()

    def stopped(who: str) -> None:
        hearing.bulletins.obeys = why = f"{who} stopped it"
        say(f"{who} stopped this run: no further trial begins, those in flight end")
        loop.call_soon_threadsafe(interrupt.raise_to, Level.GRACEFUL, why)

    hearing.begin(stopped)
    try:
        yield hearing
    finally:
        await asyncio.to_thread(hearing.end)


def heard_in(
    data: Path, by: Actor, prepared: Prepared, open_ports: OpenPorts, say: Say, *, is_mock: bool
) -> OpenPorts:
    """Return what opens a run's ports and has a society hear of the run.

    Args:
        data: The society's data directory.
        by: Whose run it is; an admin there.
        prepared: The run.
        open_ports: Opens whom it asks.
        say: Told lines for people.
        is_mock: Whether it asks nobody.
    """
    path = data / LOG_NAME

    @asynccontextmanager
    async def opened(clock: Clock, interrupt: Interrupt) -> AsyncIterator[Ports]:
        async with open_ports(clock, interrupt) as ports:
            bulletins, seq = await asyncio.to_thread(begun, path, prepared, by, is_mock=is_mock)
            hearing = Hearing(path, by, bulletins, seq, say)
            async with _heard(hearing, interrupt, say):
                yield ports._replace(subscribers=(*ports.subscribers, hearing))

    return opened
