"""A run's progress on a terminal."""

from __future__ import annotations

import sys
from typing import Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from moot.arbiter.events import BatchEnded, Event, RunStarted, TrialEnded
from moot.cli.output import console
from moot.protocols.arbiter.generated import ClusteredRow

STEPS = 200
"""The bar moves so often at most: a mock run ends thousands of trials a second."""


class RunProgress:
    """A bar on standard error, told by a run; a context manager that takes it away at the end."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[measured]}"),
            console=console(sys.stderr),
            transient=True,
        )
        self._task = self._bar.add_task("trials", total=None, start=False, measured="")
        self._done = 0
        self._step = 1

    def __call__(self, event: Event) -> None:
        """Show what a run tells."""
        match event:
            case TrialEnded():
                self._done += 1
                if self._done % self._step == 0:
                    self._bar.update(self._task, completed=self._done)
            case BatchEnded(row=row):
                clusters = f", {row.cluster_count} clusters" if isinstance(row, ClusteredRow) else ""
                novelty = "-" if row.novelty_rate is None else f"{row.novelty_rate:.2f}"
                self._bar.update(self._task, completed=self._done, measured=f"novelty {novelty}{clusters}")
            case RunStarted():
                self._step = max(1, event.k_planned // STEPS)
                self._bar.update(self._task, total=event.k_planned)
                self._bar.start_task(self._task)
                self._bar.start()
            case _:
                self._bar.stop()

    def __enter__(self) -> Self:
        """Wait for the run."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away, however the run ended."""
        self._bar.stop()
