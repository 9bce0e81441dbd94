"""What a reviewer wrote in Phase 2, read by the pinned grammar.

Nothing is guessed: a line that begins with a pinned key is written as pinned or is a fault, and so is whatever stands
twice, is missing or is not the contract's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from moot.protocols.kernel.figures import NEWEST, SECOND_AUDIT
from moot.protocols.panel.contract import SCORES, Action, Contract, Score
from moot.protocols.panel.findings import LintFinding
from moot.protocols.panel.grammar import WRAPPED, Block, blocks, one_line, page, said, wrapping_fence
from moot.protocols.panel.pinned import DECISION, ParseError, shown, single, stated_decision

DIMENSIONS: Final = "Dimension Scores"
CONDITIONS: Final = "Failure Condition Checks"
BODY: Final = "Review Body"
DISSENT: Final = "Scoring Plan Dissent"

_ROLE: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_ID: Final = re.compile(r"\bD[1-9][0-9]?\b")
_GAP: Final = r"[*_`]{0,3}[ \t]{0,4}"
_ENTRY: Final = re.compile(
    r"[ \t]{0,8}(?:(?:[-*+]|[0-9]{1,2}[.)]|#{3,6})[ \t]{1,4})?[*_`]{0,3}"
    rf"(?:[Dd]imension(?:_ids?)?{_GAP}[:=]?{_GAP}\[?[*_`]{{0,3}})?"
    rf"(D[1-9][0-9]?\b(?:{_GAP}(?:,|&|/|and\b){_GAP}[*_`]{{0,3}}D[1-9][0-9]?\b){{0,99}})"
)
"""How a line of the dissent begins that names dimensions: `### D2: name`, `- dimension_id: D2`, `D2, D3: why`."""


class _Pinned(NamedTuple):
    """A kind of subsection with one pinned line.

    Attributes:
        check: The rule that its faults belong to.
        heading: What stands after `### `; the first group is the id.
        example: A heading as it should be.
        key: How the pinned line begins.
        values: What may follow.
    """

    check: str
    heading: re.Pattern[str]
    example: str
    key: str
    values: tuple[str, ...]


_SCORE: Final = _Pinned(
    "dimension_scores", re.compile(r"(D[1-9][0-9]?): +\S.*"), "### D1: name", "score: ", SCORES[::-1]
)
_FIRED: Final = _Pinned(
    "failure_condition_checks", re.compile(r"(F(?:0|[1-9][0-9]?))"), "### F1", "fired: ", ("true", "false")
)


class ReportError(ParseError):
    """Refuse a reviewer's report: the reviewer is unusable (exit code 3)."""

    tag = "REPORT-PARSE"


@dataclass(frozen=True, slots=True)
class Report:
    """A reviewer's Phase 2, as written.

    Attributes:
        scores: By dimension, in the contract's order.
        fired: What the reviewer declares of each condition, in the contract's order.
        dissent: Dimensions whose committed plan the reviewer sets aside, without repeats.
        body: The Review Body; "" when there is none.
    """

    role: str
    scores: Mapping[str, Score]
    fired: Mapping[str, bool]
    decision: Action
    dissent: tuple[str, ...] = ()
    body: str = ""


@dataclass(slots=True)
class Reading:
    """A report as far as it can be read.

    Attributes:
        sections: Its blocks of level 2 by title, in the order of the text.
        faults: What the grammar does not allow, by the checks `role`, `sections`, `dimension_scores`,
            `failure_condition_checks` and `decision`.
        is_wrapped: Whether a code fence is around the whole report; its one fault then says so.
    """

    sections: Mapping[str, Sequence[Block]]
    role: str | None = None
    scores: Mapping[str, Score] = field(default_factory=dict)
    fired: Mapping[str, bool] = field(default_factory=dict)
    decision: Action | None = None
    dissent: tuple[str, ...] = ()
    body: str = ""
    faults: list[LintFinding] = field(default_factory=list)
    is_wrapped: bool = False


def parse_report(text: str, contract: Contract) -> Report:
    """Read a reviewer's report.

    Raises:
        ReportError: It is not written by the grammar; all faults are told.
    """
    found = read_report(text, contract)
    if found.faults or found.role is None or found.decision is None:
        raise ReportError(found.faults)
    return Report(found.role, found.scores, found.fired, found.decision, found.dissent, found.body)


def read_report(text: str, contract: Contract, version: int = NEWEST) -> Reading:
    """Read a report of any shape: what it says, and what is wrong with it.

    Args:
        text: What the reviewer wrote.
        contract: What it keeps to.
        version: The rules version that the panel sits under; earlier ones tell of a wrapped report what is missing.
    """
    found = _read(text, contract)
    if found.faults and version >= SECOND_AUDIT and (line := wrapping_fence(text)):
        found.faults[:] = [LintFinding("sections", line, f"there is no section '## {DIMENSIONS}' {WRAPPED}")]
        found.is_wrapped = True
    return found


def _read(text: str, contract: Contract) -> Reading:
    whole = page(text)
    sections: dict[str, list[Block]] = {}
    for block in blocks(whole, 2)[1:]:
        sections.setdefault(block.title, []).append(block)
    found = Reading(sections)
    faults = found.faults
    found.role = _role(whole, faults)
    dimensions = [one.id for one in contract.acceptance_dimensions]
    conditions = [one.condition_id for one in contract.failure_conditions]
    scores = _values(_only(found, DIMENSIONS), _SCORE, dimensions, faults)
    found.scores = {one: score for one, value in scores.items() for score in SCORES if score == value}
    fired = _values(_only(found, CONDITIONS), _FIRED, conditions, faults)
    found.fired = {one: value == "true" for one, value in fired.items()}
    found.decision = stated_decision(whole, _only(found, DECISION), faults)
    named = (one for block in sections.get(DISSENT, ()) for one in _dissent(block))
    found.dissent = tuple(dict.fromkeys(named))
    found.body = "\n".join(line for block in sections.get(BODY, ()) for line in block.lines).strip()
    return found


def _role(whole: Block, faults: list[LintFinding]) -> str | None:
    one = single(whole, "contract_role: ", "role", faults)
    if one is None:
        return None
    if one.value is None or not _ROLE.fullmatch(one.value):
        why = f"{shown(one, 'contract_role:')} is no role: write one in lower snake case, such as eic"
        faults.append(LintFinding("role", one.line, why))
        return None
    return one.value


def _only(found: Reading, title: str) -> Block | None:
    """Return the one section of a title; none or several are a fault."""
    there = found.sections.get(title, ())
    if len(there) == 1:
        return there[0]
    if there:
        why = f"the section '## {title}' stands there {len(there):,} times"
        found.faults.append(LintFinding("sections", there[1].line, why))
    else:
        found.faults.append(LintFinding("sections", 0, f"there is no section '## {title}'"))
    return None


def _values(
    section: Block | None, kind: _Pinned, ids: Sequence[str], faults: list[LintFinding]
) -> dict[str, str]:
    """Read the subsections of a section: all and only the contract's, with one pinned line each.

    Returns:
        The values by id, in the contract's order; what is faulty is left out.
    """
    if section is None:
        return {}
    found: dict[str, str] = {}
    for name, block in _parts(section, kind, ids, faults).items():
        one = single(block, kind.key, kind.check, faults, f"{name}: ")
        if one is None:
            continue
        if one.value in kind.values:
            found[name] = one.value
        else:
            why = f"{name}: {shown(one, kind.key.rstrip())} is none of {', '.join(kind.values)}"
            faults.append(LintFinding(kind.check, one.line, why))
    return found


def _parts(section: Block, kind: _Pinned, ids: Sequence[str], faults: list[LintFinding]) -> dict[str, Block]:
    """Return the subsections by id, in the contract's order; tell of those that are missing or one too many."""
    first, *subsections = blocks(section, 3)
    key, check = kind.key.rstrip(), kind.check
    faults += [
        LintFinding(check, one.line, f"'{key}' stands before any heading") for one in said(first, kind.key)
    ]
    found: dict[str, Block] = {}
    for block in subsections:
        match = kind.heading.fullmatch(block.title)
        if not match:
            why = f"'### {one_line(block.title, 60)}' is not written as {kind.example}"
        elif match[1] not in ids:
            why = f"{match[1]} is not the contract's"
        elif match[1] in found:
            why = f"{match[1]} stands there twice"
        else:
            found[match[1]] = block
            continue
        faults.append(LintFinding(check, block.line, why))
    faults += [LintFinding(check, section.line, f"{name} is missing") for name in ids if name not in found]
    return {name: found[name] for name in ids if name in found}


def _dissent(section: Block) -> Iterator[str]:
    """Yield the dimensions of a dissent: those that begin a line, or, when none does, all that are mentioned."""
    entries = [match[1] for line in section.lines if (match := _ENTRY.match(line))]
    for text in entries or section.lines:
        yield from _ID.findall(text)
