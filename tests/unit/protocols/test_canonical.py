"""Texts of bodies as the log stores them (K15), and canonical JSON of what is known by its content."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.fields import FrozenJson, Numbers
from moot.protocols.kernel.frozen import FrozenDict, freeze
from moot.protocols.kernel.message import Message, Part, Text, body_json, changed
from moot.protocols.kernel.upcast import Opaque
from moot.protocols.rulebook import rulebook

CLASSES = pytest.mark.parametrize("cls", rulebook().messages.values(), ids=lambda cls: cls.__name__)

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
def test_a_body_is_written_with_its_fields_in_their_order_and_says_what_its_dump_says(
    cls: type[Message],
) -> None:
    @settings(max_examples=40)
    @given(parts(cls))
    def holds(body: Message) -> None:
        told = json.loads(body_json(body))
        assert told == json.loads(json.dumps(body.model_dump(mode="json")))
        by_alias = [
            field.serialization_alias or name
            for name, field in cls.model_fields.items()
            if field.exclude_if is None or not field.exclude_if(getattr(body, name))
        ]
        assert list(told) == by_alias
        assert by_alias[0] == "type"

    holds()


class Sample(Message):
    type: Literal["SAMPLE"] = "SAMPLE"
    text: Text = ""
    numbers: Numbers = FrozenDict()
    free: FrozenJson = FrozenDict()


def test_nothing_is_blank_or_escaped_needlessly() -> None:
    assert body_json(Sample(text="é\n\u2028", numbers=FrozenDict(a=1))) == (
        '{"type":"SAMPLE","text":"é\\n\u2028","numbers":{"a":1},"free":{}}'
    )


@pytest.mark.rule("K1")
def test_k1_free_form_data_in_another_order_is_the_same_draft() -> None:
    one = Sample(numbers={"b": 1.0, "a": 2.0}, free={"y": [{"d": 1, "c": 2}], "x": None})
    other = Sample(numbers={"a": 2.0, "b": 1.0}, free={"x": None, "y": [{"c": 2, "d": 1}]})
    assert body_json(one) == body_json(other)


@pytest.mark.parametrize(("name", "value"), [("text", 7), ("numbers", "x")])
def test_a_value_of_another_type_than_declared_is_told(name: str, value: object) -> None:
    with pytest.warns(UserWarning, match="Expected"):
        body_json(changed(Sample(), name, value))


def test_an_opaque_body_is_written_as_it_was() -> None:
    body = Opaque(type="LATER", data=freeze({"type": "LATER", "b": [1, 2.5, None]}))
    assert json.loads(body_json(body)) == {"type": "LATER", "b": [1, 2.5, None]} == body.model_dump()


def test_canonical_keys_are_sorted_and_nothing_is_blank_or_escaped_needlessly() -> None:
    assert canonical_json({"b": [1, 2.0], "a": "é\n"}) == '{"a":"é\\n","b":[1,2.0]}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)
