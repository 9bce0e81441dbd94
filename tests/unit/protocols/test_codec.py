"""Bytes in, envelope or `Malformed` out: K4, K15, the fuzz promise."""

import json
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moot.protocols import codec
from moot.protocols.codec import decode_body, decode_envelope, decode_stored
from moot.protocols.kernel import upcast as upcasting
from moot.protocols.kernel.envelope import GENESIS, link
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.upcast import Opaque
from moot.protocols.rulebook import rulebook
from tests.doubles.biglog import Chance


def society_log(messages=1500):
    log = []
    society = Chance(log.append, seed=11, silence=0.1, faults=0.1)
    society.live(messages=messages)
    society.stop()
    return log


LOG = society_log()
LINE = next(e.line for e in LOG if e.body.type == "HYPOTHESIS")
BY_TYPE = {e.body.type: e for e in LOG}


def laid_out(line, **how):
    """Write a line in another layout that means the same."""
    return json.dumps(json.loads(line), **how)


def line_of(value):
    """Write a line as the log writes it, its hash last."""
    if "hash" in value:
        value = {**{key: part for key, part in value.items() if key != "hash"}, "hash": value["hash"]}
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def shuffled(line, seed=0):
    value = json.loads(line)
    rng = random.Random(seed)

    def shuffle(part):
        if isinstance(part, dict):
            items = [(k, shuffle(v)) for k, v in part.items()]
            rng.shuffle(items)
            return dict(items)
        if isinstance(part, list):
            return [shuffle(v) for v in part]
        return part

    return json.dumps(shuffle(value))


# ---------------------------------------------------------------- round trips


@pytest.mark.parametrize("kind", sorted(BY_TYPE))
def test_a_sealed_message_comes_back_from_its_line_byte_for_byte(kind):
    env = BY_TYPE[kind]
    back = decode_envelope(env.line)
    assert back == env
    assert (back.json, back.hash, back.line) == (env.json, env.hash, env.line)


def test_a_whole_log_comes_back_and_its_chain_holds():
    previous = GENESIS
    for env in LOG:
        back = decode_envelope(env.line.encode())
        previous = link(previous, back.json)
        assert back == env
        assert previous.hex() == back.hash


def test_a_stored_row_comes_back_as_it_was():
    env = LOG[7]
    assert decode_stored(env.json, env.hash) == env
    assert decode_stored(env.json, env.hash).line == env.line


@pytest.mark.parametrize("how", [{}, {"indent": 1}, {"separators": (",", ":")}])
def test_a_line_without_a_hash_is_read_in_any_layout(how):
    for env in LOG[::100]:
        line = laid_out(env.json, **how)
        back = decode_envelope(line + "\n")
        assert (back.hash, back.json) == ("", line)
        assert back.body == env.body


LAYOUTS = {
    "blanks": lambda line: laid_out(line),
    "indented": lambda line: laid_out(line, indent=2),
    "hash first": lambda line: json.dumps({"hash": json.loads(line)["hash"], **json.loads(line)}),
    "sorted": lambda line: laid_out(line, separators=(",", ":"), sort_keys=True, ensure_ascii=False),
    "shuffled": shuffled,
}


@pytest.mark.rule("K15")
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_k15_a_line_that_was_laid_out_anew_is_refused(layout):
    with pytest.raises(Malformed, match="laid this line out anew"):
        decode_envelope(LAYOUTS[layout](LINE))


@pytest.mark.rule("K15")
def test_k15_blanks_around_a_line_are_none_of_it():
    for env in LOG[::100]:
        assert decode_envelope(f"  {env.line}\r\n") == env


@pytest.mark.rule("K15")
def test_k15_a_hash_inside_a_body_is_not_the_lines_hash():
    plain = json.loads(BY_TYPE["SOCIETY_STARTED"].line)
    fake = "0" * 64
    plain["body"]["config"] = {"a": 1, "hash": fake}
    back = decode_envelope(line_of(plain))
    assert (back.hash, json.loads(back.json)["body"]["config"]["hash"]) == (plain["hash"], fake)
    bare = {key: value for key, value in plain.items() if key != "hash"}
    bare["body"] = {**bare["body"], "config": {"hash": fake}}
    assert decode_envelope(line_of(bare)).hash == ""


@pytest.mark.parametrize("text", ["é", "\u2028", "日本", "\U0001f600", '"', "\\", "\n", "\x7f", "</script>"])
def test_any_text_survives_a_round_trip(text):
    plain = json.loads(BY_TYPE["SOCIETY_STOPPED"].line)
    plain["body"]["reason"] = text
    for ascii_only in (False, True):
        line = json.dumps(plain, ensure_ascii=ascii_only, separators=(",", ":"))
        back = decode_envelope(line)
        assert back.body.reason == text
        assert back.line == line


# ---------------------------------------------------------------- K4: versions and unknown types


def with_body(line, body, **over):
    return line_of({**json.loads(line), "body": body, **over})


@pytest.mark.rule("K4")
def test_k4_a_body_of_an_unknown_type_is_kept_as_it_is():
    body = {"type": "FROM_THE_FUTURE", "x": [1, {"y": None}], "n": 0.1}
    env = decode_envelope(with_body(LINE, body))
    assert isinstance(env.body, Opaque)
    assert (env.body.type, env.body.model_dump()) == ("FROM_THE_FUTURE", body)
    assert json.loads(env.json)["body"] == body
    assert decode_envelope(env.line) == env


@pytest.mark.rule("K4")
@pytest.mark.parametrize(
    "body", [LOG[0].body.model_dump(mode="json"), {"type": "FROM_THE_FUTURE"}, {"type": "NOTE", "new": 1}]
)
def test_k4_a_future_version_is_one_clear_line(body):
    with pytest.raises(Malformed) as caught:
        decode_envelope(with_body(LINE, body, v=3))
    assert str(caught.value) == "v: schema version 3 is newer than 2: update moot to read it"


@pytest.mark.rule("K4")
@pytest.mark.parametrize("version", [0, -1, True, 1.0, "1", None, 10**30])
def test_k4_what_is_no_version_is_refused(version):
    with pytest.raises(Malformed):
        decode_envelope(with_body(LINE, json.loads(LINE)["body"], v=version))
    with pytest.raises(Malformed):
        decode_envelope(with_body(LINE, {"type": "FROM_THE_FUTURE"}, v=version))


@pytest.mark.rule("K4")
def test_k4_an_older_body_is_brought_up_to_date(monkeypatch):
    body = json.loads(BY_TYPE["SOCIETY_STOPPED"].line)["body"]
    old = {"type": "SOCIETY_STOPPED", "why": body["reason"], "last_seq": body["last_seq"]}

    def rename(given):
        return {**{k: v for k, v in given.items() if k != "why"}, "reason": given["why"]}

    monkeypatch.setattr(codec, "SCHEMA_VERSION", 3)
    monkeypatch.setattr(upcasting, "SCHEMA_VERSION", 3)
    monkeypatch.setitem(upcasting.UPCASTERS, ("SOCIETY_STOPPED", 2), rename)
    env = decode_envelope(with_body(BY_TYPE["SOCIETY_STOPPED"].line, old))
    assert (env.v, env.body.reason) == (2, body["reason"])
    assert json.loads(env.json)["body"] == old, "the hash is of the line as it was written"
    # A type that did not change needs no upcaster, and what fits the new model by chance is upcast too.
    assert decode_envelope(LINE).body == decode_envelope(LINE).body
    with pytest.raises(Malformed):
        decode_envelope(with_body(LINE, {"type": "HYPOTHESIS"}))


# ---------------------------------------------------------------- what is no message


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"seq": 0}, "seq"),
        ({"seq": "1"}, "seq"),
        ({"seq": True}, "seq"),
        ({"author": "no body"}, "author"),
        ({"author": "Critic"}, "author"),
        ({"actor": {"kind": "ghost", "platform": "x", "user_id": ""}}, "actor.kind"),
        ({"sent_at": "2026-02-23T10:00:00"}, "sent_at"),
        ({"sent_at": 5}, "sent_at"),
        ({"hops": -1}, "hops"),
        ({"id": ""}, "id"),
        ({"hash": "xyz"}, "hash"),
        ({"hash": "A" * 64}, "hash"),
        ({"extra": 1}, "extra"),
        ({"channel": "x" * 501}, "channel"),
    ],
)
def test_a_wrong_field_of_an_envelope_is_named(over, field):
    with pytest.raises(Malformed) as caught:
        decode_envelope(line_of({**json.loads(LINE), **over}))
    assert caught.value.field == field
    assert caught.value.why
    assert "\n" not in str(caught.value)


def test_a_wrong_field_of_a_body_is_named_with_its_path():
    value = json.loads(LINE)
    value["body"]["expected_traits"]["win_rate"] = 1.5
    with pytest.raises(Malformed) as caught:
        decode_envelope(line_of(value))
    assert caught.value.field == "body.expected_traits.win_rate"


@pytest.mark.parametrize("missing", sorted(set(json.loads(LINE)) - {"hash"}))
def test_a_missing_field_of_an_envelope_is_named(missing):
    value = json.loads(LINE)
    del value[missing]
    with pytest.raises(Malformed) as caught:
        decode_envelope(line_of(value))
    assert (caught.value.field or "").startswith(missing)


DEEP = "[" * 3000 + "]" * 3000
STRANGE = [
    b"",
    b"null",
    b"[]",
    b"{}",
    b"\xff\xfe",
    b'{"v":1}',
    b'{"body":{"type":"X"},"v":1}',
    b'{"body":[],"v":1}',
    b'{"body":"x","v":1}',
    b'{"body":{"type":5},"v":1}',
    b'{"body":{"type":""},"v":1}',
    b'{"body":{"type":"X"},"v":NaN}',
    DEEP.encode(),
    b'{"body":{"type":"X","x":' + DEEP.encode() + b'},"v":1}',
    b'{"v":' + b"9" * 5000 + b"}",
    LINE.encode()[:-1],
    LINE.encode() + b"x",
    LINE.replace("HYPOTHESIS", "\\ud800").encode(),
    with_body(LINE, {"type": "X", "x": "lone"}).replace("lone", "\\ud800").encode(),
    with_body(LINE, {"type": "X", "x": 10**400}).encode(),
    with_body(LINE, {"type": "X" * 500_000}).encode(),
    with_body(LINE, {"type": "X", "x": [0] * 5000}).encode(),
    (LINE[:-1] + ',"seq":2}').encode(),
    with_body(LINE, {"type": "X"}).replace('"X"', "NaN").encode(),
    with_body(LINE, {"type": "X", "n": 1}).replace(":1}", ":Infinity}").encode(),
    b"\xef\xbb\xbf" + LINE.encode(),
]


@pytest.mark.parametrize("raw", STRANGE, ids=range(len(STRANGE)))
def test_strange_bytes_are_an_envelope_or_malformed(raw):
    for read in (decode_envelope, decode_body):
        try:
            read(raw)
        except Malformed as exc:
            assert len(str(exc)) < 1000
            assert "\n" not in str(exc)


@settings(max_examples=500)
@given(st.binary(max_size=300))
def test_any_bytes_are_an_envelope_or_malformed(raw):
    for read in (decode_envelope, decode_body):
        with_malformed(read, raw)


def with_malformed(read, raw):
    try:
        return read(raw)
    except Malformed as exc:
        assert exc.why
        return None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*sorted(json.loads(LINE)), "unknown"])


@settings(max_examples=300)
@given(st.sampled_from(sorted(BY_TYPE)), KEYS, JSON)
@example("HYPOTHESIS", "body", {"type": "NOTE", "text": ""})
@example("HYPOTHESIS", "body", {"type": "OVERRIDE"})
@example("HYPOTHESIS", "hash", None)
def test_a_line_with_anything_in_one_place_is_an_envelope_or_malformed(kind, key, value):
    line = line_of({**json.loads(BY_TYPE[kind].line), key: value})
    env = with_malformed(decode_envelope, line.encode("utf-8", "surrogatepass"))
    if env is not None:
        assert env.line == line


@settings(max_examples=300)
@given(st.sampled_from(sorted(BY_TYPE)), st.data())
def test_a_line_with_some_bytes_changed_is_an_envelope_or_malformed(kind, data):
    raw = bytearray(BY_TYPE[kind].line.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        if not raw:
            break
    env = with_malformed(decode_envelope, bytes(raw))
    if env is not None:
        assert env.json


def test_a_body_is_read_by_its_type():
    for kind, env in BY_TYPE.items():
        body = json.loads(env.line)["body"]
        assert type(decode_body(json.dumps(body))) is rulebook().messages[kind]
    with pytest.raises(Malformed) as caught:
        decode_body('{"type":"FROM_THE_FUTURE"}')
    assert caught.value.field == "body"
