"""Sentences of simulated reviewers, as templates: data."""

from __future__ import annotations

from typing import Final

OPENINGS: Final = (
    "{says}. What follows was written before the text was seen; all I know is its title {title}, its field {field} "
    "and its length of {words} words.",
    "{says}. Of the text I know title {title}, field {field} and length, {words} words, and nothing else.",
)
PARAPHRASES: Final = (
    "{id} {name} ({priority}) asks me this: {description} I read it as a question about {looks_for}.",
    "By {id} {name}, which is {priority}, the text has to earn the following: {description} I judge it by {looks_for}.",
    "{id} {name} is {priority}. In the contract's words: {description} In mine: look at {looks_for}.",
)
AGAIN: Final = "This is another attempt; of the first one was said: {gaps}."
NOTED: Final = "Noted for this text by those who put it before the panel: {notes}."

SUMMARIES: Final = (
    "{says}. I measured the text {title}: {words} in {sections}, {citations}, {numbers}, "
    "sentences of {length} words on average.",
    "{says}. What lies before me, {title}, has {words}, {sections}, {numbers}, {citations}, "
    "and {length} words to a sentence.",
)
FIRED: Final = (
    "{id} {name} scores {score}, as committed: {reasons}.",
    "{id} {name}: {score}. The plan names it: {reasons}.",
)
PASSES: Final = (
    "{id} {name} passes: none of its triggers holds{seen}.",
    "{id} {name}: pass, since nothing that was committed holds{seen}.",
)
WARNED_BESIDES: Final = "Besides, {reasons}."
SEEN: Final = ("; I found {measure}: {value}{examples}",)
FOREIGN: Final = "Its plan also says {texts}, which is nothing that I can measure; it counts for nothing."
SET_ASIDE: Final = (
    "{id} {name} passes by dissent: {clause} holds, {value} measured, and I set it aside as said above."
)
DISSENT: Final = (
    "reason: I committed to warn at {clause}; the text measures {value}. It misses the bound narrowly and nothing "
    "else in this dimension speaks against it, so the bound was drawn too tightly and I pass it.",
    "reason: My plan warns at {clause}. What I measured is {value}, next to the bound, with no other sign of the same "
    "fault; to hold a text to that would measure my bound and not the text.",
)
ADDRESSED: Final = (
    "{count} in the text speak to the reviewer and not to its readers, such as {example}. They were left out of every "
    "figure and changed no score."
)
CLOSINGS: Final = (
    "What would change my mind is what the lines above count.",
    "Each of these can be checked by counting.",
)
