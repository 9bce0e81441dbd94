"""What the engine asks for: somebody who carries out a trial, and somebody who embeds an answer."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from moot.arbiter.vectors import Vector
from moot.protocols.arbiter.generated import PlannedTrial, Trial
from moot.protocols.arbiter.parsing import Parsed


class RanTrial(NamedTuple):
    """A trial as it was carried out, and what it decided: `Outcomes` reads that from a final text."""

    trial: Trial
    parsed: Parsed


class NotBegun(Exception):
    """Raised by a runner: a trial was not begun and is none of the run, as the budget has no room for it."""


class Runner(Protocol):
    """Carries out trials, several at once."""

    async def run(self, planned: PlannedTrial) -> RanTrial:
        """Carry out a trial; whatever goes wrong with it is its status, or that it was not begun.

        Cancelled, it may return what it has (status `error`, error_code `shutdown_abort`) and so keep the calls that
        were answered; when it raises, the engine writes such a trial without calls.
        """
        ...


class Embedded(NamedTuple):
    """How a text was embedded.

    Attributes:
        vector: Shape (dimensions,); None when it failed.
        error: Why it failed, in a line; None when it did not.
        model: The model that the reply named.
        generation_id: What the reply was called.
    """

    vector: Vector | None
    error: str | None = None
    model: str | None = None
    generation_id: str | None = None


class Embedder(Protocol):
    """Embeds answers, several at once."""

    async def embed(self, trial_id: int, text: str, *, kept: str | None = None) -> Embedded:
        """Embed the text of a trial, which is not empty; a failure is returned, not raised.

        Args:
            trial_id: The trial.
            text: What is embedded, as the model wrote it.
            kept: What may be kept of it, without secrets; None: the text itself.
        """
        ...
