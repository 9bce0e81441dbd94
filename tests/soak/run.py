"""`make soak`: what is too long for CI; says what it ran and found, and writes a table of it.

Each part is a function that lives seeds and returns rows; a new long run is a row of `PARTS`. Results stand in
`tests/soak/results.json`, for machines, and `tests/soak/results.md`, for people. The exit code is 1 on a finding.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import structlog

from moot.simulation.worlds.plan import draw
from moot.simulation.worlds.world import live

HERE = Path(__file__).parent
SEEDS = 200
DAYS = 0.3

Rows = Iterator[dict[str, Any]]


def world(given: tuple[int, float]) -> dict[str, Any]:
    """Live one world; its row is plain data."""
    seed, days = given
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    plan = draw(seed, days=days)
    try:
        outcome = live(plan)
    except Exception as fault:
        return row(seed, plan.clock, plan.bus, 0, 0, {}, [f"it failed: {type(fault).__name__}: {fault}"])
    return row(
        seed, plan.clock, plan.bus, outcome.messages, outcome.lives, outcome.happened, outcome.findings
    )


def row(
    seed: int, clock: str, bus: str, messages: int, lives: int, happened: dict[str, int], findings: list[str]
) -> dict[str, Any]:
    return {
        "seed": seed,
        "clock": clock,
        "bus": bus,
        "messages": messages,
        "lives": lives,
        "happened": dict(sorted(happened.items())),
        "findings": findings[:5],
    }


def worlds(seeds: range, days: float, jobs: int) -> Rows:
    """Live a world a seed (moot.simulation.worlds)."""
    given = [(seed, days) for seed in seeds]
    if jobs == 1:
        yield from map(world, given)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(world, given)


PARTS: dict[str, Callable[[range, float, int], Rows]] = {"worlds": worlds}
"""What there is to run, by name."""


def summary(
    part: str, rows: list[dict[str, Any]], seeds: range, days: float, wall_s: float
) -> dict[str, Any]:
    happened: Counter[str] = Counter()
    for one in rows:
        happened.update(one["happened"])
    return {
        "part": part,
        "seeds": f"{seeds.start} to {seeds.stop - 1}",
        "days": days,
        "worlds": len(rows),
        "messages": sum(one["messages"] for one in rows),
        "lives": sum(one["lives"] for one in rows),
        "by_clock": dict(sorted(Counter(one["clock"] for one in rows).items())),
        "by_bus": dict(sorted(Counter(one["bus"] for one in rows).items())),
        "happened": dict(sorted(happened.items())),
        "wall_s": round(wall_s),
        "findings": {str(one["seed"]): one["findings"] for one in rows if one["findings"]},
    }


def table(parts: dict[str, dict[str, Any]]) -> str:
    lines = ["# What `make soak` ran and found", "", "Written by `tests/soak/run.py`; do not edit.", ""]
    for part in parts.values():
        lines += [f"## {part['part']}, seeds {part['seeds']}, about {part['days']} days each", ""]
        lines += ["| what | how often |", "|---|---|"]
        lines += [f"| {name} | {part[name]:,} |" for name in ("worlds", "lives", "messages")]
        lines += [f"| in {clock} time | {count} |" for clock, count in part["by_clock"].items()]
        lines += [f"| on the bus {bus} | {count} |" for bus, count in part["by_bus"].items()]
        lines += [f"| {what} | {count} |" for what, count in part["happened"].items()]
        lines += [f"| worlds with findings | {len(part['findings'])} |", ""]
        lines += [f"- seed {seed}: {found[0]}" for seed, found in part["findings"].items()]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(PARTS), help="one part alone")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many")
    parser.add_argument("--days", type=float, default=DAYS, help="about how many days each society lives")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--no-write", action="store_true", help="leave the committed results as they are")
    options = parser.parse_args()
    file = HERE / "results.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    seeds = range(options.first, options.first + options.seeds)
    found = 0
    for name, part in PARTS.items():
        if options.only not in (None, name):
            continue
        began = time.monotonic()
        rows: list[dict[str, Any]] = []
        for one in part(seeds, options.days, options.jobs):
            rows.append(one)
            said = f"{name}: {len(rows)} of {len(seeds)}"
            if one["findings"]:
                print(
                    f"{said}: seed {one['seed']}, {one['clock']} time, {one['bus']}: {one['findings'][0]}",
                    flush=True,
                )
            elif not len(rows) % 10:
                print(f"{said}, {sum(bool(r['findings']) for r in rows)} with findings", flush=True)
        rows.sort(key=lambda one: one["seed"])
        known[name] = summary(name, rows, seeds, options.days, time.monotonic() - began)
        found += len(known[name]["findings"])
    if not options.no_write:
        file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        (HERE / "results.md").write_text(table(known))
    print(f"{found} worlds with findings" if found else "nothing was found", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
