"""Handlers of the fold for runs of the Arena that refine an approved change (spec arena-protocol-v2, spec 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from moot.memory.records import RunNote
from moot.memory.shelves import ARCHITECTURE, RUNS, Context, Put
from moot.protocols.arena.messages import ArenaTask, FinalOutput, RunTerminated
from moot.protocols.arena.relevance import cleanse
from moot.protocols.kernel.envelope import Envelope

MOST_NOTES: Final = 20_000
"""Characters that are kept of a run's output; the log holds all of it."""


def opened(env: Envelope, context: Context) -> Iterator[Put]:
    """Note which change a run refines; one that belongs to no weekly cycle refines none."""
    body = env.body
    if not isinstance(body, ArenaTask) or not body.parent_id:
        return
    change_id = body.task.get("task_id")
    if isinstance(change_id, str):
        yield Put(RUNS, RunNote(key=body.run_id, seq=env.seq, at=env.sent_at, change_id=change_id))


def final(env: Envelope, context: Context) -> Iterator[Put]:
    """Note the output of a run, without excluded content (R-A9), until the run has ended."""
    body = env.body
    if not isinstance(body, FinalOutput) or (note := context.latest(RUNS, body.run_id)) is None:
        return
    text = cleanse(body.text).text[:MOST_NOTES]
    yield Put(RUNS, replace(note, seq=env.seq, at=env.sent_at, text=text))


def ended(env: Envelope, context: Context) -> Iterator[Put]:
    """Take the output of an approved run for the notes of its change."""
    body = env.body
    if not isinstance(body, RunTerminated) or body.state != "TERMINATED_APPROVED":
        return
    note = context.latest(RUNS, body.run_id)
    change = context.latest(ARCHITECTURE, note.change_id) if note is not None else None
    if note is None or change is None or change.status != "approved" or not note.text:
        return
    refined = replace(change, seq=env.seq, at=env.sent_at, implementation_notes=note.text, run_id=body.run_id)
    yield Put(ARCHITECTURE, refined)
