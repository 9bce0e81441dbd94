"""How often Arbiter's rules of stopping name the wrong mode, and its tests find what is not there, on a known truth.

`python -m tests.soak.stopping` draws thousands of runs from known shares, lets each rule look after every batch, and
writes `tests/soak/stopping.json` and the picture of docs/design/arbiter-statistics.md, whose tables a test compares.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from moot.arbiter.monitor import Monitor
from moot.config.arbiter.templates import from_template
from moot.protocols.arbiter.generated import ResolvedExecution, ResolvedMeasurement
from moot.statistics.categories import compare_categories
from moot.statistics.energy import compare_clouds
from moot.statistics.mode import certified_mode
from moot.statistics.permutation import Groups, matched
from moot.statistics.shares import log_evidence
from moot.statistics.wilson import wilson_interval

HERE: Final = Path(__file__).parent
RESULTS: Final = HERE / "stopping.json"
PICTURE: Final = HERE.parents[1] / "docs" / "images" / "arbiter-stopping.png"

ALPHA: Final = 0.05
RUNS, TRIALS, BATCH = 4_000, 1_000, 5

TRUTHS: Final = (
    (0.5, 0.5, 0.0),
    (0.34, 0.33, 0.33),
    (0.4, 0.3, 0.3),
    (0.5, 0.48, 0.02),
    (0.55, 0.45, 0.0),
    (0.65, 0.3, 0.05),
    (0.9, 0.1, 0.0),
)
"""Shares of the outcomes; in the first there is no mode, and naming one is always wrong."""

REPETITIONS, SHUFFLES, SIZE = 2_000, 199, 60
"""Pairs of runs that are compared, shuffles of each, trials of a run."""

Counts = NDArray[np.int64]
"""How often each outcome was seen after each trial, shape (runs, trials, outcomes)."""


class Stopped(NamedTuple):
    """What a rule did: after how many trials it stopped each run, TRIALS + 1 when never, and what led then."""

    after: NDArray[np.int64]
    leader: NDArray[np.int64]


def drawn(truth: Sequence[float], seed: int) -> Counts:
    """Draw runs."""
    chance = np.random.default_rng(seed)
    labels = chance.choice(len(truth), size=(RUNS, TRIALS), p=truth)
    return np.cumsum(labels[..., np.newaxis] == np.arange(len(truth)), axis=1)


def certified(counts: Counts) -> Stopped:
    """Stop when the mode is certain."""
    outcomes = counts.shape[2]
    needed = math.log((outcomes - 1) / ALPHA)
    # From how many of n tosses on the coin is called unfair.
    enough = np.array(
        [
            next((hits for hits in range(n // 2 + 1, n + 1) if log_evidence(hits, n, 0.5) >= needed), n + 1)
            for n in range(TRIALS + 1)
        ]
    )
    leader = counts.argmax(axis=2)
    most = counts.max(axis=2)
    is_settled = np.ones(leader.shape, dtype=bool)
    for other in range(outcomes):
        is_settled &= (leader == other) | (most >= enough[np.minimum(most + counts[..., other], TRIALS)])
    # The table says what the rule itself says.
    chance = np.random.default_rng(0)
    for run, trial in zip(chance.integers(RUNS, size=500), chance.integers(TRIALS, size=500), strict=True):
        found = certified_mode(counts[run, trial].tolist(), ALPHA)
        assert found == (leader[run, trial] if is_settled[run, trial] else None)
    return _first(is_settled, leader)


def peeking(counts: Counts) -> Stopped:
    """Stop when the 95 % interval of Wilson of the leader, among trials of it and the next, leaves out one half."""
    ordered = np.sort(counts, axis=2)
    most, tosses = ordered[..., -1], ordered[..., -1] + ordered[..., -2]
    enough = np.array(
        [
            next((hits for hits in range(n + 1) if wilson_interval(hits, n, ALPHA).low > 0.5), n + 1)
            for n in range(TRIALS + 1)
        ]
    )
    return _first(most >= enough[tosses], counts.argmax(axis=2))


def heuristic(counts: Counts) -> Stopped:
    """Stop by the specification's rule; equal outcomes have equal vectors, others none in common."""
    template = from_template("quickstart").as_json()
    template["execution"]["stop_mode"] = "enforcer"
    template["measurement"]["clustering"]["enabled"] = False
    execution = ResolvedExecution.from_json(json.dumps(template["execution"]))
    measurement = ResolvedMeasurement.from_json(json.dumps(template["measurement"]))
    vectors = np.eye(counts.shape[2], dtype=np.float32)
    labels = np.diff(counts, axis=1, prepend=0).argmax(axis=2)
    after = np.full(RUNS, TRIALS + 1)
    for run in range(RUNS):
        monitor = Monitor(measurement, execution)
        for start in range(0, TRIALS, BATCH):
            batch = {n: vectors[labels[run, n]] for n in range(start, start + BATCH)}
            if monitor.measure(batch, "2026-01-01T00:00:00.000Z").row.stop.should_stop:
                after[run] = start + BATCH
                break
    at = np.minimum(after, TRIALS) - 1
    return Stopped(after, counts[np.arange(RUNS), at].argmax(axis=1))


def _first(is_settled: NDArray[np.bool_], leader: NDArray[np.int64]) -> Stopped:
    looks = np.arange(BATCH - 1, TRIALS, BATCH)
    settled = is_settled[:, looks]
    first = settled.argmax(axis=1)
    stops = settled.any(axis=1)
    at = looks[first]
    return Stopped(np.where(stops, at + 1, TRIALS + 1), leader[np.arange(RUNS), at])


RULES: Final = {"certified": certified, "heuristic": heuristic, "peeking": peeking}


def stopping_row(truth: Sequence[float], seed: int) -> dict[str, Any]:
    """Let each rule stop runs of a truth."""
    counts = drawn(truth, seed)
    is_tied = sorted(truth)[-1] == sorted(truth)[-2]
    found: dict[str, Any] = {"truth": list(truth)}
    for name, rule in RULES.items():
        after, leader = rule(counts)
        stops = after <= TRIALS
        wrong = stops & (is_tied | (leader != int(np.argmax(truth))))
        found[name] = {
            "false_stops": float(wrong.mean()),
            "stopped": float(stops.mean()),
            "median_trials": float(np.median(after)) if stops.mean() > 0.5 else None,
        }
    return found


def coverage_row(truth: Sequence[float], seed: int) -> dict[str, Any]:
    """Say how many runs had, up to some trial, an interval that missed the share of any outcome."""
    counts = drawn(truth, seed)
    trials = np.arange(1, TRIALS + 1)
    needed = math.log(len(truth) / ALPHA)
    z = NormalDist().inv_cdf(1 - ALPHA / 2)
    missed = {name: np.zeros((RUNS, TRIALS), dtype=bool) for name in ("anytime", "wilson")}
    for outcome, share in enumerate(truth):
        # Per number of trials, the fewest and the most hits that still have the share in their interval.
        inside: dict[str, NDArray[np.int64]] = {
            name: np.zeros((TRIALS + 1, 2), dtype=np.int64) for name in missed
        }
        for n in trials:
            near = range(n + 1)
            kept = [hits for hits in near if log_evidence(hits, n, share) < needed]
            inside["anytime"][n] = kept[0], kept[-1]
            kept = [hits for hits in near if (hits / n - share) ** 2 <= z * z * share * (1 - share) / n]
            inside["wilson"][n] = (kept[0], kept[-1]) if kept else (1, 0)
        for name, bounds in inside.items():
            seen = counts[..., outcome]
            missed[name] |= (seen < bounds[trials, 0]) | (seen > bounds[trials, 1])
    ever = {name: np.maximum.accumulate(one, axis=1).mean(axis=0) for name, one in missed.items()}
    at = sorted({round(10 ** (n / 12)) for n in range(37)})
    return {
        "truth": list(truth),
        **{name: float(curve[-1]) for name, curve in ever.items()},
        "curve": {"trials": at, **{name: [float(curve[n - 1]) for n in at] for name, curve in ever.items()}},
    }


def labels_of(shares: Sequence[float], chance: np.random.Generator) -> NDArray[np.intp]:
    """Draw the labels of a run."""
    return chance.choice(len(shares), size=SIZE, p=shares)


def answers_of(shares: Sequence[float], chance: np.random.Generator) -> NDArray[np.float64]:
    """Draw unit vectors in 16 dimensions, around a centre for each label."""
    points = np.eye(16)[labels_of(shares, chance)] + chance.normal(0.0, 0.15, (SIZE, 16))
    normed: NDArray[np.float64] = points / np.linalg.norm(points, axis=1, keepdims=True)
    return normed


def personas(lift: float, leanings: NDArray[np.float64], chance: np.random.Generator) -> NDArray[np.intp]:
    """Draw the labels of a run whose personas lean, each trial by its own."""
    return (chance.random(SIZE) < np.clip(leanings + lift, 0.0, 1.0)).astype(np.intp)


def comparisons() -> Iterator[dict[str, Any]]:
    """Compare pairs of runs that are alike, and that are not."""
    free, pairs = Groups(SIZE, SIZE), matched(range(SIZE), range(SIZE))
    for what, other, is_null in (
        ("labels, 60 % yes in both", (0.6, 0.4), True),
        ("labels, 60 % against 80 % yes", (0.8, 0.2), False),
    ):
        rejected = 0
        for seed in range(REPETITIONS):
            chance = np.random.default_rng((1, seed))
            codes = np.concatenate([labels_of((0.6, 0.4), chance), labels_of(other, chance)])
            rejected += compare_categories(codes, free, SHUFFLES, chance).p_value <= ALPHA
        yield {"what": what, "is_null": is_null, "rejected": rejected / REPETITIONS}
    for what, other, is_null in (
        ("vectors, three topics in both", (0.5, 0.3, 0.2), True),
        ("vectors, topics 50/30/20 against 30/30/40 %", (0.3, 0.3, 0.4), False),
    ):
        rejected = 0
        for seed in range(REPETITIONS):
            chance = np.random.default_rng((2, seed))
            points = np.concatenate([answers_of((0.5, 0.3, 0.2), chance), answers_of(other, chance)])
            rejected += compare_clouds(points, free, SHUFFLES, chance).tested.p_value <= ALPHA
        yield {"what": what, "is_null": is_null, "rejected": rejected / REPETITIONS}
    for what, groups, lift in (
        ("same plan, alike, free shuffles", free, 0.0),
        ("same plan, alike, pairs", pairs, 0.0),
        ("same plan, 15 points more yes, free shuffles", free, 0.15),
        ("same plan, 15 points more yes, pairs", pairs, 0.15),
    ):
        rejected = 0
        for seed in range(REPETITIONS):
            chance = np.random.default_rng((3, seed))
            leanings = chance.beta(0.2, 0.2, SIZE)
            codes = np.concatenate([personas(0.0, leanings, chance), personas(lift, leanings, chance)])
            rejected += compare_categories(codes, groups, SHUFFLES, chance).p_value <= ALPHA
        yield {"what": what, "is_null": not lift, "rejected": rejected / REPETITIONS}


def allowed(draws: int) -> float:
    """Return what a rate of at most ALPHA stays below, but for one time in a thousand."""
    return ALPHA + 3.1 * math.sqrt(ALPHA * (1 - ALPHA) / draws)


def findings(results: dict[str, Any]) -> list[str]:
    """Say which promise was not kept."""
    found = [
        f"{row['truth']}: certified {row['certified']['false_stops']:.3f} of the time wrongly"
        for row in results["stopping"]
        if row["certified"]["false_stops"] > allowed(RUNS)
    ]
    found += [
        f"{row['truth']}: anytime intervals missed in {row['anytime']:.3f} of runs"
        for row in results["coverage"]
        if row["anytime"] > allowed(RUNS)
    ]
    return found + [
        f"{row['what']}: {row['rejected']:.3f} rejected"
        for row in results["comparisons"]
        if row["is_null"] and row["rejected"] > allowed(REPETITIONS)
    ]


def tables(results: dict[str, Any]) -> dict[str, list[str]]:
    """Return the tables of the page, by name."""

    def told(part: dict[str, Any]) -> str:
        return f"{part['false_stops']:.1%}".replace("%", " %")

    def sizes(part: dict[str, Any]) -> str:
        median = part["median_trials"]
        return f"{median:,.0f}" if median is not None else f"{part['stopped']:.0%} stop".replace("%", " %")

    stopping = [
        "| true shares | certified: wrong | its median trials | spec's rule: wrong | its median trials "
        "| peeking: wrong | its median trials |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in results["stopping"]:
        cells = [f"{told(row[name])} | {sizes(row[name])}" for name in ("certified", "heuristic", "peeking")]
        stopping.append(f"| {_shares(row['truth'])} | {' | '.join(cells)} |")
    coverage = ["| true shares | anytime intervals | Wilson's, looked at after each trial |", "|---|---|---|"]
    coverage += [
        f"| {_shares(row['truth'])} | {row['anytime']:.1%} | {row['wilson']:.1%} |".replace("%", " %")
        for row in results["coverage"]
    ]
    comparing = ["| runs of 60 trials | found to differ at 5 % |", "|---|---|"]
    comparing += [
        f"| {row['what']} | {row['rejected']:.1%} |".replace("%", " %").replace("  %", " %")
        for row in results["comparisons"]
    ]
    return {"stopping": stopping, "coverage": coverage, "comparisons": comparing}


def _shares(truth: Sequence[float]) -> str:
    return " / ".join(f"{share:g}" for share in truth)


def draw_picture(results: dict[str, Any], path: Path) -> None:
    """Draw how often intervals ever missed, and how often rules stopped wrongly."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    colours = {"anytime": "#1b6ca8", "wilson": "#c2452d"}
    for number, row in enumerate(results["coverage"]):
        for name, colour in colours.items():
            label = {"anytime": "anytime-valid", "wilson": "Wilson 95 %, each"}[name]
            left.plot(
                row["curve"]["trials"],
                row["curve"][name],
                color=colour,
                alpha=0.8,
                lw=1.4,
                label=label if not number else None,
            )
    left.axhline(ALPHA, color="black", lw=1, ls="--", label="promised: at most 5 %")
    left.set(
        xscale="log",
        xlabel="trials so far",
        ylabel="runs",
        title="Some interval has missed its share by now",
        ylim=(0, None),
    )
    left.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}".replace("%", " %"))
    left.legend(frameon=False)
    names = {"certified": "certified", "heuristic": "the specification's rule", "peeking": "peeking at 95 %"}
    width = 0.27
    places = np.arange(len(results["stopping"]))
    for number, (name, label) in enumerate(names.items()):
        heights = [row[name]["false_stops"] for row in results["stopping"]]
        right.bar(
            places + (number - 1) * width,
            heights,
            width,
            label=label,
            color=("#1b6ca8", "#8a8a8a", "#c2452d")[number],
        )
    right.axhline(ALPHA, color="black", lw=1, ls="--")
    right.set_xticks(
        places,
        ["\n".join(f"{share:g}" for share in row["truth"]) for row in results["stopping"]],
        fontsize=8,
    )
    right.set(
        xlabel="true shares of the outcomes",
        ylabel="runs",
        title="Stopped with the wrong mode, or without one",
    )
    right.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}".replace("%", " %"))
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120, metadata={"Software": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave the committed results as they are")
    options = parser.parse_args()
    results: dict[str, Any] = {
        "alpha": ALPHA,
        "runs": RUNS,
        "trials": TRIALS,
        "batch": BATCH,
        "repetitions": REPETITIONS,
        "shuffles": SHUFFLES,
        "stopping": [],
        "coverage": [],
        "comparisons": [],
    }
    for seed, truth in enumerate(TRUTHS, 1):
        results["stopping"].append(stopping_row(truth, seed))
        results["coverage"].append(coverage_row(truth, seed))
        print(f"stopping: {len(results['stopping'])} of {len(TRUTHS)} truths", flush=True)
    for row in comparisons():
        results["comparisons"].append(row)
        print(f"comparing: {row['what']}: {row['rejected']:.3f}", flush=True)
    if not options.no_write:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        draw_picture(results, PICTURE)
    for name, lines in tables(results).items():
        print(f"\n{name}", *lines, sep="\n")
    wrong = findings(results)
    print("", *wrong or ["every promise was kept"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
