"""What can go wrong between a mind and its notebook.

ToolError                      see `moot.bots.tools.errors`
├── AccessError                a toolbox refused a call before anything ran
│   ├── NoSuchTool             it holds no tool of that name
│   └── WriteBlocked           the tool may write, and its caller may not
└── NotebookError              a notebook did not give what was asked of it
    ├── NotebookFolderError    a folder cannot be served as a notebook
    ├── NotebookQueryError     a query names nothing to look for
    ├── NotebookGarbage        an answer is not what the tools promise
    ├── NotebookTimeout        the limit of wall time passed
    ├── NotebookUnavailable    it cannot be reached: not started, died, closed
    │   └── NotebookRefused    it was reached and said no
    └── StudioUnavailable      no report can be written; never a failure of the run
"""

from __future__ import annotations

from typing import Final

from moot.bots.tools.errors import ToolError
from moot.protocols.kernel.redact import redact

LINE_CHARS: Final = 300
"""How long a line that quotes somebody else's server may become."""


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


def one_line(text: str, limit: int = LINE_CHARS) -> str:
    """Make one printable line of any text: no line breaks, no control characters, no secrets."""
    line = " ".join("".join(c if c.isprintable() else " " for c in redact(text[: limit * 20])).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
