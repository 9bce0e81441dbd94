"""`moot view`: what a seat may see, and nothing besides."""

from __future__ import annotations

from pathlib import Path

import pytest

import moot
from moot.protocols.kernel.obligation import Visibility
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rules
from moot.seeing import seen
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


def test_an_obligation_withholds_what_it_says() -> None:
    blind = Visibility(hidden_types=frozenset({"NOTE"}))
    log = full_life()
    every = [env.seq for env in seen(log, rules().matrix, Seat("critic"))]
    less = [env.seq for env in seen(log, rules().matrix, Seat("critic"), blind)]
    notes = {env.seq for env in log if env.body.type == "NOTE"}
    assert set(every) - set(less) == notes & set(every) != set()


def test_people_read_what_it_reads_what_it_owes_and_the_last_messages(place: Path) -> None:
    told = done("view", place, "critic")
    assert told.startswith("Critic sees ") and "reads  #a-arena" in told
    assert "--all shows them" in told
    assert "there is no seat" in complaint(2, "view", place, "critik")
    assert "the critic does not owe it" in complaint(2, "view", place, "critic", "--owed", "x/y/critic")
