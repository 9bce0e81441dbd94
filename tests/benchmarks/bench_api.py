"""The API as a user meets it: what `import moot` costs, the first debate of a process, and those after it."""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

QUESTION = "Should we adopt a four-day week?"
FRESH = """
from time import perf_counter
began = perf_counter()
import moot
{then}
print(perf_counter() - began)
"""


def api_import_s() -> float:
    """Median of 7 fresh processes: `import moot`."""
    return median(_fresh("") for _ in range(7))


def api_first_debate_s() -> float:
    """Median of 7 fresh processes: `import moot` and a debate in memory, all that it imports included."""
    return median(_fresh(f"moot.debate({QUESTION!r}, seed=1)") for _ in range(7))


def api_debate_ms() -> float:
    """Median of 50 further debates in memory, by simulated minds."""
    import moot

    moot.debate(QUESTION)
    return median(_debate(seed) for seed in range(50))


def _fresh(then: str) -> float:
    command = [sys.executable, "-c", FRESH.format(then=then)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _debate(seed: int) -> float:
    import moot

    began = perf_counter()
    result = moot.debate(QUESTION, seed=seed)
    took = perf_counter() - began
    assert result.outcome in ("UPHELD", "REJECTED", "UNDECIDED")
    return took * 1000
