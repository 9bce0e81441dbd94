"""A rehearsal: things go wrong on purpose at the ports of a living society, the log says what, and keeps the rules."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest

from moot.bots.models.transport import Errand, Sent
from moot.channels.bus import Receipt
from moot.channels.errors import BusClosed
from moot.chaos.door import StruckDoor
from moot.chaos.faults import CUT, FAULTS
from moot.chaos.judge import judge
from moot.chaos.live import Rehearsal, happens_of_itself, standing
from moot.chaos.models import ScriptedModels, in_use
from moot.chaos.plan import Spell
from moot.chaos.striking import Striking
from moot.clock import VirtualClock
from moot.config.settings import load_settings
from moot.console.pace import SocietyClock
from moot.console.page.views import clock_of
from moot.feed import status
from moot.model_start import ModelSeats
from moot.patience import Patience
from moot.plan import Past, Plan
from moot.ports import Posting, Rehearsed
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.minds import REHEARSAL
from moot.protocols.kernel.officers import ON_PURPOSE
from moot.reception import Reception
from moot.society import Society
from moot.stored import last_sent_at, stored_envelopes
from tests.doubles.command_line import data, done, moot
from tests.doubles.table import START

RATE = 0.2


def rehearse(
    past: Past, hours: float, ports: Rehearsal | None, *, rehearsal: float | None = RATE, **over: Any
) -> list[bool]:
    """Live for some hours of the past's society, in virtual time; return when the gateway was cut off or let in."""
    cuts: list[bool] = []
    settings = load_settings(**over)
    given = {} if ports is None else {"ports": ports}
    at = past.entries[-1].envelope.sent_at if past.entries else START
    plan = Plan(settings=settings, seed=1, start=at, society_id="s", past=past, rehearsal=rehearsal, **given)

    async def main(clock: VirtualClock) -> None:
        society = await Society.open(plan, clock)
        beside = asyncio.create_task(plan.ports.beside(society.host, cuts.append))
        await clock.sleep(timedelta(hours=hours))
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)
        await society.abandon()

    VirtualClock(at).run(main)
    return cuts


def told(past: Past) -> list[Any]:
    """Return what the log says was made to go wrong."""
    bodies: list[Any] = [entry.envelope.body for entry in past.entries]
    return [body for body in bodies if body.type == "AUDIT" and body.event == ON_PURPOSE]


def found(past: Past) -> list[Any]:
    return judge([entry.envelope for entry in past.entries], {}, evidence=False)[0]


def test_the_faults_of_a_rehearsal_share_its_rate_where_they_meet_the_same_occasions() -> None:
    spells = list(standing(0.02))
    assert {one.fault for one in spells} == {
        f"{kind}.{name}" for kind, rows in FAULTS.items() for name, row in rows.items() if row.live
    }
    shares = Counter[tuple[str, bool]]()
    for one in spells:
        shares[one.kind, happens_of_itself(one.fault)] += one.rate  # type: ignore[assignment]
    assert {"bots", "models", "store", "transport"} == {kind for kind, _ in shares}
    assert all(share == pytest.approx(0.02) for share in shares.values())


def test_what_is_made_to_go_wrong_stands_in_the_log_which_keeps_the_rules(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    past = Past()
    cuts = rehearse(past, 12.0, Rehearsal(1, RATE))
    assert past.entries[0].envelope.body.model_dump()["rehearsal"] == RATE
    said = {body.reason.partition(":")[0] for body in told(past)}
    assert {FAULTS["bots"]["dies"].live, FAULTS["bots"]["slow"].live, FAULTS["store"]["error"].live} <= said
    assert cuts[:2] == [True, False], "the gateway is let in again"
    assert sum(FAULTS["transport"]["cut"].live.startswith(one) for one in said) == 1
    assert not found(past)
    assert "mind failed" not in caplog.text + capsys.readouterr().out, "who dies on purpose is no error"


def test_a_rehearsal_that_was_killed_goes_on_and_its_log_keeps_the_rules(tmp_path: Path) -> None:
    """On files, where what was durable is what is there."""
    seen: list[int] = []
    for _ in range(3):
        at = last_sent_at(tmp_path) or START
        plan = Plan(
            settings=load_settings(),
            seed=1,
            start=at,
            directory=tmp_path,
            bus="sqlite",
            rehearsal=RATE,
            ports=Rehearsal(1, RATE),
        )

        async def main(clock: VirtualClock, plan: Plan = plan) -> None:
            society = await Society.open(plan, clock)
            beside = asyncio.create_task(plan.ports.beside(society.host, lambda _is_cut: None))
            await clock.sleep(timedelta(hours=2, minutes=11))
            await society.abandon()
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)

        VirtualClock(at).run(main)
        seen.append(done("log", tmp_path).count("records rehearsed fault"))
    assert 0 < seen[0] < seen[1] < seen[2]
    assert "every rule holds" in done("verify", tmp_path)


def test_a_cut_in_which_it_was_killed_is_over_when_it_comes_back() -> None:
    past = Past()
    rehearse(past, 0.25, Rehearsal(1, 1.0), rehearsal=1.0)

    def cuts() -> list[str]:
        live, over = FAULTS["transport"]["cut"].live, "it is over: the gateway is let in again"
        return [body.reason for body in told(past) if body.reason in (live, over)]

    (began,) = cuts()
    rehearse(past, 0.1, Rehearsal(1, 0.0), rehearsal=0.0)
    assert cuts()[0] == began != cuts()[1]
    rehearse(past, 0.1, Rehearsal(1, 0.0), rehearsal=0.0)
    assert len(cuts()) == 2, "once"
    assert not found(past)


def test_without_faults_it_stays_a_rehearsal_and_nothing_goes_wrong() -> None:
    past = Past()
    rehearse(past, 1.0, Rehearsal(1, RATE))
    before = len(told(past))
    rehearse(past, 6.0, Rehearsal(1, 0.0), rehearsal=0.0)
    assert len(told(past)) == before
    assert not found(past)


@pytest.mark.parametrize(("first", "then"), [(None, 0.02), (0.02, None)])
def test_no_log_becomes_a_rehearsals_or_ceases_to_be_one(first: float | None, then: float | None) -> None:
    past = Past()
    rehearse(past, 0.1, None, rehearsal=first)
    with pytest.raises((OfficerFault, BusClosed), match="rehearsal"):
        rehearse(past, 0.1, None, rehearsal=then)


def test_whoever_looks_is_told_that_it_is_a_rehearsal(tmp_path: Path) -> None:
    plan = Plan(
        settings=load_settings(),
        seed=1,
        start=START,
        directory=tmp_path,
        bus="sqlite",
        rehearsal=0.25,
        ports=Rehearsal(1, 0.25),
    )

    async def main(clock: VirtualClock) -> None:
        async with await Society.open(plan, clock) as society:
            beside = asyncio.create_task(plan.ports.beside(society.host, lambda _is_cut: None))
            await clock.sleep(timedelta(hours=3))
            assert f"| {REHEARSAL} |" in status(society, 400).plain
            patience = Patience(society, wall_s=1.0)
            answer = await Reception(society.host, patience).ask("status", {})
            await patience.close()
            assert answer.startswith("A rehearsal: ")
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)

    VirtualClock(START).run(main)
    assert data("status", tmp_path)["rehearsal"] == 0.25
    assert "rehearsal     25 % of occasions are made to go wrong; moot log" in done("status", tmp_path)
    assert moot("positions", tmp_path).stderr.startswith(
        "a rehearsal: things are made to go wrong on purpose"
    )
    lines = done("log", tmp_path).splitlines()
    assert len(lines) > 20
    assert all("(rehearsal" in line for line in lines)
    assert "; a rehearsal: 25 % of occasions are made to go wrong" in lines[0]
    assert any("records rehearsed fault by the" in line for line in lines)
    assert "every rule holds" in done("verify", tmp_path)

    clock = SocietyClock(lambda: 0.0, lambda: 0)
    clock.take(next(iter(stored_envelopes(tmp_path))))
    assert clock_of(clock.now(is_running=True, limit=None))["rehearsal"] is True


class _Sound(ScriptedModels):
    """Models that a script answers for, soundly, and which note who asked."""

    asked: ClassVar[list[str]] = []

    def send(self, errand: Errand) -> Future[Sent]:
        self.asked.append(errand.call_id)
        return super().send(errand)


class _Modelled(Rehearsal):
    """A rehearsal with models."""

    def models(self, seats: ModelSeats) -> Rehearsed:
        models = in_use(seats)
        return models, lambda bodies: _Sound(models, bodies, Striking(1, (), lambda: 0.0))


def test_models_refuse_on_purpose_and_are_asked_otherwise() -> None:
    past = Past()
    _Sound.asked.clear()
    settings = {"url": "http://127.0.0.1:9/v1", "model": "tiny-1", "price": {"input": 1.0, "output": 2.0}}
    minds = {"critic": {"model": "tiny"}, "evolver": {"model": "tiny"}}
    rehearse(past, 12.0, _Modelled(1, 0.5, minds), rehearsal=0.5, models={"tiny": settings}, minds=minds)
    rows = {row.live for row in FAULTS["models"].values()}
    struck = {call for what, _, call in (body.reason.partition(": ") for body in told(past)) if what in rows}
    settled = {
        entry.envelope.body.model_dump()["call_id"]
        for entry in past.entries
        if entry.envelope.body.type == "CALL_SETTLED"
    }
    assert struck and _Sound.asked
    assert struck.isdisjoint(_Sound.asked), "nobody is asked about what is struck"
    assert settled <= struck.union(_Sound.asked)
    assert not found(past)


class _Door(Posting):
    """A door that notes what comes, and when."""

    def __init__(self, clock: VirtualClock) -> None:
        self.came: list[float] = []
        self._clock = clock

    async def publish(self, draft: Draft) -> Receipt:
        raise NotImplementedError

    async def publish_json(self, draft: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        self.came.append((self._clock.now() - START).total_seconds())
        return {"status": "accepted", "key": key}


def test_what_people_post_comes_late_or_twice_and_at_once_when_the_society_ends() -> None:
    def struck(fault: str, *, is_over: bool = False) -> list[float]:
        spells = [Spell(n=0, fault=fault, at_s=0.0, for_s=60.0, size=600.0)]

        async def main(clock: VirtualClock) -> list[float]:
            behind = _Door(clock)
            door = StruckDoor(behind, Striking(1, spells, lambda: 0.0))
            if is_over:
                door.hurry()
            assert (await door.publish_json({}, "k"))["status"] == "accepted"
            return behind.came

        return VirtualClock(START).run(main)

    assert struck("transport.twice") == [0.0, 0.0]
    assert struck("transport.late")[0] > 1.0
    assert struck("transport.late", is_over=True) == [0.0]
    assert struck(CUT) == [0.0], "the gateway's socket is cut, not the door"
