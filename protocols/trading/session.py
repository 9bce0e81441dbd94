"""The trading day: what the desk's seats owe from 09:15 New York time to 09:15 of the next session (R-D18)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import LocalProtocolError, Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.table import check_figures, illegal
from moot.protocols.kernel.times import rfc3339
from moot.protocols.research.messages import StrategyMoved
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.trading import limits
from moot.protocols.trading.alert import INFEASIBLE, AlertState
from moot.protocols.trading.alert import REDUCE as REDUCE_EXPOSURE
from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.halt import SILENT_TICKS
from moot.protocols.trading.life import CANDIDATES, STAGING, WITHDRAWN, check_move
from moot.protocols.trading.messages import (
    CheckNewStrategies,
    DeskCheck,
    Halt,
    MarketClose,
    RiskAlert,
    RiskCheck,
    Signal,
    TradingDay,
)
from moot.protocols.trading.session_follow import (
    ALERT,
    FOLLOWS,
    HALT,
    METRICS,
    MOVE,
    SessionState,
    Subject,
    check_levels,
    consider,
    figures,
    flatten,
    follow,
    halt,
    is_about,
    is_raised,
    judge,
    kind_of_id,
    measure,
    now,
    of_kind,
    propose,
    pruned,
    reduce,
    revoke,
    shown,
    to_promote,
    without,
)
from moot.protocols.trading.session_follow import PROMOTE as PROMOTION
from moot.protocols.trading.session_tracks import TRACKS, first_owed, saturday_in

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book

KIND: Final = "session"
OPEN, ENDED = "open", "ended"
CLOSED, STOPPED = "closed", "stopped"

UNOWED: Final = frozenset(
    {
        "SIGNAL",
        "RISK_ALERT",
        "HALT",
        "DEPLOY_PROPOSAL",
        "PROMOTION_PROPOSAL",
        "PERFORMANCE_FEEDBACK",
        "RECALL_FLAG",
    }
)
"""Openers that may come into a session unasked: they open a case of their own and leave it as it is."""


def _book(context: RuleContext) -> Book:
    book: Book = context.fold_named("book")
    return book


def open_session(env: Envelope, context: RuleContext, parent: CaseState | None) -> SessionState:
    """Open a session: every track owes its first tick, as far as it lies ahead.

    Raises:
        LocalProtocolError: The opener is no TRADING_DAY.
    """
    body = env.body
    if not isinstance(body, TradingDay):
        raise LocalProtocolError(f"{body.type} opens no session")
    state = SessionState(
        case_id=body.session_id,
        kind=KIND,
        phase=OPEN,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        date=body.date,
        nominal_at=body.nominal_at,
        opens_at=body.opens_at,
        closes_at=body.closes_at,
        ends_at=body.ends_at,
        weekly_at=saturday_in(body.nominal_at, body.ends_at),
        is_early_close=body.is_early_close,
        subjects={},
        levels={},
    )
    return _on(evolve(state, owed=first_owed(state, env.sent_at)))


def _on(state: SessionState) -> SessionState:
    """Go on while something is owed or an alert is open; else the session is closed."""
    if state.owed or state.alerts:
        return state
    return evolve(state, phase=ENDED, outcome=CLOSED)


# ---------------------------------------------------------------- messages


def step(state: SessionState, env: Envelope, context: RuleContext) -> SessionState:
    """Apply a message of a seat: the answer to something owed, or the opener of a case of its own.

    Raises:
        Violation: Nobody owes it or not yet (R-D18), a figure is not the book's, or it moves a strategy elsewhere.
    """
    owed = _answered(state, env)
    if owed is None:
        return _unowed(state, env)
    if env.sent_at < owed.opened_at:
        raise Violation("R-D18", f"it is owed from {rfc3339(owed.opened_at)} on")
    kind = kind_of_id(state, owed.id)
    subject = state.subjects.get(owed.id)
    _check(kind, subject, state, owed, env, context)
    after = _settled(pruned(state, context, owed), owed, env)
    follows = ANSWERED.get(kind)
    return _on(follows(after, subject, env.body, context) if follows is not None else after)


def _answered(state: SessionState, env: Envelope) -> Obligation | None:
    """Find what a message answers: what it says, else what its author owes of this type about the same subject."""
    author, kind = env.author, env.body.type
    for owed in state.owed:
        if owed.seat != author or kind not in owed.expects:
            continue
        if env.obligation_id is not None:
            if owed.id == env.obligation_id:
                return owed
        elif kind != "SIGNAL":
            # A SIGNAL that answers nothing belongs to a round of the desk.
            subject = state.subjects.get(owed.id)
            if subject is None or is_about(subject, env.body):
                return owed
    return None


def _unowed(state: SessionState, env: Envelope) -> SessionState:
    """Take in what nobody asked for.

    Raises:
        Violation: It opens no case of its own, or is a SIGNAL while the exchange is closed (R-D18).
    """
    body = env.body
    if body.type not in UNOWED or env.obligation_id is not None:
        raise illegal(state, env, "R-D18")
    if isinstance(body, Signal) and not state.opens_at <= env.sent_at < state.closes_at:
        raise Violation("R-D18", "the exchange is closed")
    if isinstance(body, RiskAlert | Halt):
        return _on(_raised(state, body))
    return state


def _raised(state: SessionState, body: Message) -> SessionState:
    """Take in an alert, which is waited for, or a halt, after which none is owed."""
    if isinstance(body, RiskAlert) and body.level != "HALT":
        return evolve(state, alerts=(*state.alerts, body.alert_id))
    return without(state, *of_kind(state, HALT))


def _settled(state: SessionState, owed: Obligation, env: Envelope) -> SessionState:
    """Close an obligation; a track owes its next tick."""
    track = TRACKS.get(kind_of_id(state, owed.id))
    if track is None:
        return without(state, owed.id)
    following = track.owed(state, env.sent_at, owed.opened_at)
    kept = [o for o in state.owed if o.id != owed.id]
    return evolve(state, owed=(*kept, following) if following is not None else tuple(kept))


def _check(
    kind: str,
    subject: Subject | None,
    state: SessionState,
    owed: Obligation,
    env: Envelope,
    context: RuleContext,
) -> None:
    """Hold a message against what the log fixes of it.

    Raises:
        Violation: It differs.
    """
    body = env.body
    if subject is None:
        check_figures(body, _fixed(kind, state, owed, context, body), TRACKS[kind].rule)
        if isinstance(body, CheckNewStrategies):
            _check_found(body, context)
    elif isinstance(body, StrategyMoved):
        to: Any = (STAGING, WITHDRAWN) if kind == MOVE else CANDIDATES
        check_move(env, context, strategy_id=subject.name, to=to)
    else:
        fixed = figures(kind, subject, state, context)
        if subject.may_halt and isinstance(body, RiskAlert) and body.level == "HALT":
            del fixed["level"]
        check_figures(body, fixed, FOLLOWS[kind].missed.rule)


def _check_found(body: CheckNewStrategies, context: RuleContext) -> None:
    """Check that a poll names only candidates that were not considered yet, each once.

    Raises:
        Violation: It does not (spec 4.1).
    """
    new = context.fold_named("life").to_consider()
    for n, strategy_id in enumerate(body.found):
        if strategy_id not in new or strategy_id in body.found[:n]:
            raise Violation("4.1", f"{strategy_id} is no new candidate", field=f"found[{n}]")


def _fixed(
    track: str, state: SessionState, owed: Obligation, context: RuleContext, body: Message | None = None
) -> dict[str, Any]:
    """Return the fields of a tick that the log fixes; those that hang on its prices only when there is a body."""
    book = _book(context)
    if track in ("risk", "desk", "poll"):
        measures = book.measures(body.marks) if isinstance(body, RiskCheck) else {}
        return {"nominal_at": owed.opened_at, **measures}
    if track == "overnight":
        measures = book.measures()
        names = ("exposure", "largest_position")
        return {"nominal_at": owed.opened_at, **{name: measures[name] for name in names}}
    if track == "close":
        closing = book.close_figures(body.closes) if isinstance(body, MarketClose) else {}
        return {**closing, "date": state.date}
    of_session: Mapping[str, Callable[[Any], dict[str, Any]]] = {
        "summary": book.summary_figures,
        "report": book.daily_figures,
        "weekly": book.weekly_figures,
    }
    return of_session[track](state) if track in of_session else {}


# ---------------------------------------------------------------- what follows

Follows = Callable[[SessionState, Any, Any, RuleContext], SessionState]
"""(state after the answer, subject, body, context) -> state with what follows."""


def _checked(
    state: SessionState, subject: Subject | None, body: RiskCheck, context: RuleContext
) -> SessionState:
    return check_levels(evolve(state, silent=0), limits.breaches(body), context)


def _round(
    state: SessionState, subject: Subject | None, body: DeskCheck, context: RuleContext
) -> SessionState:
    return revoke(state, context, [fault.strategy_id for fault in body.faults])


def _polled(
    state: SessionState, subject: Subject | None, body: CheckNewStrategies, context: RuleContext
) -> SessionState:
    return consider(state, context, body.found)


def _closed(state: SessionState, subject: Subject | None, body: object, context: RuleContext) -> SessionState:
    return measure(state, context)


def _reported(
    state: SessionState, subject: Subject | None, body: object, context: RuleContext
) -> SessionState:
    return follow(state, PROMOTION, now(context), *map(Subject, to_promote(context)))


def _moved(state: SessionState, subject: Subject, body: StrategyMoved, context: RuleContext) -> SessionState:
    return propose(state, context, body.strategy_id) if body.to == STAGING else state


def _measured(state: SessionState, subject: Subject, body: object, context: RuleContext) -> SessionState:
    return judge(state, context, subject.name)


def _alert(state: SessionState, subject: Subject, body: RiskAlert, context: RuleContext) -> SessionState:
    return _raised(state, body)


ANSWERED: Final[Mapping[str, Follows]] = {
    "risk": _checked,
    "desk": _round,
    "poll": _polled,
    "close": _closed,
    "report": _reported,
    MOVE: _moved,
    METRICS: _measured,
    ALERT: _alert,
}
"""What an answer leads to, by what it answers."""


def _silent(state: SessionState, subject: Subject | None, body: object, context: RuleContext) -> SessionState:
    silent = state.silent + 1
    state = evolve(state, silent=silent)
    return halt(state, context, "silence") if silent >= SILENT_TICKS else state


def _unalerted(state: SessionState, subject: Subject, body: object, context: RuleContext) -> SessionState:
    """Reduce at once what nobody raised an alert about; where the desk should have been halted, the Operator does."""
    state = reduce(state, context, subject.affected)
    return halt(state, context, "alert") if subject.level == "HALT" else state


MISSED: Final[Mapping[str, Follows]] = {
    "risk": _silent,
    "close": _closed,
    "report": _reported,
    ALERT: _unalerted,
}
"""What the ruling on a silence leads to: a missing close or report stops nothing that comes after it."""


# ---------------------------------------------------------------- rulings and children


def otherwise(state: SessionState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when something is missed: a tick is skipped, an alert reduces the exposure."""
    kind = kind_of_id(state, obligation.id)
    track = TRACKS.get(kind)
    return track.missed if track is not None else FOLLOWS[kind].missed


def rule(
    state: SessionState,
    decision: Decision,
    env: Envelope,
    context: RuleContext,
    obligation: Obligation | None,
) -> SessionState:
    """Apply a ruling: silence, a conservative action (R-B8), a desk to be halted (R-B5), a late fill (K11), a STOP.

    That positions are halved already asks for nothing (R-F1).
    """
    if decision.outcome == "stop":
        return evolve(state, phase=ENDED, owed=(), outcome=STOPPED)
    before = pruned(state, context, obligation)
    if obligation is None:
        if decision.reason == "late_fill":
            return _on(flatten(before, context))
        if decision == limits.HALVE:
            return _on(reduce(before, context))
        return _on(halt(before, context, "admin") if decision.reason == "halt_desk" else before)
    after = _settled(before, obligation, env)
    follows = MISSED.get(kind_of_id(state, obligation.id))
    subject = state.subjects.get(obligation.id)
    return _on(follows(after, subject, None, context) if follows is not None else after)


def child_ended(state: SessionState, child: CaseState, env: Envelope, context: RuleContext) -> SessionState:
    """Take in how an alert ended: positions are reduced, one that accelerates is raised again as CRITICAL (R-B4).

    So is one that grows while exposure cannot be reduced, or the desk is halted (R-F16).
    """
    if not isinstance(child, AlertState):
        return state
    state = evolve(state, alerts=tuple(key for key in state.alerts if key != child.case_id))
    if child.outcome == STOPPED:
        return _on(state)
    if child.outcome == REDUCE_EXPOSURE:
        state = reduce(state, context, child.affected)
    is_stuck = child.outcome == INFEASIBLE
    if is_stuck or (child.trend == "accelerating" and child.level == "WARNING"):
        worse = Subject(child.metric, "", "CRITICAL", child.value, child.threshold, child.affected, is_stuck)
        if not is_raised(state, worse, context):
            state = follow(state, ALERT, now(context), worse)
    return _on(state)


# ---------------------------------------------------------------- what minds are shown


def brief(state: SessionState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Show what the log fixes of a message, what it is about, the session, and the desk; System A not the desk."""
    kind = kind_of_id(state, obligation.id)
    subject = state.subjects.get(obligation.id)
    said: dict[str, Any] = {"subject": "", "nominal_at": obligation.opened_at, "session": _hours(state)}
    if subject is None:
        said |= _fixed(kind, state, obligation, context)
        if kind == "poll":
            said["found"] = context.fold_named("life").to_consider()
        elif kind == "summary":
            said["period"] = f"{state.opens_at:%H:%M} to {obligation.opened_at:%H:%M} UTC"
    else:
        said |= figures(kind, subject, state, context) | shown(kind, subject, context)
        said["subject"] = subject.name
    return said if obligation.seat in SYSTEM_A else said | {"desk": desk_brief(context)}


def _hours(state: SessionState) -> dict[str, Any]:
    return {
        "date": state.date,
        "opens_at": state.opens_at,
        "closes_at": state.closes_at,
        "is_early_close": state.is_early_close,
    }


SESSION: Final = CaseType(
    kind=KIND,
    openers=("TRADING_DAY",),
    open=open_session,
    step=step,
    otherwise=otherwise,
    rule=rule,
    child_ended=child_ended,
    brief=brief,
    system="B",
)
