import asyncio

import pytest

from moot.channels.outbox.buckets import Bucket, Turnstile
from moot.channels.outbox.pacing import Budget


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def drained(budget, seconds, clock):
    """Take whatever a bucket gives, sleeping exactly as long as it says."""
    bucket = Bucket(budget, clock)
    end = clock.now + seconds
    taken = 0
    while True:
        delay = bucket.delay_s()
        if delay:
            if clock.now + delay > end:
                return taken
            clock.now += delay
            continue
        bucket.take()
        taken += 1


@pytest.mark.parametrize(("per_s", "burst"), [(1.0, 3), (5.0, 20), (40.0, 40), (0.3, 1), (7.0, 2)])
def test_it_gives_its_burst_and_then_exactly_its_rate(per_s, burst):
    taken = drained(Budget(per_s, burst), 1_000.0, Clock())
    assert taken == pytest.approx(burst + per_s * 1_000, abs=1.01)


def test_a_rest_fills_it_up_to_the_burst_and_not_further():
    clock = Clock()
    bucket = Bucket(Budget(1.0, 3), clock)
    for _ in range(3):
        assert bucket.delay_s() == 0
        bucket.take()
    assert bucket.delay_s() == pytest.approx(1.0)
    clock.now += 3_600
    for _ in range(3):
        assert bucket.delay_s() == 0
        bucket.take()
    assert bucket.delay_s() == pytest.approx(1.0)


def test_a_token_that_is_given_back_can_be_taken_again():
    bucket = Bucket(Budget(1.0), Clock())
    bucket.take()
    bucket.give_back()
    assert bucket.delay_s() == 0
    bucket.give_back()
    bucket.take()
    assert bucket.delay_s() > 0


def test_without_a_budget_everything_goes_at_once():
    bucket = Bucket(None, Clock())
    for _ in range(1_000):
        assert bucket.delay_s() == 0
        bucket.take()


def passing(*names, urgent=(), cancel=()):
    """Let some wait at once for a slow bucket that is empty; returns who passed, in order."""
    passed = []
    is_urgent = set(urgent)

    async def one(turnstile, name):
        await turnstile.wait(lambda: name in is_urgent)
        passed.append(name)

    async def main():
        turnstile = Turnstile(Budget(200.0), asyncio.get_running_loop().time)
        await turnstile.wait(lambda: False)
        tasks = {name: asyncio.create_task(one(turnstile, name)) for name in names}
        await asyncio.sleep(0)
        for name in cancel:
            tasks[name].cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        await turnstile.wait(lambda: False)

    asyncio.run(main())
    return passed


def test_who_waits_for_the_platform_goes_as_they_came_but_urgent_ones_first():
    assert passing("a", "b", "c", "d") == ["a", "b", "c", "d"]
    assert passing("a", "b", "c", "d", urgent="cd") == ["c", "d", "a", "b"]


async def test_who_waits_can_become_urgent():
    turnstile = Turnstile(Budget(100.0), asyncio.get_running_loop().time)
    await turnstile.wait(lambda: False)
    passed = []
    urgent = set()

    async def one(name):
        await turnstile.wait(lambda: name in urgent)
        passed.append(name)

    tasks = [asyncio.create_task(one(name)) for name in "ab"]
    await asyncio.sleep(0)
    urgent.add("b")
    await asyncio.gather(*tasks)
    assert passed == ["b", "a"]


def test_who_gives_up_waiting_takes_no_token_and_no_turn():
    assert passing("a", "b", "c", cancel="b") == ["a", "c"]
    assert passing("a", cancel="a") == []


async def test_who_is_cancelled_at_its_very_turn_gives_the_token_back():
    clock = Clock()
    turnstile = Turnstile(Budget(1.0), clock)
    await turnstile.wait(lambda: False)
    waiting = asyncio.create_task(turnstile.wait(lambda: False))
    await asyncio.sleep(0)
    clock.now += 1.0
    turnstile._on_time()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()
    async with asyncio.timeout(5):
        await turnstile.wait(lambda: False)
