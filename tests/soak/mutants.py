"""Whether chaos finds what it is for: `python -m tests.soak.mutants` switches safeguards off and looks for each.

Each safeguard of `tests.soak.switches` is switched off in a process of its own, which then lives weeks as `moot chaos`
does, from the first seed on, until one of them has a finding. What came of it stands in `tests/soak/mutants.json`, for
machines, and in the table of docs/design/faults.md, for people. Names on the command line: only those.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from moot.chaos.faults import CLASSES
from moot.chaos.plan import WEEK
from moot.chaos.run import ChaosOptions, week_of
from moot.laws import LAWS
from tests.soak.switches import SAFEGUARDS, Safeguard, switch_off

HERE: Final = Path(__file__).parent
RESULTS: Final = HERE / "mutants.json"
PAGE: Final = HERE.parents[1] / "docs" / "design" / "faults.md"
MARKS: Final = ("<!-- mutants -->\n", "<!-- end of mutants -->\n")

FIRST: Final = 1
"""The first seed."""
MOST: Final = 60
"""So many weeks are lived at most."""

UNSEEN: Final = "weeks are drawn otherwise since it was"

NOTHING: Final = "nothing"
"""With nothing switched off the same weeks have no finding: else one would prove nothing."""

LAW_NAMES: Final = frozenset(law.name for law in LAWS)
"""Of what one week finds, a law says best what is wrong."""

BY_NAME: Final[Mapping[str, Safeguard]] = {one.name: one for one in SAFEGUARDS}


def look(name: str, *, most: int = MOST, days: float = WEEK, classes: tuple[str, ...] = ()) -> dict[str, Any]:
    """Switch a safeguard off, in this process and for good, and live weeks until one has a finding.

    Args:
        name: Of the safeguard, or `NOTHING`.
        most: How many weeks at most.
        days: About how long each is.
        classes: The faults that are let loose; empty: those that the safeguard names.

    Returns:
        The row of the table: `weeks` that were lived, `wall_s`, and `seed` and `finding` where there is one.
    """
    safeguard = BY_NAME.get(name)
    if safeguard is not None:
        switch_off(safeguard)
    let_loose = classes or (safeguard.classes if safeguard is not None else CLASSES)
    on_files = safeguard is not None and safeguard.on_files
    options = ChaosOptions(seed=FIRST, weeks=most, days=days, classes=let_loose, on_files=on_files)
    row: dict[str, Any] = {}
    began, weeks = time.monotonic(), 0
    while weeks < most and not row:
        week = week_of((options, FIRST + weeks))
        weeks += 1
        if week.findings:
            first = min(map(_short, week.findings), key=lambda said: _law(said) not in LAW_NAMES)
            row |= {"seed": week.seed, "finding": first, "findings": len(week.findings)}
    return {**row, "weeks": weeks, "wall_s": round(time.monotonic() - began, 1)}


def _short(finding: str) -> str:
    """Return a finding without its seq, whose words tell it from others."""
    return finding.partition(": ")[2][:300]


def check_of(row: Mapping[str, Any]) -> str:
    """Return what found it: a law, or a check of `moot verify` with its rule."""
    return _law(str(row["finding"]))


def _law(said: str) -> str:
    return said.partition(": ")[0]


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table for people, in the order of the safeguards."""
    lines = ["| without | rule | weeks | seconds | seed | found by |", "|---|---|---|---|---|---|"]
    missed = []
    for one in SAFEGUARDS:
        row = rows.get(one.name)
        if row is None:
            missed.append(f"- {one.says}: not looked for; {one.why or UNSEEN}.")
            continue
        cells = [one.says, one.rule, str(row["weeks"]), f"{row['wall_s']:.0f}"]
        if "seed" in row:
            seed = str(row["seed"])
            how = [f"--faults {','.join(one.classes)}"] if one.classes != CLASSES else []
            how += ["--files"] if one.on_files else []
            seed += f" of `{' '.join(how)}`" if how else ""
            lines.append(f"| {' | '.join(cells)} | {seed} | {check_of(row)} |")
        else:
            lines.append(f"| {' | '.join(cells)} | | not found |")
            missed.append(f"- {one.says}: {one.why or 'no week came to where it matters'}.")
    found = sum("seed" in row for row in rows.values())
    head = f"{found} of {len(SAFEGUARDS)} were found."
    if NOTHING in rows and "seed" not in rows[NOTHING]:
        head += f" With nothing switched off, {rows[NOTHING]['weeks']} weeks from seed 1 on had no finding."
    head += "\n"
    tail = ["", "Not found:", "", *missed] if missed else []
    return "\n".join([head, *lines, *tail]) + "\n"


def page_with(text: str, page: str) -> str:
    """Return a page with a text between its marks."""
    begin, end = MARKS
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


def main() -> int:
    """Look for each, and write what came of it; exit code 1 when one that should be found was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="safeguards: all of them unless some are named")
    parser.add_argument("--most", type=int, default=MOST, help="weeks at most for each")
    parser.add_argument("--page-only", action="store_true", help="write the page again from what is known")
    options = parser.parse_args()
    names = (*BY_NAME, NOTHING)
    if unknown := sorted(set(options.names) - set(names)):
        parser.error(f"there is no safeguard {unknown[0]}: choose from {', '.join(names)}")
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in () if options.page_only else options.names or names:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            row = rows[name] = pool.apply(look, (name,), {"most": options.most})
        told = f"seed {row['seed']}: {row['finding']}" if "seed" in row else "not found"
        print(f"{name}: {row['weeks']} weeks, {row['wall_s']:.0f} s: {told}", flush=True)
        RESULTS.write_text(json.dumps({n: rows[n] for n in names if n in rows}, indent=1) + "\n")
    if PAGE.exists():
        PAGE.write_text(page_with(table(rows), PAGE.read_text()))
    missed = [one.name for one in SAFEGUARDS if not one.why and "seed" not in rows.get(one.name, {})]
    return int(bool(missed) or "seed" in rows.get(NOTHING, {}))


if __name__ == "__main__":
    sys.exit(main())
