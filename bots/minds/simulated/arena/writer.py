"""The simulated Planner, Reviewer and Finalizer: they read each other's texts and answer what stands there."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import numpy as np

from moot.bots.minds.mind import View
from moot.bots.minds.simulated.arena.criteria import BROUGHT, CRITERIA, VAGUE, Criterion
from moot.bots.minds.simulated.delays import delay
from moot.bots.minds.simulated.temper import DEFAULT, Temper
from moot.bots.seats.hooks import question_of
from moot.bots.seats.weighing import DISPUTED, MOST_CLAIMS, is_beyond
from moot.bots.seats.writer import Work, Writer
from moot.bots.tools.seeding import generator

FORGETS: Final = (0, 6)
"""So many sections a first draft leaves out: from the first number on, below the second."""
OVERLOOKS: Final = 0.3
"""Chance that a planner overlooks an item that a review named."""
MOST_LEAD: Final = 60
"""Characters that may lead up to a task, as in "Refine the notes of arch_001: …"."""
QUOTED: Final = 160
"""Characters of a text that are quoted in another."""


class SimulatedWriter(Writer):
    """Writes for all three seats. The same view and seed give the same text in any process."""

    def __init__(self, seed: int, temper: Temper = DEFAULT) -> None:
        """Take the society's seed and the constants of behaviour."""
        self._seed = seed
        self._temper = temper

    def delay(self, view: View) -> timedelta | None:
        """Take a seeded time with a heavy tail, as every simulated mind."""
        return delay(self._seed, view.obligation, view.attempt, view.now, self._temper)

    def question(self, work: Work) -> str:
        """Ask for the context, for evidence on what the draft claims, for what the draft may have drifted from.

        The question begins the cross-check; the shell asks for every claim that it does not hold (8.2).
        """
        return question_of(work)

    async def write(self, work: Work) -> str:
        """Write what is owed."""
        rng = generator("arena", self._seed, work.view.obligation.id, work.view.attempt)
        if work.kind == "DRAFT":
            return _plan(work, rng)
        if work.kind == "REVIEW":
            return _review(work)
        return _finalize(work)


def _plan(work: Work, rng: np.random.Generator) -> str:
    """Draft, or revise: every item that the last review names is answered, unless it is overlooked."""
    brief = work.view.brief
    task = work.view.last("ARENA_TASK")
    # A change of the society itself is refined for the weekly cycle that approved it.
    is_ours = task is not None and bool(getattr(task.body, "parent_id", ""))
    before = work.last_draft()
    if not before:
        left_out = {int(i) for i in rng.permutation(len(CRITERIA))[: int(rng.integers(*FORGETS))]}
        kept = [one for n, one in enumerate(CRITERIA) if n not in left_out]
        parts = [
            _title(work),
            _quote(brief["prompt"]),
            *[_section(one, brief["prompt"], rng, is_ours=is_ours) for one in kept],
        ]
        if brief["evidence_refs"]:
            parts.append(
                "## Evidence\nSeen before the first draft: " + ", ".join(brief["evidence_refs"][:5]) + "."
            )
        return "\n\n".join(parts) + "\n"
    asked = [issue.text for issue in brief["unresolved"]]
    body = _without_changes(before)
    answered = []
    for one in CRITERIA:
        named = any(one.asked in text for text in asked)
        if named and not one.pattern.search(body) and float(rng.random()) >= OVERLOOKS:
            body = f"{body.rstrip()}\n\n{_section(one, brief['prompt'], rng, is_ours=is_ours)}\n"
            answered.append(f"- {one.name}: added.")
    for issue in brief["unresolved"]:
        if issue.kind == "contradiction" and issue.claim and issue.claim in body:
            body = body.replace(
                issue.claim, f"{issue.claim} {DISPUTED}{issue.evidence_ref}: to be measured first)", 1
            )
            # Marked itself, so that nobody takes this line for a claim.
            answered.append(f"- {issue.id}: the claim is marked {DISPUTED}{issue.evidence_ref}).")
    changes = "\n".join(answered) or "- Nothing that was asked for could be placed."
    return f"{body.rstrip()}\n\n## Changes in round {brief['round_index']}\n{changes}\n"


def _title(work: Work) -> str:
    return f"# Plan for {work.view.brief['subject']}"


def _quote(prompt: str) -> str:
    line = " ".join(prompt.split())
    return f"> {line[:QUOTED]}{'…' if len(line) > QUOTED else ''}"


def _section(one: Criterion, prompt: str, rng: np.random.Generator, *, is_ours: bool = True) -> str:
    """Write a section: by what the prompt brings for it, else one of its own, about the task in the prompt's words."""
    texts = one.section if is_ours else one.elsewhere
    said = texts[int(rng.integers(len(texts)))]
    brought = BROUGHT[one.name].search(prompt) if one.name in BROUGHT else None
    if brought is not None:
        said = one.given.replace("{said}", brought[1].strip())
    return f"## {one.name}\n" + said.replace("{task}", _task(prompt))


def _task(prompt: str) -> str:
    """Name the task in the prompt's own words: its first line, without what leads up to it."""
    line = " ".join(next((line for line in prompt.splitlines() if line.strip()), "").split())
    lead, _, rest = line.partition(": ")
    task = (rest if rest and len(lead) <= MOST_LEAD else line).rstrip(".?! ")
    return task if len(task) <= QUOTED else f"{task[: QUOTED - 1].rstrip()}…"


def _without_changes(draft: str) -> str:
    """Leave out what the last revision said of itself."""
    return draft.split("\n\n## Changes in round ", 1)[0]


def _review(work: Work) -> str:
    """Hold the draft against the criteria, the evidence, and what the session still holds open."""
    brief, draft = work.view.brief, work.last_draft()
    session = work.session
    missing = [one for one in CRITERIA if not one.pattern.search(draft)]
    contradictions = [one for one in brief["findings"] if one.stance == "contradicts"]
    open_claims = [one for one in contradictions if f"{one.claim} {DISPUTED}" not in draft]
    vague = VAGUE.search(draft)
    lines = [f"Review of round {brief['round_index']} of {brief['subject']}."]
    if session is not None and session.unresolved:
        round_before = brief["round_index"] - 1
        still = {one.asked for one in missing}
        for issue_id, text in session.unresolved:
            is_open = any(asked in text for asked in still) or any(one.claim in text for one in open_claims)
            lines.append(f"From round {round_before}, {issue_id}: {'still open' if is_open else 'resolved'}.")
    if brief["evidence_refs"]:
        lines.append("Evidence consulted: " + ", ".join(brief["evidence_refs"][-5:]) + ".")
    if brief["notebook_id"] and is_beyond(draft):
        lines.append(f"WARNING: the draft claims more than the {MOST_CLAIMS} claims that were cross-checked.")
    items = [one.asked for one in missing]
    items += [
        f"the claim “{one.claim[:QUOTED]}” is contradicted by {one.evidence_ref}" for one in open_claims
    ]
    if vague:
        items.append(f"“{vague[0]}” decides nothing")
    if items:
        lines += ["", "What is missing:", *[f"- {item}" for item in items], "", "VERDICT: REVISE"]
        return "\n".join(lines) + "\n"
    said = "every criterion is met"
    if contradictions:
        said += ", and what the notebook contradicts is marked as disputed in the draft"
    return "\n".join([*lines, "", f"RATIONALE: {said}.", "VERDICT: APPROVED"]) + "\n"


def _finalize(work: Work) -> str:
    """Give the last draft; at the cap with a notice of what is unresolved (9.3)."""
    brief = work.view.brief
    text = _without_changes(work.last_draft()).rstrip()
    if not brief["is_best_effort"]:
        return f"{text}\n"
    notice = "\n".join(f"- {issue.id}: {issue.text}" for issue in brief["unresolved"])
    return f"{text}\n\n## Unresolved issues\nThe rounds are used up. This is a best effort; still open:\n{notice}\n"
