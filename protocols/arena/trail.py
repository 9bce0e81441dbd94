"""What happens in a run, as its moves note it: the docket leaves it be, `record` keeps all of it (11)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from moot.protocols.arena.cleaning import Told
from moot.protocols.arena.contracts import NotebookHookResult
from moot.protocols.arena.relevance import REDACTED, Removed, cleanse, redactions
from moot.protocols.arena.states import State
from moot.protocols.arena.verdict import Parsed

Notes = tuple[Any, ...]
"""What a move notes, in order; a round is noted by its `RoundRecord`."""


class Given(NamedTuple):
    """The effective config, task and notebook."""

    config: Any
    task: Any
    notebook: Any


class Event(NamedTuple):
    """An event of section 11."""

    kind: str
    data: Mapping[str, Any]


class Entered(NamedTuple):
    """The state that the run goes to, and why."""

    state: State
    reason: str


class HookRun(NamedTuple):
    """What a hook found, or why there was none."""

    result: NotebookHookResult
    round_index: int
    attempt: int
    why: str


class ReviewRead(NamedTuple):
    """What the parser found in a review."""

    round_index: int
    attempt: int
    output_ref: str
    found: Parsed


class Artifact(NamedTuple):
    """An output of a seat, as it is kept."""

    ref: str
    text: str


class Output(NamedTuple):
    """The final output."""

    text: str


def event(kind: str, **data: Any) -> Event:
    """Note an event of section 11."""
    return Event(kind, data)


def left_out(where: str, removed: Sequence[Removed]) -> Event:
    """Note what was left out of a text, and why (R-A9)."""
    return event("RELEVANCE_FILTERED", where=where, removed=[one._asdict() for one in removed])


def all_left_out(told: Told) -> Notes:
    """Note what was left out of several texts (R-A9)."""
    return tuple([left_out(where, removed) for where, removed in told.items()])


def kept(name: str, text: str, version: int) -> tuple[Artifact, Notes]:
    """Keep an output as an artifact, without excluded content (R-A9).

    Returns:
        The artifact, whose reference holds the hash of what is kept, and what is to be noted of it.
    """
    clean, removed = cleanse(text, version)
    removed = tuple(sorted((*redactions(text), *removed))) if REDACTED in text else removed
    digest = hashlib.sha256(clean.encode("utf-8", "surrogatepass")).hexdigest()
    artifact = Artifact(f"{name}/sha256:{digest}", clean)
    return artifact, ((left_out(artifact.ref, removed),) if removed else ()) + (artifact,)
