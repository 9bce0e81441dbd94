"""What the gateway process makes of a configuration."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from moot import gateway
from moot.channels.surface import SurfaceConfigError
from moot.config.settings import Settings, load_settings
from tests.doubles.checked_surface import CheckedSurface

CHECKED = "tests.doubles.checked_surface:CheckedSurface"


def settings(**options: object) -> Settings:
    return load_settings(surfaces={"chat": {"module": CHECKED, **options}})


@pytest.mark.parametrize(
    ("given", "found"),
    [("token", "/etc/moot/token"), ("/run/token", "/run/token"), ("~/token", "/home/ann/token")],
)
def test_a_file_is_named_from_where_the_configuration_is(
    given: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    surface = gateway.surface_of(settings(token_file=given, how="down"), "chat", Path("/etc/moot"))
    assert isinstance(surface, CheckedSurface)
    assert (surface.token_file, surface.how) == (found, "down")


def test_a_surface_is_built_by_its_keeper_so_that_a_wrong_one_ends_nothing_else(tmp_path: Path) -> None:
    chosen = load_settings(
        surfaces={
            "odd": {"module": "moot.channels.nowhere:Odd"},
            "leaky": {"module": CHECKED, "token": "made-up-secret"},
            "chat": {"module": CHECKED},
        }
    )
    found = gateway.mirrorings(chosen, tmp_path)
    assert set(found) == {"odd", "leaky", "chat"}
    assert isinstance(found["chat"].build(), CheckedSurface)
    with pytest.raises(SurfaceConfigError, match="No module named"):
        found["odd"].build()
    with pytest.raises(SurfaceConfigError, match="token does not belong in a configuration") as caught:
        found["leaky"].build()
    assert "made-up-secret" not in str(caught.value)


def test_a_configuration_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[surfaces."../up"]\nmodule = "a:B"\n', encoding="utf-8")
    command = [sys.executable, "-m", "moot.gateway", str(tmp_path), "--config", str(tmp_path / "moot.toml")]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("moot gateway: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["notes"], "notes can be no data directory: Not a directory"),
        (["notes/deeper"], "notes/deeper can be no data directory: Not a directory"),
        (["/proc/nowhere"], "/proc/nowhere can be no data directory: "),
        ([".", "--port", "99999"], "--port 99999: a port is a number from 0 to 65535"),
        ([".", "--port", "-1"], "--port -1: a port is a number from 0 to 65535"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").write_text("x")
    monkeypatch.setattr(gateway, "serve", never)
    assert gateway.main([*words, "--no-console"]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"moot gateway: {said}") and line.count("\n") == 1


async def never(*_: object) -> None:
    raise AssertionError("it was served")


def test_setting_up_finds_the_same_files_as_living(tmp_path: Path) -> None:
    from moot.cli.setup import discord, slack

    config = tmp_path / "moot.toml"
    config.write_text('[surfaces.discord]\ntoken_file = "tok"\n[surfaces.slack]\nbot_token_file = "bot"\n')
    chosen = load_settings(config)
    for name in ("tok", "bot"):
        (tmp_path / name).write_text("x")
    folder = gateway.folder_of(config)
    assert gateway.options_of(chosen, "discord", folder)["token_file"] == str(tmp_path / "tok")
    assert slack._options(config).bot_token_file == str(tmp_path / "bot")
    assert discord._surface(chosen, folder).options.token_file == str(tmp_path / "tok")
