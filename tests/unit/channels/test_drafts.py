import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.channels.guests.drafts import MAX_DRAFT, draft_from_json, draft_to_json
from moot.protocols.kernel.envelope import OFFICER, Actor, Draft
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.seats import ADMIN, REFEREE
from moot.protocols.research.seats import CRITIC
from tests.doubles.tiny import Numbered, Said, decode_body

FULL = Draft(
    channel="#open",
    author=ADMIN,
    body=Said(text="é \u2028 \\", weight=0.25),
    actor=Actor("human", "discord", "ann"),
    case_id="case_1",
    obligation_id="case_1/ack/admin",
    attempt=2,
    tenure=7,
    in_reply_to="k1",
    hops=3,
    key="discord/42",
)
LEAST = {"channel": "#open", "author": "critic", "body": {"type": "SAID"}}


@pytest.mark.parametrize(
    "draft",
    [
        FULL,
        Draft(channel="#open", author=CRITIC, body=Numbered(), key="k"),
        Draft(channel="#admin", author=REFEREE, body=Said(text="x"), actor=OFFICER, obligation_id="a/b/c"),
    ],
)
def test_a_draft_survives_the_way_there_and_back(draft):
    text = draft_to_json(draft)
    assert draft_from_json(text, decode_body) == draft
    assert draft_from_json(text.encode(), decode_body) == draft
    assert draft_from_json(json.loads(text), decode_body) == draft


def test_what_is_left_out_is_as_in_a_draft():
    assert draft_from_json(LEAST, decode_body) == Draft(channel="#open", author=CRITIC, body=Said())


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"channel": None}, "channel"),
        ({"author": "King"}, "author"),
        ({"attempt": -1}, "attempt"),
        ({"attempt": True}, "attempt"),
        ({"hops": 10**12}, "hops"),
        ({"tenure": "1"}, "tenure"),
        ({"key": "x" * 501}, "key"),
        ({"actor": {"kind": "ghost"}}, "actor.kind"),
        ({"actor": {"kind": "bot", "rank": 1}}, "actor.rank"),
        ({"seq": 1}, "seq"),
        ({"body": []}, "body"),
        ({"body": {"type": "NOPE"}}, "body"),
        ({"body": {"type": "SAID", "weight": 2}}, "body.weight"),
        ({"body": {"type": "SAID", "weight": float("nan")}}, "body.weight"),
        ({"body": {"type": "SAID", "other": 1}}, "body.other"),
        ({"v": 3}, "v"),
    ],
)
def test_what_is_wrong_is_named(over, field):
    with pytest.raises(Malformed) as caught:
        draft_from_json({**LEAST, **over}, decode_body)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        "",
        "{",
        "[]",
        "3",
        "null",
        '{"a":',
        "[" * 100_000,
        '{"body":' * 5000,
        b'{"key": "\\ud800"}',
    ],
)
def test_bytes_that_are_no_draft(raw):
    with pytest.raises(Malformed):
        draft_from_json(raw, decode_body)


def test_a_draft_may_not_be_huge():
    with pytest.raises(Malformed, match="are allowed"):
        draft_from_json(json.dumps({**LEAST, "key": "x" * MAX_DRAFT}), decode_body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.binary() | st.text(st.characters()) | st.dictionaries(st.text(st.characters()), JSON))
def test_any_bytes_give_a_draft_or_a_violation_and_nothing_else(raw):
    with pytest.raises(Malformed):
        draft_from_json(raw, decode_body)


@given(st.dictionaries(st.sampled_from([*LEAST, "actor", "attempt", "key", "case_id", "v"]), JSON))
def test_any_fields_give_a_draft_or_a_violation_that_names_a_field(over):
    try:
        draft = draft_from_json({**LEAST, **over}, decode_body)
    except Malformed as malformed:
        assert malformed.field
    else:
        assert draft_from_json(draft_to_json(draft), decode_body) == draft
