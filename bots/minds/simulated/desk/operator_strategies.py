"""The Operator and strategies: validation, deployment, promotion, feedback, recall (spec 4.1, 4.3, 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.casefile import Pool, open_file
from moot.bots.minds.simulated.debate.criteria import listed
from moot.bots.minds.simulated.desk.deskfile import filled_in, known, spec_of, subject
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import counted, paragraph, percent, sentence, two
from moot.bots.tools.backtest import backtest
from moot.bots.tools.errors import ToolError
from moot.bots.tools.splits import splits
from moot.bots.tools.statistics import published
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.protocols.research.judging import passes
from moot.protocols.research.messages import BacktestMetrics, StrategyMoved
from moot.protocols.research.messages.strategies import Stage
from moot.protocols.trading.messages import (
    DeployDecision,
    DeployNotice,
    DeployProposal,
    DeskCheck,
    FeedbackResponse,
    PromotionProposal,
    RecallRequest,
)
from moot.protocols.trading.promotion import MISSING, row_of
from moot.protocols.trading.seats import OPERATOR

PHRASES: Final = Phrases("desk/operator")

RISK_PARAMS: Final = ("target_vol", "allow_short")
"""Parameters that bound a strategy's risk; a candidate without one is not taken over."""

FORMS: Final = ("guardian", "trader")
"""Who reviews, in the order of the table."""
RECOMMENDS: Final[Mapping[str, str]] = {
    "approve": "approves",
    "reject": "rejects",
    "extend_validation": "wants more days on paper",
    MISSING: "said nothing",
}
EXECUTABLE: Final[Mapping[str, str]] = {
    "ready": "execution ready at about {bps} bp",
    "needs_adjustment": "execution that costs too much of its return at about {bps} bp",
}
"""Reviews in words."""

SESSIONS_A_YEAR: Final = 252
WITHDRAWS_AT: Final = 0.05
"""Chance of so bad a Sharpe ratio, had the strategy kept its promise, at which it is withdrawn."""
AGREES_AT: Final = 0.2
"""Chance up to which the Operator agrees that it does worse, and halves it."""
LEVEL_AT: Final = 1.645
"""Standard errors of a one-sided test at 5 %."""
MEASURED: Final = 30
"""Realised Sharpe ratios look back so many sessions (R-B9)."""


# ---------------------------------------------------------------- validation and moves


def move(turn: Turn) -> Reply:
    """Move a strategy where its case says; a candidate, whose case leaves it open, where its validation leads."""
    brief = turn.view.brief
    if isinstance(brief.get("to"), str):
        to: Stage = brief["to"]
        reason = _why(turn, to)
    else:
        is_valid, reason = validated(turn)
        to = "staging" if is_valid else "withdrawn"
    stands = brief.get("from_") or known(turn).get("stage")
    return Reply(StrategyMoved(strategy_id=subject(turn), from_=stands, to=to, reason=reason))


def validated(turn: Turn) -> tuple[bool, str]:
    """Check a candidate: its code runs, its risk parameters are complete, it passed on unseen data.

    Returns:
        Whether it may be staged, and why or why not, in words.
    """
    voice, entry = turn.voice, known(turn)
    spec = spec_of(entry)
    if spec is None:
        return False, sentence(voice.say(PHRASES["invalid.unknown"]))
    said, faults = [], []
    if missing := [name for name in RISK_PARAMS if name not in spec.params]:
        faults.append(voice.say(PHRASES["invalid.risk"], names=listed(missing)))
    else:
        sides = "long and short" if spec.params["allow_short"] else "long only"
        said.append(voice.say(PHRASES["risk_set"], target=percent(spec.params["target_vol"], 0), sides=sides))
    try:
        found = backtest(spec, turn.universe, splits(turn.universe).validation).metrics
        trades = counted(found["total_trades"], "trade")
        said.append(voice.say(PHRASES["runs"], sharpe=two(found["sharpe"]), trades=trades))
    except ToolError as fault:
        faults.append(voice.say(PHRASES["invalid.fault"], why=str(fault)))
    tested = _tested(entry)
    if tested is None:
        faults.append(voice.say(PHRASES["invalid.untested"]))
    elif passes(tested):
        trades = counted(tested.total_trades, "trade")
        said.append(voice.say(PHRASES["passed"], sharpe=two(tested.sharpe), trades=trades))
    else:
        why = (
            f"Sharpe {two(tested.sharpe)}, drawdown {percent(tested.max_drawdown)}, "
            f"{counted(tested.total_trades, 'trade')}"
        )
        faults.append(voice.say(PHRASES["invalid.failed"], why=why))
    return not faults, paragraph(*(faults or said))


def _tested(entry: Mapping[str, Any]) -> BacktestMetrics | None:
    """Return the candidate's backtest on the test split, as the log has it."""
    figures = entry.get("backtest")
    return BacktestMetrics(**{"profit_factor": None, **figures}) if figures else None


def _why(turn: Turn, to: Stage) -> str:
    """Say why a strategy moves, by the case that moves it."""
    brief, voice = turn.view.brief, turn.voice
    if "feedback" in brief:
        return sentence(voice.say(PHRASES["returned.deployment"], why=_clause(brief["feedback"])))
    if "criteria" in brief:
        facts = {"paper": _paper(brief), "days": counted(brief["proposal"]["days"], "day")}
        if to == "production":
            return sentence(voice.say(PHRASES["returned.promoted"], **facts))
        return sentence(
            voice.say(PHRASES["returned.rejected"], why=_recommended(brief), row=_row(brief), **facts)
        )
    if answer := brief.get("answer"):
        why = answer.get("reason") or " ".join(answer.get("counter_evidence", ()))
        return sentence(voice.say(PHRASES["returned.recall"], why=_clause(why)))
    errors = [
        fault.error
        for check in turn.transcript.all(DeskCheck)
        for fault in check.faults
        if fault.strategy_id == subject(turn)
    ]
    last = errors[-1] if errors else "unknown"
    return sentence(
        voice.say(PHRASES["returned.faults"], count=counted(len(errors), "fault"), why=_clause(last))
    )


def _paper(brief: Mapping[str, Any]) -> str:
    """Write what a strategy did on paper beside what the criteria of a promotion ask for."""
    paper, asked = brief["proposal"]["paper_trading_metrics"], brief["criteria"]
    fallen, most = abs(float(paper.get("max_drawdown", 0.0))), abs(float(asked["drawdown_above"]))
    said = [f"a drawdown of {percent(fallen)} where {percent(most, 0)} is the limit"]
    if "sharpe" in paper:
        sessions = counted(int(paper.get("n", 0)), "session")
        wanted = f"more than {two(asked['sharpe_above'])} is asked for"
        said.insert(0, f"Sharpe {two(paper['sharpe'])} over {sessions} where {wanted}")
    return listed([counted(int(paper.get("trades", 0)), "trade"), *said])


def _row(brief: Mapping[str, Any]) -> str:
    """Name the row of the table of promotions that the reviews match."""
    said = (
        review["recommendation"] if (review := brief.get(form)) is not None else MISSING for form in FORMS
    )
    return str(row_of(*said).n)


def _recommended(brief: Mapping[str, Any]) -> str:
    """Say what both reviewers of a promotion recommended, and the panel when there was one."""
    said = []
    for form in FORMS:
        review = brief.get(form)
        said.append(
            f"the {form.capitalize()} {RECOMMENDS[review['recommendation'] if review is not None else MISSING]}"
        )
    if "panel" in brief:
        verdict = brief["panel"]["decision"].rpartition("=")[2].replace("_", " ")
        said.append(f"the panel decided {verdict or 'nothing'}")
    return listed(said)


def _clause(text: str) -> str:
    """Take the mark off the end of a sentence, for it to stand within another."""
    return text.strip().rstrip(".") or "no reason was given"


def _within(text: str) -> str:
    """Make a clause of a sentence that begins with a word, for it to stand behind others."""
    clause = _clause(text)
    return clause[:1].lower() + clause[1:]


# ---------------------------------------------------------------- deployment and promotion


def propose_deployment(turn: Turn) -> Reply:
    """Propose to deploy a staged strategy, with its backtest and what is known of its risk."""
    entry = known(turn)
    figures = turn.view.brief.get("backtest_metrics", entry.get("backtest", {}))
    return Reply(
        DeployProposal(
            session_id=turn.case_id,
            strategy_id=subject(turn),
            backtest_metrics=dict(figures),
            risk_profile=risk_profile(spec_of(entry), turn.universe),
        )
    )


def risk_profile(spec: StrategySpec | None, universe: Universe) -> dict[str, Any]:
    """Measure the risk of a strategy on train and validation.

    Returns:
        `archetype`, `symbols`, and as fractions `max_drawdown`, `cvar` (mean loss of the worst 5 % of days) and
        `volatility` a year; without figures when it cannot be run.
    """
    if spec is None:
        return {"archetype": None, "symbols": []}
    profile: dict[str, Any] = {"archetype": spec.archetype, "symbols": list(spec.symbols)}
    try:
        file = open_file(spec, universe, Pool({}, universe))
        returns = backtest(spec, universe, splits(universe).evidence).returns
    except ToolError:
        return profile
    spread = float(np.std(returns, ddof=1)) if len(returns) > 1 else 0.0
    return {
        **profile,
        "max_drawdown": file.drawdown,
        "cvar": file.cvar,
        "volatility": published(spread * math.sqrt(SESSIONS_A_YEAR)),
    }


def decide_deployment(turn: Turn) -> Reply:
    """Decide as the table says; a rejection gives System A the Guardian's concerns (R-B1)."""
    brief = turn.view.brief
    agreed = brief["parameters"]
    limit, kind = agreed.get("position_limit"), agreed.get("order_type")
    how = [f"at most {percent(limit)} a position"] if limit is not None else []
    how += [f"{kind} orders"] if kind is not None else []
    guardian, trader = brief.get("guardian"), brief.get("trader")
    concerns = "; ".join(map(_within, guardian["concerns"])) if guardian is not None else ""
    facts = {
        "what": subject(turn),
        "how": listed(how),
        "why": concerns or "no concern was named",
        "because": concerns or _executable(trader),
        "guardian": f"risk {guardian['risk_assessment']}" if guardian is not None else "no word on the risk",
        "trader": _executable(trader),
    }
    if concerns and guardian is not None:
        facts["guardian"] += f", for {concerns}"
    text = turn.voice.say(PHRASES[f"rows.{brief['decision']}"], **facts)
    return Reply(filled_in(DeployDecision, turn, feedback=sentence(text)))


def _executable(review: Mapping[str, Any] | None) -> str:
    if review is None:
        return "no word on its execution"
    said = EXECUTABLE[review["executability"]].format(bps=f"{review['estimated_slippage_bps'] or 0.0:.0f}")
    return f"{said}, with a concern about liquidity" if review["liquidity_concern"] else said


def notify(turn: Turn) -> Reply:
    """Give notice that a strategy is staged, promoted or withdrawn (R-B12)."""
    brief = turn.view.brief
    action, tested = brief["action"], known(turn).get("backtest", {})
    facts = {
        "sharpe": two(tested.get("sharpe", 0.0)),
        "paper": _paper(brief) if action == "PROMOTE" else "",
    }
    said = PHRASES["unmeasured"] if action == "STAGE" and not tested else PHRASES[f"notices.{action}"]
    body = filled_in(
        DeployNotice,
        turn,
        reason=sentence(turn.voice.say(said, **facts)),
    )
    return Reply(body)


def propose_promotion(turn: Turn) -> Reply:
    """Propose a strategy that has its days on paper, with the figures of the book (R-B3)."""
    return Reply(filled_in(PromotionProposal, turn, session_id=turn.case_id, strategy_id=subject(turn)))


# ---------------------------------------------------------------- the bridge


@dataclass(frozen=True, slots=True)
class Gap:
    """How far a live Sharpe ratio lies from the promised one.

    Attributes:
        promised: Sharpe ratio of the backtest.
        live: The realised one, yearly.
        sessions: How many it rests on.
        error: Its standard error (Lo 2002): √((1 + daily² ÷ 2) ÷ sessions), yearly.
    """

    promised: float
    live: float
    sessions: int

    @property
    def error(self) -> float:
        daily = self.live / math.sqrt(SESSIONS_A_YEAR)
        return math.sqrt((1.0 + daily * daily / 2.0) / self.sessions * SESSIONS_A_YEAR)

    @property
    def z(self) -> float:
        """Return the distance in standard errors, negative when live is worse."""
        return (self.live - self.promised) / self.error

    @property
    def p(self) -> float:
        """Return the chance of a ratio this low, had the strategy kept its promise."""
        return 0.5 * math.erfc(-self.z / math.sqrt(2.0))

    @property
    def needed(self) -> int:
        """Return the sessions that would tell such a difference at 5 %; 0 when live is no worse."""
        missing = self.promised - self.live
        if missing <= 0.0:
            return 0
        return math.ceil((LEVEL_AT * self.error * math.sqrt(self.sessions) / missing) ** 2)

    @property
    def facts(self) -> dict[str, str]:
        """Return what phrases may name."""
        return {
            "promised": two(self.promised),
            "live": two(self.live),
            "sessions": counted(self.sessions, "session"),
            "error": two(self.error),
            "z": two(self.z),
            "p": two(self.p),
            "level": two(AGREES_AT),
            "needed": counted(self.needed, "session"),
        }


def gap_of(figures: Mapping[str, float]) -> Gap | None:
    """Read what a feedback says of a strategy; None when a figure is missing."""
    promised, live = figures.get("expected_sharpe"), figures.get("actual_sharpe")
    sessions = min(int(figures.get("n", 0)), MEASURED)
    if promised is None or live is None or sessions < 2:
        return None
    return Gap(promised, live, sessions)


def respond(turn: Turn) -> Reply:
    """Agree where the live figures are statistically worse than promised, else disagree with evidence (R-B9).

    Whose recall it asked for it does not defend (R-F5).
    """
    gap, entry, voice = gap_of(turn.view.brief["figures"]), known(turn), turn.voice
    if not turn.view.brief.get("may_dispute", True):
        return Reply(FeedbackResponse(stance="agree", action="withdraw"))
    if gap is None:
        return Reply(
            FeedbackResponse(
                stance="disagree", action="none", counter_evidence=(sentence(voice.say(PHRASES["shortage"])),)
            )
        )
    fallen, promised = -entry.get("drawdown", 0.0), entry.get("backtest", {}).get("max_drawdown", 1.0)
    drawdowns = {"drawdown": percent(fallen), "promised": percent(promised)}
    is_deeper = fallen > promised
    if is_deeper or gap.p <= AGREES_AT:
        evidence = [voice.say(PHRASES["worse"], **gap.facts)] if gap.p <= AGREES_AT else []
        evidence += [voice.say(PHRASES["deeper"], **drawdowns)] if is_deeper else []
        action: Any = "withdraw" if is_deeper or gap.p <= WITHDRAWS_AT else "adjust"
        return Reply(
            FeedbackResponse(stance="agree", action=action, counter_evidence=tuple(map(sentence, evidence)))
        )
    evidence = [voice.say(PHRASES["short"], **gap.facts)]
    if gap.needed > gap.sessions:
        evidence.append(voice.say(PHRASES["needed"], **gap.facts))
    symbols = entry.get("symbols", ())
    moved = market_return(turn.universe, symbols, gap.sessions)
    if moved is not None and moved < 0.0:
        evidence.append(voice.say(PHRASES["market"], symbols=listed(symbols), market=percent(moved)))
    if entry.get("backtest"):
        evidence.append(voice.say(PHRASES["held_up"], **drawdowns))
    return Reply(
        FeedbackResponse(stance="disagree", action="none", counter_evidence=tuple(map(sentence, evidence)))
    )


def market_return(universe: Universe, symbols: Sequence[str], sessions: int) -> float | None:
    """Return what holding some symbols in equal parts gave over the last sessions; None without their prices."""
    gains = []
    for symbol in symbols:
        bars = universe.bars.get(symbol)
        if bars is not None and len(bars) > sessions:
            gains.append(float(bars.close[-1] / bars.close[-1 - sessions]) - 1.0)
    return published(sum(gains) / len(gains)) if gains else None


def request_recall(turn: Turn) -> Reply:
    """Ask System A to evaluate a flagged strategy anew (R-B10)."""
    figures, promised = turn.view.brief["figures"], known(turn).get("backtest", {}).get("sharpe")
    facts = {
        "sharpe": two(figures["sharpe"]),
        "sessions": counted(int(figures["n"]), "session"),
        "promised": two(promised) if promised is not None else "nothing",
    }
    reason = sentence(turn.voice.say(PHRASES["recalled"], **facts))
    return Reply(RecallRequest(strategy_id=subject(turn), reason=reason))


ANSWERS: Final[Answers] = {
    (OPERATOR, StrategyMoved): move,
    (OPERATOR, DeployProposal): propose_deployment,
    (OPERATOR, DeployDecision): decide_deployment,
    (OPERATOR, DeployNotice): notify,
    (OPERATOR, PromotionProposal): propose_promotion,
    (OPERATOR, FeedbackResponse): respond,
    (OPERATOR, RecallRequest): request_recall,
}
