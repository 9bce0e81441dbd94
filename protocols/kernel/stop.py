"""The human STOP: one case, one system, or the society (K21)."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.context import Deed, Fold, RuleContext
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.duties import case_ruling_of
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import PEOPLE

SOCIETY: Final = "society"
SYSTEMS: Final = {"a": "A", "b": "B", "system a": "A", "system b": "B"}
"""How a scope names a system, in lower case."""

STOPPED: Final = Decision("stop", "human_stop", "K21")


def check_stop(env: Envelope, context: RuleContext) -> None:
    """Check the scope of a STOP.

    Raises:
        Violation: It is none.
    """
    body = env.body
    assert isinstance(body, Stop)
    scope = body.scope
    if scope != SOCIETY and scope.lower() not in SYSTEMS and scope not in context.cases:
        raise Violation("K21", "the scope is society, system A, system B or an open case", field="scope")


class Stops(Fold):
    """Name the referee's rulings after a STOP: children before their parents, and what opens later too.

    A STOP of the whole society ends no case: the host stops, and they go on when it starts again (K6).
    """

    name = "stops"
    types = frozenset({"STOP"})
    deeds = Deed.RULED | Deed.HELD

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Take in one envelope."""
        body = env.body
        context = docket.context
        if type(body) is Stop:
            return self._stop(env, body.scope, docket) if fx.violation is None else None
        if fx.decision is not None and fx.decision.outcome == STOPPED.outcome:
            ended = {state.case_id for state in fx.ended}
            return [_ruling(env, s) for s in reversed(docket.cases.values()) if s.parent in ended]
        if context.stopped and fx.started and env.author not in PEOPLE:
            return [
                _ruling(env, s) for s in fx.started if docket.rules.types[s.kind].system in context.stopped
            ]
        return None

    def _stop(self, env: Envelope, scope: str, docket: Docket) -> list[Draft]:
        system = SYSTEMS.get(scope.lower())
        if system is not None:
            docket.context.stopped.add(system)
            states = [s for s in docket.cases.values() if docket.rules.types[s.kind].system == system]
        else:
            states = [s for s in docket.cases.values() if scope in (s.case_id, s.parent)]
        return [_ruling(env, state) for state in reversed(states)]


def _ruling(env: Envelope, state: CaseState) -> Draft:
    channel = state.owed[0].channel if state.owed else env.channel
    return case_ruling_of(env, STOPPED, state.case_id, channel)
