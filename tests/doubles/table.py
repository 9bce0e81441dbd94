"""A society without bots: tests post for the seats, the officers' duties are posted as they fall due."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import GENESIS, OFFICER, Actor, Draft, Envelope, seal
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import SocietyStarted, SocietyStopped
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import ADMIN, TIMEKEEPER, VIEWER, Seat
from moot.protocols.rulebook import VERSION, rules

OPENERS = ("HYPOTHESIS", "ARENA_TASK", "PANEL_OPENED")
"""Openers that seats owe: their case is the new one, not the one that owes them."""

START = datetime(2026, 2, 23, 10, 0, tzinfo=UTC)


class Table:
    """A synchronous society in the test's hands: no bus, no loop, time moves when told."""

    config: Mapping[str, Any] = {}  # never changed in place
    rules_version = VERSION

    def __init__(
        self,
        start: datetime = START,
        schedules: dict[str, Any] | None = None,
        config: dict[str, Any] | None = None,
    ) -> None:
        """Start it at an instant; by default one micro-cycle is due there and nothing else.

        Args:
            start: Where time begins.
            schedules: What is due when.
            config: The rest of the effective configuration.
        """
        self.rules = rules()
        self.gate = Gate(self.rules)
        self.docket = Docket(self.rules)
        self.log: list[Envelope] = []
        self.effects: list[Effects] = []
        self.now = start
        self.head = GENESIS
        self.keys = 0
        if schedules is None:
            schedules = {"micro": {"at": [start.isoformat()]}}
        self.schedules = schedules
        self.config = config or {}
        self.start()

    def start(self) -> None:
        """Say SOCIETY_STARTED, and let the officers do what is due."""
        body = SocietyStarted(
            society_id="test",
            config={"schedules": self.schedules, "admins": {"test": ["ann"]}, **self.config},
            rules_version=self.rules_version,
            seed=1,
            data={},
            speed=1.0,
            clock="virtual",
            durability="none",
            moot_version="test",
        )
        self.post(TIMEKEEPER, body, channel="#admin", key=f"started/{len(self.log) + 1}")
        self.officers()

    def stop(self) -> None:
        """Say SOCIETY_STOPPED."""
        body = SocietyStopped(reason="enough", last_seq=len(self.log))
        self.post(TIMEKEEPER, body, channel="#admin", key=f"stopped/{len(self.log) + 1}")

    def down(self, *, crash: bool = False, **delta: float) -> None:
        """Let the society be down for a while."""
        if not crash:
            self.stop()
        self.now += timedelta(**delta)
        self.start()

    def publish(self, draft: Draft) -> Envelope | None:
        """Sequence and fold one draft; None for a duplicate."""
        draft = self.gate.admit(draft)
        identity = draft.identity()
        if any(e.id == identity for e in self.log[-200:]):
            return None
        body = self.gate.mint(draft, self.now)
        env, self.head = seal(
            draft,
            seq=len(self.log) + 1,
            envelope_id=identity,
            sent_at=self.now,
            previous=self.head,
            body=body,
        )
        self.log.append(env)
        self.effects.append(self.docket.fold(env))
        return env

    def officers(self) -> None:
        """Post every duty that is due now, one at a time."""
        for _ in range(1000):
            draft = next(iter(self.docket.due(self.now)), None)
            if draft is None:
                return
            assert self.publish(draft) is not None, draft
        raise AssertionError("the officers never come to an end")

    def post(
        self,
        seat: Seat,
        body: Message,
        *,
        channel: str | None = None,
        owed: Obligation | None = None,
        case_id: str | None = None,
        key: str = "",
        user: str = "",
    ) -> Envelope:
        """Post for a seat: the obligation it answers is found by type unless a channel is given."""
        if owed is None and channel is None:
            owed = self.owed(seat, body.type)
        self.keys += 1
        is_human = user or seat in (ADMIN, VIEWER)
        actor = Actor("human", "test", user or "ann") if is_human else None
        draft = Draft(
            channel=channel or (owed.channel if owed else "#a-arena"),
            author=seat,
            body=body,
            actor=actor or (OFFICER if seat == TIMEKEEPER else Actor("bot")),
            case_id=case_id or (owed.case_id if owed and body.type not in OPENERS else None),
            obligation_id=owed.id if owed else None,
            attempt=self.docket.attempts.get(owed.id, 0) if owed else 0,
            tenure=self.docket.context.tenures.get(seat, 0),
            key=key or ("" if owed else f"k{self.keys}"),
        )
        env = self.publish(draft)
        assert env is not None
        return env

    def owed(self, seat: Seat, kind: str) -> Obligation:
        """Find what a seat owes that this type settles."""
        for obligation in self.docket.open.values():
            if obligation.seat == seat and kind in obligation.expects:
                return obligation
        raise AssertionError(f"{seat} owes no {kind}; open: {list(self.docket.open)}")

    def say(self, seat: Seat, body: Message, **how: Any) -> Envelope:
        """Post, then let the officers do what follows."""
        env = self.post(seat, body, **how)
        self.officers()
        return env

    def wait(self, **delta: float) -> None:
        """Let time pass; the officers act at every instant at which something falls due."""
        self.until(self.now + timedelta(**delta))

    def until(self, end: datetime) -> None:
        """Let time pass until an instant."""
        while (instant := self.docket.next_instant()) is not None and instant <= end:
            self.now = max(self.now, instant)
            before = len(self.log)
            self.officers()
            if len(self.log) == before and instant <= self.now:
                following = self.docket.next_instant()
                assert following is None or following > self.now, f"nothing done at {instant}"
        self.now = end

    def last(self, kind: str) -> Envelope:
        """Return the newest message of a type."""
        return next(e for e in reversed(self.log) if e.body.type == kind)

    def kinds(self) -> list[str]:
        """Return the types in order."""
        return [e.body.type for e in self.log]
