"""Commands that take a society on NATS where they take a directory, and move one there and back."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.channels.log.lease import Lease
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.connection import NatsConnection
from tests.doubles.command_line import complaint, data, done
from tests.doubles.nats import NatsServer, running

SCENE = "tests/acceptance/scenes/1.1-approve-leads-to-a-backtest.yaml"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    users = 'authorization { users: [{ user: ann, password: "se/cret" }] }'
    with running(tmp_path_factory.mktemp("nats"), users) as found:
        yield found


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lived") / "desk"
    done("scene", SCENE, "--out", place)
    return place


@pytest.fixture(scope="module")
def there(server: NatsServer, lived: Path) -> str:
    """Return the address of the society on NATS, with the password."""
    address = f"nats://ann:se%2Fcret@127.0.0.1:{server.port}/desk"
    said = done("import", lived, address)
    assert said.startswith(f"13 messages in nats://127.0.0.1:{server.port}/desk, head ")
    return address


def rows(directory: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / "log.sqlite")) as db:
        return db.execute("SELECT * FROM log ORDER BY seq").fetchall()


@pytest.mark.parametrize(
    "words",
    [
        ("log", "--json"),
        ("log", "--last", 5),
        ("case", "hyp_20260223_1020"),
        ("why", "hyp_20260223_1020"),
        ("export", "-"),
        ("obligations",),
    ],
)
def test_a_command_says_the_same_of_a_society_on_nats(
    lived: Path, there: str, words: tuple[Any, ...]
) -> None:
    command, *more = words
    assert done(command, there, *more) == done(command, lived, *more)


def test_a_society_on_nats_verifies_with_its_evidence_and_its_password_is_not_shown(
    lived: Path, there: str, server: NatsServer
) -> None:
    said = done("verify", there, "--strict")
    assert "every rule holds" in said and "se/cret" not in said and "%2F" not in said
    assert said.replace(f"nats://127.0.0.1:{server.port}/desk", str(lived)) == done(
        "verify", lived, "--strict"
    )


def test_a_society_comes_back_with_the_same_bytes(lived: Path, there: str, tmp_path: Path) -> None:
    found = data("import", there, tmp_path / "back")
    assert found["seq"] == 13 and found["hash"] == rows(lived)[-1][4].hex()
    assert rows(tmp_path / "back") == rows(lived)
    names = {path.name: path.read_bytes() for path in (lived / "evidence").rglob("*.json.gz")}
    assert names and names == {
        path.name: path.read_bytes() for path in (tmp_path / "back" / "evidence").rglob("*.json.gz")
    }


def test_an_import_that_broke_off_goes_on_and_another_society_is_left_alone(
    lived: Path, there: str, tmp_path: Path
) -> None:
    assert done("import", lived, there).startswith("13 messages"), "again, and nothing happens"
    done("scene", "docs/tutorial/first-deployment.yaml", "--out", tmp_path / "other")
    assert "says something else than this host has" in complaint(1, "import", tmp_path / "other", there)
    half = there.replace("/desk", "/half")
    done("import", lived, half)
    cut(there.replace("/desk", "/cut"), lived, 7)
    assert done("import", lived, there.replace("/desk", "/cut")).startswith("13 messages")
    assert done("log", there.replace("/desk", "/cut"), "--json") == done("log", lived, "--json")


def cut(address: str, lived: Path, last: int) -> None:
    """Have a server hold the beginning of a log only, as after an import that broke off, or when it lost the end."""
    from moot.channels.nats.stream import NatsStream
    from moot.hosts.moving import _entries, _send_all

    async def run() -> None:
        async with await NatsConnection.open(NatsAddress.parse(address)) as connection:
            await NatsStream(connection).open(create=True)
            # Written by a leader, whose epoch may not fall in what comes after it.
            await _send_all(connection, iter([next(_entries(lived / "log.sqlite", 0))[:last]]), epoch=9)

    asyncio.run(run())


def test_what_cannot_be_read_or_moved_is_said_in_a_line(
    server: NatsServer, lived: Path, there: str, tmp_path: Path
) -> None:
    where = f"nats://127.0.0.1:{server.port}"
    assert "does not let us in" in complaint(2, "log", f"{where}/desk")
    assert "names no society" in complaint(2, "verify", f"nats://ann:se%2Fcret@127.0.0.1:{server.port}")
    assert "holds no society: moot up --bus" in complaint(2, "log", there.replace("/desk", "/nobody"))
    assert "the other a directory" in complaint(2, "import", there, there)
    assert "there is no" in complaint(2, "import", tmp_path / "none", there)
    with Lease.acquire(lived):
        assert "hosts a society on" in complaint(3, "import", lived, there)


def test_doctor_says_what_a_stream_promises(there: str, server: NatsServer) -> None:
    said = done("doctor", there)
    assert f"nats://127.0.0.1:{server.port}, nats-server 2." in said
    assert "13 messages" in said
    assert "1: the log is on one server" in said
    assert "sync_interval, by default two minutes: a power cut may lose" in said
    assert "knows an id again for 120 s" in said
    assert "messages cannot be deleted" in said
    found = data("doctor", there.replace("/desk", "/nobody"))
    assert found["findings"][-1]["state"] == "warning"
    assert "does not let us in" in data_failed("doctor", f"nats://127.0.0.1:{server.port}/desk")


def data_failed(*words: object) -> str:
    from tests.doubles.command_line import moot

    result = moot(*words)
    assert result.exit_code == 1
    return result.stdout
