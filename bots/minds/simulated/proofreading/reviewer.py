"""A reader as a reviewer of a panel: commits itself to the checks that it has, and states what those find."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from moot.bots.minds.mind import View
from moot.bots.minds.simulated.panel.writer import SimulatedPanelWriter
from moot.bots.minds.simulated.proofreading.checks import CHECKS, Finding
from moot.bots.minds.simulated.proofreading.reader import Reader
from moot.bots.minds.simulated.proofreading.stated import Stated, plain, stated_in
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.minds.simulated.wording import counted
from moot.bots.seats.in_turn import apart
from moot.bots.seats.panel_prompts import Prompt
from moot.protocols.panel.audit import ACKNOWLEDGED
from moot.protocols.panel.contract import Contract, Dimension, Score, contract_from
from moot.protocols.panel.lint_phase1 import PARAPHRASE, PLAN
from moot.protocols.panel.report_text import report_text

DIMENSIONS: Final[Mapping[str, str]] = {
    "causal_overreach": "methodology_rigor",
    "claim_without_source": "methodology_rigor",
    "missing_control": "methodology_rigor",
    "contradiction": "argumentative_coherence",
    "dates_out_of_order": "argumentative_coherence",
    "over_budget": "argumentative_coherence",
    "same_party": "argumentative_coherence",
    "dangling_reference": "writing_and_structure",
    "missing_owner": "writing_and_structure",
    "repeated_number": "writing_and_structure",
    "undefined_term": "writing_and_structure",
}
"""To which dimension of a shipped contract a kind of error belongs; the rest are matters of `domain_accuracy`.

What a contract has no dimension for counts in its first one.
"""

BLOCKS: Final = 2
"""So many errors in a dimension block; one warns."""


class ReadingReviewer(SimulatedPanelWriter):
    """Writes for all seats of a panel; each of its reviewers is another reader of the same skill."""

    def __init__(self, reader: Reader, seed: int) -> None:
        """Take the skill, and what seeds the readings."""
        super().__init__(seed, RELIABLE)
        self._reader = reader

    async def write(self, view: View, prompt: Prompt) -> str:
        """Write what is owed; the synthesis is any simulated one's."""
        kind = view.obligation.expects[0]
        if kind == "SYNTHESIS":
            return await super().write(view, prompt)
        brief: Mapping[str, Any] = view.brief
        contract = contract_from(brief["contract"])
        if kind == "PHASE1":
            return commitment(contract)
        return self._review(brief["role"], contract, view.content)

    def _review(self, role: str, contract: Contract, content: str) -> str:
        work, before = apart(content)
        others = [
            Finding(one.first, kind, one.text)
            for review in before
            for one in stated_in(review)
            if (kind := one.kind.replace(" ", "_")) in CHECKS
        ]
        digest = hashlib.sha256(f"{self._seed}/{role}".encode()).digest()
        found = self._reader.read(plain(work), int.from_bytes(digest[:6]), others)
        return review_of(role, contract, found)


def commitment(contract: Contract) -> str:
    """Write Phase 1: which checks are made for which dimension, and from how many errors on it warns and blocks."""
    mine = _kinds(contract)
    parts = [f"## {PARAPHRASE}"]
    parts += [f"{_name(one)} asks this: {one.description}" for one in contract.acceptance_dimensions]
    parts.append(f"## {PLAN}")
    for one in contract.acceptance_dimensions:
        kinds = mine[one.id]
        looks_for = ", ".join(map(_words, kinds)) or "nothing, for none of my checks is about it"
        block, warn = (f"{BLOCKS} errors or more", "one error") if kinds else ("nothing", "nothing")
        parts.append(
            f"### {one.id}: {one.name}\ndimension_id: {one.id}\nwhat_to_look_for: {looks_for}\n"
            f"what_triggers_block: {block}\nwhat_triggers_warn: {warn}"
        )
    return "\n\n".join((*parts, ACKNOWLEDGED)) + "\n"


def review_of(role: str, contract: Contract, found: Sequence[Finding]) -> str:
    """Write Phase 2: what was found, under the dimension that it belongs to."""
    scores: dict[str, Score] = {}
    body = []
    for one, kinds in zip(contract.acceptance_dimensions, _kinds(contract).values(), strict=True):
        mine = [finding for finding in found if finding.kind in kinds]
        scores[one.id] = "block" if len(mine) >= BLOCKS else "warn" if mine else "pass"
        said = [f"- {Stated(line, line, _words(kind), text)}" for line, kind, text in mine]
        what = counted(len(mine), "error") if mine else "nothing that I object to"
        body.append("\n".join([f"{_name(one)}: {scores[one.id]}, {what}.", *said]))
    return report_text(role, contract, scores, body)


def _kinds(contract: Contract) -> dict[str, list[str]]:
    """Return the kinds of error that belong to each dimension, by its id."""
    ids = {one.name: one.id for one in contract.acceptance_dimensions}
    found: dict[str, list[str]] = {one: [] for one in ids.values()}
    for kind in CHECKS:
        name = DIMENSIONS.get(kind, "domain_accuracy")
        found[ids.get(name, contract.acceptance_dimensions[0].id)].append(kind)
    return found


def _name(one: Dimension) -> str:
    return f"{one.id} {one.name}"


def _words(kind: str) -> str:
    return kind.replace("_", " ")
