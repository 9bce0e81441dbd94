"""Shelves: records to bytes and back, and what is refused."""

import pytest

from moot.memory.errors import CorruptStore
from moot.memory.inmemory import InMemoryStore
from moot.memory.shelves import BY_NAME, REFLECTIONS, SHELVES, WORKING
from moot.protocols.kernel.frozen import FrozenDict
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.copying import replace
from tests.doubles.memory_log import a_week


def store() -> InMemoryStore:
    full = InMemoryStore()
    log = a_week()
    log.post(ADMIN, Override(case_id="hyp_1", verdict="REJECT", why="no"))
    for env in log.envelopes:
        full.apply(env, True)
    return full


def test_there_are_seven_shelves() -> None:
    assert [shelf.name for shelf in SHELVES] == [
        "causal",
        "reflections",
        "principles",
        "architecture",
        "strategies",
        "metrics",
        "thresholds",
    ]
    assert {shelf.name: shelf for shelf in (*SHELVES, *WORKING)} == BY_NAME


def test_every_record_comes_back_from_its_bytes_equal_and_immutable() -> None:
    full = store()
    seen = set()
    for shelf in (*SHELVES, *WORKING):
        for record in full.tables[shelf].versions():
            text = shelf.encode(record)
            again = shelf.decode(text)
            assert again == record
            assert shelf.encode(again) == text
            seen.add(shelf.name)
    assert seen == set(BY_NAME) - {"metrics"}
    (kept,) = full.read().reflections(hypothesis_id="hyp of ref_001")
    assert isinstance(REFLECTIONS.decode(REFLECTIONS.encode(kept)).metrics, FrozenDict)


def test_whole_numbers_and_fractions_stay_what_they_are() -> None:
    (kept,) = store().read().reflections(hypothesis_id="hyp of ref_001")
    changed = replace(kept, metrics=FrozenDict({"a": 1, "b": 1.0, "c": 0.1 + 0.2}))
    text = REFLECTIONS.encode(changed)
    assert '"metrics":{"a":1,"b":1.0,"c":0.30000000000000004}' in text


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text[:-20], "is damaged"),
        (lambda text: text.replace('"kind":"failure"', '"kind":"miracle"'), "(kind)"),
        (lambda text: text.replace('"seq":7', '"seq":"x"'), "(seq)"),
        (lambda text: text.replace('"seat":', '"seet":'), "(seat)"),
        (lambda text: "null", "as a whole"),
    ],
)
def test_damaged_bytes_name_the_shelf_and_the_field(damage: object, says: str) -> None:
    (kept,) = store().read().reflections(hypothesis_id="hyp of ref_001")
    assert kept.seq == 7
    with pytest.raises(CorruptStore) as caught:
        REFLECTIONS.decode(damage(REFLECTIONS.encode(kept)))  # type: ignore[operator]
    assert "reflections" in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
