"""Scene files: what they may say, and what a typo gets told."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from moot.bots.tools.errors import PriceFileError
from moot.simulation.scene import SceneError, load_scene, parse_scene, run_scene

GOOD = {"start": "2026-02-23T10:00:00Z", "until": "1h", "seed": 7}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"utnil": "2h"}, "did you mean until?"),
        ({"until": "soon"}, "no duration"),
        ({"until": 6}, "no duration"),
        ({"start": "yesterday"}, "start"),
        ({"minds": {"critc": {}}}, "minds"),
        ({"minds": {"critic": {"scrpt": []}}}, "did you mean script?"),
        ({"minds": {"critic": {"script": [{"type": "RISK_ASSESMENT"}]}}}, "did you mean 'RISK_ASSESSMENT'"),
        (
            {"minds": {"critic": {"script": [{"type": "RISK_ASSESSMENT", "confidnce": 1}]}}},
            "did you mean 'confidence'",
        ),
        ({"minds": {"critic": {"script": [{"confidence": 1}]}}}, "need a type"),
        ({"minds": {"critic": {"script": [{"delay": "long"}]}}}, "delay"),
        ({"minds": {"critic": {"script": [{"silent": "yes"}]}}}, "true or false"),
        ({"inject": [{"after": "5m", "seat": "admin"}]}, "a body or a reply"),
        ({"inject": [{"after": "5m", "seat": "nobody", "body": {}}]}, "seat"),
        ({"cycle": "macro"}, "cycle"),
        ({"start": "1800-01-01T00:00:00Z"}, "start: a society lives from 1900 to 2199, not in 1800"),
        ({"start": datetime(9999, 1, 1)}, "start: a society lives from 1900 to 2199, not in 9999"),
        ({"start": "0001-01-01T00:00:00+23:00"}, "is no instant"),
        ({"until": "999999999d"}, "until: '999999999d' is too long: 109573d are the most"),
        ({"until": "99999999999d"}, "until: '99999999999d' is too long: 109573d are the most"),
        ({"until": "9" * 400 + "d"}, "is too long: 109573d are the most"),
        ({"until": "90000d"}, "until: from 2026-02-23 on it leads beyond 2199"),
        ({"seed": 10**29}, "seed: "),
        ({"seed": -(10**29)}, "seed: "),
    ],
)
def test_a_typo_gets_one_line_that_says_where(change: dict, told: str) -> None:
    with pytest.raises(SceneError) as error:
        parse_scene({**GOOD, **change}, "scene.yaml")
    assert told in str(error.value)
    assert str(error.value).startswith("scene.yaml: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "- a\n- b", "start: [", "\x00", "3"])
def test_what_is_no_scene_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    with pytest.raises(SceneError, match=r"scene\.yaml"):
        load_scene(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"gone\.yaml: cannot be read"):
        load_scene(tmp_path / "gone.yaml")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"seed: {'9' * 5000}", "a number has too many digits"),
        ("start: 2026-13-45", "a date in it is none"),
        ("prices: nope.csv", "prices: there is no file nope.csv"),
    ],
)
def test_what_no_computer_reads_is_refused_in_one_line(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "scene.yaml"
    name = line.partition(":")[0]
    rest = [f"{key}: {value}" for key, value in GOOD.items() if key in ("start", "until") and key != name]
    path.write_text("\n".join([*rest, line]))

    with pytest.raises(SceneError) as error:
        load_scene(path)
    assert told in str(error.value)
    assert len(str(error.value)) < 400


def test_what_cannot_be_read_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "scene.yaml"
    with pytest.raises(SceneError) as error:
        load_scene(path)
    assert str(error.value) == f"{path}: cannot be read: no such file or directory"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SceneError) as error:
        load_scene(path)
    assert str(error.value) == f"{path}: is not text in UTF-8: save it as such"


def test_a_scene_whose_prices_cannot_be_used_leaves_no_log(tmp_path: Path) -> None:
    prices = tmp_path / "p.csv"
    prices.write_text("date\n")
    with pytest.raises(PriceFileError):
        run_scene(parse_scene({**GOOD, "prices": str(prices)}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def file_of(place: Path, days: int) -> str:
    dates = [date(2017, 1, 2) + timedelta(days=n) for n in range(2 * days)]
    rows = [f"{day},10,11,9,{10 + n % 2},100\n" for n, day in enumerate(d for d in dates if d.weekday() < 5)]
    path = place / f"{days}.csv"
    path.write_text("date,open,high,low,close,volume\n" + "".join(rows[:days]))
    return str(path)


def test_prices_that_are_too_short_to_backtest_on_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError) as error:
        run_scene(parse_scene({**GOOD, "prices": file_of(tmp_path, 90)}), tmp_path / "out")
    assert "are too few to backtest on, 100 are needed — choose a longer file" in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()
    assert run_scene(parse_scene({**GOOD, "prices": file_of(tmp_path, 110)})).envelopes


def kinds(change: dict) -> list[str]:
    return [env.body.type for env in run_scene(parse_scene({**GOOD, **change})).envelopes]


def test_cycle_none_fires_no_micro_cycle() -> None:
    alone = {"cycle": "none", "until": "5h", "systems": ["A"]}
    assert kinds(alone) == ["SOCIETY_STARTED", "SOCIETY_STOPPED"]


def test_a_scene_of_one_system_leaves_the_other_out() -> None:
    both = {"start": "2026-02-23T10:00:00Z", "until": "5h", "cycle": "once"}
    assert {"CYCLE_TRIGGER", "TRADING_DAY"} <= set(kinds(both))
    assert "TRADING_DAY" not in kinds({**both, "systems": ["A"]})
    assert "CYCLE_TRIGGER" not in kinds({**both, "systems": ["B"]})


def test_cycle_once_fires_one_and_the_slots_stay_empty() -> None:
    assert kinds({"cycle": "once", "until": "5h"}).count("CYCLE_TRIGGER") == 1


def test_micro_slots_go_on_by_default() -> None:
    said = kinds({"until": "4h30m"})
    assert said.count("CYCLE_TRIGGER") + said.count("CYCLE_SKIPPED") == 3


def test_a_start_between_slots_fires_too() -> None:
    scene = parse_scene({**GOOD, "start": "2026-02-23T10:17:00Z", "until": "5m"})
    trigger = next(e for e in run_scene(scene).envelopes if e.body.type == "CYCLE_TRIGGER")
    assert trigger.sent_at == scene.start


def test_an_injected_opener_belongs_to_the_open_session_unless_it_names_none() -> None:
    halt = {"type": "HALT", "reason": "a rumour", "by": "admin"}
    for given, session in (({}, "session_20260220"), ({"session_id": ""}, "")):
        inject = [{"after": "5m", "seat": "admin", "body": {**halt, **given}}]
        raw = {**GOOD, "start": "2026-02-22T13:30:00Z", "systems": ["B"], "until": "10m", "inject": inject}
        log = run_scene(parse_scene(raw)).envelopes
        assert [env.body.session_id for env in log if env.body.type == "HALT"] == [session]


def test_an_injected_override_without_a_case_decides_the_debate_that_is_open_or_was_last() -> None:
    override = {"type": "OVERRIDE", "verdict": "REJECT", "why": "a rumour"}
    for after in ("30m", "3h30m"):
        inject = [{"after": after, "seat": "admin", "channel": "#a-arena", "body": override}]
        raw = {**GOOD, "cycle": "once", "systems": ["A"], "until": "4h", "inject": inject}
        log = run_scene(parse_scene(raw)).envelopes
        (debate,) = (env.body.hypothesis_id for env in log if env.body.type == "HYPOTHESIS")
        said = [env.body for env in log if env.body.type in ("OVERRIDE", "AUDIT")]
        assert [getattr(body, "case_id", body) for body in said] == [debate], after


def test_an_injection_that_is_refused_stands_in_the_audit_and_is_said() -> None:
    inject = [
        {"after": "1m", "seat": "critic", "channel": "#b-ops", "body": {"type": "NOTE", "text": "x"}},
        {"after": "2m", "seat": "admin", "body": {"type": "NOTE", "txt": "x"}},
        {"after": "3m", "seat": "admin", "body": {"type": "SHOUT"}},
    ]
    result = run_scene(parse_scene({**GOOD, "cycle": "none", "inject": inject}))
    audits = [env.body for env in result.envelopes if env.body.type == "AUDIT"]
    assert [audit.seat for audit in audits] == ["critic", "admin", "admin"]  # type: ignore[attr-defined]
    assert (len(result.warnings), result.refused) == (3, 3)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"verdict": "MAYBE"}, "verdict: choose 'APPROVE', 'REJECT' or 'REVISE', not 'MAYBE'"),
        ({"confidence": "lots"}, "confidence: give a number, not 'lots'"),
        ({"reasoning": date(2026, 2, 23), "confidence": 3}, "confidence: "),
    ],
)
def test_a_script_that_says_what_is_no_message_ends_the_scene_with_the_reason(
    fields: dict, told: str
) -> None:
    script = [{"type": "REFLECTION"}, {"type": "VERDICT", **fields}]
    scene = parse_scene({**GOOD, "until": "3h", "cycle": "once", "minds": {"evolver": {"script": script}}})
    with pytest.raises(SceneError) as error:
        run_scene(scene)
    assert str(error.value).startswith(f"minds.evolver.script[1]: {told}")


def test_the_scene_on_its_page_comes_to_all_it_says() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "write-a-scene.md").read_text(encoding="utf-8")
    scene, rehearsed = re.findall(r"```yaml\n(.*?)```", page, re.S)
    result = run_scene(parse_scene(yaml.safe_load(scene)))
    assert result.warnings == []
    said = [(env.body.type, getattr(env.body, "verdict", None)) for env in result.envelopes]
    assert ("VERDICT", "REVISE") in said
    assert ("FINAL_VERDICT", "REVISE") in said
    ruled = [env.body.outcome for env in result.envelopes if env.body.type == "RULING"]
    assert ruled == ["void", "REJECT"], "one for the silent Critic, one for the second revision"
    assert [e.body.how for e in result.envelopes if e.body.type == "ESCALATION_RESOLVED"] == ["answered"]
    result = run_scene(parse_scene(yaml.safe_load(rehearsed)))
    assert (result.warnings, result.findings) == ([], [])
    kinds = [env.body.type for env in result.envelopes]
    assert (kinds.count("SOCIETY_STARTED"), kinds.count("STOP"), kinds.count("MOTION")) == (2, 1, 1)


def test_the_same_scene_gives_the_same_bytes() -> None:
    scene = parse_scene({**GOOD, "until": "3h"})
    first, second = run_scene(scene), run_scene(scene)
    assert [env.line for env in first.envelopes] == [env.line for env in second.envelopes]
