"""Which spells strike now: asked by whoever stands at a port, for each occasion."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from moot.chaos.dice import Dice
from moot.chaos.plan import Spell


class Striking:
    """Spells, as their world passes.

    Attributes:
        happened: How often each fault struck.
    """

    def __init__(self, seed: int, spells: Iterable[Spell], passed_s: Callable[[], float]) -> None:
        """Take the seed, the spells, and what tells the seconds that have passed."""
        self.happened: Counter[str] = Counter()
        self._dice = Dice("strike", seed)
        self._passed_s = passed_s
        self._spells: dict[str, list[Spell]] = defaultdict(list)
        for spell in spells:
            self._spells[spell.fault].append(spell)

    def under(self, fault: str, seat: str = "", duty: str = "") -> Iterator[Spell]:
        """Yield the spells of a fault that a seat is under now, at a duty, as `Spell.duties` names them."""
        spells = self._spells.get(fault)
        if not spells:
            return
        now = self._passed_s()
        yield from (one for one in spells if one.at_s <= now < one.ends_s and one.meets(seat, duty))

    def strikes(self, fault: str, seat: str, *occasion: object, duty: str = "") -> Spell | None:
        """Return the spell that strikes an occasion, None for none; the same one whenever it is asked."""
        spell = self.about_to(fault, seat, *occasion, duty=duty)
        if spell is not None:
            self.happened[fault] += 1
        return spell

    def about_to(self, fault: str, seat: str, *occasion: object, duty: str = "") -> Spell | None:
        """Return the spell that strikes an occasion somewhere else, where it is counted; None for none."""
        spells = (one for one in self.under(fault, seat, duty) if self.dice(one, *occasion).chance(one.rate))
        return next(spells, None)

    def dice(self, spell: Spell, *occasion: object) -> Dice:
        """Return the dice of a spell for an occasion."""
        return self._dice.of(spell.n, *occasion)
