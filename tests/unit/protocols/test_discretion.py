"""Messages without secrets: every text in every part, and nothing else (R-A9)."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.discretion import discreet, indiscretions, without_secrets
from moot.protocols.kernel.envelope import GENESIS, Actor, Draft, seal
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.fields import FrozenJson
from moot.protocols.kernel.frozen import FrozenDict, freeze, thaw
from moot.protocols.kernel.message import Ident, Message, Part, Texts, body_json
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.redact import _TELLING_KEY, may_hold_secret
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.seats import CRITIC
from moot.protocols.rulebook import rulebook
from tests.doubles.tiny import START

SECRET = "xox" + "b-123456789012-abcdefABCDEF"  # in pieces, so that no scanner takes this file for a leak


class Inner(Part):
    name: Ident = "n"
    texts: Texts = ()


class Outer(Message):
    type: Literal["OUTER"] = "OUTER"
    inner: tuple[Inner, ...] = ()
    data: FrozenJson = FrozenDict()
    weight: float = 0.5
    author: Seat = CRITIC


def draft(body, **over):
    return Draft(**{"channel": "#open", "author": CRITIC, "body": body, "key": "k", **over})


def sealed(body, **over):
    return seal(draft(body, **over), seq=1, envelope_id="k", sent_at=START, previous=GENESIS)[0]


def test_every_text_is_redacted_however_deep_and_nothing_else_changes():
    body = Outer(
        inner=(Inner(name="a", texts=("fine", f"see {SECRET}")), Inner(name="b")),
        data=freeze(
            {"list": ["pwd=hunter2", 4096, None, True], "token": "abc", SECRET: 1, "n": {"api_key": "x y"}}
        ),
    )
    clean = without_secrets(body)
    assert clean.inner == (Inner(name="a", texts=("fine", "see [redacted:slack_token]")), Inner(name="b"))
    assert thaw(clean.data) == {
        "list": ["pwd=[redacted:password]", 4096, None, True],
        "token": "[redacted:password]",
        "[redacted:slack_token]": 1,
        "n": {"api_key": "[redacted:password]"},
    }
    assert type(clean.data) is FrozenDict
    assert without_secrets(clean) is clean
    assert SECRET not in body_json(clean)


def test_a_message_without_secrets_is_the_same_object():
    body = Outer(
        inner=(Inner(texts=("a token gesture",)),), data=freeze({"session_id": "s", "sha": "0f" * 32})
    )
    assert without_secrets(body) is body
    one = draft(body)
    assert discreet(one) is one


def test_a_clean_draft_is_valid_and_its_digest_is_stable():
    one = draft(Outer(inner=(Inner(name="pwd=hunter2"),)))
    assert discreet(one).digest() == discreet(one).digest() == discreet(discreet(one)).digest()
    assert Outer.model_validate_json(body_json(discreet(one).body)) == discreet(one).body


def test_a_body_that_is_invalid_without_its_secret_is_refused_by_its_field():
    with pytest.raises(Malformed) as caught:
        discreet(draft(Outer(inner=(Inner(name="pwd=x " + "y" * 190),))))
    assert (caught.value.rule, caught.value.field) == ("R-A9", "inner.0.name")


@pytest.mark.parametrize(
    "over", [{"key": SECRET}, {"case_id": SECRET}, {"actor": Actor("human", "cli", SECRET)}]
)
def test_an_id_that_looks_like_a_secret_is_refused_without_repeating_it(over):
    with pytest.raises(Malformed) as caught:
        discreet(draft(Note(text="x"), **over))
    assert SECRET not in str(caught.value)


def test_indiscretions_name_the_places():
    body = Outer(inner=(Inner(texts=("fine", SECRET)),), data=freeze({"a": {"token": "abc"}, SECRET: "x"}))
    assert list(indiscretions(sealed(body, actor=Actor("human", "cli", SECRET)))) == [
        "actor.user_id",
        "body.inner[0].texts[1]",
        "body.data.a.token",
        "body.data.[redacted:slack_token]",
    ]
    assert list(indiscretions(sealed(without_secrets(body)))) == []


def test_no_message_has_a_field_that_is_named_like_a_secret():
    def fields(model):
        for name, field in model.model_fields.items():
            yield name
            for part in (field.annotation, *getattr(field.annotation, "__args__", ())):
                if isinstance(part, type) and issubclass(part, Part):
                    yield from fields(part)

    models = list(rulebook().messages.values())
    assert len(models) > 40
    assert [name for model in models for name in fields(model) if _TELLING_KEY.search(name)] == []


LEAVES = st.sampled_from(
    ["", "abc", SECRET, "pwd=x", "bearer " + "a" * 20, "token", "a:b", "\n\t\"'\\"]
) | st.integers(-9, 9)
KEYS = st.sampled_from(["token", "api_key", "tokens", "a", SECRET, "authorization", "se\tcret", 'x"pwd'])
DATA = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@given(DATA)
def test_the_quick_look_at_canonical_json_misses_nothing_that_the_walk_changes(data):
    clean = without_secrets(data)
    assert without_secrets(clean) == clean
    if clean != data:
        assert may_hold_secret(canonical_json(data))
    frozen = freeze(data)
    assert thaw(without_secrets(frozen)) == clean
