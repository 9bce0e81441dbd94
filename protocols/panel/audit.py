"""The tags of the audit log, each in one line: `[NAME: key=value, …]` (spec 11, R-P7).

What others wrote is quoted without brackets and control characters, so that nobody writes a tag but we.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from moot.protocols.panel.contract import Action
from moot.protocols.panel.grammar import one_line

ACKNOWLEDGED: Final = "[CONTRACT-ACKNOWLEDGED]"
SYNTHESIS_MISMATCH: Final = "[SYNTHESIS-MISMATCH]"

MOST_QUOTED: Final = 200

_ROUND: Final = str.maketrans("[]", "()")
_INDEX: Final = re.compile(r"(\[[0-9]+\])")
"""How a place in a contract names an entry: the one use of brackets that is kept."""


def phase1_failed(reviewer: str, contract_id: str) -> str:
    """Tag a reviewer whose Phase 1 failed its lint twice."""
    return _violation(reviewer, contract_id, "phase1_lint_failed=true")


def phase2_failed(reviewer: str, contract_id: str, check: str) -> str:
    """Tag a reviewer whose Phase 2 failed a check of its lint."""
    return _violation(reviewer, contract_id, f"phase2_lint_failed={check}")


def multi_dissent(reviewer: str, contract_id: str) -> str:
    """Tag a reviewer that set two dimensions or more aside, and again after its restart."""
    return _violation(reviewer, contract_id, "multi_dissent=true")


def timed_out(reviewer: str, contract_id: str, phase: str) -> str:
    """Tag a reviewer that was silent until it was ruled so."""
    return _violation(reviewer, contract_id, f"timed_out={phase}")


def panel_shrunk(usable: int, panel_size: int) -> str:
    """Tag a round that is aborted since not every reviewer is usable."""
    return f"[PANEL-SHRUNK: usable={usable}, panel_size={panel_size}]"


def expression_unrecognised(condition_id: str, expression: str) -> str:
    """Tag an expression that the grammar does not have."""
    # A blank at an end, two in a row or a line break is what is wrong with many: it must show.
    is_plain = expression.isprintable() and "  " not in f" {expression} "
    shown = _quoted(expression) if is_plain else ascii(expression)[:MOST_QUOTED].translate(_ROUND)
    return f"[EXPRESSION-UNRECOGNISED: condition_id={condition_id}, expression={shown}]"


def expression_semantic(condition_id: str, why: str) -> str:
    """Tag an expression about a dimension or a priority that the contract lacks; R-P3 has it unrecognised, too."""
    return f"[EXPRESSION-SEMANTIC: condition_id={condition_id}, {_quoted(why)}]"


def contract_invalid(why: str) -> str:
    """Tag a contract that breaks its schema or an invariant, or cannot be read."""
    parts = _INDEX.split(one_line(why, MOST_QUOTED))
    return f"[CONTRACT-INVALID: {''.join(s if n % 2 else s.translate(_ROUND) for n, s in enumerate(parts))}]"


def contract_ineligible(why: str) -> str:
    """Tag a contract that is valid but cannot be put before a panel."""
    return f"[CONTRACT-INELIGIBLE: {_quoted(why)}]"


def panel_cardinality(why: str) -> str:
    """Tag a panel with too many or too few reports, or others than it should have."""
    return f"[PANEL-CARDINALITY: {_quoted(why)}]"


def io_error(file: str, why: str) -> str:
    """Tag a file that cannot be read as text."""
    return f"[IO-ERROR: {_quoted(file)}: {_quoted(why)}]"


def report_parse(file: str, why: str) -> str:
    """Tag a fault of a reviewer's report."""
    return f"[REPORT-PARSE: {_quoted(file)}: {_quoted(why)}]"


def flag_inconsistent(file: str, reviewer: str, condition_id: str, declared: str, recomputed: str) -> str:
    """Tag a flag that a reviewer's own scores contradict."""
    what = f"condition={condition_id}, declared={declared}, recomputed={recomputed}"
    return f"[REVIEWER-SELF-INCONSISTENT: reviewer={_quoted(reviewer)}, file={_quoted(file)}, {what}]"


def decision_inconsistent(file: str, reviewer: str, declared: str, recomputed: str) -> str:
    """Tag a decision that a reviewer's own flags contradict."""
    what = f"decision_declared={declared}, decision_recomputed={recomputed}"
    return f"[REVIEWER-SELF-INCONSISTENT: reviewer={_quoted(reviewer)}, file={_quoted(file)}, {what}]"


def synthesis_parse(file: str, why: str) -> str:
    """Tag a fault of a synthesis."""
    return f"[SYNTHESIS-PARSE: {_quoted(file)}: {_quoted(why)}]"


def panel_synthesis_mismatch(
    recomputed_fired: Iterable[str], declared_fired: Iterable[str], recomputed: Action, stated: Action
) -> str:
    """Tag a synthesis that the scores contradict."""
    return (
        f"[PANEL-SYNTHESIS-MISMATCH: recomputed_fired=[{', '.join(recomputed_fired)}], "
        f"declared_fired=[{', '.join(declared_fired)}], recomputed={recomputed}, stated={stated}]"
    )


def injection_suspected(where: str, lines: int) -> str:
    """Tag a text that speaks to its readers, as a work or a commitment should not; it is data and changes nothing."""
    return f"[INJECTION-SUSPECTED: in={_quoted(where)}, lines={lines}]"


def suppressed(what: str, why: str) -> str:
    """Say that something could not be computed; never a fault by itself."""
    return f"[SUPPRESSED: {_quoted(what)}: {_quoted(why)}]"


def name_of(tag: str) -> str:
    """Return a tag's name: `[IO-ERROR: …]` gives IO-ERROR."""
    return tag.strip("[]").partition(":")[0]


def _violation(reviewer: str, contract_id: str, what: str) -> str:
    return f"[PROTOCOL-VIOLATION: reviewer={_quoted(reviewer)}, contract={_quoted(contract_id)}, {what}]"


def _quoted(text: str) -> str:
    return one_line(text, MOST_QUOTED).translate(_ROUND)
