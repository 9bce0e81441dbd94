"""What can go wrong in a tool that a mind calls.

ToolError
├── AccessError, NotebookError  see `moot.bots.notebook.errors`
├── PriceFileError              a price file (or a price source's name) cannot be used
├── StrategyError               a strategy is not a legal point of its archetype's space
└── TooFewBarsError             fewer bars than three splits need
"""

from __future__ import annotations

from moot.protocols.kernel.errors import MootError


class ToolError(MootError):
    """Base of every error of a tool; its text is one line for a person."""


class PriceFileError(ToolError):
    """A price file cannot be used.

    Attributes:
        source: Name of the file, as shown to the user.
        problem: What is wrong and what to do, without the file's name.
        row: Row of the fault as an editor counts it (a CSV header is row 1), or None.
        column: Column of the fault, or None.
    """

    def __init__(
        self, source: str, problem: str, *, row: int | None = None, column: str | None = None
    ) -> None:
        self.source = source
        self.problem = problem
        self.row = row
        self.column = column
        place = [f"row {row}"] if row is not None else []
        place += [f"column '{column}'"] if column is not None else []
        text = ": ".join([source, *([", ".join(place)] if place else []), problem])
        # A file's name and a driver's error may hold anything; what people see is one printable line.
        super().__init__("".join(c if c.isprintable() else "?" for c in text))


class PriceFileWarning(UserWarning):
    """Something about a price file that a user should know, in one line; the file is used all the same."""


class StrategyError(ToolError):
    """A strategy is not a legal point of its archetype's space.

    Attributes:
        field: What is wrong: ``archetype``, ``symbols`` or a parameter's name.
        problem: Why, and what would be legal.
    """

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"{field}: {problem}")


class TooFewBarsError(ToolError):
    """Fewer bars than three splits need.

    Attributes:
        bars: How many there are.
        needed: How many are needed.
    """

    def __init__(self, bars: int, needed: int) -> None:
        self.bars = bars
        self.needed = needed
        super().__init__(f"only {bars} bars exist at this instant; at least {needed} are needed")
