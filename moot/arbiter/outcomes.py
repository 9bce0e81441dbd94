"""What a trial of the run decided, read from its final text by the run's protocol and contract."""

from __future__ import annotations

from typing import Final, Literal

from moot.arbiter.ports import RanTrial
from moot.protocols.arbiter.contract import Judge
from moot.protocols.arbiter.generated import PlannedTrial, ResolvedConfiguration, Trial, TrialError
from moot.protocols.arbiter.parsing import Parsed, not_answered, parse_contract, parse_debate, parse_plain

INTERRUPTED: Final = "the run was interrupted"


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

    def read(self, trial_id: int, text: str | None) -> Parsed:
        """Read the final text of a trial; None when it ended before one."""
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
