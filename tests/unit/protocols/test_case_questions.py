"""Escalations by a protocol's own trigger, and the way of their answers back to the case (R-G16)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from moot.protocols.escalation.messages import Escalation, EscalationAck, EscalationAnswer
from moot.protocols.escalation.triggers import TRIGGERS
from moot.protocols.escalation.watch import Condition, Source
from moot.protocols.kernel.errors import LocalProtocolError
from moot.protocols.kernel.people import Override, Stop
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.kernel.steps import Asks, Effect, Move
from moot.protocols.rulebook import BUILT_IN, Rulebook, speak
from tests.doubles.checking import findings, unlawful
from tests.doubles.permits import spoken
from tests.doubles.table import START, Table

CASE = "permit_20260223_1000"
QUIET = {"desk": {"enabled": False}}
TICK = timedelta(microseconds=1)


@pytest.fixture
def protocol():
    with spoken() as module:
        yield module


def asked(protocol, **config):
    """Return a table at which the surveyor has found a request unsafe."""
    table = Table(schedules={}, config=QUIET | config)
    table.say(ADMIN, protocol.Request(text="a tower"), channel="#permits")
    table.say("surveyor", protocol.Survey(request_id=CASE, safe=False))
    return table


def answer(table, option=None, text=None):
    body = table.last("ESCALATION").body
    said = EscalationAnswer(escalation_id=body.escalation_id, option=option, text=text)
    return table.say(ADMIN, said, channel="#admin", case_id=body.escalation_id)


def is_lawful(table):
    return findings(table.log) == [] and unlawful(env.line for env in table.log) == []


def respoken(protocol, **changes):
    """Speak the protocol with another trigger."""
    trigger = protocol.UNSAFE._replace(**changes)
    speak((replace(protocol.PROTOCOL, triggers={"permit_unsafe": trigger}),))


@pytest.mark.rule("R-G16")
@pytest.mark.parametrize(
    ("option", "effect", "outcome"), [(1, "grant", "granted with conditions"), (2, "refuse", "refused")]
)
def test_the_chosen_option_goes_back_to_the_case(protocol, option, effect, outcome):
    table = asked(protocol)
    body = table.last("ESCALATION").body
    assert (body.level, body.system, body.trigger_code, body.subject) == (
        "DECISION_NEEDED",
        "society",
        "permit_unsafe",
        CASE,
    )
    assert body.trigger == f"Permit {CASE}: the surveyor finds it unsafe"
    assert body.context == "Asked for: a tower" and body.within == timedelta(hours=1)
    assert body.options[0].label == "Grant it with conditions"
    table.wait(minutes=20)
    answer(table, option)
    ruling = table.last("RULING")
    assert (ruling.body.outcome, ruling.body.reason, ruling.body.rule) == (effect, "answered", "permits 4")
    assert (ruling.channel, ruling.body.case_id) == ("#permits", CASE)
    assert table.docket.ended[CASE].outcome == outcome and is_lawful(table)


@pytest.mark.rule("R-G16")
def test_silence_takes_the_default_when_the_time_of_the_trigger_is_over(protocol):
    table = asked(protocol)
    table.until(START + timedelta(hours=1) - TICK)
    assert CASE in table.docket.cases
    table.wait(seconds=1)
    assert table.last("RULING").body.reason == "expired" and table.last("RULING").body.outcome == "refuse"
    assert table.docket.ended[CASE].outcome == "refused" and is_lawful(table)


@pytest.mark.rule("R-G16")
def test_a_trigger_that_says_nothing_has_four_hours_and_its_first_option(protocol):
    respoken(protocol, within=timedelta(hours=4), default=1)
    table = asked(protocol)
    assert (
        "within_s" not in table.last("ESCALATION").line and '"default"' not in table.last("ESCALATION").line
    )
    table.until(START + timedelta(hours=4) - TICK)
    assert CASE in table.docket.cases
    table.wait(seconds=1)
    assert table.docket.ended[CASE].outcome == "granted with conditions" and is_lawful(table)


@pytest.mark.rule("R-G16", "R-E2")
def test_words_choose_no_option_and_an_acknowledgement_stops_no_clock(protocol):
    table = asked(protocol)
    answer(table, text="let me think")
    assert table.last("RULING").body.outcome == "none" and table.docket.ended[CASE].outcome == "refused"

    table = asked(protocol)
    table.wait(minutes=30)
    case_id = table.last("ESCALATION").case_id
    table.say(ADMIN, EscalationAck(escalation_id=case_id), channel="#admin", case_id=case_id)
    (owed,) = (o for o in table.docket.open.values() if o.seat == ADMIN)
    assert owed.due_at == START + timedelta(hours=1)
    table.wait(minutes=31)
    assert table.docket.ended[CASE].outcome == "refused" and is_lawful(table)


@pytest.mark.rule("R-G16", "R-E2")
def test_an_urgent_one_is_paged_until_its_own_deadline(protocol):
    respoken(protocol, level="URGENT", within=timedelta(minutes=100))
    table = asked(protocol)
    table.wait(hours=5)
    pages = [env.sent_at - START for env in table.log if env.body.type == "ESCALATION_PAGED"]
    assert pages == [timedelta(minutes=n) for n in (30, 60, 90)] and is_lawful(table)


@pytest.mark.rule("R-G16", "K6")
def test_an_outage_shifts_the_deadline(protocol):
    table = asked(protocol)
    table.wait(minutes=30)
    table.down(hours=5)
    table.until(START + timedelta(hours=6) - TICK)
    assert CASE in table.docket.cases
    table.wait(minutes=1)
    assert table.docket.ended[CASE].outcome == "refused" and is_lawful(table)


@pytest.mark.rule("R-G16")
def test_a_case_that_is_asked_again_escalates_again_and_is_late_no_more(protocol):
    table = asked(protocol)
    for n in range(3):
        answer(table, 3)
        assert table.docket.cases[CASE].phase == "surveying"
        table.wait(minutes=1)
        table.say("surveyor", protocol.Survey(request_id=CASE, safe=False))
        assert table.kinds().count("ESCALATION") == n + 2
    assert len({env.case_id for env in table.log if env.body.type == "ESCALATION"}) == 4
    answer(table, 1)
    assert table.docket.ended[CASE].outcome == "granted with conditions" and is_lawful(table)


@pytest.mark.rule("R-G16")
def test_a_ruling_that_stays_in_the_phase_asks_again(protocol):
    machine = protocol.PERMIT
    asks = machine.asks["doubting"]
    again = replace(machine, asks={"doubting": asks._replace(move=Move(("doubting", "ended"), _stays))})
    speak((replace(protocol.PROTOCOL, cases=(again,)),))
    table = asked(protocol)
    answer(table, 3)
    assert table.kinds().count("ESCALATION") == 2 and table.docket.cases[CASE].phase == "doubting"
    answer(table, 1)
    assert table.docket.ended[CASE].outcome == "grant" and is_lawful(table)


def _stays(_state, given):
    is_asked_again = given.body.outcome == "ask_again"
    return Effect(to="doubting") if is_asked_again else Effect(to="ended", outcome=given.body.outcome)


@pytest.mark.rule("R-G16")
def test_a_case_that_is_stopped_withdraws_its_escalation(protocol):
    table = asked(protocol)
    table.say(ADMIN, Stop(scope=CASE, why="enough"), channel="#admin")
    assert table.last("ESCALATION_RESOLVED").body.how == "withdrawn"
    assert table.docket.ended[CASE].outcome == "stopped"
    assert not [e for e in table.log if e.body.type == "RULING" and e.body.reason == "answered"]
    assert is_lawful(table)


@pytest.mark.rule("R-G16")
def test_an_answer_that_a_stop_overtakes_changes_nothing(protocol):
    table = asked(protocol)
    body = table.last("ESCALATION").body
    said = EscalationAnswer(escalation_id=body.escalation_id, option=1)
    table.post(ADMIN, said, channel="#admin", case_id=body.escalation_id)
    table.publish(next(iter(table.docket.due(table.now))))
    ruling = next(iter(table.docket.due(table.now)))
    assert ruling.body.type == "RULING"
    table.post(ADMIN, Stop(scope=CASE, why="enough"), channel="#admin")
    drafts = [d for d in table.docket.due(table.now) if d.body.type == "RULING" and d.body.outcome == "stop"]
    table.publish(drafts[0])
    table.publish(ruling)
    table.officers()
    assert table.docket.ended[CASE].outcome == "stopped" and is_lawful(table)


@pytest.mark.rule("R-G16")
@pytest.mark.parametrize("context", [lambda _s: 1 / 0, lambda _s: 7], ids=["raises", "no text"])
def test_a_context_that_cannot_be_said_ends_the_case_and_not_the_society(protocol, context):
    machine = protocol.PERMIT
    asks = {"doubting": machine.asks["doubting"]._replace(context=context)}
    speak((replace(protocol.PROTOCOL, cases=(replace(machine, asks=asks),)),))
    table = asked(protocol)
    assert table.docket.ended[CASE].outcome == "faulted"
    assert table.last("ESCALATION").body.trigger_code == "faulted" and is_lawful(table)


@pytest.mark.rule("R-G14", "R-G16")
def test_a_context_that_differs_in_another_process_stops_nobody(protocol):
    machine, said = protocol.PERMIT, iter(range(1_000))
    asks = {"doubting": machine.asks["doubting"]._replace(context=lambda _state: f"No. {next(said)}")}
    speak((replace(protocol.PROTOCOL, cases=(replace(machine, asks=asks),)),))
    table = asked(protocol)
    answer(table, 1)
    assert table.docket.ended[CASE].outcome == "granted with conditions"
    assert findings(table.log) == []


@pytest.mark.rule("R-G16", "R-E4")
def test_a_second_answer_is_late(protocol):
    table = asked(protocol)
    answer(table, 1)
    answer(table, 2)
    assert table.last("VIOLATION").body.rule == "R-E4"
    assert table.docket.ended[CASE].outcome == "granted with conditions"


class Ladders(Source):
    """Escalate every request for a ladder, without a case that asks."""

    types = frozenset({"PERMIT_REQUEST"})

    def changes(self, env, fx, docket):
        if "ladder" not in env.body.text:
            return ()
        return (Condition("permit_unsafe", "ladders", True, "another ladder", (env.seq,)),)


@pytest.mark.rule("R-G16")
def test_a_source_of_the_protocol_may_use_its_trigger_too(protocol):
    speak((replace(protocol.PROTOCOL, sources=lambda: (Ladders(),)),))
    table = Table(schedules={}, config=QUIET)
    table.say(ADMIN, protocol.Request(text="a ladder"), channel="#permits")
    assert table.last("ESCALATION").body.trigger == "Permit ladders: the surveyor finds it unsafe"
    table.wait(minutes=61)
    assert table.last("ESCALATION_RESOLVED").body.effect == "refuse"


WRONG = {
    "an effect of Moot's own": (
        {"options": (("a", "deploy"), ("b", "refuse"))},
        "the effect deploy is Moot's own",
    ),
    "stop_society": ({"options": (("a", "stop_society"), ("b", "refuse"))}, "choose another word"),
    "an effect in capitals": ({"options": (("a", "GRANT"), ("b", "refuse"))}, "small letters"),
    "one option": ({"options": (("a", "b"),), "default": 1}, "must have 2 to 20 options, not 1"),
    "no such default": ({"default": 4}, "default must be the number of an option, not 4"),
    "default 0": ({"default": 0}, "not 0"),
    "no time": ({"within": timedelta(0)}, "a minute to 30 days, not 0:00:00"),
    "a year": ({"within": timedelta(days=365)}, "a minute to 30 days"),
    "an unknown level": ({"level": "PANIC"}, "there is no level 'PANIC'"),
    "an unknown place": ({"text": "Permit {permit}"}, "there is one for {subject}"),
}


@pytest.mark.rule("R-G16")
@pytest.mark.parametrize("name", WRONG)
def test_a_trigger_that_cannot_be_used_is_one_line_when_it_is_loaded(protocol, name):
    changes, why = WRONG[name]
    with pytest.raises(LocalProtocolError, match="the protocol permits: the trigger permit_unsafe") as found:
        Rulebook(
            (
                *BUILT_IN,
                replace(protocol.PROTOCOL, triggers={"permit_unsafe": protocol.UNSAFE._replace(**changes)}),
            )
        )
    assert why in str(found.value) and "\n" not in str(found.value)


@pytest.mark.rule("R-G16")
def test_codes_are_declared_once_and_asks_names_a_declared_one(protocol):
    with pytest.raises(LocalProtocolError, match="deadlocked is Moot's own"):
        Rulebook((*BUILT_IN, replace(protocol.PROTOCOL, triggers={"deadlocked": protocol.UNSAFE}, cases=())))
    with pytest.raises(LocalProtocolError, match="the trigger permit_unsafe is not declared"):
        replace(protocol.PROTOCOL, triggers={})
    twin = Protocol(name="twin", triggers={"permit_unsafe": protocol.UNSAFE})
    with pytest.raises(LocalProtocolError, match="trigger permit_unsafe, which permits brings"):
        Rulebook((*BUILT_IN, protocol.PROTOCOL, twin))
    with pytest.raises(LocalProtocolError, match="the phase nowhere is not listed"):
        replace(protocol.PERMIT, asks={"nowhere": protocol.PERMIT.asks["doubting"]})
    assert isinstance(protocol.PERMIT.asks["doubting"], Asks) and "permit_unsafe" not in TRIGGERS


@pytest.mark.rule("R-G16")
def test_a_log_is_folded_and_judged_where_the_protocol_is_not_known(protocol):
    table = asked(protocol, protocols=["permits"])
    answer(table, 3)
    table.say("surveyor", protocol.Survey(request_id=CASE, safe=False))
    table.wait(hours=2)
    assert table.docket.ended[CASE].outcome == "refused"
    answer(table, 1)
    lines = list(table.log)
    assert isinstance(table.last("ESCALATION").body, Escalation)
    speak(())
    assert findings(lines) == []


@pytest.mark.rule("R-G16")
def test_an_override_in_between_moves_no_case(protocol):
    table = asked(protocol)
    table.say(ADMIN, Override(case_id=CASE, verdict="APPROVE", why="mine"), channel="#permits", case_id=CASE)
    assert table.docket.cases[CASE].phase == "doubting" and is_lawful(table)
