"""Tokens of platforms: from the environment or from a file that only its owner can read, and from nowhere else.

No text made here holds any part of a token, so none can reach a log, a message or a traceback.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

from moot.channels.surface import SurfaceConfigError

MOST_BYTES: Final = 4_096
"""No token is longer; a file that is has something else in it."""

_TOKEN: Final = re.compile(r"[!-~]+")


def read_secret(
    file: str | None, variable: str, what: str, example: str, *, option: str = "", prefix: str = ""
) -> str:
    """Return a token; the variable goes before the file.

    Args:
        file: Value of the option that names the file, None when it is not given.
        variable: Name of the variable, `MOOT_<PLATFORM>_<NAME>`; "" for none.
        what: What it is, in words: "the bot's token".
        example: What it looks like, made up.
        option: The option that names the file; by default `<name>_file`, after the variable.
        prefix: How each of its kind begins; "" where nothing can be said.

    Raises:
        SurfaceConfigError: None is given, its file is missing or not private, or it is no token; says what to do.
    """
    option = option or option_of(variable)
    found = os.environ.get(variable, "") if variable else ""
    if found:
        return _checked(found, f"in {variable}", what, example, prefix)
    if not file:
        raise SurfaceConfigError(f"{what} is missing: set {variable}, or name a file in {option}")
    return _checked(
        _read(Path(file).expanduser(), option), f"in the file {file} ({option})", what, example, prefix
    )


def option_of(variable: str) -> str:
    """Return the option that names the file of a variable: `MOOT_SLACK_BOT_TOKEN` gives `bot_token_file`."""
    return variable.split("_", 2)[-1].lower() + "_file"


def _read(path: Path, option: str) -> str:
    try:
        # One descriptor, so that what is judged is what is read; not blocking, so that a pipe is told.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise SurfaceConfigError(f"the file {path} ({option}) is no ordinary file")
            if mode & 0o077:
                raise SurfaceConfigError(
                    f"the file {path} ({option}) is not private, others can read it; run: chmod 600 {path}"
                )
            return file.read(MOST_BYTES + 1).decode("ascii", "replace").strip()
    except OSError as exc:
        raise SurfaceConfigError(
            f"the file {path} ({option}) cannot be read ({exc.strerror or type(exc).__name__})"
        ) from None


def _checked(found: str, where: str, what: str, example: str, prefix: str) -> str:
    token = found.strip()
    if not token:
        raise SurfaceConfigError(f"{where} {what} cannot be right, it is blank; it looks like {example}")
    if len(token) > MOST_BYTES or not _TOKEN.fullmatch(token):
        raise SurfaceConfigError(
            f"{where} {what} holds white space or more than one token; it looks like {example}"
        )
    if not token.startswith(prefix):
        raise SurfaceConfigError(
            f"{where} {what} cannot be right, one begins with {prefix}; it looks like {example}"
        )
    return token
