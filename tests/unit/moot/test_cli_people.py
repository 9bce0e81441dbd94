"""`moot post`, `ack`, `reply`, `override`, `take`, `release`, `stop`: people in a society, running or not."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.cli.act import acts
from moot.cli.place import login_name
from moot.protocols.kernel.officers import ConfigChanged
from moot.protocols.kernel.seats import TIMEKEEPER
from tests.doubles.command_line import complaint, data, done, moot
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.live_society import LiveSociety
from tests.doubles.table import START, Table

HYP = "hyp_20260223_1003"
ESC = "esc_20260223_1440"
ME = login_name()


@pytest.fixture(autouse=True)
def _short_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "VIOLATION_S", 0.5)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    return write_log(tmp_path / "data", a_debate().log)


@pytest.fixture
def debate(tmp_path: Path) -> Iterator[LiveSociety]:
    table = a_debate()
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        yield society


@pytest.fixture
def escalated(tmp_path: Path) -> Iterator[LiveSociety]:
    """A society in which seats were silent: one escalation is open."""
    table = Table(
        schedules={"micro": {"at": [(START + timedelta(hours=2 * n)).isoformat() for n in range(3)]}}
    )
    table.wait(hours=4, minutes=45)
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        yield society


def last(place: Path, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done("log", place, "--type", kind, "--json").splitlines()[-1])
    return found


def test_a_note_stands_in_the_log_with_who_wrote_it(debate: LiveSociety) -> None:
    assert (
        done("post", debate.directory, "a-arena", "Mind the gap", "--about", HYP)
        == "noted in #a-arena: message 12\n"
    )

    message = last(debate.directory, "NOTE")
    assert message["body"] == {"type": "NOTE", "text": "Mind the gap", "about_case_id": HYP}
    assert message["actor"] == {"kind": "human", "platform": "cli", "user_id": ME}
    assert message["author"] == "admin"
    assert message["id"].startswith(f"cli/{ME}/")


def test_saying_it_twice_are_two_messages(debate: LiveSociety) -> None:
    first = data("post", debate.directory, "#bridge", "x")
    second = data("post", debate.directory, "#bridge", "x")

    assert (first["status"], first["seq"], first["violation"]) == ("accepted", 12, None)
    assert (second["status"], second["seq"]) == ("accepted", 13)


def test_who_is_no_admin_writes_as_a_viewer(debate: LiveSociety) -> None:
    done("post", debate.directory, "#bridge", "hello", "--as", "bob")

    message = last(debate.directory, "NOTE")
    assert (message["author"], message["actor"]["user_id"]) == ("viewer", "bob")


def test_what_a_viewer_may_not_do_the_society_refuses(debate: LiveSociety) -> None:
    said = complaint(3, "take", debate.directory, "critic", "--as", "bob")

    assert said.startswith("moot take: bob is a viewer here: ")
    assert "only admin or referee may" in said
    assert '[admins] cli = ["bob"] in its configuration would allow it' in said


def test_a_refusal_as_json_says_why(debate: LiveSociety) -> None:
    result = moot("post", debate.directory, "#admin", "x", "--as", "bob", "--json")

    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert (found["status"], found["field"]) == ("refused", "channel")


def test_a_post_to_a_stopped_society_is_queued_and_logged_by_the_next(tmp_path: Path) -> None:
    table = a_debate()
    place = write_log(tmp_path / "data", table.log)

    assert done("post", place, "bridge", "see you") == "queued: no society runs, the next one takes it\n"
    assert data("post", place, "bridge", "again")["status"] == "queued"
    assert data("status", place)["queued"] == 2
    assert "inbox         2 posts waiting" in done("status", place)

    with LiveSociety(place, None, lambda: table.now):
        wait_for(lambda: data("status", place)["queued"] == 0)

    assert last(place, "NOTE")["body"]["text"] == "again"


def wait_for(condition: Any) -> None:
    import time

    for _ in range(1_200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def test_what_would_be_refused_is_not_queued(stopped: Path) -> None:
    said = complaint(3, "post", stopped, "#admin", "x", "--as", "bob")
    assert "bob is a viewer here" in said
    assert re.search(r'\[viewers\] writes = \[.*"#admin"\] in its configuration would allow it', said)
    assert "bob is a viewer here" in complaint(3, "take", stopped, "critic", "--as", "bob")
    assert data("status", stopped)["queued"] == 0


def test_the_configuration_in_the_log_names_the_admins(tmp_path: Path) -> None:
    table = a_debate()
    table.post(
        TIMEKEEPER,
        ConfigChanged(changes={"admins": {"cli": ["ann"]}}, reason="x"),
        channel="#admin",
        key="config/1",
    )
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        done("take", society.directory, "critic", "--as", "ann")

    assert last(tmp_path / "data", "SEAT_TAKEN")["body"]["user_id"] == "ann"


def test_an_override_goes_where_the_case_is(debate: LiveSociety) -> None:
    done("override", debate.directory, "hyp", "approve", "--why", "I know better")

    message = last(debate.directory, "OVERRIDE")
    assert (message["channel"], message["case_id"]) == ("#a-arena", HYP)
    assert message["body"].pop("override_id").startswith("ovr_")
    assert message["body"] == {
        "type": "OVERRIDE",
        "case_id": HYP,
        "verdict": "APPROVE",
        "why": "I know better",
    }
    assert data("case", debate.directory, HYP)["phase"] == "backtesting"


def test_a_seat_is_taken_and_released(debate: LiveSociety) -> None:
    assert done("take", debate.directory, "Evolver") == f"{ME} sits in the seat of the evolver: message 12\n"
    assert data("status", debate.directory)["seats_taken"] == {"evolver": ME}
    assert f"{ME} on cli holds evolver already" in complaint(3, "take", debate.directory, "evolver")
    assert done("release", debate.directory, "evolver").startswith(
        "the seat of the evolver is its bot's again"
    )
    assert "nobody holds evolver" in complaint(3, "release", debate.directory, "evolver")


def test_an_act_that_breaks_a_rule_is_in_the_log_and_told(debate: LiveSociety) -> None:
    result = moot("release", debate.directory, "critic", "--json")

    assert result.exit_code == 3
    assert json.loads(result.stdout)["violation"]["rule"] == "K14"
    assert "message 12 is in the log, but nobody holds critic" in result.stderr


def test_an_escalation_is_acknowledged_and_answered_once(escalated: LiveSociety) -> None:
    place = escalated.directory
    assert done("ack", place, "last").startswith(f"{ESC} seen: message ")
    assert done("reply", place, ESC, "3").startswith(f"{ESC} answered: message ")

    assert last(place, "ESCALATION_ANSWER")["body"]["option"] == 3
    wait_for(lambda: data("escalations", place)[0]["state"] == "answered")
    assert "late: " in complaint(3, "reply", place, ESC, "1")


def test_an_answer_may_be_words(escalated: LiveSociety) -> None:
    said = done("reply", escalated.directory, "esc", "Let me look.")

    assert said.startswith(f"{ESC} answered in own words, which end it and choose no option: message ")
    assert last(escalated.directory, "ESCALATION_ANSWER")["body"]["text"] == "Let me look."


def test_a_number_that_is_no_options_is_taken_as_words_and_says_so(escalated: LiveSociety) -> None:
    assert "in own words, which end it" in done("reply", escalated.directory, "last", "1.5")
    assert last(escalated.directory, "ESCALATION_ANSWER")["body"]["option"] is None


@pytest.mark.parametrize("number", ["0", "9", "99", "12345"])
def test_an_option_that_does_not_exist_is_refused_before_it_is_sent(
    escalated: LiveSociety, number: str
) -> None:
    before = data("status", escalated.directory)["seq"]

    assert f"there is no option {number}: choose 1, 2, 3, or write words" in complaint(
        2, "reply", escalated.directory, "last", number
    )
    assert data("status", escalated.directory)["seq"] == before
    assert done("reply", escalated.directory, "last", " 2").startswith(f"{ESC} answered: message ")


def test_a_text_may_begin_with_a_slash(stopped: Path) -> None:
    done("post", stopped, "bridge", "/etc/moot.toml names the wrong prices")
    assert data("status", stopped)["queued"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["post", "nowhere", "x"], "there is no channel #nowhere: choose one of "),
        (["post", "bridge", "  "], "TEXT is empty"),
        (["post", "bridge", "x" * 20_001], "text: has 20,001 characters, 20,000 are the most"),
        (
            ["post", "motions", " /debate Cats? | dogs | cats"],
            "TEXT is a command, /debate, and would only be noted: moot act DIR debate does it",
        ),
        (["post", "bridge", "/status"], "/status, and would only be noted: moot --help tells how to ask"),
        (["override", HYP, "REVISE", "--why", "x"], "a verdict is APPROVE or REJECT"),
        (["override", "hyp_x", "REJECT", "--why", "x"], "there is no case hyp_x"),
        (["override", HYP, "REJECT", "--why", ""], "--why is empty"),
        (["take", "critc"], "did you mean critic?"),
        (["take", "referee"], "there is no seat 'referee' that a person can take"),
        (
            ["take", "admin"],
            "there is no seat 'admin' that a person can take: choose one of advocate, critic, da, ",
        ),
        (["post", "bridge", "x", "--about", "no_such"], "there is no case no_such: moot status"),
        (["post", "bridge", " \u200b\u2066\t"], "TEXT is empty"),
        (["post", "bridge", "x", "--as", "referee"], "--as referee: that is a seat, name a person"),
        (["post", "bridge", "x", "--as", "Critic"], "--as Critic: that is a seat, name a person"),
        (["ack", "last"], "nothing was ever escalated"),
        (["post", "bridge", "x", "--as", "a\nb"], "a user is a name of 1 to 60 characters"),
    ],
)
def test_what_cannot_be_meant_is_not_posted(stopped: Path, words: list[str], said: str) -> None:
    assert said in complaint(2, words[0], stopped, *words[1:])
    assert data("status", stopped)["queued"] == 0


def test_a_channel_that_a_running_society_does_not_have_is_told_the_same(escalated: LiveSociety) -> None:
    said = "there is no channel #nowhere: choose one of "

    assert said in complaint(2, "post", escalated.directory, "nowhere", "x")
    refused = complaint(3, "post", escalated.directory, "admin", "x", "--as", "bob")
    assert "not in #admin; [viewers] writes = " in refused


def test_an_unknown_escalation_is_told_with_where_to_look(escalated: LiveSociety) -> None:
    assert "there is no escalation esc_9: moot escalations" in complaint(
        2, "reply", escalated.directory, "esc_9", "1"
    )


@pytest.mark.parametrize(
    ("scope", "logged"), [(None, "society"), ("a", "system A"), ("System B", "system B"), ("hyp", HYP)]
)
def test_a_stop_says_what_stops(debate: LiveSociety, scope: str | None, logged: str) -> None:
    options = [] if scope is None else ["--scope", scope]

    assert done("stop", debate.directory, "--why", "enough", *options).startswith(f"{logged} stops")

    assert last(debate.directory, "STOP")["body"] == {"type": "STOP", "scope": logged, "why": "enough"}


def test_a_system_that_is_stopped_is_said_to_be_until_when(debate: LiveSociety) -> None:
    place = debate.directory
    first = done("stop", place, "--why", "enough", "--scope", "A")
    assert first.startswith("system A stops until the society is started again: message ")
    seq = last(place, "STOP")["seq"]
    again = f"system A was stopped by message {seq} already, which holds until the society is started again"
    assert done("stop", place, "--why", "enough", "--scope", "system a").startswith(again)
    assert done("stop", place, "--why", "enough", "--scope", "B").startswith("system B stops until ")
    assert "by a person, until the society is started again" in done("status", place)


def test_a_stop_is_never_queued_and_never_a_viewers(stopped: Path) -> None:
    assert "there is nothing to stop" in complaint(3, "stop", stopped, "--why", "x")
    assert "only admins may stop it" in complaint(3, "stop", stopped, "--why", "x", "--as", "bob")
    assert data("status", stopped)["queued"] == 0
