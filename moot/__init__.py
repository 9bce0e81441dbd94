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
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from moot.api.acting import ExpectTimeout
    from moot.api.case import Case, Strategy
    from moot.api.debating import DebateResult, Objection, adebate, debate
    from moot.api.judging import PanelResult, apanel, panel
    from moot.api.log import Log, open_log
    from moot.api.refining import ArenaResult, aarena, arena
    from moot.api.scenes import SceneResult, ascene, scene
    from moot.api.simulating import SimulationResult, asimulate, simulate
    from moot.api.society import BlockingSociety, Society, society
    from moot.api.transcript import Transcript
    from moot.bots.minds.mind import Reply, View
    from moot.bots.minds.replying import WrongBody
    from moot.channels.errors import Refused
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
    "BlockingSociety",
    "Case",
    "ConfigError",
    "DebateResult",
    "ExpectTimeout",
    "Log",
    "LogError",
    "Mind",
    "MootError",
    "Objection",
    "PanelResult",
    "Refused",
    "Reply",
    "Report",
    "SceneResult",
    "SimulationResult",
    "Society",
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
    "ascene",
    "asimulate",
    "debate",
    "open_log",
    "panel",
    "scene",
    "simulate",
    "society",
]

_HOMES: Final = {
    "ArenaResult": "moot.api.refining",
    "BadInput": "moot.protocols.kernel.errors",
    "BlockingSociety": "moot.api.society",
    "Case": "moot.api.case",
    "ConfigError": "moot.config.settings",
    "DebateResult": "moot.api.debating",
    "ExpectTimeout": "moot.api.acting",
    "Log": "moot.api.log",
    "LogError": "moot.logs.errors",
    "Mind": "moot.minds.mind",
    "MootError": "moot.protocols.kernel.errors",
    "Objection": "moot.api.debating",
    "PanelResult": "moot.api.judging",
    "Refused": "moot.channels.errors",
    "Reply": "moot.bots.minds.mind",
    "Report": "moot.verify.report",
    "SceneResult": "moot.api.scenes",
    "SimulationResult": "moot.api.simulating",
    "Society": "moot.api.society",
    "Strategy": "moot.api.case",
    "Transcript": "moot.api.transcript",
    "UnusableMind": "moot.minds.choosing",
    "View": "moot.bots.minds.mind",
    "WrongBody": "moot.bots.minds.replying",
    "aarena": "moot.api.refining",
    "adebate": "moot.api.debating",
    "apanel": "moot.api.judging",
    "arena": "moot.api.refining",
    "ascene": "moot.api.scenes",
    "asimulate": "moot.api.simulating",
    "debate": "moot.api.debating",
    "open_log": "moot.api.log",
    "panel": "moot.api.judging",
    "scene": "moot.api.scenes",
    "simulate": "moot.api.simulating",
    "society": "moot.api.society",
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


class _Package(ModuleType):
    """The package: a submodule of the name of a public function never hides that function."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in __all__ and isinstance(value, ModuleType):
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    """Name what is public."""
    return sorted({*globals(), *__all__})
