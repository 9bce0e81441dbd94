"""What is kept beside the log, on every host that needs it: in the data directory, and on NATS before the log names it.

So whoever takes over finds the evidence that messages name and what models answered: nothing is paid for again.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from moot.channels.errors import ChannelError
from moot.channels.nats.objects import Objects
from moot.memory.bodies import Bodies, is_sha256
from moot.memory.errors import StoreUnavailable, UnknownEvidence
from moot.memory.evidence import Evidence
from moot.place import EVIDENCE
from moot.protocols.kernel.canonical import canonical_json

CALLS: Final = "calls"
"""Before the hash of a body: what it is called on the servers."""
REPLIES: Final = "replies"
"""Before the id of a call: what names the body of its reply."""


class TravellingEvidence(Evidence):
    """Evidence that is kept here and on the servers; what is not here comes from there."""

    def __init__(self, here: Evidence, there: Objects) -> None:
        """Keep evidence in both."""
        self._here = here
        self._there = there

    def put(self, kind: str, payload: dict[str, Any]) -> str:
        ref = self._here.put(kind, payload)
        try:
            self._there.put(f"{EVIDENCE}/{ref}", canonical_json(payload).encode())
        except ChannelError as exc:
            raise StoreUnavailable(str(exc)) from exc
        return ref

    def get(self, ref: str) -> dict[str, Any]:
        try:
            return self._here.get(ref)
        except UnknownEvidence:
            data = _fetched(self._there, f"{EVIDENCE}/{ref}")
            if data is None or self._here.put(ref.partition("/")[0], json.loads(data)) != ref:
                raise
        return self._here.get(ref)


class TravellingBodies(Bodies):
    """What models were asked and answered, kept here and on the servers; what is not here comes from there."""

    def __init__(self, here: Bodies, there: Objects) -> None:
        """Keep bodies in both."""
        self._here = here
        self._there = there
        self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="bodies")

    def put(self, data: bytes, *, call_id: str = "") -> Future[str]:
        kept = self._here.put(data, call_id=call_id)
        return self._pool.submit(self._send, kept, data, call_id)

    def _send(self, kept: Future[str], data: bytes, call_id: str) -> str:
        sha256 = kept.result()
        try:
            send_body(self._there, data, call_id)
        except ChannelError as exc:
            raise StoreUnavailable(str(exc)) from exc
        return sha256

    def get(self, sha256: str) -> bytes:
        try:
            return self._here.get(sha256)
        except UnknownEvidence:
            data = _fetched(self._there, f"{CALLS}/{sha256}") if is_sha256(sha256) else None
            if data is None or self._here.put(data).result() != sha256:
                raise
        return self._here.get(sha256)

    def reply_of(self, call_id: str) -> bytes | None:
        found = self._here.reply_of(call_id)
        if found is None and (named := _fetched(self._there, f"{REPLIES}/{call_id}")) is not None:
            data = self.get(named.decode("ascii", "replace"))
            self._here.put(data, call_id=call_id).result()
            return data
        return found

    def close(self) -> None:
        self._pool.shutdown()
        self._here.close()


def send_body(there: Objects, data: bytes, call_id: str = "") -> None:
    """Keep a body on the servers; it is the reply record of a call where one is named.

    Raises:
        StorageError: The server did not take it.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    there.put(f"{CALLS}/{sha256}", data)
    if call_id:
        there.put(f"{REPLIES}/{call_id}", sha256.encode())


def _fetched(there: Objects, name: str) -> bytes | None:
    try:
        return there.get(name)
    except ChannelError as exc:
        raise StoreUnavailable(str(exc)) from exc
