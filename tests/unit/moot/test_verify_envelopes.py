"""Fields around a body, of bots, people and officers: what odd things are legal, and what never is (K1, K5, K14)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.protocols.kernel.docket import MAX_HOPS
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.people import Note, SeatReleased, SeatTaken
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.kernel.seats import Seat
from moot.protocols.research import messages as m
from moot.protocols.research.seats import CRITIC as CRITIC_SEAT
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from moot.protocols.research.seats import EXPLORER as EXPLORER_SEAT
from moot.verify import Report, verify
from tests.doubles import bodies
from tests.doubles.checking import InHand
from tests.doubles.copying import replace
from tests.doubles.table import Table
from tests.doubles.tampering import judged, rehashed

EXPLORER, CRITIC, EVOLVER, ADMIN = EXPLORER_SEAT, CRITIC_SEAT, EVOLVER_SEAT, ADMIN_SEAT
ANN = Actor("human", "test", "ann")


def opened() -> Table:
    """Open a debate that waits for its first assessment."""
    table = Table()
    table.wait(minutes=3)
    table.say(EXPLORER, bodies.hypothesis(table.last("CYCLE_TRIGGER").body.cycle_id))  # type: ignore[attr-defined]
    table.wait(minutes=3)
    return table


def draft(table: Table, seat: Seat, body: Any, **over: Any) -> Draft:
    """Make the draft of an answer as a host would, then change it."""
    owed = table.owed(seat, body.type)
    made = Draft(
        channel=owed.channel,
        author=seat,
        body=body,
        case_id=owed.case_id,
        obligation_id=owed.id,
        attempt=table.docket.attempts.get(owed.id, 0),
    )
    return replace(made, **over)


def report(table: Table) -> Report:
    table.officers()
    table.wait(minutes=2)
    table.stop()
    return verify(InHand(table.log), evidence=False)


def found(table: Table) -> list[tuple[int, str]]:
    return [(f.seq, f.invariant) for f in report(table).findings]


# ---------------------------------------------------------------- legal, with a VIOLATION beside it


def test_an_answer_after_the_ruling_is_late_and_no_finding() -> None:
    table = opened()
    late = draft(table, CRITIC, bodies.assessment(1))
    table.wait(minutes=40)
    table.publish(late)
    assert table.docket.pending
    assert found(table) == []


def test_an_answer_of_an_older_tenure_is_no_finding() -> None:
    table = opened()
    table.say(ADMIN, SeatTaken(seat="critic", user_id="ann", reason=""), channel="#admin")
    table.publish(draft(table, CRITIC, bodies.assessment(1)))
    assert table.docket.pending
    assert found(table) == []


def test_a_person_answers_in_a_seat() -> None:
    table = opened()
    taken = table.say(ADMIN, SeatTaken(seat="critic", user_id="ann", reason=""), channel="#admin")
    table.publish(draft(table, CRITIC, bodies.assessment(1), actor=ANN, tenure=taken.seq))
    assert not table.docket.pending
    assert found(table) == []


def test_a_chain_that_is_too_long_is_no_finding() -> None:
    table = opened()
    table.publish(
        Draft(
            channel="#a-research",
            author=EXPLORER,
            body=m.ResearchNote(title="", findings=(), sources=()),
            key="ring",
            hops=MAX_HOPS + 1,
        )
    )
    assert table.docket.pending
    assert found(table) == []


# ---------------------------------------------------------------- never legal


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"id": "mine"}, "id: an answer to"),
        ({"attempt": 1}, "attempt: 0 answers broke a rule before it, not 1"),
        ({"obligation_id": "nobody/owes/critic"}, "obligation_id: nobody ever owed nobody/owes/critic"),
        ({"obligation_id": "nothing"}, "obligation_id: nobody ever owed nothing"),
        ({"obligation_id": None}, "obligation_id: none, but the id hyp_"),
        (
            {"obligation_id": "hyp_20260223_1003/assessment-1/evolver"},
            "obligation_id: hyp_20260223_1003/assess",
        ),
        ({"obligation_id": None, "id": "k", "attempt": 2}, "attempt: 2, although it answers no obligation"),
        ({"in_reply_to": "never-said"}, "in_reply_to: no message before it has the id never-said"),
        ({"in_reply_to": "started/1"}, "in_reply_to, hops: "),
        ({"hops": 1}, "in_reply_to, hops: "),
        ({"actor": {"kind": "human", "platform": "test", "user_id": "ann"}}, "actor: a bot fills critic"),
        ({"actor": {"kind": "bot", "platform": "discord", "user_id": "x"}}, "actor: a bot fills critic"),
        ({"tenure": 3}, "tenure: critic was neither taken nor released at seq 3"),
        ({"case_id": "other"}, "case_id: it is other, the body names hyp_"),
    ],
)
def test_a_host_never_writes_this(fields: dict[str, Any], why: str) -> None:
    table = opened()
    seq = table.say(CRITIC, bodies.assessment(1)).seq
    table.stop()
    lines = [json.loads(env.line) for env in table.log]
    lines[seq - 1].update(fields)
    findings = judged(rehashed(lines)).findings
    assert any(f.seq == seq and f.invariant == "envelope" and f.why.startswith(why) for f in findings)


@pytest.mark.parametrize(
    ("actor", "tenure"), [(Actor("bot"), None), (Actor("human", "test", "bob"), None), (ANN, 0)]
)
def test_a_seat_answers_by_its_holder(actor: Actor, tenure: int | None) -> None:
    table = opened()
    taken = table.say(ADMIN, SeatTaken(seat="critic", user_id="ann", reason=""), channel="#admin")
    tenure = taken.seq if tenure is None else tenure
    env = table.publish(draft(table, CRITIC, bodies.assessment(1), actor=actor, tenure=tenure))
    assert env is not None
    assert (env.seq, "envelope") in found(table)


def test_a_released_seat_is_a_bots_again() -> None:
    table = opened()
    table.say(ADMIN, SeatTaken(seat="critic", user_id="ann", reason=""), channel="#admin")
    left = table.say(ADMIN, SeatReleased(seat="critic", user_id="ann", reason=""), channel="#admin")
    table.publish(draft(table, CRITIC, bodies.assessment(1), tenure=left.seq))
    assert found(table) == []


@pytest.mark.parametrize(
    "over",
    [
        {"actor": Actor("bot")},
        {"tenure": 1},
        {"hops": 1},
        {"attempt": 1},
    ],
)
def test_what_people_say_of_their_own_has_nothing_of_an_answer(over: dict[str, Any]) -> None:
    table = opened()
    note = Draft(channel="#a-arena", author=ADMIN, actor=ANN, body=Note(text="hm"), key="n")
    env = table.publish(replace(note, **over))
    assert env is not None
    assert (env.seq, "envelope") in found(table)


def test_a_note_of_another_case_than_its_own_is_refused_and_found() -> None:
    table = opened()
    note = Draft(channel="#a-arena", author=ADMIN, actor=ANN, body=Note(text="hm"), key="n")
    with pytest.raises(Malformed, match="does not belong to elsewhere"):
        table.publish(replace(note, case_id="elsewhere"))
    table.gate.admit = lambda draft: draft  # type: ignore[method-assign]
    env = table.publish(replace(note, case_id="elsewhere"))
    assert env is not None
    assert (env.seq, "envelope") in found(table)


def test_an_aside_goes_with_its_answer() -> None:
    table = Table()
    owed = table.owed(EXPLORER, "HYPOTHESIS")
    cause = table.last("CYCLE_TRIGGER")
    aside = Draft(
        channel="#a-research",
        author=EXPLORER,
        body=m.ResearchNote(title="", findings=(), sources=()),
        key=f"{owed.id}/0/aside-1",
        in_reply_to=cause.id,
        hops=1,
    )
    table.publish(aside)
    assert found(table) == []

    table = Table()
    table.publish(replace(aside, hops=2))
    table.publish(replace(aside, key=f"{owed.id}/1/aside-1"))
    assert [seq for seq, invariant in found(table) if invariant == "envelope"] == [3, 4]


# ---------------------------------------------------------------- officers


@pytest.mark.parametrize(("minutes", "ok"), [(0.0, True), (0.01, True), (1.0, False)])
def test_a_ping_may_be_overtaken_by_the_answer_but_only_just(minutes: float, ok: bool) -> None:
    table = opened()
    due = table.owed(CRITIC, "RISK_ASSESSMENT").due_at
    table.now = due
    ping = next(iter(table.docket.due(due)))
    table.post(CRITIC, bodies.assessment(1))
    table.officers()
    table.wait(minutes=minutes)
    env = table.publish(ping)
    assert env is not None
    assert table.effects[-1].superseded
    assert found(table) == ([] if ok else [(env.seq, "officer")])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("actor", "kind"), "bot"),
        (("actor", "user_id"), "ann"),
        (("attempt",), 1),
        (("tenure",), 1),
        (("hops",), 1),
        (("in_reply_to",), "started/1"),
        (("case_id",), "other"),
        (("channel",), "#bridge"),
        (("id",), "mine"),
    ],
)
@pytest.mark.parametrize(
    "kind", ["CYCLE_TRIGGER", "TIMEOUT_PING", "RULING", "VIOLATION", "REFLECTION", "AUDIT"]
)
def test_officers_envelopes_are_fixed(kind: str, path: tuple[str, ...], value: object) -> None:
    table = opened()
    table.say(CRITIC, bodies.assessment(2))
    table.wait(minutes=40)
    table.stop()
    lines = [json.loads(env.line) for env in table.log]
    index = next(n for n, line in enumerate(lines) if line["body"]["type"] == kind)
    place = lines[index]
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    findings = judged(rehashed(lines)).findings
    assert index + 1 in [f.seq for f in findings]
