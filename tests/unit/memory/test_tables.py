"""Tables: which versions there are, and which are let go."""

from moot.memory.records import ThresholdRecord
from moot.memory.tables import Journal, Versions, Working
from tests.doubles.memory_log import START


def version(key: str, seq: int) -> ThresholdRecord:
    return ThresholdRecord(key=key, seq=seq, at=START, strictness=seq / 1000, previous=0.6, period="2026-W09")


def test_pruning_keeps_what_the_low_water_mark_shows_and_all_after_it() -> None:
    table = Versions[ThresholdRecord]()
    for seq in (1, 4, 7, 9):
        table.put(version("a", seq))
    table.put(version("b", 8))
    assert table.prune(7) == 2
    assert [(r.key, r.seq) for r in table.versions()] == [("a", 7), ("a", 9), ("b", 8)]
    assert table.prune(7) == 0
    found = table.get("a", 8)
    assert found is not None
    assert found.seq == 7
    assert table.get("b", 7) is None


def test_pruning_between_two_versions_keeps_the_earlier_one() -> None:
    table = Versions[ThresholdRecord]()
    for seq in (1, 4, 7):
        table.put(version("a", seq))
    assert table.prune(6) == 1
    assert [r.seq for r in table.versions()] == [4, 7]


def test_versions_of_one_message_replace_each_other() -> None:
    table = Versions[ThresholdRecord]()
    table.put(version("a", 3))
    last = version("a", 3)
    table.put(last)
    assert list(table.versions()) == [last]
    assert table.latest("a") is last


def test_a_journal_is_never_pruned() -> None:
    table = Journal[ThresholdRecord]()
    for seq in (1, 2, 3):
        table.put(version(f"k{seq}", seq))
    assert table.prune(3) == 0
    assert [r.seq for r in table.all(2)] == [1, 2]
    assert table.get("k3", 2) is None


def test_a_working_table_forgets_the_oldest() -> None:
    table = Working[ThresholdRecord](kept=2)
    assert table.oldest_seq == 0
    for key, seq in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        table.put(version(key, seq))
    assert [(r.key, r.seq) for r in table.versions()] == [("a", 3), ("c", 4)]
    assert table.oldest_seq == 3
