"""What the timekeeper says of the society's life and clock (K4, K6, K7)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import ClockSet, SocietyStarted, SocietyStopped
from moot.protocols.kernel.seats import TIMEKEEPER
from moot.protocols.kernel.times import rfc3339


def _draft(body: Message, key: str) -> Draft:
    return Draft(channel="#admin", author=TIMEKEEPER, actor=OFFICER, body=body, key=key)


def started(
    *,
    society_id: str,
    config: Mapping[str, Any],
    rules_version: str,
    moot_version: str,
    seed: int,
    data: Mapping[str, Any],
    speed: float,
    paused: bool,
    clock: Literal["virtual", "accelerated", "real"],
    durability: str,
    warm_up: bool,
    after_seq: int,
    rehearsal: float | None = None,
) -> Draft:
    """Say that the society starts, and with what (K4)."""
    body = SocietyStarted(
        society_id=society_id,
        config=config,
        rules_version=rules_version,
        moot_version=moot_version,
        seed=seed,
        data=data,
        speed=speed,
        paused=paused,
        clock=clock,
        durability=durability,
        warm_up=warm_up,
        rehearsal=rehearsal,
    )
    return _draft(body, f"started/{after_seq + 1}")


def stopped(reason: str, last_seq: int) -> Draft:
    """Say that the society stops; `last_seq` is the last message before this one."""
    return _draft(SocietyStopped(reason=reason, last_seq=last_seq), f"stopped/{last_seq + 1}")


def clock_set(
    society_at: datetime, speed: float, paused: bool, reason: str, n: int, *, held: timedelta = timedelta(0)
) -> Draft:
    """Say that time runs differently from here on, or that so much of it was nobody's (K6, K7, K8)."""
    body = ClockSet(
        society_at=society_at, speed=speed, paused=paused, reason=reason, held_s=held.total_seconds()
    )
    return _draft(body, f"clock/{rfc3339(society_at)}/{n}")
