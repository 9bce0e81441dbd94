"""What a study looks like: differences, cost against quality, calibration, what was found of each kind of error.

Each takes plain numbers, and draws nothing that the table behind it does not say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from moot.compare.telling import between
from moot.reports.drawing import COLOURS, REST, Axis, Curve, Dots, Mark, Picture, Span, legend, plot, spans
from moot.statistics.calibration import Bin
from moot.statistics.clusters import Estimate

ROOM: Final = 0.05
"""Of its width, a drawing leaves this free at each end."""

Word = Callable[[float], str]
"""Writes a figure as people read it."""


APART: Final = 0.012
"""How far arms of the same cost are drawn apart, as a share of the axis."""

FEW: Final = 3
"""So many differences are told beside their picture, which has them all anyway."""


class Difference(NamedTuple):
    """By how much an arm exceeds another in a score.

    Attributes:
        name: Of both.
        by: How much, positive where the first one scores higher.
        is_primary: The comparison that the study registered as its own.
    """

    name: str
    by: Estimate
    is_primary: bool


class Priced(NamedTuple):
    """What an arm costs, and how good it is.

    Attributes:
        cost: Of a case.
        quality: Its score.
    """

    arm: str
    cost: float
    quality: Estimate


def forest(score: str, differences: Sequence[Difference], word: Word) -> Picture:
    """Draw differences with their intervals, beside the line at which there is none.

    Args:
        score: What differs.
        differences: In the order in which they are drawn.
        word: Writes a difference.
    """
    ends = [end for one in differences for end in _ends(one.by)]
    clear = [one for one in differences if one.by.interval.low > 0 or one.by.interval.high < 0]
    told = _left_out(len(clear), len(differences)) + (
        f": {'; '.join(f'{one.name} {_told(one.by, word)}' for one in clear)}."
        if 0 < len(clear) <= FEW
        else "."
    )
    rows = [
        (
            f"{one.name}{' (primary)' if one.is_primary else ''}",
            _told(one.by, word),
            (_span(one.by, COLOURS[0] if one.is_primary else REST),),
        )
        for one in differences
    ]
    return Picture(
        f"Differences in {score}",
        told,
        spans(rows, _axis([0.0, *ends], f"difference in {score}", word), told, at=0.0),
        ("comparison", "difference", "95 % interval", "cases"),
        tuple(
            (one.name, word(one.by.value), between(one.by, word), f"{one.by.cases:,}") for one in differences
        ),
    )


def cost_and_quality(score: str, unit: str, arms: Sequence[Priced], word: Word) -> Picture:
    """Draw what each arm costs against how good it is.

    Args:
        score: How good.
        unit: Of what a case costs.
        arms: The arms.
        word: Writes a score.
    """
    marks: list[Mark] = []
    widest = 1.1 * max((one.cost for one in arms), default=1.0) or 1.0
    for n, one in enumerate(arms):
        colour = COLOURS[n % len(COLOURS)]
        # Arms of the same cost stand side by side.
        place = one.cost + APART * widest * sum(other.cost == one.cost for other in arms[:n])
        marks.append(Dots(one.arm, [(place, one.quality.value)], colour))
        marks.append(Curve(one.arm, [place, place], list(_ends(one.quality)), colour))
    named = [mark for mark in marks if isinstance(mark, Dots)]
    x = Axis(0.0, widest, f"{unit} a case", _plain)
    y = _axis([end for one in arms for end in _ends(one.quality)], score, word)
    low, high = (end(arms, key=lambda one: one.quality.value) for end in (min, max))
    one_unit = unit.removesuffix("s") if low.cost == 1 and unit == "calls" else unit
    told = (
        f"From {word(low.quality.value)} with {low.arm}, for {_plain(low.cost)} {one_unit} a case, "
        f"to {word(high.quality.value)} with {high.arm}, for {_plain(high.cost)}."
    )
    drawn = plot(marks, x, y, told, named=named)
    return Picture(
        f"{score[:1].upper()}{score[1:]} and what it costs",
        told,
        drawn,
        ("arm", f"{unit} a case", score, "95 % interval"),
        tuple(
            (one.arm, _plain(one.cost), word(one.quality.value), between(one.quality, word)) for one in arms
        ),
    )


def calibrated(arms: Mapping[str, Sequence[Bin]]) -> Picture:
    """Draw how often answers were right that were given with some confidence.

    Args:
        arms: Of each arm, by its name, its answers by what confidence they stated.
    """
    marks: list[Mark] = [Curve("as often as stated", (0.0, 1.0), (0.0, 1.0), REST, "4 4")]
    rows, off = [], []
    for n, (arm, bins) in enumerate(arms.items()):
        colour = COLOURS[n % len(COLOURS)]
        marks.append(Curve(arm, [one.stated for one in bins], [one.came_true for one in bins], colour))
        marks.append(Dots(arm, [(one.stated, one.came_true) for one in bins], colour))
        rows += [
            (arm, _per_cent(one.stated), _per_cent(one.came_true), _spread(one), f"{one.statements:,}")
            for one in bins
        ]
        answers = sum(one.statements for one in bins)
        if answers:
            gap = sum(one.statements * (one.stated - one.came_true) for one in bins) / answers
            by = f"{100 * abs(gap):.0f} percentage points"
            off.append(f"{arm} states {by} too {'much' if gap > 0 else 'little'} on average")
    told = f"{'; '.join(off)}." if off else "No arm states a confidence."
    legend_ = [mark for mark in marks if isinstance(mark, Curve)]
    drawn = plot(marks, Axis(0, 1, "stated", _per_cent), Axis(0, 1, "right", _per_cent), told, named=legend_)
    return Picture(
        "Calibration",
        told,
        drawn,
        ("arm", "stated", "right", "95 % interval", "answers"),
        tuple(rows),
    )


def found_by_kind(kinds: Mapping[str, Mapping[str, Estimate]]) -> Picture:
    """Draw which share of what was there each arm found, by what it was.

    Args:
        kinds: Of each kind of thing, by its name, the share that each arm found, by the arm's name.
    """
    arms = list(dict.fromkeys(arm for shares in kinds.values() for arm in shares))
    colours = {arm: COLOURS[n % len(COLOURS)] for n, arm in enumerate(arms)}
    rows = [
        (
            kind,
            "; ".join(f"{arm} {_per_cent(one.value)}" for arm, one in shares.items()),
            tuple(_span(one, colours[arm]) for arm, one in shares.items()),
        )
        for kind, shares in kinds.items()
    ]
    hardest = min(
        kinds, key=lambda kind: max((one.value for one in kinds[kind].values()), default=0.0), default=""
    )
    told = f"Hardest to find: {hardest}." if hardest else "Nothing was there to be found."
    drawn = spans(rows, Axis(0, 1, "found", _per_cent), told)
    return Picture(
        "Found, by kind of error",
        told,
        f"{legend([Dots(arm, (), colours[arm]) for arm in arms])}{drawn}",
        ("kind", *(head for arm in arms for head in (arm, "95 % interval"))),
        tuple(
            (kind, *(cell for arm in arms for cell in _cells(shares.get(arm))))
            for kind, shares in kinds.items()
        ),
    )


def _left_out(clear: int, intervals: int) -> str:
    """Say how many intervals leave zero out."""
    if intervals == 1:
        return "The interval leaves zero out" if clear else "The interval holds zero"
    if not clear:
        return f"None of {intervals} intervals leaves zero out"
    return f"{clear} of {intervals} intervals leave{'s' if clear == 1 else ''} zero out"


def _cells(share: Estimate | None) -> tuple[str, str]:
    return ("–", "–") if share is None else (_per_cent(share.value), between(share, _per_cent))


def _span(one: Estimate, colour: str) -> Span:
    return Span(one.value, *_ends(one), colour)


def _ends(one: Estimate) -> tuple[float, float]:
    """Return where an interval begins and ends; at the value where there is none."""
    low, high = one.interval
    return (one.value, one.value) if low != low else (low, high)


def _axis(values: Sequence[float], label: str, word: Word) -> Axis:
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = ROOM * (high - low or 1.0)
    return Axis(low - room, high + room, label, word)


def _told(one: Estimate, word: Word) -> str:
    return f"{word(one.value)} ({between(one, word)})"


def _spread(one: Bin) -> str:
    return f"{_per_cent(one.interval.low)} to {_per_cent(one.interval.high)}"


def _per_cent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.0f} %"


def _plain(value: float) -> str:
    return f"{value:.3g}"
