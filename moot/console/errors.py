"""Errors of the console; the text of each is one line for a person.

Tree::

    ConsoleError          base
    ├── NotThere          there is no such message, case, obligation or piece of evidence
    ├── NotReady          the log is still being read; says how far
    ├── Unreadable        a file of the data directory cannot be read now
    └── CannotServe       the page cannot be served: port in use, no token where one is needed
"""

from __future__ import annotations


class ConsoleError(Exception):
    """Base of all errors of `moot.console`."""


class NotThere(ConsoleError):
    """Say that what was asked for does not exist."""


class NotReady(ConsoleError):
    """Say that the log is still being read, and how far the reading has come."""


class Unreadable(ConsoleError):
    """Say that a file of the data directory cannot be read now."""


class CannotServe(ConsoleError):
    """Say in one line why no page is served, and what to do."""
