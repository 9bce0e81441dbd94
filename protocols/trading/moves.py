"""Who may move a strategy, from where and whereto: what a STRATEGY_MOVED is held to (R-B3, R-B11, R-D20)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Exactly, Figures, OneOf
from moot.protocols.kernel.seats import ADMIN, REFEREE, Seat
from moot.protocols.research.messages import StrategyMoved
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.trading.seats import SYSTEM_B
from moot.protocols.trading.standing import CANDIDATES, HELD_BY_B, PRODUCTION, STAGING, WITHDRAWN, Standing

if TYPE_CHECKING:
    from moot.protocols.trading.life import Life

WRITERS: Final[Mapping[str, frozenset[Seat]]] = {
    CANDIDATES: SYSTEM_A,
    STAGING: SYSTEM_B,
    PRODUCTION: SYSTEM_B,
    WITHDRAWN: SYSTEM_B,
}
"""Who may put a strategy into each store (R-B11)."""


def may_move(seat: Seat, stands: str | None, to: str) -> bool:
    """Say whether a seat, or the admin, may move a strategy from where it stands, None for a new one (R-B11).

    The referee returns from staging what was rejected there (R-F7).
    """
    if seat == REFEREE:
        return (stands, to) == (STAGING, CANDIDATES)
    return seat == ADMIN or seat in (SYSTEM_B if stands in HELD_BY_B else WRITERS[to])


def standing_of(context: RuleContext, strategy_id: str, stage: str, rule: str) -> Standing:
    """Return what is known of a strategy that must stand in a certain store.

    Raises:
        Violation: It does not stand there.
    """
    life: Life = context.fold_named("life")
    known = life.strategies.get(strategy_id)
    if known is None:
        raise Violation(rule, f"the log knows no strategy {strategy_id}", field="strategy_id")
    if known.stage != stage:
        raise Violation(rule, f"{strategy_id} stands in {known.stage}, not in {stage}", field="strategy_id")
    return known


def move_figures(context: RuleContext, strategy_id: str, from_: str | None, *to: str) -> Figures:
    """Return the fields of a STRATEGY_MOVED that a case fixes which moves one strategy (R-D20).

    Args:
        context: The society's folds.
        strategy_id: It.
        from_: Where it is taken from.
        to: Where it goes, or the stores among which its author chooses.
    """
    life: Life = context.fold_named("life")
    stands = life.stage_of(strategy_id) or "no store"
    return {
        "strategy_id": Exactly(strategy_id, f"{strategy_id} is to be moved", "R-D20"),
        "from_": Exactly(from_, f"{strategy_id} stands in {stands}", "R-D20"),
        "to": (
            Exactly(to[0], f"it is to go to {to[0]}", "R-D20")
            if len(to) == 1
            else OneOf(to, f"the decision on {strategy_id}", "R-D20")
        ),
    }


def check_move(
    env: Envelope,
    context: RuleContext,
    *,
    feedback: str = "",
) -> StrategyMoved:
    """Check a STRATEGY_MOVED against where the strategy stands; what a case fixes of it `move_figures` says.

    Args:
        env: The message.
        context: The society's folds.
        feedback: The rule by which its `reason` tells System A why the strategy comes back, "" where none does.

    Returns:
        Its body.

    Raises:
        Violation: Its `from` is not where the strategy stands, or its `to` is (R-D20), its author may not write there
            (R-B11), it names another strategy than was approved (R-D20), or it returns a rejected one without a word
            (R-B1, R-B3).
    """
    body = cast("StrategyMoved", env.body)
    life: Life = context.fold_named("life")
    known = life.strategies.get(body.strategy_id)
    stands = known.stage if known is not None else body.from_
    if body.from_ != stands:
        raise Violation("R-D20", f"{body.strategy_id} stands in {stands or 'no store'}", field="from")
    if body.to == stands:
        raise Violation("R-D20", f"{body.strategy_id} stands in {stands} already", field="to")
    if not may_move(env.author, stands, body.to):
        why = f"{env.author} may not move a strategy from {stands or 'no store'} to {body.to}"
        raise Violation("R-B11", why, field="to")
    if known is not None and body.strategy is not None and known.strategy not in (None, body.strategy):
        raise Violation("R-D20", "it is not the strategy that was approved", field="strategy")
    if feedback and not body.reason.strip():
        raise Violation(feedback, "a rejection gives System A its feedback", field="reason")
    return body


def check_moved(env: Envelope, context: RuleContext) -> None:
    """Check a STRATEGY_MOVED that no open case asked for; it stands by itself.

    A person moves what it likes, within the rights of its seat; a bot brings back what a debate approved, or
    gives up what its system holds.

    Raises:
        Violation: It names a case, which then is not open; or as `check_move`; or a bot takes a strategy up
            that no case decided on (spec 4.1, R-B3), or that no debate approved (R-D15, R-D20).
    """
    if env.case_id is not None:
        raise Violation("K23", f"{env.case_id} is not open; leave the case out to move it all the same")
    body = check_move(env, context)
    if env.actor.kind == "human":
        return
    if env.author in SYSTEM_A:
        _check_approved(body, context)
    elif body.to in HELD_BY_B:
        known = context.fold_named("life").strategies.get(body.strategy_id)
        if known is None or known.stage != PRODUCTION:
            rule = "R-B3" if body.to == PRODUCTION else "4.1"
            raise Violation(rule, f"a bot takes nothing up to {body.to} outside its case", field="to")


def _check_approved(body: StrategyMoved, context: RuleContext) -> None:
    """Check that a strategy comes from a debate that ended with an APPROVE and a passed backtest.

    Raises:
        Violation: It does not (R-D15), or it is another strategy than that debate's (R-D20).
    """
    debate = context.fold_named("research").strategies.get(body.hypothesis_id)
    if debate is None:
        said = body.hypothesis_id or "an unnamed debate"
        raise Violation("R-D20", f"{said} is no debate that has ended", field="hypothesis_id")
    if debate.verdict != "APPROVE":
        raise Violation("R-D20", f"{body.hypothesis_id} was not approved", field="hypothesis_id")
    if not debate.passed:
        raise Violation("R-D15", f"{body.hypothesis_id} passed no backtest", field="hypothesis_id")
    if body.strategy is not None and body.strategy != debate.strategy:
        raise Violation("R-D20", "it is not the strategy that was approved", field="strategy")
