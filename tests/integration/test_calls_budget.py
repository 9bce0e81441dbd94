"""A budget that is spent, in a society with a bursar: what the admin answers is carried out (K27)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from moot.bots.minds.mind import Reply, View
from moot.config.budget import BudgetSettings
from moot.protocols.calls.messages import BudgetSet
from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from tests.doubles.asking import AskingMind, seats
from tests.doubles.canned import CannedMind
from tests.doubles.model_server import ModelServer
from tests.doubles.stage import Stage, play
from tests.doubles.tampering import judged, read

Script = Callable[[Stage], Awaitable[None]]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        yield one


class WordlessMind(AskingMind):
    """Stays silent where its model cannot be asked."""

    async def answer(self, view: View) -> Reply | None:
        before = len(self.refusals)
        reply = await super().answer(view)
        return reply if len(self.refusals) == before else None


def evening(server: ModelServer, budget: dict[str, Any], script: Script) -> list[Envelope]:
    """Let a debate be held in which the Critic asks a model."""
    log = play(
        lambda caller: {
            EXPLORER: CannedMind(),
            CRITIC: WordlessMind(caller("local")),
            EVOLVER: CannedMind(),
        },
        script,
        models=seats(server, budget=budget),
        config={"budget": BudgetSettings.model_validate(budget).as_log()},
    )
    assert judged(read("".join(env.line + "\n" for env in log))).findings == ()
    return log


def kinds(log: list[Envelope], *wanted: str) -> list[str]:
    return [env.body.type for env in log if env.body.type in wanted]


async def say(stage: Stage, body: Message, case_id: str | None = None) -> None:
    await stage.post(
        Draft(
            channel="#admin",
            author=ADMIN,
            actor=Actor("human", "test", "ann"),
            body=body,
            case_id=case_id,
            key=f"said-{len(stage.log)}",
        )
    )


def answering(option: int, hours: float = 3) -> Script:
    """Make a script in which the admin answers the first escalation."""

    async def script(stage: Stage) -> None:
        while not (found := [env for env in stage.log if env.body.type == "ESCALATION"]):
            await stage.wait(minutes=1)
        case_id = found[0].case_id or ""
        await say(stage, EscalationAnswer(escalation_id=case_id, option=option), case_id)
        await stage.wait(hours=hours)

    return script


async def nobody(stage: Stage) -> None:
    await stage.wait(hours=6)


def test_with_a_budget_of_nothing_nothing_is_sent_and_the_admin_is_asked_once(server: ModelServer) -> None:
    log = evening(server, {"calls": 0}, nobody)
    told = ("CALL_RESERVED", "CALL_REFUSED", "RISK_ASSESSMENT", "ESCALATION", "ESCALATION_RESOLVED")
    assert kinds(log, *told) == ["CALL_REFUSED", "ESCALATION", "ESCALATION_RESOLVED"]
    assert [call.body["max_tokens"] for call in server.calls[1:]] == []
    (end,) = [env.body for env in log if env.body.type == "ESCALATION_RESOLVED"]
    assert (end.how, end.effect) == ("expired", "stay_silent")


def test_a_raise_by_an_answer_lets_the_seat_ask_for_what_it_still_owes(server: ModelServer) -> None:
    log = evening(server, {"calls": 1}, answering(3))
    told = ("CALL_SETTLED", "CALL_REFUSED", "RISK_ASSESSMENT", "ESCALATION", "ESCALATION_RESOLVED")
    assert kinds(log, *told) == [
        "CALL_SETTLED",
        "RISK_ASSESSMENT",
        "CALL_REFUSED",
        "ESCALATION",
        "ESCALATION_RESOLVED",
        "CALL_SETTLED",
        "RISK_ASSESSMENT",
    ]


def test_a_budget_that_the_admin_sets_lets_the_seat_ask_for_what_it_still_owes(server: ModelServer) -> None:
    async def script(stage: Stage) -> None:
        while "CALL_REFUSED" not in kinds(stage.log, "CALL_REFUSED"):
            await stage.wait(minutes=1)
        await say(stage, BudgetSet(scope="case", calls=9))
        await stage.wait(hours=3)

    log = evening(server, {"case": {"calls": 0}}, script)
    assert kinds(log, "CALL_REFUSED", "BUDGET_SET", "CALL_SETTLED", "RISK_ASSESSMENT") == [
        "CALL_REFUSED",
        "BUDGET_SET",
        *("CALL_SETTLED", "RISK_ASSESSMENT") * 2,
    ]
    assert [env.body.how for env in log if env.body.type == "ESCALATION_RESOLVED"] == ["withdrawn"]


def test_an_answer_may_stop_the_society(server: ModelServer) -> None:
    why: list[str] = []

    async def script(stage: Stage) -> None:
        await answering(4, hours=0.1)(stage)
        why.append(stage.host.stop_asked)

    log = evening(server, {"calls": 0}, script)
    (raised,) = [env for env in log if env.body.type == "ESCALATION"]
    assert why == [f"as {raised.case_id} was answered"]
