"""The host: one fold an envelope, views, hand-over of seats, people's acts, faults (K5, K10, K12-K14, K18, K21)."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from moot.bots.minds.mind import Mind, Reply, View
from moot.channels.errors import BusClosed, Refused
from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Actor, Draft, Envelope
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Visibility
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.people import Note, Override, SeatReleased, SeatTaken, Stop
from moot.protocols.kernel.seats import ADMIN, REFEREE, Seat
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from tests.doubles import bodies
from tests.doubles.canned import CannedMind
from tests.doubles.checking import findings
from tests.doubles.copying import replace
from tests.doubles.stage import Stage, play

ANN = Actor("human", "test", "ann")


class Watched(CannedMind):
    """A canned mind that keeps what it was shown when it answered."""

    def __init__(self, delay: timedelta = timedelta(minutes=5), verdict: str = "REJECT") -> None:
        super().__init__(delay, verdict)
        self.views: list[View] = []

    async def answer(self, view: View) -> Reply | None:
        self.views.append(view)
        return await super().answer(view)

    def shown(self, expects: str) -> View:
        return next(view for view in self.views if expects in view.obligation.expects)


class Silent(CannedMind):
    """Says nothing, and counts how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def consider(self, view: View) -> timedelta | None:
        self.asked.append(view.obligation.id)
        return None


def trio(mind: Mind) -> dict[Seat, Mind]:
    return {EXPLORER: mind, CRITIC: mind, EVOLVER: mind}


def kinds(log: list[Envelope]) -> list[str]:
    return [env.body.type for env in log]


def of(log: list[Envelope], kind: str) -> list[Any]:
    return [env.body for env in log if env.body.type == kind]


def person(body: Message, channel: str = "#admin", case_id: str | None = None, key: str = "p1") -> Draft:
    return Draft(channel=channel, author=ADMIN, body=body, actor=ANN, case_id=case_id, key=key)


async def until(stage: Stage, is_true: Callable[[], Any], hours: float = 6) -> Any:
    """Let time pass until something is true; return it."""
    for _ in range(int(hours * 60)):
        if found := is_true():
            return found
        await stage.wait(minutes=1)
    raise AssertionError("it never came true")


def owed(stage: Stage, seat: Seat, kind: str) -> Any:
    return next((o for o in stage.host.docket.owed_by(seat) if kind in o.expects), None)


def debate_of(stage: Stage) -> str | None:
    return next((s.case_id for s in stage.host.docket.cases.values() if s.kind == "debate"), None)


# ---------------------------------------------------------------- K12: views


@pytest.mark.rule("K12")
def test_k12_a_mind_is_not_shown_hidden_types_and_hidden_cases() -> None:
    async def script(stage: Stage) -> None:
        obligation = await until(stage, lambda: owed(stage, EVOLVER, "VERDICT"))
        whole = await stage.host.view(EVOLVER, obligation)
        assert whole is not None
        assert {"CYCLE_TRIGGER", "HYPOTHESIS", "REBUTTAL"} <= {e.body.type for e in whole.transcript}
        cycle = whole.transcript[0].case_id
        assert cycle is not None and cycle != obligation.case_id
        blind = Visibility(hidden_cases=frozenset({cycle}), hidden_types=frozenset({"REBUTTAL"}))
        stage.host.docket.open[obligation.id] = replace(obligation, may_see=blind)
        part = await stage.host.view(EVOLVER, obligation)
        assert part is not None
        assert part.transcript == tuple(
            e for e in whole.transcript if e.case_id != cycle and e.body.type != "REBUTTAL"
        )
        assert len(part.transcript) < len(whole.transcript) - 1

    play(trio(CannedMind()) | {EVOLVER: Silent()}, script)


@pytest.mark.rule("K12")
def test_k12_a_mind_is_not_shown_what_its_seat_may_not_read() -> None:
    critic = Watched()

    async def script(stage: Stage) -> None:
        for n, channel in enumerate(("#a-arena", "#b-desk", "#bridge", "#r-arena")):
            await stage.post(person(Note(text=channel), channel, key=f"note{n}"))
        await stage.wait(hours=1)

    play(trio(CannedMind()) | {CRITIC: critic}, script)
    assert [env.channel for env in critic.shown("RISK_ASSESSMENT").notes] == ["#a-arena", "#bridge"]


@pytest.mark.rule("K12")
def test_k12_the_transcript_of_a_debate_begins_with_its_cycle() -> None:
    critic = Watched()

    async def script(stage: Stage) -> None:
        await stage.wait(hours=1)

    play(trio(CannedMind()) | {CRITIC: critic}, script)
    assert [e.body.type for e in critic.shown("RISK_ASSESSMENT").transcript] == [
        "CYCLE_TRIGGER",
        "HYPOTHESIS",
    ]


@pytest.mark.rule("K12")
def test_k12_a_closed_obligation_has_no_view_and_no_draft() -> None:
    async def script(stage: Stage) -> None:
        obligation = await until(stage, lambda: owed(stage, EXPLORER, "HYPOTHESIS"))
        view = await stage.host.view(EXPLORER, obligation)
        assert view is not None
        await until(stage, lambda: debate_of(stage))
        assert await stage.host.view(EXPLORER, obligation) is None
        assert stage.host.answer_draft(view, bodies.hypothesis("")) is None

    play(trio(CannedMind()), script)


@pytest.mark.rule("K23")
def test_k23_the_mind_of_a_linked_case_is_shown_the_case_it_reopens() -> None:
    evolver = Watched()

    async def script(stage: Stage) -> None:
        await stage.wait(hours=2, minutes=30)
        (ended,) = [e for e in stage.host.docket.ended.values() if e.kind == "debate"]
        assert ended.outcome == "rejected"
        evolver.views.clear()
        override = Override(case_id=ended.case_id, verdict="APPROVE", why="after all")
        await stage.post(person(override, "#a-arena", ended.case_id))
        await stage.wait(hours=1)

    log = play(trio(CannedMind()) | {EVOLVER: evolver}, script)
    view = evolver.shown("BACKTEST_RESULT")
    shown = [env.body.type for env in view.transcript]
    assert shown[0] == "HYPOTHESIS" and shown[-1] == "OVERRIDE"
    assert "VERDICT" in shown
    linked = view.obligation.case_id
    said = [e.body.type for e in log if e.case_id == linked]
    assert said == ["BACKTEST_RESULT", "STRATEGY_MOVED", "CAUSAL_RECORD"]
    assert not findings(log)


# ---------------------------------------------------------------- K13: one dispatcher


@pytest.mark.rule("K13")
def test_k13_publish_returns_after_docket_and_memory_have_it_and_listeners_hear_in_order() -> None:
    heard: list[int] = []

    async def script(stage: Stage) -> None:
        host = stage.host
        await stage.wait(minutes=1)
        host.listeners.append(lambda env, _fx: heard.append(env.seq))
        first = stage.bus.head.seq
        receipts = await asyncio.gather(
            *(stage.post(person(Note(text=str(n)), "#a-arena", key=f"n{n}")) for n in range(20))
        )
        seen = []
        for n in range(5):
            receipt = await stage.post(person(Note(text="x"), "#a-arena", key=f"m{n}"))
            seen.append((receipt.seq, host.docket.seq, host.store.applied_seq))
        assert [r.seq for r in receipts] == list(range(first + 1, first + 21))
        assert seen == [(seq, seq, seq) for seq in range(first + 21, first + 26)]

    play({}, script)
    assert heard == sorted(heard) and len(heard) >= 25


@pytest.mark.rule("K13")
def test_k13_a_view_keeps_memory_as_it_was_when_the_mind_was_asked() -> None:
    evolver = Watched()
    digests: dict[str, str] = {}

    class Noting(Watched):
        async def answer(self, view: View) -> Reply | None:
            digests[view.obligation.id] = view.memory.digest()
            return await super().answer(view)

    evolver = Noting()

    async def script(stage: Stage) -> None:
        await stage.wait(hours=6)

    slots = {"micro": {"cron": "0 */2 * * *"}}
    log = play(trio(CannedMind()) | {EVOLVER: evolver}, script, schedules=slots)
    assert kinds(log).count("REFLECTION") >= 2
    by_id = {env.obligation_id: env.seq for env in log}
    assert len(set(digests.values())) > 1
    for view in evolver.views:
        assert view.memory.digest() == digests[view.obligation.id]
        assert view.memory.as_of == by_id[view.obligation.id] - 1


# ---------------------------------------------------------------- K5: faults


@pytest.mark.rule("K5")
def test_k5_the_host_stops_with_a_clear_message_when_an_officer_says_what_no_table_derives() -> None:
    faults: list[Exception] = []

    async def script(stage: Stage) -> None:
        stage.host.on_fault = faults.append
        debate = await until(stage, lambda: debate_of(stage))
        ruling = Ruling(
            obligation_id=None, case_id=debate, outcome="REJECT", reason="timeout", rule="1.4", of_seq=None
        )
        draft = Draft(
            channel="#a-arena",
            author=REFEREE,
            actor=OFFICER,
            body=ruling,
            case_id=debate,
            key="ruling/99",
        )
        with pytest.raises(OfficerFault, match="RULING that no table asks for"):
            await stage.post(draft)
        seq = stage.bus.head.seq
        with pytest.raises(BusClosed):
            await stage.post(person(Note(text="anybody?"), "#a-arena"))
        await stage.wait(hours=2)
        assert stage.bus.head.seq == seq, "nothing is logged behind a fault"
        assert stage.host.fault is faults[0]

    play(trio(CannedMind()), script)
    (fault,) = faults
    assert "\n" not in str(fault) and "seq" in str(fault)


@pytest.mark.rule("K5")
def test_k5_whatever_breaks_in_the_fold_stops_the_host() -> None:
    """Docket and log differ from the message on that was not folded, whether an officer or a bug is to blame."""

    class Broken(Docket):
        def fold(self, env: Envelope) -> Effects:
            if isinstance(env.body, Note):
                raise ZeroDivisionError("a bug in a rule")
            return super().fold(env)

    faults: list[Exception] = []

    async def script(stage: Stage) -> None:
        stage.host.on_fault = faults.append
        broken = Broken(stage.host.rules)
        for env in stage.log:
            broken.fold(env)
        stage.host.docket = broken
        with pytest.raises(ZeroDivisionError):
            await stage.post(person(Note(text="one"), "#a-arena"))
        seq = stage.bus.head.seq
        with pytest.raises(BusClosed):
            await stage.post(person(Note(text="two"), "#a-arena"))
        await stage.wait(hours=2)
        assert stage.bus.head.seq == seq and stage.host.fault is faults[0]

    play(trio(CannedMind()), script)
    assert [type(fault) for fault in faults] == [ZeroDivisionError]


# ---------------------------------------------------------------- K10: violations


@pytest.mark.rule("K10")
def test_k10_an_illegal_answer_changes_nothing_and_the_mind_learns_why() -> None:
    class Wrong(Watched):
        async def answer(self, view: View) -> Reply | None:
            self.views.append(view)
            return Reply(bodies.assessment(3 if not view.attempt else 1))

    critic = Wrong()
    states: list[Any] = []

    async def script(stage: Stage) -> None:
        def note(env: Envelope, _fx: object) -> None:
            if env.case_id and env.case_id in stage.host.docket.cases:
                states.append((env.body.type, stage.host.docket.cases[env.case_id].phase))

        stage.host.listeners.append(note)
        await until(stage, lambda: len(critic.views) == 2)
        await stage.wait(minutes=1)

    log = play(trio(Silent()) | {EXPLORER: CannedMind(), CRITIC: critic}, script)
    assert kinds(log)[3:6] == ["RISK_ASSESSMENT", "VIOLATION", "RISK_ASSESSMENT"]
    phases = [phase for kind, phase in states if kind in ("HYPOTHESIS", "RISK_ASSESSMENT", "VIOLATION")]
    assert phases[0] == phases[1] == phases[2] != phases[3]
    assert [view.attempt for view in critic.views] == [0, 1]
    assert critic.views[0].refused == "" and "round" in critic.views[1].refused


# ---------------------------------------------------------------- K18: refusals


def forbidden(text: str, n: int) -> Draft:
    return Draft(channel="#a-verdict", author=EXPLORER, body=bodies.revise_request(suggested_direction=text),
                 actor=Actor("bot"), case_id="c", key=f"bad{n}")  # fmt: skip


@pytest.mark.rule("K18")
def test_k18_a_flood_of_refusals_is_ten_lines_a_minute_and_the_rest_is_counted() -> None:
    async def script(stage: Stage) -> None:
        for n in range(25):
            with pytest.raises(Refused):
                await stage.post(forbidden("x", n))
        await stage.wait(minutes=1)
        with pytest.raises(Refused):
            await stage.post(forbidden("x", 99))

    audits = of(play({}, script), "AUDIT")
    assert [audit.count for audit in audits] == [1] * 10 + [16]
    assert sum(audit.count for audit in audits) == 26


@pytest.mark.rule("K18")
def test_k18_the_flood_of_one_seat_hides_no_refusal_of_another() -> None:
    async def script(stage: Stage) -> None:
        for n in range(12):
            with pytest.raises(Refused):
                await stage.post(forbidden("x", n))
        with pytest.raises(Refused):
            await stage.post(replace(forbidden("x", 50), author=CRITIC))

    assert [audit.seat for audit in of(play({}, script), "AUDIT")] == ["explorer"] * 10 + ["critic"]


@pytest.mark.rule("K18")
def test_k18_refused_bytes_are_kept_without_secrets_and_not_without_end() -> None:
    async def script(stage: Stage) -> None:
        with pytest.raises(Refused):
            await stage.post(forbidden("my token=xoxb-123456789012-abcdefghijkl " + "long " * 1500, 1))

    (audit,) = of(play({}, script), "AUDIT")
    kept = base64.b64decode(audit.bytes).decode()
    assert "xoxb-123456789012" not in kept and "[redacted:" in kept
    assert audit.truncated and len(kept.encode()) == 4096
    assert (audit.seat, audit.channel) == ("explorer", "#a-verdict")
    assert "REVISE_REQUEST" in audit.reason


# ---------------------------------------------------------------- escalations and seats


def test_an_admin_who_restarts_a_seat_has_its_mind_asked_again() -> None:
    critic = Silent()
    asked: list[list[str]] = []

    async def script(stage: Stage) -> None:
        escalation = await until(
            stage,
            lambda: next((s for s in stage.host.docket.cases.values() if s.kind == "escalation"), None),
            hours=24,
        )
        number = next(o.n for o in escalation.options if o.effect == "restart_seat")
        obligation = await until(stage, lambda: owed(stage, CRITIC, "RISK_ASSESSMENT"))
        await stage.wait(minutes=1)
        before = len(critic.asked)
        answer = EscalationAnswer(escalation_id=escalation.case_id, option=number)
        await stage.post(person(answer, "#admin", escalation.case_id))
        await stage.clock.sleep(timedelta(seconds=1))
        assert stage.host.docket.open.get(obligation.id)
        asked.append([one for one in critic.asked[before:] if one == obligation.id])

    log = play(trio(CannedMind()) | {CRITIC: critic}, script, schedules={"micro": {"cron": "0 */2 * * *"}})
    assert len(asked[0]) == 1
    assert of(log, "ESCALATION_RESOLVED")[0].effect == "restart_seat"
    assert not findings(log)


@pytest.mark.rule("K14")
def test_k14_a_bot_is_silent_while_a_person_holds_its_seat_and_speaks_again_after() -> None:
    async def script(stage: Stage) -> None:
        await stage.post(person(SeatTaken(seat="explorer", user_id="ann", reason="mine")))
        await stage.wait(minutes=8)
        assert "HYPOTHESIS" not in kinds(stage.log)
        await stage.post(person(SeatReleased(seat="explorer", user_id="ann", reason="done"), key="p2"))
        await stage.wait(minutes=2)

    log = play({EXPLORER: CannedMind(), CRITIC: Silent(), EVOLVER: Silent()}, script)
    assert kinds(log)[:5] == ["SOCIETY_STARTED", "SEAT_TAKEN", "CYCLE_TRIGGER", "SEAT_RELEASED", "HYPOTHESIS"]
    assert log[4].tenure == log[3].seq


@pytest.mark.rule("K14")
def test_k14_an_answer_prepared_before_the_seat_was_taken_is_a_violation() -> None:
    async def script(stage: Stage) -> None:
        obligation = await until(stage, lambda: owed(stage, EXPLORER, "HYPOTHESIS"))
        view = await stage.host.view(EXPLORER, obligation)
        assert view is not None
        stale = stage.host.answer_draft(view, bodies.hypothesis(obligation.case_id))
        assert stale is not None
        await stage.post(person(SeatTaken(seat="explorer", user_id="ann", reason="mine")))
        await stage.post(stale)
        assert stage.host.docket.open.get(obligation.id), "it is owed still"
        fresh = stage.host.answer_draft(view, bodies.hypothesis(obligation.case_id))
        assert fresh is not None
        await stage.post(replace(fresh, actor=ANN))
        assert debate_of(stage)
        await stage.wait(minutes=1)

    log = play(trio(Silent()), script)
    (violation,) = of(log, "VIOLATION")
    assert (violation.rule, violation.seat) == ("K14", "explorer")
    assert not findings(log)


@pytest.mark.rule("K14")
def test_k14_a_bot_that_knows_the_tenure_of_who_took_its_seat_is_refused_at_once() -> None:
    async def script(stage: Stage) -> None:
        obligation = await until(stage, lambda: owed(stage, EXPLORER, "HYPOTHESIS"))
        view = await stage.host.view(EXPLORER, obligation)
        assert view is not None
        await stage.post(person(SeatTaken(seat="explorer", user_id="ann", reason="mine")))
        draft = stage.host.answer_draft(view, bodies.hypothesis(obligation.case_id))
        assert draft is not None
        with pytest.raises(Refused, match=r"ann on .* holds explorer, not its bot"):
            await stage.host.publish(draft)
        await stage.post(person(SeatReleased(seat="explorer", user_id="ann", reason="done"), key="p2"))
        tenure = stage.host.docket.context.tenures[EXPLORER]
        with pytest.raises(Refused, match="a bot fills explorer, not ann on"):
            await stage.host.publish(replace(draft, actor=ANN, tenure=tenure))

    log = play({EXPLORER: Silent(), CRITIC: Silent(), EVOLVER: Silent()}, script)
    assert "HYPOTHESIS" not in kinds(log)
    refused = [audit for audit in of(log, "AUDIT") if audit.event == "refused"]
    assert [(audit.seat, "K14" in audit.reason) for audit in refused] == [("explorer", True)] * 2
    assert not findings(log)


@pytest.mark.rule("R-G15")
def test_an_answer_whose_id_answered_an_earlier_duty_is_refused_and_not_dropped() -> None:
    """Logs of older rules have ids that repeat; a duty is opened again here as they open it."""

    async def script(stage: Stage) -> None:
        obligation = await until(stage, lambda: owed(stage, EXPLORER, "HYPOTHESIS"))
        view = await stage.host.view(EXPLORER, obligation)
        assert view is not None
        draft = stage.host.answer_draft(view, bodies.hypothesis(obligation.case_id))
        assert draft is not None
        first = await stage.host.publish(draft)
        assert (await stage.host.publish(draft)).status == "duplicate"
        await stage.wait(minutes=1)
        docket = stage.host.docket
        docket.open[obligation.id] = replace(obligation, opened_at=stage.host.clock.now())
        with pytest.raises(Refused, match=f"taken by message {first.seq}, which answered an earlier duty"):
            await stage.host.publish(
                replace(draft, body=bodies.hypothesis(obligation.case_id, rationale="New."))
            )
        del docket.open[obligation.id]

    log = play({EXPLORER: Silent(), CRITIC: Silent(), EVOLVER: Silent()}, script)
    (refused,) = [audit for audit in of(log, "AUDIT") if audit.event == "refused"]
    assert (refused.seat, "R-G15" in refused.reason) == ("explorer", True)
    assert not findings(log)


@pytest.mark.rule("K14")
def test_k14_two_missed_deadlines_in_a_row_release_a_taken_seat() -> None:
    async def script(stage: Stage) -> None:
        await stage.post(person(SeatTaken(seat="critic", user_id="ann", reason="mine")))
        await until(stage, lambda: "SEAT_RELEASED" in kinds(stage.log), hours=12)
        assert CRITIC not in stage.host.docket.context.holders
        await stage.wait(hours=3)

    log = play(trio(CannedMind()), script, schedules={"micro": {"cron": "0 */2 * * *"}})
    released = next(env for env in log if env.body.type == "SEAT_RELEASED")
    assert released.author == REFEREE
    voided = [
        env.body.obligation_id
        for env in log[: released.seq]
        if env.body.type == "RULING" and "/critic" in (env.body.obligation_id or "")  # type: ignore[attr-defined]
    ]
    assert len(voided) == 2
    assert any(env.author == CRITIC for env in log[released.seq :]), "the bot has its seat back"
    assert not findings(log)


# ---------------------------------------------------------------- K21 and overrides


@pytest.mark.rule("K21")
@pytest.mark.parametrize("scope", ["system A", "the debate"])
def test_k21_a_stop_ends_the_cases_it_names_and_their_bots_fall_silent(scope: str) -> None:
    async def script(stage: Stage) -> None:
        debate = await until(stage, lambda: debate_of(stage))
        await stage.post(person(Stop(scope="A" if scope == "system A" else debate, why="enough")))
        await stage.clock.sleep(timedelta(seconds=1))
        assert debate_of(stage) is None
        if scope == "system A":
            assert not stage.host.docket.cases
            assert not any(bot.busy for bot in stage.bots.values())
        await stage.wait(hours=4)
        assert not stage.host.stop_asked

    slots = {"micro": {"cron": "0 */2 * * *"}}
    log = play(trio(CannedMind()), script, schedules=slots)
    assert of(log, "RULING")[0].reason == "human_stop"
    later = [skip.reason for skip in of(log, "CYCLE_SKIPPED")]
    assert later == (["stopped", "stopped"] if scope == "system A" else [])
    assert not findings(log)


@pytest.mark.rule("K21")
def test_k21_a_stop_of_the_society_is_noted_once_it_stands_in_the_log() -> None:
    async def script(stage: Stage) -> None:
        await stage.wait(minutes=1)
        assert not stage.host.stop_asked
        await stage.post(person(Stop(scope="no such case", why="typo"), key="typo"))
        assert not stage.host.stop_asked
        await stage.post(person(Stop(scope="society", why="bedtime")))
        assert stage.host.stop_asked == "bedtime"

    play(trio(CannedMind()), script)


def test_an_override_of_an_open_debate_takes_effect_at_once() -> None:
    async def script(stage: Stage) -> None:
        debate = await until(stage, lambda: debate_of(stage))
        await stage.wait(minutes=7)
        await stage.post(
            person(Override(case_id=debate, verdict="APPROVE", why="I know"), "#a-arena", debate)
        )
        await until(stage, lambda: "STRATEGY_MOVED" in kinds(stage.log), hours=2)
        await stage.wait(hours=1)

    log = play(trio(CannedMind()), script)
    after = kinds(log)[kinds(log).index("OVERRIDE") + 1 :]
    answers = ["BACKTEST_RESULT", "STRATEGY_MOVED", "CAUSAL_RECORD", "MICRO_CYCLE_REPORT"]
    assert after == [*answers, "HEALTH_CHECK"]
    assert not of(log, "VERDICT")
    assert not findings(log)


@pytest.mark.rule("K23")
def test_k23_an_override_of_an_ended_debate_opens_another_and_leaves_the_old_one_as_it_was() -> None:
    kept: list[Any] = []

    async def script(stage: Stage) -> None:
        await stage.wait(hours=2, minutes=30)
        docket = stage.host.docket
        (ended,) = [e for e in docket.ended.values() if e.kind == "debate"]
        await stage.post(
            person(Override(case_id=ended.case_id, verdict="REJECT", why="no"), "#a-arena", ended.case_id)
        )
        await stage.wait(hours=2)
        linked = [e for e in docket.ended.values() if e.kind == "debate" and e is not ended]
        kept.extend((ended, docket.ended[ended.case_id], linked))

    log = play(trio(CannedMind(verdict="APPROVE")), script)
    ended, same, linked = kept
    assert same == ended and ended.outcome == "approved"
    assert [e.outcome for e in linked] == ["rejected"]
    assert kinds(log)[-1] == "REFLECTION"
    assert not findings(log)
