"""Answers from a recording instead of from models: no key, no network, and never a call that was not made (K29)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Final, NamedTuple

from moot.bots.models.answer import Answer
from moot.bots.models.errors import BadRecord
from moot.bots.models.in_use import ModelInUse
from moot.bots.models.record import answer_in
from moot.bots.models.transport import Errand, Sent, Transport
from moot.memory.bodies import Bodies, StoredBodies
from moot.memory.errors import MemoryStoreError
from moot.protocols.calls.messages import CallReserved, CallSettled
from moot.protocols.kernel.errors import BadInput

SHOWN: Final = 160
"""So many characters of a line that differs are shown."""

_HASH: Final = re.compile(r"\b[0-9a-f]{16,64}\b")


class ReplayMiss(BadInput):
    """Say in one line which call a recording does not answer, and what differs."""


class RecordedCall(NamedTuple):
    """A call of a recording: what was asked for, and how it ended."""

    reserved: CallReserved
    settled: CallSettled


class RecordedModels(Transport):
    """Answers each call with what the same call was answered before."""

    def __init__(
        self,
        calls: Mapping[str, RecordedCall],
        recorded: StoredBodies,
        bodies: Bodies,
        models: Mapping[str, ModelInUse],
        live: Transport | None = None,
    ) -> None:
        """Take a recording.

        Args:
            calls: Its calls, by id.
            recorded: Its bodies.
            bodies: Where the bodies of this run are kept.
            models: How its models were called, by name.
            live: Carries out calls that the recording does not have; None: those are misses.
        """
        self._calls = calls
        self._recorded = recorded
        self._bodies = bodies
        self._models = models
        self._live = live

    def keep(self, body: bytes) -> Future[str]:
        return self._bodies.put(body)

    def send(self, errand: Errand) -> Future[Sent]:
        call = self._calls.get(errand.call_id)
        if call is None and self._live is not None:
            return self._live.send(errand)
        done: Future[Sent] = Future()
        try:
            record, answer = self._found(call, errand)
        except ReplayMiss as miss:
            done.set_exception(miss)
            return done
        kept = self._bodies.put(record, call_id=errand.call_id)
        kept.add_done_callback(lambda one: _hand_over(one, done, lambda sha256: Sent(answer, sha256)))
        return done

    def _found(self, call: RecordedCall | None, errand: Errand) -> tuple[bytes, Answer]:
        """Return the record of a reply, and the answer that it is of.

        Raises:
            ReplayMiss: There is none, or something else was asked.
        """
        if call is None:
            raise ReplayMiss(f"{errand.call_id}: the recording has no such call")
        try:
            asked = self._recorded.get(call.reserved.request_sha256)
            if asked != errand.body:
                raise ReplayMiss(f"{errand.call_id}: {first_difference(asked, errand.body)}")
            if call.settled.reply_sha256 is None:
                raise ReplayMiss(f"{errand.call_id}: the recording has no reply: {call.settled.why}")
            record = self._recorded.get(call.settled.reply_sha256)
            return record, answer_in(record, self._models[errand.model].reader(errand.request))
        except (MemoryStoreError, BadRecord) as fault:
            raise ReplayMiss(f"{errand.call_id}: {fault}") from None


def _hand_over(kept: Future[str], done: Future[Sent], make: Callable[[str], Sent]) -> None:
    fault = kept.exception()
    if fault is not None:
        done.set_exception(fault)
    else:
        done.set_result(make(kept.result()))


def first_difference(recorded: bytes, asked: bytes) -> str:
    """Say in one line which is the first line of a request that differs, and how it read."""
    before, now = _lines(recorded), _lines(asked)
    for n in range(max(len(before), len(now))):
        one, two = (lines[n] if n < len(lines) else "" for lines in (before, now))
        # A hash differs because of what it is of, and that is what somebody wants to see.
        if _HASH.sub("", one) != _HASH.sub("", two):
            at = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
            start = max(0, at - SHOWN // 2)
            cut = [json.dumps(line[start : start + SHOWN], ensure_ascii=False) for line in (one, two)]
            return f"line {n + 1} of the request was {cut[0]} and is {cut[1]}"
    return "the requests differ"


def _lines(body: bytes) -> list[str]:
    """Return a request as people read it: its parts, and the texts of its messages line by line."""
    try:
        told = json.loads(body)
        messages = told.pop("messages")
        texts = [f"{one.get('role')}: {one.get('content')}" for one in messages]
    except (ValueError, KeyError, TypeError, AttributeError):
        return body.decode("utf-8", "replace").splitlines()
    rest = [json.dumps(told, sort_keys=True, ensure_ascii=False)]
    return [line for text in texts for line in text.splitlines()] + rest
