"""How long an answer takes: seeded, with a heavy tail, now and then not at all (R-D19)."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final

from moot.bots.minds.simulated.temper import DEFAULT, Temper
from moot.bots.tools.seeding import generator
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.trading.seats import SYSTEM_B

TICKS: Final = frozenset(
    {
        "RISK_CHECK",
        "RISK_ALERT",
        "OVERNIGHT_RISK_CHECK",
        "METRICS_RECORDED",
        "RECALL_FLAG",
        "DESK_CHECK",
        "SIGNAL",
        "ORDER",
        "EXECUTION",
        "CHECK_NEW_STRATEGIES",
        "MARKET_CLOSE",
    }
)
"""What the desk does by machine: seconds after it is due, and hardly ever not at all."""


def delay(
    seed: int, obligation: Obligation, attempt: int, now: datetime, temper: Temper = DEFAULT
) -> timedelta | None:
    """Draw how long after its opening an obligation is answered.

    Log-normal, with a median of a third of the limit: about 4 % come after the referee's ping, about
    1 % after the grace of a 20-minute limit. What the desk does by machine takes seconds instead. An
    obligation has one delay, so a restart changes nothing.

    Args:
        seed: The society's seed.
        obligation: What is owed.
        attempt: Answers that broke a rule so far; a corrected one comes soon after `now`.
        now: Society time.
        temper: Shape of the distribution.

    Returns:
        The delay since `opened_at`, to the millisecond; None to stay silent.
    """
    rng = generator("delay", seed, obligation.id, attempt)
    is_tick = not TICKS.isdisjoint(obligation.expects)
    is_desk = obligation.seat in SYSTEM_B
    silence = temper.tick_silence if is_tick else temper.desk_silence if is_desk else temper.silence
    is_silent, quantile = float(rng.random()) < silence, float(rng.standard_normal())
    # K6 moves due times by an outage and leaves `opened_at`: the limit itself did not grow.
    limit = min(obligation.due_at - obligation.opened_at, temper.longest_limit)
    if attempt > 0:
        soon = limit * min(temper.retry_share * math.exp(temper.delay_sigma * quantile), 1.0)
        return _to_milliseconds(max(now - obligation.opened_at, timedelta(0)) + soon)
    if is_silent or is_unwell(seed, obligation.seat, obligation.opened_at, temper):
        return None
    if is_tick:
        return _to_milliseconds(
            timedelta(seconds=temper.tick_delay_s * math.exp(temper.delay_sigma * quantile))
        )
    share = min(temper.delay_median * math.exp(temper.delay_sigma * quantile), temper.delay_cap)
    return _to_milliseconds(limit * share)


def is_unwell(seed: int, seat: Seat, at: datetime, temper: Temper = DEFAULT) -> bool:
    """Say whether a seat has one of its spells at an instant: hours in which it opens no mail.

    Spells are what makes the same seat miss several deadlines in a row, which single silences hardly do.
    """
    chance = temper.desk_spell_chance if seat in SYSTEM_B else temper.spell_chance
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    for day in (midnight, midnight - timedelta(days=1)):
        rng = generator("spell", seed, seat, day.date().isoformat())
        happens, begins, length = rng.random(), rng.random(), rng.uniform(*temper.spell_hours)
        start = day + timedelta(days=float(begins))
        if happens < chance and start <= at < start + timedelta(hours=float(length)):
            return True
    return False


def _to_milliseconds(span: timedelta) -> timedelta:
    return timedelta(milliseconds=round(span / timedelta(milliseconds=1)))
