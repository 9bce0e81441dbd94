"""What a scene file says will happen, in comments that read like the rule it shows.

`#> TYPE key=value ... @2h05m` lines must occur in the log in this order (other messages may stand between);
`#! TYPE key=value ...` must never occur. `key` is a body field (dotted), or `from`, `in`, `case`; a value
may be `*`. `@` gives the time since the scene's start, to the minute; `@>2h` later, `@<2h` earlier than that.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from moot.protocols.kernel.envelope import Envelope
from moot.simulation.durations import duration


@dataclass(frozen=True)
class Expectation:
    """One expected message."""

    line_no: int
    text: str
    kind: str
    fields: tuple[tuple[str, str], ...]
    when: tuple[str, timedelta] | None

    def matches(self, env: Envelope, start: datetime) -> bool:
        """Say whether a message is the expected one."""
        if env.body.type != self.kind:
            return False
        if self.when is not None:
            sign, wanted = self.when
            given = env.sent_at - start
            minute = timedelta(seconds=given.total_seconds() // 60 * 60)
            if sign == "@" and minute != wanted:
                return False
            if (sign == "@>" and given <= wanted) or (sign == "@<" and given >= wanted):
                return False
        body = env.body.model_dump()
        return all(_equal(_value(env, body, name), wanted) for name, wanted in self.fields)


def _value(env: Envelope, body: dict[str, Any], name: str) -> Any:
    special = {"from": env.author, "in": env.channel, "case": env.case_id, "actor": env.actor.kind}
    if name in special and name not in body:
        return special[name]
    value: Any = body
    for part in name.split("."):
        try:
            value = value[int(part)] if isinstance(value, list | tuple) else value[part]
        except IndexError:
            return None
    return value


def _equal(value: Any, wanted: str) -> bool:
    if wanted == "*":
        return value not in (None, "", [], ())
    if wanted.startswith("~"):
        return wanted[1:] in str(value)
    return str(value) == wanted


def parse(path: Path) -> tuple[list[Expectation], list[Expectation]]:
    """Read what must and what must not happen from a scene file's comments."""
    must, never = [], []
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(("#>", "#!")):
            (must if line[1] == ">" else never).append(_parse(line[2:].strip(), n))
    return must, never


def _parse(text: str, n: int) -> Expectation:
    kind, *rest = shlex.split(text)
    fields, when = [], None
    for word in rest:
        if word.startswith("@"):
            sign = word[:2] if word[1] in "<>" else "@"
            when = (sign, duration(word[len(sign) :]))
        else:
            name, _, value = word.partition("=")
            fields.append((name, value))
    return Expectation(n, text, kind, tuple(fields), when)


def complaints(path: Path, log: list[Envelope], start: datetime) -> list[str]:
    """Compare a log with what its scene file says; one line for each difference."""
    must, never = parse(path)
    found = []
    place = 0
    for expected in must:
        hit = next((n for n in range(place, len(log)) if expected.matches(log[n], start)), None)
        if hit is None:
            seq = log[place].seq if place < len(log) else len(log)
            found.append(f"{path.name}:{expected.line_no}: no {expected.text} from seq {seq} on")
            break
        place = hit + 1
    for unwanted in never:
        hits = [env.seq for env in log if unwanted.matches(env, start)]
        if hits:
            found.append(f"{path.name}:{unwanted.line_no}: {unwanted.text} at seq {hits[0]}")
    if not must:
        found.append(f"{path.name}: says nothing of what happens")
    return found
