"""Counted ids: minute ids and running numbers are those that the sequencer counted (R-D12, K20)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.rules import Minted
from moot.protocols.kernel.seats import OFFICERS
from moot.protocols.kernel.times import stamp
from moot.verify.report import Findings


class CountedIds:
    """Counts along; an id that a bot chose itself is left alone, one that looks counted must be the next."""

    def __init__(self, findings: Findings, minted: Mapping[str, Minted]) -> None:
        """Start with nothing counted."""
        self._findings = findings
        self._minted = minted
        self._last: dict[str, tuple[str, int]] = {}
        self._parts: set[str] = set()

    def take(self, env: Envelope) -> None:
        """Check the ids that a message brings."""
        rule = self._minted.get(env.body.type)
        if rule is None:
            return
        minute = stamp(env.sent_at) if rule.by_minute else ""
        for given in _values(env.body, rule):
            if given not in self._parts:
                self._check(env, rule, minute, given)
                if rule.each:
                    self._parts.add(given)

    def _check(self, env: Envelope, rule: Minted, minute: str, given: str) -> None:
        prefix = f"{rule.prefix}_"
        last, n = self._last.get(prefix, ("", 0))
        n = n + 1 if last == minute else 1
        if not rule.by_minute:
            wanted = f"{prefix}{n:03d}"
        else:
            wanted = f"{prefix}{minute}" if n == 1 else f"{prefix}{minute}_{n}"
        if given != wanted:
            if env.author not in OFFICERS and not given.startswith(prefix):
                return
            field = ".".join(rule.path)
            self._findings.add(
                env.seq, "counted_id", "R-D12", f"{field}: {given or 'none'}, {wanted} comes next"
            )
            # One that is missing makes all later ones differ: go on from what is there.
            tail = given.removeprefix(prefix)
            if not rule.by_minute and tail.isascii() and tail.isdigit():
                n = int(tail)
        self._last[prefix] = (minute, n)


def _values(body: Message, rule: Minted) -> Iterator[str]:
    parts: tuple[Any, ...] = getattr(body, rule.path[0]) if rule.each else (body,)
    for part in parts:
        value: Any = part
        for name in rule.path[1:] if rule.each else rule.path:
            value = getattr(value, name)
        yield value
