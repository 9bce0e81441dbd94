from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.arbiter.extraction import fenced, unfenced

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def values(found: object) -> list[object]:
    return [each.value for each in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"a": 1}\n```',
        '```{"a": 1}```',
        'so:\n```JSON {"a": 1}\n``` there',
        '```\n\ufeff{"a": 1}```',
    ],
)
def test_a_fenced_block_is_found_with_and_without_its_tag(text: str) -> None:
    assert values(fenced(text)) == [{"a": 1}]


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"a": 1}',
        '```\n{"a": 1\n```',
        '```python\n{"a": 1}\n```',
        '{"a": 1}',
        '```\n{"a": NaN}\n```',
    ],
)
def test_what_is_no_closed_block_of_json_is_no_fenced_json(text: str) -> None:
    assert values(fenced(text)) == []


def test_fenced_blocks_come_in_order_and_what_stands_between_two_is_none() -> None:
    assert values(fenced("```1``` {} ```x``` ``` [2] ```")) == [1, [2]]


def test_objects_come_by_their_opening_brace_nested_ones_after_what_holds_them() -> None:
    text = 'a {"x": {"y": 1}} b } {not {"z": 2}} {"open": '
    assert values(unfenced(text)) == [{"x": {"y": 1}}, {"y": 1}, {"z": 2}]


def test_braces_count_in_strings_too() -> None:
    assert values(unfenced('{"a": "}"}')) == []
    assert values(unfenced('{"a": "{}"}')) == [{"a": "{}"}, {}]


def test_a_deep_or_long_text_of_braces_is_read_in_time() -> None:
    assert values(unfenced("{" * 100_000 + "}" * 100_000)) == [{}]
    deep = '{"a":' * 2_000 + "1" + "}" * 2_000
    assert values(unfenced(deep))[-1] == {"a": 1}
    assert values(fenced("```" + "[" * 100_000 + "```")) == []


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["{", "}", '"', "```", "json", "a", ":", "1", ","])).map("".join)
)
def test_every_text_is_read_as_a_plain_reader_would(text: str) -> None:
    def parsed(part: str) -> list[object]:
        try:
            return [json.loads(part, parse_constant=lambda name: 1 / 0)]
        except (ValueError, ZeroDivisionError):
            return []

    expected: list[object] = []
    for start, char in enumerate(text):
        depth = 0
        for end in range(start, len(text)) if char == "{" else ():
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            if depth == 0:
                expected += parsed(text[start : end + 1])
                break
    assert values(unfenced(text)) == expected


@given(JSON, st.text(max_size=10))
def test_what_was_written_into_a_block_is_read_from_it(value: object, prose: str) -> None:
    text = f"{prose.replace('`', '')}\n```json\n{json.dumps(value).replace('`', ' ')}\n```"
    assert values(fenced(text)) == [json.loads(json.dumps(value).replace("`", " "))]
