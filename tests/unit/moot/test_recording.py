"""A recorded run is lived again, byte for byte; one that was broken off goes on."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from moot.config.settings import load_settings
from moot.place import LOG_NAME
from moot.protocols.kernel.errors import BadInput
from moot.recording import Recording
from moot.simulation.simulate import SimulateOptions, again, simulate

DAYS = 0.25


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("whole")
    simulate(SimulateOptions(days=DAYS, seed=3, out=place))
    return place


@pytest.fixture
def killed(whole: Path, tmp_path: Path) -> Path:
    """A run that was killed in its middle."""
    return cut(whole, tmp_path / "killed", Recording(whole).messages // 2)


def cut(whole: Path, place: Path, last_seq: int) -> Path:
    """Copy a run as a kill behind a message would have left it."""
    shutil.copytree(whole, place)
    with closing(sqlite3.connect(place / LOG_NAME)) as db:
        db.execute("DELETE FROM log WHERE seq > ?", (last_seq,))
        db.commit()
    (place / "head").unlink()
    return place


def lived_again(recorded: Path, out: Path) -> int | None:
    recording = Recording(recorded)
    simulate(again(recording, out))
    return recording.difference(out)


def test_a_run_that_is_lived_again_is_the_same_log(whole: Path, tmp_path: Path) -> None:
    assert lived_again(whole, tmp_path / "again") is None


def test_a_run_that_was_killed_is_lived_again_up_to_there(killed: Path, tmp_path: Path) -> None:
    assert Recording(killed).lives[0].cut is not None
    assert lived_again(killed, tmp_path / "again") is None


def test_a_run_that_was_killed_amid_several_messages_at_once_is_lived_again_up_to_there(
    whole: Path, tmp_path: Path
) -> None:
    said = [*Recording(whole).envelopes()]
    first = next(env.seq for env, after in pairwise(said) if env.seq > 1 and env.sent_at == after.sent_at)
    killed = cut(whole, tmp_path / "killed", first)

    assert lived_again(killed, tmp_path / "again") is None


def test_a_run_that_went_on_by_another_configuration_is_lived_again_by_both(
    killed: Path, tmp_path: Path
) -> None:
    other = load_settings(desk={"enabled": False})
    simulate(SimulateOptions(days=DAYS, seed=3, out=killed, goes_on=True, settings=other))

    assert lived_again(killed, tmp_path / "again") is None


def test_a_run_that_was_killed_goes_on_and_is_lived_again_in_both_its_lives(
    killed: Path, tmp_path: Path
) -> None:
    simulate(SimulateOptions(days=DAYS, seed=3, out=killed, goes_on=True))

    cuts = [life.cut for life in Recording(killed).lives]
    assert cuts[0] is not None
    assert cuts[1] is None
    assert lived_again(killed, tmp_path / "again") is None


def test_a_run_is_lived_again_without_a_directory(whole: Path) -> None:
    recording = Recording(whole)

    assert simulate(again(recording)).messages == sum(1 for _ in recording.envelopes())


def test_the_first_message_that_differs_is_named(whole: Path, tmp_path: Path) -> None:
    simulate(SimulateOptions(days=DAYS, seed=4, out=tmp_path / "other"))

    assert Recording(whole).difference(tmp_path / "other") == 1


def test_settings_are_those_of_the_log_whatever_variables_say(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_DESK__CAPITAL", "5000")

    assert Recording(whole).first.settings.desk.capital == 1_000_000


def test_what_is_no_recorded_run_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no"):
        Recording(tmp_path / "nothing")
