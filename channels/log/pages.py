"""Reading the log in pages of rows that are checked; for the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moot.channels.bus import Decode
from moot.channels.errors import CorruptLog
from moot.channels.log.file import check_row
from moot.channels.log.reader import Row
from moot.protocols.kernel.envelope import GENESIS, Envelope
from moot.protocols.kernel.errors import Violation

PAGE: Final = 256
"""Rows of one read."""


def envelopes(rows: Sequence[Row], first: int, decode: Decode) -> list[Envelope]:
    """Turn the rows of a page into envelopes, checking seq, chain and text.

    Args:
        rows: Those from `first - 1` on, that row included, for its hash.
        first: Seq of the first envelope wanted, from 1.
        decode: Reads one stored line.

    Raises:
        CorruptLog: A row is missing or not what was written.
    """
    previous, wanted = GENESIS, first
    if first > 1 and rows and rows[0].seq == first - 1:
        previous, rows = rows[0].hash, rows[1:]
    elif first > 1:
        raise CorruptLog("the row is missing", seq=first - 1)
    found = []
    for row in rows:
        seq = row.seq
        if seq != wanted:
            raise CorruptLog("the row is missing", seq=wanted)
        check_row(row, previous)
        try:
            envelope = decode(row.text, row.hash.hex())
        except (Violation, ValueError, KeyError, TypeError) as exc:
            raise CorruptLog(f"no envelope: {exc}", seq=seq) from exc
        if envelope.seq != seq:
            raise CorruptLog(f"the text names seq {envelope.seq}", seq=seq)
        found.append(envelope)
        previous, wanted = row.hash, seq + 1
    return found
