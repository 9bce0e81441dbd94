"""What a command may end with, and its exit code (K24).

Tree::

    CliError            one line for the user: what is wrong, where, what to do
    ├── CheckFailed     1: a check said no
    ├── Unusable        2: the command line, a file or a directory is not what the command needs
    └── Refused         3: the society, its rules or the authority matrix says no
"""

from __future__ import annotations

from typing import ClassVar

from moot.protocols.kernel.errors import MootError


class CliError(MootError):
    """Base of what commands raise; its text is printed as it stands."""

    exit_code: ClassVar[int] = 1


class CheckFailed(CliError):
    """Say that a check failed."""

    exit_code: ClassVar[int] = 1


class Unusable(CliError):
    """Say that something the user named cannot be used, and what can."""

    exit_code: ClassVar[int] = 2


class Refused(CliError):
    """Say that it may not be done, and why."""

    exit_code: ClassVar[int] = 3
