"""What the rules would say of an answer, asked before it is posted."""

from __future__ import annotations

from moot.bots.minds.mind import View
from moot.host import Host
from moot.protocols.kernel.envelope import seal
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message


def fault_of(host: Host, view: View, body: Message) -> str:
    """Say which rule an answer would break if it stood in the log now, "" for none; nothing changes.

    Of an answer that opens a case only seat and channel are looked at: whether it may open is judged when it does.
    """
    draft, docket = host.answer_draft(view, body), host.docket
    if draft is None:
        return ""
    try:
        admitted = host.gate.admit(draft)
        state = docket.cases.get(admitted.case_id or "")
        if state is None or body.type in host.rules.openers:
            return ""
        minted = host.gate.mint(admitted, view.now)
        host.gate.unmint(admitted, minted)
        envelope, _ = seal(
            admitted,
            seq=docket.seq + 1,
            envelope_id=draft.identity(),
            sent_at=host.clock.now(),
            previous=host.bus.head.hash,
            body=minted,
        )
        # A step of a machine is a pure function of its case's state.
        host.rules.types[state.kind].step(state, envelope, docket.context)
    except Violation as violation:
        return violation.numbered
    return ""
