"""Bots: one task per obligation, minds shown views, illegal answers retried, failures survived."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from moot.bots.minds.mind import Mind, Reply, View
from moot.protocols.kernel.envelope import BOT, Actor, Draft
from moot.protocols.kernel.minds import STAND_IN
from moot.protocols.kernel.people import Note, SeatReleased, SeatTaken
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from tests.doubles import bodies
from tests.doubles.canned import CannedMind
from tests.doubles.stage import Stage, play

HUMAN = Actor("human", "test", "ann")


class Watched(CannedMind):
    """A canned mind that remembers what it was shown."""

    def __init__(self, delay: timedelta = timedelta(minutes=5)) -> None:
        super().__init__(delay)
        self.views: list[View] = []

    async def answer(self, view: View) -> Reply | None:
        self.views.append(view)
        return await super().answer(view)


def trio(mind: Mind) -> dict[Seat, Mind]:
    return {EXPLORER: mind, CRITIC: mind, EVOLVER: mind}


async def an_evening(stage: Stage) -> None:
    await stage.wait(hours=3)


def kinds(log: list) -> list[str]:
    return [env.body.type for env in log]


def test_bots_carry_a_debate_from_trigger_to_report() -> None:
    log = play(trio(CannedMind()), an_evening)
    assert kinds(log) == [
        "SOCIETY_STARTED",
        "CYCLE_TRIGGER",
        "HYPOTHESIS",
        "RISK_ASSESSMENT",
        "REBUTTAL",
        "RISK_ASSESSMENT",
        "VERDICT",
        "REFLECTION",
        "MICRO_CYCLE_REPORT",
        "HEALTH_CHECK",
    ]


def test_an_answer_replies_to_what_opened_its_obligation_and_counts_hops() -> None:
    log = play(trio(CannedMind()), an_evening)
    assert [env.in_reply_to for env in log[2:6]] == [env.id for env in log[1:5]]
    assert [env.hops for env in log[1:6]] == [0, 1, 2, 3, 4]


@pytest.mark.rule("K1")
def test_k1_the_id_of_an_answer_comes_from_obligation_and_attempt() -> None:
    log = play(trio(CannedMind()), an_evening)
    assert log[3].id == f"{log[3].obligation_id}/0"
    assert log[3].obligation_id == f"{log[2].case_id}/assessment-1/critic"


class Stubborn(CannedMind):
    """Answers a first assessment with the wrong round, so often."""

    def __init__(self, wrong: int) -> None:
        super().__init__()
        self.wrong = wrong
        self.refused: list[str] = []

    async def answer(self, view: View) -> Reply | None:
        if "RISK_ASSESSMENT" in view.obligation.expects and self.wrong > 0:
            self.wrong -= 1
            return Reply(bodies.assessment(3))
        self.refused.append(view.refused)
        return await super().answer(view)


def test_an_illegal_answer_is_marked_and_the_mind_is_asked_again() -> None:
    mind = Stubborn(1)
    log = play(trio(CannedMind()) | {CRITIC: mind}, an_evening)
    assert kinds(log)[3:6] == ["RISK_ASSESSMENT", "VIOLATION", "RISK_ASSESSMENT"]
    assert [log[3].attempt, log[5].attempt] == [0, 1]
    assert "round" in mind.refused[0]


@pytest.mark.rule("K21")
def test_k21_a_mind_that_never_learns_falls_silent_and_is_ruled_on() -> None:
    log = play(trio(CannedMind()) | {CRITIC: Stubborn(1000)}, an_evening)
    violations = [env for env in log if env.body.type == "VIOLATION"]
    assert len(violations) == 5
    assert any(env.body.type == "RULING" and env.body.reason == "timeout" for env in log)


class Faulty(CannedMind):
    """A mind that raises so often."""

    def __init__(self, faults: int) -> None:
        super().__init__()
        self.faults = faults

    async def answer(self, view: View) -> Reply | None:
        if self.faults > 0:
            self.faults -= 1
            raise RuntimeError("no idea")
        return await super().answer(view)


def test_a_mind_that_fails_twice_still_answers() -> None:
    log = play(trio(CannedMind()) | {CRITIC: Faulty(2)}, an_evening)
    assert "RULING" not in kinds(log)


class StoodIn(CannedMind):
    """Whose answers another mind gives."""

    async def answer(self, view: View) -> Reply | None:
        reply = await super().answer(view)
        return reply and replace(reply, is_stand_in=True)


def test_the_log_says_which_answers_a_simulated_mind_gave_for_another() -> None:
    log = play(trio(CannedMind()) | {CRITIC: StoodIn()}, an_evening)
    actors = {env.author: env.actor for env in log if env.actor.kind == "bot"}
    assert actors[CRITIC] == STAND_IN
    assert {actor for seat, actor in actors.items() if seat != CRITIC} == {BOT}


def test_a_mind_that_always_fails_is_silent_and_the_others_go_on() -> None:
    log = play(trio(CannedMind()) | {CRITIC: Faulty(10**6)}, an_evening)
    assert "VERDICT" in kinds(log)
    assert "TIMEOUT_PING" in kinds(log)


@pytest.mark.rule("K12")
def test_k12_a_view_shows_the_case_and_what_the_seat_may_read_and_nothing_else() -> None:
    mind = Watched()

    async def script(stage: Stage) -> None:
        for channel in ("#a-arena", "#b-ops"):
            draft = Draft(channel=channel, author=ADMIN, body=Note(text=channel), actor=HUMAN, key=channel)
            await stage.post(draft)
        await stage.wait(hours=3)

    play(trio(mind), script)
    assessed = next(view for view in mind.views if "RISK_ASSESSMENT" in view.obligation.expects)
    assert [env.body.type for env in assessed.transcript] == ["CYCLE_TRIGGER", "HYPOTHESIS"]
    assert [env.body.text for env in assessed.notes] == ["#a-arena"]


def test_a_closed_obligation_ends_its_task() -> None:
    async def script(stage: Stage) -> None:
        await stage.wait(minutes=6)
        await stage.wait(minutes=1)
        assert stage.bots[CRITIC].busy == 1
        owed = stage.host.docket.owed_by(CRITIC)[0]
        body = bodies.assessment()
        await stage.post(
            Draft(channel="#a-arena", author=CRITIC, body=body, case_id=owed.case_id, key="by hand")
        )
        assert stage.bots[CRITIC].busy == 0

    log = play(trio(CannedMind()), script)
    assert kinds(log).count("RISK_ASSESSMENT") == 1


@pytest.mark.rule("K14")
def test_k14_a_taken_seat_is_left_to_the_person_and_taken_up_again_on_release() -> None:
    async def script(stage: Stage) -> None:
        taken = SeatTaken(seat="critic", user_id="ann", reason="curious")
        await stage.post(Draft(channel="#admin", author=ADMIN, body=taken, actor=HUMAN, key="take"))
        await stage.wait(minutes=15)
        assert "RISK_ASSESSMENT" not in kinds(stage.log)
        released = SeatReleased(seat="critic", user_id="ann", reason="enough")
        await stage.post(Draft(channel="#admin", author=ADMIN, body=released, actor=HUMAN, key="free"))
        await stage.wait(minutes=15)

    log = play(trio(CannedMind()), script)
    assert "RISK_ASSESSMENT" in kinds(log)
    assert "VIOLATION" not in kinds(log)


class Ahead(Watched):
    """A mind that is asked when its obligation opens, and may fail."""

    def begins_at_once(self, view: View) -> bool:
        return True

    def __init__(self, fails: bool = False) -> None:
        super().__init__()
        self.fails = fails

    async def answer(self, view: View) -> Reply | None:
        reply = await super().answer(view)
        if self.fails:
            raise RuntimeError("no idea")
        return reply


@pytest.mark.rule("K28")
def test_k28_a_mind_that_begins_at_once_is_asked_when_its_obligation_opens_and_answers_when_it_would() -> (
    None
):
    ahead, later = Ahead(), Watched()
    begun, usual = (play(trio(CannedMind()) | {CRITIC: mind}, an_evening) for mind in (ahead, later))
    assert [env.line for env in begun] == [env.line for env in usual]
    for early, late in zip(ahead.views, later.views, strict=True):
        assert early.now == early.obligation.opened_at == late.now - timedelta(minutes=5)


@pytest.mark.rule("K26")
def test_k26_a_mind_that_begins_at_once_is_not_asked_again_when_it_fails() -> None:
    mind = Ahead(fails=True)
    log = play(trio(CannedMind()) | {CRITIC: mind}, an_evening)
    assert len(mind.views) == 1
    assert "TIMEOUT_PING" in kinds(log)
