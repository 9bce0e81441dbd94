"""What a step of a run leaves behind for the audit record; the docket leaves nothing, `record` keeps all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from moot.protocols.arena.contracts import NotebookHookResult, RoundRecord
from moot.protocols.arena.relevance import Removed
from moot.protocols.arena.states import State
from moot.protocols.arena.verdict import Parsed


class Trail:
    """Takes what happens in a run, in order, and keeps none of it."""

    def given(self, config: Any, task: Any, notebook: Any) -> None:
        """Take the effective config, task and notebook."""

    def event(self, kind: str, **data: Any) -> None:
        """Take an event of section 11."""

    def transition(self, before: State, after: State, reason: str) -> None:
        """Take a transition."""

    def hook(self, result: NotebookHookResult, **data: Any) -> None:
        """Take a hook's result."""

    def parsed(self, round_index: int, attempt: int, output_ref: str, found: Parsed) -> None:
        """Take what the parser found in a review."""

    def round(self, record: RoundRecord) -> None:
        """Take a round."""

    def artifact(self, ref: str, text: str) -> None:
        """Take an output of a seat."""

    def filtered(self, where: str, removed: Sequence[Removed]) -> None:
        """Take what was left out of a text, and why (R-A9)."""

    def final(self, text: str) -> None:
        """Take the final output."""


NOWHERE: Final = Trail()
"""For a fold that keeps the state alone."""
