"""`moot act`: whatever a protocol lets people do, by name; Moot's own acts go the same way."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.cli.act import acts
from moot.cli.place import login_name
from moot.memory.evidence import DirectoryEvidence, text_of
from moot.protocols.rulebook import rulebook
from tests.doubles.command_line import complaint, data, done
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.live_society import LiveSociety

HYP = "hyp_20260223_1003"
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


def test_an_act_stands_in_the_log_in_its_place_with_who_did_it(debate: LiveSociety) -> None:
    given = ("case=hyp_", "verdict=approve", "why=bad data")
    assert done("act", debate.directory, "override", *given) == "OVERRIDE in #a-arena: message 12\n"

    said = json.loads(done("log", debate.directory, "--type", "OVERRIDE", "--json"))
    assert said["body"]["case_id"] == HYP and said["case_id"] == HYP
    assert (said["body"]["verdict"], said["body"]["why"]) == ("APPROVE", "bad data")
    assert said["actor"] == {"kind": "human", "platform": "cli", "user_id": ME}
    assert said["id"].startswith(f"cli/{ME}/")


def test_doing_it_twice_are_two_acts(debate: LiveSociety) -> None:
    note = ("act", debate.directory, "note", "text=hm", "--in", "bridge")
    assert [data(*note)["seq"], data(*note)["seq"]] == [12, 13]


def test_a_seat_is_taken_by_whoever_says_so_by_the_word_of_the_chat_too(debate: LiveSociety) -> None:
    done("act", debate.directory, "/take", "seat=Critic")

    said = json.loads(done("log", debate.directory, "--type", "SEAT_TAKEN", "--json"))["body"]
    assert (said["seat"], said["user_id"]) == ("critic", ME)


def test_the_help_and_the_list_name_every_act_and_json_says_what_it_takes(stopped: Path) -> None:
    for text in (done("act", "--help"), done("act", stopped)):
        for act in rulebook().acts.values():
            (line,) = (line for line in text.splitlines() if line.strip().startswith(f"{act.name} "))
            assert act.does.split(":")[0][:30] in line
    listed = {one["name"]: one for one in data("act", stopped)}
    assert list(listed) == list(rulebook().acts)
    assert listed["override"]["takes"]["properties"]["verdict"]["enum"] == ["APPROVE", "REJECT"]


@pytest.mark.parametrize(
    ("code", "words", "said"),
    [
        (2, ["halt"], "halt: the reason is missing; write moot act DIR halt reason=REASON"),
        (2, ["halt", "whyx=x"], "halt: there is no 'whyx', it takes reason; write moot act DIR halt reason=REASON"),
        (2, ["halt", "x"], "halt: 'x' is no NAME=VALUE; write moot act DIR halt reason=REASON"),
        (2, ["hal", "reason=x"], "there is no act 'hal': did you mean halt? Else choose one of note, override"),
        (2, ["note", "text=x"], "note: say where, with --in CHANNEL"),
        (2, ["take", "seat=critc"], "take: no seat 'critc' that a person can take, did you mean critic?; write"),
        (2, ["override", "case=dep_1", "verdict=REJECT", "why=x"], "there is no case dep_1"),
        (2, ["note", f"text={'x' * 20_001}", "--in", "lab"], "note: text: has 20,001 characters, 20,000 are the most"),
        (2, ["note", "text=x", "--in", "nowhere"], "there is no channel #nowhere: choose one of "),
        (3, ["halt", "reason=x", "--as", "bob"], "bob is a viewer here: viewer may not post HALT"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(stopped: Path, code: int, words: list[str], said: str) -> None:
    assert complaint(code, "act", stopped, *words).startswith(f"moot act: {said}")


def test_where_no_society_runs_it_waits_for_the_next(stopped: Path) -> None:
    assert done("act", stopped, "halt", "reason=x") == "queued: no society runs, the next one takes it\n"


def test_a_context_is_kept_beside_the_log_and_named_by_the_motion(debate: LiveSociety) -> None:
    words = ("question=Where do we meet?", "options=Rome", "options=Oslo", "context=Half live in Oslo.")
    told = done("act", debate.directory, "debate", *words)
    motion = json.loads(done("log", debate.directory, "--type", "MOTION", "--json"))["case_id"]
    assert told == (
        f"MOTION in #motions: message 12\nit opens {motion}: moot case {debate.directory} {motion}\n"
    )

    said = json.loads(done("log", debate.directory, "--type", "MOTION", "--json"))["body"]
    assert (said["question"], said["options"]) == ("Where do we meet?", ["Rome", "Oslo"])
    evidence = DirectoryEvidence(debate.directory / "evidence")
    assert text_of(evidence, said["context_ref"]) == "Half live in Oslo."
    assert "100,000 are the most" in complaint(
        2, "act", debate.directory, "debate", "question=Where?", f"context={'x' * 100_001}"
    )
    assert "one option is no choice" in complaint(
        2, "act", debate.directory, "debate", "question=Where?", "options=Rome"
    )
