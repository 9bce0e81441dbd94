"""From a line to an envelope."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final, NamedTuple

from moot.logs import Line
from moot.verify.exactness import differences
from moot.verify.report import Findings
from protocols.codec import canonical_text, decode_envelope
from protocols.kernel.envelope import Envelope
from protocols.kernel.errors import Malformed
from protocols.kernel.times import parse_instant
from protocols.kernel.upcast import Opaque

_SEQ: Final = re.compile(r'"seq"\s*:\s*(\d{1,15})\b')
_SENT_AT: Final = re.compile(r'"sent_at"\s*:\s*"([^"]{1,40})"')


class Read(NamedTuple):
    """A line that was read.

    Attributes:
        envelope: What it says.
        hash: The hash it states, in hex; "" for none.
    """

    envelope: Envelope
    hash: str


def read(line: Line, expected_seq: int, findings: Findings) -> Read | None:
    """Read a line; None, with a finding, when it is no envelope.

    A line must say what its envelope says: no name twice, no figure that is rounded when it is read (K4). How
    it is laid out does not matter.
    """
    text = line.text
    try:
        envelope = decode_envelope(text)
    except Malformed as exc:
        seq = seq_of(text) or expected_seq
        findings.add(seq, "valid_body", exc.rule, f"{exc.field or 'line'}: {exc.why}")
        return None
    stated = envelope.hash
    if type(envelope.body) is not Opaque:
        for why in differences(text, envelope, has_hash=stated != ""):
            findings.add(envelope.seq, "valid_body", "K4", why)
    return Read(envelope, line.hash or stated)


def seq_of(text: str) -> int:
    """Guess the seq of a line that may be no envelope; 0 when it names none."""
    found = _SEQ.findall(text)
    return int(found[-1]) if found else 0


def sent_at_of(text: str) -> datetime | None:
    """Guess the `sent_at` of a line that may be no envelope; None when it names none."""
    found = _SENT_AT.findall(text)
    try:
        return parse_instant(found[-1]) if found else None
    except ValueError:
        return None


def canonical(line: Line) -> str | None:
    """Return the canonical text of a line in whatever layout, without its hash; None when it has none."""
    try:
        return canonical_text(line.text)
    except Malformed:
        return None
