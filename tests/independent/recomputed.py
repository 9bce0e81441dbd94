"""Recompute a whole log's figures: `python -m tests.independent.recomputed LOG.jsonl`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.independent.desk import Desk
from tests.independent.halvings import Halvings
from tests.independent.research import Research
from tests.independent.said import read


def mismatches(lines: Iterable[str]) -> tuple[list[str], Counter[str]]:
    """Return what a log publishes or halves wrongly, a line each, and how many messages of each type were compared."""
    desk = Desk()
    research = Research(desk.money)
    halvings = Halvings(desk.money)
    found = []
    for said in read(lines):
        found += research.take(said)
        found += halvings.take(said)
        found += desk.take(said)
    return found, Counter(desk.compared) + research.compared + halvings.compared


if __name__ == "__main__":
    with Path(sys.argv[1]).open(encoding="utf-8") as log:
        wrong, compared = mismatches(log)
    print(*wrong, sep="\n")
    print(
        f"{len(wrong)} mismatches; compared: {', '.join(f'{n} {kind}' for kind, n in sorted(compared.items()))}"
    )
