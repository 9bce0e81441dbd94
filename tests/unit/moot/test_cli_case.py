"""`moot case`."""

from pathlib import Path

import pytest

from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import CRITIC, EXPLORER
from tests.doubles import bodies
from tests.doubles.command_line import complaint, data, done
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.table import START, Table

HYP = "hyp_20260223_1003"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "data", a_debate().log)


def test_a_case_is_its_transcript_its_path_and_who_was_late(place: Path) -> None:
    found = data("case", place, HYP)

    assert (found["kind"], found["phase"], found["outcome"]) == ("debate", "reflecting", None)
    assert found["parent"] == "cycle_20260223_1000"
    assert [(p["phase"], p["seq"]) for p in found["path"]] == [
        ("assessing_1", 3),
        ("rebutting_2", 4),
        ("assessing_2", 6),
        ("judging", 8),
        ("reflecting", 11),
    ]
    assert [(x["seat"], x["step"], x["how"], x["seq"], x["late_s"]) for x in found["late"]] == [
        ("explorer", "rebuttal-2", "within the grace", 6, 240),
        ("critic", "assessment-2", "silent, ruled void", 8, 600),
    ]
    assert [message["seq"] for message in found["transcript"]] == [*range(3, 12)]
    assert all(message["hash"] for message in found["transcript"])


def test_it_reads_from_head_to_end(place: Path) -> None:
    text = done("case", place, HYP)

    assert text.startswith(f"Debate {HYP}  open, reflecting\n")
    assert "path  assessing 1 → rebutting 2 → assessing 2 → judging → reflecting\n" in text
    assert "Explorer  rebuttal-2    4 min   within the grace" in text


def test_full_shows_texts_that_a_line_leaves_out_or_cuts_short(place: Path) -> None:
    assert "rationale: " not in done("case", place, HYP)
    assert "rationale: " in done("case", place, HYP, "--full")


def test_the_beginning_of_an_id_will_do(place: Path) -> None:
    assert data("case", place, "hyp")["case_id"] == HYP


def test_a_case_that_is_not_there_or_not_the_only_one_is_usage(tmp_path: Path, place: Path) -> None:
    from datetime import timedelta

    table = Table(
        schedules={"micro": {"at": [(START + timedelta(hours=2 * n)).isoformat() for n in range(4)]}}
    )
    table.wait(hours=7)
    several = write_log(tmp_path / "d", table.log)

    assert "there is no case esc_1" in complaint(2, "case", place, "esc_1")
    assert "4 cases begin with cycle: cycle_20260223_1000, " in complaint(2, "case", several, "cycle")


def test_an_answer_after_the_ruling_is_named_late(tmp_path: Path) -> None:
    table = a_debate()
    late = table.post(CRITIC, bodies.assessment(2), channel="#a-arena", case_id=HYP)
    place = write_log(tmp_path / "d", table.log)

    found = data("case", place, HYP)["late"][-1]

    assert (found["seat"], found["seq"]) == ("critic", late.seq)
    assert found["how"] == "after the ruling, it changed nothing"


def test_nobody_late_is_said_too(tmp_path: Path) -> None:
    table = Table()
    table.wait(minutes=3)
    table.say(EXPLORER, bodies.hypothesis(table.last("CYCLE_TRIGGER").body.cycle_id))  # type: ignore[attr-defined]
    place = write_log(tmp_path / "d", table.log)

    assert "nobody was late" in done("case", place, HYP)


def test_an_override_shows_in_the_path(tmp_path: Path) -> None:
    table = a_debate()
    table.say(ADMIN, Override(case_id=HYP, verdict="APPROVE", why="x"), channel="#a-arena", case_id=HYP)
    place = write_log(tmp_path / "d", table.log)

    assert [p["phase"] for p in data("case", place, HYP)["path"]][-2:] == ["reflecting", "backtesting"]
