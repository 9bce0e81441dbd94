"""Scene files: what they may say, and what a typo gets told."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.simulation.scene import SceneError, load_scene, parse_scene, run_scene

GOOD = {"start": "2026-02-23T10:00:00Z", "until": "1h", "seed": 7}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"utnil": "2h"}, "did you mean 'until'"),
        ({"until": "soon"}, "no duration"),
        ({"until": 6}, "no duration"),
        ({"start": "yesterday"}, "start"),
        ({"minds": {"critc": {}}}, "minds"),
        ({"minds": {"critic": {"scrpt": []}}}, "did you mean 'script'"),
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


def test_an_injection_that_is_refused_stands_in_the_audit_and_is_said() -> None:
    inject = [
        {"after": "1m", "seat": "critic", "channel": "#b-ops", "body": {"type": "NOTE", "text": "x"}},
        {"after": "2m", "seat": "admin", "body": {"type": "NOTE", "txt": "x"}},
        {"after": "3m", "seat": "admin", "body": {"type": "SHOUT"}},
    ]
    result = run_scene(parse_scene({**GOOD, "cycle": "none", "inject": inject}))
    audits = [env.body for env in result.envelopes if env.body.type == "AUDIT"]
    assert [audit.seat for audit in audits] == ["critic", "admin", "admin"]  # type: ignore[attr-defined]
    assert len(result.warnings) == 3


def test_the_same_scene_gives_the_same_bytes() -> None:
    scene = parse_scene({**GOOD, "until": "3h"})
    first, second = run_scene(scene), run_scene(scene)
    assert [env.line for env in first.envelopes] == [env.line for env in second.envelopes]
