import json

import pytest

from moot.channels.bus import Head
from moot.channels.errors import CorruptLog
from moot.channels.log.head import read_head, write_head

HEAD = Head(7, bytes(range(32)))


def test_what_was_written_is_read(tmp_path):
    write_head(tmp_path, HEAD)
    assert read_head(tmp_path) == HEAD
    assert json.loads((tmp_path / "head").read_text()) == {"seq": 7, "hash": HEAD.hash.hex()}
    assert [path.name for path in tmp_path.iterdir()] == ["head"]


def test_there_may_be_none(tmp_path):
    assert read_head(tmp_path) is None


def test_the_log_reaches_the_disk_first(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("moot.channels.log.head._sync", lambda path: synced.append(path.name))
    (tmp_path / "log.sqlite-wal").touch()
    write_head(tmp_path, HEAD, first_sync=tmp_path / "log.sqlite-wal")
    write_head(tmp_path, HEAD, first_sync=tmp_path / "no such file")
    assert synced == ["log.sqlite-wal", "head.new", "head.new"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"seq": 1}',
        '{"seq": 1, "hash": "00"}',
        '{"seq": "1", "hash": "%s"}' % ("0" * 64),
    ],
)
def test_one_that_cannot_be_read_says_so_in_a_line(tmp_path, text):
    (tmp_path / "head").write_text(text)
    with pytest.raises(CorruptLog, match="remove it to accept the log as it stands"):
        read_head(tmp_path)
