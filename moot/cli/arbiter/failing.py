"""Why trials of a run failed, told when it ended: trials that fail end no run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from moot.arbiter.certifying import CUT_SHORT
from moot.arbiter.events import Event, TrialEnded
from moot.channels.showing.wording import clean
from moot.cli.output import plural

MOST_TEXT = 200
"""A reason is cut after so many characters."""


class Failures:
    """Counts trials that failed, and answers that could not be embedded, by why; told by a run."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self._done = 0
        self._trials: Counter[str] = Counter()
        self._embeddings: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        """Note how a trial ended."""
        if not isinstance(event, TrialEnded):
            return
        self._done += 1
        trial, embedding = event.trial, event.embedding
        if trial.status != "success" and trial.error_code != CUT_SHORT:
            self._trials[trial.error.message if trial.error is not None else trial.status] += 1
        if embedding.embedding_status == "failed":
            self._embeddings[embedding.error or "no reason was given"] += 1

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind of failure that there was."""
        for found, what in ((self._trials, "failed"), (self._embeddings, "could not be embedded")):
            if found:
                why, count = found.most_common(1)[0]
                often = "" if count == found.total() else f" ({count:,} of them)"
                yield f"{found.total():,} of {plural(self._done, 'trial')} {what}: {clean(why, MOST_TEXT)}{often}"
