"""The audit record of a panel: what was said, what the lints made of it, and what the scores lead to (spec 3, 11)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moot.protocols.authorship import written_by
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.frozen import thaw
from moot.protocols.kernel.minds import Minds
from moot.protocols.kernel.officers import Violation
from moot.protocols.kernel.times import rfc3339
from moot.protocols.panel.contract import ContractError, baseline_sha256, contract_from
from moot.protocols.panel.messages import (
    Lint,
    PanelAborted,
    PanelDecided,
    PanelOpened,
    Phase1,
    Phase2,
    Synthesis,
)

PanelRecord = dict[str, Any]
"""JSON data: contract, baseline_sha256, title, field, word_count, content_ref, content_sha256, majority,
on_none_fired, events, outputs, synthesis, matrix, fired_conditions, arithmetic, editorial_decision, aborted, tags,
written_by: by seat, who wrote its texts."""


def panel_record(messages: Iterable[Envelope], minds: Minds, content_sha256: str = "") -> PanelRecord:
    """Make the audit record of one panel from the messages of its case; as far as it has come.

    Args:
        messages: From its PANEL_OPENED on, in their order; what broke a rule is left out (K10).
        minds: Who filled the seats then.
        content_sha256: Of the work, where it is known.

    Raises:
        ValueError: They do not begin with a PANEL_OPENED.
    """
    said = list(messages)
    if not said or not isinstance(opened := said[0].body, PanelOpened):
        raise ValueError("a panel begins with PANEL_OPENED")
    broken = {env.body.of_seq for env in said if isinstance(env.body, Violation)}
    contract = thaw(opened.contract)
    record: PanelRecord = {
        "contract": contract,
        "baseline_sha256": _baseline(contract),
        "title": opened.title,
        "field": opened.field,
        "word_count": opened.word_count,
        "content_ref": opened.content_ref,
        "content_sha256": content_sha256,
        "majority": opened.majority,
        "on_none_fired": opened.on_none_fired,
        "events": [],
        "outputs": {},
        "synthesis": [],
        "matrix": None,
        "fired_conditions": None,
        "arithmetic": [],
        "editorial_decision": None,
        "aborted": None,
        "tags": [],
        "written_by": written_by(said, minds),
    }
    for env in said:
        if env.seq not in broken:
            _take(record, env)
    return record


def _take(record: PanelRecord, env: Envelope) -> None:
    body, role = env.body, env.author
    event: dict[str, Any] = {"at": rfc3339(env.sent_at), "type": body.type, "by": role}
    if isinstance(body, Phase1 | Phase2):
        phase = body.type.lower()
        kept = record["outputs"].setdefault(role, {"phase1": [], "phase2": []})[phase]
        kept.append(body.text)
        event |= {"attempt": len(kept)}
    elif isinstance(body, Lint):
        event |= {
            "role": body.role,
            "phase": body.phase,
            "attempt": body.attempt,
            "is_passed": body.is_passed,
            "findings": list(body.findings),
            "tag": body.tag,
        }
    elif isinstance(body, Synthesis):
        record["synthesis"].append(body.text)
    elif isinstance(body, PanelDecided):
        record.update(
            matrix=thaw(body.matrix),
            fired_conditions=list(body.fired_conditions),
            arithmetic=list(body.arithmetic),
            editorial_decision=body.decision.removeprefix("editorial_decision="),
            tags=list(body.tags),
        )
    elif isinstance(body, PanelAborted):
        event |= {"tag": body.tag, "why": body.why}
        record.update(aborted={"tag": body.tag, "why": body.why}, tags=list(body.tags))
    record["events"].append(event)


def _baseline(contract: Any) -> str | None:
    try:
        return baseline_sha256(contract_from(contract))
    except ContractError:
        return None
