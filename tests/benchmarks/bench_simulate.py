"""Days of a whole society with backtests, in processes of their own so that no cache is warm."""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

CODE = """
import sys
from moot.simulation.simulate import SimulateOptions, simulate
simulate(SimulateOptions(days=float(sys.argv[1]), seed=int(sys.argv[2])))
"""


def _took(days: int, seed: int) -> float:
    began = perf_counter()
    subprocess.run([sys.executable, "-c", CODE, str(days), str(seed)], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - began


def simulate_7_days_s() -> float:
    """Median of 5, start of the interpreter included."""
    return median(_took(7, seed) for seed in range(1, 6))


def simulate_28_days_s() -> float:
    """One run; with the others it shows that the cost is linear in days."""
    return _took(28, 1)


def simulate_84_days_s() -> float:
    """One run."""
    return _took(84, 1)
