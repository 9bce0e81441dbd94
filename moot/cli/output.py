"""How anything is printed: text for people, JSON for programs, colours where they are wanted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Self, TextIO

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.status import Status
    from rich.table import Table
    from rich.text import Text

UNWRAPPED: Final = 10_000
"""Columns of an output that is no terminal: one row stays one line, so that it can be searched."""
PAGE: Final = 80
"""Columns of a page that is read as a whole, where its output is no terminal; COLUMNS says otherwise."""


def has_colour(stream: TextIO) -> bool:
    """Say whether a stream wants colours: a terminal, unless NO_COLOR or TERM=dumb says no."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty()


def page() -> Console:
    """Return a console for a page that is read as a whole: how things stand, rather than what was said line by line."""
    return console(columns=PAGE)


def console(stream: TextIO | None = None, *, columns: int = UNWRAPPED) -> Console:
    """Return a console on a stream, standard output by default; text is never markup.

    Args:
        columns: Its width where it is no terminal and COLUMNS says nothing.
    """
    from rich.console import Console

    class Piped(Console):
        """A console that leaves a closed pipe to the program, whose exit code says so."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    stream = stream or sys.stdout
    is_piped = not stream.isatty() and not os.environ.get("COLUMNS")
    return Piped(
        file=stream,
        color_system="auto" if has_colour(stream) else None,
        force_terminal=True if has_colour(stream) else None,
        highlight=False,
        emoji=False,
        markup=False,
        width=columns if is_piped else None,
    )


def say(line: str) -> None:
    """Tell the user something beside the result, on standard error."""
    sys.stdout.flush()
    print(line, file=sys.stderr, flush=True)


class Counting:
    """Counts messages on standard error while a long log is read, if that is a terminal; a context manager.

    Nothing is shown before `PATIENCE` messages: a short log needs no words.
    """

    PATIENCE: Final = 20_000

    def __init__(self, what: str) -> None:
        """Name what is done, for example `reading`."""
        self._what = what
        self._status: Status | None = None

    def __call__(self, n: int) -> None:
        """Note that so many messages are done."""
        if n < self.PATIENCE or not sys.stderr.isatty():
            return
        if self._status is None:
            from rich.status import Status

            self._status = Status(self._what, console=console(sys.stderr))
            self._status.start()
        self._status.update(f"{self._what} … {n:,} messages")

    def __enter__(self) -> Self:
        """Show nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the count away."""
        if self._status is not None:
            self._status.stop()


def write_lines(lines: Iterable[str], *, flush: bool = False) -> None:
    """Write lines to standard output as UTF-8, whatever the locale, without wrapping."""
    sys.stdout.flush()
    raw = sys.stdout.buffer
    for line in lines:
        raw.write(line.encode("utf-8", "surrogatepass"))
        raw.write(b"\n")
        if flush:
            raw.flush()
    raw.flush()


def write_json(value: object) -> None:
    """Write one JSON document."""
    write_lines([json.dumps(value, ensure_ascii=False, indent=2, default=str)])


def table(*columns: str, right: Iterable[str] = (), fold: Iterable[str] = ()) -> Table:
    """Return an empty table in the context style: no lines, dim heads.

    Args:
        columns: The heads.
        right: Columns of figures.
        fold: Columns whose long texts may be broken into lines; the others give way last.
    """
    from rich.table import Table

    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    flexible = frozenset(fold)
    figures = frozenset(right)
    for name in columns:
        found.add_column(
            name,
            justify="right" if name in figures else "left",
            no_wrap=name not in flexible,
            overflow="fold" if name in flexible else "ellipsis",
        )
    return found


def print_table(target: Console, rows: Table, options: ConsoleOptions | None = None) -> None:
    """Print a table without the blanks that pad its last column."""
    from rich.text import Text

    for line in target.render_lines(rows, options, pad=False):
        text = Text.assemble(*((part.text, part.style or "") for part in line if not part.control))
        target.print(_stripped(text), soft_wrap=True)


def heading(text: str, rest: str = "") -> Text:
    """Return a title line: the subject bold, what is said of it dim."""
    from rich.text import Text

    return Text.assemble((text, "bold"), (f"  {rest}" if rest else "", "dim"))


def print_hanging(target: Console, prefix: Text, text: Text, hang: int, *, width: int = 0) -> None:
    """Print a text behind a prefix; what does not fit goes on `hang` columns from the left.

    Args:
        target: Where to print.
        prefix: What stands before the text, on the first line only.
        text: What may be wrapped.
        hang: Where further lines begin.
        width: Columns to fill; 0: all there are.
    """
    from rich.text import Text

    width = width or target.width - 1
    first, *rest = text.wrap(target, max(12, width - prefix.cell_len)) or [text]
    first.rstrip()
    target.print(Text.assemble(prefix, first), soft_wrap=True)
    if rest:
        left = Text(" ").join(map(_stripped, rest))
        for line in left.wrap(target, max(12, width - hang)):
            target.print(Text.assemble(" " * hang, _stripped(line)), soft_wrap=True)


def print_prose(target: Console, line: str, indent: int = 0) -> None:
    """Print a line of prose, wrapped, so many columns from the left."""
    from rich.text import Text

    print_hanging(target, Text(" " * indent), Text(line), indent)


def _stripped(text: Text) -> Text:
    text.rstrip()
    return text


def seat_text(seat: str) -> Text:
    """Return a seat's name in its colour."""
    from rich.text import Text

    from moot.channels.showing.rendering import colour
    from moot.channels.showing.wording import clean, seat_name
    from moot.protocols.kernel.seats import Seat

    return Text(seat_name(clean(seat, 20)), style=colour(Seat(seat)))


BLOCKS: Final = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS: Final = "_.-~=+*#"
"""What a small curve is drawn with, from low to high, where a terminal has no blocks."""


def sparkline(values: Sequence[float], encoding: str | None, most: int = 60) -> str:
    """Draw a curve in one line of text.

    Args:
        values: Its points; of more than `most` the last one of each equal part is drawn.
        encoding: What the output can show: blocks for any UTF, plain ASCII otherwise.
        most: Characters to fill at most.
    """
    n = min(len(values), most)
    drawn = [values[(i + 1) * len(values) // n - 1] for i in range(n)]
    marks = BLOCKS if (encoding or "").lower().startswith("utf") else ASCII_BLOCKS
    low, high = min(drawn, default=0.0), max(drawn, default=0.0)
    if low == high:
        return marks[0] * n
    return "".join(marks[min(int((v - low) / (high - low) * len(marks)), len(marks) - 1)] for v in drawn)


def money(dollars: float, *, sign: bool = False) -> str:
    """Write an amount in dollars to the cent: `1,234.50`, with a sign `+1,234.50`."""
    return f"{round(dollars, 2) + 0.0:{'+' if sign else ''},.2f}"


def per_cent(share: float, *, sign: bool = False) -> str:
    """Write a fraction as per cent: `1.25 %`, with a sign `+1.25 %`."""
    return f"{round(share * 100, 2) + 0.0:{'+' if sign else ''}.2f} %"


def clock_time(instant: datetime) -> str:
    """Write an instant of society time to the minute."""
    return f"{instant:%Y-%m-%d %H:%M}"


def duration(delta: timedelta) -> str:
    """Write how long: `35 s`, `12 min`, `1 h 42 min`, `3 d 4 h`; the sign is left out."""
    seconds = round(abs(delta).total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def plural(n: int, noun: str) -> str:
    """Write a number with its noun: `no messages`, `1 message`, `12 messages`."""
    if n == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {many}" if n else f"no {many}"
