"""Every field of every message, altered in a log whose hashes are gone or made anew: found, or named with why not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from docs.checked_fields import ENVELOPE, fields, name_of, reasons
from moot.protocols.codec import decode_envelope
from moot.protocols.kernel.errors import Malformed
from moot.protocols.rulebook import rulebook
from tests.doubles.every_log import LOGS, Log
from tests.doubles.tampering import Alteration, Lines, alterations, judged, line_of, rehashed, stripped

LOGS_OF: dict[str, list[str]] = defaultdict(list)
for _name, _log in LOGS.items():
    for _kind in _log.kinds:
        LOGS_OF[_kind].append(_name)

MOST_ENTRIES = 2
"""Of a mapping, so many entries are altered."""

MOST, MOST_OF_LONG = 10, 2
"""A field of a message is altered so many times, one of a long log, and one of an envelope but once."""


@cache
def logs(name: str) -> list[Lines]:
    return list(LOGS[name].made())


def is_legal(line: dict[str, Any]) -> bool:
    """Say whether a line is a message at all: the rest of a log need not be asked."""
    try:
        decode_envelope(line_of({key: value for key, value in line.items() if key != "hash"}))
    except Malformed:
        return False
    return True


def trials(kind: str, log: Log, lines: Lines, tried: set[str]) -> Iterator[tuple[str, Alteration]]:
    """Yield legal alterations of all messages of a type, or of its first and of what others have besides."""
    for n, line in enumerate(lines):
        if line["body"]["type"] != kind:
            continue
        entries: dict[str, set[str]] = defaultdict(set)
        times: Counter[str] = Counter()
        known = set() if log.is_every else set(tried)
        for one in alterations(line, n):
            name = name_of(kind, one.field)
            if log.is_long and name.startswith(ENVELOPE):
                continue
            entries[name].add(one.field)
            is_new = name not in known and len(entries[name]) <= MOST_ENTRIES
            if not is_new or not is_legal(one.apply(lines)[n]):
                continue
            times[name] += 1
            if times[name] <= (1 if name.startswith(ENVELOPE) else MOST_OF_LONG if log.is_long else MOST):
                tried.add(name)
                yield name, one
        if not log.is_every and tried >= set(fields(kind)):
            return


def altered(kind: str) -> tuple[set[str], set[str]]:
    """Return which fields of a type were altered, and of which an alteration was not found."""
    tried: set[str] = set()
    unseen: set[str] = set()
    turn: dict[str, int] = defaultdict(int)
    for log, lines in ((LOGS[name], lines) for name in LOGS_OF[kind] for lines in logs(name)):
        for name, one in trials(kind, log, lines, tried):
            if name in unseen:
                continue
            turn[name] += 1
            other = one.apply(lines)
            if judged(stripped(other) if turn[name] % 2 else rehashed(other), max_findings=1).ok:
                unseen.add(name)
    return tried, unseen


@pytest.mark.parametrize("name", sorted(LOGS))
def test_the_logs_verify(name: str) -> None:
    for lines in logs(name):
        assert judged(lines).ok
        assert judged(stripped(lines)).ok


def test_the_logs_hold_every_type_and_the_list_names_no_other() -> None:
    kinds, untried, unchecked = reasons()
    assert sorted(LOGS_OF) == sorted(rulebook().messages)
    assert {*unchecked, *untried} <= set(LOGS_OF)
    assert {why.partition(":")[0] for named in unchecked.values() for why in named.values()} == set(kinds)


@pytest.mark.parametrize("kind", sorted(LOGS_OF))
def test_a_field_is_found_when_altered_or_named_with_a_reason(kind: str) -> None:
    tried, unseen = altered(kind)
    assert set(fields(kind)) - tried == set(reasons().untried.get(kind, {}))
    assert unseen == set(reasons().unchecked.get(kind, {}))


def test_a_log_of_older_rules_is_held_to_its_own_figures() -> None:
    (lines,) = logs("day")
    at = next(n for n, line in enumerate(lines) if line["body"]["type"] == "DESK_CHECK")
    off = Alteration(at, ("body", "strategies"), 99).apply(lines)
    assert [found.seq for found in judged(rehashed(off), max_findings=1).findings] == [at + 1]
    older = rehashed(Alteration(0, ("body", "rules_version"), "2").apply(off))
    assert judged(older).ok
    assert any(left.why.startswith("said under rules 2") for left in judged(older).unproven)
    assert not judged(older, strict=True).ok
