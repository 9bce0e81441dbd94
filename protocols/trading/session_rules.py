"""Rules of a session: what each message, silence and ruling leads to (R-D18, R-B3 to R-B10)."""

from __future__ import annotations

from dataclasses import replace

from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.steps import Effect, RuleInput, illegal
from moot.protocols.trading import limits
from moot.protocols.trading.alert import INFEASIBLE, check_unasked
from moot.protocols.trading.alert import REDUCE as REDUCE_EXPOSURE
from moot.protocols.trading.halt import SILENT_TICKS
from moot.protocols.trading.moves import check_move
from moot.protocols.trading.session_follow import (
    Following,
    check_levels,
    consider,
    flatten,
    halt,
    is_raised,
    judge,
    measure,
    propose,
    reduce,
    revoke,
    to_promote,
)
from moot.protocols.trading.session_state import (
    ALERT,
    CLOSED,
    HALT,
    KIND,
    OPEN,
    PROMOTE,
    STOPPED,
    SessionState,
    Subject,
)
from moot.protocols.trading.session_tracks import saturday_in
from moot.protocols.trading.standing import STAGING


def open_session(given: RuleInput) -> SessionState:
    """Open a session: every track owes its first tick, as far as it lies ahead."""
    body = given.body
    return SessionState(
        case_id=body.session_id,
        kind=KIND,
        phase=OPEN,
        opened_seq=given.message.seq,
        anchor_at=given.at,
        date=body.date,
        nominal_at=body.nominal_at,
        opens_at=body.opens_at,
        closes_at=body.closes_at,
        ends_at=body.ends_at,
        weekly_at=saturday_in(body.nominal_at, body.ends_at),
        is_early_close=body.is_early_close,
        levels={},
    )


def closes(state: SessionState, _given: RuleInput) -> Effect | None:
    """A session that owes nothing closes, unless an alert of it is open (R-D18)."""
    return None if state.alerts else Effect(outcome=CLOSED)


# ---------------------------------------------------------------- tracks


def goes_on(state: SessionState, given: RuleInput) -> Effect:
    """Nothing follows but what waited until now."""
    return Following(state, given).effect()


def checked(state: SessionState, given: RuleInput) -> Effect:
    """A risk check raises alerts, and is no silence (spec 4.2, R-B7)."""
    more = Following(state, given, silent=0)
    check_levels(more, limits.breaches(given.body))
    return more.effect()


def unchecked(state: SessionState, given: RuleInput) -> Effect:
    """Three risk checks missed in a row are the Guardian's silence, on which the Operator halts the desk (R-B13)."""
    more = Following(state, given, silent=state.silent + 1)
    if state.silent + 1 >= SILENT_TICKS:
        halt(more, "silence")
    return more.effect()


def traded(state: SessionState, given: RuleInput) -> Effect:
    """A round of the desk shows which strategies are at fault."""
    more = Following(state, given)
    revoke(more, [fault.strategy_id for fault in given.body.faults])
    return more.effect()


def polled(state: SessionState, given: RuleInput) -> Effect:
    """A poll names only candidates that were not considered yet, each once (spec 4.1)."""
    found, new = given.body.found, given.context.fold_named("life").to_consider()
    for n, strategy_id in enumerate(found):
        if strategy_id not in new or strategy_id in found[:n]:
            raise Violation("4.1", f"{strategy_id} is no new candidate", field=f"found[{n}]")
    more = Following(state, given)
    consider(more, found)
    return more.effect()


def closed(state: SessionState, given: RuleInput) -> Effect:
    """After the close, or its absence, metrics are owed (R-D20)."""
    more = Following(state, given)
    measure(more)
    return more.effect()


def reported(state: SessionState, given: RuleInput) -> Effect:
    """After the day's report, or its absence, what has its days on paper is proposed (R-B3)."""
    more = Following(state, given)
    more.owe(PROMOTE, *map(Subject, to_promote(given.context)))
    return more.effect()


# ---------------------------------------------------------------- what follows


def moved(state: SessionState, given: RuleInput) -> Effect:
    """A candidate is staged, and then proposed, or withdrawn (spec 4.1)."""
    check_move(given.message, given.context)
    more = Following(state, given)
    if given.body.to == STAGING:
        propose(more, given.body.strategy_id)
    return more.effect()


def revoked(state: SessionState, given: RuleInput) -> Effect:
    """A strategy at fault goes back to the candidates."""
    check_move(given.message, given.context)
    return goes_on(state, given)


def measured(state: SessionState, given: RuleInput) -> Effect:
    """Metrics may call for feedback or a recall (R-B9, R-B10)."""
    more = Following(state, given)
    judge(more, given.subject.name)
    return more.effect()


def raised(state: SessionState, given: RuleInput) -> Effect:
    """An alert is waited for; one that halts the desk leaves no HALT to be owed (R-B5)."""
    if given.body.level == "HALT":
        return halted(state, given)
    return Following(state, given, alerts=(*state.alerts, given.body.alert_id)).effect()


def halted(state: SessionState, given: RuleInput) -> Effect:
    """Once the desk is halted no HALT is owed (R-B5)."""
    return replace(goes_on(state, given), drop=lambda due: due.rule == HALT)


def unraised(state: SessionState, given: RuleInput) -> Effect:
    """Exposure is reduced where nobody raised the alert; the Operator halts the desk where that was due (R-B4)."""
    more = Following(state, given)
    reduce(more, given.subject.affected)
    if given.subject.level == "HALT":
        halt(more, "alert")
    return more.effect()


def alert_ended(state: SessionState, given: RuleInput) -> Effect:
    """Positions are reduced as an alert decided; one that accelerates is raised again as CRITICAL (R-B4).

    So is one that grows while exposure cannot be reduced, or the desk is halted (R-F16).
    """
    child = given.child
    more = Following(state, given, alerts=tuple(key for key in state.alerts if key != child.case_id))
    if child.outcome == STOPPED:
        return more.effect()
    if child.outcome == REDUCE_EXPOSURE:
        reduce(more, child.affected)
    is_stuck = child.outcome == INFEASIBLE
    if is_stuck or (child.trend == "accelerating" and child.level == "WARNING"):
        worse = Subject(child.metric, "", "CRITICAL", child.value, child.threshold, child.affected, is_stuck)
        if not is_raised(state, worse, given.context):
            more.owe(ALERT, worse)
    return more.effect()


# ---------------------------------------------------------------- what nobody asked for


def unasked(state: SessionState, given: RuleInput) -> Effect | None:
    """What opens a case of its own leaves the session as it is (R-D18)."""
    _check_unasked(state, given)
    return None


def _check_unasked(state: SessionState, given: RuleInput) -> None:
    if given.message.obligation_id is not None:
        raise illegal(state, given.message, "R-D18")


def signalled(state: SessionState, given: RuleInput) -> Effect | None:
    """A SIGNAL that nothing asks for comes while the exchange is open (R-D18)."""
    _check_unasked(state, given)
    if not state.opens_at <= given.at < state.closes_at:
        raise Violation("R-D18", "the exchange is closed")
    return None


def raised_unasked(state: SessionState, given: RuleInput) -> Effect:
    """An alert that nobody asked for is waited for all the same (R-B4)."""
    _check_unasked(state, given)
    check_unasked(given)
    return raised(state, given)


def halted_unasked(state: SessionState, given: RuleInput) -> Effect:
    """The Guardian and the admin halt the desk at any time (R-B5)."""
    _check_unasked(state, given)
    return halted(state, given)


# ---------------------------------------------------------------- rulings


def halves(state: SessionState, given: RuleInput) -> Effect:
    """The conservative action halves every position (R-B8)."""
    more = Following(state, given)
    reduce(more)
    return more.effect()


def flattens(state: SessionState, given: RuleInput) -> Effect:
    """What late fills opened is undone (K11)."""
    more = Following(state, given)
    flatten(more)
    return more.effect()


def halts(state: SessionState, given: RuleInput) -> Effect:
    """An admin has the desk halted (R-B5)."""
    more = Following(state, given)
    halt(more, "admin")
    return more.effect()
