"""What a host has folded of the log: docket, memory, and what views are made of (K13, K18)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from moot.memory.store import Store
from moot.protocols.calls.exhaustion import Exhaustion
from moot.protocols.escalation.case import EscalationState
from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.people import Note, Stop
from moot.protocols.kernel.rules import Gate, Rules
from moot.protocols.kernel.stop import SOCIETY

NOTES_KEPT: Final = 50
"""What people said lately, shown to every mind that may read it."""


class Folding:
    """Folds every envelope once.

    Attributes:
        rules: The rules.
        gate: What counts ids for the sequencer.
        docket: All open cases.
        store: Memory.
        stop_asked: Why a person stopped the society, "" while nobody did; a STOP before the last start is over.
    """

    def __init__(self, *, rules: Rules, gate: Gate, store: Store) -> None:
        """Begin with nothing folded but what memory holds."""
        self.rules = rules
        self.gate = gate
        self.store = store
        self.docket = Docket(rules)
        self.stop_asked = ""
        self._transcripts: dict[str, list[Envelope]] = {}
        self._causes: dict[str, tuple[str | None, int]] = {}
        self._refusals: dict[str, str] = {}
        self._notes: deque[Envelope] = deque(maxlen=NOTES_KEPT)
        self._exhaustion: Exhaustion = self.docket.context.fold_named("exhaustion")

    def catch_up(self, envelopes: Iterable[Envelope]) -> None:
        """Fold what the log holds already, without waking anybody.

        Raises:
            OfficerFault: The log breaks the tables (K5).
        """
        for env in envelopes:
            self.gate.apply(env)
            fx = self.docket.fold(env)
            if env.seq > self.store.applied_seq:
                self.store.apply(env, fx.is_in_effect)
            self._keep(env, fx)

    def snapshot(self) -> dict[str, Any]:
        """Return everything that folding has built, to be kept by `moot.snapshot` (K18)."""
        return {
            "docket": self.docket,
            "counted": self.gate.counted,
            "transcripts": self._transcripts,
            "causes": self._causes,
            "refusals": self._refusals,
            "notes": self._notes,
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Take over what `snapshot` returned; before anything is folded or attached.

        The gate's counters are copied, for the bus holds the gate already.
        """
        self.docket = kept["docket"]
        self._exhaustion = self.docket.context.fold_named("exhaustion")
        self.gate.take_over(kept["counted"])
        self._transcripts = kept["transcripts"]
        self._causes = kept["causes"]
        self._refusals = kept["refusals"]
        self._notes = kept["notes"]

    def _keep(self, env: Envelope, fx: Effects) -> None:
        """Keep what views are made of."""
        case_id = env.case_id
        for state in fx.started:
            said = self._transcripts.setdefault(state.case_id, [])
            if state.case_id != case_id:
                # The OVERRIDE that opens a linked case names the ended one (K23).
                said.append(env)
        if case_id is not None and (kept := self._transcripts.get(case_id)) is not None:
            kept.append(env)
        for obligation in fx.closed:
            self._causes.pop(obligation.id, None)
            self._refusals.pop(obligation.id, None)
        for obligation in fx.opened:
            # What falls to a seat at a later instant is caused by the clock: its chain begins anew (K21).
            is_timed = obligation.opened_at > env.sent_at
            self._causes[obligation.id] = (None, -1) if is_timed else (env.id, env.hops)
        if fx.retried is not None and fx.violation is not None:
            self._refusals[fx.retried.id] = fx.violation.numbered
        for state in fx.ended:
            said = self._transcripts.pop(state.case_id, [])
            if state.parent is not None and (parent := self._transcripts.get(state.parent)) is not None:
                heard = {e.seq for e in parent}
                parent.extend([e for e in said if e.seq not in heard])
        body = env.body
        if type(body) is SocietyStarted:
            self.stop_asked = ""
        elif type(body) is Stop and body.scope == SOCIETY and fx.violation is None:
            self.stop_asked = body.why
        for state in fx.ended:
            if type(state) is EscalationState and state.effect == "stop_society":
                self.stop_asked = f"as {state.case_id} was answered"
        if type(body) is Note or (type(body) is EscalationAnswer and body.text):
            self._notes.append(env)
