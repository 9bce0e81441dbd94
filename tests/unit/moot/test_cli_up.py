"""`moot up`: from its options to a society."""

import time
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from moot.channels.nats.address import NatsAddress
from moot.cli.place import login_name
from moot.stored import last_sent_at, stored_envelopes
from moot.up import UpOptions, UpRefused, _clock, wall_now
from tests.doubles.command_line import complaint, done, write
from tests.doubles.data_dir import write_log
from tests.doubles.table import Table

society = import_module("moot.society")


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
         "--all", "--prices", "synthetic", MOOT_CONFIG=str(write(tmp_path / "my.toml", "")))  # fmt: skip

    (options,) = asked
    assert (options.directory, options.speed, options.bus, options.seed) == (tmp_path, 120.0, "memory", 7)
    assert (options.warm_up_days, options.is_new, options.prices) == (3.0, True, "synthetic")
    assert options.config == tmp_path / "my.toml"
    assert options.shows_all


def test_a_society_that_may_not_start_is_refused(tmp_path: Path) -> None:
    table = Table(datetime(2126, 2, 23, 10, tzinfo=UTC))
    place = write_log(tmp_path / "data", table.log)

    assert complaint(3, "up", "--data", place) == (
        f"moot up: the society in {place} lives at 2126-02-23T10:00:00.000000Z, ahead of the wall clock: "
        "go on with --speed 120, or start a fresh one with --new"
    )


def test_who_takes_over_from_a_host_whose_clock_is_ahead_goes_on_from_there() -> None:
    options = UpOptions(bus=NatsAddress.parse("nats://127.0.0.1/desk"))
    past = wall_now() + timedelta(minutes=10)
    clock, start = _clock(options, past)
    assert start == past <= clock.now()
    with pytest.raises(UpRefused, match="far ahead of this host's clock: set the clock"):
        _clock(options, past + timedelta(hours=1))


def test_a_rehearsal_is_asked_for_with_its_rate_and_its_seed(asked: list[Any]) -> None:
    done("up", "--chaos", "0.02", "--seed", 3)

    assert (asked[0].chaos, asked[0].seed) == (0.02, 3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--chaos", "1.5", "--seed", "1"], "--chaos 1.5: it is a share from 0 to 1"),
        (["--chaos=-0.1", "--seed", "1"], "--chaos -0.1: it is a share from 0 to 1"),
        (["--chaos", "nan", "--seed", "1"], "--chaos nan: it is a share from 0 to 1"),
        (["--chaos", "0.02"], "--chaos needs --seed N, which draws what goes wrong"),
    ],
)
def test_a_rehearsal_that_cannot_be_is_usage(asked: list[Any], words: list[str], said: str) -> None:
    assert complaint(2, "up", *words) == f"moot up: {said}"
    assert not asked


def test_no_log_that_is_for_real_becomes_a_rehearsal(tmp_path: Path) -> None:
    place = write_log(tmp_path / "data", Table(datetime(2026, 2, 23, 10, tzinfo=UTC)).log)
    before = (place / "log.sqlite").read_bytes()

    assert complaint(2, "up", "--data", place, "--chaos", "0.02", "--seed", "1") == (
        f"moot up: --chaos: the log in {place} is no rehearsal's, so nothing is made to go wrong in it: "
        "name another --data, or put it aside with --new"
    )
    assert (place / "log.sqlite").read_bytes() == before


def test_a_negative_warm_up_is_usage(asked: list[Any]) -> None:
    assert "choose a number of days from 0" in complaint(2, "up", "--warm-up=-1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--speed=0"], "a speed is a number from 0.001 to 100000: not 0"),
        (["--speed=-1"], "a speed is a number from 0.001 to 100000: not -1"),
        (["--speed=nan"], "a speed is a number from 0.001 to 100000: not nan"),
        (["--speed=1e9"], "a speed is a number from 0.001 to 100000: not 1e+09"),
        (["--warm-up=1e9"], "--warm-up 1e+09: choose a number of days from 0 to 3650"),
        (["--warm-up=nan"], "--warm-up nan: choose a number of days from 0 to 3650"),
        ([f"--seed={'9' * 20}"], "choose at most 9,007,199,254,740,992"),
        (["--prices=nope.csv"], "prices nope.csv: there is no such file"),
    ],
)
def test_a_number_or_a_file_that_no_society_can_have_is_usage(
    asked: list[Any], tmp_path: Path, options: list[str], said: str
) -> None:
    assert said in complaint(2, "up", "--data", tmp_path / "q", *options)
    assert asked == []
    assert not (tmp_path / "q").exists()


@pytest.mark.rule("K7")
def test_k7_a_start_that_takes_long_jumps_over_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write_log(tmp_path / "data", Table().log)
    before = last_sent_at(place)
    catch_up = society.catch_up

    def slowly(*given: Any) -> None:
        time.sleep(0.2)
        catch_up(*given)

    async def at_once(*given: Any) -> None:
        """Do not live on."""

    monkeypatch.setattr(society, "catch_up", slowly)
    monkeypatch.setattr(society.Society, "run_until", at_once)
    done("up", "--speed", 100_000, "--data", place, "--no-console")

    (started,) = [env for env in stored_envelopes(place) if env.id.startswith("started/") and env.seq > 1]
    assert started.sent_at == before


def test_a_mirror_and_replicas_arrive(asked: list[Any], tmp_path: Path) -> None:
    done("up", "--bus", "nats://127.0.0.1/desk", "--mirror", tmp_path)
    done("up", "--bus", "nats://127.0.0.1/desk", "--replicas", 3)

    assert [(options.directory, options.leads, options.replicas) for options in asked] == [
        (tmp_path, False, None),
        (Path("moot-data"), True, 3),
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--mirror", "copy"],
            "--mirror is for a society on NATS: add --bus nats://HOST:PORT --society NAME",
        ),
        (
            ["--replicas", "3"],
            "--replicas is for a society on NATS: add --bus nats://HOST:PORT --society NAME",
        ),
        (["--bus", "nats://h/desk", "--replicas", "2"], "--replicas 2: choose 1, 3 or 5"),
        (
            ["--bus", "nats://h/desk", "--mirror", "copy", "--data", "d"],
            "--mirror and --data both name this host's directory: give one of them",
        ),
        (
            ["--bus", "nats://h/desk", "--mirror", "copy", "--replicas", "3"],
            "--mirror starts no society, so leave out --replicas",
        ),
    ],
)
def test_a_mirror_or_replicas_that_cannot_be_are_usage(asked: list[Any], words: list[str], said: str) -> None:
    assert complaint(2, "up", *words) == f"moot up: {said}"
    assert not asked
