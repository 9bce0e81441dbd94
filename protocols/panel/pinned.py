"""Pinned lines that stand in a text exactly once; the decision is one that reviewers and synthesizer both state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from moot.protocols.kernel.errors import ProtocolError
from moot.protocols.panel.contract import ACTIONS, Action
from moot.protocols.panel.findings import LintFinding, told
from moot.protocols.panel.grammar import Block, Said, one_line, said

DECISION: Final = "Editorial Decision"

_ACTION: Final[Mapping[str | None, Action]] = {action.partition("=")[2]: action for action in ACTIONS}


class ParseError(ProtocolError):
    """Say why a text is not written by the grammar.

    Attributes:
        tag: The name of its audit tag.
        faults: All of them, by section.
    """

    tag: ClassVar[str]

    def __init__(self, faults: Sequence[LintFinding]) -> None:
        """Keep the faults."""
        super().__init__(f"[{self.tag}: {'; '.join(told(faults))}]")
        self.faults = tuple(faults)


def single(block: Block, key: str, check: str, faults: list[LintFinding], where: str = "") -> Said | None:
    """Return the one line of a block that begins with a key; none or several are a fault.

    Args:
        block: Where to look.
        key: As `said` takes it.
        check: The rule that is broken otherwise.
        faults: Takes what is wrong.
        where: Goes before it.
    """
    there = list(said(block, key))
    if len(there) == 1:
        return there[0]
    if there:
        lines = ", ".join(str(one.line) for one in there[:5]) + (", …" if len(there) > 5 else "")
        why = f"{where}{len(there):,} lines begin with '{key.rstrip()}': {lines}"
        faults.append(LintFinding(check, there[1].line, why))
    else:
        faults.append(LintFinding(check, block.line, f"{where}no line begins with '{key.rstrip()}'"))
    return None


def shown(one: Said, key: str) -> str:
    """Quote a pinned line that is not as pinned."""
    return (
        f"'{one_line(one.value, 40)}'" if one.value is not None else f"a line without a blank after '{key}'"
    )


def stated_decision(whole: Block, section: Block | None, faults: list[LintFinding]) -> Action | None:
    """Return the one decision that a text states, inside its section.

    Args:
        whole: The text.
        section: Where the decision belongs; None when that is not there, or not once.
        faults: Takes what is wrong.
    """
    one = single(whole, "editorial_decision=", "decision", faults)
    if one is None:
        return None
    if section is not None and not section.line <= one.line <= section.line + len(section.lines):
        faults.append(LintFinding("decision", one.line, f"the decision does not stand in '## {DECISION}'"))
    if one.value not in _ACTION:
        known = ", ".join(filter(None, _ACTION))
        faults.append(
            LintFinding("decision", one.line, f"{shown(one, 'editorial_decision=')} is none of {known}")
        )
        return None
    return _ACTION[one.value]
