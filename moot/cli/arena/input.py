"""What `moot arena` reads: JSON files, and from a task, a config and options what a run is given.

A file that cannot be read is usage. What it says is not judged here: a config or a task that breaks the rules makes
a run that ends with an error and its record (Arena 6.2, 6.3).
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from moot.cli.errors import Unusable

if TYPE_CHECKING:
    from moot.cases.arena.script import ArenaScript
    from moot.cases.arena.source import NotebookSource

TOOLS: Final = ("notebook_describe", "notebook_query", "studio_create")
"""The tools of a notebook that the task file does not name (4.3); `studio_create` need not be there (8.3)."""

FIELDS: Final = frozenset(
    {"task_id", "initial_prompt", "session_id", "round_history_refs", "notebook_required"}
)
"""What a task consists of (4.2)."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a run is given, as it was written.

    Attributes:
        config: A `ProtocolConfig`, or what was given instead.
        task: A `TaskContext`, or what was given instead.
        notebook: A `NotebookContext`, None for none, or what was given instead.
    """

    config: Any
    task: Any
    notebook: Any | None


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
        if not folder.is_dir():
            raise Unusable(
                f"--notebook {folder}: " + ("no directory" if folder.exists() else "there is none")
            )
        return NotebookSource("folder", str(folder))
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
    """Read what a run is given, and fill in what nobody said about its notebook.

    Args:
        task: A file with a `TaskContext`, or with `{task, notebook}`.
        config: A file with a `ProtocolConfig`.
        max_rounds: Replaces the config's.
        script: What the seats say; it may script a notebook.
        source: The notebook that the options name.
        is_off: Whether the notebook is switched off, whatever the config says.

    Raises:
        Unusable: A file cannot be read, is not JSON, or holds no object.
    """
    what, notebook = split(read_json(str(task)))
    chosen = {} if config is None else read_json(str(config))
    for file, value in ((task, what), (config, chosen)):
        if not isinstance(value, dict):
            raise Unusable(f"{file}: needs a JSON object")
    chosen = dict(chosen)
    is_scripted = script is not None and script.notebook is not None
    if is_off:
        chosen["notebook_enabled"] = False
    chosen.setdefault("notebook_enabled", source is not None or notebook is not None or is_scripted)
    if max_rounds is not None:
        chosen["max_rounds"] = max_rounds
    if notebook is None and chosen["notebook_enabled"] is not False:
        notebook = context_of(source, script)
    return Given(chosen, what, notebook)


def split(value: Any) -> tuple[Any, Any | None]:
    """Return the task and the notebook of a task file.

    What stands beside `task` and `notebook` becomes part of the task, so that the run refuses it by name.
    """
    if not isinstance(value, dict) or "task" not in value:
        return value, None
    task, notebook = value["task"], value.get("notebook")
    rest = {key: part for key, part in value.items() if key not in ("task", "notebook")}
    if rest and isinstance(task, dict):
        # A field that stands in the wrong place does not count as the task's.
        task = {
            **task,
            **{f"{key} beside task" if key in FIELDS else key: part for key, part in rest.items()},
        }
    return task, notebook


def context_of(source: NotebookSource | None, script: ArenaScript | None) -> dict[str, Any] | None:
    """Make the `NotebookContext` of a notebook that the task file does not name; None when there is none."""
    if source is not None:
        name = Path(source.value).resolve().name if source.kind == "folder" else "mcp"
    elif script is not None:
        name = "scripted"
    else:
        return None
    return {"notebook_id": name or "notebook", "profile": "auto", "tools": list(TOOLS)}
