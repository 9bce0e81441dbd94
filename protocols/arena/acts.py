"""What people may do in the Arena: have a task refined."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.arena.contracts import MAX_ROUNDS
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.kernel.acts import Act, Blank, Doer, Words
from moot.protocols.kernel.errors import Malformed

TITLE_WORDS: Final = 6
TITLE_LENGTH: Final = 60
"""How much of its prompt names a task to which nobody gave a name."""

RUN_KEYS: Final = frozenset({"task", "config", "notebook"})
"""What a whole run is given, as `moot arena run` takes it; anything else in JSON is the task itself."""


def _read(words: Words) -> Mapping[str, Any]:
    found = _read_task(words["prompt_or_task"])
    rounds = words.get("rounds", "")
    if not rounds:
        return found
    if not rounds.isdecimal() or not rounds.isascii() or not 1 <= int(rounds) <= MAX_ROUNDS:
        raise ValueError(f"rounds must be a whole number from 1 to {MAX_ROUNDS}, not {rounds[:40]!r}")
    config = found.get("config", {"notebook_enabled": "notebook" in found})
    if not isinstance(config, Mapping):
        raise ValueError("config must be a JSON object")
    return {**found, "config": {**config, "max_rounds": int(rounds)}}


def _read_task(said: str) -> Mapping[str, Any]:
    if not said.startswith("{"):
        return {"task": {"initial_prompt": said}}
    try:
        given = json.loads(said)
    except (ValueError, RecursionError) as exc:
        raise ValueError(f"the task is no JSON object: {str(exc)[:80]}") from exc
    if not isinstance(given.get("task"), dict):
        return {"task": given}
    if unknown := sorted(set(given) - RUN_KEYS):
        raise ValueError(f"beside a task stand config and notebook, not {unknown[0][:40]!r}")
    return dict(given)


def _named(fields: Mapping[str, Any], doer: Doer) -> Mapping[str, Any]:
    """Name what a person left out: the task after its first words, the session after the act.

    No notebook is consulted unless one is named.
    """
    task = fields.get("task")
    if not isinstance(task, Mapping):
        raise Malformed("4.2", "a task is a JSON object", field="task")
    title = _title(str(task.get("initial_prompt", "")))
    given: dict[str, Any] = {"task_id": title or doer.key, "session_id": doer.key}
    return {"config": {"notebook_enabled": "notebook" in fields}, **fields, "task": {**given, **task}}


def _title(prompt: str) -> str:
    """Return the first words of a prompt, as a name that people recognise: `plan-the-widget`."""
    words = re.findall(r"\w+", prompt.lower())
    title = ""
    for word in words[:TITLE_WORDS]:
        if len(title) + len(word) >= TITLE_LENGTH:
            break
        title += f"-{word}" if title else word
    return title


ACTS: Final = (
    Act(
        name="arena",
        does="have a task refined in #r-arena",
        message=ArenaTask,
        asks=(
            Blank("prompt_or_task", "what is to be worked out, in words or as a task in JSON"),
            Blank("rounds", f"number of rounds, 1 to {MAX_ROUNDS}", sign="--rounds", is_option=True),
        ),
        read=_read,
        complete=_named,
    ),
)
