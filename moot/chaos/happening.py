"""What happens in a world at an instant of its own: what people do by right, acts of a spell, the calm."""

from __future__ import annotations

from typing import Final, NamedTuple

from moot.chaos.faults import fault
from moot.chaos.plan import Spell, WorldPlan

CALM: Final = "calm"
"""The end of all faults, as a kind of happening."""


class Happening(NamedTuple):
    """Something that happens at an instant of a world.

    Attributes:
        at_s: When, in seconds of the world's wall.
        kind: "class.name" of a fault, "life.name" of a deed, or `CALM`.
        n: Tells its dice from others of its kind.
        spell: The spell that it belongs to, None for a deed.
    """

    at_s: float
    kind: str
    n: int
    spell: Spell | None = None


def happenings(plan: WorldPlan) -> list[Happening]:
    """Return all that happens at an instant of its own, in order."""
    found = [Happening(deed.at_s, f"life.{deed.kind}", deed.n) for deed in plan.deeds]
    for spell in plan.spells:
        if fault(spell.fault).is_act:
            found += [Happening(at_s, spell.fault, 100 * spell.n + act, spell) for at_s, act in spell.acts()]
        elif not spell.for_s and not fault(spell.fault).is_whole and spell.fault != "crash.cut":
            found.append(Happening(spell.at_s, spell.fault, spell.n, spell))
    if plan.has_calm:
        found.append(Happening(plan.calm_s, CALM, 0))
    return sorted(found, key=lambda one: (one.at_s, one.kind, one.n))
