"""How calls travel to models: what the bursar has carried out where sockets are, and is told when it is done.

`LiveModels` sends; a replay gives what was answered before.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from moot.bots.models.answer import Answer
from moot.bots.models.client import ModelClient
from moot.bots.models.record import record_of
from moot.bots.models.request import Request, Rung
from moot.memory.bodies import Bodies
from moot.memory.errors import StoreUnavailable

T = TypeVar("T")

AGAIN_S: Final = 0.5
LONGEST_S: Final = 8.0
"""Wall seconds between two attempts to keep a body that the disk does not take, at first and at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A call that is reserved and is to be sent.

    Attributes:
        call_id: The call.
        seq: Where its reservation stands: nothing is sent before the log is on the disk so far.
        model: The model's name in the configuration.
        request: What is asked.
        body: How that is written.
        left_s: Wall seconds until the answer is of no use any more; None: it always is.
        given_up: Done when the answer is not wanted any more.
    """

    call_id: str
    seq: int
    model: str
    request: Request
    body: bytes
    left_s: float | None
    given_up: Future[None]


class Sent(NamedTuple):
    """What came of an errand.

    Attributes:
        answer: How the call ended.
        reply_sha256: The record of its reply.
    """

    answer: Answer
    reply_sha256: str


class Transport(Protocol):
    """Carries out what takes wall time; what it returns is awaited with `Clock.from_thread`."""

    def keep(self, body: bytes) -> Future[str]:
        """Keep the body of a request; gives its SHA-256 once it is durable."""
        ...

    def send(self, errand: Errand) -> Future[Sent]:
        """Make a call, and keep the record of its reply."""
        ...


class Spawn(Protocol):
    """Starts a coroutine on the thread on which the clients live."""

    def __call__(self, make: Callable[[], Coroutine[Any, Any, T]], /) -> Future[T]:
        """Start it."""
        ...


class LiveModels(Transport):
    """Sends calls over the network."""

    def __init__(
        self,
        clients: Mapping[str, tuple[ModelClient, Rung]],
        *,
        spawn: Spawn,
        bodies: Bodies,
        synced: Callable[[int], Future[None]],
        waits_for_room: bool,
        advises: bool = True,
    ) -> None:
        """Take what calls need.

        Args:
            clients: Each model's client, and how the model is held to a form.
            spawn: Starts a coroutine on the clients' thread.
            bodies: Where bodies are kept.
            synced: Gives what is done when the log is durable up to a seq.
            waits_for_room: Whether a disk that takes nothing is waited for; else that is an error.
            advises: Whether an answer that was cut off names the setting that limits it.
        """
        self._clients = clients
        self._spawn = spawn
        self._bodies = bodies
        self._synced = synced
        self._waits_for_room = waits_for_room
        self._advises = advises

    def keep(self, body: bytes) -> Future[str]:
        return self._spawn(lambda: self._kept(body, ""))

    def send(self, errand: Errand) -> Future[Sent]:
        return self._spawn(lambda: self._carry_out(errand))

    async def _carry_out(self, errand: Errand) -> Sent:
        await asyncio.wrap_future(self._synced(errand.seq))
        client, rung = self._clients[errand.model]
        loop, given_up = asyncio.get_running_loop(), asyncio.Event()
        errand.given_up.add_done_callback(lambda _done: _set(loop, given_up))
        answer = await client.call(
            errand.request,
            rung,
            body=json.loads(errand.body),
            deadline_s=None if errand.left_s is None else client.now_s() + errand.left_s,
            given_up=given_up,
        )
        if answer.outcome == "truncated" and self._advises:
            answer = replace(answer, why=f"{answer.why}: raise max_tokens in [models.{errand.model}]")
        return Sent(answer, await self._kept(record_of(errand.call_id, answer), errand.call_id))

    async def _kept(self, body: bytes, call_id: str) -> str:
        pause_s = AGAIN_S
        while True:
            try:
                return await asyncio.wrap_future(self._bodies.put(body, call_id=call_id))
            except StoreUnavailable:
                if not self._waits_for_room:
                    raise
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_S)


def _set(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Set an event from another thread; one whose loop has ended has nobody who waits for it."""
    try:
        loop.call_soon_threadsafe(event.set)
    except RuntimeError:
        if not loop.is_closed():
            raise
