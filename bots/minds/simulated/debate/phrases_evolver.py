"""The Evolver's sentences, as data: `str.format` templates, several for each occasion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Variants = tuple[str, ...]

SCALES: Final[Variants] = (
    "alpha argues at {alpha}, risk at {risk}",
    "I weigh the case for it at {alpha} and the case against it at {risk}",
    "{alpha} for the strategy, {risk} against it",
)
APPROVE: Final[Variants] = (
    "the evidence for {what} outweighs the objections",
    "that is enough for me to send {what} into the test",
    "I let {what} go to its backtest",
)
OVERRULE: Final[Variants] = (
    "the Critic rejects it, and I overrule that on the strength of the figures",
    "against the Critic’s rating: the margin is too wide to follow it",
)
REJECT: Final[Variants] = (
    "the objections prevail, above all {name}",
    "{name} decides it against {what}",
    "I cannot send {what} to a backtest with {name} where it is",
)
REJECT_PLAIN: Final[Variants] = (
    "what speaks for {what} is too little",
    "the alpha behind {what} is too weak to test",
)
REVISE: Final[Variants] = (
    "too close to call, and {name} looks mendable",
    "it deserves one revision, aimed at {name}",
    "neither side has won; {name} is what a revision must settle",
)
REVISE_OFFER: Final[Variants] = (
    "the Explorer has put a change on the table that answers {name}; let it be made",
    "with the change offered {name} would look different, so I want to see it made",
)
REASONS: Final[Mapping[str, Variants]] = {
    "tie": ("closer than 0.05 leans to the Critic", "a tie goes against it"),
    "low_confidence": ("my confidence of {confidence} does not carry an approval",),
    "fatal_flaw": (
        "the Critic's fatal flaw stands, whatever the scores say",
        "a flaw that the Critic calls fatal has not been taken back",
    ),
    "no_assessment": (
        "nothing is approved that the Critic has not assessed",
        "there is no assessment of this text, so it cannot be approved",
    ),
    "conceded": ("the Explorer gave it up", "it was conceded, and I see no reason to disagree"),
    "conservative": (
        "while we are conservative {confidence} is not enough",
        "in conservative mode this is a no",
    ),
    "budget": ("there is no time left in this cycle for a revision",),
    "untestable": ("the strategy cannot be tested: {why}",),
    "refused": ("my last answer was refused ({why}); a rejection is always open to me",),
    "second": ("there is no second revision, so it ends here",),
}
"""Why a verdict could not be otherwise, by code."""

EXTEND: Final[Variants] = (
    "both arguments are strong ({alpha} and {risk}); I want the neighbourhood of these parameters examined",
    "{alpha} against {risk} is real uncertainty: one more exchange, on how stable the effect is",
    "I cannot part {alpha} from {risk} yet. One more round, please, with the relatives of this strategy",
)
NOTE_SCORE: Final[Variants] = (
    "{who}’s note {quote} made me weigh {name} more heavily",
    "I gave {name} more weight after {who} wrote {quote}",
)
NOTE_OTHER: Final[Variants] = ("{who}’s note {quote} was considered", "I have {who}’s {quote} before me")
ROUNDS: Final[Variants] = (
    "{rounds} assessments and {answered} are behind this",
    "the exchange had {rounds} assessments and {answered}",
)
ISSUES: Final[Variants] = (
    "{name} at {score} (tolerated {limit}): {basis}",
    "{name}: {basis}, which scores {score} where {limit} is tolerated",
)
ISSUE_EDGE: Final[Variants] = (
    "the edge itself: validation Sharpe {validation} is too thin to be sure of",
    "overfitting: make the validation Sharpe, now {validation}, speak for itself",
)
DIRECTIONS: Final[Mapping[str, Variants]] = {
    "tail_risk": ("a smaller volatility target", "less exposure on stormy days"),
    "overfitting": ("slower, plainer signals", "parameters that do not need to be exact"),
    "execution_risk": ("fewer trades: longer lookbacks or wider thresholds",),
    "correlation_risk": ("other symbols than the pool holds", "a different part of the universe"),
    "signal_decay": ("a slower signal that a day’s delay does not hurt",),
    "crowding_risk": (
        "short positions too, or symbols that trade apart",
        "something that holding does not give",
    ),
    "event_window_risk": ("more symbols, so that single days matter less",),
}
SUGGEST: Final[Variants] = ("consider {direction}", "I would try {direction}", "look towards {direction}")

SUCCESS: Final[Variants] = (
    "{how} passed on unseen data: Sharpe {test} after {train} in train and {validation} in validation",
    "the test split confirms {how} with Sharpe {test} ({trades} trades, drawdown {drawdown})",
)
FAILURE: Final[Variants] = (
    "{how} was approved and failed its backtest by {code}: Sharpe {test}, {trades} trades",
    "approved at confidence {confidence}, {how} fell to {code} on unseen data (Sharpe {test})",
)
LESSON_SCORE: Final[Variants] = (
    "{how} was rejected over {name}: {basis}",
    "{name} sank {how}; {basis}",
)
LESSON_OTHER: Final[Variants] = (
    "{how} was rejected ({code}): alpha {alpha} against risk {risk}",
    "no approval for {how}, {code}; the arguments stood {alpha} to {risk}",
)
MOVED: Final[Variants] = (
    "passed its backtest with Sharpe {test} over {trades} trades",
    "Sharpe {test} and a drawdown of {drawdown} on data no seat had seen",
)

PRIORITY_DRY: Final[Variants] = (
    "diversify: nothing passed since yesterday, so leave {failed} and look elsewhere",
    "diversify, {failed} failed often enough for one day",
)
PRIORITY_BEST: Final[Variants] = (
    "more of {best}, which passed {passed} of {tried} lately; watch {code}",
    "follow up on {best} ({passed} of {tried} passed) and mind {code}",
)
PRIORITY_OPEN: Final[Variants] = (
    "keep the search broad; {code} was the commonest reason to fail",
    "no archetype stands out yet, so try them all, and mind {code}",
)
WEEK_DRY: Final[Variants] = (
    "diversify: the week brought {approved} approvals in {cycles} cycles; leave {failed} for a while",
)
WEEK_BEST: Final[Variants] = (
    "build on {best}, the week’s best source ({passed} of {tried} passed), and work on {code}",
    "next week deepens {best}; {code} is the weakness to work on",
)
WEEK_OPEN: Final[Variants] = ("a broad search again, with {code} as the weakness to work on",)

RECOMMEND: Final[Mapping[str, Variants]] = {
    "few_approvals": ("Explorer should diversify: only {rate} of debates ended in an approval",),
    "many_approvals": ("Critic may look harder: {rate} of debates were approved",),
    "failed": ("approvals failed their backtest {failed} times in {approved}; more weight on validation",),
    "quality": ("debates were thin (quality {quality}); answer every point with a figure",),
    "code": ("{code} was behind {count} failures; Explorer should screen for it before proposing",),
    "archetype": ("{archetype} failed {count} times in {tried}; try it with other symbols or leave it",),
    "overrides": ("the Critic was overruled in {rate} of debates; its strictness may be off",),
    "silences": ("{count} deadlines were missed; answer shorter rather than late",),
    "fine": ("go on as it is: {approved} approvals in {total} debates",),
}
"""Recommendations of a META_REFLECTION by what prompts them."""

INSIGHTS: Final[Variants] = (
    "{strategy} realised Sharpe {realised} against {expected} in its backtest",
    "{strategy}: {realised} live, {expected} in the backtest",
)

ADJUSTMENTS: Final[Mapping[str, Variants]] = {
    "withdraw": (
        "it loses (Sharpe {realised} after {sessions}), so withdraw it and I evaluate it anew",
        "withdraw it: {realised} live in {sessions} where {expected} was promised",
    ),
    "halve": (
        "halve its position limit until it is clear why {expected} became {realised} in {sessions}",
        "{realised} instead of {expected} after {sessions}: half the position until it recovers",
    ),
}
"""Proposed adjustments of a PERFORMANCE_FEEDBACK."""
TAKEN: Final[Mapping[str, str]] = {
    "withdraw": "it is withdrawn",
    "adjust": "its position limit is halved",
    "none": "nothing is done",
}
"""Actions of a FEEDBACK_RESPONSE in words."""
LIVE_AGREED: Final[Variants] = (
    "{how} realised Sharpe {realised} in {sessions} live against {expected} in its backtest; {action}",
    "live {strategy} gave Sharpe {realised} in {sessions} where {expected} was promised, and {action}",
)
LIVE_DISPUTED: Final[Variants] = (
    "{strategy} at Sharpe {realised} in {sessions} against {expected} may be chance, says the desk: {evidence}",
    "the desk disputes that {strategy} fails ({realised} in {sessions} live, {expected} promised): {evidence}",
)
LIVE_RECALLED: Final[Variants] = (
    "{how} was recalled from production: Sharpe {realised} in {sessions} against {expected} in its backtest",
    "recalled: {strategy} lost what its backtest had promised ({realised} in {sessions} live, {expected} on unseen "
    "data)",
)
