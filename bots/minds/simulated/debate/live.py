"""The Evolver and the desk: feedback on live figures, and the lessons that feedback and recalls leave (spec 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate import aftermath
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answer, Answers, Turn
from moot.bots.minds.simulated.wording import counted, paragraph, sentence, two
from moot.bots.tools.errors import StrategyError
from moot.bots.tools.strategies import StrategySpec, validate
from moot.bots.tools.wording import describe
from moot.protocols.research.messages import CausalEntry, CausalRecord, Reflection
from moot.protocols.research.recorded import figures_of
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading.messages import PerformanceFeedback

PHRASES: Final = Phrases("debate/evolver")

UNDERPERFORMED: Final = "underperformed_live"
RECALLED: Final = "recalled"
"""Failure codes of lessons from the desk; they make principles like any other (R-D13)."""


def is_live(turn: Turn) -> bool:
    """Say whether a record is owed about a strategy at the desk, not about a debate."""
    return "figures" in turn.view.brief and "subject" in turn.view.brief


def feed_back(turn: Turn) -> Reply:
    """Say that a strategy in production does not do what its backtest promised (R-B9)."""
    brief = turn.view.brief
    figures = dict(brief["expected_vs_actual"])
    live = figures.get("actual_sharpe")
    code = "withdraw" if live is not None and live < 0.0 else "halve"
    text = turn.voice.say(PHRASES[f"adjustments.{code}"], **_sharpes(figures))
    return Reply(
        PerformanceFeedback(
            session_id=turn.case_id,
            strategy_id=str(brief["subject"]),
            expected_vs_actual=figures,
            proposed_adjustment=sentence(text),
        )
    )


def record(turn: Turn) -> Reply:
    """Write the Operator's answer to a feedback to memory/causal (spec 6.1).

    What it agrees with is a failure that counts towards principles; what it disputes with evidence is kept as an
    observation.
    """
    answer = turn.view.brief["answer"] or {}
    said = [one.strip() for one in answer.get("counter_evidence", ())]
    agrees = answer.get("stance") == "agree"
    action = str(answer.get("action") or "none")
    facts = _facts(turn) | {
        "action": PHRASES[f"taken.{action}"][0],
        "evidence": said[0].rstrip(".") if said else "none",
    }
    text = turn.voice.say(PHRASES["live_agreed"] if agrees else PHRASES["live_disputed"], **facts)
    rest = said if agrees else said[1:]
    entry = _entry(turn, "failure" if agrees else "observation", UNDERPERFORMED, paragraph(text, *rest))
    return Reply(CausalRecord(record=entry))


def reflect(turn: Turn) -> Reply:
    """Write a recall to memory/reflections, with the live figures, for re-evaluation (spec 6.2)."""
    text = turn.voice.say(PHRASES["live_recalled"], **_facts(turn))
    return Reply(Reflection(record=_entry(turn, "failure", RECALLED, paragraph(text))))


def _entry(turn: Turn, kind: Literal["failure", "observation"], code: str, text: str) -> CausalEntry:
    brief = turn.view.brief
    known = turn.view.memory.strategy(str(brief["subject"]))
    spec = _spec(brief)
    return CausalEntry(
        at=turn.now,
        kind=kind,
        hypothesis_id=str(brief.get("hypothesis_id") or brief["subject"]),
        lineage_id=(known.lineage_id or None) if known is not None else None,
        seat=None,
        archetype=spec.archetype if spec is not None else None,
        failure_code=code,
        regime=turn.regime,
        summary=text,
        metrics={**(figures_of(spec) if spec is not None else {}), **_figures(turn)},
    )


def _figures(turn: Turn) -> dict[str, float]:
    """Gather what was promised and what came of it: the backtest's figures and the case's since the promotion."""
    brief = turn.view.brief
    promised = {f"backtest_{name}": value for name, value in brief.get("backtest", {}).items()}
    return {**promised, **brief["live"]}


def _facts(turn: Turn) -> dict[str, str]:
    brief = turn.view.brief
    figures = {"expected_sharpe": brief.get("backtest", {}).get("sharpe"), **brief["figures"]}
    strategy_id = str(brief["subject"])
    return {"strategy": strategy_id, "how": _described(_spec(brief)) or strategy_id, **_sharpes(figures)}


def _described(spec: StrategySpec | None) -> str:
    """Describe a strategy; "" for one that nobody described, or that a person put there and no tool can run."""
    try:
        if spec is not None:
            validate(spec)
            return describe(spec)
    except StrategyError:
        pass
    return ""


def _sharpes(figures: Mapping[str, Any]) -> dict[str, str]:
    live = figures.get("actual_sharpe", figures.get("sharpe"))
    promised = figures.get("expected_sharpe")
    return {
        "realised": two(live) if live is not None else "unknown",
        "expected": two(promised) if promised is not None else "unknown",
        "sessions": counted(int(figures.get("n", 0)), "session"),
    }


def _spec(brief: Mapping[str, Any]) -> StrategySpec | None:
    strategy = brief.get("strategy")
    if strategy is None:
        return None
    return StrategySpec(strategy["archetype"], dict(strategy["params"]), tuple(strategy["symbols"]))


def _by_case(of_desk: Answer, of_debate: Answer) -> Answer:
    """Answer about a strategy at the desk in one way, about a debate in another."""
    return lambda turn: (of_desk if is_live(turn) else of_debate)(turn)


ANSWERS: Final[Answers] = {
    (EVOLVER, CausalRecord): _by_case(record, aftermath.record),
    (EVOLVER, Reflection): _by_case(reflect, aftermath.reflect),
    (EVOLVER, PerformanceFeedback): feed_back,
}
