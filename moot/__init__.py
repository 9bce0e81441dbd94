"""Moot: a society of bots that argue, decide and trade under strict rules; from Python, these names.

    import moot
    result = moot.debate("Should we adopt a four-day week?")
    week = moot.simulate(days=7, seed=1)
    log = moot.open_log("moot-data")

Nothing is imported before it is needed. What is here, and what the pages on writing a protocol and a mind import, is
public and stays; all else may change with any version.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from moot.api.case import Case, Strategy
    from moot.api.debating import DebateResult, Objection, adebate, debate
    from moot.api.judging import PanelResult, apanel, panel
    from moot.api.log import Log, open_log
    from moot.api.refining import ArenaResult, aarena, arena
    from moot.api.simulating import SimulationResult, asimulate, simulate
    from moot.api.transcript import Transcript
    from moot.bots.minds.mind import Reply, View
    from moot.bots.minds.replying import WrongBody
    from moot.config.settings import ConfigError
    from moot.logs.errors import LogError
    from moot.minds.choosing import UnusableMind
    from moot.minds.mind import Mind
    from moot.protocols.kernel.errors import BadInput, MootError
    from moot.verify.report import Report
    from moot.version import MOOT_VERSION as __version__

__all__ = [
    "ArenaResult",
    "BadInput",
    "Case",
    "ConfigError",
    "DebateResult",
    "Log",
    "LogError",
    "Mind",
    "MootError",
    "Objection",
    "PanelResult",
    "Reply",
    "Report",
    "SimulationResult",
    "Strategy",
    "Transcript",
    "UnusableMind",
    "View",
    "WrongBody",
    "__version__",
    "aarena",
    "adebate",
    "apanel",
    "arena",
    "asimulate",
    "debate",
    "open_log",
    "panel",
    "simulate",
]

_HOMES: Final = {
    "ArenaResult": "moot.api.refining",
    "BadInput": "moot.protocols.kernel.errors",
    "Case": "moot.api.case",
    "ConfigError": "moot.config.settings",
    "DebateResult": "moot.api.debating",
    "Log": "moot.api.log",
    "LogError": "moot.logs.errors",
    "Mind": "moot.minds.mind",
    "MootError": "moot.protocols.kernel.errors",
    "Objection": "moot.api.debating",
    "PanelResult": "moot.api.judging",
    "Reply": "moot.bots.minds.mind",
    "Report": "moot.verify.report",
    "SimulationResult": "moot.api.simulating",
    "Strategy": "moot.api.case",
    "Transcript": "moot.api.transcript",
    "UnusableMind": "moot.minds.choosing",
    "View": "moot.bots.minds.mind",
    "WrongBody": "moot.bots.minds.replying",
    "aarena": "moot.api.refining",
    "adebate": "moot.api.debating",
    "apanel": "moot.api.judging",
    "arena": "moot.api.refining",
    "asimulate": "moot.api.simulating",
    "debate": "moot.api.debating",
    "open_log": "moot.api.log",
    "panel": "moot.api.judging",
    "simulate": "moot.api.simulating",
}
"""Where each name is defined."""


if not TYPE_CHECKING:  # which would take any name for one of ours

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first asked for."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        was_on = gc.isenabled()
        gc.disable()  # what is imported stays: looking through it for garbage takes a tenth of the time
        try:
            found: Any = (
                import_module("moot.version").MOOT_VERSION
                if name == "__version__"
                else getattr(import_module(_HOMES[name]), name)
            )
        finally:
            if was_on:
                gc.enable()
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """Name what is public."""
    return sorted({*globals(), *__all__})
