"""ANCHOR: what the log was until midnight, from the log alone (K9, K15)."""

from datetime import UTC, datetime, timedelta

import pytest

from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.officers import Anchor
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN, TIMEKEEPER
from tests.doubles.copying import replace
from tests.doubles.table import Table

EVENING = datetime(2026, 2, 23, 23, 50, tzinfo=UTC)
MIDNIGHT = datetime(2026, 2, 24, tzinfo=UTC)


def table():
    return Table(EVENING, schedules={}, config={"desk": {"enabled": False}})


def note(table, text):
    return table.say(ADMIN, Note(text=text, about_case_id=None), channel="#admin", key=text)


def anchors(table):
    return [env for env in table.log if env.body.type == "ANCHOR"]


def test_an_anchor_names_the_last_message_before_midnight_once_another_follows():
    society = table()
    before = note(society, "late")
    society.wait(minutes=30)
    assert anchors(society) == []
    after = note(society, "early")
    (said,) = anchors(society)
    assert (said.author, said.channel, said.id) == (
        TIMEKEEPER,
        "#admin",
        "anchor/2026-02-24T00:00:00.000000Z",
    )
    assert said.body == Anchor(nominal_at=MIDNIGHT, seq=before.seq, hash=before.hash)
    assert said.seq == after.seq + 1
    note(society, "later")
    assert len(anchors(society)) == 1


def test_a_message_of_midnight_itself_is_not_before_it():
    society = table()
    last = society.log[-1]
    society.wait(minutes=10)
    assert note(society, "midnight").sent_at == MIDNIGHT
    assert anchors(society)[0].body.seq == last.seq


def test_of_several_midnights_without_a_word_the_last_is_named():
    society = table()
    society.now += timedelta(hours=50)
    note(society, "back")
    assert [env.body.nominal_at for env in anchors(society)] == [MIDNIGHT + timedelta(days=2)]


@pytest.mark.parametrize("wrong", [{"seq": 1}, {"hash": "ab" * 32}, {"nominal_at": EVENING}])
def test_an_anchor_that_differs_is_a_fault(wrong):
    society = table()
    note(society, "late")
    society.wait(minutes=30)
    note(society, "early")
    docket = Docket(society.rules)
    (said,) = anchors(society)
    for env in society.log[: said.seq - 1]:
        docket.fold(env)
    with pytest.raises(OfficerFault):
        docket.fold(replace(said, body=said.body.model_copy(update=wrong)))
    assert docket.seq == said.seq
    assert docket.pending


def test_a_log_without_hashes_folds_and_its_anchors_name_the_message_all_the_same():
    society = table()
    note(society, "late")
    society.wait(minutes=30)
    note(society, "early")
    docket = Docket(society.rules)
    bare = [replace(env, hash="") for env in society.log]
    for env in bare[:-1]:
        docket.fold(env)
    with pytest.raises(OfficerFault):
        docket.fold(replace(bare[-1], body=bare[-1].body.model_copy(update={"seq": 1})))
    docket = Docket(society.rules)
    for env in bare:
        docket.fold(env)
    assert not docket.pending
