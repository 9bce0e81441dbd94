"""What deliberations over a strategy share: who owes, who may answer, what the log knows (spec 4.1, 4.3, 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.table import Duty, illegal
from moot.protocols.kernel.times import minutes
from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.messages import DeployReview, PromotionReview


def duty(seat: Seat, expects: str, channel: str, step: str) -> Duty:
    """Return a duty with the limits of every step of a deliberation: 10 minutes, and 10 of grace (R-B2, R-B4)."""
    return Duty(seat, (expects,), channel, minutes(10), minutes(10), step)


def check_alone(context: RuleContext, kind: str, strategy_id: str) -> None:
    """Check that no other case of this kind is about a strategy.

    Raises:
        Violation: One is open.
    """
    for state in context.cases.values():
        if state.kind == kind and getattr(state, "strategy_id", "") == strategy_id:
            raise Violation("K9", f"{state.case_id} is about {strategy_id} already", field="strategy_id")


def check_known(given: Mapping[str, float], known: Mapping[str, float], field: str, rule: str) -> None:
    """Check the figures that the log knows; what it does not know may be said besides.

    Raises:
        Violation: One differs.
    """
    for name, value in given.items():
        if name in known and known[name] != value:
            raise Violation(rule, f"the log says {known[name]}, the message {value}", field=f"{field}.{name}")


def check_form(env: Envelope, body: DeployReview | PromotionReview, rule: str) -> None:
    """Check that a reviewer fills its own form.

    Raises:
        Violation: It is the other's.
    """
    if body.form != env.author:
        raise Violation(rule, f"the {env.author} fills the {env.author}'s form", field="form")


def still_owed(
    state: CaseState, env: Envelope, obligation: Obligation | None = None
) -> tuple[Obligation, ...]:
    """Return what is owed besides what this message, or the ruling on this obligation, settles."""
    if obligation is not None:
        return tuple(o for o in state.owed if o.id != obligation.id)
    return tuple(o for o in state.owed if not (o.seat == env.author and env.body.type in o.expects))


def check_owed(state: CaseState, env: Envelope, rule: str) -> None:
    """Check that a message is what its author owes in this case.

    Raises:
        Violation: It is not.
    """
    if not any(o.seat == env.author and env.body.type in o.expects for o in state.owed):
        raise illegal(state, env, rule)


def shown(strategy_id: str, context: RuleContext) -> dict[str, Any]:
    """Return what every brief of System B shows: what it is about, and the desk."""
    return {"subject": strategy_id, "desk": desk_brief(context)}


def plain(review: Message | None) -> dict[str, Any] | None:
    """Return a review as JSON data, None when there is none."""
    return review.model_dump(mode="json") if review is not None else None
