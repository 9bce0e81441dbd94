"""Limits of a stream that lose messages: what they are, and that whoever leads says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nats.js import api

from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.stream import limits_of
from moot.channels.nats.thread import NatsThread
from tests.doubles.command_line import done
from tests.doubles.hosts import Hosts, rows_of, wait_for
from tests.doubles.nats import running

SCENE = "tests/acceptance/scenes/1.1-approve-leads-to-a-backtest.yaml"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, ""),
        ({"max_msgs": -1, "max_bytes": -1, "max_age": 0}, ""),
        ({"max_msgs": 5_000}, "at max_msgs 5,000 the oldest messages are discarded"),
        ({"max_bytes": 1_000_000}, "at max_bytes 1,000,000 the oldest messages are discarded"),
        ({"max_msgs_per_subject": 10}, "at max_msgs_per_subject 10 the oldest messages are discarded"),
        (
            {"max_msgs": 5, "max_bytes": 9, "discard": api.DiscardPolicy.NEW},
            "at max_msgs 5 and max_bytes 9 nothing more can be published",
        ),
        ({"max_age": 60.0}, "messages are discarded when they are older than max_age, 60 s"),
        ({"max_age": 60.0, "discard": api.DiscardPolicy.NEW}, "older than max_age, 60 s"),
        ({"retention": api.RetentionPolicy.INTEREST}, "retention interest discards messages"),
        ({"retention": api.RetentionPolicy.WORK_QUEUE}, "retention workqueue discards messages"),
    ],
)
def test_the_limits_of_a_stream_are_told(limits: dict[str, Any], said: str) -> None:
    found = limits_of(api.StreamConfig(name="desk", **limits))
    assert (said in found) if said else not found


def test_whoever_leads_says_that_the_stream_loses_messages(tmp_path: Path) -> None:
    with running(tmp_path / "nats") as server:
        address = server.address("desk")

        async def limit(connection: NatsConnection) -> None:
            info = await connection.js.stream_info(address.stream)
            info.config.max_msgs = 1_000_000
            info.config.discard = api.DiscardPolicy.OLD
            await connection.js.update_stream(info.config)

        (tmp_path / "hosts").mkdir()
        done("scene", SCENE, "--out", tmp_path / "lived")
        done("import", tmp_path / "lived", f"{address.where}/{address.society}")
        nats = NatsThread(address)
        try:
            nats.wait(limit)
        finally:
            nats.close()
        with Hosts(tmp_path / "hosts", address) as hosts:
            hosts.start("one")
            hosts.leader()
            directory = hosts.directory("one")
            found = wait_for(lambda: [row for row in rows_of(directory) if '"stream_limited"' in row[2]])
            assert len(found) == 1 and '"#admin"' in found[0][2]
            assert "max_msgs 1,000,000 the oldest messages are discarded" in found[0][2]
            assert "stream limited" in hosts.told("one") and "nats stream edit" in hosts.told("one")
            assert hosts.stop("one") == 0
        done("verify", directory)
        said = done("doctor", f"{address.where}/{address.society}")
        assert "max_msgs 1,000,000 the oldest messages are discarded" in said
