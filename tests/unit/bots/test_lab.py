"""The lab at the door: what runs of other processes tell is judged before it is said (K31)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from moot.bots.officers import timekeeper
from moot.bots.officers.lab import Lab
from moot.channels.bus import Receipt
from moot.channels.errors import Refused
from moot.config.settings import load_settings
from moot.door import Door
from moot.protocols.kernel.envelope import OFFICER, Actor, Draft, Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.people import Note, Stop
from moot.protocols.kernel.seats import ADMIN, LAB
from moot.protocols.lab.messages import ExperimentEnded, ExperimentStarted, Person
from tests.doubles.checking import findings
from tests.doubles.lab_table import EXPERIMENT, batch, ended, started
from tests.doubles.stage import Stage, play

ANN = Actor("human", "cli", "ann")
EVE = Actor("human", "discord", "eve")


def told(body: Message, by: Actor = ANN) -> Draft:
    """Return what a run sends."""
    return Draft(channel="#lab", author=LAB, body=body, actor=by, key="run/1")


def at_the_door(script: Callable[[Door, Stage], Awaitable[None]]) -> list[Envelope]:
    settings = load_settings().owned({"cli": "ann", "console": "owner"})

    async def run(stage: Stage) -> None:
        await script(Door(stage.host, settings), stage)

    return play({}, run, config={"admins": {"cli": ["ann"]}})


def of_lab(log: list[Envelope]) -> list[Envelope]:
    return [env for env in log if env.author == LAB]


def test_what_a_run_tells_is_said_by_the_officer_and_names_who_started_it() -> None:
    async def script(door: Door, stage: Stage) -> None:
        assert (await door.publish(told(started()))).status == "accepted"
        assert (await door.publish(told(batch(0)))).status == "accepted"
        await door.publish(told(ended(batch(0))))

    log = at_the_door(script)
    start, _, end = of_lab(log)
    assert start.actor == OFFICER
    assert start.case_id == EXPERIMENT
    assert isinstance(start.body, ExperimentStarted)
    assert start.body.started_by == Person(platform="cli", user_id="ann")
    assert end.body == ended(batch(0))
    assert findings(log) == []


def test_who_is_no_admin_has_nothing_said() -> None:
    async def script(door: Door, stage: Stage) -> None:
        with pytest.raises(Refused, match="no admin"):
            await door.publish(told(started(), EVE))
        with pytest.raises(Refused, match="guests are people"):
            await door.publish(told(started(), OFFICER))

    assert of_lab(at_the_door(script)) == []


@pytest.mark.parametrize(
    "body",
    [batch(1), batch(0, k_eligible=11), ended(stop_reason="lost"), started(), Note(text="x")],
)
def test_what_does_not_follow_is_refused_and_the_society_goes_on(body: Message) -> None:
    async def script(door: Door, stage: Stage) -> None:
        await door.publish(told(started()))
        before = len(of_lab(stage.log))
        if isinstance(body, ExperimentStarted):
            # The same again is no fault: it stands already.
            assert (await door.publish(told(body))).status == "duplicate"
        else:
            with pytest.raises(Refused):
                await door.publish(told(body))
        assert len(of_lab(stage.log)) == before
        await door.publish(told(batch(0)))

    log = at_the_door(script)
    assert len(of_lab(log)) == 2
    assert findings(log) == []


def test_a_batch_without_a_start_is_refused() -> None:
    async def script(door: Door, stage: Stage) -> None:
        with pytest.raises(Refused, match="no open case"):
            await door.publish(told(batch(0)))

    assert of_lab(at_the_door(script)) == []


def test_what_is_told_again_stands_once() -> None:
    async def script(door: Door, stage: Stage) -> None:
        await door.publish(told(started()))
        first = await door.publish(told(batch(0)))
        again = await door.publish(told(batch(0)))
        assert (again.status, again.seq) == ("duplicate", first.seq)
        await door.publish(told(ended(batch(0))))
        assert (await door.publish(told(batch(0)))).status == "duplicate"
        with pytest.raises(Refused, match="has ended"):
            await door.publish(told(batch(1)))

    assert len(of_lab(at_the_door(script))) == 3


def test_what_comes_at_the_same_moment_is_judged_one_after_the_other() -> None:
    async def script(door: Door, stage: Stage) -> None:
        async def slowly(draft: Draft) -> Receipt:
            # As a bus does that writes to a disk: others speak meanwhile.
            await stage.wait(seconds=1)
            return await stage.host.publish(draft)

        lab = Lab(stage.host.docket, slowly, stage.bus.seq_of, stage.clock.now)
        await lab.say(started(), ANN)
        found = await asyncio.gather(lab.say(ended(), ANN), lab.say(batch(0), ANN), return_exceptions=True)
        assert [isinstance(one, Violation) for one in found] == [False, True]

    log = at_the_door(script)
    assert [env.body.type for env in of_lab(log)] == ["EXPERIMENT_STARTED", "EXPERIMENT_ENDED"]
    assert findings(log) == []


def test_who_asked_may_be_gone_and_it_is_said_all_the_same() -> None:
    async def script(door: Door, stage: Stage) -> None:
        asked = asyncio.create_task(door.publish(told(started())))
        await asyncio.sleep(0)
        asked.cancel()
        await stage.wait(seconds=1)
        assert asked.cancelled()

    assert len(of_lab(at_the_door(script))) == 1


def test_the_end_says_who_stopped_it_without_the_run_knowing() -> None:
    async def script(door: Door, stage: Stage) -> None:
        await door.publish(told(started()))
        stop = Stop(scope=EXPERIMENT, why="enough")
        await door.publish(Draft(channel="#admin", author=ADMIN, body=stop, actor=ANN, key="s"))
        await stage.wait(seconds=1)
        await door.publish(told(ended()))

    log = at_the_door(script)
    end = of_lab(log)[-1].body
    assert isinstance(end, ExperimentEnded)
    assert end.stopped_by == Person(platform="cli", user_id="ann")
    assert findings(log) == []


def test_silence_is_as_long_on_the_wall_however_fast_the_society_ever_went() -> None:
    async def script(door: Door, stage: Stage) -> None:
        for n, speed in enumerate((120.0, 1.0)):
            now = stage.clock.now()
            await stage.post(timekeeper.clock_set(now, speed, False, "asked", n))
        await door.publish(told(started(silence_s=600)))
        await stage.wait(seconds=600 * 120 - 1)
        assert stage.host.docket.cases
        await stage.wait(seconds=2)

    log = at_the_door(script)
    start, end = of_lab(log)
    assert end.sent_at - start.sent_at == timedelta(seconds=600 * 120)
    assert end.body.model_dump()["stop_reason"] == "lost"
