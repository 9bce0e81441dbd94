"""What simulated reviewers of the Arena look for in a draft, and how planners put it in: data."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Criterion(NamedTuple):
    """Something a draft should have.

    Attributes:
        name: One word or two.
        pattern: How a draft shows that it has it: a heading.
        asked: What a review says when it is missing.
        section: What a planner writes for it where a change of the society itself is refined; `{task}` names the task
            in the prompt's own words.
        elsewhere: As many texts for any other task.
        given: What it writes where the prompt brings what `{said}` stands for, see `BROUGHT`.
    """

    name: str
    pattern: re.Pattern[str]
    asked: str
    section: tuple[str, ...]
    elsewhere: tuple[str, ...]
    given: str = ""


def _criterion(
    name: str, asked: str, *section: str, elsewhere: tuple[str, ...], given: str = ""
) -> Criterion:
    pattern = re.compile(rf"^#+ {name}\b", re.IGNORECASE | re.MULTILINE)
    return Criterion(name, pattern, asked, section, elsewhere, given)


CRITERIA: Final = (
    _criterion(
        "Goal",
        "the draft does not say what is different once this is done",
        "What is to be different: {task}. A week of the log must show it to somebody who was not told.",
        "{task}: done when two societies with the same seed, one with the change, differ in that and in little else.",
        elsewhere=(
            "What is to be different: {task}. Somebody who was not told must be able to see it.",
            "{task}: done when whoever asked for it can see the difference, and little else has changed.",
        ),
    ),
    _criterion(
        "Steps",
        "there is no order of steps, so nobody can say what comes first",
        "1. Write down how it is today.\n2. Change one place.\n3. Compare both on the same seeds.",
        "1. Measure the present state.\n2. Make the change behind a switch.\n3. Turn it on for one week.",
        elsewhere=(
            "1. Write down how it is today.\n2. Change one thing.\n3. Compare how it was with how it is.",
            "1. Measure the present state.\n2. Try the change on a small part.\n3. Go on once that part has gone well.",
        ),
        given="1. Measure the present state.\n2. Make the change behind a switch, as noted: {said}\n"
        "3. Turn it on for one week and compare with the week before.",
    ),
    _criterion(
        "Measure",
        "no measure is named that could show that it failed",
        "Before anything is changed, one weekly count is named that has to move. It has failed when two weeks with it "
        "look like two weeks without.",
        "It has failed when debates take longer and no more hypotheses pass their backtest.",
        elsewhere=(
            "Before anything is changed, one count is named that has to move. It has failed when that count looks "
            "afterwards as it looked before.",
            "It has failed when it costs more than it brings, by a count that was taken before it began.",
        ),
        given="The week before showed {said}. It has failed when two weeks later there are as many.",
    ),
    _criterion(
        "Risks",
        "no risk is named, and every change has one",
        "It may slow debates down; the budget of a cycle shows that within a day.",
        "Seats may learn to write for the check instead of for each other.",
        elsewhere=(
            "It may cost more time than it saves; the first trial shows that early.",
            "People may work for the measure instead of for what it stands for.",
        ),
        given="The objection that was raised stands as the risk to watch: {said}",
    ),
    _criterion(
        "Way back",
        "it does not say how the change is undone",
        "Turn the switch off: nothing that was logged changes its meaning.",
        "The rules version goes back by one; cases that are open keep theirs.",
        elsewhere=(
            "Keep the present way until the new one has held: to undo it is then to return to it.",
            "The present state is written down first, so that it can be put back.",
        ),
    ),
    _criterion(
        "Owner",
        "nobody is named who sees to it",
        "The Evolver sees to it and reports on it every week.",
        "The Critic sees to it; the Evolver reads the report.",
        elsewhere=(
            "Whoever asked for it sees to it and reports on it every week.",
            "One person sees to it; another one reads the report.",
        ),
    ),
)
"""In the order in which a draft has its sections."""

BROUGHT: Final = {
    "Steps": re.compile(r"^Notes so far: (.+)$", re.MULTILINE),
    "Measure": re.compile(r"(\d+ (?:cases|records|of \d+ trials) [^.;,\n]+)"),
    "Risks": re.compile(r"^Objection of round \d+: (.+)$", re.MULTILINE),
}
"""What a prompt may bring for a section, by its criterion: the first match is what stands for `{said}`."""

VAGUE: Final = re.compile(
    r"\b(somehow|as needed|in due time|to be decided|tbd|should be fine)\b", re.IGNORECASE
)
"""Words that say that nothing has been decided."""
