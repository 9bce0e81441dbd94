"""A panel as lines of text: who judged, the matrix, the arithmetic of the conditions, the decision."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any, Final

from moot.protocols.panel.contract import ROLES, Contract
from moot.protocols.panel.lint_phase1 import lint_phase1
from moot.protocols.panel.render import by, render
from moot.protocols.panel.reports import Report, ReportError, parse_report
from moot.protocols.panel.seats import SEATS
from moot.protocols.panel.synthesis import SynthesisAborted, matrix_of, synthesize

DOES: Final = {str(one.seat): f" {one.does}" for one in SEATS}
"""What each reviewer is there for, by its role."""


def shown(record: Mapping[str, Any], contract: Contract, *, width: int = 100) -> list[str]:
    """Show a panel's record.

    Args:
        record: As `moot.cases.panel.record` makes it.
        contract: What it judged by.
        width: Columns that prose is broken to.
    """
    lines = [f"{record['title']}  {record['field']}, {record['word_count']:,} words"]
    for one in _reviewers(record, contract):
        lines += wrap(one, width, initial_indent="  ", subsequent_indent="    ")
    reports = _reports(record, contract)
    if record["aborted"] is None:
        plans = {role: lint_phase1(_last(record, role, "phase1"), contract).plan for role in reports}
        matrix = matrix_of(contract, {role: report.scores for role, report in reports.items()})
        try:
            found = synthesize(
                contract, matrix, majority=record["majority"], on_none_fired=record["on_none_fired"]
            )
        except SynthesisAborted as aborted:
            return [*lines, str(aborted)]
        written_by = record["written_by"]
        lines += ["", *render(contract, found, reports, plans, written_by=written_by, width=width)]
    else:
        lines += ["", f"no decision: {record['aborted']['why']}", record["aborted"]["tag"]]
    return [*lines, *(tag for tag in record["tags"] if tag not in lines and tag != "[CONTRACT-ACKNOWLEDGED]")]


def _reviewers(record: Mapping[str, Any], contract: Contract) -> list[str]:
    """Say of each reviewer how its outputs fared."""
    told = []
    for role in ROLES.get(contract.mode, ()):
        lints = [one for one in record["events"] if one["type"] == "LINT" and one["role"] == role]
        said = [
            f"phase {one['phase']} {'passes' if one['is_passed'] else 'fails: ' + '; '.join(one['findings'][:2])}"
            for one in lints
        ]
        told.append(
            f"{by(record['written_by'], role)}{DOES.get(role, '')}: {', '.join(said) or 'was silent'}"
        )
    return told


def _reports(record: Mapping[str, Any], contract: Contract) -> dict[str, Report]:
    found = {}
    for role in ROLES.get(contract.mode, ()):
        try:
            found[role] = parse_report(_last(record, role, "phase2"), contract)
        except ReportError:
            continue
    return found


def _last(record: Mapping[str, Any], role: str, phase: str) -> str:
    texts = record["outputs"].get(role, {}).get(phase, [])
    return texts[-1] if texts else ""
