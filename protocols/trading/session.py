"""The trading day: what the desk's seats owe from 09:15 New York time to 09:15 of the next session (R-D18)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.figures import Figures
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.steps import ENDED, STOP, Missed, Move, Rule, RuleInput, Step, ends, nothing
from moot.protocols.kernel.times import hours, minutes
from moot.protocols.research.messages import StrategyMoved
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading import messages as m
from moot.protocols.trading import session_figures as figures
from moot.protocols.trading import session_rules as rules
from moot.protocols.trading.limits import ALREADY_REDUCED, HALVE
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER
from moot.protocols.trading.session_follow import APPLIES, change
from moot.protocols.trading.session_state import (
    ALERT,
    CHANGES,
    DEPLOY,
    FEEDBACK,
    FLATTEN,
    HALT,
    HALT_DESK,
    KIND,
    LATE_FILL,
    METRICS,
    MOVE,
    OPEN,
    PROMOTE,
    RECALL,
    REDUCE,
    REVOKE,
    STOPPED,
    SessionState,
    Subject,
)
from moot.protocols.trading.session_tracks import Span, at_instants, every, in_session, named

OPS, DESK, RISK, REPORTS, BRIDGE = "#b-ops", "#b-desk", "#b-risk", "#b-report", "#bridge"


def _track(
    name: str,
    seat: Seat,
    answer: tuple[type[Message], Rule],
    channel: str,
    within: int,
    grace: int,
    *spans: Span,
    rule: str = "R-D18",
    fixed: figures.Fixed = nothing,
    brief: figures.Shown = figures.of_track,
    missed: Rule = rules.goes_on,
) -> Step:
    """Return what a seat owes at set times; a tick that is missed is skipped."""
    message, effect = answer
    return Step(
        phase=OPEN,
        seat=seat,
        channel=channel,
        moves={message: Move((OPEN,), effect)},
        missed=Missed(rule, "skip", Move((OPEN,), missed)),
        rule="R-D18",
        within=minutes(within),
        grace=minutes(grace),
        name=named(name),
        figures=figures.held(rule, fixed),
        brief=brief,
        next_at=at_instants(*spans),
    )


def _follow(
    name: str,
    seat: Seat,
    answer: tuple[type[Message], Rule],
    channel: str,
    within: int,
    grace: int,
    rule: str,
    is_about: Callable[[Subject, Any], bool],
    *,
    fixed: figures.Fixed = nothing,
    held_to: Callable[[SessionState, RuleInput], Figures] | None = None,
    shown: figures.Shown = nothing,
    outcome: str = "void",
    missed: Rule = rules.goes_on,
) -> Step:
    """Return what a seat owes when something else calls for it."""
    message, effect = answer
    return Step(
        phase=OPEN,
        seat=seat,
        channel=channel,
        moves={message: Move((OPEN,), effect)},
        missed=Missed(rule, outcome, Move((OPEN,), missed)),
        rule="R-D18",
        within=minutes(within),
        grace=minutes(grace),
        subjects=lambda _state: (),
        is_about=is_about,
        name=lambda _state, subject: f"{name}-{subject.number}",
        figures=held_to or figures.held(rule, fixed),
        brief=figures.of_subject(shown),
        applies=_until(name),
    )


def _until(name: str) -> Callable[[SessionState, RuleInput], bool] | None:
    """Return until when a step is owed; None: until it is answered, or missed."""
    if name in CHANGES:
        return lambda _state, given: change(name, given.subject, given.context) != 0
    applies = APPLIES.get(name)
    return None if applies is None else lambda _state, given: applies(given.context, given.subject.name)


TRACKS: Final = {
    "pre_market": _track(
        "pre_market", OPERATOR, (m.PreMarketCheck, rules.goes_on), OPS, 10, 5, Span("nominal_at")
    ),
    "risk": _track(
        "risk",
        GUARDIAN,
        (m.RiskCheck, rules.checked),
        RISK,
        4,
        1,
        in_session(minutes(5)),
        rule="R-B7",
        fixed=figures.risk,
        missed=rules.unchecked,
    ),
    "desk": _track(
        "desk", TRADER, (m.DeskCheck, rules.traded), DESK, 10, 4, in_session(minutes(15)), fixed=figures.tick
    ),
    "poll": _track(
        "poll",
        OPERATOR,
        (m.CheckNewStrategies, rules.polled),
        OPS,
        10,
        4,
        in_session(minutes(15)),
        every(hours(4), "closes_at", "ends_at"),
        rule="4.1",
        fixed=figures.tick,
        brief=figures.of_poll,
    ),
    "summary": _track(
        "summary",
        OPERATOR,
        (m.TradingSummary, rules.goes_on),
        REPORTS,
        10,
        10,
        every(hours(2), "opens_at", "closes_at", delay=hours(2)),
        fixed=figures.summary,
        brief=figures.of_summary,
    ),
    "close": _track(
        "close",
        OPERATOR,
        (m.MarketClose, rules.closed),
        OPS,
        10,
        5,
        Span("closes_at"),
        fixed=figures.close,
        missed=rules.closed,
    ),
    "report": _track(
        "report",
        OPERATOR,
        (m.DailyTradingReport, rules.reported),
        REPORTS,
        20,
        10,
        Span("closes_at", minutes(30)),
        fixed=figures.report,
        missed=rules.reported,
    ),
    "overnight": _track(
        "overnight",
        GUARDIAN,
        (m.OvernightRiskCheck, rules.goes_on),
        RISK,
        20,
        10,
        every(hours(12), "closes_at", "ends_at", delay=hours(12)),
        rule="R-B7",
        fixed=figures.overnight,
    ),
    "weekly": _track(
        "weekly",
        OPERATOR,
        (m.WeeklyTradingReport, rules.goes_on),
        REPORTS,
        20,
        10,
        Span("weekly_at"),
        fixed=figures.weekly,
    ),
}
"""What a session owes at set times: each answer, or the ruling on its absence, opens the next (R-D18)."""

FOLLOWS: Final = {
    MOVE: _follow(
        MOVE,
        OPERATOR,
        (StrategyMoved, rules.moved),
        BRIDGE,
        10,
        10,
        "4.1",
        figures.same_strategy,
        held_to=figures.staged,
    ),
    REVOKE: _follow(
        REVOKE,
        OPERATOR,
        (StrategyMoved, rules.revoked),
        BRIDGE,
        10,
        10,
        "R-D20",
        figures.same_strategy,
        held_to=figures.returned,
    ),
    DEPLOY: _follow(
        DEPLOY,
        OPERATOR,
        (m.DeployProposal, rules.goes_on),
        OPS,
        10,
        10,
        "4.1",
        figures.same_strategy,
        fixed=figures.strategy,
        shown=figures.of_deploy,
    ),
    ALERT: _follow(
        ALERT,
        GUARDIAN,
        (m.RiskAlert, rules.raised),
        RISK,
        2,
        3,
        "R-B4",
        figures.same_risk,
        fixed=figures.alert,
        shown=figures.of_alert,
        outcome="reduce_exposure",
        missed=rules.unraised,
    ),
    HALT: _follow(HALT, OPERATOR, (m.Halt, rules.goes_on), RISK, 5, 5, "R-B13", figures.always),
    REDUCE: _follow(
        REDUCE, TRADER, (m.Signal, rules.goes_on), DESK, 15, 15, "R-B8", figures.never, fixed=figures.changes
    ),
    FLATTEN: _follow(
        FLATTEN, TRADER, (m.Signal, rules.goes_on), DESK, 5, 5, "K11", figures.never, fixed=figures.changes
    ),
    METRICS: _follow(
        METRICS,
        GUARDIAN,
        (m.MetricsRecorded, rules.measured),
        BRIDGE,
        10,
        5,
        "R-D20",
        figures.same_strategy,
        fixed=figures.metrics,
        outcome="skip",
    ),
    FEEDBACK: _follow(
        FEEDBACK,
        EVOLVER,
        (m.PerformanceFeedback, rules.goes_on),
        BRIDGE,
        120,
        60,
        "R-B9",
        figures.same_strategy,
        fixed=figures.strategy,
        shown=figures.of_feedback,
    ),
    RECALL: _follow(
        RECALL,
        GUARDIAN,
        (m.RecallFlag, rules.goes_on),
        RISK,
        10,
        10,
        "R-B10",
        figures.same_strategy,
        fixed=figures.strategy,
        shown=figures.of_recall,
    ),
    PROMOTE: _follow(
        PROMOTE,
        OPERATOR,
        (m.PromotionProposal, rules.goes_on),
        OPS,
        20,
        20,
        "4.3",
        figures.same_strategy,
        fixed=figures.strategy,
        shown=figures.of_promotion,
    ),
}
"""What a session owes when something calls for it, one duty a subject."""

_STAYS: Final = (OPEN,)

SESSION: Final = Machine(
    kind=KIND,
    system="B",
    phases=(OPEN,),
    rule="R-D18",
    start={m.TradingDay: Start(rules.open_session, (OPEN, ENDED))},
    steps={**TRACKS, **FOLLOWS},
    facts={
        (OPEN, m.Signal): Move(_STAYS, rules.signalled),
        (OPEN, m.RiskAlert): Move(_STAYS, rules.raised_unasked),
        (OPEN, m.Halt): Move(_STAYS, rules.halted_unasked),
        (OPEN, m.DeployProposal): Move(_STAYS, rules.unasked),
        (OPEN, m.PromotionProposal): Move(_STAYS, rules.unasked),
        (OPEN, m.PerformanceFeedback): Move(_STAYS, rules.unasked),
        (OPEN, m.RecallFlag): Move(_STAYS, rules.unasked),
    },
    rulings={
        STOP: Move((ENDED,), ends(STOPPED)),
        HALVE.reason: Move(_STAYS, rules.halves),
        ALREADY_REDUCED.reason: Move(_STAYS, rules.goes_on),
        LATE_FILL.reason: Move(_STAYS, rules.flattens),
        HALT_DESK.reason: Move(_STAYS, rules.halts),
    },
    children={(OPEN, "alert"): Move(_STAYS, rules.alert_ended)},
    dry={OPEN: Move((ENDED,), rules.closes)},
)
"""A session: nine tracks at once, and what follows from their messages (R-D18)."""


def pruned(state: SessionState, env: Envelope, context: RuleContext) -> SessionState:
    """Close what became moot by a message of another case: it was done otherwise, or can no longer be done."""
    after = SESSION.moved(state, Move(_STAYS, rules.goes_on), RuleInput(context, env))
    assert isinstance(after, SessionState)
    return after
