"""Whether a reviewer committed itself before it saw the work: the lint of Phase 1 (spec 4).

It looks at structure alone. Whether a trigger is any good is not judged, and a reviewer that writes of the paper it has
not seen is stopped by what it is shown, not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moot.protocols.kernel.figures import NEWEST, SECOND_AUDIT
from moot.protocols.panel.audit import ACKNOWLEDGED
from moot.protocols.panel.contract import Contract, Dimension
from moot.protocols.panel.findings import LintFinding
from moot.protocols.panel.grammar import WRAPPED, Block, blocks, one_line, page, wrapping_fence

PARAPHRASE: Final = "Contract Paraphrase"
PLAN: Final = "Scoring Plan"

_SUBSECTION: Final = re.compile(r"(D[1-9][0-9]?): +\S.*")
_FIELD: Final = re.compile(
    r"[ \t]{0,8}(?:[-*+][ \t]{1,4})?[*_`]{0,3}"
    r"(dimension_id|what_to_look_for|what_triggers_block|what_triggers_warn)"
    r"[*_`]{0,3}[ \t]{0,4}:[*_`]{0,3}(.*)"
)
_ITEM: Final = re.compile(r"[ \t]{0,8}(?:[-*+]|[0-9]{1,2}[.)])[ \t]")
_ID: Final = re.compile(r"\bD[1-9][0-9]?\b")
_WORD: Final = re.compile(r"[^\W_]+")


CHECKS: Final = ("sections", "paraphrase", "scoring_plan", "scoring_fields", "acknowledged")
"""What may fail."""


@dataclass(frozen=True, slots=True)
class Phase1:
    """What a reviewer committed itself to.

    Attributes:
        plan: By dimension, what it wrote for each field of the scoring plan; only what could be read.
        findings: What is missing, in the order of the text's rules; none when the lint passes.
    """

    plan: Mapping[str, Mapping[str, str]]
    findings: tuple[LintFinding, ...]

    @property
    def is_clean(self) -> bool:
        """Say whether the lint passes."""
        return not self.findings


def lint_phase1(text: str, contract: Contract, version: int = NEWEST) -> Phase1:
    """Judge a Phase 1 output of any shape and read its scoring plan.

    The sections stand once each and in order; the paraphrase has a paragraph of its own for as many dimensions as the
    contract asks; the plan has one subsection per dimension with a line per field; the acknowledgement is last.

    Args:
        text: What the reviewer wrote.
        contract: What it commits itself to.
        version: The rules version that the panel sits under; earlier ones tell of a wrapped text what is missing.
    """
    found = _lint(text, contract)
    if found.findings and version >= SECOND_AUDIT and (line := wrapping_fence(text)):
        why = f"there is no section '## {PARAPHRASE}' {WRAPPED}"
        return Phase1(found.plan, (LintFinding("sections", line, why),))
    return found


def _lint(text: str, contract: Contract) -> Phase1:
    whole = page(text)
    findings: list[LintFinding] = []
    sections: dict[str, list[Block]] = {PARAPHRASE: [], PLAN: []}
    for block in blocks(whole, 2)[1:]:
        if block.title in sections:
            sections[block.title].append(block)
    for title, there in sections.items():
        if not there:
            findings.append(LintFinding("sections", 0, f"there is no section '## {title}'"))
        elif len(there) > 1:
            why = f"the section '## {title}' stands there {len(there)} times"
            findings.append(LintFinding("sections", there[1].line, why))
    paraphrase, plan = (there[0] if there else None for there in sections.values())
    if paraphrase and plan and paraphrase.line > plan.line:
        findings.append(LintFinding("sections", plan.line, f"'## {PLAN}' stands before '## {PARAPHRASE}'"))
    if paraphrase:
        findings += _paraphrase(paraphrase, contract)
    committed: dict[str, dict[str, str]] = {}
    if plan:
        committed = _plan(plan, contract, findings)
    last = next((n for n in range(len(whole.lines), 0, -1) if whole.lines[n - 1].strip()), 0)
    if not last or whole.lines[last - 1] != ACKNOWLEDGED:
        findings.append(LintFinding("acknowledged", last, f"the last line is not {ACKNOWLEDGED}"))
    return Phase1(committed, tuple(findings))


# ---------------------------------------------------------------- paraphrase


def _paraphrase(section: Block, contract: Contract) -> Iterator[LintFinding]:
    dimensions = contract.acceptance_dimensions
    asked = contract.measurement_procedure.paraphrase_minimum_dimensions
    needed = len(dimensions) if asked == "all" else asked
    mentions = Mentions(dimensions)
    own = _matched([mentions.of(text) for text in paragraphs(section)], [one.id for one in dimensions])
    if len(own) >= needed:
        return
    missing = [f"{one.id} {one.name}" for one in dimensions if one.id not in own]
    yield LintFinding(
        "paraphrase",
        section.line,
        f"{len(own)} of the dimensions have a paragraph of their own that names them, the contract asks for {needed}: "
        f"missing {', '.join(missing[:10])}{', …' if len(missing) > 10 else ''}"
        if missing
        else f"the contract asks for {needed} paragraphs and has only {len(dimensions)} dimensions",
    )


def paragraphs(section: Block) -> Iterator[str]:
    """Yield the paragraphs of a section: runs of lines without a blank one; an item of a list is one, too.

    A heading belongs to the paragraph that follows it and is none by itself.
    """
    heading, run = "", list[str]()
    for line in (*section.lines, ""):
        is_heading = line.startswith("###")
        if run and (is_heading or not line.strip() or _ITEM.match(line)):
            yield "\n".join((heading, *run))
            heading, run = "", []
        if is_heading:
            heading = line
        elif line.strip():
            run.append(line)


class Mentions:
    """Finds which dimensions a text names, by id or by name; blanks and hyphens may stand for underscores."""

    def __init__(self, dimensions: Iterable[Dimension]) -> None:
        """Learn the dimensions."""
        self._ids: set[str] = set()
        self._names: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for one in dimensions:
            self._ids.add(one.id)
            words = tuple(_WORD.findall(one.name))
            self._names.setdefault(words[0], []).append((words, one.id))
        for found in self._names.values():
            found.sort(reverse=True, key=lambda name: len(name[0]))

    def of(self, text: str) -> set[str]:
        """Return the ids of the dimensions that a text names; of overlapping names the longest counts."""
        found = self._ids.intersection(_ID.findall(text))
        words = _WORD.findall(text.casefold())
        n = 0
        while n < len(words):
            step = 1
            for name, one in self._names.get(words[n], ()):
                if tuple(words[n : n + len(name)]) == name:
                    found.add(one)
                    step = len(name)
                    break
            n += step
        return found


def _matched(mentions: Iterable[set[str]], ids: Sequence[str]) -> set[str]:
    """Give as many dimensions as possible a paragraph of their own; return those that have one."""
    # As many paragraphs as there are dimensions always suffice for one of them: more are not looked at.
    options: dict[str, list[int]] = {one: [] for one in ids}
    for n, named in enumerate(mentions):
        for one in named:
            if len(options[one]) < len(ids):
                options[one].append(n)
    owner: dict[int, str] = {}

    def place(one: str, tried: set[int]) -> bool:
        for n in options[one]:
            if n not in tried:
                tried.add(n)
                if n not in owner or place(owner[n], tried):
                    owner[n] = one
                    return True
        return False

    return {one for one in ids if place(one, set())}


# ---------------------------------------------------------------- scoring plan


def _plan(section: Block, contract: Contract, findings: list[LintFinding]) -> dict[str, dict[str, str]]:
    """Read the scoring plan; tell what is missing."""
    required = contract.measurement_procedure.scoring_plan_schema.required
    ids = [one.id for one in contract.acceptance_dimensions]
    committed: dict[str, dict[str, str]] = {}
    for block in blocks(section, 3)[1:]:
        match = _SUBSECTION.fullmatch(block.title)
        name = match[1] if match else ""
        if not match:
            why = f"'### {one_line(block.title, 60)}' is not written as ### D1: name"
        elif name not in ids:
            why = f"{name} is not the contract's"
        elif name in committed:
            why = f"{name} stands there twice"
        else:
            committed[name] = _fields(block)
            findings += _gaps(name, block.line, committed[name], required)
            continue
        findings.append(LintFinding("scoring_plan", block.line, why))
    findings += [
        LintFinding("scoring_plan", section.line, f"{name} has no subsection '### {name}: …'")
        for name in ids
        if name not in committed
    ]
    return committed


def _fields(block: Block) -> dict[str, str]:
    """Read the fields of a subsection; a field goes on over further lines up to a blank one."""
    found: dict[str, list[str]] = {}
    field = ""
    for line in block.lines:
        if match := _FIELD.fullmatch(line):
            field = match[1]
            found.setdefault(field, []).append(match[2])
        elif line == ACKNOWLEDGED or (not line and field and any(map(str.strip, found[field]))):
            field = ""
        elif field:
            found[field].append(line)
    return {name: " ".join(" ".join(lines).split()).strip("*_` ") for name, lines in found.items()}


def _gaps(name: str, line: int, fields: Mapping[str, str], required: Iterable[str]) -> Iterator[LintFinding]:
    for field in required:
        if not fields.get(field):
            why = "has no line" if field not in fields else "says nothing after"
            yield LintFinding("scoring_fields", line, f"{name} {why} '{field}:'")
    stated = fields.get("dimension_id")
    if stated and stated != name:
        yield LintFinding("scoring_fields", line, f"{name} says dimension_id: {one_line(stated, 20)}")
