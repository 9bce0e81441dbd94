"""What a seed draws: a world as plain data, with what people do in it and the spells in which something goes wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from moot.chaos.calendar import started_for
from moot.chaos.dice import Dice
from moot.chaos.faults import CLASSES, FAULTS, RATE, fault
from moot.protocols.rulebook import rulebook, rules
from moot.protocols.trading.bridge import FEEDBACK_KIND, RECALL_KIND
from moot.protocols.trading.promotion import KIND as PROMOTION

SYSTEMS: Final[tuple[tuple[tuple[Literal["A", "B"], ...], float], ...]] = (
    (("A", "B"), 5.0),
    (("A",), 1.0),
    (("B",), 1.0),
)
"""Which systems live in it, with how often."""

FIRST_DAY: Final = datetime(2026, 1, 5, tzinfo=UTC)
DAYS: Final = 330
"""A world begins on a day of so many from the first on: week-ends, holidays and both changes of New York's clock."""

DAY_S: Final = 86_400.0
WEEK: Final = 7.0
SPEEDS: Final = (12.0, 120.0, 600.0, 3_600.0)

SPELLS: Final = 12
"""Most spells of one class in a week."""
ACTIVE: Final = 0.6
"""Share of worlds in which a class is at work: what always comes together hides what comes alone."""

CALM_S: Final = 36 * 3_600.0
"""How long a week goes on after its last fault, in society seconds."""
CALM_FROM: Final = 3.0
"""Days from which on a world has that calm."""

ACTIVE_LONG: Final = 0.9
"""The same in worlds that live longer."""

BACK: Final = 0.4
"""Share of steps of the wall clock that lead back."""

Clock = Literal["virtual", "accelerated", "real"]
CLOCKS: Final[tuple[tuple[Clock, float], ...]] = (
    ("virtual", 6.0),
    ("accelerated", 2.0),
    ("real", 1.0),
)
"""In whose time it is lived, with how often."""

CYCLES: Final = ((2, 1.0), (3, 1.0), (4, 2.0), (6, 3.0), (8, 2.0), (12, 1.0))
"""Hours from one debate to the next, with how often."""

LONG: Final = 0.07
"""Share of worlds that live longer: strategies stand for a week on paper, and as long in production."""
TIMES: Final = 6.0
"""So many times as long."""
LONG_CYCLES: Final = ((6, 1.0), (8, 1.0), (12, 1.0))
LONG_CLOCKS: Final[tuple[tuple[Clock, float], ...]] = (
    ("virtual", 9.0),
    ("accelerated", 1.0),
    ("real", 1.0),
)
LATE: Final = (0.0, 0.35, 0.45)
"""Shares of a long world that go by before anything goes wrong, each as often: what takes weeks comes about first."""
LATELY: Final[Mapping[str, float]] = {
    "bots.forgets": 10.0,
    "bots.contrary": 2.0,
    "bots.interrupt": 2.0,
    "people.interrupt": 4.0,
    "people.prompt": 2.0,
    "market.gap": 3.0,
    "market.late": 4.0,
}
"""What goes wrong more often in long worlds, where there is more that is seldom asked for, and how much more often."""

Temper = Literal["cheap", "bold", "torn", "tardy", "dogged"]
TEMPERS: Final[tuple[tuple[Temper, float], ...]] = (
    ("cheap", 3.0),
    ("bold", 3.0),
    ("torn", 2.0),
    ("tardy", 1.5),
    ("dogged", 2.0),
)
"""What its minds are like (`moot.chaos.tempers`), with how often."""
LONG_TEMPERS: Final[tuple[tuple[Temper, float], ...]] = (("bold", 6.0), ("torn", 1.0), ("tardy", 2.0))
RIPE: Final = 0.06
"""Share of the others that live as long, where little goes wrong but what is aimed at duties (`AIMED`)."""
ACTIVE_RIPE: Final = 0.3
SPELLS_RIPE: Final = 3
RIPE_TEMPERS: Final[tuple[tuple[Temper, float], ...]] = (("bold", 3.0), ("tardy", 2.0))
AIMS: Final = 0.75
"""Share of all aims that a ripe world has."""
AIMED_RATES: Final = (0.4, 1.0)
"""Least and most share of occasions that a spell strikes which is aimed."""
AIMED_FROM: Final = 500
"""From where on a class's spells are numbered that are aimed."""

AIMED: Final[Mapping[str, tuple[str, ...]]] = {
    "bots.forgets": ("trade/flatten", "feedback/record", "feedback/withdrawal", "feedback/notice"),
    "bots.hasty": ("session/feedback",),
    "bots.contrary": ("panel",),
    "bots.interrupt": ("run/final/approved",),
    "people.interrupt": (PROMOTION, "trade/execution", FEEDBACK_KIND, RECALL_KIND),
    "market.late": ("",),
    "market.thin": ("",),
}
"""At which duties ripe worlds aim what goes wrong, "" for all: spells at random seldom meet what is seldom owed."""

PANELS: Final[tuple[tuple[Literal["off", "advisory", "binding"], float], ...]] = (
    ("off", 4.0),
    ("advisory", 1.0),
    ("binding", 1.0),
)
"""What panels have to say in promotions and in the weekly cycle, with how often."""
LONG_PANELS: Final = tuple((say, 1.0) for say, _ in PANELS)

ON_FILES: Final = 0.02
"""Share of worlds that live on real files: the SQLite bus."""

LIFE: Final[tuple[tuple[str, float], ...]] = (
    ("note", 3.0),
    ("task", 1.0),
    ("panel", 0.7),
    ("motion", 2.0),
    ("experiment", 2.5),
    ("escalation", 3.0),
    ("resume", 1.5),
)
"""What people do by right, and how often."""
MOST_LIFE: Final = 30


def _known(name: str) -> str:
    try:
        fault(name)
    except KeyError:
        raise ValueError(f"there is no fault {name!r}") from None
    return name


def known_duty(name: str) -> str:
    """Return the name of a duty, if it is one.

    Raises:
        ValueError: There is none.
    """
    kind, _, duty = name.partition("/")
    machine = rules().types.get(kind)
    if machine is None or (duty and duty not in machine.steps):
        raise ValueError(
            f"there is no duty {name[:60]!r}: name a kind of case, or one and its duty, as trade/order"
        )
    return name


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Deed(_Plain):
    """Something that a person does by right.

    Attributes:
        at_s: When, in seconds of the world's wall.
        kind: What: a name in `people.ACTS`.
        n: Tells its dice from others.
    """

    at_s: float
    kind: str
    n: int


class Spell(_Plain):
    """Something that goes wrong for a while.

    Attributes:
        n: Tells its dice from those of others, whichever of them are dropped.
        fault: What: "class.name" in `faults.FAULTS`.
        at_s: From when on, in seconds of the world's wall.
        for_s: How long; 0: it happens once.
        rate: The share of occasions that it strikes.
        size: How large, in the fault's own unit.
        seats: Whom it strikes; empty: anybody.
        duties: At which duties, as kind of case, or kind of case and duty, with a slash; empty: at any.
        act: Which of the acts that its number draws is its first.
    """

    n: int
    fault: Annotated[str, AfterValidator(_known)]
    at_s: Annotated[float, Field(ge=0)]
    for_s: Annotated[float, Field(ge=0)] = 0.0
    rate: Annotated[float, Field(ge=0, le=1)] = 1.0
    size: float = 1.0
    seats: tuple[str, ...] = ()
    duties: tuple[Annotated[str, AfterValidator(known_duty)], ...] = ()
    act: int = 0

    @property
    def kind(self) -> str:
        """Return its class."""
        return self.fault.partition(".")[0]

    @property
    def name(self) -> str:
        """Return its name in the class."""
        return self.fault.partition(".")[2]

    @property
    def ends_s(self) -> float:
        """Return when it is over."""
        return self.at_s + self.for_s

    def meets(self, seat: str, duty: str) -> bool:
        """Say whether it strikes a seat at a duty, "" for what is none."""
        is_at = not self.duties or any(f"{duty}/".startswith(f"{one}/") for one in self.duties)
        return is_at and (not self.seats or seat in self.seats)

    def acts(self) -> Iterator[tuple[float, int]]:
        """Yield when something is done in it, in seconds of the world's wall, and which of its acts that is."""
        times = max(1, round(self.size))
        yield from ((self.at_s + n * self.for_s / times, self.act + n) for n in range(times))


class WorldPlan(_Plain):
    """A world to be lived.

    Attributes:
        seed: What it was drawn from, and what its minds draw from.
        start: Society time, and the wall's time of day, at the beginning.
        clock: Whose time it is lived in.
        speed: Society seconds a wall second; 1 in virtual and real time.
        wall_s: How long it lives, in seconds of the wall.
        calm_s: From when on nothing goes wrong any more; `wall_s` where there is no calm.
        most_s: How long it lives at most in society time, however fast somebody lets it run, in seconds.
        bus: `memory`, or `sqlite` on files.
        systems: Which systems live.
        cycle_h: Hours from one debate to the next.
        temper: What its simulated minds are like, by its name in `moot.chaos.tempers`.
        panels: What panels have to say in promotions and in the weekly cycle.
        admin: Whether a simulated admin answers escalations; in virtual time only.
        models: Seats that models fill.
        budget_usd: What those may spend in a day, in US dollars; 0: no limit.
        deeds: What people do by right.
        spells: What goes wrong.
    """

    seed: int
    start: datetime
    clock: Clock
    speed: float = 1.0
    wall_s: float
    calm_s: float
    most_s: float
    bus: Literal["memory", "sqlite"] = "memory"
    systems: tuple[Literal["A", "B"], ...] = ("A", "B")
    cycle_h: int = 2
    temper: Temper = "cheap"
    panels: Literal["off", "advisory", "binding"] = "off"
    admin: bool = False
    models: tuple[str, ...] = ()
    budget_usd: float = 0.0
    deeds: tuple[Deed, ...] = ()
    spells: tuple[Spell, ...] = ()

    @property
    def has_calm(self) -> bool:
        """Say whether it goes on for long enough after its last fault to ask what has become of all."""
        return self.calm_s < self.wall_s


def most_s(days: float) -> float:
    """Return for how many seconds of society time about so many days may go on, however fast somebody lets them run."""
    return 1.5 * DAY_S * days + 40_000.0


def draw(
    seed: int,
    *,
    days: float = WEEK,
    classes: Collection[str] = CLASSES,
    rate: float = RATE,
    on_files: bool = False,
) -> WorldPlan:
    """Draw a world.

    Args:
        seed: Any whole number.
        days: About how many days the society lives; a few live `TIMES` as long.
        classes: What may go wrong in it.
        rate: Share of occasions that a spell strikes, on average; 0: nothing goes wrong.
        on_files: Whether it surely lives on files; one in fifty does so all the same.
    """
    dice = Dice("world", seed)
    shape = dice.of("shape")
    is_long = shape.chance(LONG)
    is_ripe = not is_long and dice.of("ripe").chance(RIPE)
    is_long |= is_ripe
    days *= TIMES if is_long else 1.0
    clock = dice.weighed(LONG_CLOCKS if is_long else CLOCKS)
    speed = dice.pick(SPEEDS) if clock == "accelerated" else 1.0
    wall_s = days * DAY_S / speed
    calm_s = wall_s - CALM_S / speed if days >= CALM_FROM else wall_s
    start = FIRST_DAY + timedelta(days=dice.whole(0, DAYS - 1), seconds=dice.whole(0, 86_399))
    bus: Literal["memory", "sqlite"] = "sqlite" if dice.chance(ON_FILES) or on_files else "memory"
    from_s = calm_s * shape.pick(LATE[1:] if is_ripe else LATE) if is_long else 0.0
    where = _Where(clock, bus, speed, from_s, calm_s, days, is_ripe)
    spells = tuple(_spells(dice, where, classes, rate))
    talking = dice.of("models")
    has_models = any(spell.kind == "models" for spell in spells)
    return WorldPlan(
        seed=seed,
        start=started_for(spells, start, speed, dice.of("start")),
        clock=clock,
        speed=speed,
        wall_s=wall_s,
        calm_s=calm_s,
        most_s=most_s(days),
        bus=bus,
        systems=dice.weighed(SYSTEMS if not is_long else SYSTEMS[:1]),
        cycle_h=dice.weighed(CYCLES) if not is_long else shape.weighed(LONG_CYCLES),
        temper=shape.weighed(RIPE_TEMPERS if is_ripe else LONG_TEMPERS if is_long else TEMPERS),
        panels=shape.weighed(LONG_PANELS if is_long else PANELS),
        admin=clock == "virtual" and dice.chance(0.5 if not is_long else 0.9),
        deeds=tuple(_deeds(dice.of("deeds"), calm_s, dice.whole(0, MOST_LIFE))),
        models=_some_seats(talking, 8) if has_models else (),
        budget_usd=talking.pick((0.0, 0.0, 0.002, 0.02)) if has_models else 0.0,
        spells=spells,
    )


def _deeds(dice: Dice, until_s: float, count: int) -> Iterator[Deed]:
    drawn = [Deed(at_s=dice.between(0.0, until_s), kind=dice.weighed(LIFE), n=n) for n in range(count)]
    yield from sorted(drawn, key=lambda deed: deed.at_s)


class _Where(NamedTuple):
    """What of a world tells which spells it can have: those of a ripe one come seldom, but for aimed ones."""

    clock: str
    bus: str
    speed: float
    from_s: float
    until_s: float
    days: float
    is_ripe: bool

    @property
    def active(self) -> float:
        """Share of classes that are at work."""
        return ACTIVE_RIPE if self.is_ripe else ACTIVE if self.days <= WEEK else ACTIVE_LONG

    @property
    def most(self) -> int:
        """Most spells of a class."""
        return SPELLS_RIPE if self.is_ripe else max(1, round(SPELLS * min(self.days / WEEK, 2.0)))


def _spells(dice: Dice, where: _Where, classes: Collection[str], rate: float) -> Iterator[Spell]:
    """Draw the spells of all classes; each class has dice of its own, so that others may be left out."""
    if not rate:
        return
    for number, kind in enumerate(CLASSES):
        if where.is_ripe and kind in classes:
            yield from _aimed(dice.of("aimed", kind), 1_000 * number + AIMED_FROM, kind, where)
        own = dice.of("class", kind)
        rows = [
            (name, row.weight * (LATELY.get(f"{kind}.{name}", 1.0) if where.days > WEEK else 1.0))
            for name, row in FAULTS[kind].items()
            if where.clock in (row.clocks or (where.clock,)) and where.bus in (row.buses or (where.bus,))
        ]
        if not own.chance(where.active) and len(classes) > 1:
            continue
        if kind not in classes or not rows:
            continue
        for n in range(own.whole(1, where.most)):
            name = own.weighed(rows)
            yield _spell(own, 1_000 * number + n, f"{kind}.{name}", where, rate)


def _aimed(dice: Dice, first: int, kind: str, where: _Where) -> Iterator[Spell]:
    """Draw the spells of a class that are aimed at duties; they last until all is calm."""
    aims = [(name, duty) for name, duties in AIMED.items() if name.startswith(f"{kind}.") for duty in duties]
    for n, (name, duty) in enumerate(aims, first):
        rate, size = dice.between(*AIMED_RATES), fault(name).size(dice.share())
        if dice.chance(AIMS):
            yield Spell(
                n=n,
                fault=name,
                at_s=round(where.from_s, 3),
                for_s=round(where.until_s - where.from_s, 3),
                rate=round(rate, 3),
                size=round(size, 3),
                duties=(duty,) if duty else (),
            )


def _spell(dice: Dice, n: int, name: str, where: _Where, rate: float) -> Spell:
    row = fault(name)
    at_s = dice.between(where.from_s, where.until_s)
    for_s = min(dice.between(*row.lasts_s) / where.speed, where.until_s - at_s)
    size = row.size(dice.share())
    if name == "time.set" and dice.chance(BACK):
        size = -size
    return Spell(
        n=n,
        fault=name,
        at_s=round(at_s, 3),
        for_s=round(for_s, 3),
        rate=round(min(dice.between(0.0, 2.0 * rate), 1.0), 3),
        size=round(size, 3),
        seats=_seats(dice) if name.startswith("bots.") else (),
    )


def _seats(dice: Dice) -> tuple[str, ...]:
    """Draw whom a spell strikes: everybody, or a few."""
    return () if dice.chance(0.4) else _some_seats(dice)


def _some_seats(dice: Dice, most: int = 4) -> tuple[str, ...]:
    bots = sorted(rulebook().bots)
    return tuple(sorted({dice.pick(bots) for _ in range(dice.whole(1, most))}))
