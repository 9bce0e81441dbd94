"""Cost in calls: what time shows depends on the machine."""

import sys
from collections.abc import Callable
from types import FrameType


def calls(what: Callable[[], object]) -> int:
    """Count the calls within the society's own code while something is done."""
    count = 0

    def called(frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call") and "/tests/" not in frame.f_code.co_filename

    sys.setprofile(called)
    try:
        what()
    finally:
        sys.setprofile(None)
    return count
