"""What a case view shows of a review panel: the matrix, and the conditions with their arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from moot.cases.panel.record import panel_record
from moot.channels.showing.wording import clean, plain, seat_name, words
from moot.protocols.authorship import summary
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import Minds
from moot.protocols.panel.contract import ROLES, Contract, ContractError, contract_from
from moot.protocols.panel.reports import ReportError, parse_report


def panel_tables(said: Sequence[Envelope], minds: Minds) -> list[dict[str, Any]]:
    """Show the matrix of a panel, and the conditions with the arithmetic that fired them or not."""
    try:
        record = panel_record(said, minds)
        contract = contract_from(record["contract"])
    except (ValueError, ContractError):
        return []
    roles = ROLES.get(contract.mode, ())
    scores = _scores(record, contract, roles)
    matrix = [
        [f"{one.id} {words(one.name)}", str(one.priority), *(scores[role].get(one.id, "–") for role in roles)]
        for one in contract.acceptance_dimensions
    ]
    decision = record["editorial_decision"]
    why = "No decision yet." if decision is None else f"Decision: {words(decision)}."
    if record["aborted"]:
        why = f"No decision: {clean(str(record['aborted'].get('why')), 300)}"
    title = f"{clean(record['title'], 120)}, under {contract.contract_id}"
    tables: list[dict[str, Any]] = [
        {
            "title": title,
            "note": why + (f" The reviews: {by}." if (by := summary(record["written_by"])) else ""),
            "head": ["dimension", "priority", *map(seat_name, roles)],
            "rows": matrix,
        }
    ]
    fired = list(record["fired_conditions"] or ())
    rows = [
        [
            one.condition_id,
            "fires" if one.condition_id in fired else "–",
            plain(one.severity),
            clean(str(one.expression), 200),
            clean(plain(line), 200),
        ]
        for one, line in zip_longest(contract.failure_conditions, record["arithmetic"], fillvalue="")
        if not isinstance(one, str)
    ]
    if decision is not None:
        tables.append(
            {
                "title": "Conditions",
                "note": "Of those that fire, the highest severity decides.",
                "head": ["", "", "severity", "when", "count"],
                "rows": rows,
                "on": next((n for n, row in enumerate(rows) if row[1] == "fires"), None),
            }
        )
    return tables


def _scores(record: Mapping[str, Any], contract: Contract, roles: Sequence[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for role in roles:
        texts = record["outputs"].get(role, {}).get("phase2") or [""]
        try:
            found[role] = {
                name: str(score) for name, score in parse_report(texts[-1], contract).scores.items()
            }
        except ReportError:
            found[role] = {}
    return found
