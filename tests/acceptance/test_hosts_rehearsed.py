"""The long rehearsal of several hosts, for a moment, with clocks that differ: a leader is killed, two are cut off."""

from __future__ import annotations

from pathlib import Path

from moot.channels.log.reader import Row
from moot.channels.nats.stream import StreamRow
from moot.protocols.kernel.envelope import GENESIS, link
from tests.soak import hosts

NAMES = ("alpha", "beta")


def test_hosts_that_are_killed_and_cut_off_lose_nothing_and_never_lead_at_once(tmp_path: Path) -> None:
    told: list[str] = []
    found = hosts.rehearse(
        tmp_path, 5, 1, 2, 1, told.append, names=NAMES, longest_cut_s=1.0, ahead_s={NAMES[0]: 600}
    )
    assert found["findings"] == []
    beta = " ".join((tmp_path / "beta.out").read_text().split())
    assert "ahead of this host's clock: its time runs at half pace until the two agree" in beta
    assert len(told) == 3 and found["leaders"] >= 2 and found["acknowledged"] >= 10
    assert found["lag_ms"]["count"] >= 1
    assert [len(lines) for lines in hosts.tables(found).values()] == [5, 5]


def test_what_must_not_be_in_a_stream_is_found() -> None:
    rows = []
    before = GENESIS
    for seq, epoch in ((1, 3), (2, 5), (3, 4)):
        before = link(before, f"text {seq}")
        rows.append(StreamRow(Row(seq, None, f"text {seq}", before), "", epoch))
    assert list(hosts.wrong_stream(rows)) == ["seq 3: epoch 4 after 5: two leaders in one stream"]
    assert "the stream has gaps" in list(hosts.wrong_stream(rows[1:]))
    note = (1, "a", '{"seq":1,"sent_at":"2","body":{"type":"NOTE","text":"x"}}', b"")
    again = (2, "b", note[2].replace('"seq":1,"sent_at":"2"', '"seq":2,"sent_at":"1"'), b"")
    said = list(hosts.wrong_logs({"one": [note, again], "two": [again]}, {"a": 1, "c": 2}))
    assert said == [
        "two has another log",
        "c was acknowledged as seq 2 and is not there",
        "seq 2: time ran backwards",
        "x was said 2 times",
    ]
