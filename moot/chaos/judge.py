"""What is wrong with what a world left: its log, and what its publishers were told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from moot.logs.inmemory import Kept
from moot.logs.source import LogSource
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import Audit
from moot.protocols.kernel.rule_faults import is_own
from moot.verify.verifier import Verifier

MOST: Final = 20
"""Later findings may follow from the first."""


class Finding(NamedTuple):
    """Something that is wrong.

    Attributes:
        name: What kind of thing: a law, an invariant of `moot verify` with its rule, `liveness`, `bounded`, `secret`,
            `overspent`, `acknowledged`, `sight`, `host`, `act`, `rule fault`.
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
    return [*found, *own_faults(log), *_lost(log, acked)], [str(one) for one in report.warnings]


def own_faults(log: Iterable[Envelope]) -> Iterator[Finding]:
    """Yield the exceptions in rules of Moot's own protocols: their cases ended, but each is a bug (R-G14)."""
    for env in log:
        if isinstance(env.body, Audit) and is_own(env.body):
            yield Finding("rule fault", env.seq, env.body.reason)


def _lost(log: Sequence[Envelope], acked: Mapping[str, int]) -> Iterator[Finding]:
    """Yield what was acknowledged and does not stand in the log where its publisher was told."""
    for key, seq in acked.items():
        if seq > len(log) or log[seq - 1].id != key:
            yield Finding("acknowledged", seq, f"{key} was acknowledged and does not stand there")
