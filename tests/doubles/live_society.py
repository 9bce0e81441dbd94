"""A society without bots that lives on a data directory, in a thread: log, referee, inbox, controls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from moot.channels.bus import Receipt
from moot.channels.guests.pump import InboxPump
from moot.channels.log.sqlite import SqliteBus
from moot.control import ControlPump
from moot.protocols.codec import decode_body, decode_stored
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.rules import Gate
from moot.protocols.rulebook import rules
from moot.stored import stored_envelopes
from tests.doubles.data_dir import write_log

Handle = Callable[[str, float | None, str], Any]


class LiveSociety:
    """Hosts a log that was written before; `with` starts and stops it."""

    def __init__(
        self,
        directory: Path,
        past: list[Envelope] | None,
        now: Callable[[], datetime],
        control: Handle | None = None,
    ) -> None:
        """Write the past down; None: it is there already."""
        if past is None:
            past = [*stored_envelopes(directory)]
        else:
            write_log(directory, past)
        self.directory = directory
        self.asked: list[tuple[str, float | None, str]] = []
        self._past = past
        self._now = now
        self._control = control
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="live society")

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        if self._fault is not None:
            raise self._fault
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as fault:
            self._fault = fault
        finally:
            self._ready.set()

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        rulebook = rules()
        gate, docket = Gate(rulebook), Docket(rulebook)
        for envelope in self._past:
            gate.apply(envelope)
            docket.fold(envelope)
        path = self.directory / "log.sqlite"
        bus = await SqliteBus.open(
            path, admission=gate, now=self._now, decode=decode_stored, durability="process"
        )
        owed, opened = asyncio.Event(), dict[int, str]()

        def on_append(envelope: Envelope) -> None:
            for state in docket.fold(envelope).started:
                opened[envelope.seq] = state.case_id
            owed.set()

        async def officers() -> None:
            while True:
                await owed.wait()
                owed.clear()
                while (draft := next(iter(docket.due(self._now())), None)) is not None:
                    await bus.publish(draft)

        async def handle(op: str, value: float | None, by: str) -> dict[str, Any]:
            self.asked.append((op, value, by))
            found = self._control(op, value, by) if self._control is not None else {}
            return dict(found)

        bus.on_append = on_append
        duty_runner = asyncio.create_task(officers())
        async with bus, InboxPump(path, _Telling(bus, opened), decode_body), ControlPump(path, handle):
            self._ready.set()
            await self._stop.wait()
        duty_runner.cancel()
        await asyncio.gather(duty_runner, return_exceptions=True)


class _Telling:
    """Says in receipts which case a message opened, as the door does."""

    def __init__(self, bus: SqliteBus, opened: Mapping[int, str]) -> None:
        self._bus = bus
        self._opened = opened

    async def publish(self, draft: Draft) -> Receipt:
        receipt = await self._bus.publish(draft)
        return receipt._replace(opened=self._opened.get(receipt.seq, ""))
