"""Which protocols a command speaks: those that are installed, and those that it names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from moot.cli.errors import Unusable

GROUP: Final = "moot.protocols"


def speak_installed() -> None:
    """Speak what is installed; without any, nothing is imported.

    Raises:
        Unusable: A protocol cannot be spoken.
    """
    if _is_installed():
        speak([])


@cache
def _is_installed() -> bool:
    return bool(entry_points(group=GROUP))


def speak(modules: Sequence[str]) -> None:
    """Speak what is installed and what some modules hold.

    Raises:
        Unusable: A protocol cannot be spoken.
    """
    from moot.config.protocols import UnusableProtocol, install

    try:
        install(modules)
    except UnusableProtocol as exc:
        raise Unusable(str(exc)) from None
