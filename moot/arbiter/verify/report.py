"""What a verification found: checks, each with what is wrong or odd, told by file, line and field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

Level = Literal["PASS", "WARN", "FAIL"]

CheckName = Literal[
    "readable",
    "schemas",
    "files",
    "configuration",
    "plan",
    "trials",
    "texts",
    "embeddings",
    "measures",
    "clusters",
    "certificate",
    "ending",
    "usage",
]
"""What a run is held to; the name that a finding goes by."""

CHECKS: Final[tuple[CheckName, ...]] = get_args(CheckName)

MOST_OF_A_CHECK: Final = 20
"""So many findings of a check are kept; what comes later mostly follows from what came first."""


class Finding(NamedTuple):
    """Something in a run that cannot be, or that a person should know.

    Attributes:
        check: Which check it belongs to.
        level: FAIL, or WARN for what is odd but contradicts nothing.
        file: The file, relative to the run's folder; "" for the folder itself.
        line: Its line, from 1; 0 for a file that is one document, and for what is missing.
        field: Dotted path in the record, "" for the record as a whole.
        why: What is wrong, one line.
    """

    check: CheckName
    level: Literal["WARN", "FAIL"]
    file: str
    line: int
    field: str
    why: str

    @property
    def place(self) -> str:
        """Where it is, as in `trials.jsonl:3: usage.total_tokens`."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (where, self.field) if part)

    def __str__(self) -> str:
        """Write it as one line."""
        return ": ".join(part for part in (self.place, self.why) if part)


class Check(NamedTuple):
    """A check that was made.

    Attributes:
        says: What holds when nothing was found.
        findings: What was found, in order; of each level at most `MOST_OF_A_CHECK`.
        more: How many further ones there are, by level.
    """

    name: CheckName
    says: str
    findings: tuple[Finding, ...]
    more: Mapping[str, int]

    @property
    def level(self) -> Level:
        """The worst of its findings."""
        if any(one.level == "FAIL" for one in self.findings):
            return "FAIL"
        return "WARN" if self.findings else "PASS"


class Report(NamedTuple):
    """What a verification found.

    Attributes:
        path: The run's folder, as it was named.
        run_id: None when the folder does not say.
        checks: Those that could be made, in order.
    """

    path: str
    run_id: str | None
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return all(one.level != "FAIL" for one in self.checks)

    def count(self, level: Literal["WARN", "FAIL"]) -> int:
        """Count the findings of a level, also those that were not kept."""
        return sum(
            check.more.get(level, 0) + sum(one.level == level for one in check.findings)
            for check in self.checks
        )

    def lines(self) -> Iterator[str]:
        """Write it, a line for each check that holds and for each finding."""
        width = max(map(len, CHECKS))
        for check in self.checks:
            if not check.findings:
                yield f"PASS  {check.name:{width}}  {check.says}"
            for one in check.findings:
                yield f"{one.level}  {check.name:{width}}  {one}"
            for level, count in check.more.items():
                yield f"{level}  {check.name:{width}}  and {count:,} more"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "path": self.path,
            "run_id": self.run_id,
            "ok": self.ok,
            "failures": self.count("FAIL"),
            "warnings": self.count("WARN"),
            "checks": [
                {
                    "check": check.name,
                    "level": check.level,
                    "says": check.says,
                    "findings": [one._asdict() for one in check.findings],
                    "more": dict(check.more),
                }
                for check in self.checks
            ],
        }


class Findings:
    """Collects what checks find."""

    def __init__(self) -> None:
        """Begin without any."""
        self._kept: dict[CheckName, list[Finding]] = {}
        self._more: dict[CheckName, Counter[str]] = {}
        self._says: dict[CheckName, str] = {}
        self._noted: dict[tuple[CheckName, str, str, str], list[int]] = {}

    def made(self, check: CheckName, says: str) -> None:
        """Note that a check was made, and what holds when it found nothing."""
        self._says[check] = says
        self._begun(check)

    def fail(self, check: CheckName, file: str, why: str, *, line: int = 0, field: str = "") -> None:
        """Note what cannot be."""
        self._note(Finding(check, "FAIL", file, line, field, _one_line(why)))

    def warn(self, check: CheckName, file: str, why: str, *, line: int = 0, field: str = "") -> None:
        """Note what is odd."""
        self._note(Finding(check, "WARN", file, line, field, _one_line(why)))

    def note(self, check: CheckName, file: str, why: str, *, line: int = 0, field: str = "") -> None:
        """Note in what a run differs from Moot's, once however many lines do; nothing contradicts the specification."""
        lines = self._noted.setdefault((check, file, field, why), [])
        lines.append(line)
        self._begun(check)

    def failed(self, *checks: CheckName) -> bool:
        """Whether one of some checks found what cannot be."""
        return any(one.level == "FAIL" for name in checks for one in self._kept.get(name, ()))

    def report(self, path: str, run_id: str | None) -> Report:
        """Put together what was found."""
        for (check, file, field, why), lines in self._noted.items():
            more = f", as in {len(lines) - 1:,} more lines" if len(lines) > 1 else ""
            self._note(Finding(check, "WARN", file, lines[0], field, _one_line(f"{why}{more}")))
        self._noted.clear()
        return Report(
            path,
            run_id,
            tuple(
                Check(name, self._says.get(name, ""), tuple(self._kept[name]), self._more[name])
                for name in CHECKS
                if name in self._kept
            ),
        )

    def _note(self, finding: Finding) -> None:
        kept = self._begun(finding.check)
        if sum(one.level == finding.level for one in kept) < MOST_OF_A_CHECK:
            kept.append(finding)
        else:
            self._more[finding.check][finding.level] += 1

    def _begun(self, check: CheckName) -> list[Finding]:
        self._more.setdefault(check, Counter())
        return self._kept.setdefault(check, [])


def _one_line(text: str) -> str:
    """Make a text printable on one line, of a length that can be read."""
    plain = "".join(char if char.isprintable() else "�" for char in text.replace("\n", " "))
    return plain if len(plain) <= 300 else f"{plain[:299]}…"
