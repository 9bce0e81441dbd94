"""How a panel is shown: scores, conditions with their arithmetic, dissent, each Phase 1 beside its Phase 2, decision.

The last two lines are the synthesis in its pinned grammar, so that what is shown can be verified; nothing that others
wrote stands at the beginning of a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from textwrap import wrap
from typing import Final

from moot.protocols.panel.contract import Contract
from moot.protocols.panel.grammar import one_line
from moot.protocols.panel.reports import Report
from moot.protocols.panel.synthesis import Synthesis, needed_for
from moot.protocols.panel.synthesis_text import SynthesisText

Plan = Mapping[str, Mapping[str, str]]
"""What a reviewer committed itself to in Phase 1, by dimension and field."""

MOST_TRIGGER: Final = 300
MOST_BODY: Final = 1200
"""Of what a reviewer wrote so many characters are shown; the report has the rest."""

GAP: Final = 2
"""Blanks between columns."""

_TRIGGERS: Final = {"block": "what_triggers_block", "warn": "what_triggers_warn"}


def render(
    contract: Contract,
    synthesis: Synthesis,
    reports: Mapping[str, Report] | None = None,
    plans: Mapping[str, Plan] | None = None,
    *,
    written_by: Mapping[str, Iterable[str]] | None = None,
    width: int = 100,
) -> tuple[str, ...]:
    """Show a panel as lines of text.

    Args:
        contract: What it judged by.
        synthesis: What its scores lead to.
        reports: Phase 2 by role.
        plans: The scoring plan of Phase 1 by role, as far as it is known.
        written_by: By role, who wrote its texts, as far as it is known.
        width: Columns that prose and arithmetic are broken to; the matrix is as wide as it is.
    """
    reports = reports or {}
    least = needed_for("majority", contract.panel_size, synthesis.majority)
    return (
        f"{contract.contract_id}: {contract.panel_size} reviewers, {least} of them a majority",
        "",
        *_matrix(contract, synthesis),
        "",
        *_conditions(contract, synthesis, width),
        "",
        *_dissents(reports),
        *(
            line
            for role in reports
            for line in _reviewer(
                contract, reports[role], (plans or {}).get(role), by(written_by or {}, role), width
            )
        ),
        "",
        *synthesis.tags,
        *decision_lines(synthesis),
    )


def decision_lines(synthesis: Synthesis) -> tuple[str, ...]:
    """Write fired conditions and decision as the synthesizer states them; no decision when there is none."""
    if synthesis.editorial_decision is None:
        return ("no decision",)
    return tuple(SynthesisText(synthesis.fired_conditions, synthesis.editorial_decision).lines())


def table(rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Lay out rows of cells in columns."""
    cells = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    for row in cells:
        yield (" " * GAP).join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()


def _matrix(contract: Contract, synthesis: Synthesis) -> Iterator[str]:
    dimensions = contract.acceptance_dimensions
    roles = list(synthesis.matrix[dimensions[0].id])
    yield from table(
        [
            ["", "", "", *roles],
            *(
                [
                    one.id,
                    one_line(one.name, 40),
                    one.priority,
                    *(synthesis.matrix[one.id][role] for role in roles),
                ]
                for one in dimensions
            ),
        ]
    )


def _conditions(contract: Contract, synthesis: Synthesis, width: int) -> Iterator[str]:
    for one, evaluated in zip(contract.failure_conditions, synthesis.conditions, strict=True):
        mark = "fires" if evaluated.fired else "-"
        yield f"{one.condition_id:<3}  {mark:<5}  severity {one.severity:<3}  {one_line(one.expression)}"
        indent = "     "
        yield from wrap(evaluated.arithmetic, width, initial_indent=indent, subsequent_indent=f"{indent}  ")
    if synthesis.fired_conditions:
        chosen = next(
            one
            for one in sorted(contract.failure_conditions, key=lambda one: -one.severity)
            if one.condition_id in synthesis.fired_conditions
        )
        yield f"{chosen.condition_id} has the highest severity of those that fire: {_word(chosen.action)}"


def _dissents(reports: Mapping[str, Report]) -> Iterator[str]:
    if not reports:
        return
    found = [
        f"{role} sets {', '.join(report.dissent)} aside" for role, report in reports.items() if report.dissent
    ]
    yield f"dissent: {'; '.join(found) or 'none'}"


def by(written_by: Mapping[str, Iterable[str]], role: str) -> str:
    """Name a role and who wrote its texts: "eic (simulated, no model)"."""
    authors = " and ".join(written_by.get(role, ()))
    return f"{role} ({authors})" if authors else role


def _reviewer(contract: Contract, report: Report, plan: Plan | None, named: str, width: int) -> Iterator[str]:
    """Show what a reviewer committed itself to beside what it found."""
    yield ""
    fired = [name for name, is_fired in report.fired.items() if is_fired]
    yield f"{named}: {_word(report.decision)}, by {', '.join(fired) or 'no condition'}"
    left = max(20, (width - 3 * GAP) * 2 // 3)
    if plan is not None:
        yield f"  {'Phase 1 committed':<{left}}  Phase 2 found"
        for one in contract.acceptance_dimensions:
            fields = plan.get(one.id, {})
            triggers = "; ".join(
                f"{score} on {one_line(fields[field], MOST_TRIGGER)}"
                for score, field in _TRIGGERS.items()
                if fields.get(field)
            )
            committed = wrap(f"{one.id} {triggers or 'nothing'}", left, subsequent_indent="   ")
            aside = " (plan set aside)" if one.id in report.dissent else ""
            for n, line in enumerate(committed):
                yield f"  {line:<{left}}  {report.scores[one.id] + aside if not n else ''}".rstrip()
    for line in wrap(one_line(report.body, MOST_BODY), max(20, width - 4)):
        yield f"  | {line}"


def _word(action: str) -> str:
    return action.partition("=")[2]
