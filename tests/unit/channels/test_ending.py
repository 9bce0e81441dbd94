"""What ends `watch`, and what goes on."""

import asyncio

import pytest

from moot.channels.chat.ending import Ending
from moot.channels.surface import RateLimited, SurfaceConfigError, SurfaceDown


async def for_ever():
    await asyncio.Event().wait()


async def breaking():
    await asyncio.sleep(0.01)
    raise SurfaceDown("gone")


async def test_trouble_of_a_call_ends_the_waiting_and_the_message_waits():
    ending = Ending()
    work = asyncio.create_task(for_ever())
    waiting = asyncio.create_task(ending.wait(work, watching=for_ever()))
    await asyncio.sleep(0)
    for why in ("the token is refused", "and again"):
        with pytest.raises(SurfaceDown, match=why) as caught, ending.over_trouble():
            raise SurfaceConfigError(why)
        assert not caught.value.maybe_posted
    with pytest.raises(SurfaceConfigError, match="the token is refused"):
        await waiting
    assert not work.done()
    work.cancel()


async def test_what_passes_ends_nothing_and_stays_what_it_is():
    ending = Ending()
    with pytest.raises(RateLimited), ending.over_trouble():
        raise RateLimited(1.0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await ending.wait()
    ending.close()
    ending.close()


@pytest.mark.parametrize("how", ["a work", "the watching"])
def test_what_breaks_is_raised_and_the_watching_ends_with_the_waiting(how):
    watched = []

    async def watching():
        try:
            await (breaking() if how == "the watching" else for_ever())
        finally:
            watched.append("ended")

    async def main():
        work = asyncio.create_task(breaking() if how == "a work" else for_ever())
        with pytest.raises(SurfaceDown, match="gone"):
            await Ending().wait(work, watching=watching())
        work.cancel()

    asyncio.run(main())
    assert watched == ["ended"]
