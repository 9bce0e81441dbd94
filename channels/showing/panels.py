"""What the outputs of a panel come to in a few words: what was planned, scored, decided, and what a lint says.

For display only; the Orchestrator reads the outputs itself (sprint-contract-protocol, 4, 5, 8).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moot.protocols.panel.audit import ACKNOWLEDGED
from moot.protocols.panel.contract import ACTIONS, SCORES
from moot.protocols.panel.grammar import one_line, page

MOST_READ: Final = 200_000
"""Of a longer output only the end is read: the decision stands there, and a surface must not wait."""

MOST_TAGS: Final = 3

_PLANNED: Final = re.compile(r"### (D[1-9][0-9]?): ")
_SCORED: Final = re.compile(r"score: (block|warn|pass)")
_ACTIONS: Final = frozenset(ACTIONS)


def action(value: object, _arg: str = "") -> str:
    """Say a decision in words: `editorial_decision=major_revision` gives "major revision"."""
    text = value if isinstance(value, str) else ""
    return text.partition("=")[2].replace("_", " ") if text in _ACTIONS else "no decision"


def planned(value: object, _arg: str = "") -> str:
    """Say for how many dimensions an output of Phase 1 has a plan."""
    found = {match[1] for line in _lines(value) if (match := _PLANNED.match(line))}
    return f"plans for {len(found)} dimension{'' if len(found) == 1 else 's'}" if found else "no plan"


def judged(value: object, _arg: str = "") -> str:
    """Say what a report or a synthesis decides, and how often a report blocks and warns."""
    lines = _lines(value)
    stated = [line for line in lines if line.startswith("editorial_decision=")]
    decision = action(stated[0]) if len(stated) == 1 else "no decision" if not stated else "several decisions"
    scores = [match[1] for line in lines if (match := _SCORED.fullmatch(line))]
    told = ", ".join(f"{scores.count(one)} {one}" for one in SCORES[::-1] if one in scores)
    return f"{decision} ({told})" if told else decision


def notable(value: object, _arg: str = "") -> str:
    """Name the tags that must stand beside a decision, after a blank (R-P2)."""
    tags = [tag for tag in value if isinstance(tag, str)] if isinstance(value, Sequence) else []
    shown = list(dict.fromkeys(tag for tag in tags if tag != ACKNOWLEDGED))
    more = f" and {len(shown) - MOST_TAGS} more tags" if len(shown) > MOST_TAGS else ""
    return "".join(f" {one_line(tag)}" for tag in shown[:MOST_TAGS]) + more


def _lines(value: object) -> list[str]:
    if not isinstance(value, str):
        return []
    if len(value) > MOST_READ:
        # What begins in the middle of a line would make another line of it.
        value = value[value.find("\n", len(value) - MOST_READ) + 1 :]
    return list(page(value).lines)
