"""`moot answer`: a person in a seat answers what it owes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.cli.act import acts
from moot.cli.place import login_name
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.people import SeatTaken
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import CRITIC, EXPLORER
from tests.doubles import bodies
from tests.doubles.command_line import complaint, data, done, write
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.live_society import LiveSociety
from tests.doubles.table import Table

HYP = "hyp_20260223_1003"
OWED = f"{HYP}/assessment-1/critic"
ME = login_name()


@pytest.fixture(autouse=True)
def _short_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "VIOLATION_S", 0.5)


def proposed(platform: str = "cli") -> Table:
    """A hypothesis waits for the Critic, in whose seat I sit."""
    table = Table()
    take(table, "critic", ME, platform)
    table.wait(minutes=3)
    table.say(EXPLORER, bodies.hypothesis(table.last("CYCLE_TRIGGER").body.cycle_id))  # type: ignore[attr-defined]
    table.wait(minutes=1)
    return table


def take(table: Table, seat: str, user: str, platform: str = "cli") -> None:
    body, actor = SeatTaken(seat=seat, user_id=user, reason="x"), Actor("human", platform, user)
    table.publish(Draft(channel="#admin", author=ADMIN, body=body, actor=actor, key=f"{seat} at {table.now}"))


@pytest.fixture
def society(tmp_path: Path) -> Iterator[LiveSociety]:
    table = proposed()
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as live:
        yield live


def body(**over: Any) -> str:
    plain = bodies.assessment(1).model_dump(mode="json", exclude={"type", "hypothesis_id"})
    return json.dumps({**plain, **over})


def last(place: Path, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done("log", place, "--type", kind, "--json").splitlines()[-1])
    return found


def test_an_answer_settles_the_obligation(society: LiveSociety, tmp_path: Path) -> None:
    file = write(tmp_path / "body.json", body())

    assert done("answer", society.directory, OWED, "--body", file).startswith(
        "RISK_ASSESSMENT given: message "
    )

    message = last(society.directory, "RISK_ASSESSMENT")
    assert (message["id"], message["obligation_id"]) == (f"{OWED}/0", OWED)
    assert (message["author"], message["tenure"], message["channel"]) == ("critic", 3, "#a-arena")
    assert message["actor"] == {"kind": "human", "platform": "cli", "user_id": ME}
    assert data("case", society.directory, HYP)["phase"] == "rebutting_2"


def test_the_body_may_come_from_the_input_and_the_id_may_be_short(society: LiveSociety) -> None:
    assert (
        data("answer", society.directory, f"{HYP}/ass", "--body", "-", stdin=body())["status"] == "accepted"
    )


def test_an_illegal_answer_is_told_and_may_be_corrected(society: LiveSociety) -> None:
    said = complaint(3, "answer", society.directory, OWED, "--body", "-", stdin=body(round=2))
    assert "is in the log, but this is round 1" in said

    assert data("answer", society.directory, OWED, "--body", "-", stdin=body())["id"] == f"{OWED}/1"


def test_a_second_answer_is_refused(society: LiveSociety) -> None:
    seq = data("answer", society.directory, OWED, "--body", "-", stdin=body())["seq"]

    said = complaint(3, "answer", society.directory, OWED, "--body", "-", stdin=body(confidence=0.7))
    assert f"was answered by message {seq}" in said


def test_a_late_answer_is_kept_marked_late_and_changes_nothing(tmp_path: Path) -> None:
    table = proposed()
    table.wait(minutes=40)
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        said = complaint(3, "answer", society.directory, OWED, "--body", "-", stdin=body())

    assert "is in the log, but late: critic was ruled silent before this RISK_ASSESSMENT came" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "the body is not JSON"),
        ("[]", "the body is no JSON object"),
        ('{"type": "VERDICT"}', "VERDICT is not what is owed: RISK_ASSESSMENT"),
        (body(confidence=1.2), "RISK_ASSESSMENT: confidence: choose at most 1, not 1.2"),
        (body(mood="grim"), "RISK_ASSESSMENT: mood: there is no such field: leave it out"),
        (
            '{"round": 1}',
            "risk_rating: is needed; and confidence, scores, conditions, fatal_flaws, reasoning",
        ),
    ],
)
def test_what_is_not_owed_is_not_sent_and_the_field_is_named(
    society: LiveSociety, text: str, said: str
) -> None:
    assert said in complaint(2, "answer", society.directory, OWED, "--body", "-", stdin=text)
    assert done("log", society.directory, "--type", "RISK_ASSESSMENT", "--json") == ""


def test_a_type_is_needed_where_several_are_expected(tmp_path: Path) -> None:
    table = Table()
    take(table, "evolver", ME)
    table.wait(minutes=3)
    table.say(EXPLORER, bodies.hypothesis(table.last("CYCLE_TRIGGER").body.cycle_id))  # type: ignore[attr-defined]
    table.say(CRITIC, bodies.assessment(1))
    table.say(EXPLORER, bodies.rebuttal(2))
    table.say(CRITIC, bodies.assessment(2))
    owed = f"{HYP}/verdict/evolver"
    extension = json.dumps(
        {"type": "EXTEND_DEBATE", "extra_rounds": 1, "alpha_argument_score": 0.6, "risk_argument_score": 0.6,
         "reason": "close"}
    )  # fmt: skip
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        said = complaint(2, "answer", society.directory, owed, "--body", "-", stdin="{}")
        assert "type: name what is owed: VERDICT or EXTEND_DEBATE" in said
        done("answer", society.directory, owed, "--body", "-", stdin=extension)

        # The verdict is owed in #a-verdict, an extension belongs into #a-arena.
        assert last(society.directory, "EXTEND_DEBATE")["channel"] == "#a-arena"


def test_only_who_sits_in_the_seat_may_answer(society: LiveSociety) -> None:
    said = complaint(3, "answer", society.directory, OWED, "--body", "-", "--as", "bob", stdin=body())
    assert f"{ME} on cli sits in the seat of the critic, not bob on cli" in said


@pytest.mark.rule("K14")
def test_k14_a_namesake_on_another_platform_is_somebody_else(tmp_path: Path) -> None:
    table = proposed(platform="discord")
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        said = complaint(3, "answer", society.directory, OWED, "--body", "-", stdin=body())
    assert f"{ME} on discord sits in the seat of the critic, not {ME} on cli" in said


@pytest.mark.parametrize(
    ("owed", "code", "said"),
    [
        (f"{HYP}/reflection/evolver", 3, "nobody sits in the seat of the evolver: moot take"),
        (f"{HYP}/verdict/evolver", 3, "was answered by message 11"),
        ("hyp_x/verdict/evolver", 2, "nobody owes hyp_x/verdict/evolver"),
        ("cycle_20260223_1000/x", 2, "nobody owes cycle_20260223_1000/x"),
    ],
)
def test_what_nobody_or_somebody_else_owes_is_refused(
    tmp_path: Path, owed: str, code: int, said: str
) -> None:
    place = write_log(tmp_path / "data", a_debate().log)

    assert said in complaint(code, "answer", place, owed, "--body", "-", stdin=body())


def test_officers_and_admins_are_not_answered_for(tmp_path: Path) -> None:
    from datetime import timedelta

    from tests.doubles.table import START

    table = Table(
        schedules={"micro": {"at": [(START + timedelta(hours=2 * n)).isoformat() for n in range(3)]}}
    )
    table.wait(hours=4, minutes=45)
    place = write_log(tmp_path / "data", table.log)

    assert "moot reply" in complaint(
        3, "answer", place, "esc_20260223_1440/answer", "--body", "-", stdin="{}"
    )
    assert "is an officer" in complaint(
        3, "answer", place, "esc_20260223_1440/expire", "--body", "-", stdin="{}"
    )
    assert "3 obligations begin with esc" in complaint(2, "answer", place, "esc", "--body", "-", stdin="{}")


def test_the_schema_of_what_is_owed_is_shown(society: LiveSociety) -> None:
    found = json.loads(done("answer", society.directory, OWED, "--schema"))

    assert set(found["RISK_ASSESSMENT"]["properties"]) >= {"confidence", "scores"}
    assert "--schema shows what it must hold" in complaint(2, "answer", society.directory, OWED)


def test_a_body_that_cannot_be_read_is_usage(society: LiveSociety, tmp_path: Path) -> None:
    said = complaint(2, "answer", society.directory, OWED, "--body", tmp_path / "no.json")
    assert "No such file or directory" in said


def test_an_answer_to_a_stopped_society_waits(tmp_path: Path) -> None:
    place = write_log(tmp_path / "data", proposed().log)

    assert data("answer", place, OWED, "--body", "-", stdin=body()) == {"status": "queued", "id": f"{OWED}/0"}
