"""The simulated admin: late, forgetful and seeded, as R-D19 wants people to be."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import cache
from statistics import median
from typing import Any

import pytest

from moot.bots.minds.admin import MEDIAN, SimulatedAdmin
from moot.bots.minds.mind import Mind, Reply, View
from moot.memory.inmemory import InMemoryStore
from moot.protocols.escalation.messages import ANSWER_WITHIN, Escalation, EscalationAck, EscalationAnswer
from moot.protocols.escalation.triggers import options_of
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.obligation import NO_GRACE, Obligation
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.research.seats import EVOLVER, EXPLORER
from tests.doubles.canned import CannedMind
from tests.doubles.checking import findings
from tests.doubles.stage import Stage, play
from tests.doubles.table import START

BOTH = ("ESCALATION_ANSWER", "ESCALATION_ACK")
CASES = [f"esc_20260223_{n // 60:02d}{n % 60:02d}" for n in range(400)]


@cache
def opened() -> Envelope:
    """Return a real ESCALATION: a silent critic's."""

    async def script(stage: Stage) -> None:
        while not stage.host.docket.context.running.get("escalation"):
            await stage.wait(minutes=10)

    minds: dict[Seat, Mind] = {EXPLORER: CannedMind(), EVOLVER: CannedMind()}
    log = play(minds, script, schedules={"micro": {"cron": "0 */2 * * *"}})
    return next(env for env in log if env.body.type == "ESCALATION")


def view(case_id: str, expects: tuple[str, ...] = BOTH, *, is_read: bool = True) -> View:
    obligation = Obligation(
        f"{case_id}/answer/admin",
        case_id,
        ADMIN,
        expects,
        "#admin",
        START,
        START + ANSWER_WITHIN,
        NO_GRACE,
    )
    return View(
        obligation=obligation,
        seat=ADMIN,
        now=START,
        attempt=0,
        refused="",
        transcript=(opened(),) if is_read else (),
        notes=(),
        brief={},
        memory=InMemoryStore().read(),
    )


def answer(admin: SimulatedAdmin, of: View) -> Any:
    reply: Reply | None = asyncio.run(admin.answer(of))
    return reply.body if reply is not None else None


def test_rd19_it_misses_about_one_escalation_in_five() -> None:
    admin = SimulatedAdmin(7)
    missed = [case for case in CASES if admin.consider(view(case)) is None]
    assert 0.14 < len(missed) / len(CASES) < 0.26
    assert answer(admin, view(missed[0])) is None


def test_rd19_most_answers_come_within_an_hour_or_two() -> None:
    admin = SimulatedAdmin(7)
    only = ("ESCALATION_ANSWER",)
    delays = [delay for case in CASES if (delay := admin.consider(view(case, only))) is not None]
    assert all(delay > timedelta(0) for delay in delays)
    assert MEDIAN * 0.85 < median(delays) < MEDIAN * 1.15
    assert sum(delay < ANSWER_WITHIN for delay in delays) > 0.9 * len(delays)


def test_it_acknowledges_about_half_of_those_first_and_then_answers() -> None:
    admin = SimulatedAdmin(7)
    seen = [case for case in CASES if admin.consider(view(case)) is not None]
    first = {case: answer(admin, view(case)) for case in seen}
    acknowledged = [case for case, body in first.items() if isinstance(body, EscalationAck)]
    assert 0.4 < len(acknowledged) / len(seen) < 0.6
    for case in acknowledged[:20]:
        assert first[case].escalation_id == case
        before, after = admin.consider(view(case)), admin.consider(view(case, ("ESCALATION_ANSWER",)))
        assert before is not None and after is not None and before < after
        assert isinstance(answer(admin, view(case, ("ESCALATION_ANSWER",))), EscalationAnswer)


def test_it_chooses_among_the_options_that_there_are_and_not_always_the_same() -> None:
    admin = SimulatedAdmin(7)
    body = opened().body
    assert isinstance(body, Escalation) and body.options == options_of("timeouts")
    numbers = [
        chosen.option
        for case in CASES
        if (chosen := answer(admin, view(case, ("ESCALATION_ANSWER",)))) is not None
    ]
    assert set(numbers) == {option.n for option in body.options}
    assert 0.25 < numbers.count(1) / len(numbers) < 0.45


@pytest.mark.rule("K2")
def test_k2_the_same_seed_decides_the_same_and_another_one_does_not() -> None:
    def plans(seed: int) -> list[Any]:
        admin = SimulatedAdmin(seed)
        return [(admin.consider(view(case)), answer(admin, view(case))) for case in CASES[:60]]

    assert plans(1) == plans(1)
    assert plans(1) != plans(2)


def test_an_escalation_whose_opening_it_cannot_read_is_left_alone() -> None:
    admin = SimulatedAdmin(7)
    assert all(answer(admin, view(case, is_read=False)) is None for case in CASES[:20])


def test_in_a_society_its_answers_end_escalations_by_the_rules() -> None:
    async def script(stage: Stage) -> None:
        await stage.wait(hours=60)

    minds: dict[Seat, Mind] = {
        EXPLORER: CannedMind(),
        EVOLVER: CannedMind(),
        ADMIN: SimulatedAdmin(3),
    }
    log = play(minds, script, schedules={"micro": {"cron": "0 */2 * * *"}})
    ends = [env.body.how for env in log if env.body.type == "ESCALATION_RESOLVED"]  # type: ignore[attr-defined]
    assert "answered" in ends
    assert not [env for env in log if env.body.type == "VIOLATION"]
    assert not findings(log)


def test_it_never_spends_anybodys_money() -> None:
    spent = opened()
    body = spent.body.model_copy(update={"trigger_code": "budget", "options": options_of("budget")})
    admin = SimulatedAdmin(7)
    for case in CASES:
        of = view(case, ("ESCALATION_ANSWER",))._replace(transcript=(replace(spent, body=body),))
        said = answer(admin, of)
        assert said is None or said.option == 1
