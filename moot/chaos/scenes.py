"""What a run found, told as scenes: one for each kind of finding, as small as it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.chaos.plan import WorldPlan
from moot.chaos.rehearsal import text_of
from moot.chaos.run import ChaosOptions, ChaosResult, Week, lived
from moot.chaos.shrink import MOST_LIVES, Shrunk, shrink

NAME: Final = "scene.yaml"
"""In the folder of a week with a finding."""
WIDEST: Final = 160

Told = Callable[[float, str], None]


class FoundScene(NamedTuple):
    """A finding as a scene.

    Attributes:
        seed: Of the week that it was found in.
        finding: What is found.
        says: How small it became, and how.
        text: The scene file.
        path: Where it is kept; None: nowhere.
    """

    seed: int
    finding: str
    says: str
    text: str
    path: Path | None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**self._asdict(), "path": None if self.path is None else str(self.path)}


def scenes_of(result: ChaosResult, told: Told | None = None) -> Iterator[FoundScene]:
    """Yield a scene for each kind of finding, of the first week that has it.

    Args:
        result: What came of a run.
        told: Called as worlds are lived for it, with a share of all that may be, and what is left of the week.
    """
    first: dict[str, Week] = {}
    for week in result.found:
        first.setdefault(week.kind, week)
    for n, week in enumerate(first.values()):

        def tell(tried: int, plan: WorldPlan, n: int = n) -> None:
            if told is not None:
                told((n + tried / MOST_LIVES) / len(first), f"{_count(plan)} left after {tried} worlds")

        yield _scene(result.options, week, tell)


def _scene(options: ChaosOptions, week: Week, told: Callable[[int, WorldPlan], None]) -> FoundScene:
    plan = options.plan(week.seed)
    found = lived(plan)
    finding, small, says = week.findings[0], plan, "it was not found again, so it is told whole"
    if found.findings:
        shrunk = shrink(plan, found, lived, told=told)
        finding, small, says = str(shrunk.finding), shrunk.plan, _says(plan, shrunk)
    text = text_of(small, (_line(finding), f"{options.command(week.seed)}: {says}."))
    path = None
    if options.out is not None:
        path = options.out / str(week.seed) / NAME
        path.write_text(text, encoding="utf-8")
    return FoundScene(week.seed, finding, says, text, path)


def _says(plan: WorldPlan, shrunk: Shrunk) -> str:
    said = f"{_count(plan)} became {_count(shrunk.plan)} in {shrunk.tried} worlds"
    return said if shrunk.is_done else f"{said}, where it gave up"


def _count(plan: WorldPlan) -> str:
    """Say how much goes wrong and is done in a plan."""
    counts = ((len(plan.spells), "fault"), (len(plan.deeds), "act"))
    said = [f"{n} {what if n == 1 else f'{what}s'}" for n, what in counts if n]
    return " and ".join(said) or "nothing"


def _line(text: str) -> str:
    """Return a text as one line of a comment, whatever people wrote in it."""
    plain = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return plain if len(plain) <= WIDEST else f"{plain[: WIDEST - 1]}…"
