"""What a trial of the run decided, read from its final text by the run's protocol and contract."""

from __future__ import annotations

from typing import Final, Literal

from moot.arbiter.ports import RanTrial
from moot.protocols.arbiter.contract import Judge
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.arbiter.generated import (
    ParsedTrial,
    ParseError,
    PlannedTrial,
    ResolvedConfiguration,
    Trial,
    TrialError,
)
from moot.protocols.arbiter.parsing import Parsed, not_answered, parse_contract, parse_debate, parse_plain

INTERRUPTED: Final = "the run was interrupted"

REDACTED: Final = "[redacted]"
"""Stands for words of an answer that may not be stored."""


class Outcomes:
    """Reads final texts.

    Args:
        config: The run.
        judge: Of its contract; None without one.
        version: What reads an independent answer without a contract.
    """

    def __init__(
        self, config: ResolvedConfiguration, judge: Judge | None, version: Literal["mock-v0", "live-v0"]
    ) -> None:
        """Begin a run."""
        self._is_debate = config.protocol.type != "independent"
        self._contract = config.protocol.decision_contract
        self._judge = judge
        self._version = version
        self._most = config.measurement.embedding_max_chars
        if (self._contract is None) is not (judge is None):
            raise ValueError("a judge goes with a contract")

    def read(self, trial_id: int, text: str | None, measured: str | None = None) -> Parsed:
        """Read the final text of a trial: what it decides and what is embedded as the model wrote it (R-G7).

        Args:
            trial_id: The trial.
            text: The text as it may be stored, without secrets; None when the trial ended before one.
            measured: The text as the model wrote it, where that is another.

        Returns:
            What is stored of what was read, and what is embedded, which is not to be stored.
        """
        stored = self._read(trial_id, text)
        if text is None or measured is None:
            return stored
        found = self._read(trial_id, measured)
        return Parsed(_discreet(found.line, stored.line, well_formed(text)), found.embed)

    def _read(self, trial_id: int, text: str | None) -> Parsed:
        if text is None:
            return not_answered(trial_id, "debate-v1" if self._is_debate else self._version)
        if self._contract is not None and self._judge is not None:
            version: Literal["debate-v1", "independent-v1"] = (
                "debate-v1" if self._is_debate else "independent-v1"
            )
            return parse_contract(trial_id, text, self._contract, self._judge, version, max_chars=self._most)
        if self._is_debate:
            return parse_debate(trial_id, text, max_chars=self._most)
        return parse_plain(trial_id, text, self._version, max_chars=self._most)


def _discreet(found: ParsedTrial, stored: ParsedTrial, text: str) -> ParsedTrial:
    """Return what may be stored of what was read.

    Args:
        found: What was read in the text as the model wrote it.
        stored: What is read in the text without secrets: that is stored, where it says the same.
        text: The text without secrets.
    """
    read_alike = (
        "parse_status",
        "extraction_method",
        "embed_text_source",
        "confidence",
        "rationale_truncated",
    )
    if all(getattr(found, name) == getattr(stored, name) for name in read_alike):
        return stored
    # Redaction changed how it is read: what was read counts, and of its words those that the text still holds.
    words = {
        name: value if value is None or value in text else REDACTED
        for name in ("outcome", "rationale", "embed_text")
        for value in (getattr(found, name),)
    }
    if found.extraction_method == "raw":
        # The raw text stands for the outcome.
        words["outcome"] = text
    error = found.parse_error
    if error is not None:
        error = ParseError(code=error.code, message=f"{error.code}, in a text that holds secrets")
    return found.model_copy(update={**words, "raw_assistant_text": text, "parse_error": error})


def cut_short(planned: PlannedTrial, parsed: Parsed) -> RanTrial:
    """Return a trial that the end of the run cut short before any call of it was answered.

    Args:
        planned: The trial.
        parsed: That there is no text.
    """
    is_debate = planned.role_assignments is not None
    trial = Trial(
        trial_id=planned.trial_id,
        requested_model_slug=planned.assigned_config.model,
        actual_model=None,
        protocol=planned.protocol,
        status="error",
        assigned_config=planned.assigned_config,
        error=TrialError(message=INTERRUPTED, code=None, retryable=True),
        error_code="shutdown_abort",
        role_assignments=planned.role_assignments,
        calls=() if is_debate else None,
        transcript=() if is_debate else None,
    )
    return RanTrial(trial, parsed)
