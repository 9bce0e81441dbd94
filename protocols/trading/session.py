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

_STAYS: Final = (OPEN,)


def _duty(limits: tuple[int, int], message: type[Message], effect: Rule, missed: Missed, **more: Any) -> Step:
    """Return a duty with its limits, minutes and minutes of grace; whatever comes of it, the session stays open."""
    within, grace = limits
    return Step(
        phase=OPEN,
        moves={message: Move(_STAYS, effect)},
        missed=missed,
        rule="R-D18",
        within=minutes(within),
        grace=minutes(grace),
        **more,
    )


def _track(
    name: str,
    seat: Seat,
    channel: str,
    message: type[Message],
    limits: tuple[int, int],
    *at: Span,
    effect: Rule = rules.goes_on,
    missed: Rule = rules.goes_on,
    rule: str = "R-D18",
    fixed: figures.Fixed = nothing,
    held_to: Callable[[SessionState, RuleInput], Figures] | None = None,
    brief: figures.Shown = figures.of_track,
) -> tuple[str, Step]:
    """Return what a seat owes at set times, by its name; a tick that is missed is skipped."""
    return name, _duty(
        limits,
        message,
        effect,
        Missed(rule, "skip", Move(_STAYS, missed)),
        seat=seat,
        channel=channel,
        name=named(name),
        figures=held_to or figures.held(rule, fixed),
        brief=brief,
        next_at=at_instants(*at),
    )


def _follow(
    name: str,
    seat: Seat,
    channel: str,
    message: type[Message],
    rule: str,
    limits: tuple[int, int],
    *,
    effect: Rule = rules.goes_on,
    missed: Rule = rules.goes_on,
    outcome: str = "void",
    is_about: Callable[[Subject, Any], bool] = figures.same_strategy,
    fixed: figures.Fixed = figures.strategy,
    held_to: Callable[[SessionState, RuleInput], Figures] | None = None,
    shown: figures.Shown = nothing,
) -> tuple[str, Step]:
    """Return what a seat owes when something else calls for it, by its name."""
    return name, _duty(
        limits,
        message,
        effect,
        Missed(rule, outcome, Move(_STAYS, missed)),
        seat=seat,
        channel=channel,
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


TRACKS: Final = dict(
    (
        _track("pre_market", OPERATOR, OPS, m.PreMarketCheck, (10, 5), Span("nominal_at")),
        _track(
            "risk",
            GUARDIAN,
            RISK,
            m.RiskCheck,
            (4, 1),
            in_session(minutes(5)),
            effect=rules.checked,
            missed=rules.unchecked,
            rule="R-B7",
            fixed=figures.risk,
        ),
        _track(
            "desk",
            TRADER,
            DESK,
            m.DeskCheck,
            (10, 4),
            in_session(minutes(15)),
            effect=rules.traded,
            held_to=figures.round_,
        ),
        _track(
            "poll",
            OPERATOR,
            OPS,
            m.CheckNewStrategies,
            (10, 4),
            in_session(minutes(15)),
            every(hours(4), "closes_at", "ends_at"),
            effect=rules.polled,
            rule="4.1",
            fixed=figures.tick,
            brief=figures.of_poll,
        ),
        _track(
            "summary",
            OPERATOR,
            REPORTS,
            m.TradingSummary,
            (10, 10),
            every(hours(2), "opens_at", "closes_at", delay=hours(2)),
            held_to=figures.summary,
        ),
        _track(
            "close",
            OPERATOR,
            OPS,
            m.MarketClose,
            (10, 5),
            Span("closes_at"),
            effect=rules.closed,
            missed=rules.closed,
            fixed=figures.close,
        ),
        _track(
            "report",
            OPERATOR,
            REPORTS,
            m.DailyTradingReport,
            (20, 10),
            Span("closes_at", minutes(30)),
            effect=rules.reported,
            missed=rules.reported,
            fixed=figures.report,
        ),
        _track(
            "overnight",
            GUARDIAN,
            RISK,
            m.OvernightRiskCheck,
            (20, 10),
            every(hours(12), "closes_at", "ends_at", delay=hours(12)),
            rule="R-B7",
            fixed=figures.overnight,
        ),
        _track(
            "weekly",
            OPERATOR,
            REPORTS,
            m.WeeklyTradingReport,
            (20, 10),
            Span("weekly_at"),
            fixed=figures.weekly,
        ),
    )
)
"""What a session owes at set times: each answer, or the ruling on its absence, opens the next (R-D18)."""

FOLLOWS: Final = dict(
    (
        _follow(
            MOVE, OPERATOR, BRIDGE, StrategyMoved, "4.1", (10, 10), effect=rules.moved, held_to=figures.staged
        ),
        _follow(
            REVOKE,
            OPERATOR,
            BRIDGE,
            StrategyMoved,
            "R-D20",
            (10, 10),
            effect=rules.revoked,
            held_to=figures.returned,
        ),
        _follow(DEPLOY, OPERATOR, OPS, m.DeployProposal, "4.1", (10, 10), shown=figures.of_deploy),
        _follow(
            ALERT,
            GUARDIAN,
            RISK,
            m.RiskAlert,
            "R-B4",
            (2, 3),
            effect=rules.raised,
            missed=rules.unraised,
            outcome="reduce_exposure",
            is_about=figures.same_risk,
            fixed=figures.alert,
            shown=figures.of_alert,
        ),
        _follow(HALT, OPERATOR, RISK, m.Halt, "R-B13", (5, 5), is_about=figures.always, held_to=figures.halt),
        _follow(
            REDUCE, TRADER, DESK, m.Signal, "R-B8", (15, 15), is_about=figures.never, fixed=figures.changes
        ),
        _follow(
            FLATTEN, TRADER, DESK, m.Signal, "K11", (5, 5), is_about=figures.never, fixed=figures.changes
        ),
        _follow(
            METRICS,
            GUARDIAN,
            BRIDGE,
            m.MetricsRecorded,
            "R-D20",
            (10, 5),
            effect=rules.measured,
            outcome="skip",
            fixed=figures.metrics,
        ),
        _follow(
            FEEDBACK, EVOLVER, BRIDGE, m.PerformanceFeedback, "R-B9", (120, 60), shown=figures.of_feedback
        ),
        _follow(RECALL, GUARDIAN, RISK, m.RecallFlag, "R-B10", (10, 10), shown=figures.of_recall),
        _follow(PROMOTE, OPERATOR, OPS, m.PromotionProposal, "4.3", (20, 20), shown=figures.of_promotion),
    )
)
"""What a session owes when something calls for it, one duty a subject."""

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
