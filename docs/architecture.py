"""The picture of how Moot is built: its seats, officers and protocols as declared, readable light and dark."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from moot.channels.showing.wording import seat_name
from moot.protocols.kernel.seats import OFFICERS
from moot.protocols.rulebook import rulebook

PICTURE: Final = Path(__file__).with_name("images") / "architecture.svg"
WIDTH, HEIGHT, LINE = 960, 540, 19
HEAD: Final = f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">
<title>How Moot is built: all that is said passes the sequencer into one log, and all else follows from the log</title>
<style>
svg {{ --ground: #ffffff; --box: #f3f5f9; --edge: #aab4c3;
  --text: #1b2230; --soft: #566072; --log: #dbe8ff; --flow: #3565b5 }}
@media (prefers-color-scheme: dark) {{
svg {{ --ground: #13171e; --box: #1d232d; --edge: #4a5566;
  --text: #e8ebf1; --soft: #a3adbd; --log: #1f3a68; --flow: #82aef5 }}
}}
text {{ font: 12.5px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: var(--text) }}
.title {{ font-weight: 600; font-size: 15px }}
.soft {{ fill: var(--soft) }}
rect {{ fill: var(--box); stroke: var(--edge) }}
.log {{ fill: var(--log); stroke: var(--flow) }}
path {{ fill: none; stroke: var(--flow); stroke-width: 1.6; marker-end: url(#tip) }}
.flow {{ fill: var(--flow); font-size: 12px }}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<polygon points="0,0 8,4 0,8" style="fill: var(--flow)"/></marker></defs>
<rect width="{WIDTH}" height="{HEIGHT}" rx="10" style="fill: var(--ground); stroke: none"/>
"""


class Box(NamedTuple):
    """A part: where it stands, its title, and what is written below, softly where a line begins with a blank."""

    x: int
    y: int
    width: int
    height: int
    title: str
    lines: Sequence[str]
    kind: str = ""


class Arrow(NamedTuple):
    """A way that something takes: its corners as a path, what passes there, and where that is written."""

    path: str
    label: str
    x: int
    y: int


ARROWS: Final = (
    Arrow("M 300 140 H 348", "drafts", 305, 132),
    Arrow("M 660 140 H 612", "", 0, 0),
    Arrow("M 430 72 V 98", "acts", 438, 90),
    Arrow("M 480 192 V 238", "envelopes", 488, 219),
    Arrow("M 610 290 H 658", "", 0, 0),
    Arrow("M 795 240 V 194", "duties", 803, 220),
    Arrow("M 610 262 H 634 V 46 H 612", "what was said", 642, 62),
    Arrow("M 390 340 V 460 H 302", "", 0, 0),
    Arrow("M 165 420 V 392", "views", 173, 411),
    Arrow("M 540 340 V 418", "", 0, 0),
    Arrow("M 795 390 V 515 H 14 V 240 H 28", "obligations: who owes which message, and until when", 330, 508),
)


def boxes() -> Iterator[Box]:
    """Yield the parts."""
    book = rulebook()
    seats = [info for info in book.seats.values() if info.group]
    told: list[str] = []
    for group, found in groupby(sorted(seats, key=lambda info: info.group), key=lambda info: info.group):
        name = f"System {group}" if len(group) == 1 else group.capitalize()
        told += textwrap.wrap(f"{name}: {', '.join(seat_name(info.seat) for info in found)}", 37)
    minds = textwrap.wrap(
        "A mind fills each: simulated, a script, a class of yours, a language model, a person", 37
    )
    yield Box(30, 100, 270, 290, "Bots, one a seat", [*told, " ", *(f" {line}" for line in minds)])
    yield Box(350, 20, 260, 52, "People", ["terminal, web page, Discord, Slack"])
    yield Box(
        350,
        100,
        260,
        92,
        "Sequencer",
        [
            "May this seat say this here?",
            "Redacts what looks like a secret,",
            "numbers, times and chains the rest",
        ],
    )
    yield Box(
        350,
        240,
        260,
        100,
        "Log",
        [
            "One append-only chain of messages.",
            "All else is computed from it: any",
            "moment of the past, by anybody",
        ],
        "log",
    )
    officers = textwrap.wrap(", ".join(seat_name(seat) for seat in book.seats if seat in OFFICERS), 38)
    yield Box(660, 100, 270, 92, "Officers, which are code", officers)
    protocols = textwrap.wrap(", ".join(one.name for one in book.protocols) + ", yours", 38)
    yield Box(
        660,
        240,
        270,
        150,
        "Docket: protocols as tables",
        [
            *protocols,
            f" {len(book.types)} kinds of case, {len(book.messages)} messages:",
            " what is owed, what breaks a rule,",
            " what silence leads to",
        ],
    )
    yield Box(30, 420, 270, 72, "Memory", ["Records, principles, figures:", "each seat sees its view"])
    yield Box(440, 420, 200, 72, "moot verify", ["Anybody computes it all", "again from the log"])


def picture() -> str:
    """Return the SVG."""
    return HEAD + "\n".join([*_drawn(boxes()), *_ways()]) + "\n</svg>\n"


def _drawn(parts: Iterator[Box]) -> Iterator[str]:
    for box in parts:
        yield f'<rect class="{box.kind}" x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="7"/>'
        yield f'<text class="title" x="{box.x + 14}" y="{box.y + 24}">{escape(box.title)}</text>'
        for n, line in enumerate(box.lines):
            soft = ' class="soft"' if line.startswith(" ") else ""
            y = box.y + 24 + LINE * (n + 1)
            yield f'<text{soft} x="{box.x + 14}" y="{y}">{escape(line.strip())}</text>'


def _ways() -> Iterator[str]:
    for arrow in ARROWS:
        yield f'<path d="{arrow.path}"/>'
        if arrow.label:
            yield f'<text class="flow" x="{arrow.x}" y="{arrow.y}">{escape(arrow.label)}</text>'
