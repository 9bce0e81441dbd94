"""The shell around the mind of an Arena seat: hooks, sessions, and the boundary of its tools (3.2, 8, 9.5, R-A7)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.notebook.access import Access, Toolbox
from moot.bots.notebook.client import Notebook
from moot.bots.seats.hooks import run_hook
from moot.bots.seats.sessions import ReviewerSession, SessionMissing, SessionStore
from moot.bots.seats.toolset import toolbox_of
from moot.bots.seats.writer import Work, Writer
from moot.protocols.arena.messages import ArenaDraft, FinalOutput, Review, RunFault
from moot.protocols.arena.relevance import cleanse
from moot.protocols.arena.seats import REVIEWER
from moot.protocols.arena.session import first_ref, next_ref
from moot.protocols.kernel.figures import NEWEST
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat

NotebookOf = Callable[[View], Notebook | None]
"""Gives the notebook that the run of an obligation names (4.3); None when none is configured."""


class ArenaMind(Mind):
    """Fills Planner, Reviewer or Finalizer: a writer gives the words, this gives the rest.

    The writer reaches nothing but its toolbox. When a call was blocked there, whatever the writer said is thrown
    away and the run is told (R-A7); a writer that fails after a blocked call changes nothing about that.
    """

    def __init__(self, writer: Writer, notebook_of: NotebookOf, sessions: SessionStore) -> None:
        """Take writer, notebook and the store of the Reviewer's sessions."""
        self._writer = writer
        self._notebook_of = notebook_of
        self._sessions = sessions

    def begins_at_once(self, view: View) -> bool:
        return self._writer.begins_at_once(view)

    def consider(self, view: View) -> timedelta | None:
        """Say when the writer will be done."""
        return self._writer.delay(view)

    async def answer(self, view: View) -> Reply | None:
        """Run the hook that is owed, or let the writer write; of other runs it is shown nothing."""
        run_id = view.obligation.case_id
        view = view._replace(transcript=tuple([env for env in view.transcript if env.case_id == run_id]))
        listed = view.brief["tools"] if view.brief["notebook_id"] else None
        toolbox = toolbox_of(view.seat, self._notebook_of(view), listed)
        expected = view.obligation.expects[0]
        if expected == "HOOK_RESULT":
            return Reply(await run_hook(self._writer, Work(view, toolbox)))
        session = None
        if expected == "REVIEW":
            try:
                session = self._resume(view)
            except SessionMissing as missing:
                return Reply(RunFault(fault="SESSION_RESUME_MISSING", detail=str(missing)))
        try:
            text = await self._writer.write(Work(view, toolbox, session))
        except Exception:
            if (blocked := _violation(view.seat, toolbox)) is not None:
                return Reply(blocked)
            raise
        if (blocked := _violation(view.seat, toolbox)) is not None:
            return Reply(blocked)
        if text is None:
            return None
        body = _body(expected, view, text, session)
        if isinstance(body, Review) and session is not None:
            self._sessions.open(*_continued(body.resume_ref, session, body, view.rules_version))
        return Reply(body)

    def _resume(self, view: View) -> ReviewerSession:
        """Resume the Reviewer's session: what the store keeps under the reference that the Orchestrator names.

        A run's first review opens its session; a process that was started anew rebuilds it from the log.

        Raises:
            SessionMissing: The reference leads nowhere: nothing is reviewed then (9.5).
        """
        wanted = view.brief["resume_ref"]
        try:
            session = self._sessions.resume(wanted)
        except SessionMissing:
            self._rebuild(view, wanted)
            session = self._sessions.resume(wanted)
        unresolved = tuple((issue.id, issue.text) for issue in view.brief["unresolved"])
        return replace(session, unresolved=unresolved)

    def _rebuild(self, view: View, wanted: str) -> None:
        """Follow the reviews of this run from its first reference on, and keep the session that is wanted.

        A review that was refused leads to a reference that nobody asks for.
        """
        run_id, session_id = view.obligation.case_id, view.brief["session_id"]
        found = {first_ref(run_id, session_id): ReviewerSession(session_id)}
        for env in view.transcript:
            body = env.body
            if isinstance(body, Review) and body.run_id == run_id and body.resume_ref in found:
                # A run may have begun under rules of which the filter takes out less.
                for version in (0, NEWEST):
                    ref, session = _continued(body.resume_ref, found[body.resume_ref], body, version)
                    found[ref] = session
        if wanted in found:
            self._sessions.open(wanted, found[wanted])


def _continued(ref: str, session: ReviewerSession, body: Review, version: int) -> tuple[str, ReviewerSession]:
    """Return the session after a review, and what resumes it."""
    said = replace(session, reviews=(*session.reviews, body.text), unresolved=())
    return next_ref(ref, review_ref(body, version)), said


def review_ref(body: Review, version: int = NEWEST) -> str:
    """Return the reference under which a review is kept as an artifact, as the Orchestrator derives it."""
    digest = hashlib.sha256(cleanse(body.text, version).text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"round-{body.round_index}/review-{body.attempt}/sha256:{digest}"


def _body(expected: str, view: View, text: str, session: ReviewerSession | None) -> Message:
    n = view.brief["round_index"]
    if expected == "DRAFT":
        return ArenaDraft(round_index=n, text=text)
    if session is None:
        return FinalOutput(text=text)
    return Review(
        round_index=n,
        attempt=view.brief["attempt"],
        text=text,
        session_id=session.session_id,
        resume_ref=view.brief["resume_ref"],
        unresolved=tuple(issue_id for issue_id, _ in session.unresolved),
    )


def _violation(seat: Seat, toolbox: Toolbox) -> RunFault | None:
    """Tell of the first write that was blocked; of the Reviewer, any call of what is no read-only tool (R-A7)."""
    for one in toolbox.blocked:
        if one.access is Access.WRITE or seat == REVIEWER:
            return RunFault(fault="SAFETY_VIOLATION", tool=one.tool, detail=one.why)
    return None
