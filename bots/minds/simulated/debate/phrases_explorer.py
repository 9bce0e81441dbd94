"""The Explorer's sentences, as data: `str.format` templates, several for each occasion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Variants = tuple[str, ...]

STATEMENTS: Final[Variants] = (
    "{how} earns a Sharpe ratio of {sharpe} in train, and I expect it to carry over",
    "I propose {how}: Sharpe {sharpe} over the train split with a drawdown of {drawdown}",
    "{how} is worth trading; train shows Sharpe {sharpe} on {trades} trades",
    "there is an edge in {how} (train Sharpe {sharpe}, {wins} of trades won)",
)
CONTINUED: Final[Variants] = (
    "second thoughts on {hypothesis}: {how}, with Sharpe {sharpe} in train",
    "{how} takes {hypothesis} up again; train Sharpe {sharpe}, drawdown {drawdown}",
    "back to {hypothesis}, changed where it was criticised: {how}, Sharpe {sharpe} in train",
)
BEST_OF: Final[Variants] = (
    "I looked at {count} candidates on train and this one looked best",
    "of {count} candidates it had the strongest train record",
    "{count} candidates went through the train split; the others looked weaker",
)
WHY: Final[Mapping[str, Variants]] = {
    "momentum": (
        "moves that have begun tend to last longer than people expect",
        "slow money follows where fast money went, and averages catch that",
    ),
    "mean_reversion": (
        "short exaggerations in these symbols are mostly taken back",
        "who buys what others dump in a hurry is paid for the patience",
    ),
    "breakout": (
        "a price nobody has paid for weeks is news in itself",
        "leaving a range forces those on the wrong side to act",
    ),
    "multi_factor": (
        "momentum, reversal and calm err at different times, so their sum errs less",
        "no single factor has to carry it alone",
    ),
}
"""Why an archetype should earn anything."""

CHILD: Final[Variants] = (
    "it is a child of {parent}, which passed its backtest",
    "I got here from {parent} by {changes}",
)
RETRY: Final[Variants] = (
    "{hypothesis} failed narrowly by {code} (alpha {alpha} against risk {risk}); I try {changes}",
    "the last try, {hypothesis}, fell to {code}; this one differs by {changes}",
)
DIRECTION: Final[Variants] = (
    "the standing direction is {quote}",
    "this follows the direction given: {quote}",
)
SHUNNED: Final[Variants] = (
    "I leave {archetypes} alone in a {regime} market ({sources})",
    "{sources} speak against {archetypes} while the market is {regime}",
)
LEARNT: Final[Variants] = (
    "for {archetype} I also kept an eye on {codes}, where it has failed before",
    "{archetype} fell to {codes} lately, so candidates paid for that",
)
DESK_AGAINST: Final[Variants] = (
    "at the desk {strategies} did not keep their promise, so I try less {archetypes}",
    "live results speak against {archetypes} ({strategies})",
)
DESK_FOR: Final[Variants] = (
    "{strategy} does well in production, so I bred from it",
    "its parent {strategy} keeps its promise in production",
)
NOTE: Final[Variants] = (
    "{who} wrote {quote}, and I searched accordingly",
    "I took {who}’s note {quote} into the search",
    "prompted by {who} ({quote})",
)
NOTE_READ: Final[Variants] = ("I have read {who}’s note {quote}", "{who} said {quote}; noted")
TITLES: Final[Variants] = (
    "Before the hypothesis: {count} candidates on train",
    "What {count} candidates showed on the train split",
    "Search notes, {regime} market",
    "Why {archetype} this time",
)
LOOKED: Final[Variants] = (
    "{how}, which made {sharpe} in train on {trades} trades and fell by {drawdown} at worst",
    "with {how} I get Sharpe {sharpe} and {wins} of {trades} trades won",
    "{how}: train Sharpe {sharpe}, drawdown {drawdown}, {trades} trades",
    "train gives {how} a Sharpe of {sharpe} ({trades} trades, {drawdown} drawdown)",
)
TRAIN_EVIDENCE: Final[Variants] = (
    "train {first} to {last}: Sharpe {sharpe}, drawdown {drawdown}, {trades} trades, {wins} won",
    "from {first} to {last} it returned {year} a year at Sharpe {sharpe}, with {trades} trades",
)

ANSWERS: Final[Mapping[str, Variants]] = {
    "tail_risk": (
        "the bad days are real, but they never added up to more than {drawdown}",
        "a drawdown of {drawdown} leaves room before the 20 % line",
        "its tail is the price of the return, and {drawdown} is an acceptable price",
    ),
    "overfitting": (
        "a lower validation figure is normal; {validation} is still an edge",
        "the effect survives where I did not look: Sharpe {validation}",
        "some shrinkage from {train} was to be expected, and {validation} remains",
    ),
    "execution_risk": (
        "costs are in every figure I quote and leave {net} a year",
        "it holds for about {days}, so slippage of a basis point more does not decide it",
        "trading takes {share} of the gross return; the rest stays",
    ),
    "correlation_risk": (
        "{own} of its symbols are not in {partner} at all",
        "it shares a market with {partner}, not the trades: {own} of the symbols differ",
        "being {correlation} close to {partner} in calm years says little about the next storm",
    ),
    "signal_decay": (
        "the second half of the validation still shows {second}",
        "a signal that earns {second} in its latest stretch is not worn out",
        "{first} to {second} is within what noise does to a Sharpe ratio",
    ),
    "crowding_risk": (
        "it beat holding the same symbols by {lead} in Sharpe",
        "if it were the crowd’s trade it would have earned {market}, not {own}",
        "moving with the market is no sin while it adds {lead} to it",
    ),
    "event_window_risk": (
        "{trades} trades and {wins} of them won are not a handful of lucky days",
        "large days matter to everything that holds positions; here they are spread over {trades} trades",
        "the result does not hang on one week: {wins} of the validation’s trades won",
    ),
}
"""Answers that the figures carry."""

ADMISSIONS: Final[Mapping[str, Variants]] = {
    "tail_risk": (
        "I cannot talk {drawdown} away; it needs a smaller size",
        "the tail is heavier than I would like",
    ),
    "overfitting": (
        "validation at {validation} is thin, I admit",
        "I have no good answer to a fall from {train} to {validation}",
    ),
    "execution_risk": (
        "{share} of the gross return for costs is a lot, granted",
        "it trades too much for what it earns; I see that",
    ),
    "correlation_risk": (
        "it is close to {partner}, and I have little to set against that",
        "{shared} common symbols make it a cousin of {partner}, yes",
    ),
    "signal_decay": (
        "the later half is weaker and I cannot say why",
        "{second} in the second half is not what I hoped for",
    ),
    "crowding_risk": (
        "holding the symbols would have done about as well, I concede that",
        "against {market} for doing nothing, {own} is no triumph",
    ),
    "event_window_risk": (
        "{trades} trades are few to spread the luck over",
        "it does lean on a few large days",
    ),
}
"""Answers that admit more than they refute."""

EVIDENCE: Final[Mapping[str, Variants]] = {
    "tail_risk": ("CVaR 95 % {cvar} a day, deepest drawdown {drawdown} over train and validation",),
    "overfitting": ("Sharpe {train} in train, {validation} in validation",),
    "execution_risk": ("{turnover} turnovers and {cost} of cost a year, {net} net",),
    "correlation_risk": ("correlation {correlation} with {partner}; {own} of the symbols are its own",),
    "signal_decay": ("Sharpe {first} and {second} in the halves of the validation, {late} a day late",),
    "crowding_risk": ("validation Sharpe {own}, holding the same symbols {market}",),
    "event_window_risk": ("{share} of the result on event days, {trades} trades, {wins} won in validation",),
}
"""The figures behind an answer."""

MODIFICATIONS: Final[Variants] = (
    "{changes} would bring {name} from {before} to {after}",
    "I am ready for this: {changes}. It takes {name} from {before} to {after}",
    "by {changes}, {name} would be {after} instead of {before}",
    "{name} falls from {before} to {after} by {changes}, and the edge survives",
)
CONCEDES: Final[Variants] = (
    "I withdraw it: {flaw}, and my answers do not reach far enough",
    "no use defending this; {flaw}",
    "the Critic is right, {flaw}. I would rather spend the next cycle on something else",
    "conceded: with validation at Sharpe {validation} there is nothing left to argue",
    "I was wrong about this one, {flaw}",
    "fair enough. I cannot answer the main point, for {flaw}",
)
CONCEDES_GROUND: Final[Variants] = (
    "{positive} of {count} relatives positive settles it against me; I withdraw",
    "the neighbourhood check went the wrong way (median Sharpe {median}), so I give it up",
)
REVISED: Final[Variants] = (
    "after the request, {how}: train Sharpe {sharpe}, validation {validation}",
    "I now propose {how}, Sharpe {sharpe} in train and {validation} in validation",
    "revised to {how} (train {sharpe}, validation {validation})",
)
REVISED_WHY: Final[Variants] = (
    "the idea stays; I tried {count} variants against the issues named and settled on {changes}",
    "of {count} variants, {changes} answers the issues best",
    "what changed is little: {changes}. It was the best of {count} attempts",
)
ADDRESSED: Final[Variants] = (
    "{changes}: {name} goes from {before} to {after}",
    "{name} is {after} now, it was {before}, thanks to {changes}",
)
NOT_ADDRESSED: Final[Variants] = (
    "I found no change that helps {name} without losing the edge ({before}, now {after})",
    "{name} is {after} after {before}; no variant did better and kept its Sharpe",
)
GENERAL: Final[Variants] = (
    "{changes}, with that in mind",
    "I read this as a wish for {changes}",
)
