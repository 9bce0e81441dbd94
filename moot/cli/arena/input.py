"""What `moot arena` reads: JSON files, and options that name a notebook; a file that cannot be read is usage."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from moot.cases.arena.given import Given, folder_of_notes
from moot.cases.arena.given import given as taken
from moot.cli.errors import Unusable

if TYPE_CHECKING:
    from moot.cases.arena.script import ArenaScript
    from moot.cases.arena.source import NotebookSource


def read_bytes(named: str) -> bytes:
    """Read a file as it is, or standard input for `-`.

    Raises:
        Unusable: It cannot be read.
    """
    if named == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(named).read_bytes()
    except OSError as error:
        raise Unusable(f"{named}: {error.strerror or error}") from None
    except ValueError as error:
        raise Unusable(f"{named!r}: {error}") from None


def read_json(named: str) -> Any:
    """Read a file that holds one JSON value; `-` is standard input.

    Raises:
        Unusable: It cannot be read or holds something else.
    """
    try:
        return json.loads(read_bytes(named), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise Unusable(f"{named}: is not JSON: {why[:200]}") from None


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def source_of(
    folder: Path | None, command: str | None, url: str | None, *, is_off: bool
) -> NotebookSource | None:
    """Return the notebook that the options name; None for none.

    Raises:
        Unusable: They name two, or one that cannot be.
    """
    from moot.cases.arena.source import NotebookSource

    options = {"--notebook": folder, "--mcp": command, "--mcp-url": url, "--no-notebook": is_off or None}
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise Unusable(f"{' and '.join(given)}: choose one of them")
    if folder is not None:
        return folder_of_notes(folder)
    if command is not None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise Unusable(f"--mcp: {str(error).lower()} in the command") from None
        if not words:
            raise Unusable("--mcp is empty: name the command that starts an MCP server")
        return NotebookSource("command", command)
    if url is not None:
        if not _is_address(url):
            raise Unusable(f"--mcp-url {url}: write an address such as http://127.0.0.1:8000/mcp")
        return NotebookSource("url", url)
    return None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def given(
    task: Path,
    config: Path | None = None,
    *,
    max_rounds: int | None = None,
    script: ArenaScript | None = None,
    source: NotebookSource | None = None,
    is_off: bool = False,
) -> Given:
    """Read task and config from files, and take them as `moot.cases.arena.given` does.

    Raises:
        Unusable: A file cannot be read or is not JSON.
        BadInput: It holds no object.
    """
    return taken(
        read_json(str(task)),
        {} if config is None else read_json(str(config)),
        names=(str(task), str(config)),
        max_rounds=max_rounds,
        script=script,
        source=source,
        is_off=is_off,
    )
