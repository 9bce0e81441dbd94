"""`moot why`: why something came about, on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from moot.cli.app import command
from moot.cli.output import console, heading, print_hanging, write_json
from moot.cli.place import AsJson, Source

if TYPE_CHECKING:
    from rich.console import Console

    from moot.explaining.explanation import Decision, Explanation, Held, Link, Said

MARGIN: Final = 12
"""Columns of the words in front of what is said."""

MOST: Final = 8
"""Lines of a list; --json has them all."""

WIDEST: Final = 80
"""Columns that are filled at most, in a pipe too: it is read, not searched line by line."""

LONGEST: Final = 320
"""Characters of one line; moot case --full has whole texts."""


@command(
    "moot why ./moot-data hyp_20260223_1030",
    "moot why ./moot-data strat_20260223_1030",
    "moot why ./moot-data 412",
    "moot why ./moot-data dep_20260224_0504 --json | jq .decisions",
)
def why(
    named: Source,
    given: Annotated[
        str,
        typer.Argument(metavar="ID", help="The id of anything that was said of, or a message's number."),
    ],
    as_json: AsJson = False,
) -> None:
    """Say why something came about: who decided what, on which figures, who objected, what followed.

    ID may be a case of any protocol (a debate, a deployment, a promotion, an alert, a trade, an escalation, a run, a
    panel, a motion, an experiment), a strategy, an obligation, or a message by its number.
    """
    from moot.control import note_shown
    from moot.explaining.explain import explain
    from moot.logs import open_log
    from moot.place import log_path

    path = log_path(named)
    found = explain(lambda: open_log(path), given)
    if found.kind == "escalation":
        note_shown(named, [found.case_id or found.id])
    if as_json:
        write_json(found.as_json())
        return
    print_why(console(), found)


def print_why(target: Console, found: Explanation) -> None:
    """Print an explanation for people."""
    page = _Page(target)
    target.print(heading(f"{found.kind} {found.case_id or found.id}", found.came_to or "nothing was decided"))
    opened, decided = found.opened, found.decisions[-MOST:]
    page.rows("day", [f"{opened.at:%A, %d %B %Y}, UTC"])
    page.rows("asked for", [_line(one) for one in found.about])
    if opened.seq not in {one.said.seq for one in (*decided, *found.decisions[:1])}:
        page.rows("opened", [_line(opened)])
    for n, one in enumerate(decided):
        page.decision("decided" if not n else "", one)
    if not found.decisions:
        page.rows("decided", ["nothing"])
    lines = []
    for objection in found.objections[-MOST:]:
        lines.append(_line(objection.said))
        lines += [f"- {text}" for text in objection.texts]
    page.rows("objected", lines or ["nobody did"])
    page.rows(
        "people" if found.is_foreign else "admin",
        [*map(_link, found.asked), *map(_line, found.people)] or [found.unheard],
    )
    page.rows("followed", [_line(one) for one in found.followed[:MOST]])
    rest = len(found.links) - MOST
    more = [f"and {rest} more: --json names them"] if rest > 0 else []
    page.rows("see also", [*map(_link, found.links[:MOST]), *more])


class _Page:
    """Prints named groups of lines."""

    def __init__(self, target: Console) -> None:
        self.target = target
        self.width = min(target.width, WIDEST)

    def rows(self, name: str, lines: list[str], indent: int = 0) -> None:
        """Print lines behind the name of their group; what does not fit goes on under itself."""
        from rich.text import Text

        from moot.channels.showing.wording import clean

        for n, line in enumerate(lines):
            prefix = Text(f"{'' if n else name:<{MARGIN + indent}}", "dim")
            print_hanging(
                self.target, prefix, Text(clean(line, LONGEST)), MARGIN + indent + 2, width=self.width - 1
            )

    def decision(self, name: str, one: Decision) -> None:
        """Print a decision: what, on which figures, by which row."""
        self.rows(name, [_line(one.said)])
        more = [f"counts for nothing: {one.broke}"] if one.broke else []
        more += [f"{'yes' if held.holds else 'no '}  {_figures(held)}" for held in one.held]
        if one.applied is not None:
            row = one.applied.rows[one.applied.on]
            pairs = zip(one.applied.head, row, strict=True)
            more.append("table: " + ", ".join(f"{head} {cell}" for head, cell in pairs))
        if one.row is not None:
            where = f" while {one.row.phase}" if one.row.phase else ""
            more.append(f"row: {one.row.table}{where}, {one.row.event} → {' or '.join(one.row.leads_to)}")
            if one.row.says:
                more.append(f"rule: {one.row.says}")
        self.rows("", more, 2)


def _line(one: Said) -> str:
    return f"{one.at:%m-%d %H:%M} #{one.seq} {one.by} {one.text}"


def _link(one: Link) -> str:
    return f"{one.id}  {one.kind}" + (f": {one.came_to}" if one.came_to else "")


def _figures(held: Held) -> str:
    from moot.channels.showing.wording import beside

    value, limit = beside(held.value, held.limit)
    return f"{held.name} {value}, {held.relation} {limit} {held.purpose}"
