"""Counted ids, records and principles (R-D12, R-D13, spec 2.1)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339
from moot.protocols.research import debate
from tests.doubles.biglog import Chance
from tests.doubles.tampering import Lines, judged, rehashed


def _fortnight() -> Lines:
    log: list[Envelope] = []
    society = Chance(log.append, seed=5, start=datetime(2026, 2, 23, tzinfo=UTC))
    society.live(until=society.now + timedelta(days=9))
    society.stop()
    return [json.loads(env.line) for env in log]


LINES = _fortnight()
"""Nine days, in which principles are created and updated."""


def principles(change: str) -> tuple[int, dict[str, Any]]:
    """Find the first principle that was created or updated: its line and itself."""
    for n, line in enumerate(LINES):
        for principle in line["body"].get("principles", ()):
            if principle["change"] == change:
                return n, principle
    raise AssertionError(f"no principle was {change}")


def altered(index: int, path: tuple[str | int, ...], value: object) -> Lines:
    lines = list(LINES)
    lines[index] = json.loads(json.dumps(LINES[index]))
    place: Any = lines[index]
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return rehashed(lines)


def found(lines: Lines) -> list[tuple[int, str]]:
    return [(f.seq, f.invariant) for f in judged(lines).findings]


def of(kind: str, author: str = "evolver") -> int:
    return next(n for n, line in enumerate(LINES) if (line["body"]["type"], line["author"]) == (kind, author))


def test_the_log_holds() -> None:
    assert judged(LINES).ok


@pytest.mark.parametrize("change", ["created", "updated"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("evidence_count", 2),
        ("confidence", 0.99),
        ("source_reflections", ["ref_001", "ref_002", "ref_003"]),
        ("archetype", "arbitrage"),
        ("failure_code", "boredom"),
        ("regime", "sideways"),
        ("created", rfc3339(datetime(2030, 1, 1, tzinfo=UTC))),
        ("last_validated", rfc3339(datetime(2030, 1, 1, tzinfo=UTC))),
        ("last_validated", rfc3339(datetime(2020, 1, 1, tzinfo=UTC))),
        ("principle_id", "prin_999"),
    ],
)
def test_a_principle_says_what_the_records_give(change: str, name: str, value: object) -> None:
    index, principle = principles(change)
    position = LINES[index]["body"]["principles"].index(principle)
    seqs = [seq for seq, _ in found(altered(index, ("body", "principles", position, name), value))]
    assert index + 1 in seqs


@pytest.mark.parametrize(("name", "value"), [("statement", "rewritten"), ("created", "2026-02-01T00:00:00Z")])
def test_an_update_keeps_what_it_updates(name: str, value: str) -> None:
    index, principle = principles("updated")
    position = LINES[index]["body"]["principles"].index(principle)
    assert (index + 1, "principle") in found(altered(index, ("body", "principles", position, name), value))


@pytest.mark.parametrize("kind", ["CAUSAL_RECORD", "REFLECTION"])
@pytest.mark.parametrize("name", ["hypothesis_id", "lineage_id"])
def test_a_record_tells_of_its_own_debate(monkeypatch: pytest.MonkeyPatch, kind: str, name: str) -> None:
    index = of(kind)
    lines = altered(index, ("body", "record", name), "hyp_20260101_0000")
    assert (index + 1, "violation") in found(lines)
    monkeypatch.setattr(debate, "_check_subject", lambda state, record: None)
    assert (index + 1, "principle") in found(lines), "whatever the debate thinks of it"


@pytest.mark.parametrize(
    ("kind", "author", "path"),
    [
        ("CYCLE_TRIGGER", "timekeeper", ("body", "cycle_id")),
        ("HYPOTHESIS", "explorer", ("body", "hypothesis_id")),
        ("CAUSAL_RECORD", "evolver", ("body", "record", "record_id")),
        ("REFLECTION", "referee", ("body", "record", "record_id")),
        ("ESCALATION", "referee", ("body", "escalation_id")),
        ("ARCHITECTURE_PROPOSAL", "explorer", ("body", "proposals", 0, "change_id")),
    ],
)
def test_a_counted_id_is_the_next(kind: str, author: str, path: tuple[str | int, ...]) -> None:
    index = of(kind, author)
    place: Any = LINES[index]
    for part in path:
        place = place[part]
    assert (index + 1, "counted_id") in found(
        altered(index, path, f"{place[:-1]}{(int(place[-1]) + 1) % 10}")
    )


def test_an_id_of_another_form_is_left_to_who_chose_it() -> None:
    index = of("CAUSAL_RECORD")
    lines = altered(index, ("body", "record", "record_id"), "my own")
    assert (index + 1, "counted_id") not in found(lines)
