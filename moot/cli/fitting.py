"""Tables that fit their terminal: ids and figures stay whole, whatever its width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.cli.output import print_hanging, print_table, table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

GAP: Final = 2
"""Blanks between two columns."""
INDENT: Final = 2
"""Blanks before what stands on a line of its own."""


class Row(NamedTuple):
    """A row: a cell for every column, and the style of the whole."""

    cells: Sequence[str | Text]
    style: str = ""


def print_rows(
    target: Console,
    heads: Sequence[str],
    rows: Sequence[Row],
    *,
    right: Sequence[str] = (),
    fold: str = "",
    below: str = "",
    drop: Sequence[str] = (),
) -> None:
    """Print rows; where the columns do not fit, one of them goes under its row, then others are left out.

    Args:
        target: Where to print.
        heads: The columns.
        rows: Their cells.
        right: Columns of figures.
        fold: A column whose words may go on in further lines.
        below: The column that goes on a line of its own first.
        drop: Columns that are then left out, in this order; a last line names them.
    """
    from rich.text import Text

    kept = list(heads)
    is_below = bool(below) and _width(kept, heads, rows, "") > target.width
    if is_below:
        kept.remove(below)
    gone = []
    for name in drop:
        if _width(kept, heads, rows, fold) <= target.width:
            break
        kept.remove(name)
        gone.append(name)
    widths = {name: _column(name, heads, rows) for name in kept}
    if fold in kept:
        rest = target.width - _width([name for name in kept if name != fold], heads, rows, "") - GAP
        widths[fold] = max(_column(fold, heads, rows, is_folded=True), min(widths[fold], rest))
    wide = target.options.update(width=sum(widths.values()) + GAP * len(kept))

    def show(row: Row | None) -> None:
        drawn = table(*kept, right=right, fold=(fold,))
        drawn.show_header = row is None
        for column, name in zip(drawn.columns, kept, strict=True):
            column.width = widths[name]
        if row is not None:
            cells = dict(zip(heads, row.cells, strict=True))
            drawn.add_row(*(cells[name] for name in kept), style=row.style)
        print_table(target, drawn, wide)
        under = (
            Text(below, "dim")
            if row is None
            else _text(dict(zip(heads, row.cells, strict=True)).get(below, ""))
        )
        if not is_below or not under:
            return
        if row is not None:
            under.style = row.style
        if " " in under.plain:
            print_hanging(target, Text(" " * INDENT), under, INDENT)
        else:
            # An id is copied whole: a terminal that is too narrow for it breaks the line itself.
            target.print(Text.assemble(" " * INDENT, under), soft_wrap=True)

    show(None)
    for row in rows:
        show(row)
    if gone:
        target.print(Text(f"left out at this width: {', '.join(gone)}", "dim"))


def _text(cell: str | Text) -> Text:
    from rich.text import Text

    return Text(cell) if isinstance(cell, str) else cell.copy()


def _column(name: str, heads: Sequence[str], rows: Sequence[Row], *, is_folded: bool = False) -> int:
    """Return how wide a column is: its longest cell, or its longest word."""
    at = heads.index(name)
    cells = [_text(name), *(_text(row.cells[at]) for row in rows)]
    if is_folded:
        return max(_text(word).cell_len for cell in cells for word in cell.plain.split() or [""])
    return max(cell.cell_len for cell in cells)


def _width(names: Sequence[str], heads: Sequence[str], rows: Sequence[Row], folded: str) -> int:
    columns = sum(_column(name, heads, rows, is_folded=name == folded) for name in names)
    return columns + GAP * (len(names) - 1)
