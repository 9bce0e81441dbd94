"""What every bus promises: one suite, held against each backend."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.channels.bus import Bus, Receipt
from moot.channels.errors import BusClosed, Refused
from moot.channels.log import batching, filed, writer
from moot.channels.log.inmemory import InMemoryBus
from moot.channels.log.sqlite import SqliteBus
from moot.channels.nats.address import NatsAddress
from moot.protocols.kernel.envelope import GENESIS, Draft, Envelope
from moot.protocols.research.seats import EXPLORER
from tests.doubles.copying import replace
from tests.doubles.nats import NatsServer, leading, running
from tests.doubles.tiny import Numbered, Said, Ticks, TinyAdmission, decode, numbered, said


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(tmp_path_factory.mktemp("nats")) as found:
        yield found


@dataclass
class Backend:
    name: str
    directory: Path
    address: NatsAddress
    admission: TinyAdmission = field(default_factory=TinyAdmission)
    clock: Ticks = field(default_factory=Ticks)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Bus]:
        bus: Bus
        if self.name == "inmemory":
            bus = InMemoryBus(admission=self.admission, now=self.clock)
        elif self.name.startswith("nats"):
            async with leading(self.address, self.directory, self.admission, self.clock) as bus:
                yield bus
            return
        else:
            bus = await SqliteBus.open(
                self.directory / "log.sqlite",
                admission=self.admission,
                now=self.clock,
                decode=decode,
                durability="process",
            )
        async with bus:
            yield bus


@pytest.fixture(
    params=["inmemory", "sqlite", "sqlite with a short memory", "nats", "nats with a short memory"]
)
def backend(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: NatsServer
) -> Backend:
    if request.param.endswith("with a short memory"):
        monkeypatch.setattr(filed, "IDS", 4)
        monkeypatch.setattr(batching, "MAX_ROWS", 3)
        monkeypatch.setattr(writer, "HEAD_EVERY", 2)
        monkeypatch.setattr(filed, "WINDOW", 4)
        monkeypatch.setattr(filed, "PAGE", 3)
    return Backend(request.param, tmp_path, server.address())


Scenario = Callable[[Bus], Awaitable[None]]


def play(backend: Backend, scenario: Scenario) -> None:
    async def run() -> None:
        async with backend.open() as bus, asyncio.timeout(30):
            await scenario(bus)

    asyncio.run(run())


async def everything(bus: Bus) -> list[Envelope]:
    return [envelope async for envelope in bus.read()]


async def hear(bus: Bus, count: int, cursor: int = 0) -> list[int]:
    heard: list[int] = []
    subscription = bus.subscribe(cursor)
    async for envelope in subscription:
        heard.append(envelope.seq)
        if len(heard) == count:
            subscription.close()
    return heard


async def many(bus: Bus, keys: range) -> list[Receipt]:
    return await asyncio.gather(*(bus.publish(said(f"k{n}", f"text {n}")) for n in keys))


def test_seq_is_dense_from_one_in_the_order_of_publishing(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        receipts = await many(bus, range(100))
        assert [receipt.seq for receipt in receipts] == list(range(1, 101))
        assert [(e.seq, e.id) for e in await everything(bus)] == [(n + 1, f"k{n}") for n in range(100)]
        assert bus.head.seq == 100

    play(backend, scenario)


def test_an_empty_log_has_no_head_and_nothing_to_read(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        assert bus.head == (0, GENESIS)
        assert bus.last_sent_at is None
        assert await everything(bus) == []

    play(backend, scenario)


def test_an_id_is_found_wherever_in_the_log_it_stands(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        await many(bus, range(100))
        assert [await bus.seq_of(f"k{n}") for n in (0, 42, 99)] == [1, 43, 100]
        assert await bus.seq_of("k100") is None

    play(backend, scenario)


def test_time_never_runs_backwards_when_the_clock_does(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        await bus.publish(said("a"))
        backend.clock.at -= timedelta(hours=1)
        await bus.publish(said("b"))
        first, second = await everything(bus)
        assert second.sent_at == first.sent_at == bus.last_sent_at

    play(backend, scenario)


def test_the_same_draft_twice_is_a_duplicate(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        await many(bus, range(20))
        again = await bus.publish(said("k3", "text 3"))
        assert again == Receipt(4, "k3", "duplicate")
        assert bus.head.seq == 20

    play(backend, scenario)


def test_another_draft_of_the_same_id_is_superseded(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        await many(bus, range(20))
        assert await bus.publish(said("k3", "other words")) == Receipt(4, "k3", "superseded")
        assert [e.body.text for e in await everything(bus) if e.id == "k3"] == ["text 3"]  # type: ignore[attr-defined]

    play(backend, scenario)


def test_duplicates_on_their_way_together_are_logged_once(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        receipts = await asyncio.gather(
            *(bus.publish(said(f"k{n % 5}", "same" if n < 10 else "other")) for n in range(20))
        )
        assert [r.status for r in receipts] == ["accepted"] * 5 + ["duplicate"] * 5 + ["superseded"] * 10
        assert [r.seq for r in receipts] == [1, 2, 3, 4, 5] * 4
        assert bus.head.seq == 5

    play(backend, scenario)


def test_a_known_id_where_it_may_not_be_said_is_refused_before_it_is_a_duplicate(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        await bus.publish(said("a", "x"))
        with pytest.raises(Refused) as caught:
            await bus.publish(said("a", "x", channel="#closed"))
        assert caught.value.violation.field == "channel"

    play(backend, scenario)


def test_a_refusal_reaches_its_own_publisher_only(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        outcomes = await asyncio.gather(
            *(bus.publish(said(f"k{n}", channel="#closed" if n % 3 == 0 else "#open")) for n in range(30)),
            return_exceptions=True,
        )
        assert [isinstance(o, Refused) for o in outcomes] == [n % 3 == 0 for n in range(30)]
        assert [e.id for e in await everything(bus)] == [f"k{n}" for n in range(30) if n % 3]

    play(backend, scenario)


def test_a_refused_draft_leaves_its_id_free(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        with pytest.raises(Refused):
            await bus.publish(said("a", channel="#closed"))
        assert (await bus.publish(said("a"))).status == "accepted"

    play(backend, scenario)


@pytest.mark.parametrize(
    ("draft", "where"),
    [
        (replace(said("a"), key=""), "key"),
        (said("x" * 501), "key"),
        (said("lone \ud800"), None),
        (replace(said("a"), case_id="lone \udfff"), None),
        (replace(said("a"), in_reply_to="\ud800"), None),
    ],
)
def test_a_draft_that_cannot_be_written_is_refused_and_counts_nothing(
    backend: Backend, draft: Draft, where: str | None
) -> None:
    async def scenario(bus: Bus) -> None:
        with pytest.raises(Refused) as caught:
            await bus.publish(replace(draft, body=Numbered()))
        assert caught.value.violation.field == where
        await bus.publish(numbered("n"))
        (only,) = await everything(bus)
        assert only.body == Numbered(number="n_1")

    play(backend, scenario)


def test_a_bug_in_the_admission_reaches_its_own_publisher_only(backend: Backend) -> None:
    class Buggy(TinyAdmission):
        def admit(self, draft: Draft) -> Draft:
            if draft.key == "bad":
                raise ZeroDivisionError
            return super().admit(draft)

    backend.admission = Buggy()

    async def scenario(bus: Bus) -> None:
        good, bad, better = await asyncio.gather(
            bus.publish(said("a")), bus.publish(said("bad")), bus.publish(said("b")), return_exceptions=True
        )
        assert isinstance(bad, ZeroDivisionError)
        assert (good, better) == (Receipt(1, "a"), Receipt(2, "b"))

    play(backend, scenario)


def test_the_admission_completes_the_case_but_the_digest_is_that_of_the_draft_as_sent(
    backend: Backend,
) -> None:
    async def scenario(bus: Bus) -> None:
        await bus.publish(replace(said("a"), case_id="?"))
        assert (await bus.publish(replace(said("a"), case_id="?"))).status == "duplicate"
        assert (await bus.publish(replace(said("a"), case_id="case_1"))).status == "superseded"
        assert [e.case_id for e in await everything(bus)] == ["case_1"]

    play(backend, scenario)


SECRET = "xox" + "b-123456789012-abcdefABCDEF"  # in pieces, so that no scanner takes this file for a leak


def loose(key: str, secret: str = SECRET) -> Draft:
    return said(key, f"my token is {secret}, keep it; password: hunter2")


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("count", [1, 30])
def test_r_a9_a_published_secret_is_nowhere_in_the_log_in_memory_or_on_disk(
    backend: Backend, count: int
) -> None:
    async def scenario(bus: Bus) -> None:
        folded: list[Envelope] = []
        bus.on_append = folded.append
        hearing = asyncio.create_task(hear(bus, 2 * count))
        await asyncio.gather(*(bus.publish(loose(f"k{n}")) for n in range(count)))
        await asyncio.gather(*(bus.publish(replace(loose(f"k{n}"), key=f"again{n}")) for n in range(count)))
        await hearing
        logged = await everything(bus)
        assert len(logged) == 2 * count
        for envelope in [*logged, *folded]:
            assert envelope.body == Said(
                text="my token is [redacted:slack_token], keep it; password: [redacted:password]"
            )
            assert SECRET not in envelope.line and "hunter2" not in envelope.line
        gc.collect()
        assert [thing for thing in gc.get_objects() if type(thing) is Said and SECRET in thing.text] == []
        for path in backend.directory.rglob("*"):
            assert not path.is_file() or (SECRET.encode() not in (held := path.read_bytes())), path
            assert not path.is_file() or b"hunter2" not in held, path

    play(backend, scenario)


@pytest.mark.rule("R-A9")
def test_r_a9_a_draft_with_a_secret_again_is_a_duplicate_and_other_words_are_superseded(
    backend: Backend,
) -> None:
    async def scenario(bus: Bus) -> None:
        assert (await bus.publish(loose("a"))).status == "accepted"
        await many(bus, range(20))
        again = await asyncio.gather(*(bus.publish(loose("a")) for _ in range(3)))
        assert again == [Receipt(1, "a", "duplicate")] * 3
        assert (await bus.publish(said("a", f"other words: {SECRET}"))).status == "superseded"
        twins = await asyncio.gather(*(bus.publish(loose("b")) for _ in range(5)))
        assert [twin.status for twin in twins] == ["accepted", *["duplicate"] * 4]

    play(backend, scenario)


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("field", ["key", "case_id", "in_reply_to", "obligation_id"])
def test_r_a9_an_id_that_looks_like_a_secret_is_refused_and_counts_nothing(
    backend: Backend, field: str
) -> None:
    named: dict[str, Any] = {field: SECRET}

    async def scenario(bus: Bus) -> None:
        with pytest.raises(Refused) as caught:
            await bus.publish(replace(numbered("k"), **named))
        assert (caught.value.violation.rule, caught.value.violation.field) == ("R-A9", field)
        assert SECRET not in str(caught.value)
        await bus.publish(numbered("n"))
        assert [e.body for e in await everything(bus)] == [Numbered(number="n_1")]

    play(backend, scenario)


@pytest.mark.rule("R-A9")
def test_r_a9_a_body_that_is_invalid_without_its_secret_is_refused(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        with pytest.raises(Refused) as caught:
            await bus.publish(said("a", "pwd=x " + "y" * 19_994))
        assert (caught.value.violation.rule, caught.value.violation.field) == ("R-A9", "text")
        assert await everything(bus) == []

    play(backend, scenario)


def test_ids_are_counted_in_the_order_of_the_log_and_only_for_what_is_logged(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        drafts = [numbered("a"), numbered("a"), said("s", channel="#closed"), numbered("b"), numbered("c")]
        await asyncio.gather(*map(bus.publish, drafts), return_exceptions=True)
        bodies = [e.body for e in await everything(bus)]
        assert bodies == [Numbered(number=f"n_{n}") for n in (1, 2, 3)]

    play(backend, scenario)


def test_publish_returns_when_the_envelope_is_folded(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        folded: list[int] = []
        bus.on_append = lambda envelope: folded.append(envelope.seq)

        async def publish(n: int) -> None:
            receipt = await bus.publish(said(f"k{n}"))
            assert receipt.seq in folded
            assert bus.head.seq >= receipt.seq

        await asyncio.gather(*map(publish, range(50)))
        assert folded == list(range(1, 51))

    play(backend, scenario)


def test_a_fold_that_fails_stops_the_bus_and_its_publisher_hears_of_it(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        def fold(envelope: Envelope) -> None:
            if envelope.seq == 2:
                raise LookupError("the fold is broken")

        faults: list[Exception] = []
        bus.on_append = fold
        bus.on_fault = faults.append
        outcomes = await asyncio.gather(
            *(bus.publish(said(f"k{n}")) for n in range(3)), return_exceptions=True
        )
        assert faults == [outcomes[1]], "whoever runs the host is told, once"
        assert outcomes[0] == Receipt(1, "k0")
        assert isinstance(outcomes[1], LookupError)
        assert isinstance(outcomes[2], BusClosed)
        with pytest.raises(BusClosed) as caught:
            await bus.publish(said("late"))
        assert isinstance(caught.value.__cause__, LookupError)
        await bus.close()

    play(backend, scenario)


@pytest.mark.parametrize("cursor", [0, 1, 37, 99])
def test_a_subscriber_sees_everything_after_its_cursor_in_order(backend: Backend, cursor: int) -> None:
    async def scenario(bus: Bus) -> None:
        await many(bus, range(50))
        listener = asyncio.create_task(hear(bus, 100 - cursor, cursor))
        await many(bus, range(50, 100))
        assert await listener == list(range(cursor + 1, 101))

    play(backend, scenario)


def test_a_cursor_before_the_log_is_an_error(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        with pytest.raises(ValueError, match="cursor"):
            bus.subscribe(-1)

    play(backend, scenario)


def test_many_subscribers_see_the_same_order(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        listeners = [asyncio.create_task(hear(bus, 200)) for _ in range(6)]
        await asyncio.gather(*(many(bus, range(n * 40, n * 40 + 40)) for n in range(5)))
        for listener in listeners:
            assert await listener == list(range(1, 201))

    play(backend, scenario)


def test_a_slow_subscriber_slows_nobody_and_loses_nothing(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        gate = asyncio.Event()

        async def slow() -> list[int]:
            heard = []
            async for envelope in bus.subscribe():
                heard.append(envelope.seq)
                if envelope.seq == 1:
                    await gate.wait()
                if envelope.seq == 300:
                    break
            return heard

        sleeper = asyncio.create_task(slow())
        fast = asyncio.create_task(hear(bus, 300))
        await many(bus, range(300))
        assert await fast == list(range(1, 301))
        assert not sleeper.done()
        gate.set()
        assert await sleeper == list(range(1, 301))

    play(backend, scenario)


def test_a_subscriber_with_plenty_to_read_lets_the_others_run(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        await many(bus, range(1000))
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        ticker = asyncio.create_task(other())
        await hear(bus, 1000)
        ticker.cancel()
        assert turns >= 3

    play(backend, scenario)


def test_a_publisher_that_never_waits_lets_the_subscribers_run(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        heard: list[int] = []

        async def listen() -> None:
            async for envelope in bus.subscribe():
                heard.append(envelope.seq)

        listener = asyncio.create_task(listen())
        for n in range(200):
            await bus.publish(said(f"k{n}"))
        assert len(heard) >= 64
        await bus.close()
        await listener

    play(backend, scenario)


def test_a_publisher_that_is_only_refused_lets_the_others_run(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        other = asyncio.create_task(asyncio.sleep(0))
        for n in range(200):
            with pytest.raises(Refused):
                await bus.publish(said(f"k{n}", channel="#closed"))
        assert other.done()

    play(backend, scenario)


def test_a_subscriber_that_is_cancelled_while_it_waits_loses_nothing(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        subscription = aiter(bus.subscribe())
        await bus.publish(said("a"))
        heard = []
        for key in ("b", "c", "d"):
            heard.append((await anext(subscription)).id)
            for _ in range(3):
                waiting = asyncio.ensure_future(anext(subscription))
                await asyncio.sleep(0)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            await bus.publish(said(key))
        assert heard == ["a", "b", "c"]

    play(backend, scenario)


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_a_cancelled_publisher_learns_the_outcome_by_trying_again(backend: Backend, turns: int) -> None:
    async def scenario(bus: Bus) -> None:
        publishers = [asyncio.create_task(bus.publish(said(f"k{n}"))) for n in range(80)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for publisher in publishers[::2]:
            publisher.cancel()
        outcomes = await asyncio.gather(*publishers, return_exceptions=True)
        again = await many_again(bus, 80)
        seqs = {e.id: e.seq for e in await everything(bus)}
        assert sorted(seqs.values()) == list(range(1, 81))
        assert {r.id: r.seq for r in again} == seqs
        for outcome in outcomes:
            if isinstance(outcome, Receipt):
                assert seqs[outcome.id] == outcome.seq

    async def many_again(bus: Bus, count: int) -> list[Receipt]:
        return await asyncio.gather(*(bus.publish(said(f"k{n}")) for n in range(count)))

    play(backend, scenario)


def test_closing_a_subscription_ends_it_while_it_waits_and_twice_is_fine(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        subscription = bus.subscribe()
        heard: list[int] = []

        async def listen() -> None:
            async for envelope in subscription:
                heard.append(envelope.seq)

        listener = asyncio.create_task(listen())
        other = asyncio.create_task(hear(bus, 2))
        await bus.publish(said("a"))
        while not heard:
            await asyncio.sleep(0)
        subscription.close()
        subscription.close()
        await listener
        await bus.publish(said("b"))
        assert (heard, subscription.cursor, await other) == ([1], 1, [1, 2])
        assert [e async for e in subscription] == []

    play(backend, scenario)


def test_closing_the_bus_writes_what_is_under_way_and_ends_subscriptions_at_the_end(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        listener = asyncio.create_task(hear(bus, 10**6))
        publishers = [asyncio.create_task(bus.publish(said(f"k{n}"))) for n in range(50)]
        await asyncio.sleep(0)
        await bus.close()
        await bus.close()
        assert [(await publisher).seq for publisher in publishers] == list(range(1, 51))
        assert (await listener)[-3:] == [48, 49, 50]
        with pytest.raises(BusClosed):
            await bus.publish(said("late"))
        assert bus.head.seq == 50

    play(backend, scenario)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (1, None, range(1, 41)),
        (0, 3, range(1, 4)),
        (17, 30, range(17, 31)),
        (39, 99, (39, 40)),
        (41, None, ()),
    ],
)
def test_reading_a_range(backend: Backend, first: int, last: int | None, expected: Any) -> None:
    async def scenario(bus: Bus) -> None:
        await many(bus, range(40))
        assert [e.seq async for e in bus.read(first, last)] == list(expected)

    play(backend, scenario)


def test_reading_ends_at_the_head_as_it_was(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        await many(bus, range(20))
        seen = []
        async for envelope in bus.read():
            seen.append(envelope.seq)
            await bus.publish(said(f"later {envelope.seq}"))
        assert seen == list(range(1, 21))

    play(backend, scenario)


def test_every_hash_chains_to_its_predecessor(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        await asyncio.gather(*(bus.publish(said(f"k{n}", 'é ∶ \u2028 \\ "')) for n in range(30)))
        previous = bytes(32)
        for envelope in await everything(bus):
            data = json.loads(envelope.line)
            claimed = data.pop("hash")
            text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
            previous = hashlib.sha256(previous + text.encode()).digest()
            assert claimed == previous.hex()
        assert bus.head == (30, previous)

    play(backend, scenario)


def test_what_is_read_equals_what_was_delivered(backend: Backend) -> None:
    async def scenario(bus: Bus) -> None:
        delivered: list[Envelope] = []
        bus.on_append = delivered.append
        await asyncio.gather(
            *(
                bus.publish(
                    Draft(
                        channel="#open",
                        author=EXPLORER,
                        body=Said(text="x", weight=n / 21),
                        obligation_id=f"c/{n}/explorer",
                        attempt=n,
                        tenure=2,
                        in_reply_to="k",
                        hops=3,
                    )
                )
                for n in range(20)
            )
        )
        assert await everything(bus) == delivered
        assert [e.line for e in await everything(bus)] == [e.line for e in delivered]

    play(backend, scenario)


def test_backend_is_a_context_manager(backend: Backend) -> None:
    manager: AbstractAsyncContextManager[Bus] = backend.open()

    async def run() -> Bus:
        async with manager as bus:
            await bus.publish(said("a"))
        return bus

    bus = asyncio.run(run())
    assert bus.head.seq == 1
