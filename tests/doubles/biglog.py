"""Long valid logs, quickly: a society without a loop, whose bots answer by chance and now and then not at all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from typing import Any

from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import BOT, GENESIS, OFFICER, Actor, Draft, Envelope, seal
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import SocietyStarted, SocietyStopped
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, TIMEKEEPER, Seat
from moot.protocols.research.messages import ResearchNote
from moot.protocols.rulebook import VERSION, rulebook, rules
from tests.doubles.answers import Answers
from tests.doubles.schedules import SHIPPED
from tests.doubles.table import START


class Chance:
    """A society that lives by chance: the same seed writes the same log.

    Args:
        sink: Gets every envelope, in order.
        seed: What everybody draws from.
        silence: Share of obligations that nobody answers.
        faults: Share of answers that break a rule.
        clock: What SOCIETY_STARTED calls its clock.
    """

    def __init__(
        self,
        sink: Callable[[Envelope], None],
        *,
        seed: int = 1,
        silence: float = 0.03,
        faults: float = 0.02,
        schedules: Any = SHIPPED,
        data: dict[str, Any] | None = None,
        clock: Any = "virtual",
        start: datetime = START,
    ) -> None:
        self.sink = sink
        self.rules = rules()
        self.gate = Gate(self.rules)
        self.docket = Docket(self.rules)
        self.random = Random(seed)
        self.answers = Answers(seed, faults)
        self.silence = silence
        self.now = start
        self.head = GENESIS
        self.seq = 0
        self.recent: deque[str] = deque(maxlen=64)
        self.causes: dict[str, tuple[str, int]] = {}
        self._agenda: list[tuple[datetime, int, str]] = []
        self._n = 0
        self._started = SocietyStarted(
            society_id="test",
            config={"schedules": schedules, "admins": {"test": ["ann"]}},
            rules_version=VERSION,
            seed=seed,
            data=data or {},
            speed=1.0,
            clock=clock,
            durability="none",
            moot_version="test",
        )
        self.mute: set[Seat] = set()
        self.start()

    def start(self, **changes: Any) -> None:
        """Say SOCIETY_STARTED, and let the officers do what is due."""
        self._started = self._started.model_copy(update=changes)
        self.timekeeper(self._started, f"started/{self.seq + 1}")
        self.officers()

    def stop(self) -> None:
        """Say SOCIETY_STOPPED."""
        self.timekeeper(SocietyStopped(reason="enough", last_seq=self.seq), f"stopped/{self.seq + 1}")

    def timekeeper(self, body: Message, key: str) -> None:
        """Say something of the society's life."""
        self.publish(Draft(channel="#admin", author=TIMEKEEPER, actor=OFFICER, body=body, key=key))

    def publish(self, draft: Draft) -> Envelope | None:
        """Sequence and fold one draft; None for a duplicate."""
        draft = self.gate.admit(draft)
        identity = draft.identity()
        if identity in self.recent:
            return None
        self.recent.append(identity)
        self.seq += 1
        env, self.head = seal(
            draft,
            seq=self.seq,
            envelope_id=identity,
            sent_at=self.now,
            previous=self.head,
            body=self.gate.mint(draft, self.now),
        )
        fx = self.docket.fold(env)
        for closed in fx.closed:
            self.causes.pop(closed.id, None)
        for opened in fx.opened:
            self.causes[opened.id] = (env.id, env.hops)
            self._plan(opened.id, opened.seat)
        if fx.retried is not None:
            self._plan(fx.retried.id, fx.retried.seat)
        self.sink(env)
        return env

    def _plan(self, obligation_id: str, seat: Seat) -> None:
        if (
            seat in OFFICERS
            or seat in self.mute
            or self.random.random() < self.silence * (6 if seat in PEOPLE else 1)
        ):
            return
        longest = 300 if seat in PEOPLE else 420
        delay = timedelta(seconds=self.random.expovariate(1 / longest))
        self._n += 1
        heappush(self._agenda, (self.now + delay * (20 if seat in PEOPLE else 1), self._n, obligation_id))

    def officers(self) -> None:
        """Post every duty that is due now, one at a time."""
        while (draft := next(iter(self.docket.due(self.now)), None)) is not None:
            assert self.publish(draft) is not None, draft

    def live(self, *, until: datetime | None = None, messages: int | None = None) -> None:
        """Let time pass until an instant or until the log is so long."""
        while messages is None or self.seq < messages:
            due = self.docket.next_instant()
            answer = self._agenda[0][0] if self._agenda else None
            instant = min(i for i in (due, answer, until) if i is not None)
            if until is not None and instant >= until:
                self.now = max(self.now, until)
                return
            self.now = max(self.now, instant)
            if answer == instant:
                self._answer(heappop(self._agenda)[2])
            self.officers()

    def _answer(self, obligation_id: str) -> None:
        owed = self.docket.open.get(obligation_id)
        if owed is None:
            return
        attempt = self.docket.attempts.get(owed.id, 0)
        if attempt >= 3:
            return
        body = self.answers.to(owed, self.docket)
        cause, hops = self.causes[owed.id]
        holder = self.docket.context.holders.get(owed.seat)
        by_person = owed.seat in PEOPLE or holder is not None
        draft = Draft(
            channel=rulebook().channel_of.get(body.type, owed.channel),
            author=owed.seat,
            body=body,
            actor=(holder or Actor("human", "test", "ann")) if by_person else BOT,
            case_id=None if body.type == "HYPOTHESIS" else owed.case_id,
            obligation_id=owed.id,
            attempt=attempt,
            tenure=self.docket.context.tenures.get(owed.seat, 0),
            in_reply_to=None if holder is not None else cause,
            hops=0 if holder is not None else hops + 1,
        )
        if body.type == "HYPOTHESIS" and holder is None and self.random.random() < 0.3:
            note = ResearchNote(title="trends", findings=("they persist",), sources=())
            key = f"{draft.identity()}/aside-1"
            self.publish(replace(draft, channel="#a-research", body=note, obligation_id=None, key=key))
        self.publish(draft)


def write_log(path: Path, messages: int, *, hashes: bool = True, **how: Any) -> int:
    """Write a valid log of about so many messages as JSON Lines; returns how many it has."""
    with path.open("w", encoding="utf-8") as file:

        def sink(env: Envelope) -> None:
            file.write((env.line if hashes else env.json) + "\n")

        society = Chance(sink, **how)
        society.live(messages=messages - 1)
        society.stop()
    return society.seq


if __name__ == "__main__":
    import sys

    print(write_log(Path(sys.argv[1]), int(sys.argv[2])))
