"""Protocols of a command: installed, configured or named ones, and those of a log that are missing."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from moot.cli.errors import CliError, Unusable

GROUP: Final = "moot.protocols"
CONFIG_VARIABLE: Final = "MOOT_CONFIG"
MODULES_VARIABLE: Final = "MOOT_PROTOCOLS__MODULES"

LOADS_ITSELF: Final = frozenset({"config", "doctor"})
"""Commands that report a broken configuration themselves."""

TELLS_ITSELF: Final = frozenset({"verify", "up"})
"""Commands that report the missing protocols of a log themselves."""

_UNKNOWN: Final = re.compile(
    r"never opened|there is no (?:case|message type|channel|seat|act|such|open)|no seat|no act|nothing here is called"
    r"|nobody (?:can|owes)|owes nothing|\bunknown\b|did you mean|is no(?:ne)? of|must be one of|no field",
    re.IGNORECASE,
)
"""Errors about names that a missing protocol would define."""

_logs: Final[list[Path]] = []
"""Logs that the command line names."""


def speak_installed(command: str = "") -> None:
    """Speak what is installed, and what the configuration of MOOT_CONFIG or a variable names.

    Without any of that nothing is imported.

    Args:
        command: The command's word.

    Raises:
        Unusable: A protocol cannot be spoken, or the configuration cannot be read.
    """
    _logs.clear()
    modules = () if command in LOADS_ITSELF else configured_modules()
    if _is_installed() or modules:
        speak(modules)


def configured_modules() -> Sequence[str]:
    """Return the modules that the environment or the file of MOOT_CONFIG names.

    Raises:
        Unusable: The file cannot be read, or names no modules.
    """
    if (given := os.environ.get(MODULES_VARIABLE)) is not None:
        try:
            found = json.loads(given)
        except ValueError:
            found = None
        where = MODULES_VARIABLE
    elif named := os.environ.get(CONFIG_VARIABLE):
        where = named
        try:
            section = tomllib.loads(Path(named).read_text(encoding="utf-8")).get("protocols", {})
        except tomllib.TOMLDecodeError as exc:
            raise Unusable(f"{CONFIG_VARIABLE} {named}: is not TOML: {exc}") from None
        except UnicodeError:
            raise Unusable(f"{CONFIG_VARIABLE} {named}: is not text in UTF-8: save it as such") from None
        except OSError as exc:
            raise Unusable(
                f"{CONFIG_VARIABLE} {named}: cannot be read: {(exc.strerror or str(exc)).lower()}"
            ) from None
        found = section.get("modules", []) if isinstance(section, dict) else None
    else:
        return ()
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise Unusable(f'{where}: protocols.modules must be a list of module names, such as ["weather"]')
    return found


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


def note_log(named: Path) -> None:
    """Remember a log that the command line names, to say which of its protocols are not spoken."""
    if named not in _logs:
        _logs.append(named)


def lacking() -> str:
    """Return one line on the protocols that the named logs speak and this process does not; "" for none."""
    for named in _logs:
        missing = sorted(_protocols_of(named) - _spoken())
        if missing:
            what = "the protocol" if len(missing) == 1 else "the protocols"
            are = "is" if len(missing) == 1 else "are"
            return (
                f"{named} speaks {what} {', '.join(missing)}, which {are} not installed here:"
                " install the package with pip, or name its module in [protocols] modules of the file in"
                f" {CONFIG_VARIABLE}"
            )
    return ""


def explained(error: CliError) -> CliError:
    """Return an error with the protocols that a log lacks: instead of what is said of words that these explain."""
    if not (line := lacking()):
        return error
    text = str(error)
    return type(error)(line if _UNKNOWN.search(text) else f"{text}; {line}")


def _spoken() -> frozenset[str]:
    if (loaded := sys.modules.get("moot.protocols.rulebook")) is None:
        return frozenset()
    return frozenset(loaded.rulebook().added)


def _protocols_of(named: Path) -> frozenset[str]:
    """Return the protocols that the first and the last start in a log name; none where it cannot be read."""
    from moot.cli.reading import Log, key

    try:
        log = Log(named)
        lines = [*log.lines(1, 1)]
        if log.directory is not None and (last := log.newest(key("type", "SOCIETY_STARTED"))) is not None:
            lines.append(last)
        starts = [json.loads(line)["body"] for line in lines]
        found = [one["config"].get("protocols", ()) for one in starts if one.get("type") == "SOCIETY_STARTED"]
        return frozenset(name for names in found for name in names if isinstance(name, str))
    except Exception:  # whatever is wrong with the log is said by the command
        return frozenset()
