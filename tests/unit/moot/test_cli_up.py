"""`moot up`: from its options to a society."""

from pathlib import Path
from typing import Any

import pytest

from moot.cli.place import login_name
from tests.doubles.command_line import complaint, done


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Start nothing, and keep what was asked for."""
    found: list[Any] = []

    def run_up(options: Any) -> int:
        found.append(options)
        return 0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("moot.up.run_up", run_up)
    return found


def test_by_default_a_society_lives_in_real_time_in_moot_data(asked: list[Any]) -> None:
    done("up")

    (options,) = asked
    assert (options.directory, options.speed, options.bus, options.seed) == (
        Path("moot-data"),
        1.0,
        "sqlite",
        1,
    )
    assert (options.warm_up_days, options.is_new, options.prices, options.config) == (0.0, False, None, None)
    assert options.owner == login_name()
    assert not options.shows_all


def test_every_option_arrives(asked: list[Any], tmp_path: Path) -> None:
    done("up", "--speed", 120, "--data", tmp_path, "--bus", "memory", "--seed", 7, "--warm-up", 3, "--new",
         "--all", "--prices", "synthetic", MOOT_CONFIG="my.toml")  # fmt: skip

    (options,) = asked
    assert (options.directory, options.speed, options.bus, options.seed) == (tmp_path, 120.0, "memory", 7)
    assert (options.warm_up_days, options.is_new, options.prices) == (3.0, True, "synthetic")
    assert options.config == Path("my.toml")
    assert options.shows_all


def test_a_society_that_may_not_start_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from moot.up import UpRefused

    def run_up(_options: Any) -> int:
        raise UpRefused("its time is ahead of the wall clock: --new or --speed 120")

    monkeypatch.setattr("moot.up.run_up", run_up)

    assert complaint(3, "up") == "moot up: its time is ahead of the wall clock: --new or --speed 120"


def test_a_negative_warm_up_is_usage(asked: list[Any]) -> None:
    assert "greater than or equal to 0" in complaint(2, "up", "--warm-up=-1")
