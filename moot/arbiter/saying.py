"""What a run says of itself in the log of its own ledger: the messages that a society would hear."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from moot.arbiter.bulletins import Bulletins
from moot.arbiter.events import Event
from moot.arbiter.experiment import started_of
from moot.arbiter.resolving import Prepared
from moot.bots.officers.lab import Lab
from moot.channels.errors import ChannelError, Refused
from moot.clock import Clock
from moot.host import Host
from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.errors import Violation
from moot.protocols.lab.experiment import ExperimentState
from moot.protocols.lab.messages import ExperimentStarted, Told

RUNNER: Final = Actor("human", "cli", "arbiter")
"""Whose run it is, as its own log has it."""

_log = structlog.get_logger("moot.arbiter")


class Saying:
    """Says in the log what the run tells of itself, each life of it an experiment of its own.

    Attributes:
        case: The experiment.
    """

    def __init__(self, lab: Lab, start: ExperimentStarted, *, has_labels: bool) -> None:
        """Begin after the start was said."""
        self.case = start.experiment_id
        self._lab = lab
        self._bulletins = Bulletins(start, has_labels=has_labels)
        self._told: asyncio.Queue[Told | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._say(), name="lab")

    @classmethod
    async def begun(cls, host: Host, prepared: Prepared, before: int, clock: Clock) -> Saying:
        """End the experiment of a life that was killed, and open this one's.

        Args:
            host: Folds the ledger's log.
            prepared: The run.
            before: Experiments of the run in the log.
            clock: The running clock.
        """
        lab = Lab(host.docket, host.publish, host.bus.seq_of, clock.now)
        for state in [*host.docket.cases.values()]:
            if isinstance(state, ExperimentState):
                killed = Bulletins(state.start, has_labels=False)
                killed.last = state.last
                await lab.say(killed.broken_off("the run was killed"), RUNNER)
        start = started_of(prepared, before)
        await lab.say(start, RUNNER)
        config = prepared.config
        has_labels = config.protocol.decision_contract is not None or config.protocol.type == "debate_v1"
        return cls(lab, start, has_labels=has_labels)

    def hear(self, event: Event) -> None:
        """Take an event of the run."""
        body = self._bulletins.heard(event)
        if body is not None:
            self._told.put_nowait(body)

    async def close(self) -> None:
        """Wait until all is said."""
        self._told.put_nowait(None)
        await self._task

    async def abandon(self) -> None:
        """Say no more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _say(self) -> None:
        while (body := await self._told.get()) is not None:
            try:
                await self._lab.say(body, RUNNER)
            except (Violation, Refused, ChannelError) as fault:
                # The calls are what the ledger is for; what stopped the log is told by the next of them.
                _log.warning("the ledger does not say what the run tells", why=str(fault))
                return
