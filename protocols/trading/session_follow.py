"""What a session owes beside its tracks: alerts, halts, reductions, moves, proposals, metrics (R-B3 to R-B10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.times import minutes
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading import bridge, promotion
from moot.protocols.trading.alert import AlertState
from moot.protocols.trading.deploy import KIND as DEPLOYMENT
from moot.protocols.trading.hours import trading_at
from moot.protocols.trading.life import CANDIDATES, FAULTS, HELD_BY_B, STAGING, WITHDRAWN
from moot.protocols.trading.limits import LEVELS, Breach, halving
from moot.protocols.trading.messages import Halt, RiskAlert
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book
    from moot.protocols.trading.life import Life

OPS, DESK, RISK, BRIDGE = "#b-ops", "#b-desk", "#b-risk", "#bridge"

MOVE, REVOKE, DEPLOY, ALERT, HALT, REDUCE = "move", "revoke", "deploy", "alert", "halt", "reduce"
FLATTEN = "flatten"
CHANGES: Final = (REDUCE, FLATTEN)
METRICS, FEEDBACK, RECALL, PROMOTE = "metrics", "feedback", "recall", "promote"


class Follow(NamedTuple):
    """One kind of what follows: who owes it, where, how long, and what the referee rules when it is missed."""

    seat: Seat
    expects: str
    channel: str
    within: timedelta
    grace: timedelta
    missed: Decision


def _follow(
    seat: Seat, expects: str, channel: str, within: int, grace: int, rule: str, outcome: str = "void"
) -> Follow:
    decision = Decision(outcome, "timeout", rule)
    return Follow(seat, expects, channel, minutes(within), minutes(grace), decision)


FOLLOWS: Final[Mapping[str, Follow]] = {
    MOVE: _follow(OPERATOR, "STRATEGY_MOVED", BRIDGE, 10, 10, "4.1"),
    REVOKE: _follow(OPERATOR, "STRATEGY_MOVED", BRIDGE, 10, 10, "R-D20"),
    DEPLOY: _follow(OPERATOR, "DEPLOY_PROPOSAL", OPS, 10, 10, "4.1"),
    ALERT: _follow(GUARDIAN, "RISK_ALERT", RISK, 2, 3, "R-B4", "reduce_exposure"),
    HALT: _follow(OPERATOR, "HALT", RISK, 5, 5, "R-B13"),
    REDUCE: _follow(TRADER, "SIGNAL", DESK, 15, 15, "R-B8"),
    FLATTEN: _follow(TRADER, "SIGNAL", DESK, 5, 5, "K11"),
    METRICS: _follow(GUARDIAN, "METRICS_RECORDED", BRIDGE, 10, 5, "R-D20", "skip"),
    FEEDBACK: _follow(EVOLVER, "PERFORMANCE_FEEDBACK", BRIDGE, 120, 60, "R-B9"),
    RECALL: _follow(GUARDIAN, "RECALL_FLAG", RISK, 10, 10, "R-B10"),
    PROMOTE: _follow(OPERATOR, "PROMOTION_PROPOSAL", OPS, 20, 20, "4.3"),
}
"""What follows, by the name with which the steps of its obligations begin."""

METRICS_AFTER: Final = minutes(15)
"""From the close to the recording of the day's metrics."""

ACTIONS: Final[Mapping[str, str]] = {"HALT": "halt_trading", "CRITICAL": "reduce_exposure", "WARNING": "none"}
"""What an alert of a level requires."""


class Subject(NamedTuple):
    """What an obligation is about.

    Attributes:
        name: A strategy's id, a metric's name, or why the desk is to be halted.
        symbol: What is to be reduced.
        level: Level of an alert.
        value: Its value.
        threshold: The limit that it reached.
        affected: The strategies concerned, empty for all.
        may_halt: Whether an alert of level HALT answers it as well (R-F16).
    """

    name: str
    symbol: str = ""
    level: str = ""
    value: float = 0.0
    threshold: float = 0.0
    affected: tuple[str, ...] = ()
    may_halt: bool = False

    @property
    def key(self) -> str:
        """Return what tells one risk from another: drawdowns by strategy, other metrics by their name."""
        return risk_key(self.name, *self.affected)


def risk_key(metric: str, *affected: str) -> str:
    """Return what tells one risk from another: drawdowns by strategy, other metrics by their name."""
    return f"{metric}/{'/'.join(affected)}" if metric == "drawdown" else metric


@dataclass(frozen=True, kw_only=True)
class SessionState(CaseState):
    """State of a session of the desk.

    A track's position is the `opened_at` of its obligation, which is the nominal instant.

    Attributes:
        date: Its day in New York, `YYYY-MM-DD`.
        nominal_at: When its desk day began.
        opens_at: When the exchange opens.
        closes_at: When it closes.
        ends_at: When the next desk day begins.
        weekly_at: When the weekly report is due, None when not in this day.
        is_early_close: Whether the exchange closes early.
        subjects: What each obligation beside the tracks is about, by its id.
        follows: Obligations beside the tracks so far, which numbers them.
        silent: Risk checks missed in a row.
        levels: Level that each risk reached at the last check, by `risk_key`; those within their limits left out.
        alerts: Alerts of this session that are open.
        proposed: Strategies whose deployment was asked for in this session.
        covered: Changes of positions that wait while orders under way may close them, with their kinds.
    """

    date: str
    nominal_at: datetime
    opens_at: datetime
    closes_at: datetime
    ends_at: datetime
    weekly_at: datetime | None
    is_early_close: bool
    subjects: Mapping[str, Subject]
    levels: Mapping[str, str]
    follows: int = 0
    silent: int = 0
    alerts: tuple[str, ...] = ()
    proposed: frozenset[str] = frozenset()
    covered: tuple[tuple[str, Subject], ...] = ()


def _book(context: RuleContext) -> Book:
    book: Book = context.fold_named("book")
    return book


def _life(context: RuleContext) -> Life:
    life: Life = context.fold_named("life")
    return life


def now(context: RuleContext) -> datetime:
    """Return the instant of the message that is being folded."""
    assert context.at is not None
    return context.at


# ---------------------------------------------------------------- opening and closing


def follow(state: SessionState, kind: str, at: datetime, *subjects: Subject) -> SessionState:
    """Open an obligation of a kind for each subject that it is not owed for yet.

    Args:
        state: The session.
        kind: One of `FOLLOWS`.
        at: When they open.
        *subjects: What they are about.
    """
    rule = FOLLOWS[kind]
    present = {s for o in state.owed if kind_of_id(state, o.id) == kind and (s := state.subjects.get(o.id))}
    owed, known, n = list(state.owed), dict(state.subjects), state.follows
    for subject in subjects:
        if subject in present:
            continue
        n += 1
        obligation_id = f"{state.case_id}/{kind}-{n}/{rule.seat}"
        known[obligation_id] = subject
        due_at = at + rule.within
        owed.append(
            Obligation(
                obligation_id, state.case_id, rule.seat, (rule.expects,), rule.channel, at, due_at, rule.grace
            )
        )
    if n == state.follows:
        return state
    return evolve(state, owed=tuple(owed), subjects=known, follows=n)


def kind_of_id(state: SessionState, obligation_id: str) -> str:
    """Return what an obligation of this session is: a track, or one of what follows."""
    return obligation_id[len(state.case_id) + 1 :].partition("-")[0]


def without(state: SessionState, *gone: str) -> SessionState:
    """Close obligations by their ids."""
    if not gone:
        return state
    owed = tuple(o for o in state.owed if o.id not in gone)
    if not state.subjects.keys().isdisjoint(gone):
        known = {key: subject for key, subject in state.subjects.items() if key not in gone}
        return evolve(state, owed=owed, subjects=known)
    return evolve(state, owed=owed)


def of_kind(state: SessionState, kind: str) -> tuple[str, ...]:
    """Return the ids of what is owed of a kind beside the tracks."""
    return tuple(key for key in state.subjects if kind_of_id(state, key) == kind)


def pruned(state: SessionState, context: RuleContext, but: Obligation | None = None) -> SessionState:
    """Close what has become moot: what it asks for was done otherwise, or can no longer be done.

    Args:
        state: The session.
        context: The society's folds.
        but: The obligation that is being answered or ruled on.
    """
    if not state.subjects and not state.covered:
        return state
    kept = but.id if but is not None else ""
    gone = [
        key
        for key, subject in state.subjects.items()
        if key != kept and not _applies(kind_of_id(state, key), subject, context)
    ]
    changes = [(kind, state.subjects[key]) for key in gone if (kind := kind_of_id(state, key)) in CHANGES]
    return _changing(without(state, *gone), context, changes)


def _changing(
    state: SessionState, context: RuleContext, changes: Iterable[tuple[str, Subject]]
) -> SessionState:
    """Make the Trader owe changes of positions; what orders under way may do waits for what becomes of them."""
    book = _book(context)
    wanted = [
        (kind, subject)
        for kind, subject in dict.fromkeys((*state.covered, *changes))
        if (subject.name, subject.symbol) in (book.positions if kind == REDUCE else book.late)
    ]
    covered = tuple(found for found in wanted if not change(*found, context))
    if covered != state.covered:
        state = evolve(state, covered=covered)
    for kind, subject in wanted:
        if (kind, subject) not in covered:
            state = follow(state, kind, trading_at(now(context)), subject)
    return state


def change(kind: str, subject: Subject, context: RuleContext) -> int:
    """Return the signed change of a position that a reduction owes, or what undoes late fills; 0 for none (R-B8, K11).

    It leaves alone what orders under way may close; once the exchange is closed there are none that still can.
    """
    book, key = _book(context), (subject.name, subject.symbol)
    is_open = trading_at(now(context)) == now(context)
    if kind == REDUCE:
        return book.halving(*key) if is_open else halving(book.quantity(*key))
    return book.flattening(*key) if is_open else -book.late.get(key, 0)


def _applies(kind: str, subject: Subject, context: RuleContext) -> bool:
    name = subject.name
    if kind in CHANGES:
        return change(kind, subject, context) != 0
    if kind == HALT:
        return not _book(context).halted
    if kind == MOVE:
        return _life(context).stage_of(name) == CANDIDATES
    if kind == REVOKE:
        return _life(context).is_traded(name)
    if kind == DEPLOY:
        return name in to_deploy(context)
    if kind == PROMOTE:
        return name in to_promote(context)
    if kind == FEEDBACK:
        return bridge.is_underperforming(context, name)
    if kind == RECALL:
        return bridge.is_losing(context, name)
    return True


# ---------------------------------------------------------------- risk


def check_levels(state: SessionState, breaches: Iterable[Breach], context: RuleContext) -> SessionState:
    """Make the Guardian owe an alert for each risk whose level rose since the last check (spec 4.2, R-B7)."""
    levels: dict[str, str] = {}
    risen = []
    for breach in breaches:
        subject = _alerted(breach, context)
        levels[subject.key] = breach.level
        has_risen = rank(breach.level) > rank(state.levels.get(subject.key, ""))
        if has_risen and not is_raised(state, subject, context):
            risen.append(subject)
    if levels != state.levels:
        state = evolve(state, levels=levels)
    return follow(state, ALERT, now(context), *risen) if risen else state


def rank(level: str) -> int:
    """Return how bad a level is; 0 for none."""
    return LEVELS.index(level) if level in LEVELS else 0


def is_raised(state: SessionState, subject: Subject, context: RuleContext) -> bool:
    """Say whether an alert of a risk is owed or open already, on its level or a worse one."""
    if subject.level == "HALT" and _book(context).halted:
        return True
    owed = [known for key, known in state.subjects.items() if kind_of_id(state, key) == ALERT]
    alerts = [alert for key in state.alerts if isinstance(alert := context.cases.get(key), AlertState)]
    known = [(s.key, s.level) for s in owed] + [(risk_key(a.metric, *a.affected), a.level) for a in alerts]
    return any(key == subject.key and rank(level) >= rank(subject.level) for key, level in known)


def _alerted(breach: Breach, context: RuleContext) -> Subject:
    affected: tuple[str, ...] = ()
    if breach.metric == "drawdown":
        affected = (breach.subject,)
    elif breach.metric == "largest_position":
        affected = tuple(
            sorted({owner for owner, symbol in _book(context).positions if symbol == breach.subject})
        )
    return Subject(breach.metric, "", breach.level, breach.value, breach.threshold, affected)


def reduce(state: SessionState, context: RuleContext, affected: Iterable[str] = ()) -> SessionState:
    """Make the Trader owe a SIGNAL that halves each position of some strategies, of all when none is named (R-B8).

    Nothing is owed of a position while orders under way close it: nothing of it would remain to be halved.
    """
    wanted = set(affected)
    subjects = [
        Subject(owner, symbol)
        for owner, symbol in sorted(_book(context).positions)
        if not wanted or owner in wanted
    ]
    return _changing(state, context, [(REDUCE, subject) for subject in subjects])


def flatten(state: SessionState, context: RuleContext) -> SessionState:
    """Make the Trader owe a SIGNAL that undoes what fills opened after a halt, when their trade was over (K11)."""
    return _changing(state, context, [(FLATTEN, Subject(*key)) for key in sorted(_book(context).late)])


def halt(state: SessionState, context: RuleContext, why: str) -> SessionState:
    """Make the Operator owe a HALT, unless the desk is halted or one is owed (R-B5, R-B13)."""
    if _book(context).halted or of_kind(state, HALT):
        return state
    return follow(state, HALT, now(context), Subject(why))


# ---------------------------------------------------------------- strategies


def consider(state: SessionState, context: RuleContext, found: Iterable[str]) -> SessionState:
    """Make the Operator owe what a poll shows: candidates are moved, what is staged is proposed (spec 4.1)."""
    state = follow(state, MOVE, now(context), *map(Subject, found))
    return propose(state, context, *to_deploy(context))


def propose(state: SessionState, context: RuleContext, *strategies: str) -> SessionState:
    """Make the Operator owe a DEPLOY_PROPOSAL of each strategy, once a session."""
    new = [name for name in strategies if name not in state.proposed]
    if not new:
        return state
    state = evolve(state, proposed=state.proposed.union(new))
    return follow(state, DEPLOY, now(context), *map(Subject, new))


def to_deploy(context: RuleContext) -> tuple[str, ...]:
    """Return what is staged, not traded, in no deployment under way and not rejected lately (spec 4.1, R-F7)."""
    life = _life(context)
    return tuple(
        name
        for name, known in life.strategies.items()
        if known.stage == STAGING
        and not known.is_deployed
        and name not in life.resting
        and not _is_open(context, DEPLOYMENT, name)
    )


def to_promote(context: RuleContext) -> tuple[str, ...]:
    """Return the strategies that have their days on paper and are in no promotion that is under way (R-B3)."""
    return tuple(name for name in _life(context).to_promote() if not _is_open(context, promotion.KIND, name))


def _is_open(context: RuleContext, kind: str, strategy_id: str) -> bool:
    return any(
        s.kind == kind and getattr(s, "strategy_id", "") == strategy_id for s in context.cases.values()
    )


def revoke(state: SessionState, context: RuleContext, faulty: Iterable[str]) -> SessionState:
    """Make the Operator owe the withdrawal of strategies whose third fault in a row this round shows (facts 10)."""
    standings = _life(context).strategies
    named = dict.fromkeys(faulty)
    subjects = [
        Subject(name)
        for name in named
        if (known := standings.get(name)) is not None and known.is_traded and known.faults + 1 >= FAULTS
    ]
    return follow(state, REVOKE, now(context), *subjects) if subjects else state


def measure(state: SessionState, context: RuleContext) -> SessionState:
    """Make the Guardian owe the metrics of every strategy in its stores that has a position or a trade (R-D20)."""
    book, life = _book(context), _life(context)
    holders = {owner for owner, _ in book.positions}
    subjects = [
        Subject(name)
        for name, known in sorted(life.strategies.items())
        if known.stage in HELD_BY_B and (name in holders or book.paper_metrics(name)["trades"])
    ]
    at = max(now(context), state.closes_at + METRICS_AFTER)
    return follow(state, METRICS, at, *subjects) if subjects else state


def judge(state: SessionState, context: RuleContext, strategy_id: str) -> SessionState:
    """Make feedback or a recall owed when a strategy's metrics call for it (R-B9, R-B10).

    Once the recall is open no feedback is owed any more (R-F5).
    """
    if bridge.is_underperforming(context, strategy_id):
        state = follow(state, FEEDBACK, now(context), Subject(strategy_id))
    if bridge.is_losing(context, strategy_id):
        state = follow(state, RECALL, now(context), Subject(strategy_id))
    return state


# ---------------------------------------------------------------- figures


def is_about(subject: Subject, body: Message) -> bool:
    """Say whether a message is about a subject, where it does not say which obligation it answers."""
    if isinstance(body, RiskAlert):
        return body.metric == subject.name and body.level in (
            subject.level,
            "HALT" if subject.may_halt else subject.level,
        )
    return isinstance(body, Halt) or getattr(body, "strategy_id", "") == subject.name


def _level(subject: Subject, context: RuleContext) -> str:
    """Return the level of an alert; a desk that was halted meanwhile cannot be halted again, so it is CRITICAL."""
    return "CRITICAL" if subject.level == "HALT" and _book(context).halted else subject.level


def figures(kind: str, subject: Subject, state: SessionState, context: RuleContext) -> dict[str, Any]:
    """Return the fields of a message of this kind that the log fixes."""
    name = subject.name
    if kind == ALERT:
        return {
            "metric": name,
            "level": _level(subject, context),
            "current_value": subject.value,
            "threshold": subject.threshold,
            "affected_strategies": subject.affected,
        }
    if kind == HALT:
        return {}
    if kind in CHANGES:
        delta = change(kind, subject, context)
        action = "BUY" if delta > 0 else "SELL"
        return {"strategy_id": name, "symbol": subject.symbol, "action": action, "quantity": abs(delta)}
    if kind == METRICS:
        return {"date": state.date, "strategy_id": name, "realised": _book(context).realised(name)}
    return {"strategy_id": name}


def shown(kind: str, subject: Subject, context: RuleContext) -> dict[str, Any]:
    """Return what a mind is shown besides: what the case that it opens will hold it to, where it may go."""
    life, name = _life(context), subject.name
    known = life.strategies.get(name)
    if kind == ALERT:
        return {"action_required": ACTIONS[_level(subject, context)]}
    if kind == MOVE:
        return {"from_": CANDIDATES, "to": (STAGING, WITHDRAWN)}
    if known is None:
        return {}
    if kind == REVOKE:
        return {"from_": known.stage, "to": CANDIDATES}
    if kind == DEPLOY:
        return {"backtest_metrics": dict(known.backtest)}
    if kind == PROMOTE:
        return promotion.proposal_figures(known, context)
    if kind == RECALL:
        return bridge.recall_figures(context, name)
    if kind == FEEDBACK:
        spec = known.strategy
        return {
            **bridge.feedback_figures(context, name),
            "hypothesis_id": known.hypothesis_id,
            "strategy": spec.model_dump(mode="json") if spec is not None else None,
            "backtest": dict(known.backtest),
        }
    return {}
