"""Review panels: what each decided, reckoned anew from its outputs as `protocols.panel.verify` judges a stranger's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.frozen import thaw
from moot.protocols.panel.contract import ROLES, contract_from
from moot.protocols.panel.seating import Source
from moot.protocols.panel.verify import verify
from moot.verify.audit.ended import EndedCases, Said


class Panels(EndedCases):
    """Judges review panels that decided; one that was aborted says nothing of its reports."""

    opener = "PANEL_OPENED"
    ends = frozenset({"PANEL_DECIDED", "PANEL_ABORTED"})

    def _judge(self, last: Envelope, said: Said) -> None:
        if last.body.type != "PANEL_DECIDED":
            return
        try:
            for why in _doubts(last.body, [env for env, is_idle in said if not is_idle]):
                self._findings.add(last.seq, "panel", "8", why)
        except Exception as exc:
            # A tampered panel may hold anything; it must not end the verification.
            self._findings.add(last.seq, "panel", "8", f"the panel cannot be judged again: {exc}")


def _doubts(end: Any, said: list[Envelope]) -> Iterator[str]:
    """Yield what does not follow from the reports and the synthesis (sprint contracts 8)."""
    opened: Any = said[0].body
    contract = contract_from(thaw(opened.contract))
    texts = {(str(env.author), env.body.type): getattr(env.body, "text", "") for env in said}
    roles = list(ROLES[contract.mode])
    reports = [Source(role, texts.get((role, "PHASE2"), "")) for role in roles]
    syntheses = [text for (_, kind), text in texts.items() if kind == "SYNTHESIS"]
    synthesis = Source("synthesis", syntheses[-1] if syntheses else "")
    found = verify(contract, roles, reports, synthesis, majority=opened.majority)
    if found.exit_code or found.synthesis is None:
        yield f"its reports and its synthesis do not pass: {found.tags[0]}"
        return
    computed = found.synthesis
    for what, told, is_so in (
        ("decision", end.decision, computed.editorial_decision),
        ("fired_conditions", list(end.fired_conditions), list(computed.fired_conditions)),
        ("matrix", thaw(end.matrix), {one: dict(row) for one, row in computed.matrix.items()}),
        ("arithmetic", list(end.arithmetic), [one.arithmetic for one in computed.conditions]),
    ):
        if told != is_so:
            yield f"{what}: {told} is told, {is_so} follows from the reports"
