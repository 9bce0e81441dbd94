"""Several hosts of one society, a client that posts all the time, and a leader that is killed under it."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doubles.command_line import done
from tests.doubles.cut_line import CutLine
from tests.doubles.hosts import Client, Hosts, note, rows_of, wait_for
from tests.doubles.nats import NatsServer, running

IN_TIME_S = 10.0
HOW_TO = Path(__file__).parents[2] / "docs/how-to/several-hosts.md"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    with running(tmp_path / "nats") as found:
        yield found


def test_a_killed_leader_is_followed_in_time_and_nothing_acknowledged_is_lost_or_said_twice(
    server: NatsServer, tmp_path: Path
) -> None:
    address = server.address("desk")
    with Hosts(tmp_path, address) as hosts:
        hosts.start("alpha")
        assert hosts.leader() == "alpha"
        hosts.start("beta")
        hosts.together()
        hosts.watch()
        with Client(address, note) as client:
            client.posts(3)
            hosts.kill("alpha")
            killed_at, place = time.monotonic(), len(hosts.came)
            gap = hosts.started_after(place) - killed_at
            client.posts(3)
            hosts.start("alpha")
            client.posts(1)
        hosts.together()
        wait_for(lambda: hosts.told("alpha").count("this host follows") == 1)
        for name in ("alpha", "beta"):
            assert hosts.stop(name) == 0
        logs = [rows_of(hosts.directory(name)) for name in ("alpha", "beta")]
    assert logs[0] == logs[1][: len(logs[0])]
    assert len(logs[1]) - len(logs[0]) <= 1
    for key, seq in client.acknowledged.items():
        assert logs[1][seq - 1][1] == key
    bodies = [json.loads(text)["body"] for _, _, text, _ in logs[1]]
    notes = [body["text"] for body in bodies if body["type"] == "NOTE"]
    assert len(notes) == len(set(notes)) >= len(client.acknowledged)
    epochs = [body["data"]["leader"]["epoch"] for body in bodies if body["type"] == "SOCIETY_STARTED"]
    assert epochs == sorted(set(epochs))
    assert len(epochs) == 2
    assert gap < IN_TIME_S
    assert transcript(hosts) in HOW_TO.read_text()


def transcript(hosts: Hosts) -> str:
    """Return what the hosts of the rehearsal said of themselves, as the how-to shows it: without numbers."""
    up = "moot up --bus nats://10.0.0.5:4222 --society desk --data ./desk"
    alpha, beta = (said_of_itself(hosts, name) for name in ("alpha", "beta"))
    verified = done("verify", hosts.directory("beta")).splitlines()[0].partition("  ")[0]
    lines = [f"alpha$ {up}", *alpha[:1], f"beta$ {up}", *beta[:1], "alpha$ kill -9 %1", *beta[1:]]
    lines += [f"alpha$ {up}", *alpha[1:], "beta$ moot verify ./desk", verified]
    return re.sub(r"(?<=message )\d+|^\d+(?= messages)", "…", "\n".join(lines), flags=re.MULTILINE)


def said_of_itself(hosts: Hosts, name: str) -> list[str]:
    # Lines are folded where there is no room, and one machine is all hosts.
    text = " ".join(hosts.told(name).split())
    text = re.sub(rf"{re.escape(socket.gethostname())}-(\w+)", r"\1-desk", text)
    text = text.replace(str(hosts.address), "nats://10.0.0.5:4222/desk")
    return re.findall(r"\w+-desk leads(?: \S+ from message \d+ on|, this host follows.*?ends it)", text)


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
