"""A run of the Arena as one of its three seats sees it."""

from __future__ import annotations

from typing import NamedTuple

from moot.bots.minds.mind import View
from moot.protocols.arena.contracts import Issue
from moot.protocols.arena.messages import ArenaDraft, NotebookFinding
from moot.protocols.arena.relevance import cleanse


class Arena(NamedTuple):
    """A run.

    Attributes:
        prompt: The task.
        round: The round that the answer belongs to, from 1; 0 for the first draft.
        max_rounds: How many rounds it may have.
        draft: The newest draft, "" before the first.
        unresolved: What the last round left unresolved, each with `id` and `text`.
        evidence: What was found in the notebook so far, by reference.
        findings: Claims of the draft that passages of the notebook support or contradict.
        is_last: Whether the final output is given without an approval, as the best that there is.
    """

    prompt: str
    round: int
    max_rounds: int
    draft: str
    unresolved: tuple[Issue, ...]
    evidence: tuple[str, ...]
    findings: tuple[NotebookFinding, ...]
    is_last: bool

    @classmethod
    def of(cls, view: View) -> Arena:
        """Read the run that an obligation belongs to."""
        brief = view.brief
        return cls(
            prompt=brief["prompt"],
            round=brief["round_index"],
            max_rounds=brief["max_rounds"],
            draft=last_draft(view),
            unresolved=tuple(brief["unresolved"]),
            evidence=tuple(brief["evidence_refs"]),
            findings=tuple(brief["findings"]),
            is_last=view.asked[0] == "FINAL_OUTPUT" and bool(brief["unresolved"]),
        )


def last_draft(view: View) -> str:
    """Return the newest draft as it is kept (R-A9), "" before the first."""
    found = view.last("DRAFT")
    if found is None or not isinstance(found.body, ArenaDraft):
        return ""
    return cleanse(found.body.text, view.rules_version).text
