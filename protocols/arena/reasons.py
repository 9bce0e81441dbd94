"""Why a run ends, as `CODE: sentence`, the terminal reason of the audit record (11)."""

from __future__ import annotations

from typing import Final

from moot.protocols.arena.cleaning import quoted

APPROVED: Final = "APPROVED"
CAPPED: Final = "MAX_ROUNDS"
CONFIG: Final = "CONFIG_INVALID"
TASK: Final = "TASK_INVALID"
SESSION_ID: Final = "SESSION_ID_MISSING"
NOTEBOOK_CONTEXT: Final = "NOTEBOOK_CONTEXT_INVALID"
NOTEBOOK: Final = "NOTEBOOK_UNAVAILABLE"
SESSION: Final = "SESSION_RESUME_MISSING"
SAFETY: Final = "SAFETY_VIOLATION"
EMPTY_DRAFT: Final = "EMPTY_DRAFT"
EMPTY_FINAL: Final = "EMPTY_FINAL_OUTPUT"
TIMEOUT: Final = "TIMEOUT"
STOPPED: Final = "STOPPED"


def because(code: str, sentence: str) -> str:
    """Write a terminal reason: one line of bounded length, whatever the sentence quotes."""
    return f"{code}: {quoted(sentence)}"
