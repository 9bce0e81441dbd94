"""What is certain of a run's labels so far: a subscriber that counts trials in the order of trial_id.

Trials end in any order, quick ones first, and an interrupt cancels the slow ones. So only trials before the first one
that is missing or was cut short count: in that order, what is said holds at every number of trials, whoever chose it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from moot.arbiter.events import BatchEnded, Event, RunEnded, Subscriber, TrialEnded
from moot.arbiter.files import write_json
from moot.arbiter.reading import ReadRun, TrialFacts
from moot.arbiter.run_files import CERTIFICATE
from moot.protocols.arbiter.certificate import ASSUMPTIONS, closed_labels, decided
from moot.protocols.arbiter.generated import (
    Certificate,
    CertifiedMode,
    LabelShare,
    OutcomeShare,
    ParsedTrial,
    ResolvedConfiguration,
)
from moot.protocols.arbiter.record import SCHEMA_VERSION
from moot.statistics.mode import certified_mode
from moot.statistics.shares import share_intervals

CUT_SHORT: Final = "shutdown_abort"
"""The error_code of a trial that an interrupt cancelled."""


class NothingToCertify(ValueError):
    """A run has no closed labels."""


class Certifier:
    """Counts the labels of a run, and says after each batch what is certain."""

    def __init__(self, config: ResolvedConfiguration, alpha: float) -> None:
        """Begin a run.

        Raises:
            NothingToCertify: Its contract lists no labels, or it has none.
        """
        self._labels = closed_labels(config.protocol.decision_contract)
        if not self._labels:
            raise NothingToCertify(
                "protocol.decision_contract: has no closed labels: "
                "choose a contract whose schema gives decision an enum"
            )
        self._run_id = config.run.run_id
        self._alpha = alpha
        # What is no label stands last: no decision.
        self._places = {label: place for place, label in enumerate(self._labels)}
        self._counts = [0] * (len(self._labels) + 1)
        self._waiting: dict[int, int | None] = {}
        self._next = 0
        self.mode: CertifiedMode | None = None

    def enough(self) -> str | None:
        """Say in a line which outcome is the mode, once that is certain."""
        if self.mode is None:
            return None
        label = "no decision" if self.mode.label is None else self.mode.label
        trials = self.mode.at_trial
        return (
            f"certified after {trials} trials: the most frequent outcome is {label} (alpha {self._alpha:g})"
        )

    def __call__(self, event: Event) -> None:
        """Take an event of the run."""
        if isinstance(event, TrialEnded):
            self.add(event.trial.trial_id, event.trial.error_code, event.parsed)
        elif isinstance(event, BatchEnded):
            self.close_batch()

    def add(self, trial_id: int, error_code: str | None, parsed: ParsedTrial) -> None:
        """Take a trial that ended, in any order within its batch."""
        place = self._places.get(decided(parsed) or "", len(self._labels))
        self._waiting[trial_id] = None if error_code == CUT_SHORT else place

    def close_batch(self) -> None:
        """Count the trials of a batch, and see whether the mode is certain now."""
        while (place := self._waiting.get(self._next)) is not None:
            del self._waiting[self._next]
            self._counts[place] += 1
            self._next += 1
        if self.mode is None and (lead := certified_mode(self._counts, self._alpha)) is not None:
            label = self._labels[lead] if lead < len(self._labels) else None
            self.mode = CertifiedMode(label=label, at_trial=self._next)

    def certificate(self) -> Certificate:
        """Say what is certain after the batches so far."""
        *labels, no_decision = self._shares()
        return Certificate(
            schema_version=SCHEMA_VERSION,
            run_id=self._run_id,
            alpha=self._alpha,
            trials=self._next,
            not_counted=len(self._waiting),
            labels=tuple(
                LabelShare(label=label, **dict(share))
                for label, share in zip(self._labels, labels, strict=True)
            ),
            no_decision=no_decision,
            mode=self.mode,
            shares_method="beta_binomial_mixture_bonferroni",
            mode_method="beta_binomial_mixture_pairwise",
            assumptions=ASSUMPTIONS,
        )

    def _shares(self) -> Sequence[OutcomeShare]:
        return [
            OutcomeShare(
                count=count,
                share=count / self._next if self._next else None,
                low=bounds.low,
                high=bounds.high,
            )
            for count, bounds in zip(self._counts, share_intervals(self._counts, self._alpha), strict=True)
        ]


def certificate_writer(certifier: Certifier, directory: Path) -> Subscriber:
    """Return who lets a certifier count a run, and writes certificate.json into its folder at the end."""

    def hear(event: Event) -> None:
        certifier(event)
        if isinstance(event, RunEnded):
            write_json(directory / CERTIFICATE, certifier.certificate())

    return hear


def certify(run: ReadRun, alpha: float) -> Certificate:
    """Say what is certain of a run that its folder tells of, as it would have said itself.

    Raises:
        NothingToCertify: It has no closed labels.
    """
    certifier = Certifier(run.config, alpha)
    size = run.config.execution.batch_size
    batches: dict[int, list[TrialFacts]] = {}
    for trial in run.trials:
        batches.setdefault(trial.trial_id // size, []).append(trial)
    for number, batch in sorted(batches.items()):
        for trial in batch:
            if trial.trial_id in run.parsed:
                certifier.add(trial.trial_id, trial.error_code, run.parsed[trial.trial_id])
        # A batch in which the run failed was not looked at.
        if number < len(run.rows):
            certifier.close_batch()
    return certifier.certificate()
