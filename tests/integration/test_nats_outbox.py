"""What was posted on a chat platform, shared by the gateways of two hosts on a real server of NATS."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.channels.nats.outbox import NatsOutbox
from moot.channels.nats.thread import NatsThread
from moot.channels.outbox.owned_file import FileBusy
from moot.channels.outbox.pacing import Pace
from moot.channels.outbox.store import Mirrored, OutboxStore
from moot.channels.surface import PlatformMessageId
from tests.doubles.nats import running

LOG_ID = "0123456789abcdef"


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsThread]:
    with running(tmp_path / "nats") as server, NatsThread(server.address("desk")) as thread:
        yield thread


def message(seq: int, line: str = "{}") -> Mirrored:
    return Mirrored(seq, "#a-arena", "hyp_1", f"id-{seq}", "HYPOTHESIS", line)


def store_of(nats: NatsThread, folder: Path, name: str) -> OutboxStore:
    (folder / name).mkdir(exist_ok=True)
    return OutboxStore(folder / name, "discord", LOG_ID, NatsOutbox(nats, "discord"))


def test_who_takes_a_platform_over_knows_what_was_posted_and_what_may_have_been(
    nats: NatsThread, tmp_path: Path
) -> None:
    async def main() -> None:
        one = store_of(nats, tmp_path, "one")
        await one.open()
        await one.take([message(n) for n in (1, 2, 3)], 7)
        await one.intend([1], one.nonce(1))
        await one.done([1], PlatformMessageId("p1"))
        await one.intend([2], one.nonce(2))
        await one.keep_act("act", "{}")
        await one.put("place", "thread-9")
        # Its host is killed here: message 2 was about to be posted, message 3 was not.
        two = store_of(nats, tmp_path, "two")
        await two.open()
        assert two.cursor == 7
        assert await two.post_of("#a-arena", "id-1") == "p1"
        assert await two.root_of("#a-arena", "hyp_1") == "p1"
        assert [[item.seq for item in some] for some in await two.interrupted("#a-arena")] == [[2]]
        assert two.nonce(2) == one.nonce(2)
        assert await two.acts() == [("act", "{}")]
        assert await two.get("place") == "thread-9"
        await two.done([2], PlatformMessageId("p2"))
        assert [item.seq for item in (await two.next_up("#a-arena", Pace())).items] == [3]
        # The other one was only cut off: it may post nothing more, for it cannot say so first.
        with pytest.raises(FileBusy, match="another host"):
            await one.intend([3], one.nonce(3))
        await one.close()
        await two.close()
        again = store_of(nats, tmp_path, "one")
        await again.open()
        assert await again.post_of("#a-arena", "id-2") == "p2"
        await again.close()

    asyncio.run(main())


def test_what_is_too_much_for_one_message_of_the_server_is_shared_in_several(
    nats: NatsThread, tmp_path: Path
) -> None:
    async def main() -> None:
        one = store_of(nats, tmp_path, "one")
        await one.open()
        await one.take([message(n, "x" * 150_000) for n in range(1, 9)], 8)
        await one.close()
        two = store_of(nats, tmp_path, "two")
        await two.open()
        assert (two.cursor, await two.counts()) == (8, {"waiting": 8})
        await two.close()

    asyncio.run(main())
