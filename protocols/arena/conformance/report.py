"""What the conformance checker says: thirteen checks with their evidence, and the SHOULDs that a run left undone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from moot.protocols.kernel.redact import redact

COMPLIANT: Final = "Compliant"
CONDITIONAL: Final = "Conditionally Compliant"
NON_COMPLIANT: Final = "Non-Compliant"

MOST_LINES: Final = 50
"""So many lines of evidence a check shows; the rest is counted."""

_LONGEST: Final = 80
_WIDEST: Final = 64


@dataclass(frozen=True, slots=True)
class Check:
    """One check of section 12.

    Attributes:
        number: 1 to 13.
        title: What section 12 asks.
        rule: The sections it is judged by.
        is_passed: Whether it holds.
        evidence: What was looked at when it passed; what is wrong, and where, when it did not.
        warnings: What is allowed and worth a look.
    """

    number: int
    title: str
    rule: str
    is_passed: bool
    evidence: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Should:
    """A SHOULD that the run did not satisfy.

    Attributes:
        rule: Its section.
        what: What is missing, and where.
        justification: What the record says in its defence, None when it says nothing.
    """

    rule: str
    what: str
    justification: str | None


@dataclass(frozen=True, slots=True)
class Conformance:
    """The judgement on one audit record: the checks of section 12 in order, and the level of section 2.

    Attributes:
        checks: The thirteen.
        shoulds: The SHOULDs not satisfied.
    """

    checks: tuple[Check, ...]
    shoulds: tuple[Should, ...]

    @property
    def is_conformant(self) -> bool:
        """Say whether all checks pass; they hold MUSTs alone."""
        return all(check.is_passed for check in self.checks)

    @property
    def is_justified(self) -> bool:
        """Say whether the record defends every SHOULD that it does not satisfy."""
        return all(should.justification is not None for should in self.shoulds)

    @property
    def level(self) -> str:
        """Return the level of section 2.

        Section 2 names no level for a SHOULD that is broken without a justification. Such a run breaks no MUST, so it
        is not Non-Compliant; and if it were Compliant, saying nothing would be better than giving a reason. So it is
        Conditionally Compliant as well, `is_justified` is false, and the justification is what a person has to add.
        """
        if not self.is_conformant:
            return NON_COMPLIANT
        return CONDITIONAL if self.shoulds else COMPLIANT


@dataclass(slots=True)
class Findings:
    """Collects what one check finds."""

    faults: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def wrong(self, path: str, what: str) -> None:
        """Note what breaks a MUST, and where."""
        self.faults.append(f"{path}: {what}" if path else what)

    def saw(self, what: str) -> None:
        """Note what was looked at."""
        self.seen.append(what)

    def warn(self, what: str) -> None:
        """Note what is allowed and worth a look."""
        self.warnings.append(what)

    def as_check(self, number: int, title: str, rule: str) -> Check:
        """Make the check of it."""
        evidence = self.faults or self.seen
        return Check(number, title, rule, not self.faults, _some(evidence), _some(self.warnings))


def show(value: object) -> str:
    """Return a value as evidence shows it: short, printable, and without what may be a secret."""
    if isinstance(value, str):
        cut = redact(value[: 4 * _LONGEST])
        cut = cut if len(cut) <= _LONGEST else cut[:_LONGEST] + "…"
        plain = cut.encode("utf-8", "backslashreplace").decode()
        return '"' + "".join(char if char.isprintable() else ascii(char)[1:-1] for char in plain) + '"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _WIDEST else "a huge number"
    if isinstance(value, float):
        return str(value)
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    return f"a {type(value).__name__}"


def is_same(said: object, wanted: object) -> bool:
    """Say whether a value is another one, type and all: 1.0 and true are not 1 (R-A5)."""
    return type(said) is type(wanted) and said == wanted


def show_key(key: object) -> str:
    """Return a key as paths show it."""
    return show(key) if isinstance(key, str) else f"({show(key)})"


def _some(lines: list[str]) -> tuple[str, ...]:
    more = len(lines) - MOST_LINES
    return tuple(lines) if more <= 0 else (*lines[:MOST_LINES], f"and {more} more")
