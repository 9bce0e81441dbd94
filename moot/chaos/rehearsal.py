"""A world as a scene file tells it: what `rehearse` in it means, and how a plan is written so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import AfterValidator, Field

from moot.chaos.faults import FAULTS, fault
from moot.chaos.plan import DAY_S, LIFE, Deed, Spell, Temper, WorldPlan, known_duty, most_s
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.faults import unknown
from moot.protocols.kernel.frozen import MAX_WHOLE
from moot.protocols.kernel.times import rfc3339
from moot.simulation.durations import written
from moot.simulation.fields import Duration, KnownSeat, Strict

NONE: Final = timedelta(0)
ACTS: Final = 100
"""Acts that a number draws."""
MOST: Final = timedelta(days=366)

Draw = Annotated[int, Field(ge=0, le=MAX_WHOLE)]


def _fault(name: str) -> str:
    known = [f"{kind}.{one}" for kind, rows in FAULTS.items() for one in rows]
    if name not in known:
        raise ValueError(unknown(name, known).replace("such field", f"fault {name[:40]!r}"))
    return name


def _hours(every: timedelta) -> timedelta:
    if every % timedelta(hours=1) or not timedelta(hours=1) <= every < timedelta(days=1):
        raise ValueError("choose whole hours from 1h to 23h")
    return every


def _act(name: str) -> str:
    known = [one for one, _ in LIFE]
    if name not in known:
        raise ValueError(f"people do not {name[:40]!r} here: choose from {', '.join(known)}")
    return name


class Wrong(Strict):
    """A spell: `fault` from `after` on, `for` so long, at a `share` of occasions."""

    fault: Annotated[str, AfterValidator(_fault)]
    after: Duration = NONE
    lasts: Annotated[Duration, Field(alias="for")] = NONE
    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    size: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    seats: tuple[KnownSeat, ...] = ()
    duties: tuple[Annotated[str, AfterValidator(known_duty)], ...] = ()
    draw: Draw | None = None


class Done(Strict):
    """Something that a person does by right, `after` so long."""

    act: Annotated[str, AfterValidator(_act)]
    after: Duration
    draw: Draw | None = None


class Rehearsal(Strict):
    """What `moot chaos` draws, said instead; see docs/how-to/write-a-scene.md.

    Attributes:
        every: From one debate to the next, in whole hours.
        clock: Whose time it is; durations are those of the wall.
        speed: Society seconds a wall second, in accelerated time.
        bus: `memory`, or `sqlite` on files.
        calm: From when on nothing goes wrong any more; None: it is never asked what has become of all.
        minds: What the simulated minds are like.
        panels: What panels have to say in promotions and in the weekly cycle.
        admin: Whether a simulated admin answers escalations.
        models: Seats that models fill.
        budget_usd: What those may spend in a day; 0: no limit.
        people: What people do by right.
        faults: What goes wrong.
    """

    every: Annotated[Duration, AfterValidator(_hours)] = timedelta(hours=2)
    clock: Literal["virtual", "accelerated", "real"] = "virtual"
    speed: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    bus: Literal["memory", "sqlite"] = "memory"
    calm: Duration | None = None
    minds: Temper = "cheap"
    panels: Literal["off", "advisory", "binding"] = "off"
    admin: bool = False
    models: tuple[KnownSeat, ...] = ()
    budget_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    people: tuple[Done, ...] = ()
    faults: tuple[Wrong, ...] = ()


def world_of(
    rehearsal: Rehearsal, *, seed: int, start: datetime, until: timedelta, systems: Sequence[Any]
) -> WorldPlan:
    """Make the plan that a scene tells.

    Raises:
        BadInput: Something in it cannot be together.
    """
    if not NONE < until <= MOST:
        raise BadInput(f"until: rehearse more than nothing, at most {MOST.days}d")
    if rehearsal.speed != 1.0 and rehearsal.clock != "accelerated":
        raise BadInput("rehearse.speed: it needs `clock: accelerated`")
    if rehearsal.admin and rehearsal.clock != "virtual":
        raise BadInput("rehearse.admin: a simulated admin needs `clock: virtual`")
    wall_s = until.total_seconds()
    calm_s = wall_s if rehearsal.calm is None else min(rehearsal.calm.total_seconds(), wall_s)
    return WorldPlan(
        seed=seed,
        start=start,
        clock=rehearsal.clock,
        speed=rehearsal.speed,
        wall_s=wall_s,
        calm_s=calm_s,
        most_s=most_s(wall_s * rehearsal.speed / DAY_S),
        bus=rehearsal.bus,
        systems=tuple(systems),
        cycle_h=rehearsal.every // timedelta(hours=1),
        temper=rehearsal.minds,
        panels=rehearsal.panels,
        admin=rehearsal.admin,
        models=rehearsal.models,
        budget_usd=rehearsal.budget_usd,
        deeds=tuple(
            Deed(at_s=one.after.total_seconds(), kind=one.act, n=n if one.draw is None else one.draw)
            for n, one in enumerate(rehearsal.people)
        ),
        spells=tuple(_spell(n, one, rehearsal) for n, one in enumerate(rehearsal.faults)),
    )


def _spell(place: int, wrong: Wrong, rehearsal: Rehearsal) -> Spell:
    row = fault(wrong.fault)
    if row.clocks and rehearsal.clock not in row.clocks:
        raise BadInput(f"rehearse.faults.{place}: {wrong.fault} needs `clock: {' or '.join(row.clocks)}`")
    n, act = place, 0
    if wrong.draw is not None:
        n, act = divmod(wrong.draw, ACTS) if row.is_act else (wrong.draw, 0)
    return Spell(
        n=n,
        act=act,
        fault=wrong.fault,
        at_s=wrong.after.total_seconds(),
        for_s=wrong.lasts.total_seconds(),
        rate=wrong.share,
        size=wrong.size,
        seats=wrong.seats,
        duties=wrong.duties,
    )


def text_of(plan: WorldPlan, says: Iterable[str]) -> str:
    """Write a plan as a scene file.

    Args:
        plan: The plan.
        says: What stands above it, as comments.
    """
    top: dict[str, Any] = {
        "start": rfc3339(plan.start).replace(".000000Z", "Z"),
        "until": written(plan.wall_s),
        "seed": plan.seed,
        "systems": f"[{', '.join(plan.systems)}]",
    }
    lines = [f"# {line}".rstrip() for line in says]
    lines += [f"{key}: {value}" for key, value in top.items()]
    lines.append("rehearse:")
    lines += [f"  {key}: {_flow(value)}" for key, value in _settings(plan)]
    for key, found in (("people", _deeds(plan)), ("faults", _wrongs(plan))):
        things = [f"    - {_flow(one)}" for one in found]
        lines += [f"  {key}:", *things] if things else []
    if lines[-1] == "rehearse:":
        lines[-1] = "rehearse: {}"
    return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    """Write a value in one line."""
    return (
        yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True)
        .removesuffix("\n...\n")
        .strip()
    )


def _settings(plan: WorldPlan) -> Iterator[tuple[str, Any]]:
    yield "every", f"{plan.cycle_h}h"
    if plan.clock != "virtual":
        yield "clock", plan.clock
    if plan.speed != 1.0:
        yield "speed", plan.speed
    if plan.bus != "memory":
        yield "bus", plan.bus
    if plan.has_calm:
        yield "calm", written(plan.calm_s)
    if plan.temper != "cheap":
        yield "minds", plan.temper
    if plan.panels != "off":
        yield "panels", plan.panels
    if plan.admin:
        yield "admin", True
    if plan.models:
        yield "models", list(plan.models)
    if plan.budget_usd:
        yield "budget_usd", plan.budget_usd


def _deeds(plan: WorldPlan) -> Iterator[dict[str, Any]]:
    for place, deed in enumerate(plan.deeds):
        draw = {"draw": deed.n} if deed.n != place else {}
        yield {"after": written(deed.at_s), "act": deed.kind, **draw}


def _wrongs(plan: WorldPlan) -> Iterator[dict[str, Any]]:
    for place, spell in enumerate(plan.spells):
        said: dict[str, Any] = {"fault": spell.fault}
        if spell.at_s and spell.fault != "crash.cut":
            said["after"] = written(spell.at_s)
        if spell.for_s:
            said["for"] = written(spell.for_s)
        if spell.rate != 1.0:
            said["share"] = spell.rate
        if spell.size != 1.0:
            said["size"] = int(spell.size) if spell.size.is_integer() else spell.size
        if spell.seats:
            said["seats"] = list(spell.seats)
        if spell.duties:
            said["duties"] = list(spell.duties)
        draw = ACTS * spell.n + spell.act if fault(spell.fault).is_act else spell.n
        if (spell.n, spell.act) != (place, 0):
            said["draw"] = draw
        yield said
