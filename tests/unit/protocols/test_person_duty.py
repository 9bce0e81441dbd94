"""A person's duty with a deadline and an outcome on silence (R-G16)."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

import moot
from moot.protocols.kernel.deadlines import MAX_REMINDERS
from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.errors import Late, OfficerFault
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import DutyNotice, Ruling, TimeoutPing
from moot.protocols.kernel.seats import ADMIN, OFFICERS, PEOPLE, REFEREE, VIEWER
from moot.protocols.rulebook import rulebook, speak
from moot.simulation.scene import parse_scene, run_scene
from tests.doubles.checking import findings, unlawful
from tests.doubles.permits import permits, spoken
from tests.doubles.table import START, Table

TICK = timedelta(microseconds=1)
HALF_HOUR = timedelta(minutes=30)
CASE = "permit_20260223_1000"
DUTY = f"{CASE}/permit/admin"
UNTIL = START + timedelta(hours=2)
QUIET = {"desk": {"enabled": False}}


@pytest.fixture
def protocol():
    with spoken() as module:
        yield module


def opened(protocol, table=None):
    """Return a table at which the admin owes a permit."""
    table = table or Table(schedules={}, config=QUIET)
    table.say(ADMIN, protocol.Request(text="a shed"), channel="#permits")
    table.say("surveyor", protocol.Survey(request_id=CASE, safe=True))
    return table


def decide(protocol, table, **how):
    how.setdefault("channel", "#permits")
    return table.say(ADMIN, protocol.Permit(request_id=CASE, granted=True), case_id=CASE, **how)


@pytest.mark.rule("R-G16")
def test_a_silent_person_is_reminded_each_half_hour_and_then_ruled_on(protocol):
    table = opened(protocol)
    table.until(START + timedelta(hours=2) - TICK)
    assert table.kinds().count("DUTY_NOTICE") == 4 and DUTY in table.docket.open
    reminders = [e for e in table.log if e.body.type == "DUTY_NOTICE"]
    assert [e.sent_at - START for e in reminders] == [n * HALF_HOUR for n in range(4)]
    assert [e.body.n for e in reminders] == [0, 1, 2, 3]
    assert {e.body.expects for e in reminders} == {("PERMIT",)}
    assert all(e.body.brief == {"request": "a shed", "safe": True} for e in reminders)
    assert {e.body.until for e in reminders} == {UNTIL}
    assert {(e.channel, e.case_id, e.body.seat) for e in reminders} == {("#permits", CASE, "admin")}
    table.until(START + timedelta(hours=2))
    ruling = table.last("RULING")
    assert (ruling.body.outcome, ruling.body.reason, ruling.body.rule) == ("refuse", "timeout", "permits 3")
    assert table.docket.ended[CASE].outcome == "lapsed" and not table.docket.deadlines.notices
    assert "TIMEOUT_PING" not in table.kinds() and "ESCALATION" not in table.kinds()
    assert findings(table.log) == [] and unlawful(e.line for e in table.log) == []


@pytest.mark.rule("R-G16")
def test_a_person_is_reminded_five_times_at_most(protocol):
    machine = protocol.PERMIT
    steps = {**machine.steps, "permit": replace(machine.steps["permit"], within=timedelta(days=1))}
    speak((replace(protocol.PROTOCOL, cases=(replace(machine, steps=steps),)),))
    table = opened(protocol)
    table.wait(days=1)
    assert table.kinds().count("DUTY_NOTICE") == 1 + MAX_REMINDERS == 6
    assert table.kinds().count("RULING") == 1
    assert findings(table.log) == [] and unlawful(e.line for e in table.log) == []


@pytest.mark.rule("R-G16")
@pytest.mark.parametrize(("minutes", "grace", "notices"), [(29, 0, 1), (30, 0, 1), (30, 1, 2), (20, 45, 3)])
def test_the_grace_belongs_to_the_deadline_and_no_reminder_comes_with_the_ruling(
    protocol, minutes, grace, notices
):
    machine = protocol.PERMIT
    short = replace(
        machine.steps["permit"], within=timedelta(minutes=minutes), grace=timedelta(minutes=grace)
    )
    speak((replace(protocol.PROTOCOL, cases=(replace(machine, steps={**machine.steps, "permit": short}),)),))
    table = opened(protocol)
    table.until(START + timedelta(minutes=minutes + grace) - TICK)
    assert "RULING" not in table.kinds()
    table.wait(hours=1)
    assert (table.kinds().count("DUTY_NOTICE"), table.kinds().count("RULING")) == (notices, 1)


@pytest.mark.rule("R-G16")
@pytest.mark.parametrize("is_named", [True, False], ids=["names its duty", "names none"])
def test_an_answer_at_the_last_instant_counts_and_one_after_the_ruling_is_late(protocol, is_named):
    table = opened(protocol)
    table.until(START + timedelta(hours=2) - TICK)
    owed = table.docket.open[DUTY]
    early = decide(protocol, table, owed=owed if is_named else None)
    assert table.docket.ended[CASE].outcome == "granted" and table.effects[early.seq - 1].settled == owed
    table.wait(hours=3)
    assert "RULING" not in table.kinds() and table.kinds().count("DUTY_NOTICE") == 4

    table = opened(protocol)
    table.wait(hours=2)
    late = decide(protocol, table, owed=owed if is_named else None)
    found = table.effects[late.seq - 1].violation
    assert type(found) is Late and found.rule == "R-E4" and "late" in found.why
    assert table.docket.ended[CASE].outcome == "lapsed"
    assert (table.last("VIOLATION").body.seat, table.last("VIOLATION").body.rule) == ("admin", "R-E4")
    assert findings(table.log) == []


@pytest.mark.rule("R-G16")
def test_first_in_the_log_wins_where_an_answer_overtakes_the_ruling(protocol):
    table = opened(protocol)
    table.now = START + timedelta(hours=2)
    due = list(table.docket.due(table.now))
    assert [draft.body.type for draft in due] == ["DUTY_NOTICE"], "reminders that are left come first"
    table.officers()
    table = opened(protocol)
    table.until(START + timedelta(hours=2) - TICK)
    table.now = START + timedelta(hours=2)
    (ruling,) = table.docket.due(table.now)
    table.post(ADMIN, protocol.Permit(request_id=CASE, granted=True), channel="#permits", case_id=CASE)
    table.publish(ruling)
    assert table.effects[-1].superseded and table.docket.ended[CASE].outcome == "granted"
    assert findings(table.log) == []


@pytest.mark.rule("R-G16", "K6")
@pytest.mark.parametrize("crash", [False, True])
def test_an_outage_is_nobodys_silence(protocol, crash):
    table = opened(protocol)
    table.wait(minutes=45)
    decided_at = table.now if not crash else table.log[-1].sent_at
    table.down(hours=9, crash=crash)
    gap = table.now - decided_at
    table.until(START + gap + timedelta(hours=1) - TICK)
    assert table.kinds().count("DUTY_NOTICE") == 2
    table.until(START + gap + timedelta(hours=2) - TICK)
    assert table.kinds().count("DUTY_NOTICE") == 4 and "RULING" not in table.kinds()
    assert table.last("DUTY_NOTICE").body.until == UNTIL + gap
    table.wait(minutes=1)
    assert table.kinds().count("RULING") == 1
    assert findings(table.log) == [] and unlawful(e.line for e in table.log) == []


def notice(o, n):
    brief = {"request": "a shed", "safe": True}
    body = DutyNotice(obligation_id=o.id, seat=o.seat, n=n, until=UNTIL, expects=("PERMIT",), brief=brief)
    return body, f"notice/{o.id}/{n}"


FORGED = {
    "a ping": lambda o: (TimeoutPing(obligation_id=o.id, seat=o.seat, waited_min=120.0), f"ping/{o.id}"),
    "an early reminder": lambda o: notice(o, 1),
    "a second reminder": lambda o: notice(o, 2),
    "an early ruling": lambda o: (
        Ruling(obligation_id=o.id, case_id=None, outcome="refuse", reason="timeout", rule="permits 3"),
        f"ruling/{o.id}",
    ),
}


@pytest.mark.rule("R-G16")
@pytest.mark.parametrize("name", FORGED)
def test_the_referee_neither_pings_a_person_nor_reminds_or_rules_early(protocol, name):
    table = opened(protocol)
    owed = table.docket.open[DUTY]
    body, key = FORGED[name](owed)
    table.now += timedelta(minutes=10)
    draft = Draft(channel="#permits", author=REFEREE, actor=OFFICER, body=body, case_id=CASE, key=key)
    table.publish(draft)
    # In a case of a protocol that is not Moot's own such a message ends the case (R-G14), and not as it says.
    assert (
        isinstance(table.effects[-1].fault.error, OfficerFault)
        and table.docket.cases[CASE].phase == "deciding"
    )
    table.officers()
    assert table.docket.ended[CASE].outcome == "faulted"
    if name == "a ping":
        assert any("a person" in one for one in findings(table.log))
        assert any("never pinged" in one for one in unlawful(e.line for e in table.log))


@pytest.mark.rule("R-G16")
def test_a_reminder_that_is_missing_or_altered_is_found(protocol):
    table = opened(protocol)
    table.wait(hours=3)
    place = next(n for n, e in enumerate(table.log) if e.body.type == "DUTY_NOTICE" and e.body.n)
    left_out = [*table.log[:place], *(replace(env, seq=env.seq - 1) for env in table.log[place + 1 :])]
    assert findings(left_out)
    table = opened(protocol)
    table.until(START + HALF_HOUR - TICK)
    table.now = START + HALF_HOUR
    (due,) = table.docket.due(table.now)
    altered = due.body.model_copy(update={"until": UNTIL + HALF_HOUR})
    table.publish(replace(due, body=altered))
    assert isinstance(table.effects[-1].fault.error, OfficerFault)


@pytest.mark.rule("R-G16")
def test_a_brief_that_is_no_json_is_told_in_words(protocol):
    machine = protocol.PERMIT
    step = replace(
        machine.steps["permit"], brief=lambda state, _given: {"until": START, 3: ("a", UNTIL - START)}
    )
    speak((replace(protocol.PROTOCOL, cases=(replace(machine, steps={**machine.steps, "permit": step}),)),))
    table = opened(protocol)
    assert table.last("DUTY_NOTICE").body.brief == {"until": str(START), "3": ("a", "2:00:00")}
    step = replace(machine.steps["permit"], brief=lambda state, _given: {"all": "x" * 30_000})
    speak((replace(protocol.PROTOCOL, cases=(replace(machine, steps={**machine.steps, "permit": step}),)),))
    assert len(opened(protocol).last("DUTY_NOTICE").body.brief["context"]) == 8_001


@pytest.mark.rule("R-G14", "R-G16")
def test_a_brief_that_differs_in_another_process_stops_nobody(protocol):
    machine, said = protocol.PERMIT, iter(range(1_000))
    step = replace(machine.steps["permit"], brief=lambda _state, _given: {"n": next(said), "it": object()})
    speak((replace(protocol.PROTOCOL, cases=(replace(machine, steps={**machine.steps, "permit": step}),)),))
    table = opened(protocol)
    table.wait(hours=3)
    assert table.kinds().count("DUTY_NOTICE") > 2
    assert findings(table.log) == [], "what people were shown stands as it is logged"


@pytest.mark.rule("R-G16", "R-G17")
@pytest.mark.parametrize("version", ["2", "3"])
def test_logs_of_earlier_rules_leave_it_owed(protocol, version):
    class Old(Table):
        rules_version = version

    table = opened(protocol, Old(schedules={}, config=QUIET))
    table.wait(days=2)
    assert not {"RULING", "DUTY_NOTICE", "TIMEOUT_PING"} & set(table.kinds())
    assert DUTY in table.docket.open
    decide(protocol, table)
    assert table.docket.ended[CASE].outcome == "granted"


@pytest.mark.rule("R-G16")
def test_a_person_whose_step_declares_nothing_is_left_in_peace(protocol):
    machine = protocol.PERMIT
    steps = {**machine.steps, "permit": replace(machine.steps["permit"], missed=None)}
    speak((replace(protocol.PROTOCOL, cases=(replace(machine, steps=steps),)),))
    table = opened(protocol)
    table.wait(days=3)
    assert not {"RULING", "DUTY_NOTICE", "TIMEOUT_PING"} & set(table.kinds())
    assert DUTY in table.docket.open
    assert findings(table.log) == []


@pytest.mark.rule("R-G16")
def test_a_viewers_duty_and_one_whose_seat_depends_on_its_subject_are_ruled_on_too(protocol):
    machine, rights = protocol.PERMIT, protocol.PROTOCOL.rights
    both = replace(
        machine.steps["permit"],
        seat=lambda subject: subject,
        subjects=lambda _state: (ADMIN, VIEWER),
        missed=replace(
            machine.steps["permit"].missed,
            move=moot.protocols.kernel.steps.Move(("deciding", "ended"), _last_one_ends),
        ),
    )
    shared = tuple(
        right._replace(seats=frozenset({ADMIN, VIEWER})) if right.type == "PERMIT" else right
        for right in rights
    )
    speak(
        (
            replace(
                protocol.PROTOCOL,
                uses=(ADMIN, VIEWER),
                rights=shared,
                cases=(replace(machine, steps={**machine.steps, "permit": both}),),
            ),
        )
    )
    table = opened(protocol)
    table.wait(hours=3)
    assert [e.body.obligation_id for e in table.log if e.body.type == "RULING"] == [
        DUTY,
        f"{CASE}/permit/viewer",
    ]
    assert table.kinds().count("DUTY_NOTICE") == 8
    assert findings(table.log) == [] and unlawful(e.line for e in table.log) == []


def _last_one_ends(state, given):
    is_last = len(state.owed) == 1
    return moot.protocols.kernel.steps.Effect(
        to="ended" if is_last else "deciding", outcome="lapsed" if is_last else None
    )


@pytest.mark.rule("R-G16")
def test_no_duty_of_a_person_of_moots_own_protocols_changes(protocol):
    found = [
        (kind, name)
        for kind, machine in rulebook().types.items()
        for name, step in machine.steps.items()
        if not callable(step.seat) and step.seat in PEOPLE and step.missed is not None
    ]
    assert found == [("permit", "permit")] and not PEOPLE & OFFICERS
    assert not Obligation(DUTY, CASE, ADMIN, (), "#permits", START, START, HALF_HOUR).can_be_missed


@pytest.mark.rule("R-G16")
def test_an_own_protocol_is_lived_with_the_public_api():
    module = permits("permits_api")

    async def main():
        script = {"script": [{"type": "SURVEY", "delay": "5m", "safe": True}]}
        async with moot.society(module, minds={"surveyor": script}, people=["ann"]) as s:
            asked = await s.post("ann", module.Request(text="a shed"))
            assert (await s.expect("DUTY_NOTICE", within="1h")).body.n == 0
            assert (await s.expect("DUTY_NOTICE", within="1h")).body.n == 1
            await s.expect("RULING", within="3h")
            with pytest.raises(moot.Refused) as late:
                await s.post("ann", module.Permit(request_id=asked.case_id, granted=True))
            assert late.value.rule == "R-E4" and s.case().outcome == "lapsed"
            await s.advance(hours=1)
            assert s.verify().ok

    asyncio.run(main())


@pytest.mark.rule("R-G16", "R-D19")
def test_a_simulated_admin_answers_it_as_any_simulated_seat_does(protocol):
    scene = {
        "start": "2026-02-23T10:00:00Z",
        "until": "6h",
        "cycle": "none",
        "systems": [],
        "minds": {"admin": {}, "surveyor": {"script": [{"type": "SURVEY", "safe": True}]}},
        "inject": [{"after": "5m", "seat": "admin", "body": {"type": "PERMIT_REQUEST", "text": "a shed"}}],
    }
    log = run_scene(parse_scene(scene)).envelopes
    assert [env.body.type for env in log if env.author == ADMIN] == ["PERMIT_REQUEST", "PERMIT"]
    assert "RULING" not in {env.body.type for env in log} and findings(log) == []
