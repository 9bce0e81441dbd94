"""From a line to an envelope."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final, NamedTuple

from moot.logs import Line
from moot.protocols.codec import decode_envelope, decode_stored
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.times import parse_instant
from moot.protocols.kernel.upcast import Opaque
from moot.verify.exactness import differences

FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2200
"""Prices end there (R-M2), and time could not be counted from the ends of the calendar."""

_SEQ: Final = re.compile(r'"seq"\s*:\s*(\d{1,15})\b')
_SENT_AT: Final = re.compile(r'"sent_at"\s*:\s*"([^"]{1,40})"')


class Problem(NamedTuple):
    """What is wrong with a line by itself."""

    rule: str
    why: str


class Read(NamedTuple):
    """A line that was read.

    Attributes:
        line: As it stands.
        envelope: What it says; None when it is no envelope.
        hash: The hash it states, in hex; "" for none.
        problems: What is wrong with it by itself.
        is_clean: Whether it is known to say what its envelope says, and to hold no secret.
        follows: The hash of the line before that its own is known to fit; empty for none.
    """

    line: Line
    envelope: Envelope | None
    hash: str
    problems: tuple[Problem, ...]
    is_clean: bool = False
    follows: bytes = b""

    @property
    def text(self) -> str:
        """What its hash is made of: the text as it stands, without the hash; "" when it is no envelope."""
        if self.line.hash:
            return self.line.text
        return self.envelope.json if self.envelope is not None else ""

    @property
    def seq(self) -> int:
        """The seq it carries, guessed when it is no envelope; 0 when there is none."""
        return self.envelope.seq if self.envelope is not None else seq_of(self.line.text)

    @property
    def sent_at(self) -> datetime | None:
        """The instant it carries, guessed when it is no envelope; None when there is none."""
        return self.envelope.sent_at if self.envelope is not None else sent_at_of(self.line.text)


def read(line: Line, *, is_clean: bool = False, follows: bytes = b"") -> Read:
    """Read a line.

    A line must say what its envelope says: no name twice, no figure that is rounded when it is read (K4).

    Args:
        line: The line.
        is_clean: Whether it is known to say what its envelope says, and to hold no secret.
        follows: The hash that its own is known to follow; empty for none.
    """
    text = line.text
    try:
        envelope = decode_stored(text, line.hash) if line.hash else decode_envelope(text)
    except Malformed as exc:
        return Read(line, None, line.hash, (Problem(exc.rule, f"{exc.field or 'line'}: {exc.why}"),))
    if not FIRST_YEAR <= envelope.sent_at.year < LAST_YEAR:
        why = f"sent_at: the year {envelope.sent_at.year} is none that a society lives in"
        return Read(line, None, line.hash, (Problem("K3", why),))
    stated = envelope.hash
    if is_clean:
        return Read(line, envelope, stated, (), is_clean, follows)
    problems: tuple[Problem, ...] = ()
    if type(envelope.body) is not Opaque and (lost := differences(envelope.json, envelope)):
        problems = tuple(Problem("K4", why) for why in lost)
    return Read(line, envelope, stated, problems)


def seq_of(text: str) -> int:
    """Guess the seq of a line that may be no envelope; 0 when it names none."""
    found = _SEQ.findall(text)
    return int(found[0]) if found else 0


def sent_at_of(text: str) -> datetime | None:
    """Guess the `sent_at` of a line that may be no envelope; None when it names none."""
    found = _SENT_AT.findall(text)
    try:
        return parse_instant(found[0]) if found else None
    except ValueError:
        return None
