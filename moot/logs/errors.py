"""Errors of reading a log; the text of each is one line for a person.

Tree::

    LogError          it cannot be opened: no such file, no log in it, another application's, a newer Moot's
    └── Damaged       it was opened, and cannot be read on from some line
"""

from __future__ import annotations

import json

from moot.protocols.kernel.errors import MootError


class LogError(MootError):
    """Say that what the user named cannot be read as a log."""

    def __init__(self, name: str, problem: str) -> None:
        """Join the name as the user gave it and what is wrong with it, on one printable line."""
        super().__init__(one_line(f"{name}: {problem}"))
        self.problem = one_line(problem)


class Damaged(LogError):
    """Say from where on a log cannot be read.

    Attributes:
        line: Line of the file, or row of the table, counted from 1; 0 when unknown.
    """

    def __init__(self, name: str, problem: str, *, line: int = 0) -> None:
        """Keep the place."""
        super().__init__(name, problem)
        self.line = line


def one_line(text: str) -> str:
    """Make a text one printable line: file names and drivers may say anything."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
