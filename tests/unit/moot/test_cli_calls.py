"""`moot calls`."""

from __future__ import annotations

from pathlib import Path

import pytest

import moot
from moot.cli.look.call_story import unwrapped
from moot.memory.bodies_file import CALLS_NAME
from tests.doubles.call_table import PRICED, CallTable
from tests.doubles.called import ASKED, Called, a_claim
from tests.doubles.command_line import complaint, data, done, wide
from tests.doubles.command_line import moot as moot_command
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.model_server import ModelServer, completion

CLAIM = "motion_20260223_1000/claim/advocate"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return a_claim(tmp_path / "d", {"usd": "2.00", "seat": {"calls": 50}}).write()


def test_the_calls_of_a_log_and_what_they_come_to(place: Path) -> None:
    assert wide("calls", place) == (
        "Calls of models  3 calls\n"
        "message  when         seat      model   outcome   tokens     cost   took  about\n"
        "      3  02-23 10:00  Advocate  priced  answered     150  $0.0003  0.7 s  motion_20260223_1000\n"
        "      5  02-23 10:00  Advocate  priced  error          0    $0.00  0.7 s  "
        "motion_20260223_1000: HTTP 500: it broke\n"
        "      7  02-23 10:00  Advocate  priced  answered     150  $0.0003  0.7 s  motion_20260223_1000\n"
        "\n"
        "total                           calls  answered  tokens     cost\n"
        "by seat   Advocate                  3         2     300  $0.0006\n"
        "by case   motion_20260223_1000      3         2     300  $0.0006\n"
        "by model  priced                    3         2     300  $0.0006\n"
        "all                                 3         2     300  $0.0006\n"
        "budget of the society: $2.00, $0.0006 booked, $1.9994 left\n"
        "budget of the seat advocate: 50 calls, 3 calls booked, 47 calls left\n"
    )
    assert max(map(len, done("calls", place, COLUMNS="80").splitlines())) <= 80


def test_the_same_for_programs(place: Path) -> None:
    told = data("calls", place)

    assert [(one["id"], one["state"], one["try"]) for one in told["calls"]] == [
        (f"{CLAIM}/0/1/1", "answered", 1),
        (f"{CLAIM}/0/2/1", "provider_error", 1),
        (f"{CLAIM}/0/2/2", "answered", 2),
    ]
    assert told["calls"][0]["usage"]["output"] == 50
    both = {"calls": 3, "answered": 2, "tokens": 300, "cost": 600, "unpriced": 0}
    assert told["totals"] == {
        "all": both,
        "by_seat": {"advocate": both},
        "by_case": {"motion_20260223_1000": both},
        "by_model": {"priced": both},
    }
    assert told["budgets"][0]["limit"] == {"usd": 2_000_000, "tokens": None, "calls": None}
    assert told["texts_lost"] == ""


def test_from_python_the_calls_are_those_of_the_log(place: Path) -> None:
    first, _, last = moot.open_log(place).calls()
    assert (first.seat, first.cost, first.state, last.try_) == ("advocate", 300, "answered", 2)
    assert [one.to_dict() for one in (first, last)] == data("calls", place)["calls"][::2]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["--seat", "advocate", "--model", "priced"], 3),
        (["--seat", "critic"], 0),
        (["--case", "motion_20260223_1000"], 3),
        (["--case", "motion_1"], 0),
        (["--model", "free"], 0),
    ],
)
def test_calls_are_found_by_seat_case_and_model(place: Path, filters: list[str], found: int) -> None:
    told = data("calls", place, *filters)
    assert len(told["calls"]) == told["totals"]["all"]["calls"] == found
    if not found:
        assert done("calls", place, *filters) == "no such call\n"


@pytest.mark.parametrize("name", [f"{CLAIM}/0/2/1", f"{CLAIM}/0/2", f"{CLAIM}/0", CLAIM, "3", "6", "9"])
def test_one_answer_is_told_word_for_word_by_whatever_names_it(place: Path, name: str) -> None:
    assert done("calls", place, name) == (
        f"{CLAIM}  owed by advocate\n"
        "3 calls, 300 tokens, $0.0006\n"
        "\n"
        "turn 1, try 1: answered\n"
        f"  call      {CLAIM}/0/1/1\n"
        "  asked at  2026-02-23 10:00 UTC, message 3\n"
        "  seat      advocate, about motion_20260223_1000\n"
        "  model     priced (test-1)\n"
        "  tokens    100 input, 50 output\n"
        "  cost      $0.0003\n"
        "  took      0.7 s\n"
        "  asked     system\n"
        "    You are the advocate.\n"
        "    Say which option holds.\n"
        "  asked     user\n"
        "    Four days or five?\n"
        "  answered  assistant calls look_up\n"
        '    {"word":"week"}\n'
        "\n"
        "turn 2, try 1: error\n"
        f"  call      {CLAIM}/0/2/1\n"
        "  asked at  2026-02-23 10:00 UTC, message 5\n"
        "  seat      advocate, about motion_20260223_1000\n"
        "  model     priced (test-1)\n"
        "  why       HTTP 500: it broke\n"
        "  cost      $0.00\n"
        "  took      0.7 s\n"
        "  asked     the 2 messages above, and\n"
        "  asked     tool call_1\n"
        "    seven days\n"
        "\n"
        "turn 2, try 2: answered\n"
        f"  call      {CLAIM}/0/2/2\n"
        "  asked at  2026-02-23 10:00 UTC, message 7\n"
        "  seat      advocate, about motion_20260223_1000\n"
        "  model     priced (test-1)\n"
        "  tokens    100 input, 50 output\n"
        "  cost      $0.0003\n"
        "  took      0.7 s\n"
        "  asked     the 3 messages above\n"
        "  answered  assistant\n"
        '    {"option":"yes"}\n'
        "\n"
        "posted as message 9, CLAIM\n"
    )


def test_one_answer_for_programs_holds_requests_and_replies(place: Path) -> None:
    (answer,) = data("calls", place, 9)
    assert answer["message"]["body"]["type"] == "CLAIM"
    first, failed, last = answer["calls"]
    assert first["request"]["messages"] == list(ASKED)
    assert failed["reply"] is None and failed["lost"] == []
    assert last["reply"]["body"]["choices"][0]["message"]["content"] == '{"option":"yes"}'


def test_an_answer_that_the_rules_refused_is_told_apart_from_the_next(tmp_path: Path) -> None:
    called = Called(tmp_path / "d")
    for option in ("maybe", "yes"):
        called.answer(called.ask(), completion(f'{{"option":"{option}"}}'))
        called.table.claim(option)
    place = called.write()

    refused, posted = data("calls", place, CLAIM)
    assert (refused["attempt"], posted["attempt"]) == (0, 1)
    assert "maybe" in refused["message"]["body"]["option"] and refused["refused"]
    assert posted["refused"] == ""
    told = done("calls", place, CLAIM)
    assert "posted as message 5, CLAIM, and refused by the rules: " in told
    assert "owed by advocate, after 1 refused answer\n" in told
    assert len(data("calls", place, f"{CLAIM}/1")) == 1


def test_what_is_under_way_refused_by_a_budget_or_never_sent_says_so(tmp_path: Path) -> None:
    called = Called(tmp_path / "d", {"calls": 1})
    called.ask()
    called.table.reserve(turn=2)
    called.table.refuse(turn=2, why="the budget of the society is 1 call")
    place = called.write()

    told = wide("calls", place)
    rows = [" ".join(line.split()[5:]) for line in told.splitlines()[2:5]]
    assert rows == [
        "under way 400 $0.001 motion_20260223_1000",
        "not sent 0 $0.00 motion_20260223_1000: it did not fit, or was not owed, any more when it came into the log",
        "no budget 0 $0.00 motion_20260223_1000: the budget of the society is 1 call",
    ]
    assert data("calls", place)["totals"]["all"]["calls"] == 1
    assert "nothing was posted for it, so far" in wide("calls", place, CLAIM)
    assert "400, the most it may take" in wide("calls", place, CLAIM)


def test_a_price_that_is_not_known_is_no_zero(tmp_path: Path) -> None:
    called = Called(tmp_path / "d")
    called.answer(called.ask(model="free", max_cost=None), completion("red"))
    place = called.write()
    told = done("calls", place)
    assert "answered     150     ?  0.7 s" in told
    assert "the price of 1 call is not known" in told


def test_the_latest_calls_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    called = Called(tmp_path / "d")
    for turn in range(1, 46):
        called.table.settle(called.table.reserve(turn=turn).body.call_id)  # type: ignore[attr-defined]
    place = called.write()
    told = wide("calls", place).splitlines()
    assert told[0] == "Calls of models  45 calls, the last 40 of them"
    assert len(told[2 : told.index("")]) == 40
    assert len(data("calls", place)["calls"]) == 45


def test_what_a_model_says_cannot_move_the_cursor_or_hide(tmp_path: Path) -> None:
    called = Called(tmp_path / "d")
    called.answer(called.ask(), completion("\x1b[2J\u202egone\nnext"), why="\x1b]0;title\x07")
    told = done("calls", called.write(), CLAIM)
    assert "\x1b" not in told and "\u202e" not in told and "\x07" not in told
    assert "    next\n" in told


def test_a_log_without_calls_says_so(tmp_path: Path) -> None:
    place = write_log(tmp_path / "d", a_debate().log)
    assert moot_command("calls", place).output == "no model was called\n"
    assert data("calls", place)["calls"] == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nonsense", "there is no call, obligation or message nonsense: moot calls"),
        ("99", "there is no message 99: the log of"),
        ("2", "no model was called for message 2: moot calls"),
        ("", "there is no call, obligation or message"),
    ],
)
def test_an_id_that_names_no_call_is_refused(place: Path, name: str, why: str) -> None:
    assert why in complaint(2, "calls", place, name)


def test_an_id_takes_no_filter(place: Path) -> None:
    assert "ID names calls already" in complaint(2, "calls", place, "3", "--seat", "critic")
    assert "there is no seat 'nobody'" in complaint(2, "calls", place, "--seat", "nobody")


def test_texts_that_are_lost_are_missed_and_the_rest_is_told(place: Path) -> None:
    (place / CALLS_NAME).unlink()

    result = moot_command("calls", place)
    assert result.exit_code == 0
    assert result.stdout.startswith("Calls of models  3 calls\n")
    assert result.stderr == (
        f"moot calls {place}: {place / CALLS_NAME} is not there; what was asked and answered in 3 calls is lost, and "
        "moot verify says that it is not borne out\n"
    )
    story = wide("calls", place, CLAIM)
    assert f"lost      the request is lost: {place / CALLS_NAME} is not there" in story
    assert "posted as message 9, CLAIM" in story
    assert "is not there" in data("calls", place)["texts_lost"]


def test_an_exported_log_tells_all_but_the_texts(place: Path, tmp_path: Path) -> None:
    exported = tmp_path / "log.jsonl"
    exported.write_text(done("log", place, "--json"), encoding="utf-8")
    result = moot_command("calls", exported)
    assert result.stdout == done("calls", place)
    assert "a file of messages holds none of the texts" in result.stderr


def test_a_society_that_lives_is_read_beside_it(tmp_path: Path) -> None:
    called = Called(tmp_path / "d")
    called.answer(called.ask(), completion("red"))
    write_log(called.place, called.table.log)
    assert "    red\n" in done("calls", called.place, CLAIM)
    called.bodies.close()


def test_help_shows_examples_and_pipes_have_no_colours(place: Path) -> None:
    assert "moot calls ./moot-data --seat critic --model local" in done("calls", "--help")
    assert "\x1b[" not in done("calls", place)
    assert "\x1b[" in done("calls", place, NO_COLOR="", FORCE_COLOR="1")


def test_a_paragraph_that_was_wrapped_where_it_was_written_fills_the_lines_of_a_screen() -> None:
    prose = "You fill a seat in a society whose seats argue and decide under rules."
    given = f"""# Every seat
{prose}
A referee reads.
Short.

- {prose}
  It goes on here.
- Another item.
<<<transcript 1f>>>
Critic says {prose}
Advocate says {prose}
<<<end transcript 1f>>>"""
    assert [*unwrapped(given.split("\n"))] == [
        "# Every seat",
        f"{prose} A referee reads.",
        "Short.",
        "",
        f"- {prose} It goes on here.",
        "- Another item.",
        "<<<transcript 1f>>>",
        f"Critic says {prose}",
        f"Advocate says {prose}",
        "<<<end transcript 1f>>>",
    ]


@pytest.mark.parametrize("usage", ["counted", None])
def test_probes_of_a_start_count_in_the_totals(tmp_path: Path, usage: object) -> None:
    with ModelServer() as server:
        if usage is None:
            server.always = completion('{"colour":"red","number":1}', usage=None)
        model = ["--model", f"{server.url}#{server.model}", "--seats", "critic"]
        moot_command("debate", "Where?", "--options", "Rome,Oslo", *model, "--out", tmp_path / "d")
        requests = len(server.calls)
    told = data("calls", tmp_path / "d")

    (probe,) = told["probes"]
    assert (probe["model"], probe["seq"]) == ("tiny-1", 1)
    assert probe["calls"] >= 1 and probe["tokens"] >= (120 if usage else 300)
    assert told["totals"]["all"]["calls"] == probe["calls"] + len(told["calls"]) == requests
    assert told["totals"]["all"]["tokens"] == probe["tokens"] + sum(one["tokens"] for one in told["calls"])
    assert told["totals"]["by_model"]["tiny-1"] == told["totals"]["all"]
    assert told["totals"]["by_seat"][""]["calls"] == probe["calls"]
    assert data("calls", tmp_path / "d", "--seat", "critic")["probes"] == []
    shown = wide("calls", tmp_path / "d")
    assert f"{probe['calls']} call{'s' if probe['calls'] > 1 else ''} at the start" in shown


def test_probes_of_every_start_count_and_an_unknown_cost_is_told(tmp_path: Path) -> None:
    probe = {"calls": 2, "tokens": 90, "cost": None}
    table = CallTable(
        models={"priced": {**PRICED, "probe": {**probe, "cost": 100}}, "free": {"probe": probe}}
    )
    table.start()
    place = write_log(tmp_path / "d", table.log)
    every = data("calls", place)["totals"]["all"]
    assert every == {"calls": 8, "answered": 0, "tokens": 360, "cost": 200, "unpriced": 4}
    assert data("calls", place, "--model", "free")["totals"]["all"]["calls"] == 4
    assert "Calls of models  no calls, 8 probes\n" in wide("calls", place)
    assert "the price of 4 calls is not known" in wide("calls", place)
    assert "no such call" in wide("calls", place, "--seat", "critic")
