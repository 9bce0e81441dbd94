"""What a session of the Reviewer is resumed with: a chain of references, one link a review (6.3, 9.5)."""

from __future__ import annotations

import hashlib

from moot.protocols.arena.messages import ArenaDraft, Review
from moot.protocols.arena.state import RunState
from moot.protocols.kernel.message import Message, changed


def first_ref(run_id: str, session_id: str) -> str:
    """Return what the first review of a run resumes its session with."""
    return next_ref(f"{run_id}/{session_id}", "opened")


def next_ref(ref: str, review_ref: str) -> str:
    """Return what the session is resumed with after a review: it depends on all that was said in it."""
    return hashlib.sha256(f"{ref}\n{review_ref}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def completed(body: Message, state: RunState) -> Message:
    """Fill in what a person in a seat leaves out: the round, and the session that the review continues.

    A person reads the run in its channel, all of it: that is the session.
    """
    if isinstance(body, ArenaDraft | Review) and not body.round_index:
        body = changed(body, "round_index", state.round_index)
    if isinstance(body, Review) and not body.resume_ref:
        filled = {
            "attempt": body.attempt or state.attempt,
            "session_id": state.session_id,
            "resume_ref": state.resume_ref,
            "unresolved": state.unresolved,
        }
        for name, value in filled.items():
            body = changed(body, name, value)
    return body
