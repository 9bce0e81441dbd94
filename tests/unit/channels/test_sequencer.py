from datetime import UTC, datetime, timedelta, timezone

import pytest

from moot.channels.bus import Head, Receipt
from moot.channels.errors import Refused
from moot.channels.log.sequencer import Sequencer
from moot.protocols.kernel.envelope import GENESIS, link
from tests.doubles.tiny import START, Numbered, Said, Ticks, TinyAdmission, numbered, said


def sequencer(**options):
    return Sequencer(TinyAdmission(), Ticks(), **options)


def test_entries_are_numbered_stamped_and_chained():
    one = sequencer()
    (_, a), (_, b) = one.take(said("a")), one.take(said("b"))
    assert (a.envelope.seq, b.envelope.seq) == (1, 2)
    assert a.envelope.sent_at < b.envelope.sent_at
    assert a.hash == link(GENESIS, a.envelope.json)
    assert b.hash == link(a.hash, b.envelope.json)
    assert one.head == Head(2, b.hash)


def test_it_goes_on_where_the_log_ends():
    later = START + timedelta(days=1)
    one = sequencer(head=Head(41, b"h" * 32), last_sent_at=later)
    _, entry = one.take(said("a"))
    assert (entry.envelope.seq, entry.envelope.sent_at) == (42, later)
    assert entry.hash == link(b"h" * 32, entry.envelope.json)


def test_a_clock_in_another_zone_is_written_in_utc():
    east = timezone(timedelta(hours=9))
    one = Sequencer(TinyAdmission(), lambda: datetime(2026, 2, 23, 19, tzinfo=east))
    _, entry = one.take(said("a"))
    assert entry.envelope.sent_at == datetime(2026, 2, 23, 10, tzinfo=UTC)
    assert '"sent_at":"2026-02-23T10:00:00.000000Z"' in entry.envelope.json


def test_the_row_is_what_the_table_holds():
    draft = said("a", "x")
    _, entry = sequencer().take(draft)
    assert entry.row == (1, "a", draft.digest(), entry.envelope.json, entry.hash)


def test_the_body_is_written_once_unless_ids_are_counted():
    one = sequencer()
    plain, counted = said("a"), numbered("b")
    assert one.take(plain)[1].envelope.body is plain.body
    assert one.take(counted)[1].envelope.body == Numbered(number="n_1")
    assert '"number":"n_2"' in one.take(numbered("c"))[1].envelope.json


def test_a_window_remembers_at_least_so_many_ids_and_forgets_the_old():
    one = sequencer(window=3)
    for n in range(20):
        one.take(said(f"k{n}"))
        for back in range(min(n + 1, 3)):
            assert one.take(said(f"k{n - back}"))[0].status == "duplicate"
    receipt, entry = one.take(said("k0"))
    assert (receipt.status, entry.envelope.seq) == ("accepted", 21)


def test_rewind_forgets_ids_counters_time_and_chain():
    one = sequencer()
    _, kept = one.take(numbered("kept"))
    head, at = one.head, one.last_sent_at
    lost = [one.take(draft)[1] for draft in (numbered("a"), said("b"), numbered("c"))]
    one.rewind(lost, head, at)
    assert (one.head, one.last_sent_at) == (head, at)
    receipt, entry = one.take(numbered("c"))
    assert receipt == Receipt(2, "c")
    assert entry.envelope.body == Numbered(number="n_2")
    assert entry.hash == link(kept.hash, entry.envelope.json)


def test_rewind_forgets_ids_of_the_older_generation_too():
    one = sequencer(window=2)
    head = one.head
    lost = [one.take(said(f"k{n}"))[1] for n in range(4)]
    one.rewind(lost, head, None)
    assert [one.take(said(f"k{n}"))[0].status for n in range(4)] == ["accepted"] * 4


def test_a_refusal_changes_nothing():
    one = sequencer()
    before = one.head
    with pytest.raises(Refused):
        one.take(said("a", channel="#closed"))
    assert (one.head, one.last_sent_at) == (before, None)


def test_a_receipt_is_handed_out_for_what_was_sent_not_for_what_was_completed():
    one = sequencer()
    draft = said("a", "x")
    assert isinstance(draft.body, Said)
    one.take(draft)
    assert one.take(said("a", "x"))[0].status == "duplicate"
    assert one.take(said("a", "y"))[0].status == "superseded"
