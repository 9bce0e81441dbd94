"""The guests' door: people only, as themselves, as admins only where they are (K3, K14, R-E5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from moot.channels.bus import Receipt
from moot.channels.errors import Refused
from moot.channels.guests.drafts import draft_to_json
from moot.channels.guests.inbox import accepted
from moot.config.settings import load_settings
from moot.door import Door
from moot.protocols.arena.messages import ArenaDraft, ArenaTask, Review
from moot.protocols.arena.seats import PLANNER, REVIEWER
from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
from moot.protocols.kernel.envelope import BOT, Actor, ActorKind, Draft
from moot.protocols.kernel.message import Message, changed
from moot.protocols.kernel.people import Note, Override, SeatTaken, Stop
from moot.protocols.kernel.seats import ADMIN, REFEREE, TIMEKEEPER, VIEWER, Seat
from moot.protocols.motion.messages import Motion
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from tests.doubles import bodies
from tests.doubles.canned import CannedMind
from tests.doubles.checking import findings
from tests.doubles.copying import replace
from tests.doubles.stage import Stage, play
from tests.doubles.tampering import judged, read, rehashed, write

ANN = Actor("human", "cli", "ann")
BOB = Actor("human", "discord", "bob")
TAKEN = SeatTaken(seat="explorer", user_id="ann", reason="x")


def at_the_door(script: Callable[[Door, Stage], Awaitable[None]]) -> list:
    settings = load_settings(admins={"discord": ["bob"]}).owned({"cli": "ann", "console": "owner"})

    async def run(stage: Stage) -> None:
        await script(Door(stage.host, settings), stage)
        await stage.wait(minutes=1)

    return play({EXPLORER: CannedMind()}, run)


def note(author: Seat, actor: Actor, key: str = "k") -> Draft:
    return Draft(channel="#a-arena", author=author, body=Note(text="hear me"), actor=actor, key=key)


def kinds(log: list) -> list[str]:
    return [env.body.type for env in log]


def test_the_owner_of_the_directory_is_an_admin_on_the_command_line() -> None:
    async def script(door: Door, stage: Stage) -> None:
        receipt = await door.publish(note(ADMIN, ANN))
        assert receipt.status == "accepted"

    assert "NOTE" in kinds(at_the_door(script))


def test_re5_admins_of_a_platform_are_those_of_the_configuration() -> None:
    async def script(door: Door, stage: Stage) -> None:
        await door.publish(note(ADMIN, BOB))
        with pytest.raises(Refused, match="no admin"):
            await door.publish(note(ADMIN, Actor("human", "discord", "eve"), "k2"))
        with pytest.raises(Refused, match="no admin"):
            await door.publish(note(ADMIN, Actor("human", "discord", "ann"), "k3"))

    log = at_the_door(script)
    audits = [env.body for env in log if env.body.type == "AUDIT"]
    assert len(audits) == 2
    assert all(audit.bytes for audit in audits)


def test_re5_an_admin_speaks_as_an_admin_whatever_his_platform_took_him_for() -> None:
    async def script(door: Door, stage: Stage) -> None:
        await door.publish(note(VIEWER, ANN))
        assert (await door.publish(note(VIEWER, ANN))).status == "duplicate"
        await door.publish(note(VIEWER, Actor("human", "cli", "eve"), "k2"))

    authors = [env.author for env in at_the_door(script) if env.body.type == "NOTE"]
    assert authors == [ADMIN, VIEWER]


def test_what_a_person_is_called_is_in_the_log_once_before_they_are_heard_and_again_when_it_changes() -> None:
    eve = Actor("human", "discord", "eve")

    async def script(door: Door, stage: Stage) -> None:
        for n, name in enumerate(("Rob", "Rob", "<@Bobby>", "")):
            said = replace(note(VIEWER, eve, f"k{n}"), display_name=name)
            await door.publish_json(json.loads(draft_to_json(said)), f"k{n}")
        for n in range(2):
            await door.publish(note(VIEWER, Actor("human", "discord", "x" * 150), f"long{n}"))

    log = at_the_door(script)
    heard = [
        getattr(env.body, "display_name", env.body.type)
        for env in log
        if env.body.type in ("PERSON_NAMED", "NOTE")
    ]
    assert heard == ["Rob", "NOTE", "NOTE", "Bobby", "NOTE", "NOTE", "NOTE", "NOTE"]
    assert {env.actor for env in log if env.body.type == "NOTE"} >= {eve}
    assert findings(log) == []


def test_two_acts_at_once_name_a_person_once() -> None:
    async def script(door: Door, stage: Stage) -> None:
        said = [replace(note(ADMIN, BOB, f"k{n}"), display_name="Robert") for n in range(5)]
        await asyncio.gather(*(door.publish(one) for one in said))

    assert kinds(at_the_door(script)).count("PERSON_NAMED") == 1


def test_a_viewer_may_note_but_not_stop() -> None:
    async def script(door: Door, stage: Stage) -> None:
        eve = Actor("human", "cli", "eve")
        await door.publish(note(VIEWER, eve))
        stop = Draft(channel="#admin", author=VIEWER, body=Stop(scope="society", why="x"), actor=eve, key="s")
        with pytest.raises(Refused):
            await door.publish(stop)

    assert kinds(at_the_door(script)).count("NOTE") == 1


@pytest.mark.rule("K1")
def test_k1_a_guest_who_posts_under_the_keys_of_another_swallows_nothing() -> None:
    async def script(door: Door, stage: Stage) -> None:
        eve = Actor("human", "discord", "eve")
        for key in ("page-2", "cli/ann/page-2", "discord/bob/page-2"):
            assert (await door.publish(note(VIEWER, eve, key))).status == "accepted"
        assert (await door.publish(note(ADMIN, ANN, "page-2"))).status == "accepted"
        assert (await door.publish(note(ADMIN, BOB, "page-2"))).status == "accepted"
        # The same person's act comes once, however it comes.
        assert (await door.publish(note(ADMIN, ANN, "cli/ann/page-2"))).status == "duplicate"
        wire = json.loads(draft_to_json(note(ADMIN, ANN, "")))
        assert (await door.publish_json(wire, "page-2"))["status"] == "duplicate"

    assert kinds(at_the_door(script)).count("NOTE") == 5


@pytest.mark.rule("K1")
@pytest.mark.parametrize("platform", ["ruling", "ping", "desk", "micro"])
def test_k1_no_platform_is_called_like_an_officers_ids(platform: str) -> None:
    async def script(door: Door, stage: Stage) -> None:
        with pytest.raises(Refused, match="the form of a derived id"):
            await door.publish(note(VIEWER, Actor("human", platform, "eve")))

    assert "NOTE" not in kinds(at_the_door(script))


@pytest.mark.rule("K3")
@pytest.mark.parametrize("author", [REFEREE, TIMEKEEPER, CRITIC])
def test_k3_a_guest_cannot_speak_for_an_officer_or_a_bot(author: Seat) -> None:
    async def script(door: Door, stage: Stage) -> None:
        for actor in (ANN, BOT, Actor("officer")):
            with pytest.raises(Refused):
                await door.publish(note(author, actor, f"k/{actor.kind}"))

    assert "NOTE" not in kinds(at_the_door(script))


@pytest.mark.rule("K3")
@pytest.mark.parametrize("kind", ["bot", "officer"])
@pytest.mark.parametrize("author", [VIEWER, ADMIN])
def test_k3_a_guest_is_a_person_and_neither_a_bot_nor_an_officer(author: Seat, kind: ActorKind) -> None:
    async def script(door: Door, stage: Stage) -> None:
        with pytest.raises(Refused, match="guests are people"):
            await door.publish(note(author, ANN._replace(kind=kind)))

    assert "NOTE" not in kinds(at_the_door(script))


@pytest.mark.rule("K14")
def test_k14_a_seat_is_spoken_for_by_who_holds_it() -> None:
    async def script(door: Door, stage: Stage) -> None:
        taken = SeatTaken(seat="critic", user_id="ann", reason="")
        await door.publish(Draft(channel="#admin", author=ADMIN, body=taken, actor=ANN, key="take"))
        await stage.wait(minutes=6)
        owed = stage.host.docket.owed_by(CRITIC)[0]
        tenure = stage.host.docket.context.tenures[CRITIC]

        def answer(actor: Actor) -> Draft:
            return Draft(
                channel=owed.channel,
                author=CRITIC,
                body=bodies.assessment(),
                actor=actor,
                case_id=owed.case_id,
                obligation_id=owed.id,
                tenure=tenure,
            )

        with pytest.raises(Refused, match="ann on cli holds critic, not bob on discord"):
            await door.publish(answer(BOB))
        # Somebody of the same name on another platform is another person.
        with pytest.raises(Refused, match="ann on cli holds critic, not ann on discord"):
            await door.publish(answer(Actor("human", "discord", "ann")))
        assert (await door.publish(answer(ANN))).status == "accepted"

    log = at_the_door(script)
    assert "VIOLATION" not in kinds(log)
    assert kinds(log).count("RISK_ASSESSMENT") == 1


def test_what_is_no_draft_is_refused_and_kept() -> None:
    async def script(door: Door, stage: Stage) -> None:
        with pytest.raises(Refused):
            await door.publish_json({"channel": "#a-arena", "token": "xoxb-123456789012-abcdefghijkl"}, "k")

    log = at_the_door(script)
    audit = next(env.body for env in log if env.body.type == "AUDIT")
    assert audit.bytes
    assert "xoxb-123456789012" not in audit.reason


@pytest.mark.rule("K14")
def test_k14_a_person_in_the_reviewers_seat_only_writes_the_review() -> None:
    async def script(door: Door, stage: Stage) -> None:
        task = {"task_id": "t", "initial_prompt": "plan", "session_id": "s"}
        opener = ArenaTask(config={"notebook_enabled": False}, task=task)
        await door.publish(Draft(channel="#r-arena", author=ADMIN, body=opener, actor=ANN, key="run"))
        for seat in (PLANNER, REVIEWER):
            taken = SeatTaken(seat=seat, user_id="ann", reason="I look myself")
            await door.publish(
                Draft(channel="#admin", author=ADMIN, body=taken, actor=ANN, key=f"take-{seat}")
            )

        def answer(seat: Seat, body: Message) -> Draft:
            (owed,) = stage.host.docket.owed_by(seat)
            return Draft(
                channel=owed.channel,
                author=seat,
                body=body,
                actor=ANN,
                case_id=owed.case_id,
                obligation_id=owed.id,
                tenure=stage.host.docket.context.tenures[seat],
            )

        for verdict in ("REVISE", "APPROVED"):
            await door.publish(answer(PLANNER, ArenaDraft(text="a plan")))
            await door.publish(answer(REVIEWER, Review(text=f"- one thing\nVERDICT: {verdict}")))

    log = at_the_door(script)
    assert "VIOLATION" not in kinds(log)
    reviews = [env.body for env in log if env.body.type == "REVIEW"]
    assert [(one.round_index, one.attempt, one.session_id) for one in reviews] == [(1, 1, "s"), (2, 1, "s")]
    assert [one.unresolved for one in reviews] == [(), ("r1-1",)]


def answers(*given: Message) -> list[Receipt]:
    """Let an admin say something about the first escalation, one after the other."""
    receipts: list[Receipt] = []

    async def run(stage: Stage) -> None:
        door = Door(stage.host, load_settings(admins={"discord": ["bob"]}))
        await stage.wait(hours=24, minutes=1)
        (case_id,) = [
            state.case_id for state in stage.host.docket.cases.values() if state.kind == "escalation"
        ]
        for n, body in enumerate(given):
            named = changed(body, "escalation_id", body.escalation_id or case_id)  # type: ignore[attr-defined]
            draft = Draft(
                channel="#admin",
                author=ADMIN,
                body=named,
                actor=BOB,
                case_id=named.escalation_id,
                key=f"k{n}",
            )
            receipts.append(await door.publish(draft))
        receipts.append(await door.publish(draft))
        named_case.append(case_id)

    named_case: list[str] = []
    play({EVOLVER: CannedMind()}, run)
    return [receipt._replace(note=receipt.note.replace(named_case[0], "ESC")) for receipt in receipts]


@pytest.mark.rule("R-E4")
@pytest.mark.parametrize(
    ("given", "notes"),
    [
        ((EscalationAck(), EscalationAnswer(option=1)), ["", "", ""]),
        ((EscalationAck(), EscalationAck()), ["", *["ESC was acknowledged or answered before"] * 2]),
        ((EscalationAnswer(option=9),), ["there is no option 9: choose 1, 2, 3"] * 2),
        (
            (EscalationAnswer(escalation_id="esc_x", option=1),),
            ["there is no open case esc_x: /escalations lists what waits"] * 2,
        ),
    ],
)
def test_r_e4_an_answer_that_changes_nothing_is_told_in_the_receipt_also_when_it_is_repeated(
    given: tuple[Message, ...], notes: list[str]
) -> None:
    receipts = answers(*given)
    assert [receipt.note for receipt in receipts] == notes
    assert receipts[-1].status == "duplicate"


@pytest.mark.rule("R-G13")
@pytest.mark.parametrize("late", [EscalationAnswer(option=1), EscalationAnswer(text="wait"), EscalationAck()])
def test_an_answer_to_a_resolved_escalation_is_told_once_a_person_and_changes_nothing(late: Message) -> None:
    ann, bob = Actor("human", "cli", "ann"), BOB

    async def run(stage: Stage) -> None:
        door = Door(stage.host, load_settings(admins={"discord": ["bob"], "cli": ["ann"]}))
        await stage.wait(hours=24, minutes=1)
        case_id = next(s.case_id for s in stage.host.docket.cases.values() if s.kind == "escalation")

        def said(body: Message, actor: Actor, key: str) -> Draft:
            named = changed(body, "escalation_id", case_id)
            return Draft(channel="#admin", author=ADMIN, body=named, actor=actor, case_id=case_id, key=key)

        assert (await door.publish(said(EscalationAnswer(option=1), bob, "first"))).status == "accepted"
        await stage.wait(minutes=1)
        for n, actor in enumerate([bob, bob, ann, bob]):
            with pytest.raises(Refused, match=rf"{case_id} was answered before; that stands") as caught:
                await door.publish(said(late, actor, f"late{n}"))
            assert caught.value.rule == "R-G13"
        assert (await door.publish(said(EscalationAnswer(option=1), bob, "first"))).status == "duplicate"

    log = play({EVOLVER: CannedMind()}, run)
    assert [env.body.type for env in log if env.author == ADMIN] == ["ESCALATION_ANSWER"]
    audits = [env for env in log if env.body.type == "AUDIT" and "was answered before" in env.body.reason]
    assert len(audits) == 2, "one of each person"


def test_a_receipt_names_the_case_that_a_message_opened_also_when_it_is_repeated() -> None:
    async def script(door: Door, stage: Stage) -> None:
        asked = Draft(
            channel="#motions", author=ADMIN, body=Motion(question="Where?"), actor=ANN, key="where"
        )
        first, again = await door.publish(asked), await door.publish(asked)
        state = stage.host.docket.cases[first.opened]
        assert (state.kind, again.opened, again.status) == ("motion", first.opened, "duplicate")
        assert accepted(first)["opened"] == first.opened
        assert (await door.publish(note(ADMIN, ANN))).opened == ""

    assert "MOTION" in kinds(at_the_door(script))


def test_a_guest_reads_the_note_and_without_one_its_receipt_is_as_it_always_was() -> None:
    assert accepted(Receipt(3, "k")) == {"status": "accepted", "id": "k", "seq": 3}
    assert accepted(Receipt(3, "k", note="too late"))["note"] == "too late"


def test_whoever_has_the_printed_address_is_an_admin_on_the_console_and_nobody_else_there() -> None:
    async def script(door: Door, stage: Stage) -> None:
        assert door.seat_of("console", "owner") == ADMIN
        assert door.seat_of("console", "viewer") == VIEWER
        assert door.seat_of("slack", "owner") == VIEWER

    at_the_door(script)


@pytest.mark.rule("K1", "K9", "K14", "K21")
@pytest.mark.parametrize(
    ("over", "rule", "field"),
    [
        ({"in_reply_to": "nothing/at/all"}, "K1", "in_reply_to"),
        ({"case_id": "hyp_20260223_1000"}, "K9", "case_id"),
        ({"tenure": 3}, "K14", "tenure"),
        ({"hops": 2}, "K21", "hops"),
        ({"attempt": 1}, "K1", "attempt"),
        ({"key": "mine/aside-1"}, "K1", "key"),
        ({"key": "", "obligation_id": "hyp_20260223_1000/verdict/admin"}, "K1", "obligation_id"),
        ({"body": Override(case_id="hyp_20260223_1000", verdict="REJECT", why="x"), "case_id": "c"}, "K9", "case_id"),
        ({"body": TAKEN, "channel": "#admin", "case_id": "c"}, "K9", "case_id"),
    ],
)  # fmt: skip
def test_k1_k9_k14_k21_what_verify_would_find_is_refused_at_the_door(
    over: dict[str, Any], rule: str, field: str
) -> None:
    async def script(door: Door, stage: Stage) -> None:
        said = (await door.publish(note(ADMIN, ANN, "first"))).id
        assert (await door.publish(replace(note(ADMIN, ANN, "reply"), in_reply_to=said))).seq
        with pytest.raises(Refused) as caught:
            await door.publish(replace(note(ADMIN, ANN), **over))
        assert (caught.value.violation.rule, caught.value.violation.field) == (rule, field)

    log = at_the_door(script)
    assert judged(_lines(log)).findings == ()


@pytest.mark.rule("K14")
def test_k14_whoever_holds_a_seat_speaks_in_its_tenure_and_answers_what_it_owes() -> None:
    async def script(door: Door, stage: Stage) -> None:
        seq = (await door.publish(Draft(
            channel="#admin", author=ADMIN, body=TAKEN, actor=ANN, key="take"
        ))).seq  # fmt: skip
        await stage.wait(minutes=1)
        (owed,) = stage.host.docket.owed_by(EXPLORER)
        answer = Draft(
            channel="#a-arena", author=EXPLORER, body=bodies.hypothesis(owed.case_id), actor=ANN,
            case_id=None, obligation_id=owed.id, tenure=seq,
        )  # fmt: skip
        for wrong in (
            replace(answer, tenure=0),
            replace(answer, attempt=1),
            replace(answer, in_reply_to="take"),
            replace(answer, obligation_id="cycle_19990101_0000/hypothesis/explorer"),
        ):
            with pytest.raises(Refused):
                await door.publish(wrong)
        assert (await door.publish(answer)).status == "accepted"

    log = at_the_door(script)
    assert kinds(log).count("HYPOTHESIS") == 1
    assert judged(_lines(log)).findings == ()


def _lines(log: list) -> str:
    """Return a log as verify reads it; this one's configuration names ann, who acts in it."""
    lines = read("".join(env.line + "\n" for env in log))
    lines[0]["body"]["config"]["admins"] = {"cli": ["ann"], "discord": ["bob"]}
    return write(rehashed(lines))
