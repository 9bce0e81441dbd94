"""People on any host and at an address: what they do arrives once, also when the leader dies with it in hand."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.channels.gateway import address as sockets
from moot.channels.gateway.client import Requests
from moot.channels.guests.drafts import draft_to_json
from moot.console.options import OWNER
from moot.console.options import PLATFORM as CONSOLE
from moot.hosts.mirrored import mirrored
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN
from moot.stored import stored_envelopes
from tests.doubles.command_line import complaint, data, done
from tests.doubles.hosts import PATIENCE_S, ROOT, Hosts, wait_for
from tests.doubles.nats import running

SCENE = "tests/acceptance/scenes/4.1-both-reviews-are-missed.yaml"


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    """Alpha leads a society in which an admin is asked something, and beta follows."""
    done("scene", SCENE, "--out", tmp_path / "lived")
    with running(tmp_path / "nats") as server:
        address = server.address("desk")
        done("import", tmp_path / "lived", address.secret)
        with Hosts(tmp_path, address) as found:
            found.start("alpha")
            assert found.leader() == "alpha"
            found.start("beta")
            found.together()
            yield found


def test_what_people_do_at_an_address_and_on_any_page_is_said_once_and_survives_the_leader(
    hosts: Hosts, tmp_path: Path
) -> None:
    address, beta = hosts.address.secret, hosts.directory("beta")
    found = data("status", address)["hosts"]
    assert found["leader"]["name"].endswith("-alpha")
    assert {one["name"].rpartition("-")[2] for one in found["hosts"]} == {"alpha", "beta"}
    assert "noted in #bridge" in done("post", address, "bridge", "from an address")
    assert "there is no escalation esc_1: moot escalations nats://" in complaint(
        2, "reply", address, "esc_1", 1
    )
    assert "name the data directory of a host" in complaint(2, "pause", address)
    assert said_on_a_page(beta, "on a page beside beta")["status"] == "accepted"
    with mirrored(address, serves=True) as mirror:
        assert said_on_a_page(mirror.directory, "on a page at an address")["status"] == "accepted"
    assert_followed(hosts, address)

    hosts.pause("alpha")
    command = [sys.executable, "-m", "moot", "reply", str(beta), "last", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as replying:
        wait_for(hosts.waiting)
        hosts.kill("alpha")
        assert hosts.leader() == "beta"
        assert replying.wait() == 0
    wait_for(lambda: count(beta, "ESCALATION_ANSWER"))
    assert hosts.stop("beta") == 0
    assert count(beta, "ESCALATION_ANSWER") == 1
    notes = [env.body.text for env in stored_envelopes(beta) if env.body.type == "NOTE"]
    assert notes == ["from an address", "on a page beside beta", "on a page at an address", "followed"]
    assert "every rule holds" in done("verify", beta)


def count(directory: Path, kind: str) -> int:
    return sum(env.body.type == kind for env in stored_envelopes(directory))


def said_on_a_page(directory: Path, text: str) -> Mapping[str, Any]:
    """Say something as the page does: over the gateway of a directory."""

    async def say() -> Mapping[str, Any]:
        requests = Requests(lambda: sockets.find(directory))
        asking = asyncio.create_task(requests.run())
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not requests.connections:
                    await asyncio.sleep(0.01)
            body = Note(text=text)
            draft = Draft(
                channel="#bridge", author=ADMIN, body=body, actor=Actor("human", CONSOLE, OWNER), key=text
            )
            return await requests.publish(json.loads(draft_to_json(draft)), text)
        finally:
            asking.cancel()

    return asyncio.run(say())


def assert_followed(hosts: Hosts, address: str) -> None:
    """Check that `moot log --follow` shows at an address what is said after it began."""
    command = [sys.executable, "-m", "moot", "log", address, "--follow", "--json", "--type", "NOTE"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        with closing(following.stdout):
            assert "from an address" in following.stdout.readline()
            done("post", hosts.directory("alpha"), "bridge", "followed")
            while "followed" not in following.stdout.readline():
                assert following.poll() is None
            following.terminate()
