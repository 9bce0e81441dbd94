"""Patience: an accelerated society waits at 1x while a person owes, for a bounded time, and says so (K7, K8)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from moot.clock import PacedClock
from moot.config.settings import load_settings
from moot.control import control_clock
from moot.patience import Patience
from moot.plan import Plan
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.people import SeatReleased, SeatTaken
from moot.protocols.kernel.seats import ADMIN, TIMEKEEPER, Seat
from moot.protocols.research.seats import EXPLORER
from moot.society import Society
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.table import START
from tests.doubles.waiting import until

FULL = 3600.0
"""An hour a wall second: the first debate opens in no time."""
ANN = Actor("human", "test", "ann")
ANN_SITS = "ann in the seat of the Explorer"
MINDS = {"explorer": "silent", "critic": "silent", "evolver": "silent"}


def live(
    script: Callable[[Society, Patience], Awaitable[None]], *, wall_s: float = 600.0, speed: float = FULL
) -> list[Envelope]:
    """Let a society of silent minds live on a paced clock, and return its log."""
    log: list[Envelope] = []

    async def main(clock: PacedClock) -> None:
        plan = Plan(settings=load_settings(minds=MINDS), seed=1, start=START)
        async with await Society.open(plan, clock, listener=lambda env, _fx: log.append(env)) as society:
            patience = Patience(society, wall_s=wall_s)
            try:
                await script(society, patience)
            finally:
                await patience.close()

    PacedClock(START, speed).run(main)
    return log


def person(body: Message, key: str) -> Draft:
    return Draft(channel="#admin", author=ADMIN, body=body, actor=ANN, key=key)


async def take(society: Society, seat: str = "explorer", key: str = "take") -> None:
    await society.host.publish(person(SeatTaken(seat=seat, user_id="ann", reason="mine"), key))


async def release(society: Society, key: str = "release") -> None:
    await society.host.publish(person(SeatReleased(seat="explorer", user_id="ann", reason="done"), key))


async def reached(condition: Callable[[], object]) -> None:
    """Wait, whatever the clock's speed: the loop turns, time hardly counts."""
    await until(condition, within_s=3600 * 12, look_s=0.01)


def owes(society: Society, seat: Seat = EXPLORER) -> Any:
    return next(iter(society.host.docket.owed_by(seat)), None)


def clock_sets(log: list[Envelope]) -> list[tuple[float, str]]:
    return [(env.body.speed, env.body.reason) for env in log if env.body.type == "CLOCK_SET"]  # type: ignore[attr-defined]


@pytest.mark.rule("K8")
def test_k8_the_clock_drops_to_1x_while_a_taken_seat_owes_and_goes_on_after_the_answer() -> None:
    async def script(society: Society, patience: Patience) -> None:
        await reached(lambda: owes(society))
        await take(society)
        await reached(lambda: society.clock.speed == 1.0)
        assert patience.is_waiting
        owed = owes(society)
        view = await society.host.view(EXPLORER, owed)
        assert view is not None
        draft = society.host.answer_draft(view, bodies.hypothesis(owed.case_id))
        assert draft is not None
        await society.host.publish(replace(draft, actor=ANN))
        await reached(lambda: society.clock.speed == FULL)
        assert not patience.is_waiting

    log = live(script)
    assert clock_sets(log) == [
        (1.0, f"waiting for {ANN_SITS}, 10 min at most"),
        (FULL, "nobody is waited for"),
    ]


@pytest.mark.rule("K7", "K8")
def test_k7_k8_every_change_of_pace_is_a_message_of_the_timekeeper_and_time_does_not_jump() -> None:
    async def script(society: Society, patience: Patience) -> None:
        await reached(lambda: owes(society))
        await take(society)
        await reached(lambda: society.host.docket.context.speed == 1.0)
        await release(society)
        await reached(lambda: society.host.docket.context.speed == FULL)

    sets = [env for env in live(script) if env.body.type == "CLOCK_SET"]
    assert len(sets) == 2
    for env in sets:
        assert (env.author, env.channel) == (TIMEKEEPER, "#admin")
        assert abs((env.sent_at - env.body.society_at).total_seconds()) < FULL  # type: ignore[attr-defined]


@pytest.mark.rule("K8")
def test_k8_patience_ends_after_the_configured_wall_time_and_is_not_had_again_for_the_same_debt() -> None:
    async def script(society: Society, patience: Patience) -> None:
        await reached(lambda: owes(society))
        await take(society)
        await reached(lambda: society.clock.speed == 1.0)
        started = asyncio.get_running_loop().time()
        await reached(lambda: society.clock.speed == FULL)
        assert asyncio.get_running_loop().time() - started < 600
        patience.hold_open("no such escalation", True)
        await asyncio.sleep(60)
        assert society.clock.speed == FULL

    assert clock_sets(live(script, wall_s=0.2)) == [
        (1.0, "waiting for ann in the seat of the Explorer, 0.2 s at most"),
        (FULL, "waited 0.2 s for a person"),
    ]


@pytest.mark.rule("K8")
def test_k8_a_wall_time_of_zero_waits_for_nobody() -> None:
    async def script(society: Society, _patience: Patience) -> None:
        await reached(lambda: owes(society))
        await take(society)
        await asyncio.sleep(60)

    assert clock_sets(live(script, wall_s=0)) == []


@pytest.mark.rule("K8")
def test_k8_an_escalation_held_open_on_a_page_is_waited_for_until_the_page_closes() -> None:
    async def script(society: Society, patience: Patience) -> None:
        context = society.host.docket.context
        await reached(lambda: context.running.get("escalation"))
        case = next(s.case_id for s in society.host.docket.cases.values() if s.kind == "escalation")
        assert society.clock.speed == FULL, "an open escalation alone holds nothing up"
        patience.hold_open(case, True)
        await reached(lambda: society.clock.speed == 1.0)
        patience.hold_open(case, False)
        await reached(lambda: society.clock.speed == FULL)

    (slowed, why), (on, _) = clock_sets(live(script))
    assert (slowed, on) == (1.0, FULL)
    assert re.fullmatch(r"waiting for an answer to esc_\w+, which a page shows, 10 min at most", why)


@pytest.mark.rule("K8")
def test_k8_a_person_who_owes_already_at_the_start_is_waited_for() -> None:
    async def script(society: Society, first: Patience) -> None:
        await first.close()
        society.host.listeners.append(first._look)
        await reached(lambda: owes(society))
        society.host.listeners.remove(first._look)
        await take(society)
        later = Patience(society, wall_s=600)
        society.host.listeners.append(first._look)
        await reached(lambda: society.clock.speed == 1.0)
        await later.close()

    assert clock_sets(live(script))[0][0] == 1.0


@pytest.mark.rule("K8")
def test_k8_what_opens_while_the_pace_is_still_being_restored_is_waited_for_too() -> None:
    async def script(society: Society, patience: Patience) -> None:
        await reached(lambda: owes(society))
        await take(society)
        await reached(lambda: society.clock.speed == 1.0)
        held = owes(society).case_id
        await release(society)
        patience.hold_open(held, True)
        await asyncio.sleep(0.2)
        assert patience.is_waiting
        assert society.clock.speed == 1.0

    assert [speed for speed, _ in clock_sets(live(script))] == [1.0, FULL, 1.0]


def test_a_person_who_sets_the_speed_while_the_society_waits_decides() -> None:
    async def script(society: Society, patience: Patience) -> None:
        await reached(lambda: owes(society))
        await take(society)
        await reached(lambda: society.clock.speed == 1.0)
        await control_clock(society, "speed", 60.0, "ann")
        assert not patience.is_waiting
        await release(society)
        await asyncio.sleep(5)
        assert society.clock.speed == 60.0

    assert [speed for speed, _ in clock_sets(live(script))] == [1.0, 60.0]


def test_a_society_at_1x_has_all_the_patience_there_is() -> None:
    async def script(society: Society, patience: Patience) -> None:
        await take(society)
        await asyncio.sleep(0.1)
        assert not patience.is_waiting

    assert clock_sets(live(script, speed=1.0)) == []


def test_a_speed_beyond_what_officers_keep_up_with_is_refused() -> None:
    async def script(society: Society, _patience: Patience) -> None:
        for speed, said in (
            (1e9, "1e+09"),
            (float("nan"), "nan"),
            (0.0, "0"),
            (1e-9, "1e-09"),
            (None, "None"),
        ):
            told = await control_clock(society, "speed", speed, "ann")
            assert told == {"ok": False, "why": f"a speed is a number from 0.001 to 100000: not {said}"}
        assert society.clock.speed == FULL

    live(script)


@pytest.mark.rule("K8")
def test_k8_an_escalation_nobody_was_shown_is_held_open_until_a_command_displays_it() -> None:
    async def script(society: Society, patience: Patience) -> None:
        context = society.host.docket.context
        await reached(lambda: context.running.get("escalation"))
        case = next(s.case_id for s in society.host.docket.cases.values() if s.kind == "escalation")
        await patience.close()
        unseen = Patience(society, wall_s=600.0, unseen=[case])
        try:
            await reached(lambda: society.clock.speed == 1.0)
            assert case in society.host.docket.cases
            unseen.note_shown("another one")
            assert unseen.is_waiting
            unseen.note_shown(case)
            await reached(lambda: society.clock.speed == FULL)
        finally:
            await unseen.close()
            society.host.listeners.append(patience._look)

    (slowed, why), (on, _) = clock_sets(live(script))[-2:]
    assert (slowed, on) == (1.0, FULL)
    assert re.fullmatch(r"waiting for somebody to see esc_\d{8}_\d{4}, 10 min at most", why)


@pytest.mark.rule("K8")
@pytest.mark.parametrize("is_shown", [True, False])
def test_k8_an_escalation_nobody_was_shown_is_held_open_for_a_bounded_time(is_shown: bool) -> None:
    async def script(society: Society, patience: Patience) -> None:
        context = society.host.docket.context
        await reached(lambda: context.running.get("escalation"))
        case = next(s.case_id for s in society.host.docket.cases.values() if s.kind == "escalation")
        unseen = Patience(society, wall_s=0.3, unseen=[case])
        try:
            if is_shown:
                unseen.hold_open(case, True)
                await reached(lambda: society.clock.speed == 1.0)
                unseen.hold_open(case, False)
            await reached(lambda: case not in society.host.docket.cases)
        finally:
            await unseen.close()

    reasons = [reason for _, reason in clock_sets(live(script))]
    assert any("somebody to see" in one for one in reasons)
    assert ("waited 0.3 s for a person" in reasons) != is_shown


@pytest.mark.rule("K8")
def test_k8_a_page_that_opens_it_is_waited_for_after_nobody_was_shown_it_in_time() -> None:
    async def script(society: Society, patience: Patience) -> None:
        context = society.host.docket.context
        await reached(lambda: context.running.get("escalation"))
        case = next(s.case_id for s in society.host.docket.cases.values() if s.kind == "escalation")
        unseen = Patience(society, wall_s=0.2, unseen=[case])
        try:
            await reached(lambda: unseen.is_waiting)
            await reached(lambda: not unseen.is_waiting)
            assert case in society.host.docket.cases
            unseen.hold_open(case, True)
            assert unseen.is_waiting
        finally:
            await unseen.close()

    live(script)
