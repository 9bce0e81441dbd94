"""Who posts the messages of calls: the bursar in #calls, budgets the admin in #admin; one row a type."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.rights import ADMIN_CHANNEL
from moot.protocols.kernel.seats import ADMIN, BURSAR

PLACE: Final = "#calls"
_HERE: Final = frozenset({PLACE})
_BURSAR: Final = frozenset({BURSAR})

CHANNELS: Final = (
    Channel(PLACE, "calls", "what language models were asked, and what that cost", is_private=True),
)

RIGHTS: Final = (
    Right("CALL_RESERVED", _BURSAR, _HERE),
    Right("CALL_SETTLED", _BURSAR, _HERE),
    Right("CALL_REFUSED", _BURSAR, _HERE),
    Right("BUDGET_SET", frozenset({ADMIN}), ADMIN_CHANNEL),
)
