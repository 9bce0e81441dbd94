"""The frames between society and gateway: one JSON object a line, each with an `op`.

============== ==================================================================================
guest to host  `hello` version · `subscribe` cursor · `publish` n key draft · `ask` n question args
               · `head` n · `report` event …
host to guest  `welcome` version log_id head heartbeat_s · `envelope` line · `receipt` n …
               · `answer` n text · `head` n seq · `beat` head · `error` why (then it hangs up)
============== ==================================================================================

A guest says `hello` first. `n` is the guest's number for a request and comes back with its answer. A receipt
carries `status`: accepted, duplicate, superseded (with `seq` and `id`, `opened` when the message opened a case, and a
`note` when it changes nothing), refused (with `why`), or unavailable (nothing is known, try again with the same key).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from moot.channels.errors import ChannelError

VERSION: Final = 1
"""Of these frames; a guest of another version is sent away with an `error`."""

MOST_BYTES: Final = 128 * 1024 * 1024
"""A longer line is no frame; the longest review takes six bytes a character where all are control characters."""

READ_BYTES: Final = 256 * 1024

_ENVELOPE: Final = b'{"op":"envelope","line":'

Frame = Mapping[str, Any]


class GatewayError(ChannelError):
    """Say that the other end does not speak this protocol, or hung up with a reason."""


class HungUp(GatewayError):
    """Say that the connection is gone."""


def encode(op: str, **fields: object) -> bytes:
    """Write a frame as one line."""
    return json.dumps({"op": op, **fields}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Frame:
    """Read a frame.

    Raises:
        GatewayError: Not a JSON object with an `op`.
    """
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError) as exc:
        raise GatewayError(f"not a frame: {exc}") from exc
    if not isinstance(frame, dict) or not isinstance(frame.get("op"), str):
        raise GatewayError("not a frame: no op")
    return frame


def envelope_frame(line: str) -> bytes:
    """Write the frame of one log line, which is taken over as it is."""
    return b"%b%b}\n" % (_ENVELOPE, line.encode())


def envelope_line(frame: bytes) -> str | None:
    """Return the log line in a frame, None when it is another frame."""
    return frame[len(_ENVELOPE) : -1].decode() if frame.startswith(_ENVELOPE) else None


class Frames:
    """Reads lines off a socket, as many as there are at a time."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        """Read from here on."""
        self._reader = reader
        self._rest = b""

    async def some(self) -> list[bytes]:
        """Return the next complete lines without their ends, at least one.

        Raises:
            HungUp: The other end closed, also in the middle of a line.
            GatewayError: A line is too long.
        """
        pieces = [self._rest]
        size = len(self._rest)
        while True:
            try:
                data = await self._reader.read(READ_BYTES)
            except OSError as exc:
                raise HungUp(str(exc)) from exc
            if not data:
                raise HungUp("the other end closed the connection")
            pieces.append(data)
            size += len(data)
            if b"\n" in data:
                *lines, self._rest = b"".join(pieces).split(b"\n")
                return lines
            if size > MOST_BYTES:
                raise GatewayError(f"a frame of more than {MOST_BYTES} bytes")
