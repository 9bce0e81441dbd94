"""Draw curves, areas and points as HTML that keeps its text readable at any width, in light and in dark.

The drawing is inline SVG that stretches with the page, its labels are text beside it: no script, no font, no file from
elsewhere. Whatever is drawn is escaped here. A page that shows drawings takes in `STYLE` once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

COLOURS: Final = (
    "#4f74e3", "#cf5c2e", "#1f9d68", "#a06bd6", "#a87f12", "#1893a8", "#d14f96", "#8a6a4a",
)  # fmt: skip
"""Of series, in order: each has a contrast of at least 3 to white and to the dark page (WCAG 1.4.11)."""

REST: Final = "#7d8490"
"""The colour of what is not told apart, and of thresholds."""

SIDE: Final = 1000
"""Units of a drawing's width and of its height; it is stretched to its place."""

STYLE: Final = Path(__file__).with_name("web") / "drawing.css"
"""How drawings are laid out."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, and the same in words and numbers for whoever cannot see it.

    Attributes:
        title: What it is about, plain text.
        told: What is to be seen in it, in a sentence, plain text.
        html: The drawing, escaped.
        heads: Columns of the table behind it.
        rows: Its rows, plain text, as many cells as there are heads.
    """

    title: str
    told: str
    html: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Curve(NamedTuple):
    """Points joined by lines; where a y is None, the curve has a gap. A dashed one can be told without its colour."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float | None]
    colour: str
    dashes: str = ""


class Area(NamedTuple):
    """What lies between two curves over the same x."""

    name: str
    xs: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: str


class Dots(NamedTuple):
    """Points that are not joined."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str


class Span(NamedTuple):
    """A value, and the interval that it lies in; both ends equal the value where there is none."""

    value: float
    low: float
    high: float
    colour: str


Mark = Curve | Area | Dots


@dataclass(frozen=True, slots=True)
class Axis:
    """From where to where a drawing goes.

    Attributes:
        label: What it counts.
        word: Writes a number of it; None leaves the axis without numbers.
    """

    low: float
    high: float
    label: str = ""
    word: Callable[[float], str] | None = None

    def at(self, value: float) -> float:
        """Return where a value stands, in units of the drawing."""
        width = self.high - self.low
        return (value - self.low) / width * SIDE if width else SIDE / 2

    def ticks(self, most: int) -> list[float]:
        """Return round numbers on the axis, at most so many."""
        width = self.high - self.low
        if self.word is None or width <= 0 or not math.isfinite(width):
            return []
        rough = 10.0 ** math.floor(math.log10(width / most))
        step = next(rough * n for n in (1, 2, 5, 10, 20, 50) if width / (rough * n) <= most - 1 or n == 50)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [step * n for n in range(first, last + 1)]


def plot(
    marks: Sequence[Mark],
    x: Axis,
    y: Axis,
    told: str,
    *,
    named: Sequence[Mark] | None = None,
    is_square: bool = False,
) -> str:
    """Draw marks over two axes, with a legend when there are several.

    Args:
        marks: In the order in which they are drawn.
        told: What is to be seen, in place of the drawing.
        named: The order of the legend, when it is another one.
        is_square: Both axes have the same scale.
    """
    across, up = x.ticks(6), y.ticks(6)
    lines = [
        *(f"M{_n(x.at(one))} 0V{SIDE}" for one in across),
        *(f"M0 {_n(SIDE - y.at(one))}H{SIDE}" for one in up),
    ]
    drawn = "".join(_drawn(mark, x, y) for mark in marks)
    ys = "".join(f'<span style="bottom:{_n(y.at(one) / 10)}%">{_worded(y, one)}</span>' for one in up)
    xs = "".join(_label(x, one) for one in across)
    of = f'<div class="of">{escape(x.label)}</div>' if x.label else ""
    return (
        f'<div class="plot{" square" if is_square else ""}" role="img" aria-label="{escape(told)}">'
        f'<div class="y">{ys}</div><svg viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none">'
        f'<path class="grid" d="{"".join(lines)}"/>{drawn}</svg><div class="x">{xs}</div>{of}</div>'
        f"{legend(named or marks) if len(marks) > 1 else ''}"
    )


def legend(marks: Sequence[Mark]) -> str:
    """Name marks by their colours and dashes."""
    return f'<ul class="legend">{"".join(map(_entry, marks))}</ul>'


def bar(share: float, intervals: Sequence[tuple[float, float, str]]) -> str:
    """Draw a share of one as a bar, with intervals above it.

    Args:
        share: In [0, 1].
        intervals: Lower and upper end of each, in [0, 1], and its dashes.
    """
    lines = "".join(
        f'<line x1="{_n(low * SIDE)}" x2="{_n(high * SIDE)}" y1="{y}" y2="{y}" stroke="currentColor" '
        f'stroke-width="2"{_dashed(dashes)}/>'
        + "".join(
            f'<line x1="{_n(end * SIDE)}" x2="{_n(end * SIDE)}" y1="{y - 3}" y2="{y + 3}" '
            'stroke="currentColor" stroke-width="2"/>'
            for end in (low, high)
        )
        for y, (low, high, dashes) in zip((5, 14), intervals, strict=False)
    )
    return (
        f'<svg viewBox="0 0 {SIDE} 18" preserveAspectRatio="none" aria-hidden="true">'
        f'<line class="grid" x1="0" x2="{SIDE}" y1="17.5" y2="17.5"/>'
        f'<rect width="{_n(share * SIDE)}" height="18" fill="{COLOURS[0]}" fill-opacity=".45"/>{lines}</svg>'
    )


def spans(
    rows: Sequence[tuple[str, str, Sequence[Span]]], x: Axis, told: str, *, at: float | None = None
) -> str:
    """Draw values with their intervals over one axis, a row each, with its name and its figure above it.

    Args:
        rows: Of each its name, its figure in words, and what is drawn in it, from top to bottom.
        told: What is to be seen, in place of the drawing.
        at: Where a line stands that values are held against.
    """
    drawn = []
    for name, figure, several in rows:
        height = 14 * max(1, len(several))
        line = "" if at is None else f'<path class="at" d="M{_n(x.at(at))} 0V{height}"/>'
        marks = "".join(_span(one, x, 14 * n + 7) for n, one in enumerate(several))
        drawn.append(
            f"<li><p><b>{escape(name)}</b> <span>{escape(figure)}</span></p>"
            f'<svg viewBox="0 0 {SIDE} {height}" style="height:{height}px" preserveAspectRatio="none" '
            f'aria-hidden="true"><path class="grid" d="M0 {height / 2:g}H{SIDE}"/>{line}{marks}</svg></li>'
        )
    numbers = "".join(_label(x, one) for one in x.ticks(6))
    of = f'<div class="of">{escape(x.label)}</div>' if x.label else ""
    return (
        f'<div class="spans" role="img" aria-label="{escape(told)}"><ul class="shares">{"".join(drawn)}</ul>'
        f'<div class="x">{numbers}</div>{of}</div>'
    )


def _span(span: Span, x: Axis, y: int) -> str:
    low, high = (_n(min(SIDE, max(0.0, x.at(one)))) for one in (span.low, span.high))
    line = f'<path d="M{low} {y}H{high}" stroke="{span.colour}" stroke-width="2"/>' if low != high else ""
    return (
        f'{line}<path d="M{_n(x.at(span.value))} {y}h0" stroke="{span.colour}" stroke-width="9" '
        'stroke-linecap="round"/>'
    )


def _drawn(mark: Mark, x: Axis, y: Axis) -> str:
    if isinstance(mark, Area):
        there = [
            f"{_n(x.at(one))} {_n(SIDE - y.at(top))}" for one, top in zip(mark.xs, mark.high, strict=True)
        ]
        back = [f"{_n(x.at(one))} {_n(SIDE - y.at(low))}" for one, low in zip(mark.xs, mark.low, strict=True)]
        return f'<path class="area" style="fill:{mark.colour}" d="M{"L".join([*there, *reversed(back)])}Z"/>'
    if isinstance(mark, Dots):
        # A line without length and with round ends is a dot, and stays round however the drawing is stretched.
        d = "".join(f"M{_n(x.at(a))} {_n(SIDE - y.at(b))}h0" for a, b in mark.points)
        return f'<path d="{d}" stroke="{mark.colour}" stroke-opacity=".75" stroke-width="6" stroke-linecap="round"/>'
    d = "".join(_pieces(mark, x, y))
    return f'<path d="{d}" stroke="{mark.colour}" stroke-width="2" stroke-linejoin="round"{_dashed(mark.dashes)}/>'


def _pieces(curve: Curve, x: Axis, y: Axis) -> Iterator[str]:
    """Draw a curve from gap to gap; a point alone becomes a short stroke."""
    piece: list[str] = []
    for a, b in [*zip(curve.xs, curve.ys, strict=True), (0.0, None)]:
        if b is not None:
            piece.append(f"{_n(x.at(a))} {_n(SIDE - y.at(b))}")
        elif piece:
            yield f"M{'L'.join(piece)}{'h8' if len(piece) == 1 else ''}"
            piece = []


def _entry(mark: Mark) -> str:
    if isinstance(mark, Curve):
        shape = f'<line x2="22" y1="5" y2="5" stroke="{mark.colour}" stroke-width="2"{_dashed(mark.dashes)}/>'
    elif isinstance(mark, Dots):
        shape = f'<circle cx="11" cy="5" r="4" fill="{mark.colour}"/>'
    else:
        shape = f'<rect width="22" height="10" rx="2" fill="{mark.colour}"/>'
    return f'<li><svg viewBox="0 0 22 10" aria-hidden="true">{shape}</svg>{escape(mark.name)}</li>'


def _dashed(dashes: str) -> str:
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _label(x: Axis, value: float) -> str:
    """Write a number below a drawing; those at its ends stay inside."""
    at = x.at(value) / 10
    end = ' class="first"' if at < 3 else ' class="last"' if at > 97 else ""
    return f'<span{end} style="left:{_n(at)}%">{_worded(x, value)}</span>'


def _worded(axis: Axis, value: float) -> str:
    return escape(axis.word(value)) if axis.word else ""


def _n(value: float) -> str:
    return f"{round(value, 1):g}"
