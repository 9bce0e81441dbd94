"""Whatever a society lives through, `moot verify` accepts its log (K4, K5, K6); a seed is lived the same way twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from moot.simulation.worlds.plan import WALL_FAULTS, Event, WorldPlan, draw
from moot.simulation.worlds.world import live

DAYS = 0.2
SEEDS = (2, 4, 5, 10, 12)
"""A few in CI, in all three kinds of time, in memory and on files; `make soak` lives hundreds."""


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_society_lives_through_verify_accepts_its_log(seed: int) -> None:
    outcome = live(draw(seed, days=DAYS), evidence=False)
    assert outcome.findings == []
    assert outcome.messages > 5


def test_the_seeds_of_ci_draw_every_kind_of_time_and_place_and_fault() -> None:
    plans = [draw(seed, days=DAYS) for seed in SEEDS]
    assert {plan.clock for plan in plans} == {"virtual", "accelerated", "real"}
    assert {plan.bus for plan in plans} == {"memory", "sqlite"}
    faults = Counter(event.kind for plan in plans for event in plan.faults)
    assert {"kill", "restart"} <= faults.keys()
    assert faults.keys() & {kind for kind, _ in WALL_FAULTS}


def test_a_seed_is_lived_the_same_way_twice() -> None:
    plan = next(plan for plan in map(draw_short, range(100, 200)) if plan.bus == "memory" and plan.faults)
    assert plan == draw_short(plan.seed)
    first, second = live(plan, evidence=False), live(plan, evidence=False)
    assert first.head == second.head != ""
    assert first.happened == second.happened


@pytest.mark.parametrize(
    ("clock", "speed", "fault"),
    [
        ("real", 1.0, Event(3_000.0, "set", 0, 7_200.0)),
        ("real", 1.0, Event(3_000.0, "suspend", 0, 20_000.0)),
        ("real", 1.0, Event(3_000.0, "stall", 0, 30.0)),
        ("accelerated", 600.0, Event(9.0, "stall", 0, 20.0)),
        ("accelerated", 120.0, Event(40.0, "stall", 0, 60.0)),
    ],
)
def test_k6_a_stall_is_nobodys_silence(clock: str, speed: float, fault: Event) -> None:
    plan = replace(
        draw(1), clock=clock, speed=speed, bus="memory", acts=(), clock_acts=(), faults=(fault,),
        wall_s=fault.at_s + fault.size + 20_000.0 / speed,
    )  # fmt: skip
    outcome = live(plan, evidence=False)
    assert outcome.findings == []
    assert outcome.happened[fault.kind] == 1
    # In accelerated time nobody notices; in real time the log says what was lost, and verify points it out.
    assert len([line for line in outcome.warnings if "nobody could do anything" in line]) == (clock == "real")


def draw_short(seed: int) -> WorldPlan:
    return draw(seed, days=0.1)
