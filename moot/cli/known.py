"""Errors of other packages that a user can cause and understand, as what the command line tells of them."""

from __future__ import annotations

import sys
from typing import Final

from moot.cli.errors import CheckFailed, CliError, Refused, Unusable

KNOWN: Final[dict[str, type[CliError]]] = {
    "moot.channels.errors.LeaseHeld": Refused,
    "moot.channels.errors.Refused": Refused,
    "moot.channels.errors.CorruptLog": CheckFailed,
    "moot.control.NobodyListens": Refused,
    "moot.up.UpRefused": Refused,
    "moot.channels.errors.ChannelError": Unusable,
    "moot.memory.errors.MemoryStoreError": Unusable,
    "moot.bots.tools.errors.ToolError": Unusable,
    "moot.bots.models.errors.ModelError": Unusable,
    "moot.clock.errors.ClockError": Unusable,
    "moot.protocols.kernel.errors.OfficerFault": CheckFailed,
    "moot.protocols.kernel.errors.Violation": Refused,
    "moot.logs.errors.Damaged": CheckFailed,
    "moot.logs.errors.LogError": Unusable,
    "moot.simulation.scene.SceneError": Unusable,
    "moot.config.settings.ConfigError": Unusable,
    "moot.protocols.kernel.errors.BadInput": Unusable,
}
"""By dotted name, the more special ones first; a class that was never imported cannot have been raised."""

WRONG_PLACES: Final = (
    FileNotFoundError,
    FileExistsError,
    PermissionError,
    NotADirectoryError,
    IsADirectoryError,
)
"""What the system says of a file or a directory that the user named wrongly."""


def told(error: Exception) -> CliError | None:
    """Return what a user is told of an error; None when it is a bug of ours."""
    for dotted, kind in KNOWN.items():
        module_name, _, name = dotted.rpartition(".")
        known = getattr(sys.modules.get(module_name), name, None)
        if isinstance(known, type) and isinstance(error, known):
            return kind(str(error))
    if isinstance(error, WRONG_PLACES):
        return Unusable(f"{error.filename or 'a file'}: {error.strerror or error}")
    if isinstance(error, OSError) and error.strerror:
        return CliError(f"{error.filename or 'the system'}: {error.strerror}")
    return None
