"""Many worlds: what they are asked for is checked, what is found is kept and can be lived again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import structlog

from moot.chaos.coverage import all_rows
from moot.chaos.faults import CLASSES, classes_of
from moot.chaos.plan import WorldPlan, draw
from moot.chaos.run import ChaosOptions, ChaosResult, Week, check, run
from moot.cli.output import console
from moot.cli.run.chaos import print_names
from moot.protocols.kernel.errors import BadInput
from tests.doubles.command_line import complaint, done


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"classes": ("bots", "boots")}, "boots"),
        ({"classes": ()}, "name one or more"),
        ({"rate": 1.5}, "rate 1.5: it is a share from 0 to 1"),
        ({"weeks": 0}, "weeks 0: live one or more"),
        ({"days": 0.0}, "days 0"),
        ({"jobs": 0}, "jobs 0"),
    ],
)
def test_what_cannot_be_lived_is_one_line(given: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        check(ChaosOptions(seed=1, **given))


def test_a_folder_that_holds_another_run_is_left_alone(tmp_path: Path) -> None:
    options = ChaosOptions(seed=1, days=0.05, out=tmp_path / "out")
    run(options)
    kept = (tmp_path / "out" / "chaos.json").read_text()
    with pytest.raises(BadInput, match="holds another run: name a new folder"):
        run(options)
    assert (tmp_path / "out" / "chaos.json").read_text() == kept
    assert json.loads(kept)["weeks"] == 1


def test_what_a_week_complains_of_is_not_shown_and_what_comes_after_it_is() -> None:
    before = structlog.get_config()
    run(ChaosOptions(seed=1, days=0.02))
    assert structlog.get_config() == before


def test_classes_are_drawn_apart_from_each_other() -> None:
    for seed in range(20):
        plan = draw(seed)
        crashes = [spell for spell in plan.spells if spell.kind == "crash"]
        alone = [spell for spell in draw(seed, classes=("bots", "crash")).spells if spell.kind == "crash"]
        assert alone == crashes
        assert draw(seed, rate=0.0).spells == ()
        assert all(spell.ends_s <= plan.calm_s + 1e-3 for spell in plan.spells)
    assert classes_of("time, bots") == ("bots", "time")
    assert {spell.kind for seed in range(40) for spell in draw(seed).spells} == set(CLASSES)


def test_a_finding_is_kept_with_its_plan_and_the_command_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moot.chaos import judge

    monkeypatch.setattr(judge, "_lost", lambda log, acked: [judge.Finding("acknowledged", 3, "it is lost")])
    result = run(ChaosOptions(seed=4, days=0.05, rate=0.5, classes=("crash",), out=tmp_path / "out"))
    (week,) = result.found
    assert week.findings == ["seq 3: acknowledged: it is lost"]
    (found,) = result.as_json()["findings"]
    assert found["command"] == "moot chaos --seed 4 --faults crash --rate 0.5 --days 0.05"
    plan = WorldPlan.model_validate_json((tmp_path / "out" / "4" / "plan.json").read_text())
    assert plan == draw(4, days=0.05, rate=0.5, classes=("crash",))
    assert len((tmp_path / "out" / "4" / "log.jsonl").read_text().splitlines()) == week.messages


def test_faults_that_never_struck_are_named() -> None:
    options = ChaosOptions(seed=1, classes=("crash", "transport"))
    happened = {"crash.cut": 2, "crash.kill": 1, "transport.late": 1, "people.take accepted": 1}
    week = Week(seed=1, clock="virtual", bus="memory", happened=happened)
    never = ChaosResult(options, [week]).as_json()["never"]
    assert "crash.restart" in never
    assert not {"crash.cut", "crash.kill", "transport.late", "people.stop"} & set(never)


def test_rows_of_the_tables_are_counted_as_they_are_named() -> None:
    rows = run(ChaosOptions(seed=14, days=1.0, rate=0.0)).rows()
    assert list(rows) == list(all_rows())
    assert rows["debate | assessing_1 | RISK_ASSESSMENT"] > 0
    assert rows["cycle | debating | its debate ended"] > 0


def test_the_command_line_says_what_was_lived_and_refuses_in_one_line() -> None:
    told = json.loads(done("chaos", "--seed", "4", "--days", "0.1", "--json"))
    assert told["seed"] == 4
    assert told["findings"] == []
    shown = done("chaos", "--seed", "4", "--days", "0.1")
    assert "nothing was found" in shown
    assert told["heads"]["4"] in shown
    for words, why in (
        (("--weeks", "2"), "missing option '--seed'"),
        (("--seed", "1", "--rate", "1.1"), "rate 1.1: it is a share from 0 to 1"),
        (("--seed", "1", "--faults", "botz"), "botz"),
    ):
        assert why in complaint(2, "chaos", *words)


@pytest.mark.parametrize("columns", [40, 72, 100, 200])
def test_a_long_list_of_names_is_wrapped_to_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    names = [f"class-{n}.of_fault_{n}" for n in range(60)]
    print_names(console(), "never struck: ", names)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns and len(lines) >= 60 * 22 // 200
    assert " ".join(" ".join(lines).split()) == f"never struck: {', '.join(names)}"
