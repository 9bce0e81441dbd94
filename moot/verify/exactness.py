"""Whether a line says just what the envelope says that is read from it, told at a glance where it can be (K4).

A reader rounds figures to six digits and takes the last of two fields of one name; a line of which something
is lost that way says one thing to a person and another to the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from json.encoder import encode_basestring
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from protocols.kernel.canonical import body_json
from protocols.kernel.envelope import Envelope
from protocols.kernel.message import Part
from protocols.kernel.times import parse_instant, rfc3339

_PLAIN: Final = frozenset({str, int, float, bool, type(None), datetime})
_shapes: Final[dict[type[Part], tuple[int, tuple[str, ...]]]] = {}
_MANY_DIGITS: Final = re.compile(r"\.[0-9]{7}")
_TINY: Final = re.compile(r"[0-9][eE]-[0-9]")
_HEADER: Final = 17
"""Names in an envelope besides the body's: fourteen, and three in `actor`."""


def differences(text: str, env: Envelope, *, has_hash: bool) -> list[str]:
    """Say in which fields a line says something else than its envelope.

    Args:
        text: The line.
        env: What was read from it.
        has_hash: Whether `hash` stands in the line.
    """
    if (
        text.count('":') == _HEADER + has_hash + _names(env.body)
        and _MANY_DIGITS.search(text) is None
        and not (("e-" in text or "E-" in text) and _TINY.search(text))
    ):
        return []
    return _compared(text, env)


def written(env: Envelope) -> str:
    """Write an envelope as the sequencer would have, without `hash` (K15)."""
    actor = env.actor
    return (
        f'{{"actor":{{"kind":"{actor.kind}","platform":{encode_basestring(actor.platform)},'
        f'"user_id":{encode_basestring(actor.user_id)}}},"attempt":{env.attempt},"author":"{env.author.value}",'
        f'"body":{body_json(env.body)},"case_id":{_text(env.case_id)},'
        f'"channel":{encode_basestring(env.channel)},"hops":{env.hops},"id":{encode_basestring(env.id)},'
        f'"in_reply_to":{_text(env.in_reply_to)},"obligation_id":{_text(env.obligation_id)},'
        f'"sent_at":"{rfc3339(env.sent_at)}","seq":{env.seq},"tenure":{env.tenure},"v":{env.v}}}'
    )


def _text(value: str | None) -> str:
    return "null" if value is None else encode_basestring(value)


def _names(part: Part) -> int:
    """Count the names in what was read, at any depth."""
    kind = type(part)
    shape = _shapes.get(kind)
    if shape is None:
        fields = kind.model_fields
        nesting = tuple(name for name, field in fields.items() if not _is_plain(field.annotation))
        shape = _shapes[kind] = (len(fields), nesting)
    count, nesting = shape
    if nesting:
        values = part.__dict__
        for name in nesting:
            value = values[name]
            if value and type(value) not in _PLAIN:
                count += _nested(value)
    return count


def _is_plain(annotation: Any) -> bool:
    """Say whether a field of this type never holds names of its own."""
    if get_origin(annotation) in (Union, UnionType):
        return all(_is_plain(one) for one in get_args(annotation))
    return annotation in _PLAIN or get_origin(annotation) is Literal


def _nested(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(_nested(item) for item in value if type(item) not in _PLAIN)
    if isinstance(value, Mapping):
        return len(value) + sum(_nested(item) for item in value.values() if type(item) not in _PLAIN)
    return _names(value)


class _Twice(Exception):
    """Say that an object names something twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return found


def _compared(text: str, env: Envelope) -> list[str]:
    try:
        given = json.loads(text, object_pairs_hook=_once)
    except _Twice as exc:
        return [f"{exc}: stands twice in one object"]
    return _compare("", given, json.loads(written(env)))


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
