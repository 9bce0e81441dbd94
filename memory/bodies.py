"""Bodies: what models were asked and what they answered, word for word, each under the SHA-256 of its bytes.

The log names a body by its hash, so the log says what the body was (K26). Bodies are never changed and never taken
away. `bodies_file` keeps them on disk.
"""

from __future__ import annotations

import hashlib
import re
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Final, Self

from moot.memory.errors import CorruptEvidence, StoreClosed, UnknownEvidence

MOST_BYTES: Final = 64 * 1024 * 1024
"""A longer body is not kept."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


class StoredBodies(ABC):
    """Bodies that can be read. Calls block, and may come from any thread; close it, or use it as a context manager."""

    @abstractmethod
    def get(self, sha256: str) -> bytes:
        """Return a body.

        Args:
            sha256: The hash of its bytes, 64 hex digits.

        Raises:
            UnknownEvidence: There is none with that hash.
            CorruptEvidence: What is kept under the hash are other bytes; the text names the call, if it is a reply.
            StoreUnavailable: The disk does not give it.
            CorruptStore: The file is damaged.
        """

    @abstractmethod
    def reply_of(self, call_id: str) -> bytes | None:
        """Return the reply record that was kept last for a call, None where none was.

        Raises:
            CorruptEvidence: What is kept for the call are other bytes.
            StoreUnavailable: The disk does not give it.
            CorruptStore: The file is damaged.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; safe to call twice."""

    def __enter__(self) -> Self:
        """Return the bodies."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close them."""
        self.close()


class Bodies(StoredBodies):
    """Bodies that are kept, too."""

    @abstractmethod
    def put(self, data: bytes, *, call_id: str = "") -> Future[str]:
        """Keep a body; returns at once, and may be called from any thread.

        The same bytes are kept once.

        Args:
            data: The body, at most `MOST_BYTES`.
            call_id: The call of which it is the reply record; "" for a request.

        Returns:
            Its SHA-256 in hex. When it is there, the body is durable, through kill and power cut. Else it raises
            StoreUnavailable (the disk did not take it; what is put when there is room is kept) or CorruptStore.

        Raises:
            ValueError: It is too long.
            StoreClosed: The bodies are closed.
        """


class InMemoryBodies(Bodies):
    """Bodies that live and die with their process."""

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._kept: dict[str, bytes] = {}
        self._replies: dict[str, str] = {}
        self._is_closed = False

    def __iter__(self) -> Iterator[str]:
        """Yield the SHA-256 in hex of each body."""
        yield from list(self._kept)

    def put(self, data: bytes, *, call_id: str = "") -> Future[str]:
        check_length(data)
        sha256 = hashlib.sha256(data).hexdigest()
        packed = zlib.compress(data)
        with self._lock:
            if self._is_closed:
                raise StoreClosed("the bodies are closed")
            self._kept.setdefault(sha256, packed)
            if call_id:
                self._replies[call_id] = sha256
        done: Future[str] = Future()
        done.set_result(sha256)
        return done

    def get(self, sha256: str) -> bytes:
        packed = self._kept.get(sha256)
        if packed is None:
            raise unknown(sha256)
        return unpacked(packed, sha256)

    def reply_of(self, call_id: str) -> bytes | None:
        sha256 = self._replies.get(call_id)
        return None if sha256 is None else self.get(sha256)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True


def check_length(data: bytes) -> None:
    """Refuse what is too long.

    Raises:
        ValueError: It is.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"a body of {len(data)} bytes: at most {MOST_BYTES} are kept")


def is_sha256(text: str) -> bool:
    """Say whether a text is a hash as bodies are named by."""
    return _SHA256.fullmatch(text) is not None


def unknown(sha256: str) -> UnknownEvidence:
    """Return the error for a hash under which nothing is kept."""
    return UnknownEvidence(f"no body {sha256[:64]!r} is kept")


def unpacked(packed: bytes, sha256: str, call_id: str = "") -> bytes:
    """Return the bytes that were packed, if they are those of the hash.

    Raises:
        CorruptEvidence: They are others; the text names the call.
    """
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(packed, MOST_BYTES)
        is_whole = unpacking.eof
    except (zlib.error, TypeError):
        data, is_whole = b"", False
    if not is_whole or hashlib.sha256(data).hexdigest() != sha256:
        of_call = f", the reply of call {call_id}," if call_id else ""
        raise CorruptEvidence(f"the bytes kept as body {sha256}{of_call} are other bytes")
    return data
