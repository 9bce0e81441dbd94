"""Plans that are smaller than a plan: one step each, none of which need still find what the plan finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from moot.chaos.faults import fault
from moot.chaos.plan import DAY_S, Deed, Spell, WorldPlan, most_s

ROUND_S: Final = (86_400.0, 3_600.0, 600.0, 60.0, 10.0, 1.0)
"""What instants and lengths are rounded to, the simplest first."""
SHARES: Final = (0.25, 0.5, 0.75, 0.9)
"""To which of its length a world is cut, the shortest first."""
LONGER: Final = 1.5
"""By so much a world may be longer, for a rounder length."""
LEAST_S: Final = 60.0
"""A world is not made shorter than that, in society seconds."""
CYCLES_H: Final = (12, 6, 4, 3)
DRAWS: Final = 6
"""So many other draws are tried for something whose own has a long number."""


def changed(plan: WorldPlan, **over: Any) -> WorldPlan:
    """Return a plan with something else in it."""
    return plan.model_copy(update=over)


def things(plan: WorldPlan) -> list[Spell | Deed]:
    """Return all that happens in a plan."""
    return [*plan.spells, *plan.deeds]


def told(plan: WorldPlan) -> WorldPlan:
    """Return a plan as a scene tells it: to the microsecond, and a crash at a message at no instant."""
    return changed(
        plan,
        spells=tuple(
            changed_spell(one, at_s=0.0) if one.fault == "crash.cut" else one for one in plan.spells
        ),
        wall_s=round(plan.wall_s, 6),
        calm_s=round(plan.calm_s, 6),
        most_s=most_s(round(plan.wall_s, 6) * plan.speed / DAY_S),
        deeds=tuple(_deed_at(one, round(one.at_s, 6)) for one in plan.deeds),
    )


def with_things(plan: WorldPlan, kept: Sequence[Spell | Deed]) -> WorldPlan:
    """Return a plan in which only some things happen, in their order."""
    return changed(
        plan,
        spells=tuple(one for one in kept if isinstance(one, Spell)),
        deeds=tuple(one for one in kept if isinstance(one, Deed)),
    )


def until(plan: WorldPlan, wall_s: float) -> WorldPlan:
    """Return a plan that is over earlier, without what would happen later.

    A calm at its end stays as long as it is, and begins earlier.
    """
    calm = plan.wall_s - plan.calm_s
    busy = wall_s - calm
    spells = (
        changed_spell(one, for_s=round(min(one.for_s, busy - one.at_s), 3))
        for one in plan.spells
        if one.at_s < busy
    )
    return changed(
        plan,
        wall_s=wall_s,
        calm_s=busy,
        most_s=most_s(wall_s * plan.speed / DAY_S),
        spells=tuple(spells),
        deeds=tuple(deed for deed in plan.deeds if deed.at_s < busy),
    )


def changed_spell(spell: Spell, **over: Any) -> Spell:
    """Return a spell with something else in it."""
    return spell.model_copy(update=over)


def shorter(plan: WorldPlan, shown_at: datetime | None) -> Iterator[WorldPlan]:
    """Yield plans that are over earlier: where the finding shows first, then by shares.

    Args:
        plan: The plan.
        shown_at: Society time of the message where the finding shows, if it does so at one.
    """
    calm, uncalm = plan.wall_s - plan.calm_s, changed(plan, calm_s=plan.wall_s)
    if shown_at is not None:
        shown_s = (shown_at - plan.start).total_seconds() / plan.speed
        for wall_s in (shown_s + 60.0 / plan.speed, shown_s * 1.1):
            if LEAST_S / plan.speed <= wall_s < plan.wall_s * SHARES[-1]:
                yield until(uncalm, round(wall_s, 3))
    if calm:
        yield uncalm
    for share in SHARES:
        if plan.calm_s * share >= LEAST_S / plan.speed:
            yield until(plan, round(plan.calm_s * share + calm, 3))
        if calm:
            yield changed(plan, wall_s=round(plan.calm_s + calm * share, 3))


def sooner(plan: WorldPlan) -> Iterator[WorldPlan]:
    """Yield plans in which all happens earlier."""
    for share in SHARES:
        yield changed(
            plan,
            spells=tuple(changed_spell(one, at_s=round(one.at_s * share, 3)) for one in plan.spells),
            deeds=tuple(_deed_at(one, round(one.at_s * share, 3)) for one in plan.deeds),
        )


def plainer(plan: WorldPlan) -> Iterator[WorldPlan]:
    """Yield plans of a simpler society."""
    if plan.bus != "memory":
        yield changed(plan, bus="memory")
    if plan.clock != "virtual":
        yield _virtual(plan)
    if plan.models:
        yield changed(plan, models=(), budget_usd=0.0)
        if plan.budget_usd:
            yield changed(plan, budget_usd=0.0)
        for seat in plan.models:
            yield changed(plan, models=tuple(one for one in plan.models if one != seat))
    if plan.admin:
        yield changed(plan, admin=False)
    if plan.temper != "cheap":
        yield changed(plan, temper="cheap")
    if plan.panels != "off":
        yield changed(plan, panels="off")
    if len(plan.systems) > 1:
        yield changed(plan, systems=("A",))
        yield changed(plan, systems=("B",))
    for hours in CYCLES_H:
        if hours > plan.cycle_h:
            yield changed(plan, cycle_h=hours)


def _deed_at(deed: Deed, at_s: float) -> Deed:
    return deed.model_copy(update={"at_s": at_s})


def _virtual(plan: WorldPlan) -> WorldPlan:
    """Return a plan in virtual time, with all at its instant of society time."""
    speed = plan.speed
    spells = (
        changed_spell(one, at_s=round(one.at_s * speed, 3), for_s=round(one.for_s * speed, 3))
        for one in plan.spells
        if not fault(one.fault).clocks or "virtual" in fault(one.fault).clocks
    )
    return changed(
        plan,
        clock="virtual",
        speed=1.0,
        wall_s=plan.wall_s * speed,
        calm_s=plan.calm_s * speed,
        spells=tuple(spells),
        deeds=tuple(_deed_at(deed, round(deed.at_s * speed, 3)) for deed in plan.deeds),
    )


def apart(plan: WorldPlan) -> WorldPlan:
    """Return the same plan with each act of a spell as one of its own."""
    spells: list[Spell] = []
    for spell in plan.spells:
        if fault(spell.fault).is_act:
            acts = [
                changed_spell(spell, at_s=round(at_s, 3), for_s=0.0, size=1.0, act=number)
                for at_s, number in spell.acts()
            ]
            spells += acts
        else:
            spells.append(spell)
    return changed(plan, spells=tuple(spells))


def simpler(plan: WorldPlan) -> Iterator[WorldPlan]:
    """Yield plans with one simpler spell: of one seat, shorter, at every occasion, of a round size."""
    for n, spell in enumerate(plan.spells):
        for over in _simpler(spell):
            yield _with_spell(plan, n, changed_spell(spell, **over))


def _simpler(spell: Spell) -> Iterator[dict[str, Any]]:
    if len(spell.seats) > 1:
        yield from ({"seats": (seat,)} for seat in spell.seats)
    if spell.for_s:
        half, quarter = round(spell.for_s / 2, 3), round(spell.for_s / 4, 3)
        yield {"for_s": quarter}
        yield {"at_s": round(spell.at_s + 3 * quarter, 3), "for_s": quarter}
        yield {"for_s": half}
        yield {"at_s": round(spell.at_s + half, 3), "for_s": half}
    if spell.rate != 1.0:
        yield {"rate": 1.0}
    if not fault(spell.fault).is_act and spell.size != 1.0:
        one = 1.0 if spell.size > 0 else -1.0
        yield {"size": one}
        if abs(spell.size) > 2.0:
            yield from ({"size": float(round(spell.size * share))} for share in SHARES)
        yield {"size": float(f"{spell.size:.0e}")}
        yield {"size": float(round(spell.size))}


def rounder(plan: WorldPlan) -> Iterator[WorldPlan]:
    """Yield plans with one rounder instant or length: the simplest of each first."""
    for n, spell in enumerate(plan.spells):
        for at_s in _rounded(spell.at_s):
            yield _with_spell(plan, n, changed_spell(spell, at_s=at_s))
        for for_s in _rounded(spell.for_s):
            yield _with_spell(plan, n, changed_spell(spell, for_s=for_s))
    for n, deed in enumerate(plan.deeds):
        for at_s in _rounded(deed.at_s):
            yield _with_deed(plan, n, _deed_at(deed, at_s))
    for unit in ROUND_S:
        since = timedelta(
            hours=plan.start.hour,
            minutes=plan.start.minute,
            seconds=plan.start.second,
            microseconds=plan.start.microsecond,
        )
        over = timedelta(seconds=since.total_seconds() % unit)
        if over:
            yield changed(plan, start=plan.start - over)


def rounder_end(plan: WorldPlan) -> Iterator[WorldPlan]:
    """Yield plans that are over at a rounder instant, a little later."""
    for wall_s in _rounded(plan.wall_s):
        if plan.wall_s < wall_s <= plan.wall_s * LONGER:
            yield changed(plan, wall_s=wall_s, calm_s=plan.calm_s if plan.has_calm else wall_s)
    if plan.has_calm:
        yield from (changed(plan, calm_s=calm_s) for calm_s in _rounded(plan.calm_s) if calm_s < plan.wall_s)


def _rounded(seconds: float) -> Iterator[float]:
    """Yield simpler lengths than one, none of which is zero."""
    for unit in ROUND_S:
        if seconds % unit:
            for count in dict.fromkeys((seconds // unit, seconds // unit + 1)):
                if count:
                    yield count * unit


def renumbered(plan: WorldPlan) -> Iterator[WorldPlan]:
    """Yield plans whose things draw by their place, all at once, then one after the other."""
    spells = [changed_spell(one, n=n, act=0) for n, one in enumerate(plan.spells)]
    deeds = [one.model_copy(update={"n": n}) for n, one in enumerate(plan.deeds)]
    yield changed(plan, spells=tuple(spells), deeds=tuple(deeds))
    for n, spell in enumerate(plan.spells):
        if (spell.n, spell.act) != (n, 0):
            for draw in range(n, n + (1 if spell.n < DRAWS + n and not spell.act else DRAWS)):
                yield _with_spell(plan, n, changed_spell(spell, n=draw, act=0))
    for n, deed in enumerate(plan.deeds):
        if deed.n != n:
            yield _with_deed(plan, n, deed.model_copy(update={"n": n}))


def _with_spell(plan: WorldPlan, n: int, spell: Spell) -> WorldPlan:
    return changed(plan, spells=(*plan.spells[:n], spell, *plan.spells[n + 1 :]))


def _with_deed(plan: WorldPlan, n: int, deed: Deed) -> WorldPlan:
    return changed(plan, deeds=(*plan.deeds[:n], deed, *plan.deeds[n + 1 :]))
