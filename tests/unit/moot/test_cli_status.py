"""`moot status` and `moot obligations`: the standing of a society."""

from datetime import timedelta
from pathlib import Path

import pytest

from moot.channels.log.lease import Lease
from moot.cli.output import duration, plural
from moot.protocols.kernel.people import SeatTaken
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.call_table import CallTable
from tests.doubles.command_line import complaint, data, done, wide, write
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.table import START, Table

HYP = "hyp_20260223_1003"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "data", a_debate().log)


def test_a_status_of_before_has_cases_and_obligations_as_they_stood(place: Path) -> None:
    found = data("status", place, "--until", 7)

    assert (found["seq"], found["at"]) == (7, "2026-02-23T10:53:00.000000Z")
    assert [(c["case_id"], c["kind"], c["phase"]) for c in found["cases"]] == [
        ("cycle_20260223_1000", "cycle", "debating"),
        (HYP, "debate", "assessing_2"),
    ]
    assert found["obligations"][0] == {
        "id": f"{HYP}/assessment-2/critic",
        "case_id": HYP,
        "seat": "critic",
        "held_by": None,
        "expects": ["RISK_ASSESSMENT"],
        "channel": "#a-arena",
        "opened_at": "2026-02-23T10:33:00.000000Z",
        "due_at": "2026-02-23T10:53:00.000000Z",
        "void_at": "2026-02-23T11:03:00.000000Z",
        "remaining_s": 0,
        "attempt": 0,
    }
    assert found["obligations"][1]["seat"] == "referee"


def test_a_status_of_before_reads_like_this(place: Path) -> None:
    assert wide("status", place, "--until", 7) == (
        f"{place}  after message 7\n"
        "society time  2026-02-23 10:53 UTC, seed 1, rules 4\n"
        "messages      7, no ended cases\n"
        "open          1 cycle, 1 debate\n"
        "\n"
        "case                 kind    phase        since\n"
        "cycle_20260223_1000  cycle   debating     message 2\n"
        f"{HYP}    debate  assessing 2  message 3\n"
        "\n"
        "seat     owes                          due            obligation\n"
        f"Critic   assessment of round 2         now            {HYP}/assessment-2/critic\n"
        f"Referee  ruling when the time is over  in 1 h 37 min  {HYP}/budget/referee\n"
    )


@pytest.mark.parametrize("columns", ["40", "60", "80"])
@pytest.mark.parametrize("words", [["obligations"], ["status"], ["status", "--until", "7"]])
def test_what_people_copy_stands_whole_in_a_narrow_terminal(
    place: Path, words: list[str], columns: str
) -> None:
    text = done(words[0], place, *words[1:], COLUMNS=columns)

    wanted = f"{HYP}/budget/referee" if "--until" in words else f"{HYP}/reflection/evolver"
    assert wanted in text.split()


def test_an_id_that_does_not_fit_beside_its_row_stands_under_it(place: Path) -> None:
    assert done("status", place, "--until", 7, COLUMNS="60").endswith(
        "seat     owes                          due\n"
        "  obligation\n"
        "Critic   assessment of round 2         now\n"
        f"  {HYP}/assessment-2/critic\n"
        "Referee  ruling when the time is over  in 1 h 37 min\n"
        f"  {HYP}/budget/referee\n"
    )


@pytest.mark.parametrize("until", [0, 12, -1])
def test_a_status_after_a_message_that_is_not_there_is_usage(place: Path, until: int) -> None:
    assert "holds messages 1 to 11" in complaint(2, "status", place, f"--until={until}")


def test_what_is_late_says_how_late_and_when_it_may_be_void(tmp_path: Path) -> None:
    from moot.protocols.kernel.people import Note

    table = a_debate()
    table.until(table.now + timedelta(minutes=23))
    table.post(ADMIN, Note(text="hm"), channel="#bridge")
    place = write_log(tmp_path / "d", table.log)

    assert "3 min late, void in 7 min" in done("obligations", place)
    assert data("obligations", place)[0]["remaining_s"] == -180


def test_status_says_how_the_society_stands(place: Path) -> None:
    found = data("status", place)

    assert (found["seq"], found["running"], found["pid"], found["clock"]) == (11, False, None, "virtual")
    assert (found["speed"], found["paused"], found["seed"], found["queued"]) == (1.0, False, 1, 0)
    assert [o["id"] for o in found["obligations"]] == [f"{HYP}/reflection/evolver"]
    text = done("status", place)
    assert "ended without saying so" in text
    assert "society time  2026-02-23 11:04 UTC, seed 1, rules 4\n" in text
    assert "open          1 cycle, 1 debate\n" in text


def test_status_names_who_runs_it_and_who_sits_where(tmp_path: Path) -> None:
    import os

    table = a_debate()
    table.post(ADMIN, SeatTaken(seat="evolver", user_id="ann", reason="x"), channel="#admin")
    place = write_log(tmp_path / "d", table.log)

    with Lease.acquire(place):
        text = wide("status", place)
        found = data("status", place)

    assert f"running, ×1, process {os.getpid()}" in text
    assert "people        ann as evolver" in text
    assert "Evolver (ann)" in text
    assert found["seats_taken"] == {"evolver": "ann"}
    assert found["obligations"][0]["held_by"] == "ann"


@pytest.mark.parametrize("word", ["status", "obligations", "positions", "strategies", "escalations"])
def test_a_log_without_a_message_is_no_society(tmp_path: Path, word: str) -> None:
    file = write(tmp_path / "x.jsonl", "")

    for more in ([], ["--json"]):
        assert f"{file} holds no message: no society ever lived there" in complaint(2, word, file, *more)


def test_a_society_where_nobody_owes_anything_says_so(tmp_path: Path) -> None:
    place = write_log(tmp_path / "d", Table(START, {"micro": {"at": []}}).log)

    assert "nobody owes anything" in done("obligations", place)
    assert data("obligations", place) == []
    assert "no case was open" in done("status", place, "--until", 1)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (35.4, "35 s"),
        (-60, "1 min"),
        (59.6, "1 min"),
        (3600, "1 h"),
        (6120, "1 h 42 min"),
        (48 * 3600, "2 d"),
        (76 * 3600, "3 d 4 h"),
    ],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(timedelta(seconds=seconds)) == text


def test_numbers_agree_with_their_noun() -> None:
    assert [plural(n, "message") for n in (0, 1, 2, 1200)] == [
        "no messages",
        "1 message",
        "2 messages",
        "1,200 messages",
    ]
    assert [plural(n, "query") for n in (1, 2)] == ["1 query", "2 queries"]


def test_time_between_two_messages_is_guessed_from_the_file_and_bounded(tmp_path: Path) -> None:
    import os

    from moot.cli.situation import _paced

    table = Table()
    table.wait(minutes=1)
    file = tmp_path / "log.sqlite"
    file.touch()
    written = file.stat().st_mtime_ns - 60_000_000_000
    os.utime(file, ns=(written, written))
    last, due = table.now, table.docket.next_instant()
    assert due is not None

    guessed = _paced(file, table.docket, last)
    assert last + timedelta(seconds=60) <= guessed < due
    os.utime(file, ns=(0, 0))
    assert _paced(file, table.docket, last) == due
    file.unlink()
    assert _paced(file, table.docket, last) - last < timedelta(seconds=5)


def test_a_status_says_which_seats_models_fill_and_what_they_came_to(tmp_path: Path) -> None:
    table = CallTable({"usd": "2", "seat": {"calls": 5}})
    table.settle(table.reserve().body.call_id)
    place = write_log(tmp_path / "data", table.log)
    shown = done("status", place)
    assert "models        advocate: the model priced (test-1)\n" in shown
    assert "spent         $0.0003 of $2.00, 150 tokens, 1 call\n" in shown
    assert "              the seat advocate: 1 of 5 calls\n" in shown
    assert data("status", place)["models"] == {"advocate": "the model priced (test-1)"}


def test_a_status_without_models_says_nothing_of_them(place: Path) -> None:
    shown = done("status", place)
    assert "models" not in shown and "spent" not in shown


def test_a_budget_of_models_that_is_spent_is_told_with_the_call_that_did_not_fit(tmp_path: Path) -> None:
    table = CallTable({"usd": "0.002", "day": {"calls": 9}})
    table.settle(table.reserve().body.call_id, usage=None, outcome="unknown")
    table.reserve()
    table.refuse(turn=2)
    table.officers()
    where = write_log(tmp_path / "data", table.log)

    told = done("status", where)
    assert "no room: the budget of the society is $0.002, $0.002 booked: $0.00 left" in " ".join(told.split())
    found = data("status", where)["calls"]
    assert found["under_way"] == 1
    assert found["budgets"][0] == {
        "scope": "society",
        "key": "",
        "limit": {"usd": 2_000, "tokens": None, "calls": None},
        "booked": {"usd": 2_000, "tokens": 800, "calls": 2},
        "under_way": {"usd": 1_000, "tokens": 400, "calls": 1},
    }
    assert [(one["budget"], one["seats"]) for one in found["spent"]] == [("society/usd", "stay_silent")]
