"""A host that mirrors a society and never leads it: it has everything, also what the leader was killed over."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.doubles.command_line import complaint, moot
from tests.doubles.hosts import Hosts, wait_for
from tests.doubles.model_server import ModelServer
from tests.doubles.nats import running
from tests.integration.test_bursar_kill import live


@pytest.mark.rule("K26")
def test_k26_a_mirror_holds_all_bodies_of_a_leader_that_was_killed_and_does_not_lead(tmp_path: Path) -> None:
    with ModelServer() as models, running(tmp_path / "nats") as server:
        address = server.address("desk")
        models.prefers = {"fatal_flaws": [], "confidence": 0.8}
        where = ("--bus", address.where, "--society", "desk")
        told = complaint(2, "up", *where, "--mirror", tmp_path / "copy")
        assert "holds no society" in told
        assert live(tmp_path / "one", models, "reserved", address.secret) == -signal.SIGKILL
        with Hosts(tmp_path, address) as hosts:
            hosts.start("copy", leads=False)
            hosts.together()
            assert live(tmp_path / "two", models, "settled", address.secret) == -signal.SIGKILL
            hosts.together()
            wait_for(lambda: moot("verify", hosts.directory("copy"), "--strict").exit_code == 0)
            led = hosts.standing()["leader"]["name"]
            assert f"{led} leads, this host follows" in " ".join(hosts.told("copy").split())
            assert hosts.stop("copy") == 0
        told = complaint(2, "up", *where, "--data", tmp_path / "three", "--replicas", "3")
        assert "is kept on 1 server: leave out --replicas 3" in told
