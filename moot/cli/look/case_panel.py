"""How a panel reads in `moot case`: scores, conditions with their arithmetic, dissent, both phases, tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from moot.protocols.kernel.envelope import Envelope
    from moot.protocols.kernel.minds import Minds
    from moot.protocols.panel.contract import Contract

UNSCORED: Final = "-"
"""Stands where there is no score yet, or never will be."""


def panel_json(said: Sequence[Envelope], minds: Minds) -> dict[str, Any]:
    """Return a panel as plain data, but for its raw outputs: the transcript has those."""
    from moot.cases.panel.record import panel_record

    record = panel_record(said, minds)
    left_out = ("events", "outputs", "synthesis")
    return {name: value for name, value in record.items() if name not in left_out}


def panel_lines(said: Sequence[Envelope], minds: Minds, width: int = 100) -> list[str]:
    """Show a panel from its messages, as far as it has come."""
    from moot.cases.panel.record import panel_record
    from moot.cases.panel.show import shown
    from moot.protocols.panel.contract import ContractError, contract_from

    record = panel_record(said, minds)
    try:
        contract = contract_from(record["contract"])
    except ContractError as error:
        return [f"{record['title']}: its contract is invalid: {error}", *record["tags"]]
    if record["editorial_decision"] is not None:
        return shown(record, contract, width=width)
    # What the end says comes last: what there is of the matrix stands before it.
    partial = list(_partial(record, contract))
    if record["aborted"] is None:
        return [f"{contract.contract_id}: {record['title']}", "", *partial]
    return [*partial, "", *shown(record, contract, width=width)]


def _partial(record: Mapping[str, Any], contract: Contract) -> Iterator[str]:
    """Show the scores of those reviewers whose report passed, and who sets what aside."""
    from moot.protocols.panel.contract import ROLES
    from moot.protocols.panel.grammar import one_line
    from moot.protocols.panel.render import table
    from moot.protocols.panel.reports import read_report

    roles = ROLES.get(contract.mode, ())
    texts = {role: (record["outputs"].get(role, {}).get("phase2") or [""])[-1] for role in roles}
    reports = {role: read_report(texts[role], contract) for role in roles if _passed(record, role)}
    scores = {role: dict(report.scores) for role, report in reports.items()}
    yield from table(
        [
            ["", "", "", *roles],
            *(
                [
                    one.id,
                    one_line(one.name, 40),
                    one.priority,
                    *(str(scores.get(role, {}).get(one.id, UNSCORED)) for role in roles),
                ]
                for one in contract.acceptance_dimensions
            ),
        ]
    )
    yield ""
    aside = [f"{role} sets {', '.join(one.dissent)} aside" for role, one in reports.items() if one.dissent]
    yield f"dissent: {'; '.join(aside) or 'none'}"
    missing = [role for role in roles if role not in reports]
    yield f"{len(reports)} of {contract.panel_size} reviewers are usable" + (
        f", not {', '.join(missing)}" if missing else ""
    )


def _passed(record: Mapping[str, Any], role: str) -> bool:
    """Say whether the last lint of a reviewer's passed its Phase 2."""
    lints = [one for one in record["events"] if one["type"] == "LINT" and one["role"] == role]
    return bool(lints) and lints[-1]["phase"] == 2 and bool(lints[-1]["is_passed"])
