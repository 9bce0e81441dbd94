"""Lines of the log as a guest reads them: typed enough to show and to pass on, whatever their version (K4).

The host checks messages, a guest only shows them. So it keeps no union of all types and breaks on no new one.
"""

from __future__ import annotations

import json
import re

from moot.channels.errors import CorruptLog
from moot.protocols.kernel.envelope import Actor, Envelope, with_hash
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.times import parse_instant
from moot.protocols.kernel.upcast import Opaque

_SEQ = re.compile(r'\{"v":\d+,"seq":(\d+),')


def open_line(line: str) -> Envelope:
    """Read one line of the log without judging its body; `envelope.line` gives the same text again.

    Raises:
        CorruptLog: The line is no envelope.
    """
    seq = 0
    try:
        raw = json.loads(line)
        seq = int(raw["seq"])
        body = raw["body"]
        return Envelope(
            v=raw["v"],
            seq=seq,
            id=raw["id"],
            channel=raw["channel"],
            author=Seat(raw["author"]),
            actor=Actor(**raw["actor"]),
            case_id=raw["case_id"],
            obligation_id=raw["obligation_id"],
            attempt=raw["attempt"],
            tenure=raw["tenure"],
            in_reply_to=raw["in_reply_to"],
            hops=raw["hops"],
            sent_at=parse_instant(raw["sent_at"]),
            body=Opaque.model_construct(type=str(body["type"]), data=body),
            json=_without_hash(line, raw.get("hash", "")),
            hash=raw.get("hash", ""),
        )
    except (KeyError, TypeError, ValueError) as exc:
        raise CorruptLog(f"not an envelope: {exc}", seq=seq) from exc


def seq_of(line: str) -> int:
    """Return the sequence number of a log line, without reading all of it.

    Raises:
        CorruptLog: There is none.
    """
    found = _SEQ.match(line)
    if found is None:
        raise CorruptLog("not an envelope: no seq")
    return int(found[1])


def _without_hash(line: str, digest: str) -> str:
    end = with_hash("}", digest)
    return line.removesuffix(end) + "}" if digest and line.endswith(end) else line
