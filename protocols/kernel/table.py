"""What rules share that check a message: figures that the log fixes, and the violation of what is no move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Part
from moot.protocols.kernel.seats import REFEREE


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
