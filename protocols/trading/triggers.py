"""The conditions of System B that escalate (spec 5.1, R-B1, R-B6, R-E1)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from moot.protocols.escalation.case import ANSWERED, EscalationState
from moot.protocols.escalation.triggers import FIRES_AGAIN_AFTER
from moot.protocols.escalation.watch import Condition, Source
from moot.protocols.kernel.context import Deed
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.research.triggers import ConsecutiveTimeouts
from moot.protocols.trading.alert import INFEASIBLE, AlertState
from moot.protocols.trading.alert import KIND as ALERT_KIND
from moot.protocols.trading.deploy import ESCALATED, DeploymentState, guardian_says, trader_says
from moot.protocols.trading.halt import JOINED, LIMIT, MAX_REASONS, HaltState
from moot.protocols.trading.limits import breaches
from moot.protocols.trading.messages import MarketClose, RiskCheck, TradingDay
from moot.protocols.trading.seats import SYSTEM_B
from moot.protocols.trading.session_state import risk_key

HALT_KIND: Final = "halt"
DAILY_LOSS: Final = -0.05
"""A day's P&L at or below this share of its opening equity escalates (R-B6)."""

MAX_CONTEXT_CHARS: Final = 20_000
"""Length limit of what an escalation says of the reasons of a halt."""

NOTHING: Final[tuple[Condition, ...]] = ()


class Halts(Source):
    """A halt in force, by its case: from HALT or RISK_ALERT of level HALT to RESUME_CONFIRMED (R-B5).

    It asks the admin at once, and again a day later while it lasts (K19): a halt that nobody lifts is not forgotten.
    Where the way out of it is blocked, for nobody asked to resume or confirmed it, that is one limit after the ruling
    on the silence, unless the admin is being asked anyway or trading is to be resumed again (R-F14).
    """

    types = frozenset({"HALT", "RISK_ALERT", "RESUME", "ESCALATION_RESOLVED"})
    deeds = Deed.RULED
    ends = frozenset({HALT_KIND})

    def __init__(self) -> None:
        """Start with none."""
        self._in_force: dict[str, tuple[datetime, Condition]] = {}
        self._stuck: set[str] = set()
        self._overtaken: set[str] = set()

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Say which halts began and which ended."""
        began = [
            Condition(
                HALT_KIND, state.case_id, True, state.reasons[0].context[:MAX_CONTEXT_CHARS], (env.seq,)
            )
            for state in fx.started
            if isinstance(state, HaltState) and state.outcome is None
        ]
        over = [Condition(HALT_KIND, s.case_id, False) for s in fx.ended if s.case_id in self._in_force]
        for condition in began:
            self._in_force[condition.subject] = (env.sent_at, condition)
        for condition in over:
            self._in_force.pop(condition.subject, None)
            self._stuck.discard(condition.subject)
            self._overtaken.discard(condition.subject)
        return (*began, *over, *self._joined(env, fx, docket), *self._blocked(env, fx, docket))

    def _joined(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Page again for a reason that joins a halt, or ask anew where no escalation waits for an answer (R-G12)."""
        for state in fx.ended:
            if isinstance(state, HaltState) and state.outcome == JOINED:
                halt = docket.cases.get(state.parent or "")
                if isinstance(halt, HaltState):
                    yield from self._added(halt, state, env, docket)
            elif isinstance(state, EscalationState) and state.subject in self._overtaken:
                self._overtaken.discard(state.subject)
                halt = docket.cases.get(state.subject)
                if isinstance(halt, HaltState):
                    yield from self._anew(halt, env)

    def _added(
        self, halt: HaltState, joined: HaltState, env: Envelope, docket: Docket
    ) -> Iterable[Condition]:
        case_id = halt.case_id
        if case_id not in self._in_force:
            return
        self._stuck.discard(case_id)
        watched = docket.context.fold_named("watch").watched.get((HALT_KIND, case_id))
        asking = docket.cases.get(watched.open_case) if watched and watched.open_case else None
        if asking is None:
            yield from self._anew(halt, env)
        elif asking.phase == ANSWERED:
            # The answer was given for the halt as it stood before.
            self._overtaken.add(case_id)
        else:
            since, _ = self._in_force[case_id]
            condition = _of(halt)
            self._in_force[case_id] = (since, condition)
            (reason,) = joined.reasons
            is_new = halt.reasons[-1].seq == env.seq or len(halt.reasons) >= MAX_REASONS
            yield condition._replace(added=reason.context[:MAX_CONTEXT_CHARS] if is_new else "")

    def _anew(self, halt: HaltState, env: Envelope) -> Iterable[Condition]:
        """Ask the admin about the halt as it stands now; an ESCALATION that is still to be posted is replaced."""
        condition = _of(halt)
        since, _ = self._in_force[halt.case_id]
        self._in_force[halt.case_id] = (env.sent_at, condition)
        yield condition._replace(holds=False, was_due=since <= env.sent_at)
        yield condition

    def _blocked(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Ask anew one limit after a silence that leaves the desk halted; a RESUME takes that back (R-F14)."""
        case_id = env.case_id or ""
        if case_id not in self._in_force or docket.context.fold_named("watch").is_open(HALT_KIND, case_id):
            return NOTHING
        since, condition = self._in_force[case_id]
        if env.body.type == "RESUME" and fx.violation is None and case_id in self._stuck:
            self._stuck.discard(case_id)
            self._in_force[case_id] = (env.sent_at + FIRES_AGAIN_AFTER, condition)
            return (condition._replace(holds=False, was_due=since <= env.sent_at),)
        if fx.voided is not None:
            owed = fx.voided
            why = f"{owed.seat} owed {owed.expects[0]} and was silent; {condition.context}"
            anew = condition._replace(context=why, evidence=(*condition.evidence[:1], env.seq))
            self._stuck.add(case_id)
            self._in_force[case_id] = (env.sent_at + LIMIT, anew)
            return (condition._replace(holds=False),)
        return NOTHING

    def alarm(self, docket: Docket) -> datetime | None:
        """Return since when a halt is in force."""
        return min((since for since, _ in self._in_force.values()), default=None)

    def timed(self, now: datetime, docket: Docket) -> Iterable[Condition]:
        """Return the halts in force."""
        return [condition for since, condition in self._in_force.values() if since <= now]


def _of(halt: HaltState) -> Condition:
    """Return the condition of a halt with all its reasons, the newest in full."""
    *before, newest = halt.reasons
    lines = [f"{one.by}: {one.text}" for one in before] + [newest.context]
    context = "; ".join(lines)[:MAX_CONTEXT_CHARS]
    return Condition(HALT_KIND, halt.case_id, True, context, tuple(one.seq for one in halt.reasons))


class DailyLoss(Source):
    """The day's P&L at or below -5.0 % of its opening equity; it begins anew with each desk day (R-B6)."""

    types = frozenset({"RISK_CHECK", "MARKET_CLOSE", "TRADING_DAY"})

    def __init__(self) -> None:
        """Start without a loss."""
        self._holds = False

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Judge each check and close in effect; say only what changed."""
        if fx.violation is not None or fx.superseded:
            return NOTHING
        body = env.body
        if isinstance(body, TradingDay):
            return self._turned(False, "", env)
        if isinstance(body, RiskCheck):
            pnl = body.daily_pnl_pct
        elif isinstance(body, MarketClose):
            pnl = body.pnl_pct
        else:
            return NOTHING
        return self._turned(pnl <= DAILY_LOSS, f"the day's P&L is {pnl:.2%} of the opening equity", env)

    def _turned(self, holds: bool, context: str, env: Envelope) -> Iterable[Condition]:
        if holds == self._holds:
            return NOTHING
        self._holds = holds
        return (Condition("daily_loss", "", holds, context, (env.seq,)),)


class Disagreements(Source):
    """A deployment that waits for the admin, by its case (R-B1, R-B2)."""

    types = frozenset({"DEPLOY_DECISION"})
    deeds = Deed.RULED | Deed.ENDED

    def __init__(self) -> None:
        """Start with none."""
        self._waiting: set[str] = set()

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Say which deployment was escalated, or is no longer."""
        case_id = env.case_id or ""
        state = docket.cases.get(case_id)
        if isinstance(state, DeploymentState) and state.phase == ESCALATED and case_id not in self._waiting:
            self._waiting.add(case_id)
            said = f"Guardian: {guardian_says(state.guardian)}, Trader: {trader_says(state.trader)}"
            context = f"{state.strategy_id}. {said}"
            return (Condition("deployment", case_id, True, context, (state.opened_seq, env.seq)),)
        if not self._waiting:
            return NOTHING
        over = [c for c in self._waiting if c not in docket.cases or not _waits(docket, c)]
        self._waiting.difference_update(over)
        return tuple(Condition("deployment", c, False) for c in sorted(over))


def _waits(docket: Docket, case_id: str) -> bool:
    return docket.cases[case_id].phase == ESCALATED


class Infeasible(Source):
    """A risk that grows while exposure cannot be reduced, by its alert; over once it is within its limits (R-F16)."""

    types = frozenset({"RISK_CHECK"})
    ends = frozenset({ALERT_KIND})

    def __init__(self) -> None:
        """Start with none."""
        self._risks: dict[str, str] = {}

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Say which alerts ended so, and which of their risks a check finds within their limits."""
        found = []
        for state in fx.ended:
            if isinstance(state, AlertState) and state.outcome == INFEASIBLE:
                self._risks[state.case_id] = risk_key(state.metric, *state.affected)
                context = f"{state.metric} is {state.value}, the limit {state.threshold}, {state.trend}"
                found.append(
                    Condition("infeasible", state.case_id, True, context, (state.opened_seq, env.seq))
                )
        body = env.body
        if self._risks and isinstance(body, RiskCheck) and fx.violation is None:
            # A largest position is one risk, whoever holds it, as for the session.
            reached = {
                risk_key(b.metric, b.subject) if b.metric == "drawdown" else b.metric for b in breaches(body)
            }
            over = [case_id for case_id, risk in self._risks.items() if risk not in reached]
            for case_id in over:
                del self._risks[case_id]
            found += [Condition("infeasible", case_id, False) for case_id in over]
        return found


def sources() -> tuple[Source, ...]:
    """Return fresh sources of all conditions of System B."""
    return (ConsecutiveTimeouts("timeouts_b", SYSTEM_B), Halts(), DailyLoss(), Disagreements(), Infeasible())
