"""A plan that finds something, made as small as it gets while it finds the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from moot.chaos import smaller
from moot.chaos.judge import Finding
from moot.chaos.plan import WorldPlan
from moot.chaos.world import Outcome

MOST_LIVES: Final = 600
"""So many worlds are lived to make one small."""
PASSES: Final = 4
"""So many times all is tried again, as long as something got smaller."""

Live = Callable[[WorldPlan], Outcome]
Told = Callable[[int, WorldPlan], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What a plan shrank to.

    Attributes:
        plan: The smallest that was found.
        finding: What it finds.
        tried: How many worlds were lived for it.
        is_done: Whether nothing that was tried makes it smaller; False: it might get smaller yet.
    """

    plan: WorldPlan
    finding: Finding
    tried: int
    is_done: bool


def shrink(
    plan: WorldPlan, found: Outcome, live: Live, *, most: int = MOST_LIVES, told: Told | None = None
) -> Shrunk:
    """Make a plan small.

    The same finding is one of the same name: a law, an invariant, `liveness`.

    Args:
        plan: A plan that finds something.
        found: What came of it.
        live: Lives a plan.
        most: So many worlds are lived at most.
        told: Called after each, with how many there were and what is left.

    Raises:
        ValueError: Nothing was found in it.
    """
    if not found.findings:
        raise ValueError(f"seed {plan.seed}: nothing was found")
    return _Shrinking(plan, found, live, most, told).shrink()


class _Shrinking:
    def __init__(self, plan: WorldPlan, found: Outcome, live: Live, most: int, told: Told | None) -> None:
        self._plan = plan
        self._finding = found.findings[0]
        self._shown_at = _shown_at(found, self._finding)
        self._live = live
        self._most = most
        self._told = told
        self._tried: set[str] = {plan.model_dump_json()}
        self._is_spent = False

    def shrink(self) -> Shrunk:
        """Try all, as long as something gets smaller; then make what is left round."""
        self._take(smaller.told(self._plan))
        for _ in range(PASSES):
            before = self._plan
            self._pass()
            if self._plan == before:
                break
        self._while(lambda: smaller.rounder(self._plan))
        self._while(lambda: smaller.shorter(self._plan, self._shown_at))
        self._while(lambda: smaller.rounder_end(self._plan))
        self._while(lambda: smaller.renumbered(self._plan))
        return Shrunk(
            plan=self._plan, finding=self._finding, tried=len(self._tried) - 1, is_done=not self._is_spent
        )

    def _pass(self) -> None:
        """Try everything once: what makes worlds quick to live comes first."""
        self._while(lambda: smaller.shorter(self._plan, self._shown_at))
        self._drop_classes()
        self._drop_things()
        self._while(lambda: smaller.plainer(self._plan))
        self._take(smaller.apart(self._plan))
        self._drop_things()
        self._while(lambda: smaller.sooner(self._plan))
        self._while(lambda: smaller.shorter(self._plan, self._shown_at))
        self._while(lambda: smaller.simpler(self._plan))

    def _drop_classes(self) -> None:
        for kind in dict.fromkeys(spell.kind for spell in self._plan.spells):
            spells = [spell for spell in self._plan.spells if spell.kind != kind]
            self._take(smaller.changed(self._plan, spells=tuple(spells)))
        self._take(smaller.changed(self._plan, deeds=()))

    def _drop_things(self) -> None:
        """Drop what happens in ever smaller pieces, from the end on."""
        size = len(smaller.things(self._plan))
        while size:
            last = len(smaller.things(self._plan))
            while last > 0:
                left = smaller.things(self._plan)
                first = max(last - size, 0)
                self._take(smaller.with_things(self._plan, [*left[:first], *left[last:]]))
                last = first
            size //= 2

    def _while(self, steps: Callable[[], Iterable[WorldPlan]]) -> None:
        """Take the first step that still finds it, and go on from there, until none does."""
        while any(self._take(step) for step in steps()):
            pass

    def _take(self, plan: WorldPlan) -> bool:
        """Live a plan; go on with it if it finds the same."""
        key = plan.model_dump_json()
        if key in self._tried:
            return False
        if len(self._tried) > self._most:
            self._is_spent = True
            return False
        self._tried.add(key)
        outcome = self._live(plan)
        same = next((one for one in outcome.findings if one.name == self._finding.name), None)
        if same is not None:
            self._plan, self._finding = plan, same
            self._shown_at = _shown_at(outcome, same)
        if self._told is not None:
            self._told(len(self._tried) - 1, self._plan)
        return same is not None


def _shown_at(outcome: Outcome, finding: Finding) -> datetime | None:
    """Return society time of the message where a finding shows."""
    if 0 < finding.seq <= len(outcome.log):
        return outcome.log[finding.seq - 1].sent_at
    return None
