"""The protocol of calls of language models."""

from __future__ import annotations

from typing import Final

from moot.protocols.calls import acts, messages, rights, wording
from moot.protocols.calls.exhaustion import Exhaustion, sources
from moot.protocols.calls.ledger import Ledger, check_budget
from moot.protocols.kernel.protocol import Protocol, declared
from moot.protocols.kernel.seats import ADMIN, BURSAR

PROTOCOL: Final = Protocol(
    name="calls",
    messages=declared(messages),
    wording=wording.WORDING,
    unshown=wording.UNSHOWN,
    uses=(ADMIN, BURSAR),
    channels=rights.CHANNELS,
    rights=rights.RIGHTS,
    acts=acts.ACTS,
    folds=(Ledger, Exhaustion),
    sources=sources,
    caseless={"BUDGET_SET": check_budget},
    asides=frozenset({"BUDGET_SET"}),
    unowed=frozenset({"CALL_RESERVED", "CALL_SETTLED", "CALL_REFUSED"}),
    quiet={name: lambda _body: True for name in ("CALL_RESERVED", "CALL_SETTLED")},
)
