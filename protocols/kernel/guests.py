"""What guests' drafts must fit before they are sequenced, and which case a message belongs to (K1, K9, K14, K21).

The log never holds an envelope that contradicts itself or what stood before it: `moot verify` would find it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Malformed, Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import PEOPLE

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket

CASELESS: Final = frozenset({"SEAT_TAKEN", "SEAT_RELEASED", "STOP"})
"""What people say of the society and never of a case."""

NOTE: Final = "NOTE"


def misplaced(body: Message, case_id: str | None) -> str | None:
    """Say why a body does not belong to the case that its envelope names, as far as both tell (K9)."""
    kind = body.type
    if type(body) is Override:
        if body.case_id != case_id:
            return f"it is {case_id or 'none'}, the body names {body.case_id}"
    elif case_id is not None and (
        kind in CASELESS or (kind == NOTE and body.about_case_id != case_id)  # type: ignore[attr-defined]
    ):
        return f"a {kind} does not belong to {case_id}"
    return None


def check_guest(draft: Draft, docket: Docket) -> None:
    """Check what a guest's draft says of itself against what stands in the log.

    Raises:
        Violation: K14, its tenure is none that lasts; K21, it claims a chain; K1, it answers what nobody owed, or an
            attempt that never was; K9, its case never was;
            R-D12, it chooses an id that the sequencer counts.
    """
    _check_counted(draft, docket)
    author, tenures = draft.author, docket.context.tenures
    tenure = 0 if author in PEOPLE else tenures.get(author, 0)
    if draft.tenure != tenure:
        why = (
            "people speak without one"
            if author in PEOPLE
            else f"the seat {author} was handed over at seq {tenure}"
        )
        raise Violation("K14", f"is {draft.tenure}: {why}", field="tenure")
    if draft.hops:
        raise Violation("K21", f"is {draft.hops}: what people say begins a chain", field="hops")
    if draft.obligation_id is None:
        _check_unasked(draft, docket)
    else:
        _check_answer(draft, draft.obligation_id, docket)


def _check_counted(draft: Draft, docket: Docket) -> None:
    """Check that a body leaves to the sequencer what it counts (K20)."""
    minted = docket.rules.minted.get(draft.body.type)
    if minted is not None and any(minted.ids(draft.body)):
        field = ".".join(minted.path)
        raise Malformed("R-D12", "is counted: leave it empty, the sequencer fills it in", field=field)


def _check_unasked(draft: Draft, docket: Docket) -> None:
    if draft.attempt:
        raise Malformed("K1", f"is {draft.attempt}, but it answers nothing", field="attempt")
    if "/aside-" in draft.key:
        raise Malformed("K1", f"{draft.key!r} has the form of a derived id: choose another", field="key")
    if draft.body.type == "RESEARCH_NOTE" and docket.never_was(draft.case_id):
        raise Malformed("K9", f"there never was a case {draft.case_id}", field="case_id")


def _check_answer(draft: Draft, obligation_id: str, docket: Docket) -> None:
    if draft.in_reply_to is not None:
        why = "leave it out: an answer names its obligation"
        raise Malformed("K21", why, field="in_reply_to")
    if obligation_id in docket.open:
        attempts = docket.attempts.get(obligation_id, 0)
        # One that is lower stands in the log already, and its receipt says so.
        if draft.attempt > attempts:
            raise Malformed(
                "K1", f"is {draft.attempt}: {attempts} answers were refused so far", field="attempt"
            )
        return
    case_id, _, step = obligation_id.partition("/")
    if not step or docket.never_was(case_id):
        raise Malformed("K1", f"nobody ever owed {obligation_id}", field="obligation_id")
