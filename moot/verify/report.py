"""What a verification found: findings in the order of the log, what was not borne out, warnings, figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

Invariant = Literal[
    "readable",
    "hash",
    "head",
    "anchor",
    "dense_seq",
    "unique_id",
    "time",
    "valid_body",
    "secret",
    "permission",
    "envelope",
    "counted_id",
    "lifecycle",
    "clock",
    "officer",
    "violation",
    "settled",
    "money",
    "arena",
    "panel",
    "principle",
    "budget",
    "call",
    "evidence",
]
"""What `moot verify` holds a log to; the name that a finding goes by."""

INTEGRITY: Final = frozenset({"readable", "valid_body", "hash", "head", "anchor", "dense_seq", "unique_id"})
"""Breaks of the log itself; what the rules find beside one mostly follows from it."""

MAX_FINDINGS: Final = 20
"""After so many the verification stops: what comes later mostly follows from what came first."""


class Finding(NamedTuple):
    """Something in a log that cannot be.

    Attributes:
        seq: The offending message; where one is missing, the place where it is missed.
        line: Line of the file or row of the table, 0 for what is wrong with the log as a whole.
        invariant: Which invariant does not hold, or which law by its name.
        rule: What is behind it: a spec section, a ruling (`R-D7`) or a kernel number (`K15`), of a law perhaps several.
        why: One sentence.
    """

    seq: int
    line: int
    invariant: str
    rule: str
    why: str

    def __str__(self) -> str:
        """Write it as one line."""
        return f"seq {self.seq}: {self.why} [{self.invariant}, {self.rule}]"


class Remark(NamedTuple):
    """Something that a person should know and that breaks no rule.

    Attributes:
        seq: The first message it concerns.
        messages: How many it concerns.
        why: One sentence about the first.
    """

    seq: int
    messages: int
    why: str

    def __str__(self) -> str:
        """Write it as one line."""
        more = f", and {self.messages - 1} more like it" if self.messages > 1 else ""
        return f"seq {self.seq}: {self.why}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a verification found.

    Attributes:
        ok: Whether every invariant holds; of a strict verification also, whether nothing is `unproven`.
        messages: How many lines were judged.
        findings: What is wrong, the cause first where it can be told.
        unproven: What the log lets anybody compute again and was not, or came out otherwise without being wrong.
        warnings: What else there is to know.
        heard: How many messages were taken as said, by whose they are; nobody computes an opinion again.
        people: Number of those messages that each person wrote.
        is_complete: Whether the log was read to its end; False after `MAX_FINDINGS`.
        figures: What the log holds, as `Tally.figures` says.
    """

    ok: bool
    messages: int
    findings: tuple[Finding, ...] = ()
    unproven: tuple[Remark, ...] = ()
    warnings: tuple[Remark, ...] = ()
    heard: Mapping[str, int] = field(default_factory=dict)
    people: Mapping[str, int] = field(default_factory=dict)
    is_complete: bool = True
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """Say how far the findings may be trusted to be all, and each for itself; "" when there is none."""
        if not self.findings:
            return ""
        if not self.is_complete:
            return "the check stopped early; the later ones may follow from the first, and there may be more"
        return "later findings may follow from the first" if len(self.findings) > 1 else ""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data, for `--json`."""
        return {
            "ok": self.ok,
            "messages": self.messages,
            "complete": self.is_complete,
            "note": self.note,
            "findings": [finding._asdict() for finding in self.findings],
            "unproven": [remark._asdict() for remark in self.unproven],
            "warnings": [warning._asdict() for warning in self.warnings],
            "heard": dict(self.heard),
            "people": dict(self.people),
            "figures": dict(self.figures),
        }


class Findings:
    """Collects findings, warnings and what is not borne out while a log is read.

    Attributes:
        line: Line that is being judged.
        is_full: Whether the limit is reached.
    """

    def __init__(self, limit: int = MAX_FINDINGS) -> None:
        """Start with none; `is_full` after `limit`."""
        self.line = 0
        self.is_full = False
        self._limit = limit
        self._found: list[Finding] = []
        self._lines: dict[int, int] = {}
        self._warnings: dict[str, Remark] = {}
        self._unproven: dict[str, Remark] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._found)

    def add(self, seq: int, invariant: Invariant, rule: str, why: str, *, line: int | None = None) -> None:
        """Note a finding, the same one only once."""
        self._add(Finding(seq, self.line if line is None else line, invariant, rule, why))

    def add_law(self, seq: int, law: str, rule: str, why: str, *, line: int) -> None:
        """Note that a law is broken, by its name."""
        self._add(Finding(seq, line, law, rule, why))

    def _add(self, finding: Finding) -> None:
        if finding not in self._found:
            self._found.append(finding)
            self.is_full = len(self._found) >= self._limit

    def warn(self, kind: str, seq: int, why: str) -> None:
        """Note a warning; those of one kind are counted together."""
        _count(self._warnings, kind, seq, why)

    def skip(self, kind: str, seq: int, why: str) -> None:
        """Note what could be computed again and is not borne out; what is of one kind is counted together.

        Whoever skips a check for want of something, or finds a difference that breaks no rule, says so here:
        a strict verification fails by it.
        """
        _count(self._unproven, kind, seq, why)

    def sorted(self) -> tuple[Finding, ...]:
        """Return the findings, causes first: breaks of the log itself, then the rest, each by seq.

        Those of one seq stay in the order in which they were found.
        """
        return tuple(sorted(self._found, key=lambda found: (found.invariant not in INTEGRITY, found.seq)))

    def warnings(self) -> tuple[Remark, ...]:
        """Return the warnings in the order in which they came up."""
        return tuple(self._warnings.values())

    def unproven(self) -> tuple[Remark, ...]:
        """Return what is not borne out, in the order in which it came up."""
        return tuple(self._unproven.values())


def _count(known: dict[str, Remark], kind: str, seq: int, why: str) -> None:
    before = known.get(kind)
    known[kind] = Remark(seq, 1, why) if before is None else before._replace(messages=before.messages + 1)
