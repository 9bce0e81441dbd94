"""Several hosts of one society, a client that posts all the time, and a leader that is killed under it."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.channels.guests.drafts import draft_to_json
from moot.channels.log.file import reading
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import VIEWER
from tests.doubles.cut_line import CutLine
from tests.doubles.hosts import Client, Hosts, wait_for
from tests.doubles.nats import NatsServer, running

IN_TIME_S = 10.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    with running(tmp_path / "nats") as found:
        yield found


def note(n: int) -> str:
    return draft_to_json(
        Draft(
            channel="#bridge",
            author=VIEWER,
            body=Note(text=f"note {n}"),
            actor=Actor("human", "cli", "ann"),
            key=f"{n}",
        )
    )


def rows_of(directory: Path) -> list[tuple[int, str, str, bytes]]:
    with reading(directory / "log.sqlite") as rows:
        return [(row.seq, row.id, row.text, row.hash) for row in rows.walk()]


def rehearse(hosts: Hosts, *, kills: int, dice: random.Random) -> tuple[list[float], Client]:
    """Kill the leader again and again, each time starting it again; return how long nobody led, each time."""
    names = ["one", "two", "three"]
    for name in names:
        hosts.start(name)
    hosts.leader()
    hosts.watch()
    gaps: list[float] = []
    with Client(hosts.address, note) as client:
        client.posts(3)
        for _ in range(kills):
            hosts.together()
            client.posts(dice.randrange(5))
            time.sleep(dice.random() * 0.05)
            dead = hosts.leader()
            hosts.kill(dead)
            killed_at, head = time.monotonic(), len(hosts.came)
            gaps.append(hosts.started_after(head) - killed_at)
            client.posts(2)
            hosts.start(dead)
        client.posts(2)
    hosts.together()
    return gaps, client


def test_a_killed_leader_is_followed_in_time_and_nothing_acknowledged_is_lost_or_said_twice(
    server: NatsServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Hosts(tmp_path, server.address("desk")) as hosts:
        gaps, client = rehearse(hosts, kills=1, dice=random.Random(1))
        for name in ("one", "two", "three"):
            assert hosts.stop(name) == 0
        logs = [rows_of(hosts.directory(name)) for name in ("one", "two", "three")]
    longest = max(logs, key=len)
    assert all(log == longest[: len(log)] for log in logs)
    told = [json.loads(text)["body"].get("text") for _, _, text, _ in longest]
    for key, seq in client.acknowledged.items():
        assert longest[seq - 1][1] == key
    notes = [text for text in told if text and text.startswith("note ")]
    assert len(notes) == len(set(notes)) >= len(client.acknowledged)
    epochs = [
        json.loads(text)["body"]["data"]["leader"]["epoch"]
        for _, _, text, _ in longest
        if "SOCIETY_STARTED" in text
    ]
    assert epochs == sorted(set(epochs)) and len(epochs) >= 2
    assert max(gaps) < IN_TIME_S, gaps


def test_a_leader_that_is_cut_off_waits_writes_nothing_after_another_one_and_follows_it(
    server: NatsServer, tmp_path: Path
) -> None:
    address = server.address("desk")
    with CutLine(server.port) as line, Hosts(tmp_path, address) as hosts:
        hosts.start("cut", address._replace(servers=(f"nats://127.0.0.1:{line.port}",)))
        assert hosts.leader() == "cut"
        hosts.start("whole")
        hosts.together()
        hosts.watch()
        with Client(address, note) as client:
            client.posts(3)
            line.cut()
            head = len(hosts.came)
            hosts.started_after(head)
            client.posts(3)
            line.mend()
            wait_for(lambda: "no longer leads" in hosts.told("cut"))
            assert "does not answer: the society waits until it does" in hosts.told("cut")
            client.posts(3)
        hosts.together()
        server.stop()
        wait_for(lambda: "the society waits" in hosts.told("whole"))
        assert hosts.stop("cut") == 0
        assert hosts.stop("whole") == 0
        stream = [came.row for came in hosts.came]
    logs = [rows_of(hosts.directory(name)) for name in ("cut", "whole")]
    assert logs[0] == logs[1]
    assert '"SOCIETY_STOPPED"' not in logs[1][-1][2]
    led = [row.epoch for row in stream]
    assert led == sorted(led)
    assert len(set(led)) == 2
    for key, seq in client.acknowledged.items():
        assert logs[1][seq - 1][1] == key
