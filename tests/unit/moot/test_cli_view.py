"""`moot view`: what a seat may see, and nothing besides."""

from __future__ import annotations

from pathlib import Path

import pytest

import moot
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rules
from tests.doubles.command_line import complaint, data, done
from tests.doubles.data_dir import write_log
from tests.doubles.full_life import full_life


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("seen") / "data"
    write_log(directory, full_life())
    return directory


@pytest.mark.parametrize("seat", ["critic", "trader", "timekeeper", "viewer"])
def test_a_seat_sees_the_messages_of_the_channels_that_it_reads(place: Path, seat: str) -> None:
    readable = rules().matrix.readable(Seat(seat))
    expected = [env.seq for env in full_life() if env.channel in readable]
    found = data("view", place, seat)
    assert found["reads"] == sorted(readable)
    assert found["messages"] == expected
    assert [env.seq for env in moot.open_log(place).view(seat)] == expected
    if seat == "trader":
        assert 0 < len(expected) < len(full_life())


def test_what_an_obligation_withholds_neither_the_program_nor_python_shows(tmp_path: Path) -> None:
    place = tmp_path / "panel"
    moot.panel("# On widgets\n\nWidgets hold.\n", contract="methodology_focus", out=place)
    log = moot.open_log(place)
    committed = [*log.messages(type="PHASE1")][-1]
    (concluded,) = log.messages(type="SYNTHESIS")
    assert [*log.view(committed.author)], "its seat reads the channel"
    for env in (committed, concluded):
        found = data("view", place, env.author, "--owed", env.obligation_id)["messages"]
        assert [one.seq for one in log.view(env.author, owed=env.obligation_id)] == found
        assert len(found) < len([*log.view(env.author)])
        assert all(seq < env.seq for seq in found), "what came later it was not shown"
    shown = {env.body.type for env in log.view(concluded.author, owed=concluded.obligation_id)}
    assert shown and "PHASE1" not in shown
    assert not [*log.view(committed.author, owed=committed.obligation_id)], (
        "a reviewer commits before it sees"
    )


def test_of_one_case_a_seat_sees_its_messages(place: Path) -> None:
    case_id = next(env.case_id for env in full_life() if env.body.type == "HYPOTHESIS")
    expected = [env.seq for env in full_life() if env.case_id == case_id]
    assert [env.seq for env in moot.open_log(place).view("critic", case=case_id)] == expected
    assert data("view", place, "critic", "--case", case_id)["messages"] == expected


def test_viewers_see_what_the_configuration_lets_them_read(tmp_path: Path) -> None:
    place = tmp_path / "run"
    moot.simulate(days=0.1, config={"viewers": {"reads": ["#a-verdict"]}}, out=place)
    assert data("view", place, "viewer")["reads"] == ["#a-verdict"]
    assert {env.channel for env in moot.open_log(place).view("viewer")} <= {"#a-verdict"}


def test_people_read_what_it_reads_what_it_owes_and_the_last_messages(place: Path) -> None:
    told = done("view", place, "critic")
    assert told.startswith("Critic sees ") and "reads  #a-arena" in told
    assert "--all shows them" in told
    assert "there is no seat" in complaint(2, "view", place, "critik")
    assert "the critic never owed it" in complaint(2, "view", place, "critic", "--owed", "x/y/critic")
