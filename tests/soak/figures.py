"""Recompute every figure of two societies' 35 days from their logs alone: `make soak`, or this module by itself."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.independent.recomputed import mismatches
from tests.independent.simulated import log_of

DAYS, SEEDS = 35, (1, 7)


def main() -> int:
    """Say what was compared and what differs; 1 when anything does."""
    found = 0
    for seed in SEEDS:
        with TemporaryDirectory() as folder:
            wrong, compared = mismatches(log_of(Path(folder), days=DAYS, seed=seed))
        print(
            f"figures, {DAYS} days, seed {seed}: {compared.total()} messages compared, {len(wrong)} mismatches"
        )
        print(*(f"  {line}" for line in wrong[:50]), sep="\n" if wrong else "")
        found += len(wrong)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
