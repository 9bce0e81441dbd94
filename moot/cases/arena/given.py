"""From a task, a config and a notebook as somebody gave them to what a run is given.

What they say is not judged here: a config or a task that breaks the rules makes a run that ends with an error and its
record (Arena 6.2, 6.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.errors import BadInput

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


def given(
    task: Any,
    config: Any,
    *,
    names: tuple[str, str] = ("task", "config"),
    max_rounds: int | None = None,
    script: ArenaScript | None = None,
    source: NotebookSource | None = None,
    is_off: bool = False,
) -> Given:
    """Take what a run is given, and fill in what nobody said about its notebook.

    Args:
        task: A `TaskContext`, or `{task, notebook}`.
        config: A `ProtocolConfig`; what is left out is the spec's.
        names: What task and config are called where they cannot be used.
        max_rounds: Replaces the config's.
        script: What the seats say; it may script a notebook.
        source: The notebook that was named besides.
        is_off: Whether the notebook is switched off, whatever the config says.

    Raises:
        BadInput: One of them is no object.
    """
    what, notebook = split(task)
    for name, value in zip(names, (what, config), strict=True):
        if not isinstance(value, dict):
            raise BadInput(f"{name}: needs a JSON object")
    chosen = dict(config)
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


def folder_of_notes(named: Path) -> NotebookSource:
    """Return the notebook that a folder is.

    Raises:
        BadInput: There is no such folder.
    """
    from moot.cases.arena.source import NotebookSource

    if not named.is_dir():
        raise BadInput(f"notebook {named}: " + ("no directory" if named.exists() else "there is none"))
    return NotebookSource("folder", str(named))
