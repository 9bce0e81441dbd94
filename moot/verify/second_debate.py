"""A debate judged from its raw messages alone, without the debate's own tables (spec 1.1 to 1.4).

Written apart from `moot.protocols.research.debate` on purpose: a mistake there must not bless itself. It knows
fewer rules, the ones that matter most, and is fed with what the log shows anybody.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.envelope import Envelope

BUDGET: Final = timedelta(minutes=150)
REVISION: Final = timedelta(minutes=30)
EXTENSION: Final = timedelta(minutes=20)
LAST_STEPS: Final = ("record", "reflection")
"""A ruling on these voids the last thing that a debate owes."""


class Breach(NamedTuple):
    """A rule that a message breaks."""

    rule: str
    why: str


class Event(NamedTuple):
    """A message of a debate, with what was known of the society when it came.

    Attributes:
        seq: Its seq.
        env: The message.
        elapsed: Time since the cycle's trigger, outages aside.
        is_conservative: Whether the conservative mode was on (R-B8).
        is_void: Whether an officer's message came too late to have an effect.
    """

    seq: int
    env: Envelope
    elapsed: timedelta
    is_conservative: bool
    is_void: bool


class Debate:
    """What the messages of a debate amount to so far.

    Attributes:
        is_over: Whether it ended.
        ended_seq: The message that ended it.
    """

    def __init__(self, verdict: str = "") -> None:
        """Start after the hypothesis; a linked case starts with its verdict (K23)."""
        self.is_over = False
        self.ended_seq = 0
        self._verdict = verdict
        self._rounds = 0
        self._is_assessed = False
        self._is_clear = False
        self._is_conceded = False
        self._is_silent = False
        self._extended = False
        self._revise = ""
        self._backtest: bool | None = None

    def take(self, event: Event) -> Breach | None:
        """Take in a message; return the rule it breaks, and then leave everything as it was."""
        kind = event.env.body.type
        judge = _JUDGES.get(kind)
        if judge is None:
            return None
        if self.is_over and kind not in ("RULING", "OVERRIDE"):
            return Breach("K23", f"{kind} comes after the debate ended at seq {self.ended_seq}")
        breach: Breach | None = judge(self, event, event.env.body)
        return breach

    def _end(self, event: Event) -> None:
        self.is_over = True
        self.ended_seq = event.seq

    def _assessment(self, event: Event, body: Any) -> Breach | None:
        if body.round == "revision":
            if self._revise != "revised":
                return Breach("1.2", "nothing was revised that it could assess")
            self._revise = "reassessed"
            self._is_assessed = True
            return None
        if self._verdict or self._revise:
            return Breach("1.1", "the exchange was over")
        if body.round != self._rounds + 1:
            return Breach("1.4", f"round {body.round} after {self._rounds}")
        if body.round > (3 if self._extended else 2):
            return Breach("1.3", f"round {body.round} without an extension")
        self._rounds = body.round
        self._is_assessed = True
        self._is_clear = body.confidence > 0.85
        return None

    def _rebuttal(self, event: Event, body: Any) -> Breach | None:
        if self._verdict or self._revise:
            return Breach("1.1", "the exchange was over")
        if body.round != self._rounds + 1 or body.round > (3 if self._extended else 2):
            return Breach("1.4", f"round {body.round} after {self._rounds} assessments")
        if body.type == "CONCEDE":
            self._is_conceded = True
        elif body.strategy is not None:
            self._is_assessed = False
        return None

    def _extend(self, event: Event, body: Any) -> Breach | None:
        if self._extended:
            return Breach("R-D5", "a debate is extended once")
        if self._rounds != 2 or self._verdict or self._revise or self._is_conceded or self._is_clear:
            return Breach("R-D5", "an extension comes after two full rounds and before the verdict")
        if body.extra_rounds != 1:
            return Breach("1.3", "an extension is one round")
        for score in (body.alpha_argument_score, body.risk_argument_score):
            if not 0.55 <= score <= 0.75:
                return Breach("1.3", f"the score {score} is outside 0.55 to 0.75")
        if event.elapsed + EXTENSION > BUDGET:
            return Breach("R-D6", "an extension would take the cycle past 2.5 h")
        self._extended = True
        return None

    def _judgement(self, event: Event, body: Any) -> Breach | None:
        is_final = body.type == "FINAL_VERDICT"
        if self._verdict:
            return Breach("K23", f"the verdict was {self._verdict} before")
        if is_final != bool(self._revise) or (is_final and self._revise not in ("revised", "reassessed")):
            return Breach("1.2", f"a {body.type} does not come here")
        if not is_final and not self._may_end():
            return Breach("1.4", f"after {self._rounds} rounds none of the four criteria ends the exchange")
        if is_final and self._revise == "revised" and not self._is_silent:
            return Breach("1.2", "the revision was not assessed")
        if body.verdict == "REVISE":
            if is_final:
                return Breach("R-D9", "one revision is the cap")
            if event.elapsed + REVISION > BUDGET:
                return Breach("R-D6", "a revision would take the cycle past 2.5 h")
            if event.is_conservative and body.confidence < 0.75:
                return Breach("R-B8", "conservative mode rejects below 0.75")
            self._revise = "asked"
            return None
        if body.verdict == "APPROVE" and (breach := self._forbids(event, body)) is not None:
            return breach
        self._verdict = body.verdict
        return None

    def _may_end(self) -> bool:
        rounds = 3 if self._extended else 2
        return self._rounds == rounds or self._is_clear or self._is_conceded or self._is_silent

    def _forbids(self, event: Event, body: Any) -> Breach | None:
        """Say why this may not be approved (R-D7, R-D8, R-D10, R-B8)."""
        if body.confidence < 0.6:
            return Breach("R-D7", f"APPROVE with confidence {body.confidence}")
        if event.is_conservative and body.confidence < 0.75:
            return Breach("R-B8", f"APPROVE with confidence {body.confidence} in conservative mode")
        if round(abs(body.alpha_argument_score - body.risk_argument_score), 6) < 0.05:
            return Breach("R-D8", "APPROVE although the scores are closer than 0.05")
        if not self._is_assessed:
            return Breach("R-D10", "APPROVE without an assessment")
        return None

    def _request(self, event: Event, body: Any) -> Breach | None:
        if self._revise != "asked" or self._verdict:
            return Breach("R-D9", "no REVISE asks for it, or it was requested before")
        self._revise = "requested"
        return None

    def _revised(self, event: Event, body: Any) -> Breach | None:
        if self._revise != "requested" or self._verdict:
            return Breach("1.2", "no REVISE_REQUEST asks for it")
        self._revise = "revised"
        self._is_assessed = self._is_silent = False
        return None

    def _tested(self, event: Event, body: Any) -> Breach | None:
        if self._verdict != "APPROVE" or self._backtest is not None:
            return Breach("R-D15", "no APPROVE asks for it")
        figures = body.metrics
        passes = figures.sharpe >= 0.3 and figures.max_drawdown <= 0.2 and figures.total_trades >= 20
        if body.passed != passes:
            return Breach("R-D15", f"passed is {body.passed}, the figures say {passes}")
        self._backtest = passes
        return None

    def _moved(self, event: Event, body: Any) -> Breach | None:
        if not self._backtest or body.to != "candidates":
            return Breach("R-D15", "a strategy moves to the candidates after a passed backtest")
        return None

    def _recorded(self, event: Event, body: Any) -> Breach | None:
        if event.env.author != "evolver":
            return None
        if body.type == "REFLECTION":
            if self._verdict != "REJECT":
                return Breach("1.2", "a REFLECTION ends a rejected debate")
        elif self._backtest is None or body.record.kind != ("success" if self._backtest else "failure"):
            return Breach("R-D15", "a CAUSAL_RECORD says how the backtest went")
        self._end(event)
        return None

    def _ruled(self, event: Event, body: Any) -> Breach | None:
        if event.is_void:
            return None
        if body.outcome in ("REJECT", "stop"):
            self._verdict = self._verdict if body.outcome == "stop" else "REJECT"
            self._end(event)
            return None
        self._is_silent = True
        if body.obligation_id is not None and body.obligation_id.split("/", 1)[-1].startswith(LAST_STEPS):
            self._end(event)
        return None

    def _overridden(self, event: Event, body: Any) -> Breach | None:
        if not self.is_over:
            self._verdict, self._backtest = body.verdict, None
        return None


_JUDGES: Final[dict[str, Any]] = {
    "RISK_ASSESSMENT": Debate._assessment,
    "REBUTTAL": Debate._rebuttal,
    "CONCEDE": Debate._rebuttal,
    "EXTEND_DEBATE": Debate._extend,
    "VERDICT": Debate._judgement,
    "FINAL_VERDICT": Debate._judgement,
    "REVISE_REQUEST": Debate._request,
    "REVISED_HYPOTHESIS": Debate._revised,
    "BACKTEST_RESULT": Debate._tested,
    "STRATEGY_MOVED": Debate._moved,
    "CAUSAL_RECORD": Debate._recorded,
    "REFLECTION": Debate._recorded,
    "RULING": Debate._ruled,
    "OVERRIDE": Debate._overridden,
}
