"""`moot pause`, `step`, `speed`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.cli.place import login_name
from tests.doubles.command_line import complaint, data, done
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.live_society import LiveSociety

ME = login_name()
STEPPED = "paused, society time 2026-02-23 11:04 UTC; moot speed lets it go on"


def control(op: str, value: float | None, by: str) -> dict[str, Any]:
    if op == "speed" and value == 99_999:
        return {"ok": False, "why": "too fast"}
    return {
        "speed": value if op == "speed" else 120.0,
        "paused": op in ("pause", "step"),
        "society_at": "2026-02-23T11:04:00.000000Z",
    }


@pytest.fixture
def society(tmp_path: Path) -> Iterator[LiveSociety]:
    table = a_debate()
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now, control) as live:
        yield live


@pytest.mark.parametrize(
    ("words", "asked", "said"),
    [
        (["pause"], [("pause", None, ME)], "paused, society time 2026-02-23 11:04 UTC\n"),
        (["speed", "60"], [("speed", 60.0, ME)], "×60, society time 2026-02-23 11:04 UTC\n"),
        (["speed"], [("resume", None, ME)], "×120, society time 2026-02-23 11:04 UTC\n"),
        (["step"], [("step", 1.0, ME)], f"{STEPPED}\n"),
        (["step", "3"], [("step", 1.0, ME)] * 3, f"{STEPPED}\n"),
    ],
)
def test_the_society_is_asked_and_says_how_time_goes(
    society: LiveSociety, words: list[str], asked: list[Any], said: str
) -> None:
    assert done(words[0], society.directory, *words[1:]) == said
    assert society.asked == asked


def test_the_receipt_may_be_had_as_json(society: LiveSociety) -> None:
    assert data("speed", society.directory, "2.5") == {
        "ok": True,
        "speed": 2.5,
        "paused": False,
        "society_at": "2026-02-23T11:04:00.000000Z",
    }


def test_what_the_society_refuses_is_told(society: LiveSociety) -> None:
    assert complaint(3, "speed", society.directory, "99999") == "moot speed: too fast"


@pytest.mark.parametrize("speed", ["0", "1e-9", "nan", "1e9"])
def test_a_speed_that_no_society_has_is_usage(society: LiveSociety, speed: str) -> None:
    said = complaint(2, "speed", society.directory, speed)

    assert said.startswith("moot speed: a speed is a number from 0.001 to 100000: not ")
    assert society.asked == []


def test_only_admins_set_the_pace(society: LiveSociety) -> None:
    assert f"only admins may set the pace: {ME}" in complaint(3, "pause", society.directory, "--as", "bob")
    assert society.asked == []


def test_where_no_society_runs_nothing_is_asked(tmp_path: Path) -> None:
    place = write_log(tmp_path / "data", a_debate().log)

    assert "no society runs on" in complaint(3, "pause", place)
