"""`make soak`: weeks that are too many for CI; says what it lived and found, and adds a row to the table of it.

A row is a range of seeds, which `moot chaos` lives. The rows stand in `tests/soak/results.json`, for machines, and
`tests/soak/results.md`, for people; a range that is lived again takes the place of its row. The exit code is 1 on a
finding.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from moot.chaos.run import ChaosOptions, ChaosResult, Week, run

HERE = Path(__file__).parent
WEEKS = 200


def row(result: ChaosResult) -> dict[str, Any]:
    """Return what the table says of a range of seeds."""
    said = result.as_json()
    first, weeks = said["seed"], said["weeks"]
    figures = {name: said[name] for name in ("messages", "lives", "clocks", "buses", "faults", "wall_s")}
    rows = said["rows"]
    findings = {str(one["seed"]): one["says"][:3] for one in said["findings"]}
    return {
        "seeds": [first, first + weeks - 1],
        "rate": said["rate"],
        **figures,
        "rows": rows,
        "never": said["never"],
        "findings": findings,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table for people."""
    lines = [
        "# Weeks that were lived with faults",
        "",
        "Written by `tests/soak/run.py`; do not edit. `moot chaos --seed N` lives one of them again.",
        "",
        "| seeds | weeks | messages | lives | faults | rows of the machines' tables | minutes | weeks with findings |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in rows:
        first, last = one["seeds"]
        struck = ", ".join(f"{n:,} {name}" for name, n in one["faults"].items())
        figures = (f"{last - first + 1:,}", f"{one['messages']:,}", f"{one['lives']:,}", struck)
        taken = f"{sum(map(bool, one['rows'].values()))} of {len(one['rows'])}"
        minutes = f"{one['wall_s'] / 60:.0f}"
        lines.append(
            f"| {first} to {last} | {' | '.join(figures)} | {taken} | {minutes} | {len(one['findings'])} |"
        )
    lines.append("")
    lines += [f"- seed {seed}: {found[0]}" for one in rows for seed, found in one["findings"].items()]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Live a range of seeds and add its row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--weeks", type=int, default=WEEKS, help="how many")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--no-write", action="store_true", help="leave the committed results as they are")
    options = parser.parse_args()
    lived = 0

    def tell(week: Week) -> None:
        nonlocal lived
        lived += 1
        if week.findings:
            print(f"{lived} of {options.weeks}: seed {week.seed}: {week.findings[0]}", flush=True)
        elif not lived % 10:
            print(f"{lived} of {options.weeks}", flush=True)

    result = run(ChaosOptions(seed=options.first, weeks=options.weeks, jobs=options.jobs), tell)
    if not options.no_write:
        file = HERE / "results.json"
        new = row(result)
        known = [one for one in json.loads(file.read_text()) if one["seeds"] != new["seeds"]]
        rows = sorted([*known, new], key=lambda one: one["seeds"])
        file.write_text(json.dumps(rows, indent=1) + "\n")
        (HERE / "results.md").write_text(table(rows))
    if never := result.never():
        print(f"never struck: {', '.join(never)}", flush=True)
    print(f"{len(result.found)} weeks with findings" if result.found else "nothing was found", flush=True)
    return 1 if result.found else 0


if __name__ == "__main__":
    sys.exit(main())
