"""How often the intervals of a study's figures hold the truth, where it is known.

`python -m tests.soak.coverage` draws thousands of studies of which the true figure is known, computes each one's 95 %
interval, and writes `tests/soak/coverage.json`, whose table stands in docs/design/evidence.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from moot.compare.summary import OF_SHARES, SHARE
from moot.statistics.calibration import brier, reliability
from moot.statistics.clusters import Figure, difference, estimate, mean, ratio
from moot.statistics.detection import Found, f1, false_alarms, precision, recall
from moot.statistics.shares import Interval
from moot.statistics.votes import effective_votes

RESULTS: Final = Path(__file__).parent / "coverage.json"
RUNS, RESAMPLES, CASES = 4_000, 1_000, 80
LEAST, MOST = 0.93, 0.97

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Interval]
"""Draws a study and returns the interval of its figure; takes how many times to resample."""


def detected(chance: np.random.Generator, skill: float = 0.6) -> Found:
    """Draw reviews of documents: 3 errors each on average, of which `skill` are found, and 0.6 false alarms."""
    there = 1 + chance.poisson(2.0, CASES)
    # Some documents are easier than others, so that a document's errors are found together.
    right = chance.binomial(there, chance.beta(4.0 * skill, 4.0 * (1.0 - skill), CASES))
    wrong = chance.poisson(0.6, CASES)
    return Found(*(one.astype(np.float64) for one in (right, wrong, there - right)))


def interval(
    table: Floats,
    figure: Figure,
    chance: np.random.Generator,
    resamples: int,
    within: Interval | None = None,
) -> Interval:
    """Return the 95 % interval of a figure."""
    return estimate(table, figure, chance, resamples=resamples, within=within).interval


def paired(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw two arms on the same cases, three repetitions each."""
    cases = chance.normal(size=(CASES, 1))
    first, second = (cases + chance.normal(at, 1.0, (CASES, 3)) for at in (0.0, 0.3))
    table = np.stack([first.mean(axis=1), second.mean(axis=1)], axis=1)
    return interval(table, difference(mean), chance, resamples)


def of_detection(table: Callable[[Found], Floats]) -> Draw:
    """Draw reviews and return the interval of a figure of theirs."""
    return lambda chance, resamples: interval(table(detected(chance)), ratio, chance, resamples)


def f1_difference(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw two arms that review the same number of documents, of skills 0.6 and 0.75."""
    arms = [f1(detected(chance, skill)) for skill in (0.6, 0.75)]
    return interval(np.concatenate(arms, axis=1), difference(ratio), chance, resamples)


def alarms(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw documents of which half are clean."""
    there = np.repeat([0.0, 1.0], CASES)
    found = Found(np.zeros(2 * CASES), chance.poisson(0.6, 2 * CASES).astype(np.float64), there)
    return interval(false_alarms(found), ratio, chance, resamples)


def cost(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw decisions of which 0.7 are right, at a mean cost of 2."""
    table = np.stack([1.0 + chance.exponential(1.0, CASES), chance.random(CASES) < 0.7], axis=1)
    return interval(table, ratio, chance, resamples)


def votes(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw five voters whose errors correlate by 0.25."""
    common, own = chance.random((2 * CASES, 1)) < 0.3, chance.random((2 * CASES, 5)) < 0.3
    errors = np.where(chance.random((2 * CASES, 5)) < 0.5, common, own)
    return effective_votes(errors, chance, resamples=resamples).interval


def nearly_always(chance: np.random.Generator) -> Floats:
    """Draw answers of which 0.99 are right, so that nearly half of the studies see no other."""
    return np.stack([chance.random(CASES) < 0.99, np.ones(CASES)], axis=1)


def seldom_wrong(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw an arm that is nearly always right."""
    return interval(nearly_always(chance), ratio, chance, resamples, SHARE)


def both_seldom_wrong(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw two arms that are nearly always right."""
    table = np.concatenate([nearly_always(chance), nearly_always(chance)], axis=1)
    return interval(table, difference(ratio), chance, resamples, OF_SHARES)


def squared(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw confidences, uniform in [0, 1], that come true as often as they say."""
    stated = chance.random(CASES)
    came_true = chance.random(CASES) < stated
    return interval(brier(stated, came_true)[:, np.newaxis], mean, chance, resamples)


def reliable(chance: np.random.Generator, resamples: int) -> Interval:
    """Draw confidences of 0.75 that come true in 0.6 of the cases."""
    return reliability(np.full(CASES, 0.75), chance.random(CASES) < 0.6)[0].interval


KNOWN: Final[dict[str, tuple[float, Draw]]] = {
    "mean paired difference, 3 repetitions": (0.3, paired),
    "precision": (1.8 / 2.4, of_detection(precision)),
    "recall": (0.6, of_detection(recall)),
    "F1": (3.6 / 5.4, of_detection(f1)),
    "difference of F1": (4.5 / (4.5 + 0.6 + 0.75) - 3.6 / 5.4, f1_difference),
    "false alarms in clean documents": (0.6, alarms),
    "cost of a correct decision": (2.0 / 0.7, cost),
    "effective votes of five": (2.5, votes),
    "Brier score": (1.0 / 6.0, squared),
    "how often a confidence comes true": (0.6, reliable),
    "a share near 1": (0.99, seldom_wrong),
    "difference of shares near 1": (0.0, both_seldom_wrong),
}
"""Each figure's true value, and what draws a study of it."""


def coverage(name: str, runs: int, resamples: int) -> float:
    """Return in which share of drawn studies a figure's interval holds the truth."""
    truth, draw = KNOWN[name]
    chance = np.random.default_rng((list(KNOWN).index(name), runs))
    found = (draw(chance, resamples) for _ in range(runs))
    return sum(low <= truth <= high for low, high in found) / runs


def table(results: dict[str, Any]) -> list[str]:
    """Return the table of the page."""
    lines = ["| figure | its true value | intervals that hold it |", "|---|---|---|"]
    for name, share in results["coverage"].items():
        lines.append(f"| {name} | {KNOWN[name][0]:.3f} | {100 * share:.1f} % |")
    return lines


def findings(results: dict[str, Any]) -> list[str]:
    """Say which interval holds the truth too seldom or too often."""
    return [
        f"{name}: {share:.3f} of the intervals hold the truth"
        for name, share in results["coverage"].items()
        if not LEAST <= share <= MOST
    ]


def main() -> int:
    """Measure each figure's intervals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave the committed results as they are")
    options = parser.parse_args()
    results: dict[str, Any] = {"runs": RUNS, "resamples": RESAMPLES, "cases": CASES, "coverage": {}}
    for name in KNOWN:
        results["coverage"][name] = coverage(name, RUNS, RESAMPLES)
        print(f"{name}: {results['coverage'][name]:.4f}", flush=True)
    if not options.no_write:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    wrong = findings(results)
    print("", *table(results), "", *wrong or ["every interval keeps what it says"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
