"""What goes next in a channel, asked of a real file."""

import asyncio

from moot.channels.outbox import queue as outbox_queue
from moot.channels.outbox.pacing import UNPACED, Pace
from moot.channels.outbox.queue import MOST_FOLDED
from moot.channels.outbox.store import Mirrored, OutboxStore
from moot.channels.surface import PlatformMessageId

PACE = Pace(backlog=3, fold_most=4)


def on_store(tmp_path, use):
    async def main():
        store = OutboxStore(tmp_path, "fake", "log")
        await store.open()
        try:
            return await use(store)
        finally:
            await store.close()

    return asyncio.run(main())


def mirrored(seq, type="NOTE", case="hyp_1", channel="#a", line="{}"):
    return Mirrored(seq, channel, case, f"m{seq}", type, line)


async def drain(store, pace, channel="#a"):
    """Post everything; returns the seqs of each post."""
    posts = []
    while items := (await store.next_up(channel, pace)).items:
        seqs = [item.seq for item in items]
        await store.intend(seqs, store.nonce(seqs[0]))
        await store.done(seqs, PlatformMessageId(f"p{len(posts)}"))
        posts.append(seqs)
    return posts


def drained(tmp_path, found, pace=PACE):
    async def use(store):
        await store.take(found, max(item.seq for item in found))
        return await drain(store, pace)

    return on_store(tmp_path, use)


def test_without_a_backlog_everything_goes_in_log_order(tmp_path):
    found = [mirrored(1), mirrored(2), mirrored(3, "ESCALATION", "esc_1")]
    assert drained(tmp_path, found) == [[1], [2], [3]]


def test_without_a_pace_there_is_no_backlog(tmp_path):
    found = [mirrored(n, "RULING" if n == 30 else "NOTE") for n in range(1, 31)]
    assert drained(tmp_path, found, UNPACED) == [[n] for n in range(1, 31)]


def test_in_a_backlog_urgent_ones_go_first_in_log_order_and_routine_ones_of_a_case_are_folded(tmp_path):
    found = [mirrored(n, case=("hyp_1", "hyp_2")[n % 2]) for n in range(1, 13)]
    found += [mirrored(13, "RULING"), mirrored(14, "ESCALATION", "esc_1"), mirrored(15, case=None)]
    assert drained(tmp_path, found) == [[13], [14], [1, 3, 5, 7], [2, 4, 6, 8], [9, 11], [10], [12], [15]]


def test_what_belongs_to_no_case_is_never_folded(tmp_path):
    assert drained(tmp_path, [mirrored(n, case=None) for n in range(1, 7)]) == [[n] for n in range(1, 7)]


def test_other_channels_have_a_backlog_of_their_own(tmp_path):
    found = [mirrored(n, channel="#a" if n < 6 else "#b") for n in range(1, 8)]

    async def use(store):
        await store.take(found, 7)
        assert [item.seq for item in (await store.next_up("#b", PACE)).items] == [6]
        assert [item.seq for item in (await store.next_up("#a", PACE)).items] == [1, 2, 3, 4]

    on_store(tmp_path, use)


def test_a_fold_grows_no_longer_than_an_attachment_may(tmp_path):
    line = "x" * (MOST_FOLDED // 2)
    assert drained(tmp_path, [mirrored(n, line=line) for n in range(1, 6)])[:2] == [[1, 2], [3]]


def test_it_is_known_whether_something_urgent_waits(tmp_path):
    async def use(store):
        await store.take([mirrored(1), mirrored(2, "HALT")], 2)
        assert (await store.next_up("#a", PACE)).has_urgent
        await store.done([2], PlatformMessageId("p2"))
        assert not (await store.next_up("#a", PACE)).has_urgent
        assert not (await store.next_up("#nowhere", PACE)).items

    on_store(tmp_path, use)


def test_what_may_have_arrived_is_not_folded(tmp_path):
    async def use(store):
        await store.take([mirrored(n) for n in range(1, 8)], 7)
        await store.intend([2], "log:2")
        return await drain(store, PACE)

    assert on_store(tmp_path, use) == [[1], [2], [3, 4, 5, 6], [7]]


def test_a_fold_that_was_broken_up_goes_one_by_one_and_then_the_next_are_folded_again(tmp_path):
    async def use(store):
        await store.take([mirrored(n) for n in range(1, 10)], 9)
        await store.intend([1, 2, 3], "log:1")
        await store.break_up([1, 2, 3])
        ((first,),) = await store.interrupted("#a")
        assert (first.seq, first.nonce) == (1, "log:1")
        await store.done([1], PlatformMessageId("p1"))
        return await drain(store, PACE)

    assert on_store(tmp_path, use) == [[2], [3], [4, 5, 6, 7], [8], [9]]


def test_what_was_interrupted_comes_back_in_its_groups(tmp_path):
    async def use(store):
        await store.take([mirrored(n) for n in range(1, 12)], 11)
        await store.intend([9, 4], "log:9")
        await store.intend([2, 10], "log:2")
        await store.intend([5], "log:5")
        groups = await store.interrupted("#a")
        assert [[item.seq for item in group] for group in groups] == [[2, 10], [5], [9, 4]]
        assert await store.interrupted("#b") == []

    on_store(tmp_path, use)


def test_the_root_of_a_case_is_what_was_posted_first_and_stays_so(tmp_path):
    async def use(store):
        await store.take([mirrored(n, "RULING" if n == 9 else "NOTE") for n in range(1, 10)], 9)
        assert await store.root_of("#a", "hyp_1") is None
        await drain(store, PACE)
        assert await store.root_of("#a", "hyp_1") == "p0"
        assert await store.post_of("#a", "m9") == "p0"
        assert await store.root_of("#b", "hyp_1") is None
        await store.rewind(8)
        assert await store.root_of("#a", "hyp_1") is None

    on_store(tmp_path, use)


def steps_of_a_post(tmp_path, waiting):
    """Count the instructions of SQLite for choosing, posting and settling one message of a backlog."""
    steps = 0

    def count():
        nonlocal steps
        steps += 1

    async def use(store):
        kinds = ("NOTE", "NOTE", "NOTE", "RISK_ASSESSMENT")
        found = [mirrored(n, kinds[n % 4], f"hyp_{n % 97}") for n in range(1, waiting)]
        await store.take([*found, mirrored(waiting, "ESCALATION", "esc_1")], waiting)
        await store._file.run(lambda: store._file.db.set_progress_handler(count, 1))
        posts = []
        for n in range(4):
            seqs = [item.seq for item in (await store.next_up("#a", PACE)).items]
            await store.intend(seqs, store.nonce(seqs[0]))
            await store.root_of("#a", "hyp_1")
            await store.is_empty("#a")
            await store.done(seqs, PlatformMessageId(f"p{n}"))
            posts.append(seqs)
        await store._file.run(lambda: store._file.db.set_progress_handler(None, 1))
        assert posts[0] == [waiting]
        assert posts[1] == [1, 98, 195, 292]

    on_store(tmp_path, use)
    return steps


def test_a_post_costs_the_same_whatever_waits(tmp_path):
    (tmp_path / "few").mkdir()
    few = steps_of_a_post(tmp_path / "few", 400)
    many = steps_of_a_post(tmp_path, 20_000)
    assert few > 100
    assert many < 1.2 * few


def test_only_the_first_lines_are_read(tmp_path):
    async def use(store):
        await store.take([mirrored(n) for n in range(1, 100)], 99)
        assert len((await store.next_up("#a", Pace(backlog=3, fold_most=25))).items) == 25
        assert await store._file.run(lambda: outbox_queue.size(store._file.db, store._lane("#a"), 4)) == 4

    on_store(tmp_path, use)
