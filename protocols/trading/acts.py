"""What people may do at the desk: halt all trading, and let it go on; the door names the case (R-B5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.kernel.acts import Act, Blank, Doer
from moot.protocols.kernel.people_acts import WHY
from moot.protocols.trading.messages import Halt, Resume


def _by(fields: Mapping[str, Any], doer: Doer) -> Mapping[str, Any]:
    """A halt names who called it (R-B5)."""
    return {**fields, "by": doer.user_id}


ACTS: Final = (
    Act(
        name="halt",
        does="halt all trading",
        message=Halt,
        asks=(Blank("reason", WHY, aliases=("why",)),),
        complete=_by,
    ),
    Act(
        name="resume",
        does="let trading go on, or end the conservative mode",
        message=Resume,
        asks=(
            Blank("reason", WHY, aliases=("why",)),
            Blank("lifts", "message numbers of the reasons to lift, where there are several", sign="lifts:"),
        ),
    ),
)
