"""A short log in which everything happens once: people, outages, clocks, escalations, the weekly cycle."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.envelope import OFFICER, Actor, Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import Audit, ClockSet, ConfigChanged, PersonNamed
from moot.protocols.kernel.people import Note, Override, SeatReleased, SeatTaken, Stop
from moot.protocols.kernel.seats import ADMIN, REFEREE, VIEWER, Seat
from moot.protocols.kernel.times import rfc3339
from moot.protocols.research.seats import CRITIC
from tests.doubles.biglog import Chance

SATURDAY = datetime(2026, 2, 28, 9, tzinfo=UTC)


class Life(Chance):
    """A society with people in it, who do what the test says."""

    def person(self, seat: Seat, body: Message, channel: str, case_id: str | None = None) -> Envelope:
        """Say something as ann, who is an admin; what viewers say, eve says."""
        env = self.publish(
            Draft(
                channel=channel,
                author=seat,
                actor=Actor("human", "test", "eve" if seat == VIEWER else "ann"),
                body=body,
                case_id=case_id,
                key=f"test/ann/{self.seq}",
            )
        )
        assert env is not None
        self.officers()
        return env

    def until_open(self, kind: str, within: timedelta = timedelta(hours=6)) -> str:
        """Live until a case of a kind is open; return its id."""
        end = self.now + within
        while self.now < end:
            for state in self.docket.cases.values():
                if state.kind == kind:
                    return state.case_id
            self.live(until=self.now + timedelta(minutes=1))
        raise AssertionError(f"no {kind} came")


def full_life(seed: int = 14, data: dict[str, Any] | None = None) -> list[Envelope]:
    """Return the log of two days from a Saturday on."""
    log: list[Envelope] = []
    life = Life(log.append, seed=seed, silence=0.1, faults=0.08, start=SATURDAY, data=data)

    def go(hours: float) -> None:
        life.live(until=life.now + timedelta(hours=hours))

    go(8)
    _people(life)
    go(4)
    life.mute = {CRITIC}
    go(9)
    life.mute = set()
    escalation = life.until_open("escalation")
    life.person(ADMIN, EscalationAnswer(option=1, text=""), "#admin", escalation)
    life.stop()
    life.start(clock="accelerated", speed=4.0)
    _clock(life)
    go(6)
    life.stop()
    life.now += timedelta(hours=3)
    life.start(clock="real", speed=1.0)
    go(12)
    life.stop()
    return log


def _people(life: Life) -> None:
    """Let people speak: notes, a refusal, overrides, a seat taken and released, a stop, a name."""
    life.person(VIEWER, Note(text="well said"), "#a-arena")
    life.person(ADMIN, Note(text="mind the gap", about_case_id=None), "#admin")
    refused = Audit(
        event="refused",
        seat="critic",
        channel="#admin",
        reason="wrong channel",
        bytes="e30=",
        truncated=False,
    )
    life.publish(
        Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=refused, key=f"audit/{life.seq}/1")
    )
    life.person(ADMIN, SeatTaken(seat="explorer", user_id="ann", reason="my turn"), "#admin")
    debate = life.until_open("debate")
    life.live(until=life.now + timedelta(minutes=20))
    life.person(ADMIN, SeatReleased(seat="explorer", user_id="ann", reason="done"), "#admin")
    life.person(ADMIN, Override(case_id=debate, verdict="REJECT", why="I know better"), "#a-arena", debate)
    life.live(until=life.now + timedelta(hours=2))
    life.person(ADMIN, Override(case_id=debate, verdict="APPROVE", why="after all"), "#a-arena", debate)
    cycle = life.until_open("cycle")
    life.person(ADMIN, Stop(scope=cycle, why="enough of it"), "#admin")
    named = PersonNamed(platform="test", user_id="u_17", display_name="Ann Lee")
    life.publish(Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=named, key="named/test/u_17/0"))


def _clock(life: Life) -> None:
    """Change pace and configuration."""
    life.live(until=life.now + timedelta(minutes=10))
    key = f"clock/{rfc3339(life.now)}/1"
    life.timekeeper(ClockSet(society_at=life.now, speed=120.0, paused=False, reason="faster"), key)
    life.timekeeper(ConfigChanged(changes={"clock": {"human_wall_s": 60}}, reason="patience"), "config/1")
