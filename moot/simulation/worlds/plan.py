"""What a seed draws: a world as plain data, with everything that people do in it and that goes wrong with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from moot.protocols.kernel.times import rfc3339
from moot.simulation.worlds.dice import Dice

FIRST_DAY: Final = datetime(2026, 1, 5, tzinfo=UTC)
DAYS: Final = 330
"""A world begins on a day of so many from the first on: week-ends, holidays and both changes of New York's clock."""

MOST_WALL_S: Final = 86_400.0
SPEEDS: Final = (0.5, 12.0, 120.0, 600.0, 3_600.0)

ACTS: Final[tuple[tuple[str, float], ...]] = (
    ("note", 3.0),
    ("take", 2.0),
    ("answer", 5.0),
    ("release", 1.0),
    ("escalation", 3.0),
    ("override", 1.0),
    ("stop", 0.6),
    ("halt", 0.7),
    ("resume", 0.7),
    ("task", 0.7),
    ("echo", 5.0),
    ("garbage", 2.0),
)
"""What people do, and how often; each is a function in `people.ACTS`."""

CLOCK_ACTS: Final = (("pause", 1.0), ("resume", 2.0), ("step", 1.0), ("speed", 2.0), ("page", 2.0))
"""What they do to an accelerated clock; `page` holds an escalation open (K8)."""

FAULTS: Final[tuple[tuple[str, float], ...]] = (("kill", 1.0), ("restart", 1.0))
WALL_FAULTS: Final[tuple[tuple[str, float], ...]] = (("stall", 4.0), ("suspend", 2.0), ("set", 2.0))
"""What goes wrong, and how often: rows of `world.FAULTS`; the latter need a wall."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens once.

    Attributes:
        at_s: When, in seconds of the world's wall.
        kind: What: a name in `people.ACTS`, `plan.CLOCK_ACTS` or `world.FAULTS`.
        n: Tells its dice from others.
        size: How large, in the kind's own unit: mostly seconds.
    """

    at_s: float
    kind: str
    n: int
    size: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldPlan:
    """A world to be lived.

    Attributes:
        seed: What it was drawn from, and what its minds draw from.
        start: Society time, and the wall's time of day, at the beginning.
        clock: Whose time it is lived in.
        speed: Society seconds a wall second; 1 in virtual and real time.
        wall_s: How long it lives, in seconds of the wall.
        most_s: How long it lives at most in society time, however fast somebody lets it run, in seconds.
        bus: `memory`, or `sqlite` on files.
        desk: Whether System B lives.
        admin: Whether a simulated admin answers escalations; in virtual time only.
        acts: What people do, in order.
        clock_acts: What they do to the clock.
        faults: What goes wrong.
    """

    seed: int
    start: datetime
    clock: Literal["virtual", "accelerated", "real"]
    speed: float
    wall_s: float
    most_s: float
    bus: Literal["memory", "sqlite"]
    desk: bool
    admin: bool
    acts: tuple[Event, ...]
    clock_acts: tuple[Event, ...]
    faults: tuple[Event, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {**asdict(self), "start": rfc3339(self.start)}


def draw(seed: int, *, days: float = 1.0) -> WorldPlan:
    """Draw a world.

    Args:
        seed: Any whole number.
        days: About how many days the society lives.
    """
    dice = Dice("world", seed)
    clock = dice.weighed((("virtual", 3.0), ("accelerated", 4.0), ("real", 2.0)))
    speed = dice.pick(SPEEDS) if clock == "accelerated" else 1.0
    wall_s = min(days * dice.between(0.4, 1.6) * 86_400.0 / speed, MOST_WALL_S * days)
    start = FIRST_DAY + timedelta(days=dice.whole(0, DAYS - 1), seconds=dice.whole(0, 86_399))
    has_wall = clock != "virtual"
    return WorldPlan(
        seed=seed,
        start=start,
        clock=clock,  # type: ignore[arg-type]
        speed=speed,
        wall_s=wall_s,
        most_s=2 * 86_400.0 * days + 40_000.0,
        bus="sqlite" if dice.chance(0.15) else "memory",
        desk=dice.chance(0.75),
        admin=clock == "virtual" and dice.chance(0.5),
        acts=_events(dice.of("acts"), ACTS, wall_s, dice.whole(0, 60)),
        clock_acts=_events(dice.of("clock"), CLOCK_ACTS, wall_s, dice.whole(0, 6))
        if clock == "accelerated"
        else (),
        faults=_events(
            dice.of("faults"), (*FAULTS, *(WALL_FAULTS if has_wall else ())), wall_s, dice.whole(0, 5)
        ),
    )


def _events(dice: Dice, kinds: tuple[tuple[str, float], ...], wall_s: float, count: int) -> tuple[Event, ...]:
    """Draw events all over a world's time; sizes are of all orders, from a second to hours."""
    drawn = [
        Event(dice.between(0.0, wall_s), dice.weighed(kinds), n, round(10 ** dice.between(0.0, 4.3), 3))
        for n in range(count)
    ]
    return tuple(sorted(drawn, key=lambda event: (event.at_s, event.n)))
