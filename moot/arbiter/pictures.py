"""What a run looks like: shares of labels, convergence, sizes of clusters, a map of the answers, what it cost.

Each takes plain numbers, so that a report of files and the page of a living society draw the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

from moot.reports.drawing import COLOURS, REST, Area, Axis, Curve, Dots, Mark, Picture, bar, plot

TOLD_APART: Final = len(COLOURS)
"""Clusters that have a colour of their own; the others share one."""

Interval = tuple[float, float]
"""Lower and upper end, both in [0, 1]."""


class LabelShare(NamedTuple):
    """How often a label was decided on.

    Attributes:
        trials: That decided so.
        share: Of the decisions, in [0, 1].
        interval: Of the share, for a run whose length was fixed beforehand.
        anytime: One that also holds for a run that stops when it likes; None where none was computed.
    """

    label: str
    trials: int
    share: float
    interval: Interval
    anytime: Interval | None = None


def label_shares(shares: Sequence[LabelShare], level: float = 0.95) -> Picture:
    """Draw how decisions spread over labels.

    Args:
        shares: In the order in which they are drawn.
        level: Confidence of the intervals.
    """
    drawn = []
    for one in shares:
        intervals = [(*one.interval, "")] + ([(*one.anytime, "4 3")] if one.anytime else [])
        drawn.append(
            f"<li><p><b>{escape(one.label)}</b> <span>{_per_cent(one.share)}, {_between(one.interval)}</span></p>"
            f"{bar(one.share, intervals)}</li>"
        )
    ends = f"{level:.0%}".replace("%", " %")
    has_anytime = any(one.anytime for one in shares)
    return Picture(
        "Decisions",
        "; ".join(f"{one.label}: {_per_cent(one.share)} ({_between(one.interval)})" for one in shares)
        or "No trial decided.",
        f'<ul class="shares">{"".join(drawn)}</ul>',
        (
            "decision",
            "trials",
            "share",
            f"{ends} interval (Wilson)",
            *(["anytime interval"] if has_anytime else []),
        ),
        tuple(
            (
                one.label,
                f"{one.trials:,}",
                _per_cent(one.share),
                _between(one.interval),
                *([_between(one.anytime) if one.anytime else "–"] if has_anytime else []),
            )
            for one in shares
        ),
    )


def convergence(
    trials: Sequence[int],
    novelty: Sequence[float | None],
    similarity: Sequence[float | None],
    *,
    novelty_epsilon: float,
    similarity_threshold: float,
) -> Picture:
    """Draw how much new each batch brought.

    Args:
        trials: Trials so far at each batch's end, shape (batches,).
        novelty: Share of the batch's answers that were new, shape (batches,), in [0, 1].
        similarity: Mean cosine to the nearest before it, shape (batches,), in [0, 1].
        novelty_epsilon: A batch is quiet at or below it,
        similarity_threshold: and at or above it.
    """
    x = _over_trials(trials)
    whole = (x.low, x.high)
    marks: list[Mark] = [
        Curve("new answers", trials, novelty, COLOURS[1]),
        Curve("nearness to earlier answers", trials, similarity, COLOURS[0]),
        Curve(f"quiet at or below {novelty_epsilon:g} new", whole, (novelty_epsilon,) * 2, COLOURS[1], "2 4"),
        Curve(
            f"quiet at or above {similarity_threshold:g} near",
            whole,
            (similarity_threshold,) * 2,
            COLOURS[0],
            "7 4",
        ),
    ]
    told = (
        f"Over {len(trials)} batches the share of new answers went {_course(novelty)}, "
        f"the mean nearness to earlier ones {_course(similarity)}."
    )
    return Picture(
        "Convergence",
        told,
        plot(marks, x, Axis(0, 1, word=_plain), told),
        ("trials", "new answers", "nearness"),
        tuple(
            (f"{n:,}", _maybe(new), _maybe(near))
            for n, new, near in zip(trials, novelty, similarity, strict=True)
        ),
    )


def cluster_sizes(trials: Sequence[int], distributions: Sequence[Sequence[int]]) -> Picture:
    """Draw how clusters grew.

    Args:
        trials: Trials so far at each batch's end, shape (batches,).
        distributions: Answers in each cluster by then, by cluster_id; later ones are as long or longer.
    """
    last = list(distributions[-1]) if distributions else []
    groups = _groups(last)
    xs = [0, *trials]
    low = [0.0] * len(xs)
    marks: list[Mark] = []
    columns = []
    for name, colour, members in groups:
        sizes = [sum(each[one] for one in members if one < len(each)) for each in distributions]
        high = [a + b for a, b in zip(low, [0, *sizes], strict=True)]
        marks.append(Area(name, xs, low, high, colour))
        columns.append(sizes)
        low = high
    told = (
        f"{len(last)} clusters at the end; the largest holds {max(last):,} of {sum(last):,} answers."
        if last
        else "No answer was put into a cluster."
    )
    x = _over_trials(trials)
    return Picture(
        "Clusters over batches",
        told,
        plot(marks, x, Axis(0, max(low) or 1, word=_whole), told),
        ("trials", *(name for name, _, _ in groups)),
        tuple((f"{n:,}", *(f"{sizes[at]:,}" for sizes in columns)) for at, n in enumerate(trials)),
    )


def cluster_map(
    points: Sequence[tuple[float, float]],
    clusters: Sequence[int | None],
    sizes: Sequence[int],
    explained: tuple[float, float],
) -> Picture:
    """Draw answers where the first two principal components put them.

    Args:
        points: Of each answer that is drawn, shape (answers, 2).
        clusters: The cluster of each, shape (answers,); None for a run that does not cluster.
        sizes: Answers in each cluster, drawn or not, by cluster_id.
        explained: Share of the variance that each component holds, in [0, 1].
    """
    groups = _groups(sizes) or [("answers", COLOURS[0], ())]
    marks: list[Mark] = []
    rows = []
    for name, colour, members in groups:
        found = [point for point, one in zip(points, clusters, strict=True) if not members or one in members]
        marks.append(Dots(name, found, colour))
        rows.append(
            (
                name,
                f"{sum(sizes[one] for one in members) if members else len(found):,}",
                f"{len(found):,}",
                *_middle(found),
            )
        )
    x, y = _around(points)
    told = (
        f"{len(points):,} answers by their first two principal components, which hold "
        f"{_per_cent(explained[0])} and {_per_cent(explained[1])} of the variance."
    )
    return Picture(
        "Map of the answers",
        told,
        # What is rare is drawn last, on top.
        plot(marks[::-1], x, y, told, named=marks, is_square=True),
        ("cluster", "answers", "drawn", "middle, 1st component", "2nd"),
        tuple(rows),
    )


def spending(title: str, unit: str, totals: Sequence[float]) -> Picture:
    """Draw what trials came to.

    Args:
        title: What is spent.
        unit: Written before a number when it is a currency sign, else behind it.
        totals: Sum after each trial, in the order in which they ended, shape (trials,).
    """
    trials = list(range(1, len(totals) + 1))

    def word(value: float) -> str:
        return f"${_plain(value)}" if unit == "$" else f"{value:,.0f}"

    end = totals[-1] if totals else 0.0
    of = "" if unit == "$" else f" {unit}"
    told = (
        f"{word(end)}{of} over {len(totals):,} trials, {word(end / max(1, len(totals)))}{of} each on average."
    )
    shown = [int(n) for n in _some(len(totals), 12)]
    at = [int(n) for n in _some(len(totals), 400)]
    curve = Curve(unit, [0, *(trials[n] for n in at)], [0.0, *(totals[n] for n in at)], COLOURS[0])
    return Picture(
        title,
        told,
        plot([curve], _over_trials(trials), Axis(0, end or 1, word=word), told),
        ("trials", f"{title.lower()} so far"),
        tuple((f"{trials[n]:,}", f"{word(totals[n])}{of}") for n in shown),
    )


def _groups(sizes: Sequence[int]) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return which clusters share a colour, the largest first: name, colour, their ids."""
    ranked = sorted(range(len(sizes)), key=lambda one: (-sizes[one], one))
    groups: list[tuple[str, str, tuple[int, ...]]] = [
        (f"cluster {one}", COLOURS[n], (one,)) for n, one in enumerate(ranked[:TOLD_APART])
    ]
    rest = tuple(ranked[TOLD_APART:])
    return [*groups, (f"{len(rest):,} smaller", REST, rest)] if rest else groups


def _some(n: int, most: int) -> list[int]:
    """Return at most so many places of n, evenly apart, the last among them."""
    count = min(n, most)
    return [(one + 1) * n // count - 1 for one in range(count)]


def _over_trials(trials: Sequence[int]) -> Axis:
    return Axis(0, max(trials, default=0) or 1, "trials", _whole)


def _around(points: Sequence[tuple[float, float]]) -> tuple[Axis, Axis]:
    """Return axes of one scale with all points between them."""
    ends = [(min(values), max(values)) for values in zip(*points, strict=True)] or [(0.0, 0.0)] * 2
    half = (max(high - low for low, high in ends) or 1.0) * 0.54
    across, up = (Axis((low + high) / 2 - half, (low + high) / 2 + half) for low, high in ends)
    return across, up


def _middle(points: Sequence[tuple[float, float]]) -> tuple[str, str]:
    if not points:
        return "–", "–"
    return tuple(f"{sum(one[n] for one in points) / len(points):.3f}" for n in (0, 1))  # type: ignore[return-value]


def _course(values: Sequence[float | None]) -> str:
    known = [one for one in values if one is not None]
    return f"from {known[0]:.3f} to {known[-1]:.3f}" if known else "unmeasured"


def _between(ends: Interval) -> str:
    return f"{ends[0] * 100:.1f} to {ends[1] * 100:.1f} %"


def _maybe(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _per_cent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _plain(value: float) -> str:
    """Write a number with as many decimals as it has, six at most."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def _whole(value: float) -> str:
    return f"{value:,.0f}"
