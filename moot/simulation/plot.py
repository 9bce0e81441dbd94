"""A picture of the desk's equity: `moot simulate --plot FILE.png`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.protocols.kernel.times import parse_instant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from moot.simulation.desk import DeskSummary
    from moot.simulation.summary import SimulationSummary

INCHES: Final = (10.0, 6.0)
DPI: Final = 120
EQUITY, FALL, HALT, PROMOTION = "#1f4e79", "#a23b3b", "#d9534f", "#2e7d32"
"""Colours of the lines and marks."""
STEPS: Final = "steps-post"
"""Between two measurements the earlier one stands: nothing is drawn that nobody measured."""

MIDNIGHTS: Final = ["", "%Y", "%b", "%-d %b", "%H:%M", "%H:%M"]
BESIDE: Final = ["", "%Y", "%B %Y", "%Y", "%Y", "%-d %B %Y, %H:%M"]
"""How dates read below the axis, and what of them is said once beside it, for ticks from years down to seconds."""


def plot(summary: SimulationSummary, file: Path) -> None:
    """Draw the equity, its drawdown below, halts and promotions, and write them as a PNG.

    The same summary gives the same bytes.

    Args:
        summary: Figures of a simulation.
        file: Where to write; what stood there is replaced.

    Raises:
        OSError: It cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    desk = summary.desk
    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    figure.suptitle(_title(summary))
    days = [_day(point.at) for point in desk.curve]
    falls = desk.drawdowns()
    upper.plot(
        days,
        [point.equity for point in desk.curve],
        color=EQUITY,
        linewidth=1.2,
        drawstyle=STEPS,
        label="equity",
    )
    upper.axhline(desk.capital, color="0.6", linewidth=0.8, linestyle=":", label="capital")
    lower.fill_between(days, falls, 0.0, step="post", color=FALL, alpha=0.35, linewidth=0)
    lower.plot(days, falls, color=FALL, linewidth=0.9, drawstyle=STEPS)
    _mark(upper, lower, desk)
    upper.set_ylabel("equity")
    upper.yaxis.set_major_formatter(FuncFormatter(lambda dollars, _: f"${dollars:,.0f}"))
    lower.set_ylabel("drawdown")
    lower.yaxis.set_major_formatter(
        PercentFormatter(1.0, decimals=2 if min(falls, default=0.0) > -0.02 else 1, symbol=" %")
    )
    lower.set_ylim(top=0.0)
    if not any(falls):
        lower.set_ylim(bottom=-0.01)
    begins = _day(parse_instant(summary.start))
    lower.set_xlim(begins, begins + summary.days)
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    lower.xaxis.set_major_locator(locator)
    lower.xaxis.set_major_formatter(
        ConciseDateFormatter(locator, zero_formats=MIDNIGHTS, offset_formats=BESIDE)  # type: ignore[no-untyped-call]
    )
    lower.set_xlabel("society time, UTC")
    for axes in (upper, lower):
        axes.grid(visible=True, color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    upper.legend(loc="best", frameon=False)
    figure.savefig(file, format="png", metadata={"Software": None})


def _day(at: datetime) -> float:
    """Return an instant as matplotlib counts time: in days since 1970."""
    return at.timestamp() / 86_400.0


def _title(summary: SimulationSummary) -> str:
    days = "1 day" if summary.days == 1 else f"{summary.days:g} days"
    desk = summary.desk
    return (
        f"{days} from {summary.start[:10]}, seed {summary.seed}, prices {summary.prices}\n"
        f"P&L {desk.pnl_usd:+,.2f} dollars ({100 * desk.pnl_pct:+.2f} %), "
        f"max drawdown {100 * desk.max_drawdown:.2f} %"
    )


def _mark(upper: Axes, lower: Axes, desk: DeskSummary) -> None:
    """Shade the time of halts, and mark promotions on the curve."""
    label = "halted"
    for begins, ends in halts(desk):
        for axes in (upper, lower):
            axes.axvspan(_day(begins), _day(ends), color=HALT, alpha=0.15, linewidth=0)
        upper.axvline(_day(begins), color=HALT, linewidth=1.0, label=label)
        label = "_"
    promoted = [event.at for event in desk.events if event.what == "promotion"]
    if promoted:
        upper.plot(
            [_day(at) for at in promoted],
            [equity_at(desk, at) for at in promoted],
            color=PROMOTION,
            marker="^",
            markersize=8,
            linestyle="none",
            label="promotion",
        )


def halts(desk: DeskSummary) -> Sequence[tuple[datetime, datetime]]:
    """Return from when to when the desk was halted; one that was never lifted ends with the curve."""
    found: list[tuple[datetime, datetime]] = []
    since: datetime | None = None
    for event in desk.events:
        if event.what == "halt":
            since = event.at
        elif event.what == "resume" and since is not None:
            found.append((since, event.at))
            since = None
    if since is not None:
        found.append((since, max(since, desk.curve[-1].at) if desk.curve else since))
    return found


def equity_at(desk: DeskSummary, at: datetime) -> float:
    """Return the last equity that was measured by an instant, in dollars; the capital before any."""
    return next((point.equity for point in reversed(desk.curve) if point.at <= at), desk.capital)
