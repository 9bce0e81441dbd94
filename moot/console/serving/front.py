"""The front: every connection to the console, from the moment it is made; those that say nothing are few and brief.

A request that is sent a byte a minute costs its sender nothing and holds a connection here for as long as it likes.
So a connection has a time for the head of a request, and only so many may be open that no person stands behind: one
more, and the oldest of the peer that has most of them is closed. A person's connections are not among them, however
many strangers come from the same address.

Connections are refused here, and bytes counted; who somebody is, the guard finds out (`Line.belongs_to`).
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

from moot.console.model.interface import Person

HEAD_S: Final = 10.0
"""Wall time in which the head of a request is there, counted from its first byte, or from the connection's first.

It is half of that where no room is left: so those who came together do not go together, and come back together.
"""

MOST_HEAD: Final = 65_536
"""Bytes that may come before the head of a request is whole."""

MOST_OF_PERSON: Final = 100
"""Connections of one viewer from one address: pages with their sockets, streams."""

STATE: Final = "line"
"""Under this name a request's state holds its connection."""

WANTED_FILES: Final = 8_192
"""File descriptors that a console asks for; what a system gives by default is what one browser can use up."""

SPARED_FILES: Final = 256
"""File descriptors that are left to the rest of the process."""


class Room(NamedTuple):
    """How many connections are taken in.

    To hold a connection that says nothing costs some 20 kB, to close it and take in the next one more than that: so
    there is room for many.

    Attributes:
        strangers: So many that no person stands behind.
        viewers: So many of people who are no admins.
    """

    strangers: int = 2_560
    viewers: int = 1_024


class Line:
    """One connection, from its first byte to its last."""

    def __init__(self, front: Front, transport: asyncio.Transport) -> None:
        """Begin with a stranger who has said nothing."""
        peer = transport.get_extra_info("peername")
        self.peer = str(peer[0]) if peer else ""
        self.whose: tuple[str, str] | None = None
        self.is_admin = False
        self.cookie = ""
        self._front = front
        self._transport = transport
        self._unheard = 0
        self._under_way = 0
        self._timer: asyncio.TimerHandle | None = None
        self._wait()

    def take(self, data: bytes) -> bool:
        """Count what came before the head of a request is whole; says whether it is still to be read."""
        if self._under_way:
            return True
        if self._unheard > MOST_HEAD:
            self.drop()
            return False
        if self._timer is None:
            self._wait()
        self._unheard += len(data)
        return True

    def begin(self) -> None:
        """Note that the head of a request is whole."""
        self._under_way += 1
        self._unheard = 0
        self._hush()

    def end(self) -> None:
        """Note that a request has been answered."""
        self._under_way -= 1

    def belongs_to(self, person: Person, cookie: str = "") -> bool:
        """Note who stands behind it, and by which cookie; says whether there is room for one more of theirs."""
        self.cookie = cookie
        if self.whose == (person.user_id, self.peer):
            return True
        return self._front.introduce(self, person)

    def drop(self) -> None:
        """Close it, whatever is still to be said."""
        self._hush()
        self._transport.abort()

    def lost(self) -> None:
        """Forget it."""
        self._hush()
        self._front.forget(self)

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._front.head_s, self.drop)

    def _hush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Front:
    """Knows the connections; `protocols` are what a server makes of each."""

    def __init__(self, room: Room | None = None) -> None:
        """Begin with none."""
        self.room = room or room_for(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        # By peer, then oldest first.
        self._strangers: dict[str, dict[Line, None]] = {}
        self._count = 0
        self._viewers: dict[Line, None] = {}
        self._of_person: dict[tuple[str, str], int] = {}
        self._lines: dict[asyncio.Transport, Line] = {}

    @property
    def protocols(self) -> tuple[Any, Any]:
        """Return what uvicorn makes of a connection, and of one that becomes a socket."""
        return partial(_Http, self), partial(_Socket, self)

    @property
    def head_s(self) -> float:
        """Return how long a stranger has for a request, in wall time."""
        return HEAD_S * (1.0 - 0.5 * min(1.0, self._count / self.room.strangers))

    @property
    def strangers(self) -> int:
        """Return how many connections are open that no person stands behind."""
        return self._count

    def come(self, transport: asyncio.Transport) -> Line:
        """Take in a connection; where there is no room, the oldest of who has most of them has to go."""
        line = self._lines[transport] = Line(self, transport)
        self._strangers.setdefault(line.peer, {})[line] = None
        self._count += 1
        if self._count > self.room.strangers:
            most = max(list(self._strangers.values()), key=len)
            oldest = next(iter(most))
            self.forget(oldest)
            oldest.drop()
        return line

    def line_of(self, transport: asyncio.Transport) -> Line:
        """Return a connection that has come, also one that has had to go."""
        return self._lines.get(transport) or Line(self, transport)

    def introduce(self, line: Line, person: Person) -> bool:
        """Note who stands behind a connection; says whether there is room for one more of theirs."""
        whose = (person.user_id, line.peer)
        if not person.is_admin and self._of_person.get(whose, 0) >= MOST_OF_PERSON:
            return False
        transport = line._transport
        self.forget(line)
        self._lines[transport] = line
        line.whose, line.is_admin = whose, person.is_admin
        if not person.is_admin:
            self._of_person[whose] = self._of_person.get(whose, 0) + 1
            self._viewers[line] = None
            if len(self._viewers) > self.room.viewers:
                oldest = next(iter(self._viewers))
                self.forget(oldest)
                oldest.drop()
        return True

    def turn_out(self, holds: Callable[[str, str], bool]) -> None:
        """Close the connections of people whose cookies hold no more."""
        for line in [*self._lines.values()]:
            if line.whose is not None and not holds(line.whose[0], line.cookie):
                line.drop()

    def forget(self, line: Line) -> None:
        """Count a connection no longer."""
        self._lines.pop(line._transport, None)
        theirs = self._strangers.get(line.peer, {})
        if line in theirs:
            del theirs[line]
            self._count -= 1
            if not theirs:
                del self._strangers[line.peer]
        if line in self._viewers:
            del self._viewers[line]
            assert line.whose is not None
            self._of_person[line.whose] -= 1
            if not self._of_person[line.whose]:
                del self._of_person[line.whose]


def room_for(files: int) -> Room:
    """Return how many connections fit into so many file descriptors."""
    free = max(32, files - SPARED_FILES)
    return Room(min(Room().strangers, free // 2), min(Room().viewers, free // 4))


def ask_for_files() -> None:
    """Ask the system for more file descriptors, as far as it gives them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class _Lined:
    """What a protocol of Uvicorn's has besides: its line at the front, which is lost with its connection."""

    def __init__(self, front: Front, **how: Any) -> None:
        self._state = dict(how.pop("app_state"))
        super().__init__(app_state=self._state, **how)  # type: ignore[call-arg]
        self._front = front
        self._line: Line | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._line is not None:
            self._line.lost()
        super().connection_lost(exc)  # type: ignore[misc]


class _Http(_Lined, AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Uvicorn's HTTP, with a line to the front."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._line = self._front.come(transport)
        self._state[STATE] = self._line
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._line is None or self._line.take(data):
            super().data_received(data)


class _Socket(_Lined, AutoWebSocketsProtocol):  # type: ignore[misc, valid-type]
    """Uvicorn's socket, which goes on with the line of the connection that it was."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._line = self._front.line_of(transport)
        self._state[STATE] = self._line
        super().connection_made(transport)
