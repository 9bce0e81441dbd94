"""A review panel as one of its seats sees it, phase by phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from moot.bots.minds.mind import View

Phase = Literal["PHASE1", "PHASE2", "SYNTHESIS"]


class Panel(NamedTuple):
    """A panel.

    Attributes:
        phase: Which output is owed: the commitment, the review, or the synthesis.
        contract: The contract, as JSON data.
        title: The work's title.
        field: Its field.
        word_count: Its length in words.
        work: The work itself; "" in Phase 1 and for the Synthesizer, who are not shown it.
        commitment: What this reviewer wrote in Phase 1, "" before.
        gaps: What the lint found in this reviewer's last attempt.
        scores: By role and dimension; for the Synthesizer alone.
        instructions: What the output must hold, in words.
        data: All that may be used for it, in words.
    """

    phase: Phase
    contract: Mapping[str, Any]
    title: str
    field: str
    word_count: int
    work: str
    commitment: str
    gaps: tuple[str, ...]
    scores: Mapping[str, Mapping[str, str]]
    instructions: str
    data: str

    @classmethod
    def of(cls, view: View) -> Panel:
        """Read the panel that an obligation belongs to."""
        from moot.bots.seats.panel_prompts import prompt_for

        brief, prompt = view.brief, prompt_for(view)
        return cls(
            phase=view.asked[0],  # type: ignore[arg-type]
            contract=dict(brief["contract"]),
            title=brief["title"],
            field=brief["field"],
            word_count=brief["word_count"],
            work=view.content,
            commitment=brief.get("phase1_output", ""),
            gaps=tuple(brief.get("gaps", ())),
            scores=brief.get("scores", {}),
            instructions=prompt.system,
            data=prompt.user,
        )
