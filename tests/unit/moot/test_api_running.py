"""A society runs in a script, beside a loop that runs already, and awaited; it ends when its caller does."""

import asyncio
import threading
from concurrent.futures import Future
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

import pytest

from moot.api.running import arun, run
from moot.protocols.kernel.errors import BadInput

START = datetime(2026, 2, 23, tzinfo=UTC)
HERE = threading.get_ident


def an_hour(clock):
    async def main(clock):
        await clock.sleep(timedelta(hours=1))
        return HERE(), clock.now()

    return clock.run(main)


def test_in_a_script_a_society_runs_in_the_thread_that_asks():
    assert run(an_hour, START) == (HERE(), START + timedelta(hours=1))


async def test_beside_a_running_loop_it_has_a_thread_of_its_own():
    thread, at = run(an_hour, START)
    assert thread != HERE() and at == START + timedelta(hours=1)


async def test_awaited_it_leaves_the_loop_to_others():
    heard = threading.Event()

    def waits(clock):
        assert heard.wait(30), "the loop of the caller stood still"
        return an_hour(clock)

    asyncio.get_running_loop().call_soon(heard.set)
    thread, _ = await arun(waits, START)
    assert thread != HERE()


@pytest.mark.parametrize("how", ["here", "beside", "awaited"])
def test_what_it_raises_reaches_the_caller(how):
    def fails(_clock):
        raise BadInput("days 0: choose a number above 0")

    async def beside():
        return run(fails, START)

    async def awaited():
        return await arun(fails, START)

    with pytest.raises(BadInput, match="days 0: choose"):
        if how == "here":
            run(fails, START)
        else:
            asyncio.run({"beside": beside, "awaited": awaited}[how]())


class Endless:
    """A society that goes on for ever, and says when it began and how it ended."""

    def __init__(self):
        self.began = threading.Event()
        self.ended = threading.Event()

    def __call__(self, clock):
        async def main(clock):
            self.began.set()
            try:
                while True:
                    await clock.sleep(timedelta(seconds=1))
            finally:
                self.ended.set()

        return clock.run(main)


async def test_cancelling_what_awaits_it_ends_the_society():
    endless = Endless()
    task = asyncio.create_task(arun(endless, START))
    assert await asyncio.to_thread(endless.began.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert endless.ended.is_set(), "the caller is not told before the society has ended"


async def test_a_society_that_is_cancelled_before_it_began_never_begins():
    endless, gate = Endless(), threading.Event()

    def late(clock):
        assert gate.wait(30)
        return endless(clock)

    task = asyncio.create_task(arun(late, START))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not endless.began.is_set()


async def test_ctrl_c_beside_a_running_loop_ends_the_society(monkeypatch):
    endless = Endless()

    def interrupted(_future, _timeout=None):
        assert endless.began.wait(30)
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(endless, START)
    assert endless.ended.is_set()


async def test_a_society_sees_the_context_of_its_caller():
    name = ContextVar("name", default="nobody")
    name.set("Ana")
    assert run(lambda _clock: name.get(), START) == "Ana"
