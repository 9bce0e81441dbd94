"""Building blocks of transition tables: duties by phase, what a missed duty leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Part
from moot.protocols.kernel.obligation import EVERYTHING, Obligation, Visibility
from moot.protocols.kernel.seats import REFEREE, Seat


@dataclass(frozen=True, slots=True)
class Duty:
    """What a phase makes a seat owe.

    Attributes:
        seat: Who owes.
        expects: The message types that settle it.
        channel: Where.
        within: Time until the referee pings.
        grace: Time after that until it may be ruled void.
        step: Its name in obligation ids.
        may_see: What the seat's mind is shown for it.
    """

    seat: Seat
    expects: tuple[str, ...]
    channel: str
    within: timedelta
    grace: timedelta
    step: str
    may_see: Visibility = EVERYTHING
    tail: str = field(init=False)

    def __post_init__(self) -> None:
        """Write the end of its obligations' ids once."""
        object.__setattr__(self, "tail", f"/{self.step}/{self.seat}")

    def owed(self, case_id: str, env: Envelope, expects: tuple[str, ...] | None = None) -> Obligation:
        """Make the obligation that this duty opens when `env` enters its phase."""
        return Obligation(
            case_id + self.tail,
            case_id,
            self.seat,
            self.expects if expects is None else expects,
            self.channel,
            env.sent_at,
            env.sent_at + self.within,
            self.grace,
            self.may_see,
        )


def check_figures(body: Any, figures: Mapping[str, Any], rule: str) -> None:
    """Check that a report says what the log counts.

    Raises:
        Violation: A field differs.
    """
    for name, value in figures.items():
        given = getattr(body, name)
        if given == value or (isinstance(given, Part) and given.__dict__ == value):
            continue
        plain = given.model_dump() if isinstance(given, Part) else given
        if plain != value:
            raise Violation(rule, f"the log says {value}, the message {plain}", field=name)


def illegal(state: CaseState, env: Envelope, rule: str) -> Violation:
    """Make the violation of a message that the table lacks in this phase."""
    owed = " or ".join(" / ".join(o.expects) for o in state.owed if o.seat != REFEREE) or "nothing"
    return Violation(
        rule, f"{env.body.type} from {env.author} is not a move in phase {state.phase}; owed is {owed}"
    )
