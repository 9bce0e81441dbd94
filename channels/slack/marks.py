"""Marks: how far each channel was heard, which of its last messages were handed in, and which threads are ours.

`seen/<channel>` keeps a channel's mark. While its gap is open, what comes in live does not move it: a crash must not
hide what was not read yet.
"""

from __future__ import annotations

import json
from typing import Final

from moot.channels.slack.events import order
from moot.channels.slack.rooms import Rooms
from moot.channels.surface import Memory

OVERLAP_S: Final = 60
"""History is read from a minute before the mark: Slack does not promise to deliver in order, or at all."""

ECHO_S: Final = 60
"""Our own messages move the written mark only so often."""

MOST_KNOWN: Final = 2_000
"""Messages of a channel that are known to be handed in; older ones are behind the mark by far."""

MOST_WRITTEN: Final = 300
"""Of these, so many are remembered across a crash, as far as the overlap reads."""

MOST_THREADS: Final = 30
"""Threads of a channel that are looked into although their first message is far back."""


class Marks:
    """Knows what was heard, in this process and, as far as it is written, before."""

    def __init__(self, rooms: Rooms, memory: Memory) -> None:
        """Connect; everything is read when it is needed."""
        self._rooms = rooms
        self._memory = memory
        self._heard: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._known: dict[str, set[str]] = {}
        self._threads: dict[str, list[str]] = {}
        self._open: set[str] = set()

    def open(self, channel: str) -> None:
        """Let the mark stand still."""
        self._open.add(channel)

    async def since(self, channel: str, room: str) -> str | None:
        """Return from where a channel is to be read; None when it was never heard."""
        if channel not in self._written:
            there, _, ts = (await self._memory.get(f"seen/{channel}") or "").partition("/")
            if there != room or not ts:
                return None
            self._written[channel] = ts
            known = self._known.setdefault(channel, set())
            known |= set(_texts(await self._memory.get(f"known/{channel}")))
        return f"{max(order(self._written[channel])[0] - OVERLAP_S, 0)}.000000"

    async def heard(self, channel: str, ts: str, *, is_ours: bool = False) -> None:
        """Note how far a channel was heard live."""
        if not is_ours:
            self.know(channel, ts)
            await self.keep(channel)
        if order(ts) <= order(self._heard.get(channel, "")):
            return
        self._heard[channel] = ts
        is_soon = is_ours and order(ts)[0] < order(self._written.get(channel, ""))[0] + ECHO_S
        if channel not in self._open and not is_soon:
            await self._write(channel)

    async def begin(self, channel: str, there: list[str]) -> None:
        """Set the first mark of a channel: what is there already stays unheard."""
        for ts in there:
            self.know(channel, ts)
        self._heard[channel] = max(there, key=order, default="0.0")
        await self.keep(channel)
        await self._write(channel)

    async def close(self, channel: str, ts: str) -> None:
        """Take the mark up again, from what was read or what was heard meanwhile, whichever is further."""
        self._open.discard(channel)
        self._heard[channel] = max(ts, self._heard.get(channel, ""), key=order)
        await self._write(channel)

    def leave(self, channel: str) -> None:
        """Give up reading a channel for now; what was heard moves its mark again."""
        self._open.discard(channel)

    def know(self, channel: str, ts: str) -> None:
        """Remember that a message was handed in; connections are renewed every few hours, and read an overlap."""
        known = self._known.setdefault(channel, set())
        known.add(ts)
        if len(known) > 2 * MOST_KNOWN:
            self._known[channel] = set(sorted(known, key=order)[-MOST_KNOWN:])

    def is_known(self, channel: str, ts: str) -> bool:
        """Say whether this process handed a message in."""
        return ts in self._known.get(channel, ())

    async def posted(self, channel: str, thread_ts: str) -> None:
        """Remember a thread of ours, for people may answer in it while we are away."""
        threads = await self.threads(channel)
        is_new = thread_ts not in threads
        if not is_new:
            threads.remove(thread_ts)
        threads.append(thread_ts)
        del threads[:-MOST_THREADS]
        if is_new:
            await self._memory.put(f"threads/{channel}", json.dumps(threads))

    async def threads(self, channel: str) -> list[str]:
        """Return our threads, the last one used last."""
        if channel not in self._threads:
            found = _texts(await self._memory.get(f"threads/{channel}"))
            self._threads.setdefault(channel, found)
        return self._threads[channel]

    async def keep(self, channel: str) -> None:
        """Write down what was handed in, as far back as history would be read after a crash now."""
        least = order(self._written.get(channel, ""))[0] - OVERLAP_S
        near = sorted((ts for ts in self._known.get(channel, ()) if order(ts)[0] >= least), key=order)
        await self._memory.put(f"known/{channel}", json.dumps(near[-MOST_WRITTEN:]))

    async def _write(self, channel: str) -> None:
        room = dict(self._rooms).get(channel)
        if room is not None:
            mark = self._written[channel] = self._heard[channel]
            await self._memory.put(f"seen/{channel}", f"{room}/{mark}")


def _texts(raw: str | None) -> list[str]:
    try:
        found = json.loads(raw or "[]")
    except ValueError:
        return []
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
