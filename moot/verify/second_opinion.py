"""A second opinion on debates and on the desk's money, from the raw messages, beside the docket's.

What looks like a breach is a suspicion until the slack is over, or many messages came: a VIOLATION beside it
takes it back, and takes the message out of what its case amounts to (K10). What stays is a finding.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import ends_outage
from moot.protocols.kernel.seats import REFEREE
from moot.verify.audit.desk import DESK_TYPES, Desk
from moot.verify.lifecycle import MESSAGES
from moot.verify.report import Findings, Invariant
from moot.verify.second_debate import Breach, Debate, Event

NOTHING: Final = timedelta(0)
CYCLES_KEPT: Final = 10_000
"""So many cycles are remembered for the hypotheses that they ask for."""


class Suspicion(NamedTuple):
    """A breach that no VIOLATION stands beside yet; `at` is in up time."""

    at: datetime
    invariant: Invariant
    breach: Breach
    line: int


class Running:
    """A debate that is not over, with its messages, to be judged anew without those that were struck out."""

    __slots__ = ("anchor", "debate", "events", "seq", "verdict")

    def __init__(self, seq: int, anchor: datetime, verdict: str = "") -> None:
        """Start with no messages; `seq` opened it, `anchor` is the trigger's instant in up time."""
        self.seq = seq
        self.anchor = anchor
        self.verdict = verdict
        self.debate = Debate(verdict)
        self.events: list[Event] = []


class SecondOpinion:
    """Follows debates and the desk's money by their raw messages."""

    def __init__(self, findings: Findings) -> None:
        """Start with no case."""
        self._findings = findings
        self._suspicions: dict[int, Suspicion] = {}
        self._cycles: dict[str, datetime] = {}
        self._debates: dict[str, Running] = {}
        self._desk = Desk(findings)
        self._over: dict[str, int] = {}
        self._closing: deque[tuple[datetime, str]] = deque()
        self._conservative = False
        self._outage = NOTHING
        self._down_at: datetime | None = None
        self._last_at: datetime | None = None

    def take(self, env: Envelope, context: RuleContext, *, is_void: bool, slack: timedelta) -> None:
        """Take in a message.

        Args:
            env: The message.
            context: What the docket holds after it.
            is_void: Whether it is an officer's that came too late to matter.
            slack: How long a VIOLATION may take.
        """
        kind = env.body.type
        # The first message after an outage comes hours later, and no time has passed.
        if not ends_outage(env.body) and (self._suspicions or self._closing or self._desk.is_waiting):
            before = self._up(env) - slack
            self._mature(before, env.seq - MESSAGES)
            self._close(before)
            self._desk.mature(before, env.seq - MESSAGES)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, env, env.body, is_void)
        if kind in DESK_TYPES and not is_void:
            self._desk.hear(env, self._up(env), self._findings.line, context)
        self._last_at = env.sent_at

    def end(self, slack: timedelta) -> None:
        """Judge what is left when the log ends."""
        if self._last_at is not None:
            up = self._last_at - self._outage
            self._mature(up - slack)
            self._desk.mature(up - slack)

    def _mature(self, before: datetime, until: int = 0) -> None:
        """Make findings of the suspicions from before an instant of up time, and of those up to a seq."""
        for seq, (at, invariant, breach, line) in list(self._suspicions.items()):
            if at >= before and seq > until:
                return
            del self._suspicions[seq]
            self._findings.add(seq, invariant, breach.rule, breach.why, line=line)

    def _suspect(self, env: Envelope, invariant: Invariant, breach: Breach) -> None:
        self._suspicions[env.seq] = Suspicion(self._up(env), invariant, breach, self._findings.line)

    def _up(self, env: Envelope) -> datetime:
        """Return the instant of a message in up time."""
        return env.sent_at - self._outage

    # ------------------------------------------------------------ the society

    def _started(self, env: Envelope, body: Any, is_void: bool) -> None:
        if self._last_at is not None:
            self._outage += env.sent_at - (self._down_at or self._last_at)
        self._down_at = None

    def _held(self, env: Envelope, body: Any, is_void: bool) -> None:
        self._outage += body.held

    def _stopped(self, env: Envelope, body: Any, is_void: bool) -> None:
        self._down_at = env.sent_at

    def _struck(self, env: Envelope, body: Any, is_void: bool) -> None:
        """Take a message out that a VIOLATION stands beside."""
        seq = body.of_seq
        self._suspicions.pop(seq, None)
        self._desk.strike(seq)
        case_id = env.case_id or ""
        running = self._debates.get(case_id)
        if running is None:
            return
        if running.seq == seq:
            del self._debates[case_id]
        elif any(event.seq == seq for event in running.events):
            self._judge_anew(running, seq)

    def _judge_anew(self, running: Running, without: int) -> None:
        running.events = [event for event in running.events if event.seq != without]
        running.debate = Debate(running.verdict)
        for event in running.events:
            breach = running.debate.take(event)
            if breach is None:
                self._suspicions.pop(event.seq, None)
            elif event.seq not in self._suspicions:
                self._suspect(event.env, "debate", breach)

    # ------------------------------------------------------------ debates

    def _triggered(self, env: Envelope, body: Any, is_void: bool) -> None:
        self._cycles[body.cycle_id] = self._up(env)
        while len(self._cycles) > CYCLES_KEPT:
            del self._cycles[next(iter(self._cycles))]

    def _opened(self, env: Envelope, body: Any, is_void: bool) -> None:
        anchor = self._cycles.get(body.cycle_id)
        case_id = body.hypothesis_id
        if anchor is None:
            self._suspect(env, "debate", Breach("K9", f"no CYCLE_TRIGGER opened {body.cycle_id}"))
        elif case_id in self._debates or case_id in self._over:
            self._suspect(env, "terminal", Breach("K9", f"the debate {case_id} was opened before"))
        else:
            self._debates[case_id] = Running(env.seq, anchor)

    def _overrides(self, env: Envelope, body: Any, is_void: bool) -> None:
        if body.case_id in self._debates:
            self._said(env, body, is_void)
        elif body.case_id in self._over:
            self._debates[body.override_id] = Running(env.seq, self._up(env), body.verdict)

    def _said(self, env: Envelope, body: Any, is_void: bool) -> None:
        """Judge a message of a debate; what the referee remarks beside one is none."""
        if env.author == REFEREE and body.type != "RULING":
            return
        case_id = env.case_id or ""
        running = self._debates.get(case_id)
        if running is None:
            if case_id in self._over and env.author != REFEREE:
                why = f"{body.type} comes after {case_id} ended at seq {self._over[case_id]}"
                self._suspect(env, "terminal", Breach("K23", why))
            return
        event = Event(env.seq, env, self._up(env) - running.anchor, self._conservative, is_void)
        was_over = running.debate.is_over
        breach = running.debate.take(event)
        running.events.append(event)
        if breach is not None:
            self._suspect(env, "terminal" if was_over else "debate", breach)
        elif running.debate.is_over and not was_over:
            self._closing.append((self._up(env), case_id))

    def _close(self, before: datetime) -> None:
        """Let go of debates that have been over for so long that no VIOLATION can change them."""
        while self._closing and self._closing[0][0] < before:
            _, case_id = self._closing.popleft()
            running = self._debates.get(case_id)
            if running is not None and running.debate.is_over:
                self._over[case_id] = running.debate.ended_seq
                del self._debates[case_id]

    def _mode(self, env: Envelope, body: Any, is_void: bool) -> None:
        if body.system == "A":
            self._conservative = body.mode == "conservative"


_HANDLERS: Final[dict[str, Any]] = {
    "SOCIETY_STARTED": SecondOpinion._started,
    "SOCIETY_STOPPED": SecondOpinion._stopped,
    "CLOCK_SET": SecondOpinion._held,
    "VIOLATION": SecondOpinion._struck,
    "CYCLE_TRIGGER": SecondOpinion._triggered,
    "HYPOTHESIS": SecondOpinion._opened,
    "OVERRIDE": SecondOpinion._overrides,
    "MODE_CHANGED": SecondOpinion._mode,
    **dict.fromkeys(
        (
            "RISK_ASSESSMENT",
            "REBUTTAL",
            "CONCEDE",
            "EXTEND_DEBATE",
            "VERDICT",
            "FINAL_VERDICT",
            "REVISE_REQUEST",
            "REVISED_HYPOTHESIS",
            "BACKTEST_RESULT",
            "STRATEGY_MOVED",
            "CAUSAL_RECORD",
            "REFLECTION",
            "RULING",
        ),
        SecondOpinion._said,
    ),
}
