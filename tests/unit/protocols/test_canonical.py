"""Canonical text of bodies: whatever a class declares, its writer says what `model_dump` and `json` would (K15)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import computed_field, field_serializer

from protocols.kernel import canonical
from protocols.kernel.canonical import body_json, canonical_json
from protocols.kernel.frozen import freeze
from protocols.kernel.message import Count, Instant, Message, Number, Part, Text, changed
from protocols.kernel.upcast import Opaque
from protocols.rulebook import MESSAGES

CLASSES = pytest.mark.parametrize("cls", MESSAGES.values(), ids=lambda cls: cls.__name__)

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["", '"', "\\", "\x00\x1f\x7f", "\u2028é😀", "%s{}", "</script>"]
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1e-06, 1e16, 1e22, 5e-324]
)
INSTANTS = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def written(body: Message) -> str:
    """Write a body the long way, with the standard library alone."""
    return json.dumps(
        body.model_dump(), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def values(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return values of the types that a schema declares, whether or not its checks would let them pass."""
    match schema["type"]:
        case "default" | "function-after" | "function-before":
            return values(schema["schema"])
        case "model":
            return parts(schema["cls"])
        case "str":
            return TEXTS
        case "int":
            return st.integers()
        case "float":
            return FLOATS
        case "bool":
            return st.booleans()
        case "datetime":
            return INSTANTS
        case "literal":
            return st.sampled_from(schema["expected"])
        case "nullable":
            return st.none() | values(schema["schema"])
        case "tuple" if "variadic_item_index" in schema:
            return st.lists(values(schema["items_schema"][0]), max_size=3).map(tuple)
        case "tuple":
            return st.tuples(*map(values, schema["items_schema"]))
        case "dict":
            pairs = st.dictionaries(TEXTS, values(schema["values_schema"]), max_size=4)
            return pairs.map(freeze)
        case "function-plain":
            return st.dictionaries(TEXTS, JSON, max_size=4).map(freeze)
        case other:
            raise AssertionError(f"the test knows no values for a schema of type {other}: add some")


def parts(cls: type[Part]) -> st.SearchStrategy[Any]:
    fields = {name: values(schema) for name, schema in declared(cls)}
    return st.fixed_dictionaries(fields).map(lambda given: cls.model_construct(**given))


def declared(cls: type[Part]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    schema: Any = cls.__pydantic_core_schema__
    while schema["type"] != "model-fields":
        schema = schema["schema"]
    return ((name, field["schema"]) for name, field in schema["fields"].items())


@CLASSES
def test_a_body_is_written_as_its_dump_would_be(cls: type[Message]) -> None:
    @settings(max_examples=40, deadline=None)
    @given(parts(cls))
    def holds(body: Message) -> None:
        assert body_json(body) == written(body)

    holds()


class Inner(Part):
    share: Number = 0.5
    whole: Count = 1


class Wider(Inner):
    more: str = "not declared where it stands"


class Alike(Part):
    share: Number = 0.5
    whole: Count = 1
    more: str = "nor this"


class Sample(Message):
    type: Literal["SAMPLE"] = "SAMPLE"
    at: Instant = datetime(2026, 1, 1, tzinfo=UTC)
    flag: bool = True
    inner: Inner = Inner()
    inners: tuple[Inner, ...] = ()
    number: Number | None = None
    whole: Count = 1
    text: Text = ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("number", 3),
        ("number", True),
        ("whole", 2.5),
        ("whole", True),
        ("text", 7),
        ("text", None),
        ("flag", 1),
        ("inner", Wider()),
        ("inner", Alike()),
        ("inners", (Wider(), Inner(share=0.25))),
        ("inners", [Inner()]),
    ],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_value_of_another_type_than_declared_is_written_the_long_way(name: str, value: object) -> None:
    body = changed(Sample(), name, value)
    assert body_json(body) == written(body)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        body_json(changed(Sample(), "number", value))


class Tree(Part):
    branches: tuple[Tree, ...] = ()


class Nested(Message):
    type: Literal["NESTED"] = "NESTED"
    tree: Tree = Tree(branches=(Tree(), Tree()))
    within: Nested | None = None


class Planted(Message):
    type: Literal["PLANTED"] = "PLANTED"
    trees: tuple[Tree, ...] = (Tree(branches=(Tree(),)),)
    tree: Tree = Tree()


class Own(Message):
    type: Literal["OWN"] = "OWN"
    text: str = "x"

    @field_serializer("text")
    def _loud(self, text: str) -> str:
        return text.upper()


class Computed(Message):
    type: Literal["COMPUTED"] = "COMPUTED"

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way
    @property
    def more(self) -> int:
        return 7


@pytest.mark.parametrize("cls", [*MESSAGES.values(), Sample], ids=lambda cls: cls.__name__)
def test_every_message_class_has_a_writer(cls: type[Message]) -> None:
    assert canonical._writer_of(cls) is not None


@pytest.mark.parametrize(
    "body",
    [
        Own(),
        Computed(),
        Nested(within=Nested()),
        Planted(),
        Opaque(type="LATER", data=freeze({"b": [1, 2.5, None]})),
    ],
    ids=lambda body: body.type,
)
def test_a_class_that_serialises_in_its_own_way_is_written_the_long_way(body: Message) -> None:
    assert body_json(body) == written(body)


def test_keys_are_sorted_and_nothing_is_blank_or_escaped_needlessly() -> None:
    assert canonical_json({"b": [1, 2.0], "a": "é\n"}) == '{"a":"é\\n","b":[1,2.0]}'
