"""Pauses after failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait after a failure: doubling up to a limit.

    Attributes:
        first_s: Seconds of wall time after the first failure.
        most_s: The longest pause.
    """

    first_s: float = 0.2
    most_s: float = 30.0

    def delay_s(self, failures: int) -> float:
        """Return the pause after this many failures in a row, counted from 1."""
        return min(self.most_s, self.first_s * 2.0 ** min(max(failures, 1) - 1, 32))


PATIENT: Final = Backoff()
"""From a fifth of a second to half a minute."""
