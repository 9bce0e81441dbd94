"""What can go wrong in a tool.

ToolError
├── AccessError                a toolbox refused a call before anything ran
│   ├── NoSuchTool             it holds no tool of that name
│   └── WriteBlocked           the tool may write, and its caller may not
├── NotebookError              a notebook did not give what was asked of it
│   ├── NotebookFolderError    a folder cannot be served as a notebook
│   ├── NotebookQueryError     a query names nothing to look for
│   ├── NotebookGarbage        an answer is not what the tools promise
│   ├── NotebookTimeout        the limit of wall time passed
│   ├── NotebookUnavailable    it cannot be reached: not started, died, closed
│   │   └── NotebookRefused    it was reached and said no
│   └── StudioUnavailable      no report can be written; never a failure of the run
├── PriceFileError             a price file (or a price source's name) cannot be used
├── StrategyError              a strategy is not a legal point of its archetype's space
└── TooFewBarsError            fewer bars than three splits need
"""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.redact import redact

LINE_CHARS: Final = 300
"""How long a line that quotes somebody else's server may become."""


class ToolError(Exception):
    """Base of every error of ``moot.bots.tools``; its text is one line for a person."""


class AccessError(ToolError):
    """A toolbox refused a call, and nothing ran.

    Attributes:
        tool: The name that was called.
    """

    def __init__(self, tool: str, problem: str) -> None:
        self.tool = tool
        super().__init__(one_line(problem))


class NoSuchTool(AccessError):
    """The toolbox holds no tool of that name."""


class WriteBlocked(AccessError):
    """The tool may write, and whoever holds the toolbox may only read."""


class NotebookError(ToolError):
    """Base of what goes wrong with a notebook; its text is one printable line without secrets."""

    def __init__(self, problem: str) -> None:
        super().__init__(one_line(problem))


class NotebookFolderError(NotebookError):
    """A folder cannot be served as a notebook."""


class NotebookQueryError(NotebookError):
    """A query names nothing to look for, or asks for no result."""


class NotebookGarbage(NotebookError):
    """A notebook answered with something that its tools do not promise."""


class NotebookTimeout(NotebookError):
    """A notebook did not answer within its limit of wall time."""


class NotebookUnavailable(NotebookError):
    """A notebook cannot be reached: it does not start, it died, or the connection is closed."""


class NotebookRefused(NotebookUnavailable):
    """A notebook was reached and said no to this call; the next one may succeed."""


class StudioUnavailable(NotebookError):
    """A notebook writes no reports; that is no failure of a run (Arena 8.3)."""


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


def one_line(text: str, limit: int = LINE_CHARS) -> str:
    """Make one printable line of any text: no line breaks, no control characters, no secrets."""
    line = " ".join("".join(c if c.isprintable() else " " for c in redact(text[: limit * 20])).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
