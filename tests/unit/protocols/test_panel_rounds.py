"""How panels end, counted; and what of it escalates (spec 6, R-P2, R-E1)."""

import pytest

from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.panel.rounds import FEWEST, NAME
from tests.doubles.panel_samples import FULL
from tests.doubles.panel_table import PanelTable

SPLIT = {"eic": {"D1": "warn"}}
"""Under the full contract one warn breaks F0 and fires nothing else."""


def decide(table):
    table.panel()
    table.all_review()
    table.conclude()


def shrink(table):
    table.panel()
    for role in table.roles:
        table.commit(role)
        table.review(role, text="nothing" if role == "eic" else None)


def rounds(table):
    return table.docket.context.fold_named(NAME)


def escalations(table, code):
    return [e for e in table.log if e.body.type == "ESCALATION" and e.body.trigger_code == code]


def resolved(table):
    return [e.body for e in table.log if e.body.type == "ESCALATION_RESOLVED"]


def played(*, decided=0, shrunk=0):
    table = PanelTable()
    for _ in range(decided):
        decide(table)
        table.wait(minutes=1)
    for _ in range(shrunk):
        shrink(table)
        table.wait(minutes=1)
    return table


def undecided(on_none_fired="abort", **over):
    table = PanelTable(FULL)
    table.panel(on_none_fired=on_none_fired, **over)
    for role in table.roles:
        table.commit(role)
        table.review(role, **SPLIT.get(role, {}))
    return table


# ---------------------------------------------------------------- counting


def test_panels_are_counted_by_how_they_end():
    table = played(decided=2, shrunk=1)
    found = rounds(table)
    assert (found.ended, found.decided, found.shrunk) == (3, 2, 1)
    assert found.rate == pytest.approx(1 / 3)
    assert found.seqs == (table.last("PANEL_ABORTED").seq,)


def test_before_the_first_end_the_rate_is_zero():
    table = PanelTable()
    table.panel()
    assert (rounds(table).ended, rounds(table).rate) == (0, 0.0)


@pytest.mark.parametrize("how", ["refused", "stopped", "undecided"])
def test_a_panel_that_ends_otherwise_has_not_shrunk(how):
    table = undecided() if how == "undecided" else PanelTable()
    if how == "refused":
        table.panel(contract={"contract_id": "x"})
        table.wait(minutes=1)
    elif how == "stopped":
        table.panel()
        table.say(ADMIN, Stop(scope=table.panel_id, why="enough"), channel="#admin")
    found = rounds(table)
    assert (found.ended, found.decided, found.shrunk) == (1, 0, 0), table.kinds()


# ---------------------------------------------------------------- more than 5 % shrunk


def test_three_shrunk_panels_of_three_ask_for_attention_and_fewer_do_not():
    table = played(shrunk=FEWEST - 1)
    assert not escalations(table, "panel_shrunk")
    shrink(table)
    (env,) = escalations(table, "panel_shrunk")
    body = env.body
    assert (body.level, body.system, body.subject) == ("ATTENTION", "panel", "")
    assert body.context == "3 of 3 panels have shrunk (100.0%)"
    assert body.evidence_seqs == tuple(e.seq for e in table.log if e.body.type == "PANEL_ABORTED")
    assert env.case_id in table.docket.cases, "it is open"


@pytest.mark.parametrize(("decided", "is_raised"), [(57, False), (56, True)])
def test_exactly_5_per_cent_is_not_too_much(decided, is_raised):
    table = played(decided=decided, shrunk=3)
    assert rounds(table).ended == decided + 3
    assert bool(escalations(table, "panel_shrunk")) is is_raised


def test_it_is_withdrawn_once_the_rate_has_fallen_to_5_per_cent():
    table = played(decided=56, shrunk=3)
    assert not resolved(table)
    decide(table)
    assert [body.how for body in resolved(table)] == ["withdrawn"]
    assert not rounds(table).is_alarming


@pytest.mark.rule("K19")
def test_k19_a_fourth_shrunk_panel_adds_to_the_open_escalation_and_raises_no_other():
    table = played(shrunk=4)
    assert len(escalations(table, "panel_shrunk")) == 1


def test_silence_leaves_such_rounds_undecided_and_changes_nothing():
    table = played(shrunk=3)
    table.wait(hours=5)
    assert [(body.how, body.effect) for body in resolved(table)] == [("expired", "none")]
    assert not table.docket.context.conservative_a


# ---------------------------------------------------------------- R-P2: no condition fired, and that aborts


@pytest.mark.rule("R-P2")
def test_r_p2_a_panel_that_aborts_since_nothing_fired_asks_the_admin_for_a_decision():
    table = undecided()
    end = table.last("PANEL_ABORTED")
    assert end.body.tag == "[NO-CONDITION-FIRED]"
    (env,) = escalations(table, "panel_undecided")
    body = env.body
    assert (body.level, body.system, body.subject) == ("DECISION_NEEDED", "panel", table.panel_id)
    assert body.evidence_seqs == (table.docket.ended[table.panel_id].opened_seq, end.seq)
    assert body.options[0].label.startswith("Leave it undecided")
    assert table.panel_id in body.trigger and body.context.startswith("On widgets: no condition fired")


@pytest.mark.rule("R-P2")
def test_r_p2_the_default_accepts_and_asks_nobody():
    table = undecided("accept")
    table.conclude()
    assert table.last("PANEL_DECIDED").body.tags[-1] == "[NO-CONDITION-FIRED]"
    assert not [kind for kind in table.kinds() if kind == "ESCALATION"]


@pytest.mark.rule("R-P2")
def test_r_p2_each_undecided_panel_is_asked_about_by_itself():
    table = undecided()
    table.wait(minutes=1)
    table.panel(on_none_fired="abort")
    for role in table.roles:
        table.commit(role)
        table.review(role, **SPLIT.get(role, {}))
    assert len({e.body.subject for e in escalations(table, "panel_undecided")}) == 2


def test_an_answer_ends_the_question_and_not_the_panels_end():
    table = undecided()
    (env,) = escalations(table, "panel_undecided")
    table.say(
        ADMIN,
        EscalationAnswer(escalation_id=env.case_id, option=2),
        channel="#admin",
        case_id=env.case_id,
    )
    assert [(body.how, body.effect) for body in resolved(table)] == [("answered", "none")]
    assert table.outcome == "aborted"


def test_a_title_of_any_length_fits_the_question():
    table = undecided(title="long " * 99)
    (env,) = escalations(table, "panel_undecided")
    assert len(env.body.context) < 300
