"""Approved changes before panels: when they are asked, what binds, what silence leads to (R-D16, spec 3.2)."""

from __future__ import annotations

from typing import Any

import pytest

from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.panel.contract import ROLES, as_json, contract_from
from moot.protocols.panel.messages import PanelOpened, Phase1, Phase2, Synthesis
from moot.protocols.panel.seats import SYNTHESIZER
from moot.protocols.research import architecture as arch
from moot.protocols.research.architecture import PANELLING
from moot.protocols.research.architecture_table import ARCHITECTURE
from moot.protocols.research.seats import EVOLVER
from tests.doubles.panel_samples import FOCUS, phase1, report, synthesis
from tests.doubles.table import Table
from tests.unit.protocols import test_architecture as weekly_tests
from tests.unit.protocols.test_architecture import SATURDAY, answer, approved, proposal, refine, weekly

REJECT = "editorial_decision=reject_or_major_revision"

CONTRACT = contract_from({**as_json(FOCUS), "contract_id": "architecture/reviewer_methodology_focus/v1"})
TEXTS = ("add sentiment analysis as a data source", "keep reflections for a year")


def approved_with(say: str | None, n: int = 2, *, has_arena: bool = True) -> Table:
    """Let the Evolver approve so many changes where panels have this to say."""
    config: dict[str, Any] = {"arena": {"enabled": has_arena}}
    if say is not None:
        config["panel"] = {"architecture": say}
    table = Table(SATURDAY, schedules={"architecture": {"cron": "0 15 * * sat"}}, config=config)
    answer(table, proposals=tuple(proposal(text) for text in TEXTS[:n]))
    while weekly(table).phase != arch.JUDGING:
        answer(table)
    ids = [change_id for change_id, _ in weekly(table).changes]
    answer(table, approved_changes=tuple(approved(i) for i in ids), rejected=())
    return table


def opener(table: Table, contract: Any = None) -> PanelOpened:
    return PanelOpened(
        parent_id=weekly_tests.cycle_of(table),
        contract=as_json(CONTRACT) if contract is None else contract,
        title="Architecture change",
        field="research architecture",
        word_count=200,
        content_ref="dossier/0123456789abcdef",
    )


def convene(table: Table, change_id: str, contract: Any = None) -> Any:
    owed = next(o for o in weekly(table).owed if f"panel-{change_id}/" in o.id)
    return table.say(EVOLVER, opener(table, contract), owed=owed, channel="#r-panel")


def judge(table: Table, panel_id: str, *, is_accepted: bool) -> None:
    scores: Any = {} if is_accepted else {"D1": "block"}
    for role in ROLES[CONTRACT.mode]:
        for body in (Phase1(text=phase1(CONTRACT)), Phase2(text=report(role, scores, contract=CONTRACT))):
            owed = next(o for o in table.docket.owed_by(Seat(role)) if o.case_id == panel_id)
            table.say(Seat(role), body, owed=owed)
    text = synthesis(dict.fromkeys(ROLES[CONTRACT.mode], scores), CONTRACT)
    owed = next(o for o in table.docket.owed_by(SYNTHESIZER) if o.case_id == panel_id)
    table.say(SYNTHESIZER, Synthesis(text=text), owed=owed)
    assert table.docket.ended[panel_id].outcome == "decided"


def owed_of(table: Table) -> list[str]:
    return [o.step for o in weekly(table).owed]


def shown(table: Table, change_id: str) -> dict[str, Any]:
    state = weekly(table)
    obligation = next(o for o in state.owed if change_id in o.id)
    found: dict[str, Any] = ARCHITECTURE.brief(state, obligation, table.docket.context)
    return found


def violation(table: Table, env: Any) -> str:
    found = table.effects[env.seq - 1].violation
    return found.why if found is not None else ""


@pytest.mark.parametrize("say", [None, "off"])
def test_without_a_word_in_the_configuration_changes_are_refined_at_once(say):
    table = approved_with(say)
    assert weekly(table).phase == arch.REFINING and weekly(table).panels is None
    assert "panel" not in shown(table, "arch_001")
    env = table.say(EVOLVER, opener(table), channel="#r-panel")
    assert violation(table, env)


def test_where_nothing_would_be_refined_no_panel_is_asked():
    assert weekly(approved_with("binding", has_arena=False)).phase == arch.REVIEWING


@pytest.mark.parametrize("say", ["advisory", "binding"])
def test_every_approved_change_is_owed_a_panel_all_at_once(say):
    table = approved_with(say)
    assert weekly(table).phase == PANELLING
    assert owed_of(table) == ["panel-arch_001", "panel-arch_002"]
    assert shown(table, "arch_002")["change"][0] == "arch_002"
    env = convene(table, "arch_002")
    assert table.docket.cases[env.case_id].parent == weekly_tests.cycle_of(table)
    assert owed_of(table) == ["panel-arch_001", "panel-limit-arch_002"]
    assert "ARENA_TASK" not in table.kinds()


def test_a_binding_panel_lets_only_what_it_accepts_be_refined():
    table = approved_with("binding")
    first, second = convene(table, "arch_001"), convene(table, "arch_002")
    judge(table, second.case_id, is_accepted=True)
    assert weekly(table).phase == PANELLING, "the other panel still sits"
    judge(table, first.case_id, is_accepted=False)
    assert (weekly(table).phase, owed_of(table)) == (arch.REFINING, ["refine-arch_002"])
    assert shown(table, "arch_002")["panel"]["decision"] == "editorial_decision=accept"
    env = refine(table, "arch_001", answers="arch_002")
    assert violation(table, env) == "arch_001 is no approved change"
    refine(table, "arch_002")
    assert weekly(table).phase == arch.REVIEWING


def test_the_week_goes_on_when_a_binding_panel_accepts_nothing():
    table = approved_with("binding", 1)
    judge(table, convene(table, "arch_001").case_id, is_accepted=False)
    assert weekly(table).phase == arch.REVIEWING
    assert "ARENA_TASK" not in table.kinds()


def test_an_advisory_panel_is_shown_and_holds_nothing_back():
    table = approved_with("advisory", 1)
    judge(table, convene(table, "arch_001").case_id, is_accepted=False)
    assert owed_of(table) == ["refine-arch_001"]
    assert shown(table, "arch_001")["panel"]["decision"] == REJECT


@pytest.mark.rule("R-B2")
@pytest.mark.parametrize(("say", "goes_on"), [("advisory", True), ("binding", False)])
def test_r_b2_a_panel_that_nobody_opens_is_no_consent(say, goes_on):
    table = approved_with(say, 1)
    table.wait(minutes=20)
    assert weekly_tests.ruling(table) == ("skip", "timeout", "R-D16")
    assert weekly(table).phase == (arch.REFINING if goes_on else arch.REVIEWING)


@pytest.mark.rule("R-B2")
@pytest.mark.parametrize(("say", "goes_on"), [("advisory", True), ("binding", False)])
def test_r_b2_a_shrunk_panel_is_no_consent(say, goes_on):
    table = approved_with(say, 1)
    convene(table, "arch_001")
    table.wait(minutes=40)
    assert table.last("PANEL_ABORTED").body.tag.startswith("[PANEL-SHRUNK")
    assert weekly(table).phase == (arch.REFINING if goes_on else arch.REVIEWING)


def test_the_week_does_not_wait_for_ever_and_a_late_panel_changes_nothing():
    table = approved_with("binding", 1)
    panel_id = convene(table, "arch_001").case_id or ""
    for text in ("nothing", phase1(CONTRACT)):
        table.wait(minutes=39)
        for role in ROLES[CONTRACT.mode]:
            table.say(Seat(role), Phase1(text=text))
    table.wait(minutes=51)
    assert weekly(table).phase == PANELLING
    table.wait(minutes=1)
    assert weekly_tests.ruling(table) == ("skip", "panel_late", "R-D16")
    assert weekly(table).phase == arch.REVIEWING
    for role in ROLES[CONTRACT.mode]:
        table.say(Seat(role), Phase2(text=report(role, contract=CONTRACT)))
    table.say(SYNTHESIZER, Synthesis(text=synthesis(None, CONTRACT)))
    assert table.docket.ended[panel_id].outcome == "decided"
    assert weekly(table).phase == arch.REVIEWING


def test_only_the_evolver_opens_them_one_a_change_and_under_a_contract_for_changes():
    table = approved_with("binding")
    env = table.say(ADMIN, opener(table), channel="#r-panel")
    assert violation(table, env) == "the Evolver opens the panels of the weekly cycle"
    env = table.say(EVOLVER, opener(table), channel="#r-panel")
    assert violation(table, env) == "no change waits for this panel"
    assert "architecture/…" in violation(table, convene(table, "arch_001", as_json(FOCUS)))
    assert owed_of(table) == ["panel-arch_001", "panel-arch_002"]


def test_whoever_answers_nothing_in_particular_means_the_last_change():
    table = approved_with("binding")
    convene(table, "arch_001")
    env = table.say(EVOLVER, opener(table), channel="#r-panel")
    assert violation(table, env) == ""
    assert owed_of(table) == ["panel-limit-arch_001", "panel-limit-arch_002"]


def test_a_panel_that_came_too_late_says_nothing_while_others_still_sit():
    table = approved_with("binding")
    roles = ROLES[CONTRACT.mode]
    first = convene(table, "arch_001").case_id
    table.wait(minutes=15)
    second = convene(table, "arch_002").case_id
    for text in ("nothing", phase1(CONTRACT)):
        table.wait(minutes=24 if text == "nothing" else 39)
        for role in roles:
            for owed in [o for o in table.docket.owed_by(Seat(role)) if "PHASE1" in o.expects]:
                table.say(Seat(role), Phase1(text=text), owed=owed)
    table.wait(minutes=52)
    assert owed_of(table) == ["panel-limit-arch_002"]
    for panel_id in (first, second):
        for role in roles:
            owed = next(o for o in table.docket.owed_by(Seat(role)) if o.case_id == panel_id)
            table.say(Seat(role), Phase2(text=report(role, contract=CONTRACT)), owed=owed)
        owed = next(o for o in table.docket.owed_by(SYNTHESIZER) if o.case_id == panel_id)
        table.say(SYNTHESIZER, Synthesis(text=synthesis(None, CONTRACT)), owed=owed)
    assert [table.docket.ended[panel_id].outcome for panel_id in (first, second)] == ["decided"] * 2
    assert owed_of(table) == ["refine-arch_002"]


@pytest.mark.rule("K1")
def test_k1_a_change_has_one_panel():
    table = approved_with("binding")
    owed = weekly(table).owed[0]
    table.say(EVOLVER, opener(table), owed=owed, channel="#r-panel")
    env = table.say(EVOLVER, opener(table), owed=owed, channel="#r-panel", key="again")
    assert table.effects[env.seq - 1].violation is not None
    assert owed_of(table) == ["panel-arch_002", "panel-limit-arch_001"]
