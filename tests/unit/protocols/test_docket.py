"""The docket's contract by kernel numbers: what holds whatever the protocol."""

import contextlib
import pickle
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.closed import KEPT
from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.docket import MAX_CASE_ID, MAX_HOPS, Docket
from moot.protocols.kernel.duties import MAX_WHY, violation_of
from moot.protocols.kernel.envelope import OFFICER, Actor, Draft, seal
from moot.protocols.kernel.errors import LocalProtocolError, OfficerFault, Violation
from moot.protocols.kernel.frozen import thaw
from moot.protocols.kernel.obligation import EVERYTHING, Visibility
from moot.protocols.kernel.officers import Audit, ClockSet, Ruling, SocietyStarted, TimeoutPing
from moot.protocols.kernel.people import Note, Override, SeatTaken
from moot.protocols.kernel.seats import OFFICERS, TIMEKEEPER
from moot.protocols.kernel.upcast import Opaque
from moot.protocols.research import messages as m
from moot.protocols.research.debate_table import Phase
from moot.protocols.research.seats import EXPLORER as EXPLORER_SEAT
from moot.protocols.rulebook import VERSION, rulebook, rules
from tests.doubles import bodies
from tests.doubles.biglog import Chance
from tests.doubles.copying import replace
from tests.doubles.debating import (
    ADMIN,
    CRITIC,
    EVOLVER,
    EXPLORER,
    REFEREE,
    assess,
    beside,
    cycle_of,
    debate,
    hypothesise,
    judge,
    opened,
    reach,
    rebut,
    record,
    reflect,
    report,
)
from tests.doubles.table import START, Table

TICK = timedelta(microseconds=1)


def same(one, other):
    """Say whether two dockets stand at the same place in every respect that rules may read."""
    names = ("seq", "at", "cases", "ended", "open", "attempts", "waiting", "pending", "arose")
    facts = ("started_at", "outage", "running", "tenures", "holders", "conservative_a", "stopped", "is_up")
    ledgers = [d.context.fold_named("research") for d in (one, other)]
    figures = ("thresholds", "principles", "strategies", "retired", "parents", "last_verdict", "direction")
    return (
        all(getattr(one, n) == getattr(other, n) for n in names)
        and all(getattr(one.context, n) == getattr(other.context, n) for n in facts)
        and all(getattr(ledgers[0], n) == getattr(ledgers[1], n) for n in figures)
        and one.deadlines.pinged == other.deadlines.pinged
        and one.next_instant() == other.next_instant()
    )


def refold(log):
    docket = Docket(rules())
    for env in log:
        docket.fold(env)
    return docket


@pytest.fixture(scope="module")
def long_log():
    log = []
    society = Chance(log.append, seed=5, silence=0.1, faults=0.1)
    society.live(messages=3000)
    return log, society.docket


def test_the_log_must_be_dense():
    table = Table()
    for seq in (len(table.log), len(table.log) + 2):
        with pytest.raises(LocalProtocolError, match="dense"):
            table.docket.fold(replace(table.log[-1], seq=seq))


def test_folding_a_log_anew_gives_the_same_docket(long_log):
    log, docket = long_log
    assert same(refold(log), docket)


@pytest.mark.rule("K18")
def test_k18_a_pickled_docket_goes_on_as_if_nothing_had_been(long_log):
    log, docket = long_log
    half = refold(log[:1500])
    half.rules, kept = None, half.rules
    half = pickle.loads(pickle.dumps(half))
    half.rules = kept
    for env in log[1500:]:
        half.fold(env)
    assert same(half, docket)
    assert half.context.cases is half.cases


@pytest.mark.rule("K18")
def test_k18_an_ended_case_shrinks_to_a_line(long_log):
    _, docket = long_log
    assert len(docket.ended) > 100
    for case_id, ended in docket.ended.items():
        assert ended._fields == ("case_id", "kind", "outcome", "opened_seq", "seq")
        assert (ended.case_id, ended.outcome != "") == (case_id, True)
        assert 0 < ended.opened_seq < ended.seq


@pytest.mark.rule("K18")
def test_k18_nothing_is_kept_of_obligations_that_are_closed_but_the_last(long_log):
    _, docket = long_log
    owed = {o.id for state in docket.cases.values() for o in state.owed}
    assert set(docket.open) <= owed
    assert docket.attempts.keys() <= owed
    assert docket.deadlines.pinged.keys() <= owed
    assert len(docket.closed) <= 2 * KEPT
    assert docket.waiting == {}


# ---------------------------------------------------------------- K4


@pytest.mark.rule("K4")
def test_k4_an_unknown_type_folds_as_nothing_whoever_says_it():
    table, _ = opened()
    before = dict(table.docket.cases)
    for author, channel in ((EVOLVER, "#a-arena"), (REFEREE, "#admin"), (ADMIN, "#admin")):
        for case_id in (None, next(iter(before)), "hyp_20200101_0000"):
            body = Opaque(type="FROM_THE_FUTURE", data={"type": "FROM_THE_FUTURE", "x": [1]})
            last = table.log[-1]
            env = replace(
                last,
                seq=last.seq + 1,
                id=f"x/{last.seq}",
                author=author,
                channel=channel,
                case_id=case_id,
                obligation_id=None,
                body=body,
            )
            table.log.append(env)
            fx = table.docket.fold(env)
            assert (fx.violation, fx.superseded) == (None, False)
            assert table.docket.cases == before
            assert not table.docket.pending


@pytest.mark.rule("K4")
def test_k4_the_start_explains_the_society():
    table = Table()
    context = table.docket.context
    assert thaw(context.config) == {"schedules": table.schedules, "admins": {"test": ["ann"]}}
    assert (context.rules_version, context.seed, context.is_up) == (VERSION, 1, True)
    table.stop()
    assert not context.is_up


# ---------------------------------------------------------------- K5, K9, K10


@pytest.mark.rule("K5")
def test_k5_officers_messages_never_cause_violations():
    table, case_id = opened()
    draft = Draft(
        channel="#a-arena",
        author=REFEREE,
        actor=OFFICER,
        body=TimeoutPing(obligation_id="nothing/at-all/critic", seat="critic", waited_min=1),
        case_id=case_id,
        key="ping/nothing/at-all/critic",
    )
    with pytest.raises(OfficerFault):
        table.publish(draft)


@pytest.mark.rule("K5")
@pytest.mark.parametrize(
    "over",
    [
        {"channel": "#admin"},
        {"case_id": "cycle_20260223_1000"},
        {"key": "ping/other"},
        {"author": TIMEKEEPER},
    ],
)
def test_k5_a_duty_in_another_envelope_is_a_fault(over):
    table, _ = opened()
    table.now += timedelta(minutes=20)
    draft = replace(next(iter(table.docket.due(table.now))), **over)
    env = seal_unchecked(table, draft)
    with pytest.raises(OfficerFault):
        table.docket.fold(env)


def seal_unchecked(table, draft):
    """Put a draft into the log without asking the gate."""
    env, _ = seal(
        draft,
        seq=len(table.log) + 1,
        envelope_id=draft.identity(),
        sent_at=table.now,
        previous=table.head,
    )
    return env


@pytest.mark.rule("K5")
def test_k5_a_fault_names_its_seq():
    table, case_id = opened()
    body = Ruling(obligation_id=None, case_id=case_id, outcome="REJECT", reason="tie", rule="R-D8", of_seq=1)
    env = seal_unchecked(
        table, Draft(channel="#a-arena", author=REFEREE, actor=OFFICER, body=body, key="ruling/1")
    )
    with pytest.raises(OfficerFault) as caught:
        table.docket.fold(env)
    assert caught.value.seq == env.seq


@pytest.mark.rule("K9")
def test_k9_any_number_of_dockets_derive_the_same_duties(long_log):
    log, _ = long_log
    one, other = Docket(rules()), Docket(rules())
    for env in log[:600]:
        one.fold(env)
        other.fold(env)
        assert list(one.due(env.sent_at)) == list(other.due(env.sent_at))


@pytest.mark.rule("K9")
def test_k9_asking_what_is_due_changes_nothing(long_log):
    log, _ = long_log
    docket = refold(log[:777])
    later = docket.at + timedelta(hours=3)
    first = list(docket.due(later))
    assert first
    assert list(docket.due(later)) == first
    assert list(docket.overdue(later)) == list(docket.overdue(later))
    for env in log[777:]:
        docket.fold(env)


@pytest.mark.rule("K9")
def test_k9_a_case_has_the_id_that_its_opener_names():
    table, case_id = opened()
    assert case_id == table.last("HYPOTHESIS").body.hypothesis_id
    assert debate(table, case_id).parent == cycle_of(table)
    assert debate(table, case_id).opened_seq == table.last("HYPOTHESIS").seq


@pytest.mark.rule("K9")
@pytest.mark.parametrize("length", [MAX_CASE_ID, MAX_CASE_ID + 1])
def test_k9_a_case_id_leaves_room_for_the_ids_that_are_made_of_it(length):
    table = Table()
    table.gate.admit = lambda draft: draft  # a log may hold what the gate refuses
    case_id = "h" * length
    env = table.post(EXPLORER, bodies.hypothesis(cycle_of(table), hypothesis_id=case_id), channel="#a-arena")
    assert (table.effects[-1].violation is None) == (length <= MAX_CASE_ID)
    table.officers()
    table.wait(hours=2)
    assert env.case_id == case_id


@pytest.mark.rule("K9")
def test_k9_a_second_case_of_the_same_id_is_refused():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    table.gate.admit = lambda draft: draft
    table.gate.mint = lambda draft, _at: draft.body
    body = bodies.hypothesis(cycle_of(table), hypothesis_id=case_id)
    env = table.say(EXPLORER, body, channel="#a-arena", case_id=case_id)
    assert table.effects[env.seq - 1].violation is not None
    assert table.docket.ended[case_id].seq < env.seq


@pytest.mark.rule("K10")
def test_k10_a_violation_stands_beside_its_message_before_the_ruling():
    table, _ = reach(Phase.JUDGING)
    judge(table, confidence=0.1)
    assert table.kinds()[-3:] == ["VIOLATION", "RULING", "REFLECTION"]


@pytest.mark.rule("K10")
def test_k10_a_very_long_reason_is_cut():
    table, _ = opened()
    body = bodies.hypothesis(cycle_of(table)).model_copy(update={"lineage_id": "x" * 200})
    table.docket.context.fold_named("research").retired.add("x" * 200)
    env = table.say(EXPLORER, body, channel="#a-arena")
    assert beside(table, env).why
    thresholds = {f"{n:03d}" + "y" * 190: 0.5 for n in range(500)}
    weekly = m.ThresholdsAdjusted(period="2026-W09", before=thresholds, after=thresholds)
    draft = violation_of(env, Violation("R-D17", f"{weekly}", field="before"))
    assert len(draft.body.why) == MAX_WHY


# ---------------------------------------------------------------- K6


@pytest.mark.rule("K6")
@pytest.mark.parametrize("crash", [False, True])
def test_k6_an_outage_shifts_what_is_open_whether_it_was_said_or_not(crash):
    table, case_id = opened()
    table.wait(minutes=5)
    if crash:
        table.say(ADMIN, Note(text="the last words"), channel="#admin")
    before = debate(table, case_id)
    table.down(hours=3, crash=crash)
    after = debate(table, case_id)
    gap = timedelta(hours=3)
    assert after.anchor_at == before.anchor_at + gap
    for old, new in zip(before.owed, after.owed, strict=True):
        assert (new.due_at, new.opened_at, new.within) == (old.due_at + gap, old.opened_at, old.within)
        assert table.docket.open[old.id] is new
    assert table.docket.next_instant() == after.owed[0].due_at
    assert table.docket.context.outage == gap


@pytest.mark.rule("K6")
def test_k6_an_outage_is_nobodys_silence_to_the_microsecond():
    table, case_id = opened()
    table.wait(minutes=10)
    table.down(days=2)
    table.until(START + timedelta(days=2, minutes=20) - TICK)
    assert "TIMEOUT_PING" not in table.kinds()
    table.until(START + timedelta(days=2, minutes=20))
    assert table.last("TIMEOUT_PING").body.waited_min == 20
    table.until(START + timedelta(days=2, minutes=30) - TICK)
    assert debate(table, case_id).phase == Phase.ASSESSING_1
    table.until(START + timedelta(days=2, minutes=30))
    assert debate(table, case_id).phase == Phase.JUDGING


@pytest.mark.rule("K6")
def test_k6_an_outage_leaves_the_whole_grace_after_a_late_ping():
    table, case_id = opened()
    table.now += timedelta(minutes=27)
    table.officers()
    table.wait(minutes=4)
    table.down(hours=1)
    table.until(START + timedelta(hours=1, minutes=37) - TICK)
    assert debate(table, case_id).phase == Phase.ASSESSING_1
    table.until(START + timedelta(hours=1, minutes=37))
    assert debate(table, case_id).phase == Phase.JUDGING


@pytest.mark.rule("K6")
def test_k6_an_outage_between_ping_and_ruling_shifts_the_ruling():
    table, _ = opened()
    table.wait(minutes=25)
    table.down(hours=1)
    table.until(START + timedelta(hours=1, minutes=30) - TICK)
    assert "RULING" not in table.kinds()
    assert table.kinds().count("TIMEOUT_PING") == 1
    table.until(START + timedelta(hours=1, minutes=30))
    assert table.kinds().count("RULING") == 1


@pytest.mark.rule("K6")
def test_k6_an_outage_does_not_eat_the_cycles_budget():
    table, case_id = opened()
    table.down(hours=5)
    assess(table)
    rebut(table)
    assess(table, 2)
    judge(table, "REVISE", 0.7)
    assert debate(table, case_id).phase == Phase.REQUESTING
    assert debate(table, case_id).owed[-1].due_at == START + timedelta(hours=5, minutes=150)


@pytest.mark.rule("K6")
def test_k6_several_outages_add_up():
    table, case_id = opened()
    for _ in range(3):
        table.wait(minutes=5)
        table.down(minutes=30)
    owed = debate(table, case_id).owed[0]
    assert owed.due_at == START + timedelta(minutes=20 + 90)
    assert owed.outage == timedelta(minutes=90)


@pytest.mark.rule("K6")
def test_k6_an_outage_begins_with_the_stop_whatever_is_said_after_it():
    table, _ = opened()
    table.stop()
    table.now += timedelta(hours=1)
    table.post(ADMIN, Note(text="anybody there?"), channel="#admin")
    table.now += timedelta(hours=1)
    table.start()
    assert table.docket.context.outage == timedelta(hours=2)


@pytest.mark.rule("K6")
def test_k6_a_waiting_case_keeps_waiting_over_an_outage():
    table, case_id = reach(Phase.JUDGING)
    table.post(EVOLVER, bodies.verdict(confidence=0.1))
    table.down(hours=1, crash=True)
    assert table.docket.ended[case_id].outcome == "rejected"
    assert not any(o.startswith(case_id) for o in table.docket.open)


@pytest.mark.rule("K10")
def test_k10_no_child_opens_while_its_parent_waits_for_a_ruling():
    table = Table()
    cycle_id = cycle_of(table)
    table.docket.waiting[cycle_id] = Decision("void", "timeout", "K10")
    env = table.post(EXPLORER_SEAT, bodies.hypothesis(cycle_id))
    assert table.effects[-1].violation.rule == "K10"
    assert list(table.docket.cases) == [cycle_id]
    del table.docket.waiting[cycle_id]
    table.officers()
    assert beside(table, env).rule == "K10"
    hypothesise(table)
    assert [state.kind for state in table.docket.cases.values()] == ["cycle", "debate"]


# ---------------------------------------------------------------- K7, K12


@pytest.mark.rule("K7")
def test_k7_time_changes_are_messages():
    table = Table()
    body = ClockSet(society_at=START, speed=120, paused=True, reason="slow down")
    table.post(TIMEKEEPER, body, channel="#admin", key="clock/1")
    assert (table.docket.context.speed, table.docket.context.paused) == (120.0, True)


@pytest.mark.rule("K12")
def test_k12_an_obligation_says_what_its_mind_may_see():
    table, case_id = opened()
    assert debate(table, case_id).owed[0].may_see == EVERYTHING == Visibility(frozenset(), frozenset())
    readable = table.rules.matrix.readable(CRITIC)
    assert "#a-arena" in readable
    assert not any(channel.startswith("#b-") for channel in readable)


# ---------------------------------------------------------------- K14


def taken(table, seat=CRITIC, user="ann"):
    body = SeatTaken(seat=seat, user_id=user, reason="mine")
    return table.say(ADMIN, body, channel="#admin")


@pytest.mark.rule("K14")
def test_k14_an_answer_of_an_older_tenure_is_a_violation_and_the_holders_counts():
    table, case_id = opened()
    owed = table.owed(CRITIC, "RISK_ASSESSMENT")
    env = taken(table)
    stale = Draft(
        channel="#a-arena",
        author=CRITIC,
        body=bodies.assessment(),
        case_id=case_id,
        obligation_id=owed.id,
        tenure=0,
    )
    table.publish(stale)
    assert table.effects[-1].violation.rule == "K14"
    table.officers()
    assert table.docket.attempts[owed.id] == 1
    human = replace(stale, tenure=env.seq, attempt=1, actor=Actor("human", "cli", "ann"))
    table.publish(human)
    assert table.effects[-1].violation is None
    assert debate(table, case_id).phase == Phase.REBUTTING_2


@pytest.mark.rule("K14")
def test_k14_a_tenure_that_never_was_is_a_violation():
    table, case_id = opened()
    owed = table.owed(CRITIC, "RISK_ASSESSMENT")
    draft = Draft(
        channel="#a-arena",
        author=CRITIC,
        body=bodies.assessment(),
        case_id=case_id,
        obligation_id=owed.id,
        tenure=7,
    )
    table.publish(draft)
    assert table.effects[-1].violation.rule == "K14"


@pytest.mark.rule("K14")
def test_k14_what_was_logged_before_the_seat_was_taken_counts():
    table, case_id = opened()
    assess(table)
    taken(table)
    assert debate(table, case_id).phase == Phase.REBUTTING_2


# ---------------------------------------------------------------- K21, K23


@pytest.mark.rule("K21")
@pytest.mark.parametrize(("hops", "is_allowed"), [(MAX_HOPS, True), (MAX_HOPS + 1, False)])
def test_k21_a_chain_of_bots_beyond_the_limit_is_stopped(hops, is_allowed):
    table, _ = opened()
    owed = table.owed(CRITIC, "RISK_ASSESSMENT")
    draft = Draft(
        channel="#a-arena",
        author=CRITIC,
        body=bodies.assessment(),
        case_id=owed.case_id,
        obligation_id=owed.id,
        hops=hops,
    )
    table.publish(draft)
    violation = table.effects[-1].violation
    assert (violation is None) is is_allowed
    if violation is not None:
        assert (violation.rule, violation.field) == ("K21", "hops")


@pytest.mark.rule("K23")
def test_k23_nothing_changes_an_ended_case():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    old = table.docket.ended[case_id]
    for seat, body, channel in (
        (CRITIC, bodies.assessment(), "#a-arena"),
        (EVOLVER, bodies.verdict(), "#a-verdict"),
        (EVOLVER, m.Reflection(record=bodies.entry()), "#a-report"),
        (ADMIN, Override(case_id=case_id, verdict="REJECT", why="x"), "#a-verdict"),
    ):
        env = table.say(seat, body, channel=channel, case_id=case_id)
        assert beside(table, env).rule == "K23"
        assert table.docket.ended[case_id] is old
        assert case_id not in table.docket.cases


# ---------------------------------------------------------------- effects, due, overdue


def test_effects_say_what_one_message_did():
    table = Table()
    env = table.post(EXPLORER, bodies.hypothesis(cycle_of(table)))
    fx = table.effects[env.seq - 1]
    assert [s.case_id for s in fx.started] == [env.case_id]
    assert fx.settled.expects == ("HYPOTHESIS",)
    assert fx.closed == (fx.settled,)
    assert {o.seat for o in fx.opened} == {CRITIC, REFEREE}
    assert not fx.ended


def test_an_officers_own_obligation_is_settled_only_by_what_discharges_it():
    table, _ = reach(Phase.REVISING)
    table.wait(minutes=26)
    env = table.last("RULING")
    fx = table.effects[env.seq - 1]
    assert (fx.voided.seat, fx.settled) == (EXPLORER, None)
    assert {o.seat for o in fx.closed} == {EXPLORER, REFEREE}


def test_an_ended_debate_tells_its_cycle_in_the_same_message():
    table, case_id = reach(Phase.RECORDING)
    env = record(table)
    fx = table.effects[env.seq - 1]
    assert [s.case_id for s in fx.ended] == [case_id]
    assert [o.expects for o in fx.opened] == [("MICRO_CYCLE_REPORT",)]


def test_overdue_names_what_officers_did_not_do_and_not_what_is_due_right_now():
    table, _ = opened()
    table.now += timedelta(minutes=20)
    assert not list(table.docket.overdue(table.now))
    assert len(list(table.docket.overdue(table.now + TICK))) == 1
    table.post(CRITIC, bodies.assessment(3))
    assert not [w for w in table.docket.overdue(table.now) if "VIOLATION" in w]
    assert [w for w in table.docket.overdue(table.now + TICK) if "VIOLATION" in w]


def test_duties_come_in_the_order_violation_ping_alarm():
    table = Table(schedules={"micro": {"cron": "20,0 * * * *"}})
    hypothesise(table)
    table.now += timedelta(minutes=20)
    table.post(CRITIC, bodies.assessment(3))
    assert [d.body.type for d in table.docket.due(table.now)] == [
        "VIOLATION",
        "TIMEOUT_PING",
        "CYCLE_SKIPPED",
    ]


def test_duties_of_one_instant_may_all_be_posted_at_once():
    table = Table(schedules={"micro": {"cron": "0 */2 * * *"}, "daily": {"cron": "0 22 * * *"}})
    for _ in range(200):
        table.now = table.docket.next_instant()
        for draft in list(table.docket.due(table.now)):
            table.publish(draft)
        table.officers()
    assert len(table.docket.ended) > 20


def test_an_audit_is_asked_for_by_nobody():
    table = Table()
    body = Audit(event="refused", seat=None, channel=None, reason="x", bytes=None, truncated=False)
    draft = Draft(channel="#admin", author=REFEREE, actor=OFFICER, body=body, key="audit/1/1")
    table.publish(draft)
    assert not table.effects[-1].superseded


def test_a_fold_hears_only_its_types_and_turns():
    class Ears(Fold):
        name = "ears"
        types = frozenset({"NOTE"})

        def __init__(self):
            self.heard = []

        def apply(self, env, fx, docket):
            self.heard.append(env.body.type)

    ears = Ears()
    book = rules()
    table = Table()
    docket = Docket(replace(book, new_folds=lambda: (*book.new_folds(), ears)))
    table.say(ADMIN, Note(text="a"), channel="#admin")
    hypothesise(table)
    assess(table, 3)
    for env in table.log:
        docket.fold(env)
    assert ears.heard == ["NOTE"]


def test_a_log_of_unknown_types_does_not_grow_the_docket():
    table = Table()
    for n in range(2000):
        body = Opaque(type=f"T{n}", data={"type": f"T{n}"})
        env = replace(
            table.log[-1],
            seq=table.docket.seq + 1,
            id=f"x{n}",
            author=EVOLVER,
            case_id=None,
            obligation_id=None,
            body=body,
        )
        table.docket.fold(env)
    assert all(len(subscribers) <= 256 for subscribers in table.docket._subscribers)


def test_owed_by_lists_the_oldest_first():
    table = Table()
    assert [o.expects for o in table.docket.owed_by(EXPLORER)] == [("HYPOTHESIS",)]
    assert not OFFICERS & rulebook().bots


def test_a_silent_society_ends_every_case_by_itself():
    table = Table()
    hypothesise(table)
    table.wait(hours=6)
    assert not table.docket.cases
    assert not table.docket.open
    assert table.docket.next_instant() == START + timedelta(hours=24)
    assert [s for s in table.docket.context.running.values() if s] == []


def test_a_start_in_the_middle_of_a_log_is_no_second_beginning():
    table, _ = opened()
    started = table.docket.context.started_at
    table.down(minutes=1)
    assert table.docket.context.started_at == started
    assert isinstance(table.last("SOCIETY_STARTED").body, SocietyStarted)
    assess(table, confidence=0.9)
    judge(table, "REJECT")
    reflect(table)
    report(table)
    assert not table.docket.cases


@settings(max_examples=300)
@given(st.data())
def test_a_log_that_anybody_altered_folds_or_is_an_officers_fault(long_log, data):
    log = list(long_log[0][:400])
    for _ in range(data.draw(st.integers(1, 5))):
        n = data.draw(st.integers(0, len(log) - 1))
        other = log[data.draw(st.integers(0, len(log) - 1))]
        act = data.draw(st.sampled_from(["drop", "double", "swap", "body", "field", "foreign"]))
        if act == "drop":
            del log[n]
        elif act == "double":
            log.insert(n, other)
        elif act == "swap":
            log[n] = other
        elif act == "body":
            log[n] = replace(log[n], body=other.body)
        elif act == "field":
            name = data.draw(
                st.sampled_from(["author", "case_id", "obligation_id", "id", "channel", "in_reply_to"])
            )
            log[n] = replace(log[n], **{name: getattr(other, name)})
        else:
            author = data.draw(st.sampled_from(list(rulebook().seats)))
            log[n] = replace(log[n], author=author, tenure=data.draw(st.integers(0, 3)))
    docket = Docket(rules())
    at = START - timedelta(days=30)
    for seq, env in enumerate(log, 1):
        at = max(at, env.sent_at)
        docket.seq = seq - 1
        with contextlib.suppress(LocalProtocolError):  # verify goes on after a fault, and so do we
            docket.fold(replace(env, seq=seq, sent_at=at))
        list(docket.due(at))
        docket.next_instant()
