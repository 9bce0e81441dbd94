"""Canonical bytes and the hash chain (K15), identities and digests (K1)."""

import hashlib
import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.kernel.envelope import (
    GENESIS,
    Actor,
    Draft,
    Envelope,
    assemble,
    body_json,
    canonical_json,
    link,
    seal,
    with_hash,
)
from protocols.kernel.people import Note
from protocols.kernel.seats import Seat
from tests.doubles import bodies

AT = datetime(2026, 2, 23, 10, tzinfo=UTC)


def draft(**over):
    return Draft(
        **{"channel": "#a-arena", "author": Seat.EXPLORER, "body": bodies.hypothesis("c"), "key": "k", **over}
    )


def sealed(given, **over):
    return seal(given, **{"seq": 1, "envelope_id": "k", "sent_at": AT, "previous": GENESIS, **over})


PEOPLE = st.builds(
    lambda platform, user: Actor("human", platform, user), st.text("ab/%2F"), st.text("ab/%2F")
)


@given(PEOPLE, PEOPLE, st.text("ab/%2F", min_size=1), st.text("ab/%2F", min_size=1))
def test_k1_no_key_of_one_person_is_the_id_of_another(mine, theirs, key, other):
    ours = draft(actor=mine, key=key, author=Seat.VIEWER)
    assert ours.identity() != draft(actor=theirs, key=other, author=Seat.VIEWER).identity() or mine == theirs
    assert draft(actor=mine, key=ours.identity()).identity() == ours.identity()


def test_k1_bots_and_officers_derive_their_keys_and_keep_them():
    assert draft().identity() == "k"
    assert draft(actor=Actor("officer")).identity() == "k"


def test_k15_the_hash_is_sha256_of_the_previous_hash_and_the_canonical_text():
    env, digest = sealed(draft())
    value = json.loads(env.line)
    stated = value.pop("hash")
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text == env.json
    assert digest == hashlib.sha256(bytes(32) + text.encode()).digest() == link(GENESIS, text)
    assert digest.hex() == stated == env.hash


def test_k15_the_chain_goes_on_from_the_previous_hash():
    first, digest = sealed(draft())
    second, other = sealed(draft(key="l"), seq=2, envelope_id="l", previous=digest)
    assert other == hashlib.sha256(digest + second.json.encode()).digest()
    assert first.hash != second.hash


def test_the_line_is_sorted_with_its_hash_among_the_keys():
    env, _ = sealed(
        draft(case_id="hyp_1", in_reply_to="x", hops=3, tenure=2, attempt=1, obligation_id="o/a/explorer")
    )
    assert env.line == json.dumps(
        json.loads(env.line), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert list(json.loads(env.line)) == sorted(
        [
            "v",
            "seq",
            "id",
            "channel",
            "author",
            "actor",
            "case_id",
            "obligation_id",
            "attempt",
            "tenure",
            "in_reply_to",
            "hops",
            "sent_at",
            "body",
            "hash",
        ]
    )


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_sealed_as_json_would_write_it(text, name):
    try:
        (text + name).encode()
    except UnicodeEncodeError:
        return
    env, _ = sealed(
        draft(body=Note(text=text), author=Seat.ADMIN, actor=Actor("human", name, text)),
        envelope_id=name or "k",
    )
    assert json.loads(env.json)["body"]["text"] == text
    assert env.json == canonical_json(json.loads(env.json))
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


def test_k1_the_identity_is_the_key_else_obligation_and_attempt():
    assert draft(key="mine").identity() == "mine"
    assert (
        draft(key="", obligation_id="c/hypothesis/explorer", attempt=2).identity()
        == "c/hypothesis/explorer/2"
    )
    with pytest.raises(ValueError, match="key"):
        draft(key="").identity()


def test_k1_the_digest_tells_a_repetition_from_another_draft():
    one = draft()
    assert one.digest() == draft().digest() == one.digest(body_json(one.body))
    for other in (
        draft(body=bodies.hypothesis("d")),
        draft(channel="#a-verdict"),
        draft(author=Seat.CRITIC),
        draft(case_id="x"),
        draft(in_reply_to="x"),
    ):
        assert other.digest() != one.digest()


def test_an_assembled_envelope_is_a_plain_one():
    env, _ = sealed(draft())
    names = [f.name for f in fields(Envelope)]
    values = [getattr(env, name) for name in names]
    assert assemble(*values) == Envelope(**dict(zip(names, values, strict=True))) == env
    assert type(assemble(*values)) is Envelope
    assert replace(env, seq=2).seq == 2
    with pytest.raises(AttributeError):
        env.seq = 5


def test_a_number_that_is_none_is_not_written():
    with pytest.raises(ValueError):  # json's own words
        canonical_json(float("nan"))
