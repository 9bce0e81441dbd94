"""The scripts of `moot arena run`: what each seat says, and how the notebook behaves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from moot import bounded_yaml
from moot.protocols.arena.contracts import complaint
from moot.protocols.arena.messages import MAX_OUTPUT
from moot.protocols.kernel.errors import MootError

MAX_BYTES: Final = 100_000_000
"""A longer script is refused."""

Behaviour = Literal["ok", "timeout", "fail", "contradict"]
Said = Annotated[tuple[Annotated[str, Field(max_length=MAX_OUTPUT)], ...], Field(max_length=1000)]


class ScriptError(MootError):
    """A script cannot be used; its text is one line that says where and why."""


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NotebookScript(_Closed):
    """How the scripted notebook behaves in each phase (matrix T07, T08)."""

    before: Behaviour = "ok"
    during: Behaviour = "ok"
    after: Behaviour = "ok"


class ArenaScript(_Closed):
    """What a run's seats say.

    Attributes:
        planner: Drafts in their order; when there are fewer than rounds, the last repeats. None: a simulated mind.
        reviewer: Raw reviews, one for each invocation, the retry included.
        finalizer: Final outputs.
        notebook: How the notebook behaves; None: `ok`, and the notebook is not enabled for its sake.
        reviewer_writes: Whether the Reviewer tries to write in its first review (T11).
        resume_token: Whether its session can be resumed (T09).
    """

    planner: Said = ()
    reviewer: Said = ()
    finalizer: Said = ()
    notebook: NotebookScript | None = None
    reviewer_writes: bool = False
    resume_token: Literal["valid", "missing"] = "valid"


def read_script(path: Path) -> ArenaScript:
    """Read a script.

    Raises:
        ScriptError: It cannot be read, is no YAML, or says what no script may say.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ScriptError(f"{path}: longer than {MAX_BYTES:,} bytes")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ScriptError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path}: is not UTF-8 at byte {error.start}") from None
    try:
        value = bounded_yaml.load(text)
    except bounded_yaml.UnboundedYaml as error:
        raise ScriptError(f"{path}: is no script: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ScriptError(f"{path}: is no YAML: {' '.join(str(error).split())[:300]}") from None
    return script_from(value, str(path))


def script_from(value: Any, name: str = "script") -> ArenaScript:
    """Make a script of plain data.

    Raises:
        ScriptError: It says what no script may say.
    """
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise ScriptError(f"{name}: needs keys such as planner, reviewer, finalizer, notebook")
    plain = {key: tuple(part) if isinstance(part, list) else part for key, part in value.items()}
    try:
        return ArenaScript.model_validate(plain)
    except ValidationError as error:
        raise ScriptError(f"{name}: {complaint(error)}") from None
