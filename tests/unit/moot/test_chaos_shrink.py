"""A plan that finds something is made small, and told as a scene that finds the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.channels.log.sequencer import Sequencer
from moot.chaos import smaller
from moot.chaos.happening import happenings
from moot.chaos.judge import Finding
from moot.chaos.plan import WorldPlan, draw
from moot.chaos.rehearsal import text_of
from moot.chaos.shrink import shrink
from moot.chaos.world import Outcome
from moot.simulation.scene import load_scene, run_scene
from tests.acceptance.test_regressions import REGRESSIONS
from tests.doubles.command_line import complaint, done, moot, write


def breaks(*faults: str, size: float = 0.0) -> tuple[WorldPlan, list[int], Outcome]:
    """Return a drawn plan, how many worlds were lived, and an outcome: wrong where faults of a size come together."""
    plan = next(
        plan
        for plan in map(draw, range(500))
        if set(faults) <= {spell.fault for spell in plan.spells if spell.size >= size} and plan.has_calm
    )
    return plan, [], Outcome(plan.seed, [Finding("law", 0, "broken")])


def test_all_is_left_out_that_a_finding_does_not_need() -> None:
    plan, tried, found = breaks("bots.late", "crash.cut")

    def live(world: WorldPlan) -> Outcome:
        tried.append(len(world.spells))
        is_wrong = {"bots.late", "crash.cut"} <= {spell.fault for spell in world.spells}
        other = [Finding("another law", 0, "is broken in all others")]
        return Outcome(world.seed, found.findings if is_wrong else other)

    shrunk = shrink(plan, found, live)
    assert sorted(spell.fault for spell in shrunk.plan.spells) == ["bots.late", "crash.cut"]
    assert all(len(spell.seats) <= 1 for spell in shrunk.plan.spells)
    assert (shrunk.plan.deeds, shrunk.plan.models, shrunk.plan.admin) == ((), (), False)
    assert (shrunk.plan.clock, shrunk.plan.bus, shrunk.plan.systems) == ("virtual", "memory", ("A",))
    assert shrunk.finding.name == "law"
    assert shrunk.is_done
    assert shrunk.tried == len(tried) < 200


def test_one_act_of_many_is_kept_with_what_it_draws() -> None:
    plan, _, found = breaks("people.say_again", size=3.0)
    spell = max((one for one in plan.spells if one.fault == "people.say_again"), key=lambda one: one.size)
    numbers = {100 * spell.n + act for _, act in spell.acts()}
    wanted = max(numbers)

    def live(world: WorldPlan) -> Outcome:
        is_wrong = any((one.kind, one.n) == (spell.fault, wanted) for one in happenings(world))
        return Outcome(world.seed, found.findings if is_wrong else [])

    (left,) = shrink(plan, found, live).plan.spells
    assert len(numbers) > 1
    assert (100 * left.n + left.act, left.size) == (wanted, 1.0)


def test_who_gives_up_says_so_and_a_plan_that_finds_nothing_is_refused() -> None:
    plan, tried, found = breaks("bots.late")

    def live(world: WorldPlan) -> Outcome:
        tried.append(1)
        return Outcome(world.seed, found.findings)

    shrunk = shrink(plan, found, live, most=5)
    assert not shrunk.is_done
    assert len(tried) == shrunk.tried == 5
    with pytest.raises(ValueError, match="nothing was found"):
        shrink(plan, Outcome(plan.seed), live)


@pytest.mark.parametrize("seed", range(30))
def test_a_scene_says_all_of_a_plan(seed: int, tmp_path: Path) -> None:
    plan = smaller.told(draw(seed))
    for world in (plan, smaller.apart(plan), smaller.told(smaller.until(plan, plan.wall_s * 0.9))):
        scene = load_scene(write(tmp_path / "scene.yaml", text_of(world, ("what is wrong",))))
        assert scene.world() == world


def test_acts_apart_are_the_same_acts() -> None:
    for seed in range(20):
        plan = draw(seed)
        whole, apart = happenings(plan), happenings(smaller.apart(plan))
        assert [one.n for one in whole] == [one.n for one in apart]
        assert [one.at_s for one in whole] == pytest.approx([one.at_s for one in apart], abs=1e-3)


def test_a_safeguard_that_is_gone_is_found_shrunk_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    words = ("chaos", "--seed", "36", "--days", "0.2", "--faults", "bots")
    with monkeypatch.context() as patched:
        patched.setattr(Sequencer, "_learn", lambda *_: None)
        ended = moot(*words, "--shrink", "--out", out, "--json")
        assert ended.exit_code == 1
        (scene,) = json.loads(ended.stdout)["scenes"]
        path = Path(scene["path"])
        small = load_scene(path).world()
        assert small is not None
        assert len(small.spells) + len(small.deeds) <= 2
        again = moot("scene", path)
        assert again.exit_code == 1
        assert scene["finding"] in again.stderr
        (old,) = [one for one in REGRESSIONS if one.stem.startswith("an-id-")]
        assert {one.name for one in run_scene(load_scene(old)).findings} >= {"ids-once"}
    assert run_scene(load_scene(path)).findings == []
    assert "has the id" not in done("scene", path, "--out", tmp_path / "kept")
    assert "every rule holds" in done("verify", tmp_path / "kept" / "log.jsonl")


def test_what_cannot_be_shrunk_or_rehearsed_is_one_line(tmp_path: Path) -> None:
    said = complaint(2, "chaos", "--seed", "4", "--days", "0.05", "--shrink")
    assert said == "moot chaos: seed 4: nothing was found, so there is nothing to shrink"
    start = "start: 2026-02-23T10:00:00Z\nuntil: 1h\n"
    for wrong, why in (
        (
            "rehearse: {faults: [{fault: bots.silnt}]}",
            "rehearse.faults.0.fault: there is no fault 'bots.silnt': did",
        ),
        (
            "rehearse: {faults: [{fault: bots.silent, from: 1h}]}",
            "rehearse.faults.0.from: there is no such field",
        ),
        (
            "rehearse: {faults: [{fault: time.set, size: 60}]}",
            "rehearse.faults.0: time.set needs `clock: real`",
        ),
        (
            "rehearse: {faults: [{fault: bots.silent, for: soon}]}",
            "rehearse.faults.0.for: 'soon' is no duration",
        ),
        ("rehearse: {faults: [{fault: bots.silent, share: 2}]}", "rehearse.faults.0.share: choose at most 1"),
        (
            "rehearse: {faults: [{fault: bots.silent, duties: [trade/flattn]}]}",
            "rehearse.faults.0.duties.0: there is no duty 'trade/flattn': name a kind of case",
        ),
        (
            "rehearse: {people: [{act: dance, after: 1m}]}",
            "rehearse.people.0.act: people do not 'dance' here",
        ),
        ("rehearse: {every: 90m}", "rehearse.every: choose whole hours"),
        ("rehearse: {speed: 60}", "rehearse.speed: it needs `clock: accelerated`"),
        ("cycle: once\nrehearse: {}", "cycle: leave it out beside `rehearse`"),
    ):
        path = write(tmp_path / "scene.yaml", f"{start}{wrong}\n")
        assert why in complaint(2, "scene", path)
    path = write(tmp_path / "scene.yaml", f"{start}rehearse: {{}}\n")
    assert "leave --mind and --model out" in complaint(2, "scene", path, "--mind", "critic=a:B")


def test_a_fault_that_never_struck_is_told(tmp_path: Path) -> None:
    text = "start: 2026-02-23T10:00:00Z\nuntil: 1h\nrehearse: {faults: [{fault: bots.slow, after: 2h, for: 1h}]}\n"
    ended = moot("scene", write(tmp_path / "scene.yaml", text))
    assert ended.exit_code == 0
    assert ended.stderr == "moot scene: rehearse.faults.0: bots.slow never struck\n"
