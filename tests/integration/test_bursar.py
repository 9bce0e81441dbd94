"""The bursar: calls of models over real HTTP, booked before and settled after, in a society in virtual time."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from moot import model_service
from moot.bots.minds.mind import Reply, View
from moot.bots.models.errors import UnusableModel
from moot.bots.models.transport import Errand, LiveModels, Sent
from moot.channels.bus import Receipt
from moot.channels.errors import StorageError
from moot.clock import Clock, PacedClock, RealClock
from moot.config.budget import BudgetSettings
from moot.config.settings import load_settings
from moot.host import Host
from moot.memory.bodies_file import CALLS_NAME, BodiesFile, StoredBodiesFile
from moot.memory.errors import StoreUnavailable
from moot.plan import Plan
from moot.protocols.calls.messages import BudgetSet
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from moot.society import Society
from tests.doubles.asking import AskingMind, question, seats
from tests.doubles.canned import CannedMind
from tests.doubles.model_server import ModelServer, Turn, completion, refusal
from tests.doubles.stage import Stage, play
from tests.doubles.table import START


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        yield one


class Evening:
    """An evening in which the Critic asks a model, and what came of it."""

    def __init__(
        self,
        server: ModelServer,
        *,
        script: Callable[[Stage], Any] | None = None,
        budget: dict[str, Any] | None = None,
        directory: Path | None = None,
        given: dict[str, Any] | None = None,
        clock: Clock | None = None,
        **mind: Any,
    ) -> None:
        self.minds: list[AskingMind] = []
        self.server = server

        def seated(caller):
            self.minds.append(AskingMind(caller("local"), **mind))
            others = CannedMind(mind.get("delay", timedelta(minutes=5)))
            return {EXPLORER: others, CRITIC: self.minds[0], EVOLVER: others}

        settings = BudgetSettings.model_validate(budget or {})
        self.log = play(
            seated,
            script or an_evening,
            models=seats(server, budget=budget, **(given or {})),
            config={"budget": settings.as_log()},
            directory=directory,
            clock=clock,
        )

    @property
    def mind(self) -> AskingMind:
        return self.minds[0]

    @property
    def sent(self) -> list[dict[str, Any]]:
        """Return what was sent after the probe."""
        return [dict(one.body) for one in self.server.calls[1:]]

    def bodies(self, kind: str) -> list:
        return [env.body for env in self.log if env.body.type == kind]

    @property
    def kinds(self) -> list[str]:
        return [env.body.type for env in self.log]


def seen(stage: Stage, kind: str) -> asyncio.Event:
    """Return what is set once a message of a type is logged."""
    found = asyncio.Event()

    def look(env: Envelope, _fx: object) -> None:
        if env.body.type == kind:
            found.set()

    stage.host.listeners.append(look)
    for env in stage.log:
        look(env, None)
    return found


async def an_evening(stage: Stage) -> None:
    await stage.wait(hours=3)


@pytest.mark.rule("K26")
def test_k26_a_call_is_reserved_and_settled_before_its_answer_is_used(
    server: ModelServer, tmp_path: Path
) -> None:
    evening = Evening(server, directory=tmp_path)
    (first, second), (settled, _) = evening.bodies("CALL_RESERVED"), evening.bodies("CALL_SETTLED")
    assert evening.kinds[2:6] == ["HYPOTHESIS", "CALL_RESERVED", "CALL_SETTLED", "RISK_ASSESSMENT"]
    assert first.call_id == f"{evening.log[2].case_id}/assessment-1/critic/0/1/1"
    assert (first.seat, first.case, first.turn, first.try_) == ("critic", evening.log[2].case_id, 1, 1)
    assert (settled.call_id, settled.outcome, settled.cost, settled.tokens) == (
        first.call_id,
        "answered",
        300,
        120,
    )
    assert [one.text for one in evening.mind.answers] == ["red", "red"]
    with StoredBodiesFile(tmp_path / CALLS_NAME) as kept:
        assert [json.loads(kept.get(one.request_sha256)) for one in (first, second)] == evening.sent
        record = kept.reply_of(first.call_id)
        assert record is not None and hashlib.sha256(record).hexdigest() == settled.reply_sha256
        assert json.loads(json.loads(record)["body"])["id"] == "chatcmpl-1"
    # The worst case counts a token for each byte that is sent, and all that may be written.
    size = len(json.dumps(evening.sent[0], separators=(",", ":")))
    assert (first.max_tokens, first.max_cost) == (size + 50, size + 500)


@pytest.mark.rule("K26")
def test_k26_the_start_says_what_was_found_out_about_the_model(server: ModelServer) -> None:
    told = Evening(server).log[0].body.config["models"]["local"]
    assert (told["rung"], dict(told["price"])) == ("json_schema", {"input": "1", "output": "10"})
    assert dict(told["probe"]) == {"calls": 1, "tokens": 120, "cost": 300}


@pytest.mark.rule("K27")
@pytest.mark.parametrize(("more", "sent"), [(0, 1), (-1, 0)])
def test_k27_what_the_probes_used_counts_against_the_budget(
    server: ModelServer, more: int, sent: int
) -> None:
    worst = Evening(server).bodies("CALL_RESERVED")[0].max_tokens
    server.sent.clear()
    evening = Evening(server, budget={"tokens": worst + 120 + more})
    assert len(evening.sent) == sent


@pytest.mark.rule("K27")
def test_k27_of_eight_calls_at_once_three_are_sent_where_the_budget_is_for_three(server: ModelServer) -> None:
    evening = Evening(server, budget={"case": {"calls": 3}}, turns=8, at_once=8)
    assert len(evening.sent) == len(evening.bodies("CALL_RESERVED")) == 3
    assert len(evening.mind.answers) == 3
    (why,) = set(evening.mind.refusals)
    budget = f"the budget of the case {evening.log[2].case_id} is 3 calls"
    assert why == f"{budget}, which leaves no room for the call"
    assert {body.why for body in evening.bodies("CALL_REFUSED")} == {
        f"{budget}, 3 calls booked: 0 calls left, the call may take 1 call"
    }
    # The second assessment is of the same case: not one call of it fits.
    assert len(evening.bodies("CALL_REFUSED")) == len(evening.mind.refusals) == 13


@pytest.mark.rule("K27")
def test_k27_callers_at_once_see_what_others_booked_though_the_log_takes_its_time(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish, looked, booked = Host.publish, asyncio.Event(), []

    async def slowly(host: Host, draft: Draft) -> Receipt:
        if draft.body.type == "CALL_RESERVED":
            booked.append(draft)
            await looked.wait()
        return await publish(host, draft)

    async def until_all_have_looked(stage: Stage) -> None:
        refused = seen(stage, "CALL_REFUSED")
        settled = seen(stage, "CALL_SETTLED")
        while len(booked) + len(stage.calls.bursar._waiting) < 8:  # type: ignore[union-attr]
            await asyncio.sleep(0.01)
        looked.set()
        await settled.wait()
        await refused.wait()

    monkeypatch.setattr(Host, "publish", slowly)
    budget = {"case": {"calls": 3}}
    evening = Evening(
        server,
        script=until_all_have_looked,
        budget=budget,
        turns=8,
        at_once=8,
        clock=RealClock(),
        delay=timedelta(0),
    )
    assert len(evening.bodies("CALL_RESERVED")) == len(evening.sent) == 3


@pytest.mark.rule("K27")
def test_k27_a_call_whose_room_is_taken_before_it_stands_in_the_log_is_not_sent(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = Host.publish

    async def after_another(host: Host, draft: Draft) -> Receipt:
        if draft.body.type == "CALL_RESERVED":
            taken = BudgetSet(scope="society", calls=0)
            ann = Actor("human", "test", "ann")
            await publish(host, Draft(channel="#admin", author=ADMIN, actor=ann, body=taken, key="taken"))
        return await publish(host, draft)

    monkeypatch.setattr(Host, "publish", after_another)
    evening = Evening(server, budget={"calls": 9})
    assert [kind for kind in evening.kinds if kind.startswith("CALL")][:2] == [
        "CALL_RESERVED",
        "CALL_REFUSED",
    ]
    assert not evening.sent and not evening.mind.answers and evening.mind.refusals


@pytest.mark.rule("K26")
def test_k26_what_was_lost_on_its_way_goes_out_again_as_it_was_written_first(server: ModelServer) -> None:
    class Rewording(AskingMind):
        async def answer(self, view: View) -> Reply | None:
            for words in ("first", "then"):
                self.answers.append(await self.caller.ask(view, 1, question(words)))
            return await CannedMind.answer(self, view)

    minds: list[Rewording] = []

    def seated(caller):
        minds.append(Rewording(caller("local")))
        return {EXPLORER: CannedMind(), CRITIC: minds[0], EVOLVER: CannedMind()}

    server.plays(completion('{"colour":"red","number":1}'), Turn(stall="break"))
    play(seated, an_evening, models=seats(server))
    assert [one.outcome for one in minds[0].answers][:2] == ["unknown", "answered"]
    assert [call.body["messages"][0]["content"] for call in server.calls[1:3]] == ["first", "first"]


@pytest.mark.rule("K27")
def test_k27_a_call_waits_for_what_is_under_way_and_money_never_goes_beyond_the_budget(
    server: ModelServer,
) -> None:
    worst = Evening(server).bodies("CALL_RESERVED")[0].max_cost
    # The probe at the start cost 300 of it.
    budget = {"usd": (worst * 3 + 300) / 1_000_000}
    evening = Evening(server, budget=budget, turns=8, at_once=8)
    booked = most = 0
    for env in evening.log:
        body = env.body
        if body.type == "CALL_RESERVED":
            booked += body.max_cost
        elif body.type == "CALL_SETTLED":
            reserved = next(one for one in evening.bodies("CALL_RESERVED") if one.call_id == body.call_id)
            booked += body.cost - reserved.max_cost
        most = max(most, booked)
    # Three fit at once; what they did not use makes room for others, until a worst case does not fit any more.
    assert most <= worst * 3
    assert len(evening.sent) > 3 and booked + worst > worst * 3
    assert evening.mind.refusals


@pytest.mark.rule("K28")
def test_k28_latencies_change_nothing_but_the_latencies(server: ModelServer) -> None:
    logs = []
    for seed in (1, 2):
        server.latency_s, server.jitter = 0.02, Random(seed)
        evening = Evening(server, turns=12, at_once=6)
        logs.append([re.sub(r'"latency_ms":\d+', "", env.json) for env in evening.log])
        logs[-1] = [re.sub(r'"(request|reply)_sha256":"\w+"', "", text) for text in logs[-1]]
    assert logs[0] == logs[1]
    reserved = [env.body.turn for env in evening.log if env.body.type == "CALL_RESERVED"]
    assert reserved == [*range(1, 13)] * 2


@pytest.mark.rule("K27")
@pytest.mark.parametrize(
    ("turn", "outcome", "cost"),
    [
        (Turn(stall="before"), "timed_out", 570),
        (Turn(stall="break"), "unknown", 570),
        (completion("red", finish="length"), "truncated", 300),
        (completion("red", usage=None), "answered", 570),
        (refusal(400, "no"), "provider_error", 0),
        (completion("red", usage={"prompt_tokens": 500, "completion_tokens": 50}), "answered", 1_000),
    ],
)
def test_k27_whatever_becomes_of_a_call_is_booked_and_the_society_goes_on(
    server: ModelServer, turn: Turn, outcome: str, cost: int
) -> None:
    server.plays(completion('{"colour":"red","number":1}'), turn)
    evening = Evening(server, given={"timeout_s": 6} if turn.stall == "before" else {})
    (reserved, _), (settled, _) = evening.bodies("CALL_RESERVED"), evening.bodies("CALL_SETTLED")
    assert settled.outcome == outcome == evening.mind.answers[0].outcome
    assert settled.cost == (reserved.max_cost if cost == 570 else cost)
    assert settled.overrun == (cost == 1_000)
    assert "VERDICT" in evening.kinds


@pytest.mark.rule("K26")
def test_k26_the_same_turn_is_asked_once_and_answered_from_what_is_kept(server: ModelServer) -> None:
    class Twice(AskingMind):
        async def answer(self, view):
            both = await asyncio.gather(self._ask(view, 1), self._ask(view, 1))
            self.answers += [*both, await self._ask(view, 1)]
            return await super().answer(view)

    minds: list[Twice] = []

    def seated(caller):
        minds.append(Twice(caller("local")))
        return {EXPLORER: CannedMind(), CRITIC: minds[0], EVOLVER: CannedMind()}

    play(seated, an_evening, models=seats(server))
    assert len(server.calls) == 1 + 2
    for answer in minds[0].answers:
        assert replace(answer, latency_ms=0) == replace(minds[0].answers[0], latency_ms=0)


@pytest.mark.rule("K28")
def test_k28_closing_in_the_middle_of_a_call_waits_for_it_and_settles_it(server: ModelServer) -> None:
    server.latency_s = 0.1

    async def until_it_is_asked(stage: Stage) -> None:
        await seen(stage, "CALL_RESERVED").wait()

    evening = Evening(server, script=until_it_is_asked)
    assert evening.kinds[-2:] == ["CALL_RESERVED", "CALL_SETTLED"]
    assert evening.bodies("CALL_SETTLED")[0].outcome == "answered"
    assert not evening.mind.answers


@pytest.mark.rule("K28")
def test_k28_an_obligation_that_closes_meanwhile_has_its_call_settled_and_nothing_said(
    server: ModelServer,
) -> None:
    server.latency_s = 0.1

    async def overridden(stage: Stage) -> None:
        await override(stage)
        await an_evening(stage)

    evening = Evening(server, script=overridden)
    assert evening.kinds[3:6] == ["CALL_RESERVED", "OVERRIDE", "CALL_SETTLED"]
    assert "RISK_ASSESSMENT" not in evening.kinds


@pytest.mark.rule("K28")
def test_k28_in_real_time_a_call_whose_obligation_closes_is_given_up_and_settled(server: ModelServer) -> None:
    server.plays(completion('{"colour":"red","number":1}'), Turn(stall="before"))
    asked = server.expects(2)

    async def overridden(stage: Stage) -> None:
        settled = seen(stage, "CALL_SETTLED")
        await override(stage, asked)
        await settled.wait()

    evening = Evening(server, script=overridden, clock=RealClock(), delay=timedelta(0))
    (reserved,), (settled,) = evening.bodies("CALL_RESERVED"), evening.bodies("CALL_SETTLED")
    assert (settled.outcome, settled.cost) == ("abandoned", reserved.max_cost)
    assert "RISK_ASSESSMENT" not in evening.kinds


@pytest.mark.rule("K28")
def test_k28_closing_gives_up_what_is_under_way_in_real_time(server: ModelServer) -> None:
    server.plays(completion('{"colour":"red","number":1}'), Turn(stall="before"))
    asked = server.expects(2)

    async def until_it_is_asked(stage: Stage) -> None:
        await seen(stage, "CALL_RESERVED").wait()
        await asyncio.to_thread(asked.wait, 60)

    evening = Evening(server, script=until_it_is_asked, clock=RealClock(), delay=timedelta(0))
    assert evening.bodies("CALL_SETTLED")[0].outcome == "abandoned"


async def override(stage: Stage, asked: threading.Event | None = None) -> None:
    """Decide the debate once a call is reserved, and the server has it."""
    await seen(stage, "CALL_RESERVED").wait()
    if asked is not None:
        await asyncio.to_thread(asked.wait, 60)
    case_id = next(env.body.case for env in stage.log if env.body.type == "CALL_RESERVED")
    await stage.post(
        Draft(
            channel="#a-arena",
            author=ADMIN,
            actor=Actor("human", "test", "ann"),
            body=Override(case_id=case_id, verdict="REJECT", why="enough"),
            key="1",
        )
    )


def test_what_keeps_a_model_from_being_called_is_one_line_before_anything_starts(server: ModelServer) -> None:
    with pytest.raises(UnusableModel) as unpriced:
        Evening(server, budget={"seat": {"usd": 1}}, given={"price": None})
    assert str(unpriced.value).startswith("models.local: a budget in US dollars needs its price")
    assert "write price into [models.local]" in str(unpriced.value) and not server.sent
    server.key = "sk-test-0123456789abcdefghij"
    with pytest.raises(UnusableModel, match=r"models\.local: HTTP 401: .*: name the variable or file of a"):
        Evening(server)
    server.key, server.always = "", Turn(body=b"<html>")
    with pytest.raises(
        UnusableModel, match=r"models\.local: the reply of the server is no JSON: <html>: correct url"
    ):
        Evening(server)
    with ModelServer() as gone:
        pass
    with pytest.raises(UnusableModel, match=r"models\.local: no connection to .*: start the server, or"):
        Evening(gone)


@pytest.mark.rule("K26")
@pytest.mark.parametrize("is_over", ["its obligation", "the society"])
def test_k26_what_waits_for_room_is_not_asked_any_more_when_nobody_wants_it(
    server: ModelServer, is_over: str
) -> None:
    server.latency_s = 0.1

    async def ending(stage: Stage) -> None:
        if is_over == "its obligation":
            await override(stage)
            await an_evening(stage)
        else:
            await seen(stage, "CALL_RESERVED").wait()

    evening = Evening(server, script=ending, budget={"case": {"calls": 1}}, turns=2, at_once=2)
    assert [kind for kind in evening.kinds if kind.startswith("CALL")] == ["CALL_RESERVED", "CALL_SETTLED"]


@pytest.mark.rule("K26")
def test_k26_an_answer_is_used_only_when_its_settlement_stands_in_the_log(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish, known = Host.publish, []
    minds: list[AskingMind] = []

    async def slowly(host: Host, draft: Draft) -> Receipt:
        for _ in range(9):
            await asyncio.sleep(0)
        if draft.body.type == "CALL_SETTLED":
            known.append(len(minds[0].answers))
        return await publish(host, draft)

    def seated(caller):
        minds.append(AskingMind(caller("local")))
        return {EXPLORER: CannedMind(), CRITIC: minds[0], EVOLVER: CannedMind()}

    monkeypatch.setattr(Host, "publish", slowly)
    play(seated, an_evening, models=seats(server))
    assert known == [0, 1] and len(minds[0].answers) == 2


@pytest.mark.rule("K28")
def test_k28_in_real_time_a_call_may_take_no_longer_than_its_answer_is_owed(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, left = LiveModels.send, []

    def told(models: LiveModels, errand: Errand) -> Future[Sent]:
        left.append(errand.left_s)
        return send(models, errand)

    async def until_it_is_settled(stage: Stage) -> None:
        await seen(stage, "CALL_SETTLED").wait()

    monkeypatch.setattr(LiveModels, "send", told)
    Evening(server, script=until_it_is_settled, clock=RealClock(), delay=timedelta(0))
    assert 0 < left[0] <= 24 * 3_600
    left.clear()
    Evening(server)
    assert set(left) == {None}


@pytest.mark.rule("K26")
def test_k26_a_call_whose_reservation_is_not_on_the_disk_is_never_sent(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_seq: int) -> Future[None]:
        done: Future[None] = Future()
        done.set_exception(StorageError("log.sqlite: database or disk is full"))
        return done

    monkeypatch.setattr(model_service, "at_once", full)
    with pytest.raises(StorageError, match="disk is full"):
        Evening(server)
    assert len(server.calls) == 1


def test_a_disk_that_takes_no_bodies_ends_a_simulation_before_anything_is_sent(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Future[str]:
        done: Future[str] = Future()
        done.set_exception(StoreUnavailable("calls.sqlite: database or disk is full"))
        return done

    monkeypatch.setattr(BodiesFile, "put", full)
    with pytest.raises(StoreUnavailable, match="disk is full"):
        Evening(server, directory=tmp_path)
    assert len(server.calls) == 1


@pytest.mark.rule("K27")
def test_k27_callers_at_once_never_see_the_same_room_while_a_reservation_is_on_its_way_to_the_disk(
    server: ModelServer, tmp_path: Path
) -> None:
    settings = load_settings(
        models={"local": {"url": server.url, "model": server.model}},
        minds={"critic": {"model": "local"}},
        budget={"case": {"calls": 3}},
        schedules={"micro": {"at": [(START + timedelta(minutes=n)).isoformat() for n in range(10, 500, 60)]}},
        **{name: {"enabled": False} for name in ("panel", "desk", "arena")},
    )
    plan = Plan(settings=settings, seed=1, start=START, directory=tmp_path, bus="sqlite")
    kinds: list[str] = []

    async def live(clock: PacedClock) -> None:
        are_told = asyncio.Event()

        def listen(env: Envelope, _fx: object) -> None:
            if env.body.type.startswith("CALL_"):
                kinds.append(env.body.type)
            if kinds.count("CALL_SETTLED") + kinds.count("CALL_REFUSED") == 8:
                are_told.set()

        society = await Society.open(plan, clock, listener=listen)
        async with society:
            assert society.calls is not None
            caller = society.calls.caller("local")
            society.host.bot(CRITIC).mind = AskingMind(caller, turns=8, at_once=8)
            await society.run_until(stop=are_told)

    PacedClock(START, 3_600).run(live)
    # Not one is reserved in vain, to be superseded by what stands before it.
    assert kinds.count("CALL_RESERVED") == kinds.count("CALL_SETTLED") == len(server.calls) - 1 == 3
