"""Phase 2: what a simulated reviewer measures on the text, held to its own plan (spec 5, R-P4, R-P5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from moot.bots.minds.simulated.panel.clauses import Clause, Trigger, firing, read
from moot.bots.minds.simulated.panel.found import Found
from moot.bots.minds.simulated.panel.measures import MEASURES
from moot.bots.minds.simulated.panel.paper import Paper, read_paper
from moot.bots.minds.simulated.panel.plan import NOBODY, cut, shown
from moot.bots.minds.simulated.panel.standards import ROLES
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.wording import Voice, counted, paragraph
from moot.bots.tools.seeding import generator
from moot.protocols.panel.contract import Contract, Dimension, Score
from moot.protocols.panel.lint_phase1 import lint_phase1
from moot.protocols.panel.report_text import report_text

SUMMED: Final = {"words": "word", "sections": "section", "citations": "cited work", "numbers": "number"}
"""What a review tells of every text, and how it is called."""
_FIGURE: Final = re.compile(r"\d+")
PHRASES: Final = Phrases("panel/reviewer")

DISSENTS: Final = 0.3
"""Chance that a reviewer dissents from a trigger that holds by a hair."""


@dataclass(slots=True)
class _Judged:
    """A dimension, as its committed plan judges it."""

    dimension: Dimension
    block: list[tuple[Clause, ...]]
    warn: list[tuple[Clause, ...]]
    plan: Trigger
    foreign: Sequence[str]
    is_dissented: bool = False

    @property
    def score(self) -> Score:
        if self.block:
            return "block"
        return "warn" if self.warn and not self.is_dissented else "pass"


def review(role: str, contract: Contract, phase1_output: str, paper_text: str, seed: int) -> str:
    """Write Phase 2.

    Raises:
        ValueError: Phase 1 does not pass its lint: there is no plan to hold to.
        SynthesisAborted: A condition's expression is unrecognised (R-P3).
    """
    committed = lint_phase1(phase1_output, contract)
    if not committed.is_clean:
        raise ValueError(f"there is no plan to review by: {committed.findings[0]}")
    paper = read_paper(paper_text)
    # Nothing of the paper draws: what a paper says, and how long it is, must not move a reviewer's dice.
    rng = generator("panel", seed, "review", role, _FIGURE.sub("", phase1_output))
    voice = Voice(rng)
    judged = [_judged(one, committed.plan[one.id], paper) for one in contract.acceptance_dimensions]
    dissent = _dissent(judged, paper, rng)
    scores = {one.dimension.id: one.score for one in judged}
    set_aside = None
    if dissent is not None:
        clause = dissent.warn[0][0]
        why = voice.say(PHRASES["dissent"], clause=str(clause), value=_value(clause, paper))
        set_aside = (dissent.dimension.id, why)
    return report_text(role, contract, scores, _body(role, judged, paper, voice), set_aside)


def _judged(dimension: Dimension, plan: Mapping[str, str], paper: Paper) -> _Judged:
    """Hold a dimension to what was committed for it, and to nothing else."""
    block, odd_block = read(plan["what_triggers_block"])
    warn, odd_warn = read(plan["what_triggers_warn"])
    return _Judged(
        dimension, firing(block, paper), firing(warn, paper), (*block, *warn), (*odd_block, *odd_warn)
    )


def _dissent(judged: Sequence[_Judged], paper: Paper, rng: np.random.Generator) -> _Judged | None:
    """Now and then set one trigger aside: one that warns alone, and by a hair. Never two, never one that blocks."""
    draw = float(rng.random())
    narrow = [
        one
        for one in judged
        if one.score == "warn"
        and len(one.warn) == 1
        and len(one.warn[0]) == 1
        and one.warn[0][0].is_narrow(paper)
    ]
    if not narrow or draw >= DISSENTS:
        return None
    chosen = narrow[int(rng.integers(len(narrow)))]
    chosen.is_dissented = True
    return chosen


# ---------------------------------------------------------------- the body


def _body(role: str, judged: Sequence[_Judged], paper: Paper, voice: Voice) -> Iterator[str]:
    yield voice.say(
        PHRASES["summaries"],
        says=ROLES.get(role, NOBODY).says,
        title=shown(paper.title) if paper.title else "without a title",
        **{name: _counted(paper[name], noun) for name, noun in SUMMED.items()},
        length=_number(paper["sentence_length"]),
    )
    for one in judged:
        yield paragraph(_said(one, paper, voice), _besides(one, paper), _foreign(one))
    if paper.addressed:
        yield PHRASES["addressed"][0].format(
            count=counted(len(paper.addressed), "line"), example=shown(paper.addressed[0])
        )
    yield voice.pick(PHRASES["closings"])


def _said(one: _Judged, paper: Paper, voice: Voice) -> str:
    names = {"id": one.dimension.id, "name": one.dimension.name}
    if one.is_dissented:
        clause = one.warn[0][0]
        return PHRASES["set_aside"][0].format(**names, clause=clause, value=_value(clause, paper))
    if one.score == "pass":
        return voice.say(PHRASES["passes"], **names, seen=_seen(one, paper, voice))
    reasons = _reasons(one.block or one.warn, paper)
    return voice.say(PHRASES["fired"], **names, score=one.score, reasons=reasons)


def _besides(one: _Judged, paper: Paper) -> str:
    """Tell what warns beside what blocks; what was measured for a block is not told again under a lower limit."""
    told = {(clause.measure, clause.about) for tests in one.block for clause in tests}
    more = [tests for tests in one.warn if not {(clause.measure, clause.about) for clause in tests} <= told]
    return PHRASES["warned_besides"][0].format(reasons=_reasons(more, paper)) if one.block and more else ""


def _foreign(one: _Judged) -> str:
    return PHRASES["foreign"][0].format(texts=", ".join(map(shown, one.foreign[:3]))) if one.foreign else ""


def _reasons(alternatives: Sequence[tuple[Clause, ...]], paper: Paper) -> str:
    """Tell triggers in their committed words, with what was measured."""
    return "; ".join(
        " and ".join(f"{clause}{_measured(clause, paper)}" for clause in one) for one in alternatives
    )


def _measured(clause: Clause, paper: Paper) -> str:
    """Tell what was measured, but where the clause says that there is nothing."""
    found = clause.measured(paper)
    if clause.relation == "no" and not found.value:
        return ""
    return f" ({_number(found)} measured{_examples(found)})"


def _seen(one: _Judged, paper: Paper, voice: Voice) -> str:
    """Name the first committed measure of which there is something."""
    for clause in (clause for tests in one.plan for clause in tests):
        found = clause.measured(paper)
        if clause.measure and found.value and found.examples and clause.relation != "above":
            measure, value = MEASURES[clause.measure], _number(found)
            told = f"{value} {measure.one if value == '1' else measure.many}"
            if not measure.many:
                told = f"a {measure.one} of {value} {measure.unit}".rstrip()
            return voice.say(PHRASES["seen"], found=told, examples=_examples(found))
    return ""


def _value(clause: Clause, paper: Paper) -> str:
    return _number(clause.measured(paper))


def _number(found: Found) -> str:
    return "none" if found.value is None else f"{found.value:g}" if found.value % 1 else f"{found.value:.0f}"


def _counted(found: Found, noun: str) -> str:
    return counted(int(found.value or 0), noun)


def _examples(found: Found) -> str:
    """Quote where something was seen, in the middle of a line."""
    return (
        f", such as {shown(cut(found.examples[0].lstrip('-* ')))}" if found.value and found.examples else ""
    )
