"""Who leads a society on NATS, against a real server: taking over, giving back, being deposed, a server away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack
from pathlib import Path

import pytest

from moot.channels.nats.address import NatsAddress
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.lease import KEY, NatsLease
from moot.channels.nats.thread import NatsThread
from tests.doubles.nats import NatsServer, running

LONG_S = 60.0
NEVER_S = 3600.0

Stand = Callable[..., NatsLease]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(Path(tmp_path_factory.mktemp("nats"))) as found:
        yield found


@pytest.fixture
def address(server: NatsServer) -> NatsAddress:
    return server.address()


@pytest.fixture
def stand(address: NatsAddress) -> Iterator[Stand]:
    with ExitStack() as exits:

        def one(name: str, *, lapse_s: float = NEVER_S, renew_s: float = 0.05, since: str = "") -> NatsLease:
            nats = exits.enter_context(NatsThread(address, name=name))
            lease = NatsLease(
                nats, name=name, token=name, since=lambda: since, lapse_s=lapse_s, renew_s=renew_s
            )
            return exits.enter_context(lease)

        yield one


def test_one_leads_and_the_next_one_follows_it_whatever_their_clocks_say(stand: Stand) -> None:
    first = stand("first", since="2036-01-01T00:10:00Z")
    epoch = first.gained.result(LONG_S)
    second = stand("second", since="1999-01-01T00:00:00Z")
    third = stand("third")
    assert not second.gained.done()
    first.close()
    assert first.epoch == 0
    done, _ = wait([second.gained, third.gained], LONG_S, FIRST_COMPLETED)
    (gained,) = done
    assert gained.result() > epoch
    heir, other = (second, third) if second.gained is gained else (third, second)
    while other.leader is None or other.leader.name == "first" or not other.leader.epoch:
        pass
    assert other.leader == heir.leader
    assert not other.gained.done()


def test_a_leader_that_died_is_followed_when_its_renewals_stop(address: NatsAddress, stand: Stand) -> None:
    with NatsThread(address) as nats:
        dead = NatsLease(nats, name="dead", token="dead", since=lambda: "", renew_s=0.05)
        epoch = dead.gained.result(LONG_S)
    assert dead.lost.done()
    heir = stand("heir", lapse_s=0.3)
    assert heir.gained.result(LONG_S) > epoch
    assert heir.leader is not None and heir.leader.name == "heir"


def test_a_leader_learns_that_it_was_deposed_and_by_whom(stand: Stand) -> None:
    old = stand("old", renew_s=0.3)
    epoch = old.gained.result(LONG_S)
    new = stand("new", lapse_s=0.0, renew_s=0.02)
    assert new.gained.result(LONG_S) > epoch
    old.lost.result(LONG_S)
    assert old.epoch == 0
    assert old.leader is not None and old.leader.name == "new"
    assert not new.lost.done()


def test_a_key_that_was_deleted_by_hand_is_taken_by_the_next_one(address: NatsAddress, stand: Stand) -> None:
    old = stand("old")
    epoch = old.gained.result(LONG_S)

    async def delete(connection: NatsConnection) -> None:
        await (await connection.js.key_value(address.bucket("lease"))).delete(KEY)

    with NatsThread(address) as nats:
        nats.wait(delete)
    old.lost.result(LONG_S)
    assert stand("new").gained.result(LONG_S) > epoch


def test_the_epoch_of_a_bucket_that_was_lost_is_raised_above_that_of_the_log(stand: Stand) -> None:
    lease = stand("one")
    lease.raise_to(1000)
    assert lease.epoch == 0 or lease.gained.done(), "who does not lead has no epoch"
    epoch = lease.gained.result(LONG_S)
    lease.raise_to(1000)
    assert lease.epoch > 1000
    lease.raise_to(epoch)
    raised = lease.epoch
    lease.raise_to(raised - 1)
    assert lease.epoch == raised, "an epoch that is high enough stays"


def test_a_leader_leads_on_when_the_server_was_away_and_nobody_took_over(tmp_path: Path) -> None:
    with (
        running(tmp_path) as server,
        NatsThread(server.address("desk")) as nats,
        NatsLease(nats, name="one", token="one", since=lambda: "", renew_s=0.05) as lease,
    ):
        epoch = lease.gained.result(LONG_S)
        server.stop()
        server.start()
        with NatsThread(server.address("desk")) as other:
            rival = NatsLease(other, name="two", token="two", since=lambda: "", renew_s=0.05, lapse_s=NEVER_S)
            before = _revision(nats)
            while _revision(nats) == before:
                pass
            assert lease.epoch == epoch
            assert not rival.gained.done()
            rival.close()


def _revision(nats: NatsThread) -> int:
    from moot.channels.nats.bucket import Bucket

    async def look(connection: NatsConnection) -> int:
        return (await (await Bucket.open(connection, "lease")).get(KEY))[1]

    return nats.wait(look)
