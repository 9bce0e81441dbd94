"""What a validator finds reads the same everywhere, in plain words."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from moot.protocols.codec import decode_body
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.faults import line
from moot.protocols.kernel.fields import VISIBLE

KEY = "sk-proj-" + "a1B2c3D4" * 6


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=5)] = "a"
    code: Annotated[str, Field(min_length=2)] = "ab"
    said: Annotated[str, Field(pattern=VISIBLE)] = "a"
    name: Annotated[str, Field(pattern="^[a-z]+$")] = "a"
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    share: Annotated[float, Field(gt=0, lt=1.5, allow_inf_nan=False)] = 1.0
    on: bool = True
    list: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)] = ("a",)
    map: dict[str, int] = {}
    pick: Literal["a", "b", "c"] = "a"
    none: None = None


class Loose(BaseModel):
    count: Annotated[int, Field(le=9)] = 1
    share: float = 1.0
    on: bool = True
    at: datetime | None = None
    day: date | None = None
    part: Strict = Strict()
    needed: str


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": ""}, "text: is empty: write something"),
        ({"said": " \n"}, "said: is empty: write something"),
        ({"code": "a"}, "code: give at least 2 characters, not 'a'"),
        ({"text": "123456"}, "text: has 6 characters, 5 are the most: shorten it"),
        ({"text": 5}, "text: give a text, not 5"),
        ({"text": None}, "text: is needed"),
        ({"text": KEY}, "text: has 56 characters, 5 are the most: shorten it"),
        ({"name": "A1"}, "name: 'A1' does not match ^[a-z]+$"),
        ({"count": "x"}, "count: give a whole number, not 'x'"),
        ({"count": ""}, "count: is empty: give a whole number"),
        ({"count": [1]}, "count: give a whole number, not a list"),
        ({"count": {}}, "count: give a whole number, not an object"),
        ({"count": 0}, "count: choose at least 1, not 0"),
        ({"count": 1_000_001}, "count: choose at most 1,000,000, not 1000001"),
        ({"share": 0.0}, "share: choose more than 0, not 0.0"),
        ({"share": 2.0}, "share: choose less than 1.5, not 2.0"),
        ({"share": float("inf")}, "share: give a finite number, not inf"),
        ({"on": 2}, "on: give true or false, not 2"),
        ({"list": "a"}, "list: give a list, not 'a'"),
        ({"list": ()}, "list: is empty: give at least 1 item"),
        ({"list": ("a",) * 21}, "list: has 21 items, 2 are the most: leave some out"),
        ({"map": []}, "map: give an object with named fields, not a list"),
        ({"map": {"a": "b"}}, "map.a: give a whole number, not 'b'"),
        ({"text": object()}, "text: give a text, not what is of type object"),
        ({"pick": "d"}, "pick: choose 'a', 'b' or 'c', not 'd'"),
        ({"none": 1}, "none: is to be left out here"),
        ({"shaer": 1}, "shaer: there is no such field: did you mean share?"),
        ({"xyz": 1}, "xyz: there is no such field: choose from "),
    ],
)
def test_a_fault_is_a_plain_line(given: dict[str, Any], said: str) -> None:
    assert complaint(Strict, given).startswith(said)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "needed: is needed"),
        ({"count": "x"}, "count: give a whole number, not 'x'"),
        ({"count": "10"}, "count: choose at most 9, not 10"),
        ({"count": 1.5}, "count: give a whole number, not 1.5"),
        ({"share": "much"}, "share: give a number, not 'much'"),
        ({"on": "perhaps"}, "on: give true or false, not 'perhaps'"),
        ({"at": "soon"}, "at: give a time such as 2026-11-05T09:00:00Z, not 'soon'"),
        ({"day": "soon"}, "day: give a day such as 2026-11-05, not 'soon'"),
        ({"part": 5}, "part: give an object with named fields, not 5"),
        ({"count": KEY}, "count: give a whole number, not '[redacted:"),
        ({"count": "9" * 5000}, f"count: give a whole number, not '{'9' * 58}…"),
    ],
)
def test_a_value_that_cannot_be_read_is_a_plain_line(given: dict[str, Any], said: str) -> None:
    assert complaint(Loose, given).startswith(said)


@pytest.mark.parametrize("text", ["xx", "[]", "5", '{"text": 5}'])
def test_no_line_speaks_the_validators_words(text: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Strict.model_validate_json(text)
    said = line(refused.value, "it")
    assert "Input" not in said and "valid" not in said and said.startswith(("it: ", "text: "))


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("VERDIKT", "body: there is no type 'VERDIKT': did you mean VERDICT?"),
        ("QUESTION", "body: there is no type 'QUESTION' here"),
    ],
)
def test_a_type_that_there_is_not_is_a_plain_line_without_all_that_there_are(named: str, said: str) -> None:
    with pytest.raises(Malformed) as refused:
        decode_body(f'{{"type": "{named}"}}')
    assert str(refused.value) == said


def complaint(kind: type[BaseModel], given: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        kind.model_validate(given)
    return line(refused.value, "it", kind.model_fields)
