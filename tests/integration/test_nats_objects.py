"""Evidence and what models answered, between two hosts on a real server of NATS."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.channels.nats.objects import Objects
from moot.channels.nats.thread import NatsThread
from moot.hosts.travelling import TravellingBodies, TravellingEvidence
from moot.memory.bodies_file import CALLS_NAME, BodiesFile
from moot.memory.errors import StoreUnavailable, UnknownEvidence
from moot.memory.evidence import DirectoryEvidence
from tests.doubles.nats import NatsServer, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(Path(tmp_path_factory.mktemp("nats"))) as found:
        yield found


@pytest.fixture
def nats(server: NatsServer) -> Iterator[NatsThread]:
    with NatsThread(server.address()) as thread:
        yield thread


def test_evidence_that_one_host_keeps_another_one_finds_and_keeps_too(
    nats: NatsThread, tmp_path: Path
) -> None:
    one = TravellingEvidence(DirectoryEvidence(tmp_path / "one"), Objects(nats))
    two = TravellingEvidence(DirectoryEvidence(tmp_path / "two"), Objects(nats))
    payload = {"curve": [n / 7 for n in range(40_000)]}
    ref = one.put("equity", payload)
    assert one.put("equity", payload) == ref
    assert two.get(ref) == payload
    assert DirectoryEvidence(tmp_path / "two").get(ref) == payload
    with pytest.raises(UnknownEvidence):
        two.get("equity/0123456789abcdef")
    with pytest.raises(UnknownEvidence):
        two.get("../lock")


def test_an_answer_that_was_kept_before_its_host_died_is_found_by_the_next_one(
    nats: NatsThread, tmp_path: Path
) -> None:
    request, reply = b'{"prompt":"?"}', b'{"text":"!"}' * 50_000
    with TravellingBodies(BodiesFile(tmp_path / f"one-{CALLS_NAME}"), Objects(nats)) as one:
        asked = one.put(request).result()
        answered = one.put(reply, call_id="call_1").result()
    assert (asked, answered) == tuple(hashlib.sha256(data).hexdigest() for data in (request, reply))
    with TravellingBodies(BodiesFile(tmp_path / f"two-{CALLS_NAME}"), Objects(nats)) as two:
        assert two.reply_of("call_1") == reply
        assert two.reply_of("call_2") is None
        assert two.get(asked) == request
        with pytest.raises(UnknownEvidence):
            two.get("0" * 64)
    with BodiesFile(tmp_path / f"two-{CALLS_NAME}") as here:
        assert here.reply_of("call_1") == reply


def test_nothing_is_said_to_be_kept_that_the_servers_do_not_have(tmp_path: Path) -> None:
    with running(tmp_path / "nats") as server:
        nats = NatsThread(server.address())
        evidence = TravellingEvidence(DirectoryEvidence(tmp_path / "one"), Objects(nats))
        nats.close()
        with pytest.raises(StoreUnavailable):
            evidence.put("equity", {"n": 1})
