"""Moot: a society of bots that argue, decide and trade under strict rules; from Python, these names.

    import moot
    week = moot.simulate(days=7, seed=1)
    log = moot.open_log("moot-data")

Nothing is imported before it is needed. What is here, and what the pages on writing a protocol and a mind import, is
public and stays; all else may change with any version.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from moot.api.case import Case, Strategy
    from moot.api.log import Log, open_log
    from moot.api.simulating import SimulationResult, asimulate, simulate
    from moot.config.settings import ConfigError
    from moot.logs.errors import LogError
    from moot.protocols.kernel.errors import BadInput, MootError
    from moot.verify.report import Report
    from moot.version import MOOT_VERSION as __version__

__all__ = [
    "BadInput",
    "Case",
    "ConfigError",
    "Log",
    "LogError",
    "MootError",
    "Report",
    "SimulationResult",
    "Strategy",
    "__version__",
    "asimulate",
    "open_log",
    "simulate",
]

_HOMES: Final = {
    "BadInput": "moot.protocols.kernel.errors",
    "Case": "moot.api.case",
    "ConfigError": "moot.config.settings",
    "Log": "moot.api.log",
    "LogError": "moot.logs.errors",
    "MootError": "moot.protocols.kernel.errors",
    "Report": "moot.verify.report",
    "SimulationResult": "moot.api.simulating",
    "Strategy": "moot.api.case",
    "asimulate": "moot.api.simulating",
    "open_log": "moot.api.log",
    "simulate": "moot.api.simulating",
}
"""Where each name is defined."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name == "__version__":
        found: Any = import_module("moot.version").MOOT_VERSION
    elif name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Name what is public."""
    return sorted({*globals(), *__all__})
