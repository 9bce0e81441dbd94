"""The table of weeks that were lived: it extends, its page is its own, and no row is at zero without a reason."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from moot.chaos.coverage import SEP, all_rows
from moot.chaos.run import ChaosOptions, Week
from moot.protocols.kernel.machine import Machine
from moot.protocols.research.architecture_table import ARCHITECTURE
from moot.protocols.research.cycle import CYCLE
from moot.protocols.research.debate_machine import DEBATE
from moot.protocols.research.debate_table import CYCLE_BUDGET, EXTENSION_COSTS, REVISION_COSTS
from tests.soak import run
from tests.soak.unreached import UNREACHED


def lived(first: int, last: int) -> run.Range:
    """Return a range in which each week took one row once."""
    weeks = [
        Week(seed, "virtual", "memory", 10, 1, rows={all_rows()[0]: 1}) for seed in range(first, last + 1)
    ]
    return run.range_of(ChaosOptions(seed=first, weeks=len(weeks)), weeks, 1.0)


def test_ranges_that_meet_are_one_and_their_counts_add_up() -> None:
    found = run.together([lived(11, 20), lived(1, 10), lived(31, 40)])
    assert [one["seeds"] for one in found] == [[1, 20], [31, 40]]
    assert [one["messages"] for one in found] == [200, 100]
    assert run.taken(found)[all_rows()[0]] == 30


def test_a_soak_that_was_stopped_goes_on_with_what_is_missing() -> None:
    ranges = [lived(11, 20), lived(31, 40)]
    assert list(run.missing(ranges, 1, 50)) == [(1, 10), (21, 10), (41, 10)]
    assert list(run.missing(ranges, 15, 20)) == [(21, 10)]
    assert list(run.missing(ranges, 12, 5)) == []
    assert list(run.missing([], 7, 3)) == [(7, 3)]


def test_a_week_that_is_lived_again_without_a_finding_loses_its_line_and_keeps_its_counts() -> None:
    before = lived(1, 9)

    def live(seed: int) -> run.Range:
        return {**lived(seed, seed), "findings": {"7": ["still found"]} if seed == 7 else {}}

    found = run.mended([{**before, "findings": {"4": ["was found"], "7": ["was found"]}}], live)
    assert found == [{**before, "findings": {"7": ["still found"]}}]


def test_what_was_lived_under_other_plans_stays_beside_what_is_lived_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(run, "PAGE", tmp_path / "results.md")
    before = {**lived(1, 9), "plans": "of before"}
    run.RESULTS.write_text(run.json.dumps([before]))
    run.write([lived(1, 5)])
    run.write([lived(1, 6)])
    assert run.known() == [lived(1, 6)]
    assert run.known(is_past=True) == [before]
    assert "| of before | 1 to 9 | 9 |" in run.PAGE.read_text()


def test_the_page_is_that_of_the_committed_ranges() -> None:
    ranges = run.json.loads(run.RESULTS.read_text(encoding="utf-8"))
    page = run.page(ranges)
    assert page == run.PAGE.read_text(encoding="utf-8")
    assert all(f"- seed {seed}: " in page for one in ranges for seed in one["findings"])


def test_what_is_said_to_be_unreached_is_a_row_and_was_never_taken() -> None:
    counts = run.taken(run.json.loads(run.RESULTS.read_text(encoding="utf-8")))
    assert {name for name in UNREACHED if counts.get(name) != 0} == set()


def latest(machine: Machine, began: timedelta, guards: dict[str, timedelta]) -> dict[str, timedelta]:
    """Return when each phase is over at the latest, counted from the cycle's beginning.

    Args:
        machine: The table.
        began: When its first phase begins at the latest.
        guards: Until when a phase may be entered at all, where a rule says so.
    """
    limits = {
        step.phase: step.within + step.grace
        for name, step in machine.steps.items()
        if name != "budget" and isinstance(step.within, timedelta)
    }
    over: dict[str, timedelta] = {}
    budget = machine.steps["budget"]
    todo = [(budget.phase, began)]
    while todo:
        phase, entered = todo.pop()
        if phase not in (budget.phase, *budget.lasts):
            continue
        end = min(entered, guards.get(phase, entered)) + limits[phase]
        if end <= over.get(phase, timedelta(0)):
            continue
        over[phase] = end
        for step in machine.steps.values():
            if step.phase == phase:
                moves = [*step.moves.values(), *([step.missed.move] if step.missed is not None else [])]
                todo += [(str(to), end) for move in moves for to in move.to]
    return over


def test_a_budget_that_is_said_to_be_spent_nowhere_sooner_cannot_be_spent_there() -> None:
    hypothesis = CYCLE.steps["hypothesis"]
    assert isinstance(hypothesis.within, timedelta)
    guards = {"requesting": CYCLE_BUDGET - REVISION_COSTS, "rebutting_3": CYCLE_BUDGET - EXTENSION_COSTS}
    ends = (
        (DEBATE, latest(DEBATE, hypothesis.within + hypothesis.grace, guards)),
        (ARCHITECTURE, latest(ARCHITECTURE, timedelta(0), {})),
    )
    never = {
        SEP.join((machine.kind, phase, "RULING budget"))
        for machine, over in ends
        for phase in (machine.steps["budget"].phase, *machine.steps["budget"].lasts)
        if over[phase] <= CYCLE_BUDGET
    }
    assert never == {name for name in UNREACHED if name.endswith("RULING budget")}
