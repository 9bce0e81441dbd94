"""What the synthesizer wrote, read and written by the pinned grammar."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from moot.protocols.kernel.figures import NEWEST, SECOND_AUDIT
from moot.protocols.panel.contract import Action, Contract
from moot.protocols.panel.findings import LintFinding
from moot.protocols.panel.grammar import WRAPPED, Said, one_line, page, wrapping_fence
from moot.protocols.panel.pinned import ParseError, shown, single, stated_decision


class SynthesisError(ParseError):
    """Refuse a synthesis (exit code 1)."""

    tag = "SYNTHESIS-PARSE"


@dataclass(frozen=True, slots=True)
class SynthesisText:
    """What a synthesizer declares: the fired conditions in the contract's order, and the decision."""

    fired: tuple[str, ...]
    decision: Action

    def lines(self) -> Iterator[str]:
        """Write it as `parse_synthesis` reads it."""
        yield f"fired_conditions: [{', '.join(self.fired)}]"
        yield self.decision


def parse_synthesis(text: str, contract: Contract, version: int = NEWEST) -> SynthesisText:
    """Read what a synthesizer wrote.

    Args:
        text: What it wrote.
        contract: What it keeps to.
        version: The rules version that the panel sits under; earlier ones tell of a wrapped text what is missing.

    Raises:
        SynthesisError: It is not written by the grammar; all faults are told.
    """
    whole = page(text)
    faults: list[LintFinding] = []
    known = [one.condition_id for one in contract.failure_conditions]
    line = single(whole, "fired_conditions: ", "fired_conditions", faults)
    fired = set() if line is None else _fired(line, known, faults)
    decision = stated_decision(whole, None, faults)
    if faults and version >= SECOND_AUDIT and (place := wrapping_fence(text)):
        why = f"no line begins with 'fired_conditions:' {WRAPPED}"
        raise SynthesisError([LintFinding("fired_conditions", place, why)])
    if faults or decision is None:
        raise SynthesisError(faults)
    return SynthesisText(tuple(one for one in known if one in fired), decision)


def _fired(line: Said, known: Collection[str], faults: list[LintFinding]) -> set[str]:
    value = line.value or ""
    if not (value.startswith("[") and value.endswith("]") and len(value) > 1):
        why = f"{shown(line, 'fired_conditions:')} is no list: write the ids in square brackets"
        faults.append(LintFinding("fired_conditions", line.line, why))
        return set()
    names = [name.strip(" \t") for name in value[1:-1].split(",")] if value[1:-1].strip() else []
    for name in dict.fromkeys(names):
        if name not in known:
            why = f"'{one_line(name, 40)}' is no condition of the contract"
            faults.append(LintFinding("fired_conditions", line.line, why))
    if len(set(names)) < len(names):
        faults.append(LintFinding("fired_conditions", line.line, "a condition stands there twice"))
    return set(names)
