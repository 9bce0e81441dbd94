"""When each message of a micro-cycle is hoped for (R-D1).

Targets bind nobody: what is owed until when stands in `DUTIES`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple

from moot.protocols.kernel.message import Message
from moot.protocols.kernel.times import minutes


class Target(NamedTuple):
    """A message of a micro-cycle and when it is hoped for.

    Attributes:
        kinds: The message types that meet it.
        round: The round of the debate; 0 where rounds do not count.
        after: Time after the CYCLE_TRIGGER.
    """

    kinds: tuple[str, ...]
    round: int
    after: timedelta

    def is_met_by(self, body: Message) -> bool:
        """Say whether it is this message that was hoped for."""
        return body.type in self.kinds and (not self.round or body.model_dump().get("round") == self.round)


TARGETS: Final = (
    Target(("HYPOTHESIS",), 0, minutes(30)),
    Target(("RISK_ASSESSMENT",), 1, minutes(45)),
    Target(("REBUTTAL", "CONCEDE"), 2, minutes(55)),
    Target(("RISK_ASSESSMENT",), 2, minutes(70)),
    Target(("VERDICT",), 0, minutes(85)),
    Target(("BACKTEST_RESULT",), 0, minutes(95)),
    Target(("MICRO_CYCLE_REPORT",), 0, minutes(100)),
)
"""In their order (R-D1)."""
