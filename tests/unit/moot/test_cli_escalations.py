"""`moot escalations`."""

from datetime import timedelta
from pathlib import Path

import pytest

from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
from moot.protocols.kernel.seats import ADMIN
from tests.doubles import bodies
from tests.doubles.command_line import data, done, wide
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.debating import EVOLVER, assess, hypothesise, judge
from tests.doubles.table import START, Table


def silent(hours: float) -> Table:
    """A society of silent seats: the explorer's third timeout is at 14:40, the evolver's at 15:10."""
    table = Table(
        schedules={"micro": {"at": [(START + timedelta(hours=2 * n)).isoformat() for n in range(12)]}}
    )
    table.wait(hours=hours)
    return table


def test_an_open_escalation_shows_what_may_be_answered_and_how_long(tmp_path: Path) -> None:
    place = write_log(tmp_path / "d", silent(5).log)

    (found,) = data("escalations", place)

    assert found["escalation_id"] == "esc_20260223_1440"
    assert (found["level"], found["trigger_code"], found["subject"]) == ("URGENT", "timeouts", "explorer")
    assert (found["state"], found["raised_at"]) == ("open", "2026-02-23T14:40:00.000000Z")
    assert found["answer_by"] == "2026-02-23T18:40:00.000000Z"
    assert found["remaining_s"] == 220 * 60
    assert [option["n"] for option in found["options"]] == [1, 2, 3]
    assert wide("escalations", place) == (
        "URGENT  esc_20260223_1440  raised 2026-02-23 14:40 UTC, message 27\n"
        "  trigger   3 consecutive timeouts from Explorer\n"
        "  context   3 deadlines in a row passed without a word from explorer\n"
        "  left      3 h 40 min, then option 1\n"
        "  option 1  Go on with conservative defaults: reject uncertain hypotheses\n"
        "  option 2  Restart the seat's bot\n"
        "  option 3  Go on as before\n"
        f"  answer    moot reply {place} esc_20260223_1440 1|2|3|TEXT\n"
    )


def test_pages_and_acknowledgement_are_told(tmp_path: Path) -> None:
    table = silent(6)
    body = EscalationAck(escalation_id="esc_20260223_1440")
    table.say(ADMIN, body, channel="#admin", case_id="esc_20260223_1440", user="ann")
    place = write_log(tmp_path / "d", table.log)

    first, second = data("escalations", place)

    assert (first["pages"], first["acknowledged_by"]) == (2, "ann")
    assert (second["pages"], second["acknowledged_by"]) == (1, None)
    assert "seen      by ann" in done("escalations", place)


def test_how_each_ended_is_told(tmp_path: Path) -> None:
    table = silent(6)
    body = EscalationAnswer(escalation_id="esc_20260223_1440", option=3)
    table.say(ADMIN, body, channel="#admin", case_id="esc_20260223_1440", user="ann")
    table.wait(hours=4)
    place = write_log(tmp_path / "d", table.log)

    answered, expired = data("escalations", place)[:2]

    assert (answered["state"], answered["by"], answered["effect"]) == ("answered", "ann", "none")
    assert answered["answer"] == {"option": 3, "text": None, "by": "ann"}
    assert (expired["state"], expired["effect"], expired["remaining_s"]) == ("expired", "conservative", None)
    text = wide("escalations", place)
    assert "answered by ann  nothing else follows " in text
    assert "expired          uncertain hypotheses are rejected  " in text


@pytest.mark.rule("R-E3")
def test_r_e3_how_often_a_trigger_came_up_again_is_told(tmp_path: Path) -> None:
    table = silent(6.9)
    place = write_log(tmp_path / "open", table.log)
    voided = [
        env.seq for env in table.log if env.body.type == "RULING" and "explorer" in env.body.obligation_id
    ]

    (first,) = (found for found in data("escalations", place) if found["subject"] == "explorer")

    assert (first["state"], first["recurred"], first["occurrence_seqs"]) == ("open", 1, [voided[3]])
    assert f"  again     1 time since, last in message {voided[3]}\n" in done("escalations", place)

    table.wait(hours=2)
    place = write_log(tmp_path / "ended", table.log)

    first = next(found for found in data("escalations", place) if found["subject"] == "explorer")

    assert first["state"] == "expired"
    assert (first["recurred"], len(first["occurrence_seqs"])) == (2, 2)
    assert "3 consecutive timeouts from Explorer (again 2 times)" in done("escalations", place)


def test_where_nothing_was_escalated_nothing_waits(tmp_path: Path) -> None:
    place = write_log(tmp_path / "d", a_debate().log)

    assert done("escalations", place) == "nothing waits for an admin\n"
    assert data("escalations", place) == []


@pytest.mark.rule("K5")
def test_k5_one_that_was_overtaken_before_it_opened_waits_for_nobody(tmp_path: Path) -> None:
    table = Table(schedules={"micro": {"at": [(START + timedelta(hours=23)).isoformat()]}})
    table.until(START + timedelta(hours=23))
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    table.until(START + timedelta(hours=23, minutes=19))
    table.now = START + timedelta(hours=24)
    (under_way,) = [draft for draft in table.docket.due(table.now) if draft.body.type == "ESCALATION"]
    table.post(EVOLVER, bodies.backtest())
    table.publish(under_way)
    place = write_log(tmp_path / "d", table.log)

    assert (table.log[-1].body.type, data("escalations", place)) == ("ESCALATION", [])
    assert done("escalations", place) == "nothing waits for an admin\n"
