"""What all results have in common: a log, its verification, and how they are shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moot.api.case import Case
from moot.api.log import Log
from moot.api.showing import html_table
from moot.api.transcript import Transcript
from moot.minds.silences import silences_of

if TYPE_CHECKING:
    from moot.verify import Report


@dataclass(frozen=True, repr=False)
class Result(ABC):
    """Base of all results: frozen, readable, with the whole log behind it.

    Attributes:
        log: Every message.
    """

    log: Log

    def verify(self, *, evidence: bool = True, strict: bool = False) -> Report:
        """Judge the log as `moot verify` does; see `Log.verify`."""
        return self.log.verify(evidence=evidence, strict=strict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why minds of one's own gave no answer, each reason in one line; none where all answered."""
        return tuple(silences_of(self.log.messages(type="AUDIT")))

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""

    @abstractmethod
    def rows(self) -> list[tuple[str, object]]:
        """Return what is told of it: what, and how much or how."""

    def __repr__(self) -> str:
        """Tell of it, a line a figure."""
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        lines = (f"  {name:<{width}}  {value}" for name, value in rows)
        return "\n".join([type(self).__name__, *lines])

    def _repr_html_(self) -> str:
        """Tell of it in a notebook."""
        return html_table(type(self).__name__, ("", ""), self._rows())

    def _rows(self) -> list[tuple[str, object]]:
        return [*self.rows(), *(("warning", line) for line in self.warnings)]


@dataclass(frozen=True, repr=False)
class CaseResult(Result):
    """What one case came to.

    Attributes:
        log: Every message.
        written_by: Who wrote what was said: "simulated, no model", or the minds by their names.
        record: The whole account, as the command prints it with --json.
        case: The case, with all that the rules noted.
    """

    written_by: str
    record: Mapping[str, Any]
    case: Case

    @property
    def transcript(self) -> Transcript:
        """What was said, in order."""
        return self.case.transcript

    def to_dict(self) -> dict[str, Any]:
        """Return the record."""
        return dict(self.record)

    def _rows(self) -> list[tuple[str, object]]:
        rows = super()._rows()
        at = len(self.rows())
        return [*rows[:at], ("written by", self.written_by or "nobody"), *rows[at:]]
