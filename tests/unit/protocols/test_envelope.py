"""The stored text and the hash chain (K15), identities and digests (K1)."""

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.channels.log.sequencer import receipt_of
from moot.protocols.kernel.envelope import (
    GENESIS,
    Actor,
    Draft,
    Envelope,
    link,
    seal,
    with_hash,
)
from moot.protocols.kernel.message import body_json
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN, VIEWER
from moot.protocols.research.seats import CRITIC, EXPLORER
from tests.doubles import bodies
from tests.doubles.copying import replace

AT = datetime(2026, 2, 23, 10, tzinfo=UTC)


def draft(**over):
    return Draft(
        **{"channel": "#a-arena", "author": EXPLORER, "body": bodies.hypothesis("c"), "key": "k", **over}
    )


def sealed(given, **over):
    return seal(given, **{"seq": 1, "envelope_id": "k", "sent_at": AT, "previous": GENESIS, **over})


PEOPLE = st.builds(
    lambda platform, user: Actor("human", platform, user), st.text("ab/%2F"), st.text("ab/%2F")
)


@pytest.mark.rule("K1")
@given(PEOPLE, PEOPLE, st.text("ab/%2F", min_size=1), st.text("ab/%2F", min_size=1))
def test_k1_no_key_of_one_person_is_the_id_of_another(mine, theirs, key, other):
    ours = draft(actor=mine, key=key, author=VIEWER)
    assert ours.identity() != draft(actor=theirs, key=other, author=VIEWER).identity() or mine == theirs
    assert draft(actor=mine, key=ours.identity()).identity() == ours.identity()


@pytest.mark.rule("K1")
def test_k1_bots_and_officers_derive_their_keys_and_keep_them():
    assert draft().identity() == "k"
    assert draft(actor=Actor("officer")).identity() == "k"


def plainly(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.rule("K15")
def test_k15_the_hash_is_sha256_of_the_previous_hash_and_the_stored_text():
    env, digest = sealed(draft())
    assert digest == hashlib.sha256(bytes(32) + env.json.encode()).digest() == link(GENESIS, env.json)
    assert digest.hex() == env.hash


@pytest.mark.rule("K15")
def test_k15_the_chain_goes_on_from_the_previous_hash():
    first, digest = sealed(draft())
    second, other = sealed(draft(key="l"), seq=2, envelope_id="l", previous=digest)
    assert other == hashlib.sha256(digest + second.json.encode()).digest()
    assert first.hash != second.hash


KEYS = [*Envelope.__slots__[:-2], "hash"]


@pytest.mark.rule("K15")
def test_k15_the_line_is_the_stored_text_with_its_hash_as_the_last_key():
    env, _ = sealed(
        draft(case_id="hyp_1", in_reply_to="x", hops=3, tenure=2, attempt=1, obligation_id="o/a/explorer")
    )
    value = json.loads(env.line)
    assert list(value) == KEYS
    assert list(value["body"])[:2] == ["type", "hypothesis_id"], "the fields of a body stand in their order"
    assert env.line == plainly(value)
    assert env.json == plainly({key: value[key] for key in KEYS[:-1]})


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_sealed_as_json_would_write_it(text, name):
    try:
        (text + name).encode()
    except UnicodeEncodeError:
        return
    env, _ = sealed(
        draft(body=Note(text=text), author=ADMIN, actor=Actor("human", name, text)),
        envelope_id=name or "k",
    )
    assert json.loads(env.json)["body"]["text"] == text
    assert env.json == plainly(json.loads(env.json))
    assert with_hash(env.json, env.hash) == env.line


def test_sent_at_is_utc_with_six_decimals():
    env, _ = sealed(draft(), sent_at=datetime(2026, 2, 23, 12, tzinfo=timezone(timedelta(hours=2))))
    assert json.loads(env.json)["sent_at"] == "2026-02-23T10:00:00.000000Z"
    with pytest.raises(ValueError, match="naive"):
        sealed(draft(), sent_at=datetime(2026, 2, 23))


def test_the_case_of_a_body_becomes_that_of_the_envelope():
    env, _ = sealed(draft(body=bodies.hypothesis("c", hypothesis_id="hyp_1")))
    assert env.case_id == "hyp_1"
    env, _ = sealed(draft(body=bodies.hypothesis("c")))
    assert env.case_id is None


def test_a_minted_body_is_the_one_that_is_logged():
    minted = bodies.hypothesis("c", hypothesis_id="hyp_1")
    env, _ = sealed(draft(), body=minted)
    assert env.body == minted
    assert json.loads(env.json)["body"]["hypothesis_id"] == "hyp_1"


@pytest.mark.rule("K1")
def test_k1_the_identity_is_the_key_else_obligation_and_attempt():
    assert draft(key="mine").identity() == "mine"
    assert (
        draft(key="", obligation_id="c/hypothesis/explorer", attempt=2).identity()
        == "c/hypothesis/explorer/2"
    )
    with pytest.raises(ValueError, match="key"):
        draft(key="").identity()


@pytest.mark.rule("K1")
def test_k1_the_digest_tells_a_repetition_from_another_draft():
    one = draft()
    assert one.digest() == draft().digest() == one.digest(body_json(one.body))
    for other in (
        draft(body=bodies.hypothesis("d")),
        draft(channel="#a-verdict"),
        draft(author=CRITIC),
        draft(case_id="x"),
        draft(in_reply_to="x"),
    ):
        assert other.digest() != one.digest()


@pytest.mark.rule("K1")
def test_k1_a_digest_of_another_version_is_taken_for_the_same_draft(monkeypatch):
    one = draft()
    first = one.digest()
    assert receipt_of("k", (5, first), draft(case_id="x").digest()).status == "superseded"
    monkeypatch.setattr("moot.protocols.kernel.envelope.DIGEST_VERSION", 99)
    assert receipt_of("k", (5, first), one.digest()).status == "duplicate"


def test_a_copy_of_an_envelope_with_other_fields_is_unequal_and_leaves_it_as_it_was():
    env, _ = sealed(draft())
    other = replace(env, seq=2)
    assert (other.seq, env.seq, other == env, replace(other, seq=1) == env) == (2, 1, False, True)
    with pytest.raises(AttributeError):
        env.sequence = 5
