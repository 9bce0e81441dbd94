"""What a message makes a session owe beside its tracks, and what becomes moot (R-B3 to R-B10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.steps import Effect, Owe, RuleInput
from moot.protocols.kernel.times import minutes
from moot.protocols.trading import bridge, promotion
from moot.protocols.trading.alert import AlertState
from moot.protocols.trading.bridge import book_of, life_of
from moot.protocols.trading.deploy import KIND as DEPLOYMENT
from moot.protocols.trading.hours import trading_at
from moot.protocols.trading.life import FAULTS
from moot.protocols.trading.limits import LEVELS, Breach, halving
from moot.protocols.trading.session_state import (
    ALERT,
    CHANGES,
    DEPLOY,
    FEEDBACK,
    FLATTEN,
    HALT,
    METRICS,
    MOVE,
    PROMOTE,
    RECALL,
    REDUCE,
    REVOKE,
    SessionState,
    Subject,
    risk_key,
)
from moot.protocols.trading.standing import CANDIDATES, STAGING

METRICS_AFTER: Final = minutes(15)
"""From the close to the recording of the day's metrics."""


class Following:
    """What a message, a silence or a ruling makes a session owe, while its rule finds that out.

    Attributes:
        state: The session before it.
        given: What happened.
        context: The society's folds.
        changes: New values of the state's fields.
    """

    def __init__(self, state: SessionState, given: RuleInput, **changes: Any) -> None:
        """Start with what changes anyway."""
        self.state = state
        self.given = given
        self.context = given.context
        self.changes = changes
        self._owe: list[Owe] = []
        self.change()

    def owe(self, step: str, *subjects: Subject, at: datetime | None = None) -> None:
        """Open a duty for each subject that it is not owed for yet.

        Args:
            step: One of the session's steps beside the tracks.
            *subjects: What it is about.
            at: From when on; None: from now on.
        """
        present = {(due.rule, due.subject._replace(number=0)) for due in self.state.owed if due.rule == step}
        present.update((one.step, one.subject._replace(number=0)) for one in self._owe)
        for subject in subjects:
            if (step, subject) not in present:
                number = self.state.follows + len(self._owe) + 1
                self._owe.append(Owe(step, subject._replace(number=number), at))

    def change(self, *asked: tuple[str, Subject]) -> None:
        """Open changes of positions: those that are asked for, those that wait, and those that an order made moot.

        What orders under way may do waits for what becomes of them.
        """
        state, due = self.state, self.given.due
        waiting = self.changes.get("covered", state.covered)
        owed = [
            (o.rule, o.subject._replace(number=0)) for o in state.owed if o.rule in CHANGES and o is not due
        ]
        if not (waiting or owed or asked):
            return
        book = book_of(self.context)
        wanted = [
            (step, subject)
            for step, subject in dict.fromkeys((*waiting, *owed, *asked))
            if (subject.name, subject.symbol) in (book.positions if step == REDUCE else book.late)
        ]
        covered = tuple(found for found in wanted if not change(*found, self.context))
        if covered != waiting:
            self.changes["covered"] = covered
        for step, subject in wanted:
            if (step, subject) not in covered:
                self.owe(step, subject, at=trading_at(self.context.now))

    def effect(self) -> Effect:
        """Return all of it."""
        if self._owe:
            self.changes["follows"] = self.state.follows + len(self._owe)
        return Effect(self.changes, owe=tuple(self._owe))


def change(step: str, subject: Subject, context: RuleContext) -> int:
    """Return the signed change of a position that a reduction owes, or what undoes late fills; 0 for none (R-B8, K11).

    It leaves alone what orders under way may close; once the exchange is closed there are none that still can.
    """
    book, key = book_of(context), (subject.name, subject.symbol)
    is_open = trading_at(context.now) == context.now
    if step == REDUCE:
        return book.halving(*key) if is_open else halving(book.quantity(*key))
    return book.flattening(*key) if is_open else -book.late.get(key, 0)


APPLIES: Final[Mapping[str, Callable[[RuleContext, str], bool]]] = {
    HALT: lambda context, _why: not book_of(context).halted,
    MOVE: lambda context, name: life_of(context).stage_of(name) == CANDIDATES,
    REVOKE: lambda context, name: life_of(context).is_traded(name),
    DEPLOY: lambda context, name: name in to_deploy(context),
    PROMOTE: lambda context, name: name in to_promote(context),
    FEEDBACK: bridge.is_underperforming,
    RECALL: bridge.is_losing,
}
"""Until when a step is owed: what it asks for was not done otherwise, and can still be done."""


# ---------------------------------------------------------------- risk


def check_levels(more: Following, breaches: Iterable[Breach]) -> None:
    """Make the Guardian owe an alert for each risk whose level rose since the last check (spec 4.2, R-B7)."""
    levels: dict[str, str] = {}
    risen = []
    for breach in breaches:
        subject = _alerted(breach, more.context)
        levels[subject.key] = breach.level
        has_risen = rank(breach.level) > rank(more.state.levels.get(subject.key, ""))
        if has_risen and not is_raised(more.state, subject, more.context):
            risen.append(subject)
    if levels != more.state.levels:
        more.changes["levels"] = levels
    more.owe(ALERT, *risen)


def rank(level: str) -> int:
    """Return how bad a level is; 0 for none."""
    return LEVELS.index(level) if level in LEVELS else 0


def is_raised(state: SessionState, subject: Subject, context: RuleContext) -> bool:
    """Say whether an alert of a risk is owed or open already, on its level or a worse one."""
    if subject.level == "HALT" and book_of(context).halted:
        return True
    owed = [due.subject for due in state.owed if due.rule == ALERT]
    alerts = [alert for key in state.alerts if isinstance(alert := context.cases.get(key), AlertState)]
    known = [(s.key, s.level) for s in owed] + [(risk_key(a.metric, *a.affected), a.level) for a in alerts]
    return any(key == subject.key and rank(level) >= rank(subject.level) for key, level in known)


def _alerted(breach: Breach, context: RuleContext) -> Subject:
    affected: tuple[str, ...] = ()
    if breach.metric == "drawdown":
        affected = (breach.subject,)
    elif breach.metric == "largest_position":
        affected = tuple(
            sorted({owner for owner, symbol in book_of(context).positions if symbol == breach.subject})
        )
    return Subject(breach.metric, "", breach.level, breach.value, breach.threshold, affected)


def reduce(more: Following, affected: Iterable[str] = ()) -> None:
    """Make the Trader owe a SIGNAL that halves each position of some strategies, of all when none is named (R-B8).

    Nothing is owed of a position while orders under way close it: nothing of it would remain to be halved.
    """
    wanted = set(affected)
    positions = sorted(book_of(more.context).positions)
    more.change(*((REDUCE, Subject(*key)) for key in positions if not wanted or key[0] in wanted))


def flatten(more: Following) -> None:
    """Make the Trader owe a SIGNAL that undoes what fills opened after a halt, when their trade was over (K11)."""
    more.change(*((FLATTEN, Subject(*key)) for key in sorted(book_of(more.context).late)))


def halt(more: Following, why: str) -> None:
    """Make the Operator owe a HALT, unless the desk is halted or one is owed (R-B5, R-B13)."""
    if not book_of(more.context).halted and not any(due.rule == HALT for due in more.state.owed):
        more.owe(HALT, Subject(why))


# ---------------------------------------------------------------- strategies


def consider(more: Following, found: Iterable[str]) -> None:
    """Make the Operator owe what a poll shows: candidates are moved, what is staged is proposed (spec 4.1)."""
    more.owe(MOVE, *map(Subject, found))
    propose(more, *to_deploy(more.context))


def propose(more: Following, *strategies: str) -> None:
    """Make the Operator owe a DEPLOY_PROPOSAL of each strategy, once a session."""
    new = [name for name in strategies if name not in more.state.proposed]
    if new:
        more.changes["proposed"] = more.state.proposed.union(new)
        more.owe(DEPLOY, *map(Subject, new))


def to_deploy(context: RuleContext) -> tuple[str, ...]:
    """Return what is staged, not traded, in no deployment under way and not rejected lately (spec 4.1, R-F7)."""
    life = life_of(context)
    return tuple(
        known.strategy_id
        for known in life.at_desk()
        if known.stage == STAGING
        and not known.is_deployed
        and known.strategy_id not in life.resting
        and not _is_open(context, DEPLOYMENT, known.strategy_id)
    )


def to_promote(context: RuleContext) -> tuple[str, ...]:
    """Return the strategies that have their days on paper and are in no promotion that is under way (R-B3)."""
    return tuple(
        name for name in life_of(context).to_promote() if not _is_open(context, promotion.KIND, name)
    )


def _is_open(context: RuleContext, kind: str, strategy_id: str) -> bool:
    return any(
        s.kind == kind and getattr(s, "strategy_id", "") == strategy_id for s in context.cases.values()
    )


def revoke(more: Following, faulty: Iterable[str]) -> None:
    """Make the Operator owe the withdrawal of strategies whose third fault in a row this round shows."""
    standings = life_of(more.context).strategies
    for name in dict.fromkeys(faulty):
        known = standings.get(name)
        if known is not None and known.is_traded and known.faults + 1 >= FAULTS:
            more.owe(REVOKE, Subject(name))


def measure(more: Following) -> None:
    """Make the Guardian owe the metrics of every strategy in its stores that has a position or a trade (R-D20)."""
    book, life = book_of(more.context), life_of(more.context)
    holders = {owner for owner, _ in book.positions}
    held = sorted(known.strategy_id for known in life.at_desk())
    subjects = [Subject(name) for name in held if name in holders or book.paper_metrics(name)["trades"]]
    more.owe(METRICS, *subjects, at=max(more.context.now, more.state.closes_at + METRICS_AFTER))


def judge(more: Following, strategy_id: str) -> None:
    """Make feedback or a recall owed when a strategy's metrics call for it (R-B9, R-B10).

    Once the recall is open no feedback is owed any more (R-F5).
    """
    for step in (FEEDBACK, RECALL):
        if APPLIES[step](more.context, strategy_id):
            more.owe(step, Subject(strategy_id))
