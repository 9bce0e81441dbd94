"""The words of the specification, as the conformance checker reads them there."""

from __future__ import annotations

from typing import Final

PHASES: Final = ("before", "during", "after")
STATUSES: Final = ("SUCCESS", "FAILED", "SKIPPED_DISABLED", "SKIPPED_DEGRADED")
"""Section 4.7."""

VERDICTS: Final = ("APPROVED", "REVISE")
MULTIPLE: Final = "PARSER_WARNING_MULTIPLE_VERDICTS"
MISSING: Final = "PARSER_ERROR_MISSING_VERDICT"
FINE: Final = (None, "", "OK", "PARSER_OK", "PARSED", "SUCCESS", "NONE")
"""Section 7.3, which names no code for a review with one verdict; those in `FINE` are in use."""

STATES: Final = frozenset(
    {
        "INIT", "SEEDING", "DRAFTING", "REVIEWING", "REVISING", "FINALIZING",
        "TERMINATED_APPROVED", "TERMINATED_MAX_ROUNDS", "TERMINATED_ERROR",
    }
)  # fmt: skip
"""Section 4.4."""

APPROVED: Final = "TERMINATED_APPROVED"
CAPPED: Final = "TERMINATED_MAX_ROUNDS"
ERROR: Final = "TERMINATED_ERROR"
TERMINAL: Final = frozenset({APPROVED, CAPPED, ERROR})
