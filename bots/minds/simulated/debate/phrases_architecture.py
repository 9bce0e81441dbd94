"""Sentences of the weekly architecture debate, as data: `str.format` templates."""

from __future__ import annotations

from typing import Final

Variants = tuple[str, ...]

BENEFIT: Final[Variants] = (
    "{benefit}; the week showed {count} cases of {reason}",
    "{benefit}, which {count} records of {reason} ask for",
)
BENEFIT_PLAIN: Final[Variants] = ("{benefit}", "{benefit}, even if this week did not press for it")
NEEDED: Final[Variants] = (
    "{count} records of {reason} do make a case for it",
    "granted, {reason} came up {count} times this week",
)
NOT_NEEDED: Final[Variants] = (
    "nothing in this week’s records asks for it",
    "I see no failure this week that it would have prevented",
)
COSTLY: Final[Variants] = (
    "it is a lot of work, and every part of it can break",
    "the effort is {effort}, and something else would have to wait",
)
ANSWERED: Final[Variants] = (
    "the answer meets the objection as far as words can: {defence}",
    "I take the point: {defence}",
)
UNANSWERED: Final[Variants] = (
    "no answer was given, so the objection stands",
    "the objection was left standing",
)
WITHDRAWN: Final[Variants] = ("withdrawn by its author", "the Explorer has withdrawn it")
DEFEND: Final[Variants] = (
    "{defence}; and {count} records of {reason} will not go away by themselves",
    "that is a fair worry; still, {defence}. The week had {count} cases of {reason}",
)
DEFEND_PLAIN: Final[Variants] = ("{defence}", "that is a risk, yes, but {defence}")
CONCEDE: Final[Variants] = (
    "I withdraw this one: {objection}, and the week gives me little to set against it",
    "conceded. Too much effort for what {count} records show",
)
OTHER_OBJECTIONS: Final[Variants] = (
    "it is not said how its success would be measured",
    "I would want to see it tried on one part of the system first",
    "who undoes it when it does harm is left open",
)
OTHER_DEFENCE: Final[Variants] = (
    "it can be tried for two weeks and taken back if the figures do not move",
    "its success would show in the weekly counts that we publish anyway",
)
OTHER_NOTES: Final[Variants] = ("try it for two weeks, compare the weekly counts, keep or undo it",)
