"""`make soak`: weeks that are too many for CI; says what it lived and found, and adds them to the table of it.

`moot chaos` lives the weeks, by ranges of seeds. The ranges stand in `tests/soak/results.json`, for machines, and
`tests/soak/results.md`, for people, with how often each row of the machines' tables was taken. They are written every
few weeks, so that a soak can be stopped: the same command goes on where it stood. Ranges that meet are one. What was
lived while plans were drawn otherwise stays beside them, for its seeds were other weeks. Weeks with a finding keep
their line until `--mended` lives them again and finds nothing; what they count stays as it was. The exit code is 1 on
a finding.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from moot.chaos.coverage import SEP, all_rows
from moot.chaos.faults import FAULTS, RATE
from moot.chaos.plan import draw
from moot.chaos.run import ChaosOptions, ChaosResult, Week, run
from tests.soak.unreached import UNREACHED

HERE = Path(__file__).parent
RESULTS: Final = HERE / "results.json"
PAGE: Final = HERE / "results.md"
WEEKS = 200
KEPT: Final = 20
"""After so many weeks what was lived is written."""

SUMS: Final = ("messages", "lives", "wall_s")
COUNTS: Final = ("clocks", "buses", "faults", "struck", "rows")
"""Of `struck`: in how many parts of the range a fault struck at all."""

FAULT_NAMES: Final = tuple(f"{kind}.{name}" for kind, rows in FAULTS.items() for name in rows)

Range = dict[str, Any]


def plans() -> str:
    """Return what tells how plans are drawn: the same for as long as a seed is the same week."""
    drawn = "".join(draw(seed).model_dump_json() for seed in range(1, 101))
    return hashlib.sha256(drawn.encode()).hexdigest()[:12]


def range_of(options: ChaosOptions, weeks: Sequence[Week], wall_s: float) -> Range:
    """Return what the table says of weeks that follow each other."""
    result = ChaosResult(options, list(weeks), wall_s)
    never = set(result.never())
    said = {**result.as_json(), "struck": {name: 1 for name in FAULT_NAMES if name not in never}}
    return {
        "seeds": [weeks[0].seed, weeks[-1].seed],
        "plans": plans(),
        "rate": said["rate"],
        **{name: said[name] for name in (*SUMS, *COUNTS)},
        "findings": {str(one["seed"]): one["says"][:3] for one in said["findings"]},
    }


def together(ranges: Sequence[Range]) -> list[Range]:
    """Return ranges in order, those that meet as one."""
    found: list[Range] = []
    for one in sorted(ranges, key=lambda one: one["seeds"]):
        before = found[-1] if found else None
        if before is None or before["seeds"][1] + 1 != one["seeds"][0]:
            found.append(one)
            continue
        found[-1] = {
            **before,
            "seeds": [before["seeds"][0], one["seeds"][1]],
            **{name: round(before[name] + one[name], 1) for name in SUMS},
            **{name: _sum(before[name], one[name]) for name in COUNTS},
            "findings": {**before["findings"], **one["findings"]},
        }
    return found


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in dict.fromkeys((*one, *other))}


def missing(ranges: Sequence[Range], first: int, weeks: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of seeds that are not lived yet, as first seed and count."""
    seed, end = first, first + weeks
    for one in together(ranges):
        begins, ends = one["seeds"]
        if ends < seed or begins >= end:
            continue
        if begins > seed:
            yield seed, begins - seed
        seed = ends + 1
    if seed < end:
        yield seed, end - seed


def mended(ranges: Sequence[Range], live: Callable[[int], Range]) -> list[Range]:
    """Live the weeks with findings again; return the ranges with what is found in them now."""
    found = []
    for one in ranges:
        again = [live(int(seed))["findings"] for seed in one["findings"]]
        found.append({**one, "findings": {seed: says for each in again for seed, says in each.items()}})
    return found


def _week(seed: int) -> Range:
    options = ChaosOptions(seed=seed)
    lived = run(options, lambda _week: None)
    return range_of(options, lived.weeks, lived.wall_s)


def known(*, is_past: bool = False) -> list[Range]:
    """Return the ranges that stand: of weeks that a seed still draws, or of those that it drew in the past."""
    ranges: list[Range] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    today = (plans(), RATE)
    return [one for one in ranges if ((one["plans"], one["rate"]) != today) is is_past]


def taken(ranges: Sequence[Range]) -> dict[str, int]:
    """Return how often each row of the machines' tables was taken, those at zero too."""
    found: Counter[str] = Counter()
    for one in ranges:
        found.update(one["rows"])
    return {name: found[name] for name in all_rows()}


def page(ranges: Sequence[Range]) -> str:
    """Return the page for people."""
    lines = [
        "# Weeks that were lived with faults",
        "",
        "Written by `tests/soak/run.py`; do not edit. `moot chaos --seed N` lives one of them again, if it",
        "is of the plans that seeds draw today, which are those of the last row. Rows of one or two seeds are",
        "weeks that were picked by their plans, for they might come to what no other week had come to.",
        "",
        "| plans | seeds | weeks | messages | lives | faults | rows of the machines' tables | minutes "
        "| weeks with findings |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in ranges:
        first, last = one["seeds"]
        struck = ", ".join(f"{n:,} {name}" for name, n in one["faults"].items())
        figures = (f"{last - first + 1:,}", f"{one['messages']:,}", f"{one['lives']:,}", struck)
        rows = f"{sum(map(bool, one['rows'].values()))} of {len(one['rows'])}"
        minutes = f"{one['wall_s'] / 60:.0f}"
        lines.append(
            f"| {one['plans']} | {first} to {last} | {' | '.join(figures)} | {rows} | {minutes} "
            f"| {len(one['findings'])} |"
        )
    lines.append("")
    said = [f"- seed {seed}: {found[0]}" for one in ranges for seed, found in one["findings"].items()]
    lines += [*said, ""] if said else []
    return "\n".join([*lines, *_rows(taken(ranges))]).rstrip() + "\n"


def _rows(counts: dict[str, int]) -> Iterator[str]:
    """Yield how often each row was taken, and why some never are."""
    never = [name for name, n in counts.items() if not n]
    yield "## Rows of the machines' tables"
    yield ""
    yield (
        f"How often each move of [the tables](../../docs/reference/states.md) was made in all of these weeks: "
        f"{len(counts) - len(never)} of {len(counts)} were. A row that always refuses counts what it refused."
    )
    yield ""
    yield "| case | phase | what makes the move | times |"
    yield "|---|---|---|---|"
    for name, n in counts.items():
        yield f"| {' | '.join(name.split(SEP))} | {n:,} |"
    if never:
        yield ""
        yield "Never made:"
        yield ""
        yield from (
            f"- {name.replace(SEP, ', ')}: {UNREACHED.get(name, 'no week came there yet')}." for name in never
        )


def write(today: Sequence[Range]) -> None:
    """Write both files with the ranges of today's plans, each at once: a soak may be stopped at any moment."""
    ranges = [*known(is_past=True), *today]
    for file, text in ((RESULTS, json.dumps(ranges, indent=1) + "\n"), (PAGE, page(ranges))):
        new = file.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(file)


def main() -> int:
    """Live the weeks of a range that were not lived yet, and add them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--weeks", type=int, default=WEEKS, help="how many")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--no-write", action="store_true", help="live all of them, and leave the results as they are"
    )
    parser.add_argument(
        "--mended", action="store_true", help="live only the weeks with findings, and note what is found now"
    )
    options = parser.parse_args()
    ranges = [] if options.no_write else known()
    if options.mended:
        ranges, options.weeks = mended(ranges, _week), 0
    for first, weeks in list(missing(ranges, options.first, options.weeks)):
        ranges = _live(first, weeks, options.jobs, ranges, is_written=not options.no_write)
    if not options.no_write:
        write(ranges)
    if never := [name for name in FAULT_NAMES if not any(one["struck"].get(name) for one in ranges)]:
        print(f"never struck: {', '.join(never)}", flush=True)
    found = sum(len(one["findings"]) for one in ranges)
    print(f"{found} weeks with findings" if found else "nothing was found", flush=True)
    return 1 if found else 0


def _live(first: int, count: int, jobs: int, ranges: list[Range], *, is_written: bool) -> list[Range]:
    """Live weeks that follow each other, and return the ranges with them."""
    options = ChaosOptions(seed=first, weeks=count, jobs=jobs)
    fresh: list[Week] = []
    lived = 0

    def keep() -> None:
        nonlocal ranges
        if fresh:
            ranges = together([*ranges, range_of(options, fresh, sum(week.wall_s for week in fresh))])
            fresh.clear()
        if is_written:
            write(ranges)

    def tell(week: Week) -> None:
        nonlocal lived
        lived += 1
        fresh.append(week)
        if week.findings:
            print(f"{lived} of {count}: seed {week.seed}: {week.findings[0]}", flush=True)
        if not lived % KEPT:
            print(f"{lived} of {count}", flush=True)
            keep()

    run(options, tell)
    keep()
    return ranges


if __name__ == "__main__":
    sys.exit(main())
