"""A review of the Arena as a form, and that form written as the protocol reads it (7.3).

The text that stands in the log is the model's own fields and the marks that the grammar wants around them: which
verdict it gives, which items it names and why are its words, and nothing is added that judges. So a model that is not
at home in the grammar may sit here, and no verdict is read out of prose.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from moot.protocols.arena.contracts import Verdict
from moot.protocols.panel.grammar import one_line

MOST_CHARS = 2_000
"""Characters of one line."""

Line = Annotated[str, Field(max_length=MOST_CHARS)]


class ReviewForm(BaseModel):
    """A review of the draft."""

    model_config = ConfigDict(extra="forbid", strict=True)

    summary: Line = Field(description="what the draft does, in one or two sentences")
    issues: tuple[Line, ...] = Field(
        description="what has to change, one thing each, named so that the Planner can do it; none for an approval",
        max_length=50,
    )
    evidence: tuple[Line, ...] = Field(
        description="references of the evidence that you consulted", max_length=50
    )
    rationale: Line = Field(description="why this verdict follows")
    verdict: Literal["APPROVED", "REVISE"]

    @model_validator(mode="after")
    def _names_what_is_to_change(self) -> ReviewForm:
        if self.verdict == "REVISE" and not any(one.strip() for one in self.issues):
            raise ValueError("a REVISE names at least one issue")
        return self

    def text(self, round_index: int) -> str:
        """Write it as the Orchestrator reads it: one verdict, on the last line."""
        lines = [f"Review of round {round_index}. {_line(self.summary)}"]
        if self.evidence:
            lines.append(f"Evidence consulted: {', '.join(map(_line, self.evidence))}.")
        if self.issues:
            lines += ["", *[f"- {_line(one)}" for one in self.issues]]
        verdict: Verdict = self.verdict
        return "\n".join([*lines, "", f"RATIONALE: {_line(self.rationale)}", f"VERDICT: {verdict}"]) + "\n"


def _line(text: str) -> str:
    """Keep a field to one line, behind a word: so it can be no verdict, whatever it quotes."""
    return one_line(text, MOST_CHARS) or "none"
