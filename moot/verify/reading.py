"""From a line to an envelope, and whether the line says just what the envelope says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from moot.logs import Line
from moot.verify.report import Findings
from protocols.codec import canonical_text, decode_envelope
from protocols.kernel.envelope import Envelope, body_json, canonical_json
from protocols.kernel.errors import Malformed
from protocols.kernel.times import parse_instant, rfc3339
from protocols.kernel.upcast import Opaque

_SEQ: Final = re.compile(r'"seq"\s*:\s*(\d{1,15})\b')
_SENT_AT: Final = re.compile(r'"sent_at"\s*:\s*"([^"]{1,40})"')
_quote: Final = json.encoder.encode_basestring


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
    try:
        envelope = decode_envelope(line.text)
    except Malformed as exc:
        seq = seq_of(line.text) or expected_seq
        findings.add(seq, "valid_body", exc.rule, f"{exc.field or 'line'}: {exc.why}")
        return None
    text = line.text if line.hash else envelope.json
    if written(envelope) != text and type(envelope.body) is not Opaque:
        for why in _differences(line.text, envelope):
            findings.add(envelope.seq, "valid_body", "K4", why)
    return Read(envelope, line.hash or envelope.hash)


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


def written(env: Envelope) -> str:
    """Write an envelope as the sequencer would have, without `hash` (K15)."""
    actor = env.actor
    case_id, cause, obligation_id = env.case_id, env.in_reply_to, env.obligation_id
    return (
        f'{{"actor":{{"kind":"{actor.kind}","platform":{_quote(actor.platform)},'
        f'"user_id":{_quote(actor.user_id)}}},"attempt":{env.attempt},"author":"{env.author.value}",'
        f'"body":{body_json(env.body)},"case_id":{"null" if case_id is None else _quote(case_id)},'
        f'"channel":{_quote(env.channel)},"hops":{env.hops},"id":{_quote(env.id)},'
        f'"in_reply_to":{"null" if cause is None else _quote(cause)},'
        f'"obligation_id":{"null" if obligation_id is None else _quote(obligation_id)},'
        f'"sent_at":"{rfc3339(env.sent_at)}","seq":{env.seq},"tenure":{env.tenure},"v":{env.v}}}'
    )


def canonical(line: Line) -> str | None:
    """Return the canonical text of a line in whatever layout, without its hash; None when it has none."""
    try:
        return canonical_text(line.text)
    except Malformed:
        return None


class _Twice(Exception):
    """Say that an object names something twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return found


def _differences(text: str, env: Envelope) -> list[str]:
    """Say in which fields a line says something else than the envelope that is read from it."""
    try:
        given = json.loads(text, object_pairs_hook=_once)
    except _Twice as exc:
        return [f"{exc}: stands twice in one object"]
    given.pop("hash", None)
    if canonical_json(given) == (meant := written(env)):
        return []
    return _compare("", given, json.loads(meant))


def _compare(path: str, given: Any, meant: Any) -> list[str]:
    if isinstance(given, Mapping) and isinstance(meant, Mapping):
        return [
            why
            for name, value in given.items()
            if name in meant
            for why in _compare(f"{path}.{name}" if path else name, value, meant[name])
        ]
    if isinstance(given, list) and isinstance(meant, list) and len(given) == len(meant):
        pairs = enumerate(zip(given, meant, strict=True))
        return [why for n, (one, other) in pairs for why in _compare(f"{path}[{n}]", one, other)]
    if given == meant and isinstance(given, bool) == isinstance(meant, bool):
        return []
    if isinstance(given, str) and isinstance(meant, str) and _same_instant(given, meant):
        return []
    return [f"{path}: says {json.dumps(given)[:80]}, which is read as {json.dumps(meant)[:80]}"]


def _same_instant(one: str, other: str) -> bool:
    try:
        return parse_instant(one) == parse_instant(other)
    except ValueError:
        return False
