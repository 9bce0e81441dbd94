"""The gate and the counter: what may be sequenced, under which id (K1, K20, R-D12)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.discretion import without_secrets
from moot.protocols.kernel.envelope import OFFICER, Actor, Draft
from moot.protocols.kernel.errors import Forbidden, Malformed
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.rules import Counter, Gate, check_identity, derived_keys
from moot.protocols.kernel.seats import ADMIN, REFEREE, VIEWER
from moot.protocols.research import messages as m
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from moot.protocols.rulebook import rulebook, rules
from tests.doubles import bodies
from tests.doubles.biglog import Chance
from tests.doubles.copying import replace
from tests.doubles.table import START, Table

MINUTE = timedelta(minutes=1)


def gate():
    return Gate(rules())


def draft(body, author=EXPLORER, **over):
    channel = over.pop("channel", rulebook().channel_of.get(body.type, "#a-arena"))
    return Draft(**{"channel": channel, "author": author, "body": body, "key": "k1", **over})


def hypothesis(**over):
    return draft(bodies.hypothesis("cycle_20260223_1000", **over))


# ---------------------------------------------------------------- the rulebook


def test_every_type_has_rights_and_every_right_a_type():
    assert {row.type for row in rulebook().rights} == set(rulebook().messages)


def test_the_rules_name_only_types_that_exist():
    book = rules()
    for names in (
        book.caseless,
        book.asides,
        book.lifecycle,
        book.unowed,
        book.remarks,
        book.minted,
        book.openers,
    ):
        assert set(names) <= set(rulebook().messages)
    assert book.asides <= set(book.caseless)


def test_openers_lead_to_their_kinds_of_case():
    openers = {kind: machine.kind for kind, machine in rules().openers.items()}
    assert openers == {
        "CYCLE_TRIGGER": "cycle",
        "HYPOTHESIS": "debate",
        "OVERRIDE": "debate",
        "ESCALATION": "escalation",
        "TRADING_DAY": "session",
        "DEPLOY_PROPOSAL": "deployment",
        "PROMOTION_PROPOSAL": "promotion",
        "RISK_ALERT": "alert",
        "HALT": "halt",
        "SIGNAL": "trade",
        "PERFORMANCE_FEEDBACK": "feedback",
        "RECALL_FLAG": "recall",
        "ARENA_TASK": "run",
        "PANEL_OPENED": "panel",
        "MOTION": "motion",
        "EXPERIMENT_STARTED": "experiment",
    }


# ---------------------------------------------------------------- K20: counted ids


@pytest.mark.rule("K20")
@pytest.mark.parametrize(
    ("kind", "prefix"), [("CYCLE_TRIGGER", "cycle"), ("HYPOTHESIS", "hyp"), ("ESCALATION", "esc")]
)
def test_k20_ids_of_one_minute_get_2_3_and_so_on(kind, prefix):
    counter = Counter(rulebook().minted)
    body = {
        "HYPOTHESIS": bodies.hypothesis("c"),
        "CYCLE_TRIGGER": m.CycleTrigger(
            trigger="EXPLORER_START",
            mode="micro",
            nominal_at=START,
            context=m.CycleContext(last_verdict=None, priority_direction=None, available_parents=()),
        ),
        "ESCALATION": escalation_body(),
    }[kind]
    field = body.case_field
    at = START + timedelta(seconds=59)
    ids = [getattr(counter.mint(body, at), field) for _ in range(3)]
    assert ids == [f"{prefix}_20260223_1000", f"{prefix}_20260223_1000_2", f"{prefix}_20260223_1000_3"]
    assert getattr(counter.mint(body, at + timedelta(seconds=1)), field) == f"{prefix}_20260223_1001"


def escalation_body():
    table = Table(schedules={})
    table.wait(hours=24)
    return table.last("ESCALATION").body.model_copy(update={"escalation_id": ""})


def test_a_hypothesis_starts_its_own_lineage_unless_it_names_one():
    counter = Counter(rulebook().minted)
    fresh = counter.mint(bodies.hypothesis("c"), START)
    assert fresh.lineage_id == fresh.hypothesis_id == "hyp_20260223_1000"
    heir = counter.mint(bodies.hypothesis("c", lineage_id="hyp_20260222_0800"), START)
    assert (heir.hypothesis_id, heir.lineage_id) == ("hyp_20260223_1000_2", "hyp_20260222_0800")


def test_records_and_changes_count_up_across_days():
    counter = Counter(rulebook().minted)
    record = m.Reflection(record=bodies.entry())
    assert [counter.mint(record, START + n * timedelta(days=1)).record.record_id for n in range(3)] == [
        "ref_001",
        "ref_002",
        "ref_003",
    ]
    causal = m.CausalRecord(record=bodies.entry())
    assert counter.mint(causal, START).record.record_id == "cau_001"


def proposals(*ids):
    changes = tuple(
        m.ProposedChange(change_id=i, scope="s", description="d", expected_benefit="b") for i in ids
    )
    return m.ArchitectureProposal(period="2026-W09", proposals=changes)


def test_each_part_of_a_list_is_counted_and_given_ids_are_kept_and_seen():
    counter = Counter(rulebook().minted)
    minted = counter.mint(proposals("", "arch_007", ""), START)
    assert [p.change_id for p in minted.proposals] == ["arch_008", "arch_007", "arch_009"]
    assert [p.change_id for p in counter.mint(proposals(""), START).proposals] == ["arch_010"]


@pytest.mark.rule("R-D12")
@pytest.mark.parametrize(
    ("author", "body"),
    [
        (EVOLVER, m.Reflection(record=bodies.entry(record_id="ref_001"))),
        (EVOLVER, m.Reflection(record=bodies.entry(record_id="ref_003"))),
        (EXPLORER, bodies.hypothesis("c", hypothesis_id="hyp_20260222_1000")),
        (EXPLORER, proposals("", "arch_007")),
    ],
)
def test_r_d12_an_id_that_looks_counted_and_is_not_the_next_is_refused(author, body):
    counting = gate()
    counting.mint(draft(m.Reflection(record=bodies.entry()), EVOLVER), START)
    before = dict(counting.counted)
    with pytest.raises(Malformed, match="are counted when a message is logged"):
        counting.mint(draft(body, author), START)
    assert counting.counted == before
    following = m.Reflection(record=bodies.entry(record_id="ref_002"))
    assert counting.mint(draft(following, EVOLVER), START) == following
    assert (
        counting.mint(draft(proposals("", "arch_002", "arch_001"), EXPLORER), START).proposals[2].change_id
        == "arch_001"
    )


def test_an_id_that_was_given_is_not_given_again():
    counter = Counter(rulebook().minted)
    given_id = bodies.hypothesis("c", hypothesis_id="hyp_20260223_1000")
    assert counter.mint(given_id, START).hypothesis_id == "hyp_20260223_1000"
    assert counter.mint(bodies.hypothesis("c"), START).hypothesis_id == "hyp_20260223_1000_2"


@pytest.mark.parametrize(
    "strange", ["hyp_99991231_2359", "hyp_20260223_1000_x", "hyp_", "x", "hyp_20260223_1000_9999999999"]
)
def test_a_strange_id_does_not_disturb_the_count(strange):
    counter = Counter(rulebook().minted)
    counter.mint(bodies.hypothesis("c", hypothesis_id=strange), START)
    assert counter.mint(bodies.hypothesis("c"), START).hypothesis_id == "hyp_20260223_1000"
    assert counter.mint(bodies.hypothesis("c"), START).hypothesis_id == "hyp_20260223_1000_2"


@pytest.mark.rule("K17")
@pytest.mark.parametrize(
    "body", [bodies.hypothesis("c"), m.Reflection(record=bodies.entry()), proposals("", "")]
)
def test_k17_what_the_disk_did_not_take_is_counted_back(body):
    counter = Counter(rulebook().minted)
    first = counter.mint(body, START)
    again = counter.mint(body, START)
    counter.unmint(body, again)
    assert counter.mint(body, START) == again
    counter.unmint(body, again)
    counter.unmint(body, first)
    assert counter.mint(body, START) == first


@pytest.mark.rule("K20")
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=30))
def test_k20_a_restart_goes_on_counting_where_the_log_stands(steps):
    live, at, minted = Counter(rulebook().minted), START, []
    for minutes, is_hypothesis in steps:
        at += minutes * MINUTE
        body = bodies.hypothesis("c") if is_hypothesis else m.Reflection(record=bodies.entry())
        minted.append((live.mint(body, at), at))
        restarted = Counter(rulebook().minted)
        for said, when in minted:
            restarted.apply(_Said(said, when))
        for probe in (bodies.hypothesis("c"), m.Reflection(record=bodies.entry())):
            expected, given_ = restarted.mint(probe, at), live.mint(probe, at)
            live.unmint(probe, given_)
            assert expected == given_


class _Said:
    def __init__(self, body, sent_at):
        self.body, self.sent_at = body, sent_at


@pytest.mark.rule("K20")
def test_k20_a_gate_that_read_a_log_gives_the_ids_that_the_writer_would_have_given():
    log = []
    society = Chance(log.append, seed=2)
    society.live(messages=500)
    fresh = gate()
    for env in log:
        fresh.apply(env)
    for body in (bodies.hypothesis("c"), m.Reflection(record=bodies.entry()), proposals("", "")):
        assert fresh.mint(draft(body), society.now) == society.gate.mint(draft(body), society.now)


# ---------------------------------------------------------------- the gate


def test_the_gate_asks_the_matrix_first():
    with pytest.raises(Forbidden):
        gate().admit(replace(hypothesis(), author=CRITIC, key=""))


def test_the_gate_fills_the_case_that_the_envelope_names():
    admitted = gate().admit(draft(bodies.assessment(), CRITIC, case_id="hyp_20260223_1000"))
    assert admitted.body.hypothesis_id == "hyp_20260223_1000"


def test_the_gate_refuses_a_body_that_names_another_case():
    wrong = draft(bodies.assessment(hypothesis_id="hyp_2"), CRITIC, case_id="hyp_1")
    with pytest.raises(Malformed) as caught:
        gate().admit(wrong)
    assert caught.value.field == "hypothesis_id"


@pytest.mark.parametrize(
    "body", [bodies.assessment(), m.PrincipleSynthesis(window=m.Window(from_=START, to=START), principles=())]
)
def test_the_gate_refuses_a_body_without_its_case(body):
    author = CRITIC if body.type == "RISK_ASSESSMENT" else EVOLVER
    with pytest.raises(Malformed) as caught:
        gate().admit(draft(body, author))
    assert caught.value.rule == "K9"


def test_an_opener_forgets_the_case_in_which_it_was_owed():
    admitted = gate().admit(replace(hypothesis(), case_id="cycle_20260223_1000"))
    assert (admitted.case_id, admitted.body.hypothesis_id) == (None, "")


def test_an_opener_may_bring_an_id_of_its_kind_and_no_other():
    admitted = gate().admit(hypothesis(hypothesis_id="hyp_20260223_1000_2"))
    assert admitted.case_id == "hyp_20260223_1000_2"
    for wrong in ("cycle_20260223_1000", "esc_20260223_1000", "mine", "hyp_1", "x" * 200):
        with pytest.raises(Malformed) as caught:
            gate().admit(hypothesis(hypothesis_id=wrong))
        assert caught.value.field == "hypothesis_id"


@pytest.mark.rule("K1")
def test_k1_what_settles_nothing_needs_a_key():
    with pytest.raises(Malformed) as caught:
        gate().admit(replace(hypothesis(), key=""))
    assert caught.value.field == "key"
    gate().admit(replace(hypothesis(), key="", obligation_id="cycle_20260223_1000/hypothesis/explorer"))


@pytest.mark.rule("K1")
@pytest.mark.parametrize(
    "key",
    [
        "violation/57",
        "ruling/57",
        "ruling/57/hyp_20260223_1000",
        "ping/hyp_20260223_1000/verdict/evolver",
        "reflection/ruling/1",
        "audit/3/1",
        "escalation/no_approve/-/1",
        "withdrawn/esc_20260223_1000",
        "released/critic/9",
        "micro/2026-02-23T10:00:00.000000Z",
        "daily/2026-02-23T22:00:00.000000Z/deferred",
        "started/1",
        "stopped/99",
        "clock/2026-02-23T10:00:00.000000Z/1",
        "hyp_20260223_1000/verdict/evolver/0",
        "hyp_20260223_1000/assessment-1/critic/12",
        "cycle_20260223_1200",
        "esc_20260223_1200_2",
        "a\n/critic/0",
    ],
)
def test_k1_nobody_may_take_an_id_that_silences_somebody_else(key):
    for author, body in ((VIEWER, Note(text="x")), (ADMIN, Note(text="x")), (EXPLORER, None)):
        taken = draft(body or m.ResearchNote(title="t", findings=(), sources=()), author, key=key)
        with pytest.raises(Malformed) as caught:
            gate().admit(taken)
        assert caught.value.field == "key"


@pytest.mark.rule("K1")
@pytest.mark.parametrize(
    "key",
    [
        "discord/1234567890",
        "slack/C01ABC/1712345678.000100",
        "web/7f3a",
        "scene/3",
        "cli-0001",
        "hyp_20260223_1000/verdict/evolver/0/aside-1",
        "my ruling",
    ],
)
def test_k1_keys_of_platforms_and_clients_are_taken_as_they_are(key):
    gate().admit(draft(Note(text="x"), VIEWER, key=key))


@pytest.mark.rule("K1")
def test_k1_officers_keys_are_derived_and_therefore_free():
    body = bodies.entry()
    note = draft(m.Reflection(record=body), REFEREE, key="reflection/1", actor=OFFICER)
    assert gate().admit(note) == note


@pytest.mark.rule("K1")
@pytest.mark.parametrize("obligation_id", ["hyp_1/verdict/evolver", "hyp_1/answer/admin", "x", "explorer"])
def test_k1_a_seat_answers_its_own_obligations_only(obligation_id):
    with pytest.raises(Malformed) as caught:
        check_identity(replace(hypothesis(), key="", obligation_id=obligation_id), derived_keys([EVOLVER]))
    assert caught.value.field == "obligation_id"


def test_an_admin_answers_an_escalation_by_obligation_or_by_key():
    answer = EscalationAnswer(escalation_id="esc_20260223_1000", option=1)
    by_key = draft(answer, ADMIN, actor=Actor("human", "web", "ann"), case_id="esc_20260223_1000")
    assert gate().admit(by_key).body == answer
    by_obligation = replace(by_key, key="", obligation_id="esc_20260223_1000/answer/admin")
    assert gate().admit(by_obligation).identity() == "esc_20260223_1000/answer/admin/0"


def test_the_same_duty_is_the_same_whatever_id_the_sequencer_gave_it():
    book = rules()
    context = Table().docket.context
    plain = m.Reflection(record=bodies.entry())
    assert book.same(plain, Counter(rulebook().minted).mint(plain, START), context)
    other = m.Reflection(record=bodies.entry(summary="something else"))
    assert not book.same(plain, Counter(rulebook().minted).mint(other, START), context)
    assert not book.same(plain, m.CausalRecord(record=bodies.entry()), context)


@pytest.mark.rule("R-A9")
def test_r_a9_a_duty_whose_text_the_sequencer_redacted_is_the_same_duty():
    book = rules()
    context = Table().docket.context
    joined = m.Reflection(record=bodies.entry(summary="what the critic calls a token: momentum"))
    logged = without_secrets(Counter(rulebook().minted).mint(joined, START))
    assert logged.record.summary == "what the critic calls a token: [redacted:password]"
    assert book.same(joined, logged, context)
    assert not book.same(m.Reflection(record=bodies.entry(summary="a token: momentum")), logged, context)


def test_stamps_are_in_utc_whatever_the_zone():
    at = datetime(2026, 2, 23, 23, 59, tzinfo=UTC)
    assert Counter(rulebook().minted).mint(bodies.hypothesis("c"), at).hypothesis_id == "hyp_20260223_2359"
