"""Motions in `moot verify`: what the table would have refused is found, however the hashes were mended."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.motion_table import MotionTable
from tests.doubles.tampering import Lines, judged, read, rehashed, stripped, write


def upheld() -> MotionTable:
    """Return a motion whose claim was upheld, with an objection that stands."""
    table = MotionTable(options=("Rome", "Oslo", "Paris"), context_ref="work/0123")
    table.claim("Rome")
    table.object("minor", "fatal")
    table.reply(2, conceded=(1,))
    table.object("minor")
    table.reply(3)
    table.judge(for_score=0.6, against_score=0.5)
    return table


def extended() -> MotionTable:
    table = MotionTable()
    table.two_rounds()
    table.extend()
    table.object("major")
    table.reply()
    table.judge("UNDECIDED", confidence=0.5)
    return table


def refused() -> MotionTable:
    """Return a motion of which a judgment was refused."""
    table = MotionTable()
    table.claim()
    table.object("fatal")
    table.reply()
    table.object()
    table.judge()
    table.judge("REJECTED", option="no")
    return table


def silent(minutes: int) -> Callable[[], MotionTable]:
    def made() -> MotionTable:
        table = MotionTable()
        table.wait(minutes=minutes)
        if minutes < 30:
            table.two_rounds()
            table.wait(minutes=31)
        return table

    return made


def stopped() -> MotionTable:
    table = MotionTable()
    table.claim()
    table.say(ADMIN, Stop(scope=table.motion_id, why="enough"), channel="#admin")
    return table


MOTIONS: dict[str, Callable[[], MotionTable]] = {
    "upheld": upheld,
    "extended": extended,
    "refused": refused,
    "no claim": silent(31),
    "no judgment": silent(5),
    "stopped": stopped,
}


def lines_of(table: MotionTable) -> Lines:
    """Stop the society an hour later: by then every VIOLATION that is owed must stand."""
    table.wait(hours=1)
    table.stop()
    return read("".join(env.line + "\n" for env in table.log))


@pytest.mark.parametrize("name", sorted(MOTIONS))
def test_every_way_a_motion_can_end_verifies(name: str) -> None:
    table = MOTIONS[name]()
    assert table.motion_id in table.docket.ended
    report = judged(lines_of(table))
    assert report.ok, report.findings


def set_to(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda body: body.update(fields)


def in_first(name: str, **fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda body: body[name][0].update(fields)


@pytest.mark.parametrize("hide", [rehashed, stripped], ids=["rehashed", "stripped"])
@pytest.mark.parametrize(
    ("name", "kind", "n", "change"),
    [
        ("upheld", "MOTION", 0, set_to(options=["Oslo", "Paris"])),
        ("upheld", "CLAIM", 0, set_to(option="Oslo")),
        ("upheld", "OBJECTIONS", 0, in_first("objections", number=2)),
        ("upheld", "OBJECTIONS", 0, in_first("objections", severity="fatal")),
        ("upheld", "OBJECTIONS", 1, set_to(objections=[])),
        ("upheld", "REPLIES", 0, set_to(replies=[])),
        ("upheld", "REPLIES", 0, in_first("replies", concede=True, answer="")),
        ("upheld", "JUDGMENT", 0, set_to(standing=[])),
        ("upheld", "JUDGMENT", 0, set_to(standing=[1, 2])),
        ("upheld", "JUDGMENT", 0, set_to(confidence=0.59)),
        ("upheld", "JUDGMENT", 0, set_to(for_score=0.54)),
        ("upheld", "JUDGMENT", 0, set_to(outcome="REJECTED")),
        ("upheld", "JUDGMENT", 0, set_to(outcome="UNDECIDED")),
        ("extended", "EXTEND_MOTION", 0, set_to(for_score=0.8)),
        ("extended", "JUDGMENT", 0, set_to(outcome="UPHELD", option="yes")),
        ("refused", "JUDGMENT", 0, set_to(outcome="UNDECIDED", option="")),
        ("refused", "JUDGMENT", 1, set_to(outcome="UPHELD", option="yes")),
        ("no claim", "RULING", 0, set_to(outcome="REJECT")),
    ],
)
def test_what_the_table_would_have_refused_is_found(
    name: str, kind: str, n: int, change: Callable[[dict[str, Any]], None], hide: Callable[[Lines], Lines]
) -> None:
    lines = lines_of(MOTIONS[name]())
    at = [i for i, line in enumerate(lines) if line["body"]["type"] == kind][n]
    lines[at] = copy.deepcopy(lines[at])
    change(lines[at]["body"])
    found = {one.seq for one in judged(hide(lines), max_findings=50).findings}
    assert any(seq > at for seq in found), found


def test_a_changed_judgment_with_old_hashes_is_found_where_it_stands() -> None:
    lines = lines_of(upheld())
    at = next(i for i, line in enumerate(lines) if line["body"]["type"] == "JUDGMENT")
    lines[at] = copy.deepcopy(lines[at])
    lines[at]["body"]["reasoning"] = "Because."
    assert judged(write(lines)).findings[0].seq == at + 1
