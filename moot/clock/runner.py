"""Running a program in society time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from moot.clock.errors import ClockUsedTwice

if TYPE_CHECKING:
    from moot.clock.base import Clock

T = TypeVar("T")
AnyClock = TypeVar("AnyClock", bound="Clock")


def run(main: Callable[[AnyClock], Coroutine[Any, Any, T]], *, clock: AnyClock) -> T:
    """Run `main(clock)` on a new event loop in the clock's time and return its result.

    However `main` ends, the tasks left over are cancelled in the order of their creation and awaited, async
    generators and the default executor are shut down, and the loop is closed (K25). As in `asyncio.run`,
    Ctrl-C cancels `main` and raises KeyboardInterrupt here, unless the caller has set a handler of its own.

    Raises:
        ClockUsedTwice: The clock has run before.
        RuntimeError: A loop is already running in this thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("a clock cannot be run inside a running event loop")
    if clock.has_run:
        raise ClockUsedTwice("this clock has had its run; make a new one")
    try:
        with asyncio.Runner(loop_factory=clock.open_loop) as runner:
            try:
                return runner.run(clock.live(main))
            finally:
                runner.run(_cancel_the_rest())
    finally:
        clock.close_loop()


async def _cancel_the_rest() -> None:
    """Cancel and await every other task; `asyncio.Runner` would do so in the order of a set (K2)."""
    this = asyncio.current_task()
    rest = sorted((task for task in asyncio.all_tasks() if task is not this), key=hash)
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    for task in rest:
        if not task.cancelled() and (error := task.exception()) is not None:
            message = "a task failed while it was cancelled at the end of the run"
            asyncio.get_running_loop().call_exception_handler(
                {"message": message, "exception": error, "task": task}
            )
