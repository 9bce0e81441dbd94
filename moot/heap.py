"""The heap of a process: of a short command, and of one that runs a society."""

from __future__ import annotations

import gc
from typing import Final

THRESHOLDS: Final = (50_000, 20, 50)
"""When the cyclic collector looks: after so many new objects that live, every so many looks at older ones.

Envelopes, states and obligations hold no cycles, so nearly all that it would look at every 700 objects, as it does by
itself, is alive. What a society makes in cycles (tracebacks, tasks) stays a few megabytes longer.
"""


def settle_heap() -> None:
    """Spare the cyclic collector what the process starts with, and let it look less often at the rest.

    Modules, message classes and tables live as long as the process; walking them at every full collection costs a
    society about a sixth of its speed, and looking at what is alive every 700 objects a third more. Commands that run
    one society a process call this before they start it.
    """
    gc.collect()
    gc.freeze()
    look_seldom()


def look_seldom() -> None:
    """Let the cyclic collector look less often; to load what a command needs takes a tenth less time so."""
    gc.set_threshold(*THRESHOLDS)
