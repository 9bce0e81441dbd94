"""Whatever the tables ask of the officers stands in the log in time (K5, K6, K9, K10, K16)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.kernel.times import parse_instant, rfc3339
from moot.protocols.research.seats import CRITIC, EXPLORER
from moot.verify import Report
from tests.doubles.full_life import SATURDAY, Life, full_life
from tests.doubles.tampering import Alteration, Lines, judged, read, rehashed, renumbered, stripped


def lived(hours: float, *, mute: tuple[Seat, ...] = (), **how: Any) -> Lines:
    """Return the log of a society in which some seats never speak."""
    log: list[Envelope] = []
    life = Life(log.append, **{"start": SATURDAY, "silence": 0.0, "faults": 0.0, **how})
    life.mute = set(mute)
    life.live(until=SATURDAY + timedelta(hours=hours))
    life.stop()
    return read("".join(env.line + "\n" for env in log))


def without(lines: Lines, *indices: int) -> Lines:
    """Return a log from which messages are gone without a trace but the rules'."""
    return rehashed(renumbered([line for n, line in enumerate(lines) if n not in indices]))


def place(lines: Lines, kind: str, n: int = 0, **fields: Any) -> int:
    """Find a message by type and body fields."""
    found = [
        index
        for index, line in enumerate(lines)
        if line["body"]["type"] == kind
        and all(line["body"].get(name) == value for name, value in fields.items())
    ]
    return found[n]


def whys(report: Report) -> list[str]:
    return [f"{found.invariant}: {found.why}" for found in report.findings]


SILENT_CRITIC = lived(5, mute=(CRITIC,))


@pytest.mark.parametrize("kind", ["TIMEOUT_PING", "RULING"])
def test_a_silence_without_ping_or_ruling_is_found(kind: str) -> None:
    report = judged(without(SILENT_CRITIC, place(SILENT_CRITIC, kind)))
    assert not report.ok
    assert any("TIMEOUT_PING" in why or "RULING" in why for why in whys(report))


def test_a_log_of_before_whose_late_reminder_left_less_than_the_grace_verifies() -> None:
    lines = lived(5, mute=(CRITIC,), clock="accelerated")
    at = place(lines, "TIMEOUT_PING")
    sent_at = parse_instant(lines[at]["sent_at"]) + timedelta(seconds=50)
    late = Alteration(at, ("sent_at",), rfc3339(sent_at)).apply(lines)
    assert judged(rehashed(late)).findings == ()


def test_a_silence_that_nobody_ever_ruled_on_is_found_when_the_log_ends() -> None:
    cut = place(SILENT_CRITIC, "TIMEOUT_PING")
    lines = [*SILENT_CRITIC[:cut], SILENT_CRITIC[-1]]
    report = judged(without(lines))
    assert any(why.startswith("settled: referee owed a TIMEOUT_PING (ping/hyp_") for why in whys(report))


@pytest.mark.parametrize("kind", ["REFLECTION", "AUDIT"])
def test_what_a_silence_is_remembered_by_is_owed(kind: str) -> None:
    index = place(SILENT_CRITIC, kind)
    report = judged(without(SILENT_CRITIC, index))
    cause = place(SILENT_CRITIC, "RULING") + 1
    assert (report.findings[0].seq, report.findings[0].invariant) == (cause, "settled")
    assert f"asks referee for a {kind}" in report.findings[0].why
    assert len(report.findings) <= 2


def test_a_violation_without_its_violation_is_found_at_its_own_seq() -> None:
    lines = lived(12, seed=4, faults=0.3)
    beside = place(lines, "VIOLATION")
    of_seq = lines[beside]["body"]["of_seq"]
    report = judged(without(lines, beside))

    assert (of_seq, "violation") in [(f.seq, f.invariant) for f in report.findings]
    assert any("it breaks a rule and no VIOLATION stands beside it" in why for why in whys(report))


def test_a_violation_of_nothing_is_found() -> None:
    lines = lived(12, seed=4, faults=0.3)
    beside = place(lines, "VIOLATION")
    innocent = place(lines, "RISK_ASSESSMENT")
    lines[beside]["body"]["of_seq"] = innocent + 1
    lines[beside]["id"] = f"violation/{innocent + 1}"
    report = judged(rehashed(lines))
    assert (beside + 1, "officer") in [(f.seq, f.invariant) for f in report.findings]


@pytest.mark.parametrize("mode", ["micro", "daily", "architecture"])
def test_a_due_cycle_that_never_came_is_found(mode: str) -> None:
    lines = lived(14)
    start = place(lines, "CYCLE_TRIGGER", mode=mode)
    cycle = lines[start]["body"]["cycle_id"]
    gone = [n for n, line in enumerate(lines) if cycle in (line["case_id"], line["body"].get("cycle_id"))]
    debates = {lines[n]["case_id"] for n in gone if lines[n]["body"]["type"] == "HYPOTHESIS"}
    gone += [n for n, line in enumerate(lines) if line["case_id"] in debates]
    report = judged(without(lines, *gone))
    assert any(f"timekeeper owed a CYCLE_TRIGGER ({mode}/" in why for why in whys(report))


def test_a_cycle_that_waits_for_another_is_not_missing() -> None:
    lines = lived(10, schedules={"daily": {"at": ["2026-02-28T10:10:00Z"]}, "micro": {"cron": "0 */2 * * *"}})
    assert "CYCLE_DEFERRED" in [line["body"]["type"] for line in lines]
    assert judged(lines).ok


# ---------------------------------------------------------------- patience


def delayed(lines: Lines, index: int, by: timedelta, *, only: bool = False) -> Lines:
    """Move a message, and unless only that what follows it, later."""
    moved = [dict(line) for line in lines]
    for n in range(index, index + 1 if only else len(moved)):
        moved[n]["sent_at"] = rfc3339(parse_instant(moved[n]["sent_at"]) + by)
    return rehashed(moved)


@pytest.mark.parametrize(
    ("clock", "speed", "late_s", "ok"),
    [
        ("virtual", 1.0, 0.9, True),
        ("virtual", 1.0, 1.1, False),
        ("real", 1.0, 59.0, True),
        ("real", 1.0, 61.0, False),
        ("accelerated", 120.0, 599.0, True),
        ("accelerated", 120.0, 601.0, False),
    ],
)
def test_officers_may_be_late_by_a_minute_or_five_wall_seconds(
    clock: str, speed: float, late_s: float, ok: bool
) -> None:
    cut = place(SILENT_CRITIC, "TIMEOUT_PING")
    lines = [dict(line) for line in SILENT_CRITIC[: cut + 1]]
    lines[0] = {**lines[0], "body": {**lines[0]["body"], "clock": clock, "speed": speed}}
    assert judged(delayed(lines, cut, timedelta(seconds=late_s))).ok is ok


@pytest.mark.rule("R-D17")
@pytest.mark.parametrize(("late_s", "ok"), [(30.0, True), (59.0, True), (61.0, False)])
def test_r_d17_a_cycle_that_waited_is_due_from_the_end_of_what_it_waited_for(late_s: float, ok: bool) -> None:
    """Its nominal instant is long ago by then; the patience with the timekeeper begins at the end."""
    lines = lived(10, schedules={"daily": {"at": ["2026-02-28T10:10:00Z"]}, "micro": {"cron": "0 */2 * * *"}})
    cut = place(lines, "CYCLE_TRIGGER", mode="daily")
    nominal = parse_instant(lines[cut]["body"]["nominal_at"])
    assert parse_instant(lines[cut]["sent_at"]) - nominal > timedelta(minutes=5)
    lines = lines[: cut + 1]
    lines[0] = {**lines[0], "body": {**lines[0]["body"], "clock": "real", "speed": 1.0}}
    lines = delayed(lines, cut, timedelta(seconds=late_s))
    cycle_id = f"cycle_{parse_instant(lines[cut]['sent_at']):%Y%m%d_%H%M}"
    lines[cut].update(case_id=cycle_id, body={**lines[cut]["body"], "cycle_id": cycle_id})
    report = judged(rehashed(lines))
    assert report.ok is ok, whys(report)
    assert ok or any("timekeeper owed a CYCLE_TRIGGER (daily/" in why for why in whys(report))


def test_an_outage_is_nobodys_silence() -> None:
    log: list[Envelope] = []
    life = Life(log.append, start=SATURDAY, silence=0.0, faults=0.0, clock="real")
    life.mute = {CRITIC}
    life.live(until=SATURDAY + timedelta(hours=1, minutes=15))
    life.stop()
    life.now += timedelta(hours=9)
    life.start()
    life.live(until=life.now + timedelta(hours=3))
    life.stop()
    lines = read("".join(env.line + "\n" for env in log))

    assert "CYCLE_SKIPPED" in [line["body"]["type"] for line in lines]
    assert judged(lines).ok


def test_missed_slots_of_an_outage_must_be_named() -> None:
    log: list[Envelope] = []
    life = Life(log.append, start=SATURDAY, silence=0.0, faults=0.0, clock="real")
    life.live(until=SATURDAY + timedelta(hours=3))
    life.stop()
    life.now += timedelta(hours=9)
    life.start()
    life.live(until=life.now + timedelta(hours=3))
    life.stop()
    lines = read("".join(env.line + "\n" for env in log))
    report = judged(without(lines, place(lines, "CYCLE_SKIPPED", n=-1, reason="outage")))
    assert not report.ok


# ---------------------------------------------------------------- escalations

ALARM = lived(30, mute=(EXPLORER, ADMIN))


def test_an_escalation_that_its_trigger_asks_for_is_owed() -> None:
    raised = place(ALARM, "ESCALATION")
    lines = ALARM[:raised] + [
        line for line in ALARM[raised + 1 :] if line["case_id"] != ALARM[raised]["case_id"]
    ]
    assert any("ESCALATION" in why for why in whys(judged(without(lines))))


@pytest.mark.parametrize("kind", ["ESCALATION_PAGED", "ESCALATION_RESOLVED"])
def test_pages_and_ends_of_escalations_are_owed(kind: str) -> None:
    report = judged(without(ALARM, place(ALARM, kind)))
    assert any(kind in why for why in whys(report))


def test_an_escalation_without_a_trigger_is_found() -> None:
    raised = place(ALARM, "ESCALATION")
    copy = {**ALARM[raised], "id": "escalation/timeouts/critic/1"}
    copy["body"] = {**copy["body"], "subject": "critic", "escalation_id": copy["case_id"] + "_2"}
    copy["case_id"] = copy["body"]["escalation_id"]
    lines = rehashed(renumbered([*ALARM[: raised + 1], copy, *ALARM[raised + 1 :]]))
    assert (raised + 2, "officer") in [(f.seq, f.invariant) for f in judged(lines).findings]


def test_a_fast_clock_gives_no_leave_to_a_violation_that_nobody_names() -> None:
    """At 100,000x officers may be days late by the clock, but not after 64 messages."""
    lines = read("".join(env.line + "\n" for env in full_life()))
    named = next(
        n for n, line in enumerate(lines) if line["body"]["type"] == "VIOLATION" and len(lines) - n > 80
    )
    at = lines[named]["body"]["of_seq"]
    lines = without(lines, named)
    for line in lines:
        if line["body"]["type"] == "SOCIETY_STARTED":
            line["body"] |= {"clock": "accelerated", "speed": 100_000.0}
    report = judged(stripped(lines))
    assert (at, "violation") in {(found.seq, found.invariant) for found in report.findings}
    assert any("time runs at 100,000x" in remark.why for remark in report.warnings)
