"""The desk's money in a log, reckoned anew from its executions beside the docket's book (K11, R-B7, R-D18, R-D20).

Messages are judged once the slack is over: by then every VIOLATION beside one is known. What a VIOLATION stands
beside has no effect, but for executions, which are facts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import ends_outage
from moot.verify.audit.figures import REPORTS, Figures
from moot.verify.audit.money import Money
from moot.verify.audit.told import Standings, Told
from moot.verify.lifecycle import MESSAGES
from moot.verify.report import Findings


class Desk:
    """Follows everything that concerns the desk's money."""

    def __init__(self, findings: Findings) -> None:
        """Start without a desk."""
        self._findings = findings
        self._waiting: deque[Told] = deque()
        self._struck: set[int] = set()
        self._up: datetime | None = None
        self._standings = Standings()
        self._money = Money(self._standings)
        self._figures = Figures(self._money)

    def take(self, env: Envelope, context: RuleContext, *, is_void: bool, slack: timedelta) -> None:
        """Take in a message, to be judged once every VIOLATION beside it is known.

        Args:
            env: The message.
            context: What the docket holds after it.
            is_void: Whether it is an officer's that came too late to matter.
            slack: How long a VIOLATION may take.
        """
        waiting, kind = self._waiting, env.body.type
        self._up = env.sent_at - context.outage
        if waiting and not ends_outage(env.body):
            self._mature(self._up - slack, env.seq - MESSAGES)
        if waiting and kind == "VIOLATION":
            self._strike(env.body)
        if kind in DESK_TYPES and not is_void:
            known = dict(context.fold_named("life").strategies)
            waiting.append(Told(env, env.body, self._up, self._findings.line, known, is_struck=False))

    def _strike(self, violation: Any) -> None:
        if violation.of_seq >= self._waiting[0].seq:
            self._struck.add(violation.of_seq)

    def end(self, slack: timedelta) -> None:
        """Judge what is left when the log ends."""
        if self._up is not None:
            self._mature(self._up - slack)

    def _mature(self, before: datetime, until: int = 0) -> None:
        """Judge what was sent before an instant of up time, or up to a seq, with all VIOLATIONs known."""
        waiting = self._waiting
        while waiting and (waiting[0].up < before or waiting[0].seq <= until):
            told = waiting.popleft()
            told = told._replace(is_struck=told.seq in self._struck)
            self._struck.discard(told.seq)
            try:
                self._judge(told)
            except Exception as exc:
                # Whatever figures a log names, they must not end the verification.
                why = f"it cannot be reckoned with: {type(exc).__name__}: {exc}"
                self._findings.add(told.seq, "money", "K11", why, line=told.line)

    def _judge(self, told: Told) -> None:
        kind = told.body.type
        if told.is_struck and kind not in FACTS:
            return
        self._standings.known = told.standings
        if kind in REPORTS:
            for doubt in self._figures.check(told):
                self._findings.add(told.seq, "money", doubt.rule, doubt.why, line=told.line)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self._money, told)


def _open_day(money: Money, told: Told) -> None:
    if told.body.date != money.date:
        money.open_day(told)


def _begin(money: Money, _told: Told) -> None:
    money.begin()


FACTS: Final = frozenset({"EXECUTION", "SIGNAL"})
"""What is booked, or names an owner, whatever stands beside it."""

_HANDLERS: Final[dict[str, Callable[[Money, Told], None]]] = {
    "SOCIETY_STARTED": lambda money, told: money.start(told.body.config),
    "TRADING_DAY": _open_day,
    "RISK_CHECK": lambda money, told: money.mark(told.body.marks),
    "MARKET_CLOSE": Money.close,
    "SIGNAL": Money.signal,
    "ORDER": Money.order,
    "EXECUTION": Money.execute,
    "STRATEGY_MOVED": _begin,
    "DEPLOY_NOTICE": _begin,
    "RULING": _begin,
}

DESK_TYPES: Final = REPORTS | _HANDLERS.keys()
"""Types that `Desk` is shown."""
