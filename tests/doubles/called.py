"""A data directory of a society whose advocate is a model: calls in its log, and the bodies beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from moot.memory.bodies_file import CALLS_NAME, BodiesFile
from moot.protocols.kernel.envelope import Envelope
from tests.doubles.call_table import CallTable
from tests.doubles.data_dir import write_log
from tests.doubles.model_server import Turn, completion

SYSTEM: Final = "You are the advocate.\nSay which option holds."
ASKED: Final = ({"role": "system", "content": SYSTEM}, {"role": "user", "content": "Four days or five?"})

USED: Final = {"prompt_tokens": 100, "completion_tokens": 50}
"""What `CallTable.settle` books by itself."""


class Called:
    """A motion whose claim is a model's; the test says what it was asked and answered.

    Attributes:
        table: The society.
        place: Its data directory; `write` writes the log there.
    """

    def __init__(self, place: Path, budget: Mapping[str, Any] | None = None) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self.place = place
        self.table = CallTable(budget)
        self.bodies = BodiesFile(place / CALLS_NAME)

    def ask(self, *messages: Mapping[str, Any], **over: Any) -> str:
        """Keep a request and reserve its call; return the call's id."""
        body = {"model": "test-1", "messages": [*(messages or ASKED)], "max_tokens": 200}
        sha256 = self.bodies.put(json.dumps(body).encode()).result(60)
        env = self.table.reserve(request_sha256=sha256, **over)
        return str(env.body.call_id)  # type: ignore[attr-defined]

    def answer(
        self, call_id: str, turn: Turn, outcome: str = "answered", why: str = "", **over: Any
    ) -> Envelope:
        """Keep a reply and settle its call."""
        record = {
            "call_id": call_id,
            "outcome": outcome,
            "why": why,
            "fault": "",
            "tries": 1,
            "latency_ms": 700,
            "status": turn.status,
            "body": json.dumps({**json.loads(turn.body), "model": "test-1"}),
        }
        sha256 = self.bodies.put(json.dumps(record).encode(), call_id=call_id).result(60)
        return self.table.settle(call_id, outcome=outcome, why=why, reply_sha256=sha256, **over)

    def write(self) -> Path:
        """Write the log, close the bodies, and return the directory."""
        self.bodies.close()
        return write_log(self.place, self.table.log)


def a_claim(place: Path, budget: Mapping[str, Any] | None = None) -> Called:
    """Ask for a claim in two turns, the second of them twice, and post it."""
    called = Called(place, budget)
    first = called.ask()
    called.answer(
        first, completion(None, finish="tool_calls", tools=[("look_up", '{"word":"week"}')], usage=USED)
    )
    looked_up = (
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "tool_call_id": "call_1", "content": "seven days"},
    )
    lost = called.ask(*ASKED, *looked_up, turn=2)
    called.table.settle(
        lost,
        outcome="provider_error",
        why="HTTP 500: it broke",
        usage=None,
        reply_sha256=None,
        is_free=True,
        model_reported="",
        finish="",
    )
    called.answer(called.ask(*ASKED, *looked_up, turn=2), completion('{"option":"yes"}', usage=USED))
    called.table.claim()
    return called
