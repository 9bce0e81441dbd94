"""Ideas for the system itself, as data: what the weekly architecture debate can be about (spec 3.1).

None names a single strategy or its parameter (R-D16).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Grade = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """One change to the system.

    Attributes:
        scope: Which part of the system it touches.
        description: What would be done; its identity in memory.
        benefit: What it should bring.
        answers: What in a week's records asks for it: failure codes, and `silence`, `few_approvals`,
            `repeats`, `principles`.
        effort: How much work and risk it is.
        objection: What speaks against it.
        defence: What can be answered.
        assigned_to: Who would make it.
        notes: How it would be made.
    """

    scope: str
    description: str
    benefit: str
    answers: tuple[str, ...]
    effort: Grade
    objection: str
    defence: str
    assigned_to: Literal["explorer", "evolver"]
    notes: str


IDEAS: Final = (
    Idea(
        scope="data sources",
        description="Add a news sentiment index as a second data source",
        benefit="signals that do not come from the same closing prices everybody has",
        answers=("crowding_risk", "signal_decay"),
        effort="high",
        objection="sentiment series are short and revised afterwards, which invites hindsight",
        defence="only the value as first published would be stored, with its time",
        assigned_to="explorer",
        notes="store first prints only and keep them apart from prices",
    ),
    Idea(
        scope="data sources",
        description="Add an implied volatility series beside realised volatility",
        benefit="regimes are recognised before the losses that define them",
        answers=("tail_risk", "event_window_risk"),
        effort="medium",
        objection="it exists for few of our symbols",
        defence="one index-wide series is enough to label the market",
        assigned_to="explorer",
        notes="one series for the whole universe, joined by date",
    ),
    Idea(
        scope="data sources",
        description="Add a calendar of scheduled events to the bars",
        benefit="results that lean on event days can be told apart",
        answers=("event_window_risk",),
        effort="low",
        objection="a calendar explains only the events that were scheduled",
        defence="those are the ones that a strategy can avoid at all",
        assigned_to="explorer",
        notes="a table of dates per symbol, read at the close before",
    ),
    Idea(
        scope="data sources",
        description="Widen the universe by bond and commodity indices",
        benefit="more strategies that do not move together, and more trades for short tests",
        answers=("correlation_risk", "few_trades", "crowding_risk"),
        effort="medium",
        objection="every new symbol is another place to be lucky in train",
        defence="the share of luck is known, and the Critic can ask for more from a wider search",
        assigned_to="explorer",
        notes="add two indices first and compare pool correlations after two weeks",
    ),
    Idea(
        scope="strategy archetypes",
        description="Add pairs trading as a fifth archetype",
        benefit="returns that hardly depend on the direction of the market",
        answers=("correlation_risk", "crowding_risk", "tail_risk"),
        effort="high",
        objection="it doubles the costs, as each position has two legs",
        defence="costs are charged in every figure, so it can fail honestly",
        assigned_to="explorer",
        notes="two symbols per strategy, both legs charged",
    ),
    Idea(
        scope="strategy archetypes",
        description="Add a seasonal archetype built on the turn of the month",
        benefit="an effect that is independent of price patterns",
        answers=("few_approvals", "correlation_risk", "repeats"),
        effort="low",
        objection="calendar effects are the oldest data mining there is",
        defence="that is why it must pass the same unseen test as all others",
        assigned_to="explorer",
        notes="one archetype with two or three settings, nothing finer",
    ),
    Idea(
        scope="memory structure",
        description="Index memory by regime and archetype together",
        benefit="lessons are found where they apply instead of everywhere or nowhere",
        answers=("repeats", "principles"),
        effort="low",
        objection="finer shelves hold fewer cases each",
        defence="the search can widen step by step when a shelf is nearly empty",
        assigned_to="evolver",
        notes="fall back to the archetype alone below five records",
    ),
    Idea(
        scope="memory structure",
        description="Let principles fade when nothing has confirmed them for four weeks",
        benefit="old lessons stop steering a market that has changed",
        answers=("principles", "few_approvals"),
        effort="low",
        objection="rare but true lessons would fade first",
        defence="fading lowers confidence, it deletes nothing",
        assigned_to="evolver",
        notes="lower the weight in steering only; the record stays",
    ),
    Idea(
        scope="memory structure",
        description="Keep rejected hypotheses with their figures for later comparison",
        benefit="near misses can be told from hopeless ideas at a glance",
        answers=("repeats", "low_confidence"),
        effort="low",
        objection="memory grows by every failure, and most of them teach nothing",
        defence="a few hundred bytes each is a small price for not trying twice",
        assigned_to="evolver",
        notes="figures only, no curves",
    ),
    Idea(
        scope="memory structure",
        description="Record which objections later proved right",
        benefit="the Critic learns which of its scores predict a failed backtest",
        answers=("low_sharpe", "few_trades", "deep_drawdown"),
        effort="medium",
        objection="it takes months until such counts mean anything",
        defence="all the more reason to begin now",
        assigned_to="evolver",
        notes="one line per approval: scores at verdict, outcome of the test",
    ),
    Idea(
        scope="risk model",
        description="Replace the single validation span by walk-forward folds",
        benefit="one lucky stretch can no longer carry a hypothesis",
        answers=("overfitting", "low_sharpe"),
        effort="medium",
        objection="folds overlap, so they are less independent than they look",
        defence="even overlapping folds show when a result hangs on one year",
        assigned_to="evolver",
        notes="three folds within the evidence, the test stays untouched",
    ),
    Idea(
        scope="risk model",
        description="Deflate Sharpe ratios by the number of candidates that were tried",
        benefit="a large search no longer looks like a large talent",
        answers=("overfitting", "low_sharpe", "weak_alpha"),
        effort="low",
        objection="nobody knows how many independent candidates a search really had",
        defence="any honest count is better than pretending it was one",
        assigned_to="evolver",
        notes="count candidates in the research note, deflate in the assessment",
    ),
    Idea(
        scope="risk model",
        description="Measure correlation on the worst days alone",
        benefit="what diversifies only in calm times is recognised",
        answers=("correlation_risk", "tail_risk"),
        effort="low",
        objection="the worst days are few, so the measure is noisy",
        defence="it would stand beside the usual one, not replace it",
        assigned_to="evolver",
        notes="worst tenth of days, shown next to the plain figure",
    ),
    Idea(
        scope="risk model",
        description="Charge costs that grow with turnover and volatility",
        benefit="busy strategies are judged by what they would really pay",
        answers=("execution_risk", "low_sharpe"),
        effort="medium",
        objection="a cost model that nobody has calibrated is a guess with decimals",
        defence="a rising guess is nearer to the truth than a flat one",
        assigned_to="evolver",
        notes="keep the flat rate as the lower bound",
    ),
    Idea(
        scope="risk model",
        description="Add stress scenarios of past crashes to every assessment",
        benefit="tails are judged by what happened, not by a quiet stretch",
        answers=("tail_risk", "deep_drawdown", "event_window_risk"),
        effort="medium",
        objection="the next crash will not look like the last one",
        defence="a strategy that fails the last one need not wait for the next",
        assigned_to="evolver",
        notes="three scenarios from before the evidence, reported as a table",
    ),
    Idea(
        scope="debate process",
        description="Require a neighbourhood check in every first assessment",
        benefit="flukes are found before the debate is spent on them",
        answers=("overfitting", "low_confidence", "signal_decay"),
        effort="low",
        objection="it costs time in every debate to help in a few",
        defence="it takes seconds, an extension takes twenty minutes",
        assigned_to="evolver",
        notes="five relatives, one figure in the reasoning",
    ),
    Idea(
        scope="debate process",
        description="Screen hypotheses against the pool before they are proposed",
        benefit="debates are not spent on what is owned already",
        answers=("correlation_risk", "conceded", "repeats"),
        effort="low",
        objection="a screen decides without being argued with",
        defence="what it holds back is listed in the research note, where anybody can object",
        assigned_to="explorer",
        notes="list what was held back and why",
    ),
    Idea(
        scope="debate process",
        description="Let seats announce a late answer instead of falling silent",
        benefit="fewer steps are ruled void",
        answers=("silence", "no_assessment"),
        effort="medium",
        objection="an announcement is not an answer, and the budget runs on",
        defence="the referee could then tell the slow from the absent",
        assigned_to="evolver",
        notes="announcing changes no deadline",
    ),
    Idea(
        scope="debate process",
        description="Compute the standard figures of a hypothesis as soon as it is posted",
        benefit="assessments come sooner and quote the same numbers",
        answers=("silence", "no_assessment", "few_approvals"),
        effort="low",
        objection="shared figures make it easy to stop looking for others",
        defence="the Critic is free to bring more, it only need not repeat the usual ones",
        assigned_to="evolver",
        notes="post them as evidence under a reference",
    ),
)
"""Every idea; the debate picks those that the week's records ask for and memory has not decided yet."""
