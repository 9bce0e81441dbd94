"""What stands beside the log arrives on every host, by a real server of NATS."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.channels.nats.objects import Objects
from moot.channels.nats.thread import NatsThread
from moot.hosts.copying import Copier, Copies
from moot.hosts.travelling import CALLS, REPLIES, TravellingBodies, TravellingEvidence
from moot.memory.bodies_file import CALLS_NAME, BodiesFile, StoredBodiesFile
from moot.memory.errors import UnknownEvidence
from moot.memory.evidence import DirectoryEvidence
from moot.place import EVIDENCE
from tests.doubles.command_line import done
from tests.doubles.hosts import wait_for
from tests.doubles.model_server import ModelServer
from tests.doubles.nats import NatsServer, running
from tests.integration.test_bursar_kill import live


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(Path(tmp_path_factory.mktemp("nats"))) as found:
        yield found


@pytest.fixture
def nats(server: NatsServer) -> Iterator[NatsThread]:
    with NatsThread(server.address()) as thread:
        yield thread


def test_what_the_leader_keeps_is_copied_while_it_lives_and_what_it_kept_before(
    nats: NatsThread, tmp_path: Path
) -> None:
    there, two = Objects(nats), tmp_path / "two"
    evidence = TravellingEvidence(DirectoryEvidence(tmp_path / "one"), there)
    early = evidence.put("equity", {"curve": [1, 2]})
    with TravellingBodies(BodiesFile(tmp_path / CALLS_NAME), there) as bodies, Copier(nats, two):
        late = evidence.put("work", {"text": "said later"})
        asked = bodies.put(b"asked").result()
        bodies.put(b"answered", call_id="call_1").result()
        wait_for(lambda: reply_in(two, "call_1") == b"answered")
    here = DirectoryEvidence(two / EVIDENCE)
    assert (here.get(early), here.get(late)) == ({"curve": [1, 2]}, {"text": "said later"})
    with StoredBodiesFile(two / CALLS_NAME) as kept:
        assert kept.get(asked) == b"asked"


def reply_in(directory: Path, call_id: str) -> bytes | None:
    try:
        with StoredBodiesFile(directory / CALLS_NAME) as kept:
            return kept.reply_of(call_id)
    except UnknownEvidence:
        return None


def test_what_is_not_there_yet_is_fetched_later_and_keeps_nothing_else_waiting(
    nats: NatsThread, tmp_path: Path
) -> None:
    there, body = Objects(nats), b"came late"
    sha256 = hashlib.sha256(body).hexdigest()
    there.put(f"{REPLIES}/call_1", sha256.encode())
    ref = TravellingEvidence(DirectoryEvidence(tmp_path / "one"), there).put("work", {"text": "here"})
    with Copies(there, tmp_path) as copies:
        copies.catch_up()
        assert DirectoryEvidence(tmp_path / EVIDENCE).get(ref) == {"text": "here"}
        assert reply_in(tmp_path, "call_1") is None
        there.put(f"{CALLS}/{sha256}", body)
        copies.catch_up()
        assert reply_in(tmp_path, "call_1") == body


def test_a_society_that_called_models_verifies_wherever_it_is_moved(
    server: NatsServer, tmp_path: Path
) -> None:
    one = tmp_path / "one"
    with ModelServer() as models:
        models.prefers = {"fatal_flaws": [], "confidence": 0.8}
        assert live(one, models, "settled") == -signal.SIGKILL
    address = server.address().secret
    done("import", one, address)
    assert "every rule holds" in done("verify", address, "--strict")
    done("import", address, tmp_path / "two")
    for told in (done("verify", place, "--strict") for place in (one, tmp_path / "two")):
        assert "every rule holds" in told
    assert done("calls", address) == done("calls", one)
