"""Whether a line says just what the envelope says that is read from it, told at a glance where it can be (K4).

A reader rounds figures to six digits and takes the last of two fields of one name; a line of which something
is lost that way says one thing to a person and another to the rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from moot.protocols.kernel.envelope import Envelope, stored_text
from moot.protocols.kernel.message import body_json
from moot.protocols.kernel.times import parse_instant


def differences(text: str, env: Envelope) -> list[str]:
    """Say in which fields a text says something else than its envelope.

    Args:
        text: What stands there, without the hash.
        env: What was read from it.
    """
    said = written(env)
    return [] if text == said else _compared(text, said)


def written(env: Envelope) -> str:
    """Write an envelope as the sequencer would have, without `hash` (K15)."""
    return stored_text(
        env.v,
        env.seq,
        env.id,
        env.channel,
        env.author,
        env.actor,
        env.case_id,
        env.obligation_id,
        env.attempt,
        env.tenure,
        env.in_reply_to,
        env.hops,
        env.sent_at,
        body_json(env.body),
    )


class _Twice(Exception):
    """Say that an object names something twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return found


def _compared(text: str, said: str) -> list[str]:
    try:
        given = json.loads(text, object_pairs_hook=_once)
    except _Twice as exc:
        return [f"{exc}: stands twice in one object"]
    return _compare("", given, json.loads(said))


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
