"""Days of a whole society with backtests, in processes of their own so that no cache is warm."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from statistics import median
from time import perf_counter
from typing import NamedTuple

CODE = """
import json, sys
from time import perf_counter
from moot.heap import settle_heap
from moot.simulation.simulate import SimulateOptions, simulate

days, begun = int(sys.argv[1]), {}
settle_heap()
simulate(
    SimulateOptions(days=days, seed=int(sys.argv[2])),
    lambda share, _: begun.setdefault(int(share * days), perf_counter()),
)
begun[days] = perf_counter()
print(json.dumps(begun))
"""


class _Life(NamedTuple):
    """How long a simulation took, in seconds, and when each of its days began."""

    took: float
    begun: dict[int, float]

    def a_day(self, first: int, end: int) -> float:
        """Return the seconds that a day took on average, from one day on, before another."""
        return (self.begun[end] - self.begun[first]) / (end - first)


@cache
def _life(days: int, seed: int) -> _Life:
    began = perf_counter()
    command = [sys.executable, "-c", CODE, str(days), str(seed)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    took = perf_counter() - began
    return _Life(took, {int(day): at for day, at in json.loads(said.splitlines()[-1]).items()})


def simulate_7_days_s() -> float:
    """Median of 5, start of the interpreter included."""
    return median(_life(7, seed).took for seed in range(1, 6))


def simulate_28_days_s() -> float:
    """One run; with the others it shows that the cost is linear in days."""
    return _life(28, 1).took


def simulate_84_days_s() -> float:
    """One run."""
    return _life(84, 1).took


def simulate_days_3_to_7_s() -> float:
    """Seconds a day of a young society, Thursday to Sunday; of the run of 84 days."""
    return _life(84, 1).a_day(3, 7)


def simulate_days_80_to_84_s() -> float:
    """Seconds a day of an old society, Thursday to Sunday; of the run of 84 days."""
    return _life(84, 1).a_day(80, 84)


def simulate_young_over_old_ratio() -> float:
    """What a day costs a young society, over what it costs an old one: 1 where age costs nothing."""
    return simulate_days_3_to_7_s() / simulate_days_80_to_84_s()
