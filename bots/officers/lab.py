"""The lab: says in the society what a run of Arbiter tells, where that follows from what it told before (K31).

A run is another process, so nobody takes its word: what it tells is judged by the rules that the log is folded with,
and whoever sent it stands for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from moot.channels.bus import Receipt
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, SCHEMA_VERSION, Actor, Draft, Envelope
from moot.protocols.kernel.errors import Malformed, Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import ClockSet, SocietyStarted
from moot.protocols.kernel.seats import LAB
from moot.protocols.kernel.steps import RuleInput
from moot.protocols.lab.experiment import EXPERIMENT, filled
from moot.protocols.lab.messages import Person, Told
from moot.protocols.lab.rights import PLACE


class Lab:
    """The officer; one per society.

    Order: what runs tell is judged and published one after the other, so that what was judged is what is published.
    """

    def __init__(
        self,
        docket: Docket,
        publish: Callable[[Draft], Awaitable[Receipt]],
        seq_of: Callable[[str], Awaitable[int | None]],
        now: Callable[[], Any],
    ) -> None:
        """Take the office.

        Args:
            docket: The society's.
            publish: The host's.
            seq_of: The bus's.
            now: The society's clock.
        """
        self._docket = docket
        self._publish = publish
        self._seq_of = seq_of
        self._now = now
        self._turn = asyncio.Lock()
        self._fastest = max(1.0, docket.context.speed)
        self._tasks: set[asyncio.Task[Receipt]] = set()

    def folded(self, env: Envelope, _fx: Effects) -> None:
        """Take in a change of pace; the host's listener."""
        body = env.body
        if isinstance(body, ClockSet | SocietyStarted):
            self._fastest = max(self._fastest, body.speed)

    async def say(self, body: Message, by: Actor) -> Receipt:
        """Say what a run tells, as the lab.

        Whoever asks may be cancelled: what was judged is said all the same.

        Args:
            body: What it tells; its `silence_s` are seconds of the wall.
            by: Who sent it.

        Raises:
            Violation: It does not follow from the log, or is nothing that a run tells.
            Refused: The bus did not take it.
        """
        if not isinstance(body, Told):
            raise Malformed("K31", f"a run tells no {body.type}", field="type")
        task = asyncio.create_task(self._say(body, by), name=f"lab {body.key}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def _say(self, body: Told, by: Actor) -> Receipt:
        async with self._turn:
            draft = self._drafted(body, by)
            # What stands in the log is a duplicate, and nothing that does not follow.
            if await self._seq_of(draft.key) is None:
                self._judge(draft)
            return await self._publish(draft)

    def _drafted(self, body: Told, by: Actor) -> Draft:
        who = Person(platform=by.platform, user_id=by.user_id)
        return Draft(
            channel=PLACE,
            author=LAB,
            actor=OFFICER,
            body=filled(body, who, self._fastest, self._docket.context),
            case_id=body.experiment_id,
            key=body.key,
        )

    def _judge(self, draft: Draft) -> None:
        """Judge a draft as the fold will judge it.

        Raises:
            Violation: It does not follow.
        """
        docket, case_id = self._docket, draft.case_id or ""
        env = Envelope(
            v=SCHEMA_VERSION,
            seq=docket.seq + 1,
            id=draft.identity(),
            channel=draft.channel,
            author=draft.author,
            actor=draft.actor,
            case_id=case_id,
            obligation_id=None,
            attempt=0,
            tenure=0,
            in_reply_to=None,
            hops=0,
            sent_at=self._now(),
            body=draft.body,
        )
        ended = docket.ended.get(case_id)
        if ended is not None:
            raise Violation("K23", f"{case_id} has ended ({ended.outcome}); nothing changes it")
        state = docket.cases.get(case_id)
        if draft.body.type in EXPERIMENT.openers:
            if state is not None:
                raise Violation("K9", f"case {case_id} exists already")
            EXPERIMENT.open(RuleInput(docket.context, env))
        elif state is None:
            raise Violation("K9", f"there is no open case {case_id}", field="experiment_id")
        else:
            EXPERIMENT.step(state, env, docket.context)
