"""Which protocols a process speaks besides Moot's own: installed ones, and those that somebody names.

Code comes from entry points of the group `moot.protocols` and from modules that the configuration or a command line
names, never from what a log says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.metadata import entry_points
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, ClassVar, Final

from moot.protocols.kernel.errors import LocalProtocolError, MootError
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.rulebook import Rulebook, rulebook, speak, speak_by

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
        if one.name in _brought:
            continue  # what a program brings stands in for what is installed
        if added.setdefault(one.name, one) is not one:
            raise UnusableProtocol(f"protocols: {where}: there is a protocol {one.name} already")
    if added == spoken:
        return
    try:
        speak(tuple(added.values()))
    except LocalProtocolError as exc:
        raise UnusableProtocol(f"protocols: {exc}") from None


class _Use:
    """Number of societies that use protocols given as objects, and the rulebook to restore after the last one."""

    lock: ClassVar[Lock] = Lock()
    count: ClassVar[int] = 0
    before: ClassVar[Rulebook | None] = None


_brought: Final[set[str]] = set()
"""Names of the protocols that a program brings as objects for now."""


@contextmanager
def speaking(protocols: Iterable[Protocol]) -> Iterator[None]:
    """Speak protocols that a program brings as objects, until the context ends; one of the name of another replaces it.

    Several contexts may overlap if the later ones bring nothing that the first did not.

    Raises:
        UnusableProtocol: A protocol contradicts itself or another, or another set of protocols is in use.
    """
    given = tuple(protocols)
    with _Use.lock:
        _begin(given)
        _Use.count += 1
    try:
        yield
    finally:
        with _Use.lock:
            _Use.count -= 1
            if not _Use.count:
                _brought.clear()
                if _Use.before is not None:
                    speak_by(_Use.before)
                    _Use.before = None


def _begin(given: tuple[Protocol, ...]) -> None:
    book = rulebook()
    new = [one for one in given if not any(one is spoken for spoken in book.protocols)]
    if not new:
        return
    if _Use.count:
        raise UnusableProtocol(
            f"protocols: {new[0].name} cannot be added while a society of other protocols is open: close that first"
        )
    names = {one.name for one in given}
    own = [one for one in book.protocols if one.name in book.added and one.name not in names]
    try:
        speak((*own, *given))
    except LocalProtocolError as exc:
        raise UnusableProtocol(f"protocols: {exc}") from None
    _Use.before = book
    _brought.update(names)


def protocol_of(given: object) -> Protocol:
    """Return the protocol that a program names: as an object, as a module that holds one, or as that module's name.

    Raises:
        UnusableProtocol: It is none of these.
    """
    if isinstance(given, Protocol):
        return given
    if isinstance(given, ModuleType):
        return _loaded(f"the module {given.__name__}", lambda: given)
    if isinstance(given, str):
        return _loaded(f"the module {given}", lambda: import_named(given))
    raise UnusableProtocol(
        f"protocols: {given!r:.80} is no Protocol: give its PROTOCOL, or the name of its module"
    )


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
