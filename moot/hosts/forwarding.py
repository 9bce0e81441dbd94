"""What people post beside a host that follows: it goes to the leader, and the receipt comes back (K3)."""

from __future__ import annotations

import asyncio
from typing import Final

from moot.channels.bus import Receipt
from moot.channels.errors import BusClosed, Refused
from moot.channels.guests.drafts import draft_to_json
from moot.channels.nats.inbox import deliver
from moot.channels.nats.thread import NatsThread
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Violation

WAIT_S: Final = 10.0
"""How long a leader is waited for; what was posted waits in the inbox all the same."""


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
        text, key = draft_to_json(draft), draft.identity()
        sending = asyncio.wrap_future(
            self._nats.run(lambda connection: deliver(connection, text, key, WAIT_S))
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
        return Receipt(
            told.get("seq", 0), told["id"], told["status"], told.get("note", ""), told.get("opened", "")
        )
