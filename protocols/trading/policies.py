"""What follows in System B from escalations' ends, halts, late fills, silence (R-B1, R-B5, R-B8, R-F1, K11, 5.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.duties import case_ruling_of
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.figures import SECOND_AUDIT
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.research.messages import StrategyMoved
from moot.protocols.research.policies import audit_of
from moot.protocols.trading.deploy import (
    ADMIN,
    ADMIN_MODIFIED,
    DEPLOY,
    EXPIRED,
    REJECT,
    DeploymentState,
)
from moot.protocols.trading.halt import RESUME, HaltState
from moot.protocols.trading.life import REJECTED
from moot.protocols.trading.limits import ALREADY_REDUCED, HALVE
from moot.protocols.trading.seats import SYSTEM_B
from moot.protocols.trading.session import pruned
from moot.protocols.trading.session_state import HALT_DESK, LATE_FILL, SessionState
from moot.protocols.trading.standing import STAGING
from moot.protocols.trading.trade import on_halt

REMEMBERED: Final = 256
"""So many halts about which silence halved positions are remembered, the latest."""

SESSION, HALT, DEPLOYMENT = "session", "halt", "deployment"
OPS, DESK, RISK, BRIDGE = "#b-ops", "#b-desk", "#b-risk", "#bridge"

STANDINGS: Final = frozenset({"STRATEGY_MOVED", "RECALL_FLAG"})
"""What changes, in a case of its own, what a session may still ask for about a strategy."""

OF_SESSION: Final[Mapping[str, Decision]] = {"conservative_b": HALVE, "halt_desk": HALT_DESK}
"""Effects that are ruled on the session."""
OF_DEPLOYMENT: Final[Mapping[str, Decision]] = {
    "deploy": Decision(DEPLOY, ADMIN, "R-B1"),
    "deploy_modified": Decision(DEPLOY, ADMIN_MODIFIED, "R-B1"),
}
"""Effects that deploy; whatever else an admin says, or leaves unsaid, is no consent."""


class DeskPolicies(Fold):
    """Name the referee's rulings on System B's cases, and its audits of silence.

    Attributes:
        waiting: Rulings on the session that wait for the next one to open.
    """

    name = "desk_policies"
    types = STANDINGS.union(
        {"ESCALATION_RESOLVED", "HALT", "RISK_ALERT", "TRADING_DAY", "RULING", "EXECUTION"}
    )

    def __init__(self) -> None:
        """Start with nothing to be ruled."""
        self.waiting: tuple[Decision, ...] = ()
        self._halved: dict[str, None] = {}

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft]:
        """Take in one envelope."""
        duties: list[Draft] = []
        voided = fx.voided
        if voided is not None and voided.seat in SYSTEM_B and fx.decision is not None:
            duties.append(audit_of(env, voided, fx.decision))
        if fx.superseded and isinstance(env.body, Ruling):
            self._overtaken(env.body)
        if docket.context.fold_named("book").late_seq == env.seq:
            self._wait(LATE_FILL)
        if env.body.type in STANDINGS and fx.violation is None:
            _overtake(env, fx, docket)
        for ended in fx.ended:
            if isinstance(ended, EscalationState):
                duties.extend(self._resolved(env, ended, docket))
            elif isinstance(ended, DeploymentState):
                duties.extend(_returned(env, ended, docket))
        for started in fx.started:
            if started.kind == HALT and started.outcome is None:
                duties.extend(_halted(env, docket))
        if self.waiting:
            duties.extend(self._on_session(env, docket))
        return duties

    def _overtaken(self, body: Ruling) -> None:
        """Keep a ruling whose session ended a moment before it came."""
        decision = Decision(body.outcome, body.reason, body.rule)
        if decision in (*OF_SESSION.values(), ALREADY_REDUCED, LATE_FILL):
            self._wait(decision)

    def _wait(self, decision: Decision) -> None:
        if decision not in self.waiting:
            self.waiting = (*self.waiting, decision)

    def _resolved(self, env: Envelope, ended: EscalationState, docket: Docket) -> Iterator[Draft]:
        """Put the effect of an escalation's end into force; what concerns the session waits for it."""
        of_session = OF_SESSION.get(ended.effect)
        if of_session == HALVE and ended.outcome == "expired" and self._is_reduced(env, docket):
            of_session = ALREADY_REDUCED
        if of_session is not None and not self._is_repeated(ended):
            self._wait(of_session)
        if ended.code == DEPLOYMENT:
            yield from self._decided(env, ended, docket)
        elif ended.effect == "resume" and _may_resume(ended, docket):
            yield case_ruling_of(env, RESUME, ended.subject, RISK)

    def _is_reduced(self, env: Envelope, docket: Docket) -> bool:
        """Say whether a conservative halving is in force, or is to be ruled on the next session (R-F1)."""
        is_in_force: bool = docket.context.fold_named("book").is_reduced(env.sent_at)
        return is_in_force or HALVE in self.waiting

    def _is_repeated(self, ended: EscalationState) -> bool:
        """Say whether silence about the same halt has halved positions before: once is enough (R-B8, K19)."""
        if ended.outcome != "expired" or ended.code != HALT:
            return False
        is_repeated = ended.subject in self._halved
        self._halved[ended.subject] = None
        if len(self._halved) > REMEMBERED:
            del self._halved[next(iter(self._halved))]
        return is_repeated

    def _decided(self, env: Envelope, ended: EscalationState, docket: Docket) -> Iterator[Draft]:
        """Rule on the deployment that waits for this, if it still does."""
        if ended.subject not in docket.cases:
            return
        reason = EXPIRED if ended.outcome == "expired" else ADMIN
        decision = OF_DEPLOYMENT.get(ended.effect, Decision(REJECT, reason, "R-B1"))
        yield case_ruling_of(env, decision, ended.subject, OPS)

    def _on_session(self, env: Envelope, docket: Docket) -> Iterator[Draft]:
        """Rule on the session that opened last, if one is open; one ruling a message, the next after it."""
        sessions: list[CaseState] = [s for s in docket.cases.values() if s.kind == SESSION]
        if not sessions:
            return
        latest = max(sessions, key=lambda s: s.opened_seq)
        first, *rest = self.waiting
        self.waiting = tuple(rest)
        yield case_ruling_of(env, first, latest.case_id, OPS)


def _may_resume(ended: EscalationState, docket: Docket) -> bool:
    """Return whether an answer that trading resumes knew the halt as it stands: no HALT came after it (R-G12)."""
    state = docket.cases.get(ended.subject)
    if state is None:
        return False
    is_known = not isinstance(state, HaltState) or state.halted_seq <= ended.answered_seq
    return is_known or docket.context.version < SECOND_AUDIT


def _overtake(env: Envelope, fx: Effects, docket: Docket) -> None:
    """Close what sessions owe about a strategy that was moved, or whose recall opened, meanwhile (R-D20, R-F5).

    A session that would owe nothing then goes on as it is, and ends with its own next message.
    """
    sessions = [state for state in docket.cases.values() if isinstance(state, SessionState)]
    for state in sessions:
        if state.case_id not in docket.waiting:
            left = pruned(state, env, docket.context)
            if left.outcome is None:
                docket.install(state, left, env, fx)


def _returned(env: Envelope, ended: DeploymentState, docket: Docket) -> Iterator[Draft]:
    """Return a rejected strategy in the Operator's place, which was silent, and tell System A why (R-F7)."""
    life = docket.context.fold_named("life")
    if ended.outcome != REJECTED or life.stage_of(ended.strategy_id) != STAGING:
        return
    body = StrategyMoved(
        strategy_id=ended.strategy_id,
        from_="staging",
        to="candidates",
        reason=ended.feedback,
        hypothesis_id="",
    )
    yield Draft(
        channel=BRIDGE,
        author=REFEREE,
        actor=OFFICER,
        in_reply_to=env.id,
        key=f"returned/{env.id}",
        body=body,
    )


def _halted(env: Envelope, docket: Docket) -> Iterator[Draft]:
    """Rule on every trade that a halt stops (R-B5)."""
    for state in docket.cases.values():
        decision = on_halt(state)
        if decision is not None:
            yield case_ruling_of(env, decision, state.case_id, DESK)
