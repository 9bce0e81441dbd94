"""Figures of a session: what the log fixes of each message that it owes, and what minds are shown besides (R-D18)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.figures import DERIVED, Exactly, Figures, exactly
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.steps import RuleInput
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.trading import bridge, promotion
from moot.protocols.trading.bridge import book_of, life_of
from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.deploy import profile_of
from moot.protocols.trading.halt import said_by
from moot.protocols.trading.moves import move_figures
from moot.protocols.trading.session_follow import change
from moot.protocols.trading.session_state import SessionState, Subject
from moot.protocols.trading.standing import CANDIDATES, STAGING, WITHDRAWN

ACTIONS: Final[Mapping[str, str]] = {"HALT": "halt_trading", "CRITICAL": "reduce_exposure", "WARNING": "none"}
"""What an alert of a level requires."""

Fixed = Callable[[SessionState, RuleInput], Mapping[str, Any]]
"""(session, input) -> fields with the values that the log gives them."""
Shown = Callable[[SessionState, RuleInput], dict[str, Any]]
"""(session, input) -> what a mind is shown besides."""


def held(rule: str, fixed: Fixed) -> Callable[[SessionState, RuleInput], Figures]:
    """Return figures whose fields have one value each; who says another breaks a rule."""
    return lambda state, given: exactly(fixed(state, given), rule)


def of_track(state: SessionState, given: RuleInput) -> dict[str, Any]:
    """Say what a tick is about: the session."""
    return _said(state, given, "")


def of_subject(shown: Shown) -> Shown:
    """Return a brief that says what a duty beside the tracks is about, and what is shown for it."""
    return lambda state, given: _said(state, given, given.subject.name) | shown(state, given)


def _said(state: SessionState, given: RuleInput, subject: str) -> dict[str, Any]:
    """Name the subject and the session, and show the desk; System A is shown none."""
    assert given.due is not None
    said: dict[str, Any] = {
        "subject": subject,
        "nominal_at": given.due.opened_at,
        "session": {
            "date": state.date,
            "opens_at": state.opens_at,
            "closes_at": state.closes_at,
            "is_early_close": state.is_early_close,
        },
    }
    return said if given.due.seat in SYSTEM_A else said | {"desk": desk_brief(given.context, subject)}


# ---------------------------------------------------------------- tracks


def tick(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """A tick names its instant."""
    return {"nominal_at": given.subject}


def risk(state: SessionState, given: RuleInput) -> dict[str, Any]:
    """The measures of a RISK_CHECK are the book's at the marks that it takes (R-B7)."""
    measures = book_of(given.context).measures(given.body.marks) if given.body is not None else {}
    return {**tick(state, given), **measures}


def round_(state: SessionState, given: RuleInput) -> Figures:
    """A round asks every strategy that is traded, and counts the SIGNALs that were said in it (R-D18)."""
    assert given.due is not None
    known = life_of(given.context).at_desk()
    counts = {
        "strategies": sum(1 for one in known if one.is_traded and one.strategy is not None),
        "signals": book_of(given.context).signals_since(given.due.opened_at),
    }
    return {**exactly(tick(state, given), "R-D18"), **exactly(counts, "R-D18", since=DERIVED)}


def overnight(state: SessionState, given: RuleInput) -> dict[str, Any]:
    """Overnight no marks are taken (R-B7)."""
    measures = book_of(given.context).measures()
    return {**tick(state, given), **{name: measures[name] for name in ("exposure", "largest_position")}}


def close(state: SessionState, given: RuleInput) -> dict[str, Any]:
    """The close is counted at the closing prices that it names (R-D18)."""
    closing = book_of(given.context).close_figures(given.body.closes) if given.body is not None else {}
    return {**closing, "date": state.date}


def summary(state: SessionState, given: RuleInput) -> Figures:
    """A summary is the book's, from the open to its instant (R-D18)."""
    assert given.due is not None
    period = f"{state.opens_at:%H:%M} to {given.due.opened_at:%H:%M} UTC"
    said = book_of(given.context).summary_figures(state)
    return {**exactly(said, "R-D18"), "period": Exactly(period, rule="R-D18", since=DERIVED)}


def report(state: SessionState, given: RuleInput) -> dict[str, Any]:
    """The day's report is the book's (R-D18)."""
    return book_of(given.context).daily_figures(state)


def weekly(state: SessionState, given: RuleInput) -> dict[str, Any]:
    """The week's report is the book's (R-D18)."""
    return book_of(given.context).weekly_figures(state)


def of_poll(state: SessionState, given: RuleInput) -> dict[str, Any]:
    """Name the candidates that were not considered yet."""
    return of_track(state, given) | {"found": life_of(given.context).to_consider()}


# ---------------------------------------------------------------- what follows


def never(_subject: Subject, _body: Message) -> bool:
    """A SIGNAL that says nothing of what it answers belongs to a round of the desk."""
    return False


def always(_subject: Subject, _body: Message) -> bool:
    """There is one desk to be halted."""
    return True


def same_strategy(subject: Subject, body: Any) -> bool:
    """Say whether a message is about the strategy."""
    return bool(body.strategy_id == subject.name)


def same_risk(subject: Subject, body: Any) -> bool:
    """Say whether an alert is about the risk, on its level or on one that answers it as well."""
    return body.metric == subject.name and body.level in (
        subject.level,
        "HALT" if subject.may_halt else subject.level,
    )


def halt(_state: SessionState, given: RuleInput) -> Figures:
    """The Operator halts the desk, or the person in its seat (R-B13)."""
    assert given.due is not None
    if given.env is not None:
        return said_by(given.message)
    return {"by": Exactly(given.due.seat)}


def strategy(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """The strategy is the one that it is owed about."""
    return {"strategy_id": given.subject.name}


def _level(subject: Subject, context: RuleContext) -> str:
    """Return the level of an alert; a desk that was halted meanwhile cannot be halted again, so it is CRITICAL."""
    return "CRITICAL" if subject.level == "HALT" and book_of(context).halted else subject.level


def alert(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """An alert is about the risk that rose; where it may halt the desk, that is the Guardian's choice (R-F16)."""
    subject: Subject = given.subject
    halts = subject.may_halt and given.body is not None and given.body.level == "HALT"
    return {
        "metric": subject.name,
        **({} if halts else {"level": _level(subject, given.context)}),
        "current_value": subject.value,
        "threshold": subject.threshold,
        "affected_strategies": subject.affected,
    }


def of_alert(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """Say what the level requires."""
    return {"action_required": ACTIONS[_level(given.subject, given.context)]}


def changes(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """The signal makes the change that is owed, as the book stands (R-B8, K11)."""
    assert given.due is not None
    subject: Subject = given.subject
    delta = change(given.due.rule, subject, given.context)
    return {
        "strategy_id": subject.name,
        "symbol": subject.symbol,
        "action": "BUY" if delta > 0 else "SELL",
        "quantity": abs(delta),
    }


def metrics(state: SessionState, given: RuleInput) -> dict[str, Any]:
    """The metrics are the book's (R-D20)."""
    name = given.subject.name
    return {"date": state.date, "strategy_id": name, "realised": book_of(given.context).realised(name)}


def staged(_state: SessionState, given: RuleInput) -> Figures:
    """A candidate is staged or withdrawn (spec 4.1)."""
    return _moved(given, STAGING, WITHDRAWN)


def returned(_state: SessionState, given: RuleInput) -> Figures:
    """A faulty strategy goes back to the candidates."""
    return _moved(given, CANDIDATES)


def _moved(given: RuleInput, *to: str) -> Figures:
    name = given.subject.name
    return move_figures(given.context, name, life_of(given.context).stage_of(name), *to)


def of_deploy(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """Show the backtest and the strategy that the deployment's case holds the proposal to."""
    known = life_of(given.context).strategies[given.subject.name]
    return {"backtest_metrics": dict(known.backtest), "risk_profile": profile_of(known)}


def of_promotion(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """Show what the promotion's case holds the proposal to."""
    return promotion.proposal_figures(life_of(given.context).strategies[given.subject.name], given.context)


def of_recall(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """Show what the recall's case holds the flag to."""
    return bridge.recall_figures(given.context, given.subject.name)


def of_feedback(_state: SessionState, given: RuleInput) -> dict[str, Any]:
    """Show what the feedback's case holds it to, and what was approved."""
    name = given.subject.name
    known = life_of(given.context).strategies[name]
    spec = known.strategy
    return {
        **bridge.feedback_figures(given.context, name),
        "hypothesis_id": known.hypothesis_id,
        "strategy": spec.model_dump(mode="json") if spec is not None else None,
        "backtest": dict(known.backtest),
    }
