"""Who stopped which experiment, by the log; and what the lab says of one that has ended (K31)."""

from __future__ import annotations

from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.people import Stop
from moot.protocols.lab.experiment import STOPPERS, ExperimentState
from moot.protocols.lab.messages import LOST, ExperimentEnded, Person


class Stoppers(Fold):
    """Remember whose STOP an open experiment obeys: the first one's."""

    name = STOPPERS
    types = frozenset({"STOP", "EXPERIMENT_BATCH", "EXPERIMENT_ENDED"})

    def __init__(self) -> None:
        """Know of none."""
        self._by: dict[str, Person] = {}

    def stopper(self, experiment_id: str) -> Person | None:
        """Return who stopped an open experiment, None when nobody did."""
        return self._by.get(experiment_id)

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one envelope.

        Raises:
            OfficerFault: The lab tells more of an experiment that has ended, and was not lost meanwhile.
        """
        body = env.body
        if type(body) is Stop:
            if fx.violation is None and isinstance(docket.cases.get(body.scope), ExperimentState):
                self._by.setdefault(
                    body.scope, Person(platform=env.actor.platform, user_id=env.actor.user_id)
                )
            return
        if fx.superseded and docket.ended[env.case_id or ""].outcome != LOST:
            raise OfficerFault(f"{env.case_id} has ended, and nothing changes it", seq=env.seq)
        if type(body) is ExperimentEnded:
            self._by.pop(body.experiment_id, None)
