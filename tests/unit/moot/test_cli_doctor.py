"""`moot doctor`."""

import sqlite3
from importlib import metadata
from pathlib import Path

import pytest

from moot.cli.setup import ailments, doctor
from moot.cli.setup.doctor import Diagnosis
from tests.doubles.command_line import data, done, moot, write
from tests.doubles.data_dir import a_debate, write_log


def test_a_whole_set_up_is_well(tmp_path: Path) -> None:
    place = write_log(tmp_path / "d", a_debate().log)

    found = data("doctor", place)

    assert found["ok"]
    assert [(f["check"], f["state"]) for f in found["findings"] if f["state"] == "failure"] == []
    assert [f["check"] for f in found["findings"]] == [
        "python",
        "packages",
        "sqlite",
        "disk",
        "sockets",
        "terminal",
        "time zones",
        "prices",
        "settings",
        "data",
    ]
    assert "11 messages in" in found["findings"][-1]["said"]
    assert "✓ python      3." in done("doctor", place)


def test_a_failure_gives_exit_code_one_and_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        ailments, "python", lambda: Diagnosis("python", "failure", "3.9.1", "3.11 or newer is needed")
    )

    result = moot("doctor", tmp_path / "d")

    assert result.exit_code == 1
    assert "✗ python      3.9.1; 3.11 or newer is needed\n" in result.stdout
    assert result.stdout.endswith("1 failure\n")


def test_a_check_that_breaks_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail() -> Diagnosis:
        raise OSError("no sockets here")

    monkeypatch.setattr(ailments, "sockets", fail)

    found = [f for f in doctor.examine(tmp_path / "d") if f.check == "sockets"]

    assert [(f.state, f.said) for f in found] == [("failure", "OSError: no sockets here")]


def test_packages_that_are_missing_or_others_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "rich":
            return "1.0"
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    assert ailments.packages().state == "warning"
    assert "rich 1.0 instead of 15" in ailments.packages().said

    def missing(name: str) -> str:
        if name == "rich":
            raise metadata.PackageNotFoundError
        return real(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert (ailments.packages().state, ailments.packages().said) == ("failure", "missing: rich")


def test_packages_that_only_another_system_needs_are_not_missing() -> None:
    lines = [
        'colorama==0.4.6 ; sys_platform == "nowhere"',
        "rich>=15",
        'ruff==1.0 ; extra == "dev"',
        'httpx[http2]==4 ; python_version >= "3.11"',
    ]

    assert ailments._wanted_here(lines) == {"rich": None, "httpx": "4"}


def test_an_old_sqlite_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 30, 0))

    assert ailments.sqlite().state == "failure"


def test_little_room_and_a_slow_disk_are_warnings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ailments, "SLOW_SYNC_MS", 0.0)
    assert ailments.disk(tmp_path).state == "warning"
    monkeypatch.setattr(ailments, "LITTLE_ROOM", 1 << 60)
    assert ailments.disk(tmp_path).advice == "make room"
    monkeypatch.setattr(ailments, "NO_ROOM", 1 << 60)
    assert ailments.disk(tmp_path).state == "failure"


def test_the_disk_is_looked_at_where_the_data_would_be(tmp_path: Path) -> None:
    assert str(tmp_path) in ailments.disk(tmp_path / "not" / "yet").said
    assert not (tmp_path / "not").exists()


def test_wrong_settings_are_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MOOT_CONFIG", str(write(tmp_path / "x.toml", "minds = 3")))

    assert ailments.settings().state == "failure"


def test_a_cut_log_is_a_failure(tmp_path: Path) -> None:
    place = write_log(tmp_path / "d", a_debate().log)
    with sqlite3.connect(place / "log.sqlite") as db:
        db.execute("DELETE FROM log WHERE seq > 9")
    db.close()

    found = ailments.data(place)

    assert (found.state, found.said) == ("failure", "the log ends at 9, its file head knows 11")


def test_no_data_directory_is_well() -> None:
    assert ailments.data(Path("nowhere")).state == "ok"


def test_a_file_where_a_data_directory_is_asked_for_is_a_failure(tmp_path: Path) -> None:
    file = write(tmp_path / "notes", "x")
    for place in (file, file / "deeper"):
        found = ailments.data(place)
        assert (found.state, found.said) == ("failure", f"{file} is a file: no society can live there")


SURFACES = """
[surfaces]
calm = { module = "tests.doubles.checked_surface:CheckedSurface", token_file = "token" }
down = { module = "tests.doubles.checked_surface:CheckedSurface", how = "down" }
mute = { module = "tests.doubles.checked_surface:CheckedSurface", how = "mute" }
bug = { module = "tests.doubles.checked_surface:CheckedSurface", how = "bug" }
wrong = { module = "tests.doubles.checked_surface:CheckedSurface", how = "wrong" }
odd = { module = "moot.channels.nowhere:Odd" }
bare = { module = "moot.channels.terminal:TerminalSurface" }
"""


def test_every_configured_surface_is_asked_what_is_missing_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ailments, "ASKED_S", 0.05)
    (tmp_path / "society.toml").write_text(SURFACES, encoding="utf-8")
    (tmp_path / "token").write_text("in a file beside the configuration", encoding="utf-8")
    monkeypatch.setenv("MOOT_CONFIG", str(tmp_path / "society.toml"))

    found = {f.check: f for f in doctor.examine(tmp_path / "d")}

    assert found["calm token"] == Diagnosis("calm token", "ok", "in a file beside the configuration")
    assert found["calm intents"].state == "failure"
    assert found["calm intents"].advice == "switch it on under Bot, Message Content Intent"
    assert (found["down"].state, found["down"].said) == ("warning", "nobody answers")
    assert (found["mute"].state, found["mute"].said) == ("warning", "no answer in 0.05 s")
    assert (found["bug"].state, found["bug"].said) == ("failure", "LookupError: a bug")
    assert (found["wrong"].state, found["wrong"].said) == ("failure", "the token is wrong")
    assert found["odd"].state == "failure"
    assert "No module named" in found["odd"].said
    assert found["bare"].state == "ok"
    assert all("\n" not in f.said for f in found.values())

    result = moot("doctor", tmp_path / "d", "--json")
    assert result.exit_code == 1
    assert '"calm intents"' in result.stdout


def test_without_surfaces_nobody_is_asked(tmp_path: Path) -> None:
    assert list(ailments.surfaces()) == []
