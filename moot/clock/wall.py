"""The system's own clocks: the one module of Moot that reads them.

Everything else is given a `Clock`. `monotonic_ns` measures wall durations, `utc_ns` is the time of day in
nanoseconds since 1970.
"""

import time
from collections.abc import Callable
from typing import Final

monotonic_ns: Final[Callable[[], int]] = time.monotonic_ns  # noqa: TID251
utc_ns: Final[Callable[[], int]] = time.time_ns  # noqa: TID251
