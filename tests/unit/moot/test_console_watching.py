"""A console that starts, or whose society is slow: nothing is lost, or taken for lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
import structlog

from moot.channels.log.lease import Lease
from moot.console.acts import ActStore
from moot.console.model.interface import Person
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.console import watched, written
from tests.doubles.hosting import asking, hosting
from tests.doubles.small_log import SmallLog
from tests.doubles.waiting import until

OWNER = Person("owner", ADMIN)


class Written(SmallLog):
    """A log that is on the disk, and of whose last lines the gateway hears late."""

    def __init__(self, log: list[Envelope], *, late: int = 0) -> None:
        super().__init__()
        self.envelopes = log
        self.late = late
        self.subscribed: list[int] = []

    @property
    def head(self) -> int:
        self.late = max(0, self.late - 1)
        return len(self.envelopes) - self.late

    async def subscribe(self, cursor: int) -> AsyncGenerator[Sequence[str], None]:
        self.subscribed.append(cursor)
        async for lines in super().subscribe(cursor):
            yield lines


async def test_a_society_that_hears_late_of_its_own_lines_has_no_other_log(tmp_path: Path) -> None:
    log = written(tmp_path, 60)
    source = Written(log, late=4)
    with structlog.testing.capture_logs() as said:
        async with hosting(tmp_path, source, log_id=log[0].hash), watched(tmp_path) as model:
            await until(lambda: source.subscribed)
            assert model.watching.hub.generation == 1
    assert source.subscribed == [len(log)]
    assert [line for line in said if line["event"] == "another log"] == []


@pytest.mark.rule("K1")
async def test_k1_what_is_done_while_the_console_starts_is_done_once_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_open, really = asyncio.Event(), ActStore.open

    async def slowly(store: ActStore) -> None:
        await may_open.wait()
        await really(store)

    monkeypatch.setattr(ActStore, "open", slowly)
    log = Written(written(tmp_path, 60))
    with Lease.acquire(tmp_path):
        async with (
            hosting(tmp_path, log, log_id=log.envelopes[0].hash),
            asking(tmp_path) as requests,
            watched(tmp_path, requests=requests, is_whole=False) as model,
        ):
            await requests.connected()
            assert model.why_not(OWNER, "note", "#a-arena") == ""
            # A page that was loaded anew meanwhile says it again.
            doing = [
                asyncio.create_task(model.act(OWNER, "note", {"text": "early"}, key="k", channel="#a-arena"))
                for _ in range(2)
            ]
            await asyncio.wait(doing, timeout=0.05)
            may_open.set()
            replies = await asyncio.gather(*doing)
    assert [reply.text for reply in replies] == [f"Noted as message {log.head}."] * 2
    assert len(log.receipts) == 1
