"""The Critic's sentences, as data: `str.format` templates, several for each occasion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Variants = tuple[str, ...]

BASIS: Final[Mapping[str, Variants]] = {
    "tail_risk": (
        "its worst days cost {cvar} on average, and the deepest fall was {drawdown}",
        "on the worst one in twenty days it gives back {cvar}; drawdown reached {drawdown}",
        "{cvar} a day is what the bad tail takes, with {drawdown} from peak to trough",
    ),
    "overfitting": (
        "the Sharpe ratio goes from {train} in train to {validation} in validation",
        "a gap of {gap} in Sharpe opens where nobody has fitted anything ({train} against {validation})",
        "what looked like {train} in train is {validation} on the stretch after it",
    ),
    "execution_risk": (
        "it turns the capital over {turnover} times a year and pays {cost} for it",
        "costs eat {share} of the gross return at {turnover} turnovers a year",
        "with trades of about {days} it pays {cost} a year, against {net} earned",
    ),
    "correlation_risk": (
        "its daily returns move with {partner} at {correlation}",
        "we own most of this already: correlation {correlation} with {partner}",
        "{partner} explains it at {correlation}, and {shared} of the symbols are the same",
    ),
    "signal_decay": (
        "acting a day late costs {lost} of Sharpe, and the halves of the validation show {first}, then {second}",
        "the signal ages: Sharpe {first}, then {second} within the validation, {late} overall if a day late",
        "a day’s delay turns {prompt} into {late} ({first} and {second} in the halves of the validation)",
    ),
    "crowding_risk": (
        "at {crowding} it is close to what everybody holds anyway",
        "a correlation of {crowding} with plain holding or plain momentum leaves little that is its own",
        "holding the same symbols gave {market} against its {own}, and the two move together ({crowding})",
    ),
    "event_window_risk": (
        "{share} of the result was made on the one day in twenty that moved most",
        "it lives on event days: {share} of what it earned or lost fell on them",
        "take the largest moves away and {share} of the result goes with them",
    ),
}
"""What stands behind a score, as a clause."""

OVER: Final[Variants] = (
    "{name} stands at {score} where I tolerate {limit}: {basis}",
    "{name} {score} is above my {limit}, because {basis}",
    "I cannot pass {name} at {score} (limit {limit}); {basis}",
    "on {name}, {basis}, which scores {score} against {limit}",
)
FIRST_REJECT: Final[Variants] = (
    "I would not trade this",
    "this does not stand up to the two splits we may look at",
    "as it is, the risks outweigh what it promises",
    "I have to speak against this one",
)
FIRST_CONDITIONAL: Final[Variants] = (
    "there is something in it, but not as it stands",
    "I can follow the idea; some figures I cannot",
    "worth arguing about, with reservations",
    "neither a clear yes nor a clear no so far",
)
FIRST_PASS: Final[Variants] = (
    "I looked for a reason to stop this and found none that holds",
    "nothing here exceeds what I tolerate",
    "the figures carry over better than I expected",
    "no score is above its limit",
)
SETTLED: Final[Variants] = (
    "the answer on {name} holds: {basis}",
    "I give way on {name} ({basis})",
    "{name} weighs less after that answer: {basis}",
)
UNSETTLED: Final[Variants] = (
    "on {name} I am not convinced: {basis}",
    "{name} remains, for {basis}",
    "what was said about {name} does not change that {basis}",
)
PASSED_OVER: Final[Variants] = (
    "nothing was said about {name}, so it counts for more",
    "{name} went unanswered",
    "I hear no answer on {name}",
)
NO_REBUTTAL: Final[Variants] = (
    "without a rebuttal my first reading stands",
    "there is no answer to weigh, so I repeat what I found",
)
GROUND_FIRM: Final[Variants] = (
    "{positive} of {count} close relatives earned something in validation (median {median}), so it is no fluke",
    "I moved its parameters a little: {positive} of {count} variants stay positive, median {median}",
)
GROUND_SOFT: Final[Variants] = (
    "only {positive} of {count} close relatives earned anything in validation (median Sharpe {median})",
    "a small change of parameters and it is gone: {positive} of {count} variants positive, median {median}",
)
REVISION_BETTER: Final[Variants] = (
    "the revision does what was asked: {name} went from {before} to {after}",
    "{name} came down from {before} to {after}, which I acknowledge",
)
REVISION_SAME: Final[Variants] = (
    "the revision hardly touches {name}: {before} before, {after} now",
    "{name} was {before} and is {after}; that was the point of the exercise",
)
HIGHEST: Final[Variants] = (
    "the highest of my scores is {name} at {score}, within its limit of {limit}",
    "{name} comes closest to its limit ({score} of {limit}), because {basis}",
    "if anything, {name} ({score}, limit {limit}) is what I would watch",
)
PRINCIPLE: Final[Variants] = (
    "{id} warns of exactly this: {statement} (confidence {confidence})",
    "we have learnt something about this setting, {id}: {statement}",
    "I look harder at {name} because of {id} ({evidence} failures of the kind)",
)
NOTE_SCORE: Final[Variants] = (
    "{who} asked about {name} ({quote}), so I hold it to {limit} here",
    "after {who}’s note {quote} I look harder at {name} and tolerate {limit}",
    "taking up {who}’s {quote}: {name} gets a limit of {limit} this time",
)
NOTE_OTHER: Final[Variants] = (
    "I have read {who}’s note {quote}",
    "{who} wrote {quote}; I kept it in mind",
)
SURE: Final[Variants] = (
    "I see no point in going on about it",
    "this is as clear as it gets on these data",
    "another round would not change it",
)
UNSURE: Final[Variants] = (
    "it is close, and I may be wrong",
    "I would not bet much on my own judgement here",
    "reasonable people could read these figures either way",
)
FLAWS: Final[Mapping[str, Variants]] = {
    "loses": (
        "it loses money where it was not fitted: validation Sharpe {validation}",
        "validation Sharpe {validation} after {train} in train: the effect does not carry over",
        "whoever had traded it after train would have lost, at Sharpe {validation}",
        "the {train} of train became {validation} in validation, which is a loss and no decline",
    ),
    "drawdown": (
        "a drawdown of {drawdown} is beyond the 20 % that a backtest may show",
        "it fell by {drawdown} on the evidence alone; the pass rule stops at 20 %",
    ),
    "duplicate": (
        "at {correlation} it is the same trade as {partner}",
        "this is {partner} under another name (correlation {correlation})",
    ),
    "idle": (
        "{trades} trades in train and validation are no evidence, and 20 are needed in the test alone",
        "with {trades} closed trades over both splits it cannot reach 20 in the test",
    ),
}
"""Fatal flaws by code."""

CONDITIONS: Final[Mapping[str, Variants]] = {
    "tail_risk": (
        "size it so that {name} falls to {limit}",
        "halve the volatility target, or show it is not needed",
    ),
    "overfitting": (
        "show the effect where it was not fitted",
        "fewer moving parts, so that validation keeps up",
    ),
    "execution_risk": ("trade less often", "bring {name} to {limit}: slower signals or wider thresholds"),
    "correlation_risk": ("trade symbols that the pool does not hold", "bring {name} below {limit}"),
    "signal_decay": ("show that a day’s delay does not cost the edge", "use a slower signal"),
    "crowding_risk": ("earn something that holding the symbols does not", "bring {name} below {limit}"),
    "event_window_risk": ("spread the result over more days", "more symbols, so that no few days decide"),
}
"""Conditions of a CONDITIONAL_PASS by criterion."""

UNTESTABLE: Final[Variants] = (
    "I cannot test this strategy at all ({why}), so I cannot let it pass",
    "there is nothing to assess: {why}",
)
