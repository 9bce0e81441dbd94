"""What commands on a run that exists have in common: its folder, read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moot.cli.errors import CheckFailed
from moot.cli.output import plural

if TYPE_CHECKING:
    from moot.arbiter.reading import ReadRun
    from moot.config.arbiter.reading import Faulty


def opened(run: Path) -> ReadRun:
    """Read the folder of a run.

    Raises:
        CheckFailed: It holds none, or a file of it is faulty.
    """
    from moot.arbiter.reading import read_run
    from moot.config.arbiter.reading import Faulty

    try:
        return read_run(run)
    except Faulty as error:
        raise told(error) from None


def told(error: Faulty) -> CheckFailed:
    """Return the first fault as what a user is told, with how many more there are."""
    more = f" (and {plural(len(error.lines) - 1, 'fault')} more)" if len(error.lines) > 1 else ""
    return CheckFailed(f"{error.lines[0]}{more}")
