"""A second opinion on the desk, from the raw messages, beside the docket's (spec 4, 5.1, 6; R-B1 to R-B10, K11).

Messages are judged once the slack is over: by then every VIOLATION beside one is known. What a VIOLATION stands
beside has no effect, but for executions, which are facts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from moot.protocols.kernel.envelope import Envelope
from moot.verify.report import Findings
from moot.verify.second_decisions import Decisions
from moot.verify.second_figures import REPORTS, Figures
from moot.verify.second_money import Money
from moot.verify.second_sessions import Sessions
from moot.verify.second_strategies import Strategies
from moot.verify.second_told import Doubt, Doubts, Told, remember
from moot.verify.second_trades import Trades

LOSS: Final = -0.05
"""R-B6: a day's P&L at or below this escalates."""
TIMEOUTS: Final = 3


class Heard(NamedTuple):
    """A message that waits to be judged."""

    env: Envelope
    up: datetime
    line: int


class Desk:
    """Follows everything that concerns the desk."""

    def __init__(self, findings: Findings) -> None:
        """Start without a desk."""
        self._findings = findings
        self._waiting: deque[Heard] = deque()
        self._struck: set[int] = set()
        self._strategies = Strategies()
        self._money = Money(self._strategies)
        self._figures = Figures(self._money)
        self._trades = Trades(self._money)
        self._decisions = Decisions(self._strategies, self._money)
        self._sessions = Sessions()
        self._untold: dict[str, Told] = {}
        self._last: Told | None = None
        self._losses: dict[int, None] = {}
        self._silences: dict[int, str] = {}
        self._disputes: dict[str, str] = {}

    def hear(self, env: Envelope, up: datetime, line: int) -> None:
        """Take in a message, to be judged later."""
        self._waiting.append(Heard(env, up, line))

    def strike(self, seq: int) -> None:
        """Take in that a VIOLATION stands beside a message."""
        if self._waiting and seq >= self._waiting[0].env.seq:
            self._struck.add(seq)

    @property
    def is_waiting(self) -> bool:
        """Say whether anything is to be judged."""
        return bool(self._waiting)

    def mature(self, before: datetime, slack: timedelta, until: int = 0) -> None:
        """Judge what was sent before an instant of up time, or up to a seq, with all VIOLATIONs known.

        Officers may be `slack` late.
        """
        waiting = self._waiting
        while waiting and (waiting[0].up < before or waiting[0].env.seq <= until):
            heard = waiting.popleft()
            env = heard.env
            told = Told(env, env.body, heard.up, heard.line, env.seq in self._struck)
            self._struck.discard(env.seq)
            try:
                self._judge(told, heard.up - slack)
            except Exception as exc:
                # Whatever figures a log names, they must not end the verification.
                why = f"it cannot be reckoned with: {type(exc).__name__}: {exc}"
                self._findings.add(env.seq, "money", "K11", why, line=heard.line)

    def end(self, now: datetime, up: datetime, slack: timedelta) -> None:
        """Name what is missing when the log ends."""
        self.mature(up - slack, slack)
        if self._last is not None:
            self._late(self._last, now, up, up - slack)

    def _judge(self, told: Told, before: datetime) -> None:
        kind = told.body.type
        self._last = told
        if not told.is_struck or kind == "EXECUTION":
            # What falls due now may be what this message says.
            self._note(told, _HANDLERS[kind](self, told))
        elif kind == "SIGNAL":
            self._money.signal(told)
        self._late(told, told.env.sent_at, told.up, before)

    def _late(self, told: Told, now: datetime, up: datetime, before: datetime) -> None:
        """Name what should have been said by now."""
        self._note(told, self._sessions.due(now, up, before))
        self._note(told, self._trades.due(before))
        if self._untold:
            self._note(told, self._escalated(before))

    def _note(self, told: Told, doubts: Doubts) -> None:
        for doubt in doubts:
            seq, line = (doubt.seq, doubt.line) if doubt.seq else (told.seq, told.line)
            self._findings.add(seq, doubt.invariant, doubt.rule, doubt.why, line=line)

    def _escalated(self, before: datetime) -> Doubts:
        """Name halts that no admin was told of."""
        for halt_id, halt in list(self._untold.items()):
            if halt.up < before:
                del self._untold[halt_id]
                yield Doubt("desk", "5.1", f"no ESCALATION tells the admin of {halt_id}", halt.seq, halt.line)

    # ------------------------------------------------------------ the society

    def _started(self, told: Told) -> Doubts:
        self._money.start(told.body.config)
        self._decisions.configure(told.body.config)
        self._sessions.enable(told.body.config, told.up)
        return ()

    def _changed(self, told: Told) -> Doubts:
        self._sessions.enable(told.body.changes, told.up)
        self._decisions.configure(told.body.changes)
        return ()

    def _stopped(self, told: Told) -> Doubts:
        self._sessions.stop(told.body.scope)
        return ()

    # ------------------------------------------------------------ days

    def _opened(self, told: Told) -> Doubts:
        yield from self._sessions.opened(told)
        if told.body.date != self._money.date:
            self._money.open_day(told)

    def _said(self, told: Told) -> Doubts:
        """Take in what a session owes, with its figures where it has some."""
        if told.body.type in REPORTS:
            yield from self._figures.check(told, is_halted=self._is_halted)
        yield from self._sessions.said(told)

    def _checked(self, told: Told) -> Doubts:
        yield from self._said(told)
        yield from self._trades.checked(told)
        self._sessions.checked(told, is_halted=self._is_halted)
        self._money.mark(told.body.marks)
        self._lost(told, told.body.daily_pnl_pct)

    def _closed(self, told: Told) -> Doubts:
        yield from self._said(told)
        self._strategies.close()
        self._money.close(told)
        self._lost(told, told.body.pnl_pct)

    def _lost(self, told: Told, pnl: float) -> None:
        if pnl <= LOSS:
            remember(self._losses, told.seq, None)

    @property
    def _is_halted(self) -> bool:
        return self._trades.halted > 0

    # ------------------------------------------------------------ trades, alerts, halts

    def _signalled(self, told: Told) -> Doubts:
        self._money.signal(told)
        return self._trades.signal(told)

    def _declined(self, told: Told) -> Doubts:
        self._trades.decline(told)
        return ()

    def _alerted(self, told: Told) -> Doubts:
        self._sessions.alerted(told, is_halted=self._is_halted)
        return self._halted(told) if told.body.level == "HALT" else ()

    def _halted(self, told: Told) -> Doubts:
        self._untold[told.case_id] = told
        return self._trades.halt(told)

    def _projected(self, told: Told) -> Doubts:
        self._sessions.projected(told)
        return ()

    def _assessed(self, told: Told) -> Doubts:
        self._sessions.assessed(told)
        return ()

    def _concluded(self, told: Told) -> Doubts:
        return self._sessions.decided(told, is_halted=self._is_halted)

    def _ruled(self, told: Told) -> Doubts:
        obligation_id = told.body.obligation_id
        if obligation_id is not None:
            remember(self._silences, told.seq, obligation_id.rpartition("/")[2])
        self._trades.ruled(told)
        self._sessions.ruled(told, is_halted=self._is_halted)
        return self._decisions.ruled(told)

    # ------------------------------------------------------------ strategies

    def _planned(self, told: Told) -> Doubts:
        self._strategies.hypothesis(told)
        return ()

    def _tested(self, told: Told) -> Doubts:
        self._strategies.backtest(told)
        return ()

    def _promotion(self, told: Told) -> Doubts:
        yield from self._figures.check(told, is_halted=self._is_halted)
        yield from self._decisions.promoted(told)

    def _responded(self, told: Told) -> Doubts:
        self._decisions.responded(told)
        return ()

    # ------------------------------------------------------------ escalations

    def _escalation(self, told: Told) -> Doubts:
        """Hold an ESCALATION of the desk against what it says has happened (spec 5.1, R-E1)."""
        body = told.body
        subject, evidence = body.subject, body.evidence_seqs
        why = ""
        if body.trigger_code == "halt":
            self._untold.pop(subject, None)
            why = "" if subject in self._trades.halts else f"nothing halted the desk as {subject}"
        elif body.trigger_code == "daily_loss":
            why = "" if any(seq in self._losses for seq in evidence) else "no check shows a loss of 5 %"
        elif body.trigger_code == "deployment":
            remember(self._disputes, body.escalation_id, subject)
            why = "" if subject in self._decisions.disputed else f"nobody disagrees on {subject}"
        elif body.trigger_code == "timeouts_b":
            silent = [seq for seq in evidence if self._silences.get(seq) == subject]
            why = "" if len(set(silent)) == TIMEOUTS else f"{subject} was not silent three times"
        if why:
            yield Doubt("desk", "R-E1", f"{body.trigger_code}: {why}")

    def _resolved(self, told: Told) -> Doubts:
        subject = self._disputes.pop(told.body.escalation_id, None)
        if subject is not None and told.body.how == "answered":
            self._decisions.answered(subject, told.body.effect)
        return ()


_HANDLERS: Final[dict[str, Callable[[Desk, Told], Doubts]]] = {
    "SOCIETY_STARTED": Desk._started,
    "CONFIG_CHANGED": Desk._changed,
    "STOP": Desk._stopped,
    "RULING": Desk._ruled,
    "ESCALATION": Desk._escalation,
    "ESCALATION_RESOLVED": Desk._resolved,
    "TRADING_DAY": Desk._opened,
    "RISK_CHECK": Desk._checked,
    "MARKET_CLOSE": Desk._closed,
    **dict.fromkeys(
        (
            "PRE_MARKET_CHECK",
            "DESK_CHECK",
            "CHECK_NEW_STRATEGIES",
            "OVERNIGHT_RISK_CHECK",
            "TRADING_SUMMARY",
            "DAILY_TRADING_REPORT",
            "WEEKLY_TRADING_REPORT",
            "METRICS_RECORDED",
        ),
        Desk._said,
    ),
    "SIGNAL": Desk._signalled,
    "ORDER": lambda desk, told: desk._trades.order(told),
    "NO_ORDER": Desk._declined,
    "EXECUTION": lambda desk, told: desk._trades.execute(told),
    "RISK_ALERT": Desk._alerted,
    "RISK_PROJECTION": Desk._projected,
    "FEASIBILITY": Desk._assessed,
    "RISK_DECISION": Desk._concluded,
    "HALT": Desk._halted,
    "RESUME": lambda desk, told: desk._trades.resume(told),
    "RESUME_CONFIRMED": lambda desk, told: desk._trades.resume(told),
    "HYPOTHESIS": Desk._planned,
    "REVISED_HYPOTHESIS": Desk._planned,
    "BACKTEST_RESULT": Desk._tested,
    "STRATEGY_MOVED": lambda desk, told: desk._decisions.moved(told),
    "DEPLOY_PROPOSAL": lambda desk, told: desk._decisions.proposed(told),
    "DEPLOY_REVIEW": lambda desk, told: desk._decisions.reviewed(told),
    "DEPLOY_DECISION": lambda desk, told: desk._decisions.decided(told),
    "DEPLOY_NOTICE": lambda desk, told: desk._decisions.noticed(told),
    "PROMOTION_PROPOSAL": Desk._promotion,
    "PROMOTION_REVIEW": lambda desk, told: desk._decisions.reviewed(told),
    "PROMOTION_DECISION": lambda desk, told: desk._decisions.decided(told),
    "PANEL_OPENED": lambda desk, told: desk._decisions.convened(told),
    "PANEL_DECIDED": lambda desk, told: desk._decisions.judged(told),
    "PANEL_ABORTED": lambda desk, told: desk._decisions.judged(told),
    "PERFORMANCE_FEEDBACK": lambda desk, told: desk._decisions.fed_back(told),
    "FEEDBACK_RESPONSE": Desk._responded,
    "RECALL_FLAG": lambda desk, told: desk._decisions.flagged(told),
    "RECALL_REQUEST": Desk._responded,
}

DESK_TYPES: Final = frozenset(_HANDLERS)
"""Types that `Desk` is shown."""
