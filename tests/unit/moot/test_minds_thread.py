"""A mind's thread: one call after another, each within its limit; what hangs is given up (K28)."""

import asyncio
import threading
from concurrent.futures import CancelledError

import pytest

from moot.clock import WallTimeout
from moot.minds.thread import MOST_HUNG, MindThread, StillHanging

LONG = 60.0


@pytest.fixture
def thread():
    found = MindThread("mind under test")
    yield found
    found.close()


def test_calls_come_one_after_another_in_their_order(thread):
    gate, said, inside = threading.Event(), [], []

    def call(n):
        inside.append(n)
        gate.wait(LONG)
        said.append((n, tuple(inside)))
        inside.remove(n)
        return n

    calls = [thread.submit(lambda n=n: call(n), "m", LONG) for n in range(5)]
    gate.set()
    assert [one.result(LONG) for one in calls] == [0, 1, 2, 3, 4]
    assert said == [(n, (n,)) for n in range(5)], "none began before the last had ended"


def test_what_is_awaited_runs_on_one_loop_that_stays(thread):
    async def loop():
        await asyncio.sleep(0)
        return asyncio.get_running_loop(), threading.current_thread()

    (first, where), (second, there) = (thread.submit(loop, "m", LONG).result(LONG) for _ in range(2))
    assert first is second and where is there
    assert where.daemon, "it cannot keep the process from ending"


@pytest.mark.parametrize(
    "raised", [ValueError("no"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]
)
def test_whatever_is_raised_is_an_error_of_the_call_alone(thread, raised):
    def call():
        raise raised

    with pytest.raises(
        Exception, match="no" if isinstance(raised, ValueError) else type(raised).__name__
    ) as caught:
        thread.submit(call, "m", LONG).result(LONG)
    assert isinstance(caught.value, Exception)
    assert thread.submit(lambda: 7, "m", LONG).result(LONG) == 7


def test_a_call_that_hangs_is_given_up_and_the_next_ones_go_on(thread):
    freed = threading.Event()
    hung = thread.submit(freed.wait, "my:Mind", 0.05)
    behind = thread.submit(lambda: "on", "my:Mind", LONG)
    with pytest.raises(WallTimeout, match=r"my:Mind took longer than 0.05 s"):
        hung.result(LONG)
    assert behind.result(LONG) == "on"
    freed.set()


def test_a_coroutine_that_hangs_is_cancelled(thread):
    told = threading.Event()

    async def hang():
        try:
            await asyncio.Event().wait()
        finally:
            told.set()

    with pytest.raises(WallTimeout):
        thread.submit(hang, "m", 0.05).result(LONG)
    assert told.wait(LONG)


def test_after_too_many_that_hang_nothing_more_is_asked_until_one_comes_back(thread):
    freed = [threading.Event() for _ in range(MOST_HUNG)]
    for one in freed:
        with pytest.raises(WallTimeout):
            thread.submit(one.wait, "m", 0.05).result(LONG)
    with pytest.raises(StillHanging, match="3 earlier answers never returned"):
        thread.submit(lambda: 1, "m", LONG).result(LONG)
    freed[0].set()
    for _ in range(6_000):
        try:
            assert thread.submit(lambda: 1, "m", LONG).result(LONG) == 1
            break
        except StillHanging:
            threading.Event().wait(0.01)  # the thread that came back has yet to say so
    else:
        pytest.fail("it is not asked again")
    for one in freed:
        one.set()


def test_calls_that_wait_behind_too_many_that_hang_are_refused_too(thread):
    freed = threading.Event()
    calls = [thread.submit(freed.wait, "m", 0.05) for _ in range(MOST_HUNG + 2)]
    kinds = [type(one.exception(LONG)) for one in calls]
    assert kinds == [WallTimeout] * MOST_HUNG + [StillHanging] * 2
    freed.set()


def test_a_call_that_is_cancelled_while_it_waits_is_not_made(thread):
    freed, made = threading.Event(), []
    first = thread.submit(freed.wait, "m", LONG)
    second = thread.submit(lambda: made.append(2), "m", LONG)
    assert second.cancel()
    freed.set()
    assert first.result(LONG)
    assert thread.submit(lambda: made.append(3), "m", LONG).result(LONG) is None
    assert made == [3]


def test_a_thread_that_is_closed_calls_nothing_and_ends(thread):
    async def where():
        return threading.current_thread()

    worker = thread.submit(where, "m", LONG).result(LONG)
    thread.close()
    worker.join(LONG)
    assert not worker.is_alive()
    with pytest.raises(CancelledError):
        thread.submit(lambda: 1, "m", LONG).result(LONG)
