from collections import Counter
from datetime import timedelta

import pytest

from moot.bots.minds.simulated.debate.catalogue import IDEAS
from moot.bots.minds.simulated.debate.criteria import CODES, CRITERIA
from moot.bots.minds.simulated.debate.needs import need_of, severity_of
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.prices import load_universe
from moot.memory.evidence import InMemoryEvidence
from moot.protocols.arena.contracts import NotebookContext, ProtocolConfig, TaskContext
from moot.protocols.research import messages as m
from moot.protocols.research.scope import names_a_parameter
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER, SYSTEM_A
from tests.doubles.views import START, Society

SYNTHETIC = load_universe("synthetic", start=START, seed=7)
WEEKLY = {"architecture": {"at": [START.isoformat()]}}


def mind_of(seed=1):
    return SimulatedMind(SimulatedTools(SYNTHETIC, InMemoryEvidence(), seed))


def cycle(seed=1, *absent):
    society = Society({s: mind_of(seed) for s in SYSTEM_A if s not in absent}, schedules=WEEKLY)
    return society


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea.description[:40])
def test_every_idea_is_about_the_system(idea):
    said = "\n".join((idea.scope, idea.description, idea.benefit, idea.objection, idea.defence, idea.notes))
    assert not names_a_parameter(said)
    assert set(idea.answers) <= set(CRITERIA) | set(CODES), "nothing that is never counted"
    assert not said.endswith(".") and idea.description[0].isupper() and idea.benefit[0].islower()


def test_no_idea_stands_twice_and_there_are_many_kinds():
    assert len({idea.description for idea in IDEAS}) == len(IDEAS)
    assert len({idea.scope for idea in IDEAS}) >= 5
    assert {idea.effort for idea in IDEAS} == {"low", "medium", "high"}


def test_what_a_week_asks_for_makes_objections_lighter():
    costly = next(idea for idea in IDEAS if idea.effort == "high")
    quiet = need_of(costly, Counter(trials=80))
    loud = need_of(costly, Counter({"trials": 80, **dict.fromkeys(costly.answers, 40)}))
    assert quiet.share == 0.0 and severity_of(costly, quiet) == "high"
    assert loud.share > quiet.share and severity_of(costly, loud) == "low"
    assert need_of(None, Counter(trials=80)).share == 0.0


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_first_week_without_records_is_debated_and_reported(seed):
    society = cycle(seed)
    society.wait(hours=8)
    assert society.bodies("VIOLATION") == [] and not society.docket.cases
    for body in society.bodies("ARCHITECTURE_VERDICT"):
        count = len(body.approved_changes) + len(body.deferred) + len(body.rejected)
        assert count == body.proposals_evaluated >= 1


def test_nothing_is_approved_without_a_critique():
    for seed in range(1, 6):
        society = cycle(seed, CRITIC)
        society.wait(hours=8)
        assert society.bodies("VIOLATION") == []
        for body in society.bodies("ARCHITECTURE_VERDICT"):
            assert body.approved_changes == ()


def test_a_persons_own_proposal_is_debated_like_any_other():
    society = cycle(2, EXPLORER)
    change = m.ProposedChange(scope="channels", description="Read the log aloud", expected_benefit="fun")
    period = society.view(society.owed_bots()[0]).brief["period"]
    society.say(EXPLORER, m.ArchitectureProposal(period=period, proposals=(change,)))
    society.minds[EXPLORER] = mind_of(2)
    society.wait(hours=8)
    assert society.bodies("VIOLATION") == []
    (verdict,) = society.bodies("ARCHITECTURE_VERDICT")
    assert verdict.proposals_evaluated == 1
    assert all(c.objections for b in society.bodies("ARCHITECTURE_CRITIQUE") for c in b.critiques)


def test_notes_are_heard_in_the_critique():
    society = cycle(3)
    for _ in range(2000):
        owed = [o for o in society.owed_bots() if "ARCHITECTURE_CRITIQUE" in o.expects]
        if owed:
            break
        society.wait(seconds=20)
    society.note("who pays for all this?", owed[0].case_id)
    said = society.ask(owed[0]).body
    assert "“who pays for all this?”" in repr(said)
    assert timedelta(0) < society.now - START < timedelta(hours=2)


def refined(arena, seed=2):
    """Let the Evolver open runs for all that a person in its seat has approved."""
    minds = {s: mind_of(seed) for s in SYSTEM_A if s != EVOLVER}
    society = Society(minds, schedules=WEEKLY, config={"arena": {"enabled": True, **arena}})
    while not any("ARCHITECTURE_VERDICT" in o.expects for o in society.owed_bots()):
        society.wait(minutes=1)
    view = society.view(next(o for o in society.owed_bots() if o.seat == EVOLVER))
    approved = tuple(
        m.ApprovedChange(
            change_id=change_id,
            description=description,
            priority="low",
            implementation_notes=f"Begin {change_id} small.",
            assigned_to="evolver",
        )
        for change_id, description in view.brief["changes"]
    )
    body = m.ArchitectureVerdict(
        period=view.brief["period"],
        proposals_evaluated=len(approved),
        approved_changes=approved,
        deferred=(),
        rejected=(),
    )
    minds[EVOLVER] = mind_of(seed)
    society.say(EVOLVER, body)
    society.wait(hours=8)
    assert society.bodies("VIOLATION") == []
    return society, approved


def test_the_evolver_opens_a_run_for_each_approved_change_with_what_the_debate_said():
    society, approved = refined({})
    tasks = society.bodies("ARENA_TASK")
    assert {body.task["task_id"] for body in tasks} == {change.change_id for change in approved}
    for body in tasks:
        task = TaskContext.model_validate(body.task)
        (change,) = (c for c in approved if c.change_id == task.task_id)
        assert (
            change.description in task.initial_prompt and change.implementation_notes in task.initial_prompt
        )
        assert task.session_id == f"{body.parent_id}/{task.task_id}"
        assert not ProtocolConfig.model_validate(body.config).notebook_enabled
        for critique in society.bodies("ARCHITECTURE_CRITIQUE"):
            for one in critique.critiques:
                if one.change_id == task.task_id:
                    assert all(text in task.initial_prompt for text in one.objections)
        for rebuttal in society.bodies("ARCHITECTURE_REBUTTAL"):
            told = {one.change_id: one.response for one in rebuttal.responses}
            assert told[task.task_id] in task.initial_prompt


def test_the_weekly_report_follows_although_the_runs_got_no_answer():
    society, _ = refined({})
    assert len(society.bodies("WEEKLY_REPORT")) == 1
    assert {body.state for body in society.bodies("RUN_TERMINATED")} == {"TERMINATED_ERROR"}


def test_a_configured_notebook_grounds_the_runs_of_the_week():
    society, approved = refined({"notebook": "notes"})
    bodies = society.bodies("ARENA_TASK")
    assert len(bodies) == len(approved)
    for body in bodies:
        assert ProtocolConfig.model_validate(body.config).notebook_enabled
        assert NotebookContext.model_validate(body.notebook).notebook_id == "society"
