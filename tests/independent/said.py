"""What `moot log --json` prints, read as plain data: nothing of Moot is imported here or by its siblings.

The siblings recompute from it every figure that reports publish, by the words of the rulings, in exact decimals:
`standings` (where strategies stand), `money` (the desk's books), `desk` (System B's reports), `halvings` (what a
conservative action halves, and that nothing grows meanwhile), `debates` (how each ended), `research` (System A's
reports). `recomputed` compares them with a whole log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final, NamedTuple

ZERO: Final = Decimal(0)
CENT: Final = Decimal("0.01")
SIXTH: Final = Decimal("0.000001")
TINY: Final = Decimal("0.0000001")
YEAR: Final = Decimal(252)


class Said(NamedTuple):
    """One message of a log, its numbers as decimals."""

    seq: int
    at: datetime
    author: str
    kind: str
    case: str
    answers: str
    body: dict[str, Any]


def read(lines: Iterable[str]) -> list[Said]:
    """Read a log's lines, without the messages that a VIOLATION says count for nothing."""
    told = []
    for line in lines:
        found = json.loads(line, parse_float=Decimal)
        body = found["body"]
        told.append(
            Said(
                found["seq"],
                instant(found["sent_at"]),
                found["author"],
                body["type"],
                found["case_id"] or "",
                found["obligation_id"] or "",
                body,
            )
        )
    broken = {said.body["of_seq"] for said in told if said.kind == "VIOLATION"}
    # A fill is a fact, whatever rule it breaks (K11).
    return [said for said in told if said.seq not in broken or said.kind == "EXECUTION"]


def instant(text: str) -> datetime:
    """Read an instant of the log."""
    return datetime.fromisoformat(text)


def cents(amount: Decimal) -> Decimal:
    """Round money to cents, half to even."""
    return amount.quantize(CENT, ROUND_HALF_EVEN)


def part(of: Decimal, whole: Decimal) -> Decimal:
    """Return a part of a whole; a whole of nothing or less counts as one dollar."""
    return of / (whole if whole > 0 else Decimal(1))


def sharpe(results: list[Decimal]) -> Decimal | None:
    """Return the yearly Sharpe ratio of P&L by session; None below two or without variance."""
    n = len(results)
    if n < 2:
        return None
    mean = sum(results, ZERO) / n
    variance = sum(((one - mean) ** 2 for one in results), ZERO) / (n - 1)
    return mean / variance.sqrt() * YEAR.sqrt() if variance > 0 else None


def deepest(start: Decimal, results: list[Decimal]) -> Decimal:
    """Return the deepest fall under a peak of a curve that starts somewhere: a fraction, positive."""
    made = peak = found = ZERO
    for one in results:
        made += one
        peak = max(peak, made)
        found = max(found, part(peak - made, start + peak))
    return found


def differ(where: str, given: Any, wanted: Any) -> Iterator[str]:
    """Say where a published figure is not the recomputed one: ratios to 6 digits, all else exactly."""
    is_ratio = isinstance(wanted, Decimal) and wanted != cents(wanted)
    if isinstance(given, Decimal | int) and isinstance(wanted, Decimal) and (is_ratio or given != wanted):
        if abs(Decimal(given) - wanted) <= SIXTH / 2 + TINY:
            return
    elif given == wanted:
        return
    yield f"{where}: published {given}, recomputed {wanted}"


def differ_money(where: str, given: Any, wanted: Decimal) -> Iterator[str]:
    """Say where published dollars are not the recomputed ones, rounded to cents."""
    if Decimal(given) != cents(wanted):
        yield f"{where}: published {given}, recomputed {cents(wanted)}"
