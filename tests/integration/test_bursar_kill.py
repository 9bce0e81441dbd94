"""kill -9 of a real process around a call: what was answered is not sent again, and nothing that was paid is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from moot.protocols.kernel.envelope import Envelope
from moot.stored import stored_envelopes
from tests.doubles.command_line import done
from tests.doubles.model_server import ModelServer, Turn, completion
from tests.doubles.nats import running

MOMENTS = ("kept", "reserved", "replied", "settled")


def command(place: Path, server: ModelServer, moment: str, *more: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "tests.doubles.calling_process",
        str(place),
        server.url,
        moment,
        "1.5",
        *more,
    ]


def live(place: Path, server: ModelServer, moment: str = "", *more: str) -> int:
    """Run the process to its end; return its exit code."""
    return subprocess.run(command(place, server, moment, *more), check=False, capture_output=True).returncode


def live_until_it_asks(place: Path, server: ModelServer) -> None:
    """Run the process until the server has its request, which it never answers; then kill it."""
    server.plays(completion('{"colour":"red","number":1}'), Turn(stall="before"))
    asked = server.expects(len(server.calls) + 2)
    process = subprocess.Popen(command(place, server, ""))
    try:
        while not asked.wait(0.1):
            assert process.poll() is None
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def outcomes(log: list[Envelope]) -> list[str]:
    """Return what became of the calls: each reservation and settlement."""
    return [
        getattr(env.body, "outcome", "reserved")
        for env in log
        if env.body.type in ("CALL_RESERVED", "CALL_SETTLED")
    ]


@pytest.mark.rule("K26")
def test_k26_killed_at_any_moment_of_a_call_the_society_asks_again_only_what_was_not_answered(
    tmp_path: Path,
) -> None:
    place = tmp_path / "data"
    with ModelServer() as server:
        server.prefers = {"fatal_flaws": [], "confidence": 0.8}
        for moment in MOMENTS:
            assert live(place, server, moment) == -signal.SIGKILL
        live_until_it_asks(place, server)
        assert live(place, server) == 0
        asked = [str(call.body["messages"]) for call in server.calls]
    log = list(stored_envelopes(place))
    assert outcomes(log)[:9] == [
        # Killed with the request kept and nothing reserved: as if it had not been.
        # Killed before it was sent: nobody knows that, so the worst case is booked, and it is asked again.
        *("reserved", "unknown"),
        # Killed when the reply was kept: it is settled with that, and used.
        *("reserved", "answered"),
        # Killed when it was settled: it is used.
        *("reserved", "answered"),
        # Killed while the server was at it: asked again.
        *("reserved", "unknown"),
        "reserved",
    ]
    probe = asked[0]
    assert Counter(Counter(one for one in asked if one != probe).values())[2] == 1
    assert max(Counter(one for one in asked if one != probe).values()) == 2
    reserved = {env.body.call_id: env.body for env in log if env.body.type == "CALL_RESERVED"}
    for env in log:
        if env.body.type == "CALL_SETTLED" and env.body.outcome == "unknown":
            worst = reserved[env.body.call_id]
            assert (env.body.cost, env.body.tokens) == (worst.max_cost, worst.max_tokens)
    # The same request went out again, as the next try.
    first, second = (
        one for name, one in reserved.items() if one.obligation == list(reserved.values())[3].obligation
    )
    assert (first.try_, second.try_, first.request_sha256) == (1, 2, second.request_sha256)
    assert "every rule holds" in done("verify", place)


@pytest.mark.rule("K26")
def test_k26_an_answer_that_a_killed_leader_had_kept_is_not_asked_for_again_by_the_next_host(
    tmp_path: Path,
) -> None:
    with ModelServer() as server, running(tmp_path / "nats") as nats:
        address = nats.address("desk").secret
        server.prefers = {"fatal_flaws": [], "confidence": 0.8}
        assert live(tmp_path / "one", server, "replied", address) == -signal.SIGKILL
        assert live(tmp_path / "two", server, "", address) == 0
        log = list(stored_envelopes(tmp_path / "two"))
        reserved = [env for env in log if env.body.type == "CALL_RESERVED"]
        first = next(env for env in log if env.body.type == "CALL_SETTLED")
        assert (first.body.call_id, first.body.outcome) == (reserved[0].body.call_id, "answered")
        probe, *asked = [str(call.body["messages"]) for call in server.calls]
        assert set(Counter(one for one in asked if one != probe).values()) == {1}
