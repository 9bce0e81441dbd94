"""One step of a run: collects what changes, and tells the trail what happens."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from moot.protocols.arena.reasons import because
from moot.protocols.arena.relevance import REDACTED, cleanse, redactions
from moot.protocols.arena.rights import PLACE
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import TERMINAL, State, check_transition
from moot.protocols.arena.trail import Trail
from moot.protocols.kernel.case import changed
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.obligation import NO_GRACE, Obligation
from moot.protocols.kernel.seats import ORCHESTRATOR, Seat
from moot.protocols.kernel.times import minutes

FAULT: Final = "RUN_FAULT"
GRACE: Final = minutes(10)
HOOK_WITHIN: Final = minutes(10)
OUTPUT_WITHIN: Final = minutes(20)
"""Time for a query of the notebook, and for an output of a seat; the spec names none. The grace is that of a debate."""


class Move:
    """A step under way; local to one call, made of a state and the message that moves it.

    Attributes:
        state: The state before.
        env: The message.
        trail: Where what happens goes.
    """

    def __init__(self, state: RunState, env: Envelope, trail: Trail) -> None:
        """Begin at a state."""
        self.state = state
        self.env = env
        self.trail = trail
        self.at = State(state.phase)
        self._changes: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return a field as it stands by now."""
        found = self._changes.get(name, self)
        return getattr(self.state, name) if found is self else found

    def set(self, **changes: Any) -> None:
        """Change fields."""
        self._changes.update(changes)

    def to(self, after: State, reason: str) -> None:
        """Go to another state.

        Raises:
            UndefinedTransition: The table lacks this step (5.2): a bug of ours.
        """
        check_transition(self.at, after)
        self.trail.transition(self.at, after, reason)
        self.at = after
        self._changes["phase"] = after.value

    def owe(self, seat: Seat, expects: str, step: str) -> None:
        """Let a seat owe the next message, or say that it cannot."""
        case_id, env = self.state.case_id, self.env
        within = HOOK_WITHIN if expects == "HOOK_RESULT" else OUTPUT_WITHIN
        self._changes["owed"] = (
            Obligation(
                f"{case_id}/{step}/{seat}",
                case_id,
                seat,
                (expects, FAULT),
                PLACE,
                env.sent_at,
                env.sent_at + within,
                GRACE,
            ),
        )

    def end(self, after: State, code: str, sentence: str) -> RunState:
        """Terminate: from here on only the Orchestrator's RUN_TERMINATED is owed."""
        reason = because(code, sentence)
        self.to(after, reason)
        case_id, env = self.state.case_id, self.env
        seat = ORCHESTRATOR
        self.set(
            reason=reason,
            owed=(
                Obligation(
                    f"{case_id}/terminated/{seat}",
                    case_id,
                    seat,
                    ("RUN_TERMINATED",),
                    PLACE,
                    env.sent_at,
                    env.sent_at,
                    NO_GRACE,
                ),
            ),
        )
        return self.done()

    def fail(self, code: str, sentence: str) -> RunState:
        """Terminate with an error."""
        return self.end(State.TERMINATED_ERROR, code, sentence)

    def keep(self, name: str, text: str) -> tuple[str, str]:
        """Keep an output as an artifact, without excluded content (R-A9).

        Returns:
            Its reference, which holds the hash of what is kept, and what is kept.
        """
        kept, removed = cleanse(text)
        removed = tuple(sorted((*redactions(text), *removed))) if REDACTED in text else removed
        digest = hashlib.sha256(kept.encode("utf-8", "surrogatepass")).hexdigest()
        ref = f"{name}/sha256:{digest}"
        if removed:
            self.trail.filtered(ref, removed)
        self.trail.artifact(ref, kept)
        return ref, kept

    def done(self) -> RunState:
        """Return the state after."""
        return changed(self.state, self._changes)


def is_over(state: RunState) -> bool:
    """Say whether a run has reached a terminal state."""
    return state.phase in TERMINAL
