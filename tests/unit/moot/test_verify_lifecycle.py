"""The society's life and clock by its log: K4, K6, K7, R-E5, and what viewers may do."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.officers import ClockSet
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN, VIEWER, Seat
from moot.protocols.kernel.times import rfc3339
from moot.verify import Report
from tests.doubles.full_life import SATURDAY, Life
from tests.doubles.tampering import Lines, judged, read, rehashed, renumbered


class Story:
    """A society without cycles, whose log is judged at its end."""

    def __init__(self, **how: Any) -> None:
        self.log: list[Envelope] = []
        self.life = Life(self.log.append, start=SATURDAY, **{"schedules": {}, **how})

    def wait(self, **delta: float) -> None:
        self.life.now += timedelta(**delta)

    def note(self, seat: Seat = ADMIN, channel: str = "#a-arena", actor: Actor | None = None) -> Envelope:
        draft = Draft(
            channel=channel,
            author=seat,
            actor=actor or Actor("human", "test", "ann" if seat == ADMIN else "eve"),
            body=Note(text="hm"),
            key=f"note/{self.life.seq}",
        )
        env = self.life.publish(draft)
        assert env is not None
        return env

    def set_clock(self, at: datetime, speed: float = 1.0, *, paused: bool = False) -> None:
        body = ClockSet(society_at=at, speed=speed, paused=paused, reason="asked")
        self.life.timekeeper(body, f"clock/{rfc3339(at)}/{self.life.seq}")

    def lines(self) -> Lines:
        return read("".join(env.line + "\n" for env in self.log))

    def judged(self) -> Report:
        return judged(self.lines())

    def findings(self) -> list[tuple[int, str, str]]:
        return [(found.seq, found.invariant, found.rule) for found in self.judged().findings]


def test_a_society_that_starts_stops_and_starts_again_verifies() -> None:
    story = Story()
    story.note()
    story.life.stop()
    story.wait(hours=5)
    story.life.start()
    story.note()
    story.life.stop()
    assert story.findings() == []


def test_a_crash_leaves_no_stop_and_verifies() -> None:
    story = Story(clock="real")
    story.note()
    story.wait(hours=5)
    story.life.start()
    assert story.findings() == []


def test_a_log_is_of_one_society() -> None:
    story = Story()
    story.life.stop()
    story.life.start(society_id="another")
    assert story.findings() == [(3, "lifecycle", "K4")]


def test_a_log_begins_with_society_started() -> None:
    story = Story()
    story.note()
    lines = rehashed(renumbered(story.lines()[1:]))
    assert [(f.seq, f.rule) for f in judged(lines).findings] == [(1, "K4")]


def test_an_empty_log_is_none() -> None:
    report = judged([])
    assert [(f.seq, f.line, f.rule) for f in report.findings] == [(1, 0, "K4")]
    assert report.messages == 0


def test_nothing_is_said_while_the_society_is_stopped() -> None:
    story = Story()
    story.life.stop()
    story.note()
    assert story.findings() == [(3, "lifecycle", "K6")]


def test_a_society_does_not_stop_twice() -> None:
    story = Story()
    story.life.stop()
    story.life.stop()
    assert story.findings() == [(3, "lifecycle", "K6")]


@pytest.mark.parametrize("last_seq", [0, 2, 4])
def test_the_stop_names_the_message_before_it(last_seq: int) -> None:
    story = Story()
    story.note()
    story.life.stop()
    lines = story.lines()
    lines[2]["body"]["last_seq"] = last_seq
    assert [(f.seq, f.rule) for f in judged(rehashed(lines)).findings] == (
        [(3, "K6")] if last_seq != 2 else []
    )


def test_rules_of_another_version_are_not_judged_by_these() -> None:
    story = Story()
    lines = story.lines()
    lines[0]["body"]["rules_version"] = "1"
    assert "K4" in [f.rule for f in judged(rehashed(lines)).findings]


def test_a_log_of_schema_version_1_verifies_by_the_bytes_that_it_has() -> None:
    lines = [json.loads(json.dumps(line, sort_keys=True)) for line in Story().lines()]
    for line in lines:
        line["v"] = 1
    assert not judged(rehashed(lines)).findings


@pytest.mark.parametrize("n", [0, 1, -1])
def test_a_message_of_another_schema_version_than_its_stretch_is_named(n: int) -> None:
    story = Story()
    story.note()
    story.note()
    lines = story.lines()
    lines[n]["v"] = 1
    found = [f.why for f in judged(rehashed(lines)).findings]
    assert [why for why in found if why.startswith("v: ")], found


def test_a_start_may_raise_the_schema_version() -> None:
    story = Story()
    story.life.stop()
    story.life.start()
    lines = story.lines()
    for line in lines[:-1]:
        line["v"] = 1
    assert lines[-1]["body"]["type"] == "SOCIETY_STARTED"
    assert not judged(rehashed(lines)).findings


# ---------------------------------------------------------------- clocks


def test_accelerated_time_goes_on_where_it_was() -> None:
    story = Story(clock="accelerated")
    story.life.stop()
    story.life.start()
    assert story.findings() == []

    story.life.stop()
    story.wait(hours=1)
    story.life.start()
    assert story.findings() == [(5, "clock", "K7")]


def test_real_time_may_have_passed_while_it_was_down() -> None:
    story = Story(clock="real")
    story.life.stop()
    story.wait(days=3)
    story.life.start()
    assert story.findings() == []


def test_clock_set_names_the_instant_at_which_it_is_sent() -> None:
    story = Story(clock="accelerated")
    story.wait(hours=1)
    story.set_clock(story.life.now, 120.0)
    story.wait(minutes=9)
    story.set_clock(story.life.now - timedelta(minutes=9), 1.0)
    assert story.findings() == []

    story.set_clock(story.life.now - timedelta(minutes=11), 1.0)
    assert story.findings() == [(4, "clock", "K7")]


def test_virtual_time_has_no_pace() -> None:
    story = Story(clock="virtual")
    story.set_clock(story.life.now, 2.0)
    assert story.findings() == [(2, "clock", "K7")]


@pytest.mark.parametrize(
    ("clock", "speed", "paused", "ok"),
    [
        ("real", 1.0, False, True),
        ("real", 2.0, False, False),
        ("real", 1.0, True, False),
        ("accelerated", 120.0, True, True),
        ("accelerated", 0.0, False, False),
        ("accelerated", 100_001.0, False, False),
        ("virtual", 1.0, True, False),
    ],
)
def test_a_clock_has_the_pace_of_its_kind(clock: str, speed: float, paused: bool, ok: bool) -> None:
    lines = Story().lines()
    lines[0]["body"].update(clock=clock, speed=speed, paused=paused)
    assert judged(rehashed(lines)).ok is ok


def test_time_that_passes_while_it_is_paused_is_a_warning_for_it_may_be_a_step() -> None:
    story = Story(clock="accelerated")
    story.set_clock(story.life.now, 120.0, paused=True)
    story.note()
    assert story.judged().warnings == ()
    story.wait(minutes=20)
    story.note()
    story.note()

    report = story.judged()
    assert report.ok
    assert [(w.seq, w.messages) for w in report.warnings if "paused" in w.why] == [(4, 1)]


# ---------------------------------------------------------------- who may


def test_viewers_write_where_the_configuration_lets_them() -> None:
    story = Story()
    story.note(VIEWER, "#a-arena")
    assert story.findings() == []

    lines = story.lines()
    lines[0]["body"]["config"]["viewers"] = {"reads": ["*"], "writes": ["#lab"]}
    assert [(f.seq, f.invariant) for f in judged(rehashed(lines)).findings] == [(2, "permission")]

    lines[0]["body"]["config"]["viewers"] = {"reads": ["*"], "writes": ["*"]}
    lines[1]["channel"] = "#admin"
    assert judged(rehashed(lines)).ok


def test_admins_are_those_whom_the_configuration_lists() -> None:
    story = Story()
    story.note(actor=Actor("human", "discord", "42"))
    story.note(actor=Actor("human", "cli", "owner"))
    lines = story.lines()
    lines[0]["body"]["config"]["admins"] = {"discord": ["42"], "cli": ["owner"]}
    assert judged(rehashed(lines)).ok

    both = {"discord": ["43"], "cli": ["owner"]}
    for admins in (both, {"cli": ["42", "owner"]}, {"discord": "42", "cli": ["owner"]}):
        lines[0]["body"]["config"]["admins"] = admins
        assert [(f.seq, f.rule) for f in judged(rehashed(lines)).findings] == [(2, "R-E5")]
    for nobody in ({}, 7):
        lines[0]["body"]["config"]["admins"] = nobody
        assert [(f.seq, f.rule) for f in judged(rehashed(lines)).findings] == [(2, "R-E5"), (3, "R-E5")]


def test_a_note_is_not_put_into_the_mouth_of_somebody_of_other_rights() -> None:
    story = Story()
    ann, eve = Actor("human", "discord", "ann"), Actor("human", "discord", "eve")
    story.note(actor=ann)
    story.note(VIEWER, "#a-arena", actor=eve)
    lines = story.lines()
    lines[0]["body"]["config"]["admins"] = {"discord": ["ann"]}
    assert judged(rehashed(lines)).ok

    for seq, actor in ((2, eve), (3, ann)):
        mine = dict(lines[seq - 1])
        lines[seq - 1]["actor"] = actor.as_json()
        assert [(f.seq, f.rule) for f in judged(rehashed(lines)).findings] == [(seq, "R-E5")]
        lines[seq - 1] = mine


@pytest.mark.parametrize("platform", ["simulated", "scene"])
@pytest.mark.parametrize(("clock", "ok"), [("virtual", True), ("accelerated", False), ("real", False)])
def test_the_admin_is_simulated_in_virtual_time_only(platform: str, clock: str, ok: bool) -> None:
    story = Story()
    story.note(actor=Actor("human", platform, "admin"))
    lines = story.lines()
    lines[0]["body"]["clock"] = clock
    assert judged(rehashed(lines)).ok is ok


def test_an_impossible_configuration_is_a_finding_not_a_crash() -> None:
    lines = Story().lines()
    for config in ({"schedules": 7}, {"schedules": {"micro": {"cron": "x"}}}, {"viewers": 7, "admins": 7}):
        lines[0]["body"]["config"] = config
        report = judged(rehashed(lines))
        assert report.ok is ("viewers" in config)
