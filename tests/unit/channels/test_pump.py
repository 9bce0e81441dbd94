import asyncio
import json
import sqlite3
from contextlib import closing

import pytest

from moot.channels.errors import BusClosed, Refused
from moot.channels.guests.drafts import draft_to_json
from moot.channels.guests.inbox import post
from moot.channels.guests.pump import InboxPump
from moot.channels.log.sqlite import SqliteBus
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Forbidden
from moot.protocols.research.seats import CRITIC
from tests.doubles.tiny import Said, Ticks, TinyAdmission, decode, decode_body, numbered, said
from tests.doubles.waiting import until


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.sqlite"


async def opened(path):
    return await SqliteBus.open(
        path, admission=TinyAdmission(), now=Ticks(), decode=decode, durability="process"
    )


def receipts(path):
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT key, receipt FROM inbox ORDER BY n").fetchall()
    return {key: None if receipt is None else json.loads(receipt) for key, receipt in rows}


def play(path, scenario, **options):
    async def main():
        async with (
            await opened(path) as bus,
            InboxPump(path, bus, decode_body, poll_s=0.005, **options),
        ):
            await scenario(bus)

    asyncio.run(main())


def prepare(path):
    """A society that ran and stopped."""

    async def main():
        await (await opened(path)).close()

    asyncio.run(main())


async def guest(path, draft, key, wait_s=20.0):
    text = draft if isinstance(draft, str) else draft_to_json(draft)
    return await asyncio.to_thread(post, path, text, key, wait_s)


def test_a_guest_gets_its_receipt(path):
    async def scenario(bus):
        assert await guest(path, said("-", "x"), "g1") == {"status": "accepted", "seq": 1, "id": "g1"}
        assert await guest(path, said("-", "x"), "g1") == {"status": "accepted", "seq": 1, "id": "g1"}
        assert (await guest(path, said("-", "y"), "g1"))["status"] == "superseded"
        assert bus.head.seq == 1

    play(path, scenario)


def test_an_id_that_stands_in_the_log_is_a_duplicate_or_superseded(path):
    async def scenario(bus):
        await bus.publish(said("a", "x"))
        await bus.publish(said("b", "x"))
        assert await guest(path, said("-", "x"), "a") == {"status": "duplicate", "seq": 1, "id": "a"}
        assert await guest(path, said("-", "other"), "b") == {"status": "superseded", "seq": 2, "id": "b"}

    play(path, scenario)


def test_a_refusal_names_rule_reason_and_field_and_may_be_corrected(path):
    async def scenario(bus):
        receipt = await guest(path, said("-", channel="#closed"), "g1")
        assert (receipt["status"], receipt["rule"], receipt["field"]) == ("refused", "tiny", "channel")
        assert (await guest(path, said("-"), "g1"))["status"] == "accepted"

    play(path, scenario)


def test_a_text_that_is_no_draft_is_refused_and_kept_for_the_audit(path):
    seen = []

    async def scenario(bus):
        bad = '{"author":"critic","body":{"type":"SAID","weight":9},"channel":"#open"}'
        receipt = await guest(path, bad, "g1")
        assert (receipt["status"], receipt["field"]) == ("refused", "body.weight")
        assert [(text, violation.field) for text, violation in seen] == [(bad, "body.weight")]
        assert bus.head.seq == 0

    play(path, scenario, on_malformed=lambda text, violation: seen.append((text, violation)))


def test_an_answer_has_the_id_of_its_obligation(path):
    async def scenario(bus):
        draft = Draft(channel="#open", author=CRITIC, body=Said(), obligation_id="c/r1/critic", attempt=2)
        assert (await guest(path, draft, "cli/9"))["id"] == "c/r1/critic/2"
        assert (await guest(path, said("-"), "c/r2/critic/0"))["status"] == "refused"

    play(path, scenario)


def test_what_waited_for_a_stopped_society_is_logged_once_in_the_order_of_posting(path):
    prepare(path)
    for n in range(120):
        assert post(path, draft_to_json(said("-", str(n))), f"g{n}") is None

    async def scenario(bus):
        await until(lambda: all(receipts(path).values()))
        assert [e.body.text async for e in bus.read()] == [str(n) for n in range(120)]

    play(path, scenario)
    play(path, nothing)
    assert [receipt["seq"] for receipt in receipts(path).values()] == list(range(1, 121))


async def nothing(bus):
    await asyncio.sleep(0.05)


def test_a_host_that_died_before_it_wrote_the_receipt_logs_nothing_twice(path):
    prepare(path)
    post(path, draft_to_json(numbered("-")), "g1")

    async def scenario(bus):
        await until(lambda: receipts(path)["g1"])

    play(path, scenario)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE inbox SET receipt = NULL")

    async def again(bus):
        await scenario(bus)
        assert bus.head.seq == 1

    play(path, again)
    assert receipts(path)["g1"] == {"status": "duplicate", "seq": 1, "id": "g1"}


class Door:
    """Stands before the bus, and is out of order now and then."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.bus = None
        self.asked = []

    async def publish(self, draft):
        self.asked.append(draft.key)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        return await self.bus.publish(draft)


def test_a_draft_that_the_bus_cannot_take_now_waits_and_keeps_its_place(path):
    prepare(path)
    for key in "abc":
        post(path, draft_to_json(said("-", key)), key)
    door = Door(None, BusClosed("not now"), BusClosed("not now"))

    async def main():
        async with await opened(path) as bus:
            door.bus = bus
            async with InboxPump(path, door, decode_body, poll_s=0.005):
                await until(lambda: all(receipts(path).values()))
                assert [e.id async for e in bus.read()] == ["a", "b", "c"]

    asyncio.run(main())
    assert door.asked == ["a", "b", "b", "b", "c"]


def test_a_draft_that_breaks_our_code_holds_up_nobody(path):
    prepare(path)
    for key in "abc":
        post(path, draft_to_json(said("-", key)), key)
    door = Door(None, ZeroDivisionError("a bug"))

    async def main():
        async with await opened(path) as bus:
            door.bus = bus
            async with InboxPump(path, door, decode_body, poll_s=0.005):
                await until(lambda: receipts(path)["c"])
                await asyncio.sleep(0.05)

    asyncio.run(main())
    assert receipts(path)["b"] is None
    assert door.asked == ["a", "b", "c"]


def test_a_door_refuses_what_the_bus_would_take(path):
    prepare(path)
    post(path, draft_to_json(said("-")), "g1")
    door = Door(Refused(Forbidden("K3", "guests are people")))

    async def main():
        async with await opened(path), InboxPump(path, door, decode_body, poll_s=0.005):
            await until(lambda: receipts(path)["g1"])

    asyncio.run(main())
    assert receipts(path)["g1"]["why"] == "guests are people"


async def test_an_idle_pump_holds_no_virtual_time_and_closes_twice(path):
    held = []
    async with await opened(path) as bus:
        pump = InboxPump(path, bus, decode_body, poll_s=0.005, hold=lambda: Holding(held))
        await asyncio.sleep(0.05)
        assert held == []
        await pump.close()
        await pump.close()
        assert held == ["held", "let go"] * 2


class Holding:
    def __init__(self, held):
        self.held = held

    def __enter__(self):
        self.held.append("held")

    def __exit__(self, *_):
        self.held.append("let go")


def test_old_receipts_are_thrown_away_at_the_start(path):
    prepare(path)
    with closing(sqlite3.connect(path)) as db, db:
        rows = [(f"g{n}", "{}") for n in range(10_050)]
        db.executemany("INSERT INTO inbox(key, draft, receipt) VALUES (?, '', ?)", rows)
    play(path, nothing)
    kept = receipts(path)
    assert len(kept) == 10_000
    assert "g49" not in kept and "g50" in kept
