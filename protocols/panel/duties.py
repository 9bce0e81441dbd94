"""Who owes what in a panel, and what each is shown for it (spec 2, K12)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.obligation import NO_GRACE, Obligation, Visibility
from moot.protocols.kernel.seats import ORCHESTRATOR, Seat
from moot.protocols.kernel.times import minutes
from moot.protocols.panel.rights import PLACE
from moot.protocols.panel.seats import PANEL, SYNTHESIZER
from moot.protocols.panel.state import PanelState, Reviewer

PHASE1_WITHIN, PHASE2_WITHIN, SYNTHESIS_WITHIN = minutes(30), minutes(60), minutes(10)
GRACE: Final = minutes(10)
"""Time for each output; the spec names none."""

NOTHING: Final[frozenset[str]] = frozenset()
"""All that a reviewer is shown of the log; what it needs of that stands in its brief. Any message may quote the
content: a note, an OVERRIDE, the title of another panel, and, after a restart, the reviewer's own outputs."""
CONCLUSIONS: Final = frozenset({"PHASE2", "SYNTHESIS"})
"""All that the Synthesizer is shown of the log."""


def _duty(
    state: PanelState,
    env: Envelope,
    seat: Seat,
    expects: str,
    step: str,
    within: timedelta,
    sight: Visibility,
) -> Obligation:
    """Make an obligation of a reviewer or the synthesizer."""
    return Obligation(
        f"{state.case_id}/{step}/{seat}",
        state.case_id,
        seat,
        (expects,),
        PLACE,
        env.sent_at,
        env.sent_at + within,
        GRACE,
        sight,
    )


def said(state: PanelState, env: Envelope, expects: str, step: str) -> Obligation:
    """Make an obligation of the Orchestrator, due at once."""
    seat = ORCHESTRATOR
    name = f"{state.case_id}/{step}/{seat}"
    return Obligation(name, state.case_id, seat, (expects,), PLACE, env.sent_at, env.sent_at, NO_GRACE)


def _sight(role: str, shown: frozenset[str], content_ref: str = "") -> Visibility:
    """Say what a reviewer is shown: its own outputs, and the content once it has committed (spec 2, K12)."""
    others = frozenset(seat for seat in PANEL if seat != role)
    return Visibility(hidden_authors=others, shown_types=shown, has_memory=False, content_ref=content_ref)


def commit(state: PanelState, one: Reviewer, env: Envelope) -> Obligation:
    """Let a reviewer owe Phase 1; it is shown nothing of the content."""
    name = f"phase1-{one.cycle}-{one.attempt}"
    return _duty(state, env, Seat(one.role), "PHASE1", name, PHASE1_WITHIN, _sight(one.role, NOTHING))


def review(state: PanelState, one: Reviewer, env: Envelope) -> Obligation:
    """Let a reviewer owe Phase 2; it is shown the content."""
    sight = _sight(one.role, NOTHING, state.content_ref)
    return _duty(state, env, Seat(one.role), "PHASE2", f"phase2-{one.cycle}", PHASE2_WITHIN, sight)


def conclude(state: PanelState, env: Envelope) -> Obligation:
    """Let the Synthesizer owe its conclusion."""
    name, sight = f"synthesis-{state.attempt}", Visibility(shown_types=CONCLUSIONS, has_memory=False)
    return _duty(state, env, SYNTHESIZER, "SYNTHESIS", name, SYNTHESIS_WITHIN, sight)
