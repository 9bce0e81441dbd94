"""The society's time: now, sleep, hold, and the event loop that lives in it.

Society code is plain asyncio, and every second in it is a society second: `asyncio.sleep`, `asyncio.timeout`
and `loop.call_later` count on the clock that runs the loop. Three clocks do:

    VirtualClock    jumps to the next timer when nothing is ready and nobody holds it; deterministic
    PacedClock      the wall's pace times a speed; pause, resume, step
    RealClock       the system's UTC

The composition root makes one and runs the society on it, `VirtualClock(start).run(main)`; everybody else is
handed a `Clock`. What takes wall time (a thread, a process, a socket) is awaited under `clock.hold()`:
`in_thread` and `IoThread` do so. This package and the composition root are the only readers of the wall
clock, and here it is one module, `wall`.

How it is built: `base` (what a clock promises), `virtual`, `paced`, `real`; below them `loop` (asyncio asking
a clock for the time), `timers` and `tasks` (one order of callbacks per program), `hold`, `runner`, `errors`;
beside them `threads` and `io_thread`. Source: rules K2, K6, K7, K8, K22 and K25 of the kernel contract.
"""

from moot.clock.base import Clock, Kind
from moot.clock.errors import ClockError, ClockUsedTwice, IoThreadClosed, Stalled, WallTimeout
from moot.clock.hold import Hold
from moot.clock.io_thread import IoThread
from moot.clock.paced import PacedClock
from moot.clock.real import RealClock
from moot.clock.runner import run
from moot.clock.threads import in_thread
from moot.clock.virtual import VirtualClock

__all__ = [
    "Clock",
    "ClockError",
    "ClockUsedTwice",
    "Hold",
    "IoThread",
    "IoThreadClosed",
    "Kind",
    "PacedClock",
    "RealClock",
    "Stalled",
    "VirtualClock",
    "WallTimeout",
    "in_thread",
    "run",
]
