"""Which protocols a process speaks besides Moot's own: installed ones, and those that somebody names.

Code comes from entry points of the group `moot.protocols` and from modules that the configuration or a command line
names, never from what a log says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from moot.protocols.kernel.errors import LocalProtocolError, MootError
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.rulebook import rulebook, speak

GROUP: Final = "moot.protocols"
"""The group of entry points: each names a `Protocol`, or a module that holds one as PROTOCOL."""


class UnusableProtocol(MootError):
    """Say in one line which protocol cannot be spoken, and why."""


def install(modules: Iterable[str] = ()) -> None:
    """Speak what is installed, what these modules hold, and what was spoken before.

    Args:
        modules: Names of modules, each with a `Protocol` named PROTOCOL.

    Raises:
        UnusableProtocol: One cannot be imported, is no protocol, or contradicts itself or another.
    """
    found = [(f"the entry point {point.name} = {point.value}", point.load) for point in _points()]
    found += [(f"the module {name}", lambda name=name: import_named(name)) for name in modules]
    spoken = {one.name: one for one in rulebook().protocols if one.name in rulebook().added}
    added = dict(spoken)
    for where, load in found:
        one = _loaded(where, load)
        if added.setdefault(one.name, one) is not one:
            raise UnusableProtocol(f"protocols: {where}: there is a protocol {one.name} already")
    if added == spoken:
        return
    try:
        speak(tuple(added.values()))
    except LocalProtocolError as exc:
        raise UnusableProtocol(f"protocols: {exc}") from None


def import_named(name: str) -> ModuleType:
    """Import a module that somebody names: from where Python looks, then from the working directory."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        # A program's path begins with its own folder; whoever tries a module of theirs has it where they stand.
        sys.path.append(here)
        invalidate_caches()
    return import_module(name)


@cache
def _points() -> tuple[Any, ...]:
    # What is installed is looked up once a process: the search goes through every package there is.
    return tuple(sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)))


def _loaded(where: str, load: Any) -> Protocol:
    try:
        held = load()
    except LocalProtocolError as exc:
        raise UnusableProtocol(f"protocols: {where}: {exc}") from None
    except Exception as exc:
        raise UnusableProtocol(
            f"protocols: {where} cannot be imported: {type(exc).__name__}: {' '.join(str(exc).split())}"
        ) from None
    one = held if isinstance(held, Protocol) else getattr(held, "PROTOCOL", None)
    if not isinstance(one, Protocol):
        raise UnusableProtocol(f"protocols: {where} holds no PROTOCOL")
    return one
