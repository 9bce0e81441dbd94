"""What a study found, in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from moot.compare.arm_labels import LABEL, compared, labelled
from moot.compare.cases.case import CORRECT
from moot.compare.summary import ArmFound, Differing, Summary, is_part
from moot.statistics.clusters import Estimate

LESS_IS_BETTER: Final = frozenset({"regret", "false_alarms"})
"""Scores that count what is bad."""

NAMES: Final[Mapping[str, str]] = {
    CORRECT: "share of right answers",
    "approved": "share of approvals",
    "f1": "F1",
    "true_sharpe": "true Sharpe ratio",
}
"""Scores, and first words of their parts, that are not read as they are written."""

MINDS: Final = "minds"
"""Name of the row of a table of arms that says in which of them simulated minds answer."""

FOUND: Final = "found "
"""How the score for a kind of error begins."""


def primary_of(found: Summary) -> Differing | None:
    """Return the comparison that was registered as what decides the study."""
    return next((one for one in found.differences if one.is_primary), None)


def score_of(found: Summary) -> str:
    """Return the score that counts most: the primary comparison's, else whether answers are right."""
    primary = primary_of(found)
    return primary.score if primary is not None else CORRECT


def led(found: Summary) -> str:
    """Say what the study came to."""
    if found.left:
        is_over = f"It is not over: {found.answers:,} of {found.planned:,} answers are there."
    elif (primary := primary_of(found)) is not None:
        return outcome(primary)
    else:
        is_over = "It is over. No primary comparison was registered, so nothing was to be decided."
    return " ".join((is_over, *label_sentences(found)))


def outcome(one: Differing) -> str:
    """Say what a comparison came to."""
    low, high = one.found.interval
    name = worded(one.score)
    more, fewer = (f"{calls:.1f}" for calls in one.calls)
    cost = f"both at {more} calls a case" if more == fewer else f"at {more} calls a case to {fewer}"
    less = " Less is better." if one.score in LESS_IS_BETTER else ""
    by = f"{signed(one.found.value)} (95 % interval {between(one.found, signed)}), {cost}"
    if low != low:
        arms = compared(one.arm, one.than, "with", one.labels)
        return f"There are too few cases to compare {arms} in {name}."
    if low <= 0 <= high:
        arms = compared(one.arm, one.than, "and", one.labels)
        return f"No difference in {name} was shown between {arms}: {by}.{less}"
    side = "higher" if low > 0 else "lower"
    arms = compared(one.arm, one.than, "than with", one.labels)
    return f"{name[:1].upper()}{name[1:]}: {side} with {arms}, {by}.{less}"


def worded(score: str) -> str:
    """Write a score's name as people read it."""
    first, blank, rest = score.partition(" ")
    return f"{NAMES.get(first, first.replace('_', ' '))}{blank}{rest.replace('_', ' ')}"


def label_sentences(found: Summary) -> Iterator[str]:
    """Yield the sentence that says in which arms simulated minds answer; none where they do in no arm."""
    arms = [labelled(one.arm, one.label) for one in found.arms if one.label]
    if all(one.label == LABEL for one in found.arms) and arms:
        yield f"Every arm is {LABEL}: the figures say nothing about language models or people."
    elif arms:
        yield f"Simulated minds answer in {', '.join(arms)}."


def sentences(found: Summary) -> Iterator[str]:
    """Say what else is worth saying of the arms."""
    yield from label_sentences(found)
    for one in found.arms:
        if one.silent:
            yield f"{one.arm} gave no answer {one.silent:,} of {one.answers:,} times; that counts as not right."
    worth = [
        f"those of {one.arm} {figure(one.effective_votes)}"
        for one in found.arms
        if one.effective_votes is not None and not math.isnan(one.effective_votes.value)
    ]
    if worth:
        yield f"How many independent votes they are worth: {', '.join(worth)}."


Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Heads, and rows of as many cells."""


def arms_table(arms: Sequence[ArmFound]) -> Table:
    """Return what each arm did: a row for each figure, a column for each arm."""
    scores = sorted(dict.fromkeys(name for one in arms for name in one.scores), key=is_part)
    by_score = [(worded(score), *(figure(one.scores.get(score)) for one in arms)) for score in scores]
    parts = sum(map(is_part, scores))
    rows = [
        (MINDS, *(one.label or "–" for one in arms)),
        ("answers", *(f"{one.answers:,}" for one in arms)),
        ("calls a case", *(f"{one.calls:.1f}" for one in arms)),
        ("US dollars a case", *(f"{one.usd:.4f}" if one.usd else "–" for one in arms)),
        *by_score[: len(scores) - parts],
        ("Brier score", *(figure(one.brier) for one in arms)),
        ("votes are worth", *(figure(one.effective_votes) for one in arms)),
        ("calls for each right answer", *(figure(one.per_correct) for one in arms)),
        *by_score[len(scores) - parts :],
    ]
    return ("figure", *(one.arm for one in arms)), [row for row in rows if set(row[1:]) != {"–"}]


def differences_table(found: Summary, score: str | None = None) -> Table:
    """Return how arms differ, in one score or in all: the registered comparison first."""
    heads = ("difference", *(("in",) if score is None else ()), "by", "95 % interval", "calls", "registered")
    return heads, [
        (
            compared(one.arm, one.than, "over", one.labels),
            *((worded(one.score),) if score is None else ()),
            signed(one.found.value),
            between(one.found, signed),
            f"{one.calls[0]:.1f} and {one.calls[1]:.1f}",
            "primary" if one.is_primary else "exploratory",
        )
        for one in found.differences
        if score in (None, one.score)
    ]


def figure(one: Estimate | None) -> str:
    """Write a figure with its interval; a dash where there is none."""
    if one is None or one.value != one.value:
        return "–"
    low, high = one.interval
    return f"{one.value:.3f}" + ("" if low != low else f" ({low:.3f} to {high:.3f})")


def between(one: Estimate, word: Callable[[float], str]) -> str:
    """Write an interval."""
    low, high = one.interval
    return "–" if low != low else f"{word(low)} to {word(high)}"


def signed(value: float) -> str:
    """Write a difference."""
    return "–" if value != value else f"{value + 0.0:+.3f}".replace("-", "−")
