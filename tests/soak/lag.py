"""How far a host that follows is behind: the real standby, which notes when it has folded each message."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from moot.channels.log.lease import Lease
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.lease import NatsLease
from moot.channels.nats.thread import NatsThread
from moot.config.settings import load_settings
from moot.folding import Folding
from moot.hosts.standby import Standby
from moot.plan import Plan
from moot.protocols.kernel.envelope import Envelope
from tests.doubles.table import START

PATIENCE_S = 60.0
NEVER_S = 1e9


class _Timed(Standby):
    """A standby that notes how old each message is when it is folded, in milliseconds, of the machine's one clock."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.ages_ms: list[float] = []

    def _fold(self, folding: Folding) -> Callable[[Envelope], None]:
        fold = super()._fold(folding)

        def timed(envelope: Envelope) -> None:
            fold(envelope)
            self.ages_ms.append(1000 * (time.time() - envelope.sent_at.timestamp()))  # it measures

        return timed


class Reader:
    """A host that follows and never leads; `with` lets it begin and end."""

    def __init__(self, directory: Path, address: NatsAddress) -> None:
        self._directory = directory
        self._address = address
        self._ready = threading.Event()
        self._standby: _Timed | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="reader")

    def __enter__(self) -> Self:
        self._directory.mkdir()
        self._thread.start()
        assert self._ready.wait(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; safe to call twice."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(PATIENCE_S)

    def lags_ms(self) -> list[float]:
        """Return how old the messages were that it has folded since it follows."""
        assert self._standby is not None
        return [*self._standby.ages_ms]

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        with ExitStack() as exits:
            lease = exits.enter_context(Lease.acquire(self._directory))
            nats = exits.enter_context(NatsThread(self._address, name="reader"))

            def stand() -> NatsLease:
                return NatsLease(nats, name="reader", token="reader", since=lambda: "", lapse_s=NEVER_S)

            plan = Plan(
                settings=load_settings(None), seed=1, start=START, directory=self._directory, bus="nats"
            )
            self._standby = _Timed(plan, lease, nats, "reader", stand)
            self._ready.set()
            await self._standby.follow(self._stop, lambda _line: None)
