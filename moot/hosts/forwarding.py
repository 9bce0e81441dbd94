"""What people post beside a host that follows: it goes to the leader, and the receipt comes back (K3)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import structlog

from moot.channels.bus import Bus, Receipt
from moot.channels.errors import BusClosed, Refused
from moot.channels.gateway.bridge import BusBridge
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.server import GatewayServer
from moot.channels.guests.drafts import draft_to_json
from moot.channels.guests.inbox import InboxReceipt
from moot.channels.guests.pump import InboxPump
from moot.channels.log.file import LOG_NAME
from moot.channels.nats.inbox import deliver
from moot.channels.nats.thread import NatsThread
from moot.guests import FEED_PAUSE_S, keep_feeding
from moot.protocols.codec import decode_body
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Violation

WAIT_S: Final = 10.0
"""How long a leader is waited for; what was posted waits in the inbox all the same."""

_log = structlog.get_logger(__name__)


class Forwarder:
    """Publishes through the inbox that all hosts share; an `InboxPump` puts into it what is posted beside this one."""

    def __init__(self, nats: NatsThread) -> None:
        """Send over a connection; on the running loop."""
        self._nats = nats
        self._ending = asyncio.get_running_loop().create_future()

    def stop(self) -> None:
        """Wait for no receipt any more: this host ends to follow, and what was posted waits in the inbox."""
        if not self._ending.done():
            self._ending.set_result(None)

    async def publish(self, draft: Draft) -> Receipt:
        """Have the leader publish a draft.

        Raises:
            Refused: It was not taken.
            BusClosed: Nobody has answered yet; it is posted, and the same draft again gets the receipt.
            StorageError: The server did not take it.
        """
        told = await self.publish_json(draft_to_json(draft), draft.identity())
        status = told["status"]
        assert status != "refused"
        return Receipt(told.get("seq", 0), told["id"], status, told.get("note", ""), told.get("opened", ""))

    async def publish_json(self, draft: Mapping[str, Any] | str, key: str) -> InboxReceipt:
        """Have the leader publish a draft as `guests.drafts` writes it; raises as `publish` does."""
        sending = asyncio.wrap_future(
            self._nats.run(lambda connection: deliver(connection, draft, key, WAIT_S))
        )
        try:
            await asyncio.wait([sending, self._ending], return_when=asyncio.FIRST_COMPLETED)
            told = sending.result() if sending.done() else None
        finally:
            sending.cancel()
        if told is None:
            raise BusClosed("no host leads the society now: the draft waits")
        if told["status"] == "refused":
            raise Refused(Violation(told.get("rule", ""), told.get("why", ""), field=told.get("field")))
        return told


async def serve_beside(exits: AsyncExitStack, nats: NatsThread, directory: Path, bus: Bus) -> None:
    """Take what is posted into a directory whose bus follows, by its inbox and its gateway, until `exits` closes."""
    forwarder = Forwarder(nats)
    pump = InboxPump(directory / LOG_NAME, forwarder, decode_body)
    exits.push_async_callback(pump.close)
    exits.callback(forwarder.stop)
    serving = asyncio.create_task(_serve_guests(directory, bus, forwarder), name="gateway")
    exits.push_async_callback(ended, serving)


async def ended(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait until it has ended."""
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


async def _serve_guests(directory: Path, bus: Bus, forwarder: Forwarder) -> None:
    """Open the gateway's socket once there is a log; only the host that leads answers questions."""

    async def ask(question: str, _args: Mapping[str, Any]) -> str:
        return "" if question in ("escalation_shown", "trouble") else "the host that leads answers that"

    async def report(event: Mapping[str, Any]) -> None:
        _log.warning("a guest reports", **{str(key): value for key, value in event.items() if key != "event"})

    async def left(_guest: str) -> None:
        """Nothing was shown that would have to be forgotten."""

    beginning = bus.subscribe(0)
    first = await anext(aiter(beginning))
    beginning.close()
    bridge = BusBridge(bus, asyncio.get_running_loop())
    feeding = asyncio.create_task(keep_feeding(bridge, partial(asyncio.sleep, FEED_PAUSE_S)))
    guests = GuestHost(
        log_id=first.hash, source=bridge, publish=forwarder.publish_json, ask=ask, report=report, left=left
    )
    try:
        await GatewayServer(guests, data_dir=directory).serve()
    except OSError as exc:
        _log.error("no gateway socket: nobody can act from a page", why=str(exc))
    finally:
        await ended(feeding)
