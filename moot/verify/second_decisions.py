"""Deployments, promotions, feedback, recalls: decided as the reviews say, moved as decided (R-B1, R-B3, R-B9, R-B10).

The decision tables are written down a second time here, from the rulings and not from `moot.protocols.trading`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from moot.verify.second_money import WINDOW, Money, differs, sharpe
from moot.verify.second_strategies import Standing, Strategies
from moot.verify.second_told import Doubt, Doubts, Told, exact, step_of

SESSIONS: Final = 5
WEEK: Final = timedelta(days=7)
EXTENSIONS: Final = 2

CONSENTS: Final = ("editorial_decision=accept", "editorial_decision=minor_revision")
REJECTIONS: Final = ("editorial_decision=reject", "editorial_decision=reject_or_major_revision")
"""What a panel's decision comes to where it binds; anything else, and no decision, extends (R-B2)."""


class Decided(NamedTuple):
    """What a table makes of two reviews: its row, the decision, the position limit and the order type agreed on."""

    row: int
    decision: str
    limit: float | None = None
    order_type: str | None = None


def deployment(guardian: Any, trader: Any) -> Decided:
    """Decide on a deployment by the reviews, None for a missing one (R-B1)."""
    risk = guardian.risk_assessment if guardian is not None else None
    is_adjusted = trader is not None and trader.executability == "needs_adjustment"
    if risk == "excessive":
        return Decided(1, "REJECT")
    if guardian is None or trader is None or (not is_adjusted and trader.liquidity_concern):
        return Decided(2, "ESCALATE")
    if risk == "acceptable":
        if is_adjusted:
            return Decided(4, "DEPLOY_MODIFIED", order_type=trader.suggested_order_type)
        return Decided(3, "DEPLOY")
    if is_adjusted:
        return Decided(2, "ESCALATE")
    return Decided(5, "DEPLOY_MODIFIED", limit=guardian.recommended_position_limit)


def promotion(guardian: Any, trader: Any, extensions: int) -> Decided:
    """Decide on a promotion by the reviews, None for a missing one, after so many extensions (R-B3)."""
    said = [review.recommendation if review is not None else "" for review in (guardian, trader)]
    if "reject" in said:
        return Decided(1, "REJECT")
    if said == ["approve", "approve"]:
        return Decided(2, "PROMOTE")
    return Decided(3, "EXTEND" if extensions < EXTENSIONS else "REJECT")


class Case:
    """A deployment, a promotion, a feedback or a recall.

    Attributes:
        kind: Which of them.
        strategy_id: What it is about.
        reviews: Reviews by seat.
        missed: Seats whose review was ruled on.
        decision: What was decided, "" before.
        limit: The position limit agreed on.
        is_moved: Whether the strategy was moved as decided.
        is_bound: Whether a panel has a veto, by the configuration when the last review was in.
        panel_id: The panel that it waits for, "" for none.
        verdict: The panel's decision, "" when it had none.
    """

    __slots__ = (
        "decision", "is_bound", "is_moved", "kind", "limit", "missed", "panel_id", "reviews", "strategy_id", "verdict",
    )  # fmt: skip

    def __init__(self, kind: str, strategy_id: str) -> None:
        """Start undecided."""
        self.kind, self.strategy_id = kind, strategy_id
        self.reviews: dict[str, Any] = {}
        self.missed: set[str] = set()
        self.decision = ""
        self.limit: float | None = None
        self.is_moved = False
        self.is_bound = False
        self.panel_id = self.verdict = ""


class Decisions:
    """Follows every case in which a strategy's fate is decided."""

    def __init__(self, strategies: Strategies, money: Money) -> None:
        """Start with no case."""
        self._strategies = strategies
        self._money = money
        self._cases: dict[str, Case] = {}
        self._answers: dict[str, str] = {}
        self.disputed: set[str] = set()
        self._say = "off"

    def configure(self, config: Any) -> None:
        """Take in what the configuration says of panels over promotions, where it does."""
        if "panel" in config:
            self._say = (config["panel"] or {}).get("promotions", "off")

    # ------------------------------------------------------------ panels

    def convened(self, told: Told) -> Doubts:
        """Take in a PANEL_OPENED: one over a promotion comes when both reviewers approved it."""
        case = self._cases.get(told.body.parent_id)
        if case is None:
            return
        is_asked = self._say != "off" or case.is_bound
        if case.kind != "promotion" or not is_asked or self._by_table(case).decision != "PROMOTE":
            yield Doubt("desk", "R-B3", f"nothing of {told.body.parent_id} goes before a panel")
        case.panel_id = told.case_id

    def judged(self, told: Told) -> Doubts:
        """Take in how a panel ended; PANEL_ABORTED leaves it without a verdict."""
        case = next((one for one in self._cases.values() if one.panel_id == told.case_id), None)
        if case is not None and told.case_id:
            case.verdict, case.panel_id = getattr(told.body, "decision", ""), ""
        return ()

    # ------------------------------------------------------------ openers

    def proposed(self, told: Told) -> Doubts:
        """Take in a DEPLOY_PROPOSAL."""
        known = self._strategies.get(told.body.strategy_id)
        if known is None or known.stage != "staging" or known.is_deployed:
            yield Doubt("desk", "4.1", f"{told.body.strategy_id} does not wait in staging to be deployed")
        self._cases[told.case_id] = Case("deployment", told.body.strategy_id)

    def promoted(self, told: Told) -> Doubts:
        """Take in a PROMOTION_PROPOSAL."""
        body = told.body
        known = self._strategies.get(body.strategy_id)
        if known is None or known.stage != "staging" or not known.is_deployed:
            yield Doubt("desk", "R-B3", f"{body.strategy_id} is not traded on paper")
        elif known.days < known.days_needed:
            why = f"{body.strategy_id} was traded on paper for {known.days} sessions of {known.days_needed}"
            yield Doubt("desk", "R-B3", why)
        elif body.days != known.days:
            yield Doubt("desk", "R-B3", f"days: says {body.days}, the log has {known.days}")
        self._cases[told.case_id] = Case("promotion", body.strategy_id)

    def fed_back(self, told: Told) -> Doubts:
        """Take in a PERFORMANCE_FEEDBACK: justified, and at most once a week (R-B9)."""
        body = told.body
        known = self._strategies.get(body.strategy_id)
        self._cases[told.case_id] = Case("feedback", body.strategy_id)
        if known is None or known.stage != "production":
            yield Doubt("desk", "R-B9", f"{body.strategy_id} is not in production")
            return
        if known.fed_back_at is not None and told.env.sent_at < known.fed_back_at + WEEK:
            yield Doubt("desk", "R-B9", f"the last feedback on {body.strategy_id} is less than a week old")
        known.fed_back_at = told.env.sent_at
        ratio = self._ratio(body.strategy_id, known)
        said = body.expected_vs_actual
        if "actual_sharpe" in said and ratio is not None and differs(said["actual_sharpe"], exact(ratio)):
            yield Doubt("desk", "R-B9", f"actual_sharpe: says {said['actual_sharpe']}, it was {ratio}")
        is_due = ratio is not None and known.sharpe is not None and ratio < known.sharpe / 2
        if known.sessions < SESSIONS or not is_due:
            why = f"{body.strategy_id}: a Sharpe ratio of {ratio} in {known.sessions} sessions, {known.sharpe} promised"
            yield Doubt("desk", "R-B9", f"no feedback is due on {why}")

    def flagged(self, told: Told) -> Doubts:
        """Take in a RECALL_FLAG: the realised ratio is negative (R-B10)."""
        body = told.body
        known = self._strategies.get(body.strategy_id)
        self._cases[told.case_id] = Case("recall", body.strategy_id)
        if known is None or known.stage != "production":
            yield Doubt("desk", "R-B10", f"{body.strategy_id} is not in production")
            return
        if known.is_flagged:
            yield Doubt("desk", "R-B10", f"{body.strategy_id} is flagged already")
        known.is_flagged = True
        ratio = self._ratio(body.strategy_id, known)
        if ratio is not None and differs(body.sharpe, exact(ratio)):
            yield Doubt("desk", "R-B10", f"sharpe: says {body.sharpe}, it was {ratio}")
        elif known.sessions < SESSIONS or ratio is None or ratio >= 0:
            why = f"{body.strategy_id}: a Sharpe ratio of {ratio} in {known.sessions} sessions"
            yield Doubt("desk", "R-B10", f"no recall is due of {why}")

    def _ratio(self, strategy_id: str, known: Standing) -> float | None:
        """Return the Sharpe ratio of the last sessions since the promotion, six digits."""
        since = known.promoted_at
        sessions = self._money.sessions(strategy_id, since) if since is not None else []
        found = sharpe([session.pnl for session in sessions[-WINDOW:]])
        return None if found is None else round(float(found), 6)

    # ------------------------------------------------------------ reviews and decisions

    def reviewed(self, told: Told) -> Doubts:
        """Take in a review."""
        case = self._cases.get(told.case_id)
        if case is None or case.decision or told.env.author in case.reviews:
            yield Doubt("desk", "K23", f"nothing of {told.case_id} is to be reviewed")
            return
        case.reviews[told.env.author] = told.body
        case.is_bound = self._say == "binding"

    def decided(self, told: Told) -> Doubts:
        """Hold a DEPLOY_DECISION or a PROMOTION_DECISION against its table."""
        case, body = self._cases.get(told.case_id), told.body
        if case is None or case.decision:
            yield Doubt("desk", "K23", f"nothing of {told.case_id} is to be decided")
            return
        rule = "R-B1" if case.kind == "deployment" else "R-B3"
        for seat in ("guardian", "trader"):
            if seat not in case.reviews and seat not in case.missed:
                yield Doubt("desk", "R-B2", f"the {seat} did not review it, and nobody ruled on that")
        wanted = self._wanted(case)
        if (body.decision, body.row) != (wanted.decision, wanted.row):
            why = f"{body.decision} by row {body.row}, the reviews make it {wanted.decision} by row {wanted.row}"
            yield Doubt("desk", rule, why)
        elif case.kind == "deployment":
            given = body.parameters.position_limit, body.parameters.order_type
            if given != (wanted.limit, wanted.order_type):
                yield Doubt("desk", rule, f"parameters: {given}, the reviews make it {wanted[2:]}")
        self._decide(told, case, body.decision, wanted.limit)

    def _wanted(self, case: Case) -> Decided:
        wanted = self._by_table(case)
        if (
            case.kind != "promotion"
            or wanted.decision != "PROMOTE"
            or not case.is_bound
            or case.verdict in CONSENTS
        ):
            return wanted
        known = self._strategies.get(case.strategy_id)
        is_last = known is not None and known.extensions >= EXTENSIONS
        return wanted._replace(decision="REJECT" if is_last or case.verdict in REJECTIONS else "EXTEND")

    def _by_table(self, case: Case) -> Decided:
        guardian, trader = case.reviews.get("guardian"), case.reviews.get("trader")
        if case.kind == "deployment":
            return deployment(guardian, trader)
        known = self._strategies.get(case.strategy_id)
        return promotion(guardian, trader, known.extensions if known is not None else 0)

    def _decide(self, told: Told, case: Case, decision: str, limit: float | None = None) -> None:
        case.decision, case.limit = decision, limit
        if decision == "ESCALATE":
            self.disputed.add(told.case_id)
        elif decision == "EXTEND":
            self._strategies.extend(case.strategy_id)
            self._end(told.case_id)

    def _end(self, case_id: str) -> None:
        self._cases.pop(case_id, None)
        self._answers.pop(case_id, None)
        self.disputed.discard(case_id)

    def responded(self, told: Told) -> None:
        """Take in a FEEDBACK_RESPONSE or a RECALL_REQUEST."""
        case, body = self._cases.get(told.case_id), told.body
        if case is None:
            return
        action = body.action if body.type == "FEEDBACK_RESPONSE" else "withdraw"
        case.decision = action
        if action == "adjust":
            self._strategies.halve(case.strategy_id)
        if action != "withdraw":
            self._end(told.case_id)

    def answered(self, case_id: str, effect: str) -> None:
        """Take in what an admin answered to the escalation of a deployment."""
        if case_id in self._cases:
            self._answers[case_id] = effect

    # ------------------------------------------------------------ what follows

    def moved(self, told: Told) -> Doubts:
        """Hold a STRATEGY_MOVED against where the strategy stands and what was decided."""
        body = told.body
        known = self._strategies.get(body.strategy_id)
        if known is not None and body.from_ != known.stage:
            yield Doubt("desk", "R-D20", f"{body.strategy_id} stands in {known.stage}, not in {body.from_}")
        if rule := self._strategies.is_unfounded(told):
            yield Doubt("desk", rule, f"nothing decided that {body.strategy_id} moves to {body.to}")
        case = self._cases.get(told.case_id)
        if case is not None:
            if case.decision == "REJECT" and not body.reason.strip():
                rule = "R-B1" if case.kind == "deployment" else "R-B3"
                yield Doubt("desk", rule, f"{body.strategy_id} was rejected, and System A is not told why")
            wanted = _MOVES.get((case.kind, case.decision))
            given = (body.strategy_id, body.from_, body.to)
            if wanted is None or given != (case.strategy_id, *wanted):
                decided = case.decision or "nothing"
                why = f"{body.strategy_id} moves from {body.from_} to {body.to}, {told.case_id} decided {decided}"
                yield Doubt("desk", "R-D20", why)
            case.is_moved = True
            if case.kind == "deployment":
                self._end(told.case_id)
        self._strategies.move(told)
        if body.to == "production":
            self._money.begin(body.strategy_id)
            self._money.promote(body.strategy_id)

    def noticed(self, told: Told) -> Doubts:
        """Hold a DEPLOY_NOTICE against the decision that it tells of."""
        body, case = told.body, self._cases.get(told.case_id)
        wanted = _NOTICES.get((case.kind, case.decision)) if case is not None else None
        is_told = wanted == body.action and (body.action == "STAGE" or (case is not None and case.is_moved))
        if case is None or body.strategy_id != case.strategy_id or not is_told:
            decided = (
                f"{told.case_id} decided {case.decision or 'nothing'}" if case else "nobody decided on it"
            )
            yield Doubt("desk", "R-B12", f"the notice says {body.action} {body.strategy_id}, but {decided}")
        elif case.kind == "deployment":
            self._deploy(told.case_id, case, told.env.sent_at)
        self._finish(told.case_id)

    def _finish(self, case_id: str) -> None:
        """End a case; what was rejected and is still staged trades no more."""
        case = self._cases.get(case_id)
        if case is not None and (case.kind, case.decision) == ("promotion", "REJECT"):
            self._strategies.refuse(case.strategy_id)
        self._end(case_id)

    def _deploy(self, case_id: str, case: Case, at: datetime) -> None:
        self._strategies.deploy(case.strategy_id, at, case.limit)
        self._money.begin(case.strategy_id)

    def ruled(self, told: Told) -> Doubts:
        """Take in a RULING on such a case: a silence, the end of its escalation, a STOP."""
        case, outcome, step = self._cases.get(told.case_id), told.body.outcome, step_of(told)
        if case is None:
            return
        if outcome == "stop":
            self._end(told.case_id)
        elif step.startswith("review"):
            case.missed.add(step.partition("/")[2])
        elif step.startswith("decision"):
            self._undecided(told, case)
        elif not step and told.body.reason == "panel_late" and case.kind == "promotion":
            case.panel_id = ""
        elif not step:
            yield from self._settled(told, case, outcome)
        elif step.startswith("notice"):
            if case.kind == "deployment":
                self._deploy(told.case_id, case, told.env.sent_at)
            self._finish(told.case_id)
        elif step.startswith(("move", "return", "withdrawal")):
            self._finish(told.case_id)
        elif step.startswith(("response", "request")):
            known = self._strategies.get(case.strategy_id)
            if case.kind == "recall" and known is not None:
                known.is_flagged = False
            self._end(told.case_id)

    def _undecided(self, told: Told, case: Case) -> None:
        """Decide what the silent Operator did not: a deployment escalates, a promotion is extended or rejected."""
        wanted = self._wanted(case)
        if case.kind == "deployment":
            self._decide(told, case, "ESCALATE")
            return
        known = self._strategies.get(case.strategy_id)
        is_last = known is not None and known.extensions >= EXTENSIONS
        is_rejected = wanted.decision == "REJECT" or (wanted.decision == "PROMOTE" and is_last)
        self._decide(told, case, "REJECT" if is_rejected else "EXTEND")

    def _settled(self, told: Told, case: Case, outcome: str) -> Doubts:
        """Hold what ends a disputed deployment against what the admin answered; silence is no consent (R-B1)."""
        answer = self._answers.get(told.case_id, "")
        limit = None
        if case.kind != "deployment" or case.decision != "ESCALATE":
            yield Doubt("desk", "R-B1", f"{told.case_id} does not wait for an admin")
            return
        if outcome == "DEPLOY":
            wanted = {"deploy": "admin", "deploy_modified": "admin_modified"}.get(answer)
            if wanted != told.body.reason:
                said = answer or "nothing that deploys"
                yield Doubt("desk", "R-B1", f"deployed by {told.body.reason}, but the admin answered {said}")
            guardian = case.reviews.get("guardian")
            if told.body.reason == "admin_modified" and guardian is not None:
                limit = guardian.recommended_position_limit
            self._decide(told, case, "DEPLOY", limit)
        else:
            if answer in ("deploy", "deploy_modified"):
                yield Doubt("desk", "R-B1", f"rejected, but the admin answered {answer}")
            self._decide(told, case, "REJECT")
        self.disputed.discard(told.case_id)


_MOVES: Final = {
    ("deployment", "REJECT"): ("staging", "candidates"),
    ("promotion", "PROMOTE"): ("staging", "production"),
    ("promotion", "REJECT"): ("staging", "candidates"),
    ("feedback", "withdraw"): ("production", "withdrawn"),
    ("recall", "withdraw"): ("production", "withdrawn"),
}
"""Where a decision moves a strategy."""

_NOTICES: Final = {
    ("deployment", "DEPLOY"): "STAGE",
    ("deployment", "DEPLOY_MODIFIED"): "STAGE",
    ("promotion", "PROMOTE"): "PROMOTE",
    ("promotion", "REJECT"): "WITHDRAW",
    ("feedback", "withdraw"): "WITHDRAW",
    ("recall", "withdraw"): "WITHDRAW",
}
"""What a notice tells of it."""
