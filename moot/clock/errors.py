"""What can go wrong with time."""

from collections.abc import Callable

from moot.protocols.kernel.errors import MootError


class ClockError(MootError):
    """Root of everything this package raises on its own account."""


class ClockUsedTwice(ClockError, RuntimeError):
    """A clock was run a second time; a clock is one run's time, so make a new one."""


class Stalled(ClockError, RuntimeError):
    """A virtual society can never move again: nothing is ready, no timer is set, nothing will wake it.

    Attributes:
        waited_s: Wall seconds it waited before giving up.
        holds: How many holds were open; 0 where everybody waits for somebody else.
    """

    def __init__(self, waited_s: float, holds: int) -> None:
        if holds:
            cause = (
                f"{holds} hold(s) kept virtual time still and nothing came back: either a thread or a socket"
                " hangs, or society time is awaited under hold(), which never ends"
            )
        else:
            cause = (
                "no task is ready, no timer is set and nobody holds the clock: either the tasks wait for each"
                " other, or a thread is awaited without hold()"
            )
        super().__init__(f"virtual time stalled for {waited_s:g} s of real time: {cause}")
        self.waited_s = waited_s
        self.holds = holds


class WallTimeout(ClockError, TimeoutError):
    """An I/O call took longer than its limit, which is wall time under every clock (K22).

    Attributes:
        wall_timeout_s: The limit in wall seconds.
    """

    def __init__(self, what: str, wall_timeout_s: float) -> None:
        super().__init__(f"{what} took longer than {wall_timeout_s:g} s of real time")
        self.wall_timeout_s = wall_timeout_s


class IoThreadClosed(ClockError, RuntimeError):
    """The I/O thread was closed before, or while, a call ran on it."""


def describe(call: Callable[..., object]) -> str:
    """Name a callable for an error message."""
    return getattr(call, "__qualname__", None) or repr(call)
