"""What is wrong with what a world left: its log, and what its publishers were told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from moot.logs.inmemory import Kept
from moot.logs.source import LogSource
from moot.protocols.kernel.envelope import Envelope
from moot.verify.verifier import Verifier

MOST: Final = 20
"""Later findings may follow from the first."""


class Finding(NamedTuple):
    """Something that is wrong.

    Attributes:
        name: What kind of thing: a law, an invariant of `moot verify` with its rule, `liveness`, `bounded`, `secret`,
            `overspent`, `acknowledged`, `sight`, `host`, `act`.
        seq: Where it shows.
        says: What is wrong.
    """

    name: str
    seq: int
    says: str

    def __str__(self) -> str:
        """Return it as a line."""
        return f"seq {self.seq}: {self.name}: {self.says}"


def judge(
    log: Sequence[Envelope], acked: Mapping[str, int], *, evidence: bool, source: LogSource | None = None
) -> tuple[list[Finding], list[str]]:
    """Judge a log at its end.

    Args:
        log: All of it.
        acked: The seq with which each id was acknowledged.
        evidence: Whether backtests, fills and prices are computed again.
        source: The log as it stands on files; None: as it is given.

    Returns:
        Findings, and what `moot verify` points out besides.
    """
    verifier = Verifier(source or Kept("world", log), evidence=evidence, max_findings=MOST)
    report = verifier.run(None)
    found = [Finding(f"{one.invariant} [{one.rule}]", one.seq, one.why) for one in report.findings]
    return [*found, *_lost(log, acked)], [str(one) for one in report.warnings]


def _lost(log: Sequence[Envelope], acked: Mapping[str, int]) -> Iterator[Finding]:
    """Yield what was acknowledged and does not stand in the log where its publisher was told."""
    for key, seq in acked.items():
        if seq > len(log) or log[seq - 1].id != key:
            yield Finding("acknowledged", seq, f"{key} was acknowledged and does not stand there")
