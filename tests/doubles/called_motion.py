"""A motion whose Advocate is a model, with every kind of end that a call can come to."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.protocols.calls.usage import Usage
from tests.doubles.called import ASKED, Called
from tests.doubles.model_server import completion

SECRET: Final = "what the desk remembers"
"""Stands in every prompt and in no message."""

BUDGET: Final = {"usd": "0.01", "day": {"usd": "0.003"}, "seat": {"calls": 6}}
PROMPT: Final = (*ASKED, {"role": "user", "content": f"<b>Memory</b>: {SECRET}"})


def a_motion(place: Path) -> Called:
    """Claim what is no option after a look-up; claim again after an answer that was cut off; lack budget for a reply.

    Five calls are settled, one is not sent since a budget was set before it came into the log, one has no room.
    """
    called = Called(place, BUDGET)
    table = called.table
    look_up = completion(None, finish="tool_calls", tools=[("look_up", '{"word":"week"}')])
    called.answer(called.ask(*PROMPT), look_up, input=120, output=20)
    looked_up = (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "look_up", "arguments": '{"word":"week"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "seven days"},
    )
    said = completion('{"option":"maybe"}', reasoning_content="Why not?")
    called.answer(called.ask(*PROMPT, *looked_up, turn=2), said, input=160, output=30)
    table.claim("maybe")
    table.wait(seconds=30)
    cut = {"outcome": "truncated", "why": "the answer was cut off at max_tokens", "finish": "length"}
    called.answer(called.ask(*PROMPT), completion('{"opt', finish="length"), **cut, output=200)
    usage = Usage(input=100, output=40, reasoning=10)
    called.answer(called.ask(*PROMPT, turn=2), completion('{"option":"yes"}'), usage=usage)
    table.claim()
    table.object("minor")
    lost = called.ask(*PROMPT)
    table.settle(
        lost, outcome="timed_out", why="no answer within 60 s", usage=None, reply_sha256=None, is_free=True
    )
    table.budget(scope="day", usd=0.001)
    called.ask(*PROMPT)
    table.refuse(
        why="the budget of 2026-02-23, UTC is $0.001, $0.00109 booked: $0.00 left, the call may take $0.001"
    )
    return called
