import json
import sqlite3
import threading
import time
from contextlib import closing
from types import SimpleNamespace

import pytest

from moot.channels.errors import NotALog, Refused
from moot.channels.guests import inbox
from moot.channels.guests.drafts import draft_from_json, draft_to_json
from moot.channels.guests.inbox import keyed, post
from moot.channels.log.file import connect, open_log
from moot.channels.log.lease import Lease
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Malformed
from moot.protocols.research.seats import CRITIC
from tests.doubles.tiny import Said, decode_body, said

NOTE = draft_to_json(said("ignored", "hello"))
OTHER = draft_to_json(said("ignored", "other words"))


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "log.sqlite"
    open_log(place, epoch=1)
    return place


def rows(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT key, draft, receipt FROM inbox ORDER BY n").fetchall()


def answer(path, key, **receipt):
    with closing(connect(path)) as db:
        db.execute("UPDATE inbox SET receipt = ? WHERE key = ?", (json.dumps({"id": key, **receipt}), key))


@pytest.fixture
def slept(monkeypatch):
    """Let a guest's sleep take no time, and keep how long each was to be."""
    found = []
    monkeypatch.setattr(inbox, "time", SimpleNamespace(sleep=found.append))
    return found


def test_a_post_to_a_stopped_society_is_queued_without_waiting(path, slept):
    assert post(path, NOTE, "k1", wait_s=30) is None
    assert slept == []
    assert rows(path) == [("k1", NOTE, None)]


def test_a_draft_may_be_given_as_plain_data(path):
    post(path, json.loads(NOTE), "k1")
    assert rows(path) == [("k1", NOTE, None)]


def test_posting_again_posts_nothing(path):
    assert post(path, NOTE, "k1") is None
    assert post(path, " " + NOTE, "k1") is None
    assert len(rows(path)) == 1


def test_another_draft_of_a_key_that_waits_is_superseded(path):
    post(path, NOTE, "k1")
    receipt = post(path, OTHER, "k1")
    assert (receipt["status"], receipt["id"]) == ("superseded", "k1")
    assert rows(path) == [("k1", NOTE, None)]


@pytest.mark.rule("K1")
def test_k1_a_key_of_somebody_else_is_another_key(path):
    eve, ann = ({**json.loads(NOTE), "actor": {"kind": "human", "user_id": user}} for user in ("eve", "ann"))
    assert post(path, eve, "page-7") is None
    assert post(path, ann, "page-7") is None
    assert post(path, {**eve, "body": {"type": "SAID", "text": "more"}}, "page-7")["status"] == "superseded"
    assert [key for key, *_ in rows(path)] == ["moot/eve/page-7", "moot/ann/page-7"]
    assert keyed(draft_from_json(rows(path)[1][1], decode_body), "page-7").identity() == "moot/ann/page-7"


def test_a_receipt_that_is_there_is_returned(path):
    post(path, NOTE, "k1")
    answer(path, "k1", status="accepted", seq=7)
    assert post(path, NOTE, "k1") == {"status": "accepted", "seq": 7, "id": "k1"}
    assert post(path, OTHER, "k1") == {"status": "superseded", "seq": 7, "id": "k1"}


def test_a_refused_draft_may_be_posted_anew(path):
    post(path, NOTE, "k1")
    answer(path, "k1", status="refused", rule="1.3", why="no")
    assert post(path, OTHER, "k1") is None
    assert rows(path) == [("k1", OTHER, None)]


def test_a_guest_waits_while_a_host_runs(path):
    def host():
        while not rows(path):
            time.sleep(0.005)
        answer(path, "k1", status="accepted", seq=1)

    with Lease.acquire(path.parent):
        thread = threading.Thread(target=host)
        thread.start()
        assert post(path, NOTE, "k1", wait_s=20)["status"] == "accepted"
        thread.join()


def test_a_guest_waits_no_longer_than_it_said(path, slept):
    with Lease.acquire(path.parent):
        assert post(path, NOTE, "k1", wait_s=10) is None
    assert 9.9 < sum(slept) <= 10


@pytest.mark.parametrize(
    ("draft", "key", "field"),
    [
        (NOTE, "", "key"),
        (NOTE, "x" * 501, "key"),
        (NOTE, "\ud800", "key"),
        ("{", "k", "draft"),
        ("[" * 100_000, "k", "draft"),
        ({"x": object()}, "k", "draft"),
        ({"x": float("nan")}, "k", "draft"),
        ({"x": "y" * 1_000_001}, "k", "draft"),
    ],
)
def test_what_is_no_draft_or_no_key_is_refused_at_once(path, draft, key, field):
    with pytest.raises(Refused) as caught:
        post(path, draft, key)
    assert caught.value.violation.field == field
    assert rows(path) == []


def test_where_there_is_no_society_a_line_says_so(tmp_path):
    with pytest.raises(NotALog, match=r"there is no society in .*: start one with moot up"):
        post(tmp_path / "log.sqlite", NOTE, "k1")
    (tmp_path / "log.sqlite").touch()
    with pytest.raises(NotALog, match="there is no society"):
        post(tmp_path / "log.sqlite", NOTE, "k1")


def test_an_answer_keeps_the_id_of_its_obligation():
    draft = Draft(
        channel="#open", author=CRITIC, body=Said(), obligation_id="case_1/r1/critic", attempt=1, key="x"
    )
    assert keyed(draft, "cli/5").identity() == "case_1/r1/critic/1"
    assert keyed(said("x"), "cli/5").identity() == "cli/5"


@pytest.mark.parametrize("key", ["case_1/r1/critic/0", "a/b/admin/12"])
def test_a_guest_cannot_take_the_id_of_an_answer(key):
    with pytest.raises(Malformed, match="the form of an answer's id") as caught:
        keyed(said("x"), key)
    assert caught.value.field == "key"


def test_a_failed_insert_leaves_no_transaction_open(path, monkeypatch):
    with closing(connect(path)) as db:
        monkeypatch.setattr(inbox.json, "loads", lambda text: 1 / 0)
        db.execute("INSERT INTO inbox(key, draft, receipt) VALUES ('k', 'd', 'r')")
        with pytest.raises(ZeroDivisionError):
            inbox._insert(db, "k", NOTE)
        assert not db.in_transaction


@pytest.mark.rule("R-A9")
def test_r_a9_what_waits_holds_no_secret_and_posting_it_again_posts_nothing(path):
    secret = "xox" + "b-123456789012-abcdefABCDEF"
    draft = draft_to_json(said("ignored", f"the bot's token: {secret}"))
    assert post(path, draft, "k1") is None
    assert post(path, draft, "k1") is None
    ((_, waiting, _),) = rows(path)
    assert json.loads(waiting)["body"]["text"] == "the bot's token: [redacted:slack_token]"
    for file in path.parent.iterdir():
        assert secret.encode() not in file.read_bytes()


@pytest.mark.rule("R-A9")
def test_r_a9_a_value_under_a_telling_key_goes_and_others_stay(path):
    data = {
        "token": "abc",
        "tokens": 4096,
        "session_id": "s1",
        "parts": [{"api_key": "x", "resume_ref": "r/7"}],
    }
    post(path, {**json.loads(NOTE), "body": {"type": "SAID", "data": data}}, "k1")
    assert json.loads(rows(path)[0][1])["body"]["data"] == {
        "token": "[redacted:password]",
        "tokens": 4096,
        "session_id": "s1",
        "parts": [{"api_key": "[redacted:password]", "resume_ref": "r/7"}],
    }


@pytest.mark.rule("R-A9")
def test_r_a9_a_key_that_looks_like_a_secret_is_refused(path):
    with pytest.raises(Refused, match="looks like a secret"):
        post(path, NOTE, "pwd=hunter2")
    assert rows(path) == []
