"""The weekly cycle: architecture debate, thresholds, meta-reflection, report; spec 2.2, 2.3, 3 with R-D14, R-D16."""

import copy
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace

import pytest

from moot.protocols.arena.contracts import NotebookContext
from moot.protocols.arena.messages import ArenaDraft, ArenaTask
from moot.protocols.arena.seats import PLANNER
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN, REFEREE
from moot.protocols.kernel.steps import ENDED
from moot.protocols.research import architecture as arch
from moot.protocols.research import messages as m
from moot.protocols.research.architecture_table import ARCHITECTURE
from moot.protocols.rulebook import rulebook
from tests.doubles.answers import Answers
from tests.doubles.debating import CRITIC, EVOLVER, EXPLORER, beside, cycle_of, ruling
from tests.doubles.table import Table
from tests.doubles.tampering import judged

SATURDAY = datetime(2026, 2, 28, 15, tzinfo=UTC)
TICK = timedelta(microseconds=1)
PHASES = [phase for phase in ARCHITECTURE.phases if phase != arch.PANELLING]
NEXT = dict(pairwise((*PHASES, ENDED)))
STEPS = {step.phase: step for step in ARCHITECTURE.steps.values() if step.seat != REFEREE}
SILENCE = {
    arch.PROPOSING: ("skip", "R-D16", arch.REVIEWING),
    arch.CRITIQUING_1: ("void", "R-D16", arch.JUDGING),
    arch.REBUTTING: ("void", "R-D16", arch.JUDGING),
    arch.CRITIQUING_2: ("void", "R-D16", arch.JUDGING),
    arch.JUDGING: ("REJECT", "R-D16", arch.REVIEWING),
    arch.REFINING: ("skip", "R-D17", arch.REVIEWING),
    arch.REVIEWING: ("skip", "R-D17", arch.REFLECTING),
    arch.ADJUSTING: ("skip", "R-D17", arch.REFLECTING),
    arch.REFLECTING: ("skip", "R-D17", arch.REPORTING),
    arch.REPORTING: ("skip", "R-D17", ENDED),
}
"""What is ruled on silence, by which rule, and where it leads."""


def society(*, arena=True):
    return Table(
        SATURDAY, schedules={"architecture": {"cron": "0 15 * * sat"}}, config={"arena": {"enabled": arena}}
    )


def weekly(table):
    return table.docket.cases[cycle_of(table)]


def answer(table, kind=None, **over):
    """Answer what the weekly cycle owes, by the rules but for what is given."""
    owed = weekly(table).owed[0]
    body = Answers(1, faults=0).to(owed, table.docket).model_copy(update=over)
    return table.say(owed.seat, body, owed=owed, channel=rulebook().channel_of[body.type])


def reach(phase):
    table = society()
    while weekly(table).phase != phase:
        answer(table)
    return table


def proposal(description="add sentiment analysis as a data source", scope="data", change_id=""):
    return m.ProposedChange(
        change_id=change_id, scope=scope, description=description, expected_benefit="breadth"
    )


def test_the_weekly_cycle_goes_from_proposal_to_report():
    table = society()
    case_id = cycle_of(table)
    while case_id in table.docket.cases:
        answer(table)
    assert table.kinds()[1:] == [
        "CYCLE_TRIGGER",
        "ARCHITECTURE_PROPOSAL",
        "ARCHITECTURE_CRITIQUE",
        "ARCHITECTURE_REBUTTAL",
        "ARCHITECTURE_CRITIQUE",
        "ARCHITECTURE_VERDICT",
        "ARENA_TASK",
        "THRESHOLD_REVIEW",
        "THRESHOLDS_ADJUSTED",
        "META_REFLECTION",
        "WEEKLY_REPORT",
    ]
    assert table.docket.ended[case_id].outcome == "reported"


@pytest.mark.parametrize("phase", PHASES)
def test_every_message_in_every_phase_moves_as_the_table_says_or_is_refused(phase):
    table = reach(phase)
    state = weekly(table)
    before = copy.deepcopy(state)
    for other in PHASES:
        there = reach(other)
        body = Answers(1, faults=0).to(weekly(there).owed[0], there.docket)
        env = SimpleNamespace(
            body=body,
            author=STEPS[other].seat,
            seq=1,
            id="x",
            sent_at=table.now,
            case_id=state.case_id,
            channel=rulebook().channel_of[body.type],
            obligation_id=None,
        )
        if body.type in STEPS[phase].expects and other == phase:
            assert ARCHITECTURE.step(state, env, table.docket.context).phase == NEXT[phase]
        else:
            with pytest.raises(Violation):
                ARCHITECTURE.step(state, env, table.docket.context)
        assert state == before


@pytest.mark.parametrize("phase", PHASES)
def test_silence_is_pinged_and_leads_where_its_row_says(phase):
    table = reach(phase)
    duty, case_id, owed = STEPS[phase], cycle_of(table), weekly(table).owed[0]
    assert duty.within == timedelta(minutes={arch.PROPOSING: 30, arch.REFINING: 10}.get(phase, 20))
    table.until(table.now + duty.within + duty.grace - TICK)
    assert table.log[-1].body.type == "TIMEOUT_PING"
    table.until(table.now + TICK)
    assert table.docket.closed.find(owed.id) is not None
    outcome, rule, to = SILENCE[phase]
    assert ruling(table) == (outcome, "timeout", rule)
    if to == ENDED:
        assert case_id in table.docket.ended
    else:
        assert weekly(table).phase == to


@pytest.mark.parametrize("phase", PHASES)
def test_the_budget_runs_over_the_debate_and_not_over_the_weekly_duties(phase):
    table = reach(phase)
    budget = [o for o in weekly(table).owed if o.seat == REFEREE]
    assert len(budget) == (phase in PHASES[:5])


def test_at_150_minutes_the_debate_gives_way_to_the_weekly_duties():
    table = society()
    for minutes in (39, 29, 29, 29):
        table.wait(minutes=minutes)
        answer(table)
    assert weekly(table).phase == arch.JUDGING
    table.until(SATURDAY + timedelta(minutes=150) - TICK)
    assert weekly(table).phase == arch.JUDGING
    table.until(SATURDAY + timedelta(minutes=150))
    assert ruling(table) == ("REJECT", "cycle_budget", "R-D1")
    assert weekly(table).phase == arch.REVIEWING
    assert not any(o.seat == REFEREE for o in table.docket.open.values())


@pytest.mark.parametrize("n", [0, 4])
def test_one_to_three_changes_are_proposed(n):
    table = society()
    env = answer(table, proposals=tuple(proposal() for _ in range(n)))
    assert beside(table, env).field == "proposals"


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_changes_get_counted_ids(n):
    table = society()
    answer(table, proposals=tuple(proposal() for _ in range(n)))
    assert [change_id for change_id, _ in weekly(table).changes] == ["arch_001", "arch_002", "arch_003"][:n]


def test_two_changes_may_not_share_an_id():
    table = society()
    env = answer(table, proposals=(proposal(change_id="arch_001"), proposal(change_id="arch_001")))
    assert beside(table, env).field == "proposals"


@pytest.mark.parametrize(
    ("description", "scope"),
    [
        ("set the parameters of a single strategy anew", "strategies"),
        ("strategy parameter sweep", "strategies"),
        ("lower fast to 10", "momentum"),
        ("stop-loss = 0.05", "risk"),
        ("tune hyp_20260223_1000", "strategies"),
        ("better data", "strat_12 entry"),
    ],
)
def test_a_single_strategys_parameter_is_out_of_scope(description, scope):
    table = society()
    env = answer(table, proposals=(proposal(), proposal(description, scope)))
    assert beside(table, env).field == "proposals[1].scope"
    assert weekly(table).phase == arch.PROPOSING


@pytest.mark.parametrize(
    "description",
    [
        "add sentiment analysis as a data source",
        "a new strategy archetype: pairs",
        "keep reflections for a year in memory",
        "upgrade the risk model to CVaR",
    ],
)
def test_the_spec_s_examples_are_in_scope(description):
    table = society()
    answer(table, proposals=(proposal(description),))
    assert weekly(table).phase == arch.CRITIQUING_1


@pytest.mark.rule("R-D16")
def test_r_d16_the_benefit_of_a_change_names_no_parameter_either():
    table = society()
    change = m.ProposedChange(scope="s", description="better exits", expected_benefit="set slow to 90")
    assert beside(table, answer(table, proposals=(change,))).rule == "R-D16"
    assert weekly(table).phase == arch.PROPOSING


@pytest.mark.parametrize("phase", [p for p in PHASES if p not in (arch.REFINING, arch.REPORTING)])
def test_every_message_is_about_this_week(phase):
    table = reach(phase)
    said = beside(table, answer(table, period="2026-W10"))
    assert (said.rule, said.field) == ("3.2", "period")
    assert weekly(table).phase == phase


@pytest.mark.parametrize(("phase", "round"), [(arch.CRITIQUING_1, 2), (arch.CRITIQUING_2, 1)])
def test_a_critique_is_of_its_round(phase, round):
    table = reach(phase)
    assert beside(table, answer(table, round=round)).field == "round"


def test_critiques_and_rebuttals_are_of_what_was_proposed():
    table = reach(arch.CRITIQUING_1)
    critique = m.ChangeCritique(change_id="arch_099", objections=("no",), severity="low")
    assert beside(table, answer(table, critiques=(critique,))).field == "critiques[0].change_id"
    answer(table)
    response = m.ChangeResponse(change_id="arch_099", response="yes", concede=False)
    assert beside(table, answer(table, responses=(response,))).field == "responses[0].change_id"


def approved(change_id):
    return m.ApprovedChange(
        change_id=change_id,
        description="d",
        priority="low",
        implementation_notes="n",
        assigned_to="explorer",
    )


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"proposals_evaluated": 1}, "proposals_evaluated"),
        ({"approved_changes": (approved("arch_099"),)}, "approved_changes[0].change_id"),
        ({"approved_changes": (), "deferred": (), "rejected": ("arch_001",)}, "rejected"),
        ({"approved_changes": (), "deferred": ("arch_001",), "rejected": ("arch_001",)}, "rejected"),
        ({"approved_changes": (approved("arch_001"),), "rejected": ("arch_001", "arch_002")}, "rejected"),
    ],
)
def test_the_verdict_decides_every_proposal_once(over, field):
    table = society()
    answer(table, proposals=(proposal(), proposal("keep reflections for a year")))
    while weekly(table).phase != arch.JUDGING:
        answer(table)
    assert beside(table, answer(table, **over)).field == field
    answer(table)
    assert weekly(table).phase == arch.REFINING


def test_nothing_is_approved_without_a_critique():
    table = reach(arch.CRITIQUING_1)
    table.wait(minutes=31)
    assert weekly(table).phase == arch.JUDGING
    ids = [change_id for change_id, _ in weekly(table).changes]
    env = answer(table, approved_changes=tuple(approved(i) for i in ids), rejected=())
    assert beside(table, env).field == "approved_changes"
    env = answer(table)
    assert not env.body.approved_changes


@pytest.mark.rule("R-D16")
def test_r_d16_what_its_author_withdrew_is_not_approved():
    table = society()
    answer(table, proposals=(proposal(), proposal("keep reflections for a year")))
    while weekly(table).phase != arch.REBUTTING:
        answer(table)
    said = [(change_id, change_id == "arch_002") for change_id, _ in weekly(table).changes]
    answer(
        table,
        responses=tuple(
            m.ChangeResponse(change_id=i, response="so", concede=gives_in) for i, gives_in in said
        ),
    )
    answer(table)
    env = answer(table, approved_changes=(approved("arch_001"), approved("arch_002")), rejected=())
    assert beside(table, env).rule == "R-D16"
    assert beside(table, env).field == "approved_changes[1].change_id"
    answer(table, approved_changes=(approved("arch_001"),), rejected=(), deferred=("arch_002",))
    assert [change_id for change_id, _, _ in weekly(table).approved] == ["arch_001"]


@pytest.mark.rule("R-D16")
def test_r_d16_a_verdict_that_nobody_gives_rejects_every_change():
    table = reach(arch.JUDGING)
    table.wait(minutes=31)
    assert ruling(table) == ("REJECT", "timeout", "R-D16")
    assert (weekly(table).phase, weekly(table).approved) == (arch.REVIEWING, ())
    while weekly(table).phase != arch.REPORTING:
        answer(table)
    assert answer(table).body.architecture_improvements == ()


def test_the_review_and_the_adjustment_are_what_the_log_gives():
    table = reach(arch.REVIEWING)
    assert beside(table, answer(table, rejects=5)).field == "rejects"
    assert beside(table, answer(table, recommendation="lower")).field == "recommendation"
    answer(table)
    before = table.docket.context.fold_named("research").thresholds
    assert beside(table, answer(table, after={**before, "tail_risk": 0.1})).field == "after"
    answer(table)
    assert weekly(table).phase == arch.REFLECTING


def test_a_skipped_review_adjusts_nothing():
    table = reach(arch.REVIEWING)
    table.wait(minutes=31)
    assert weekly(table).phase == arch.REFLECTING


def test_the_weekly_report_names_what_was_approved():
    table = reach(arch.REPORTING)
    improvements = weekly(table).improvements
    assert improvements
    assert beside(table, answer(table, architecture_improvements=())).field == "architecture_improvements"
    assert beside(table, answer(table, total_cycles=7)).field == "total_cycles"
    assert beside(table, answer(table, week="2026-W10")).field == "week"
    env = answer(table)
    assert env.body.architecture_improvements == improvements


def test_each_seat_has_its_part():
    seats = {phase: step.seat for phase, step in STEPS.items() if phase != arch.PANELLING}
    assert seats == {
        arch.PROPOSING: EXPLORER,
        arch.CRITIQUING_1: CRITIC,
        arch.REBUTTING: EXPLORER,
        arch.CRITIQUING_2: CRITIC,
        arch.JUDGING: EVOLVER,
        arch.REFINING: EVOLVER,
        arch.REVIEWING: EVOLVER,
        arch.ADJUSTING: CRITIC,
        arch.REFLECTING: EVOLVER,
        arch.REPORTING: EVOLVER,
    }


def test_a_stop_ends_it():
    table = society()
    case_id = cycle_of(table)
    table.say(ADMIN, Stop(scope=case_id, why="enough"), channel="#admin")
    assert table.docket.ended[case_id].outcome == "stopped"


# ---------------------------------------------------------------- runs of approved changes


def refining(n=2, **how):
    """Reach the phase in which `n` approved changes are to be refined."""
    table = society(**how)
    texts = (
        "add sentiment analysis as a data source",
        "keep reflections for a year",
        "pairs as an archetype",
    )
    answer(table, proposals=tuple(proposal(text) for text in texts[:n]))
    while weekly(table).phase != arch.JUDGING:
        answer(table)
    ids = [change_id for change_id, _ in weekly(table).changes]
    answer(table, approved_changes=tuple(approved(i) for i in ids), rejected=())
    return table


def task(table, change_id, **over):
    given = {"task_id": change_id, "initial_prompt": "refine it", "session_id": "s"}
    fields = {"parent_id": cycle_of(table), "config": {"notebook_enabled": False}, "task": given, **over}
    return ArenaTask(**fields)


def refine(table, change_id, *, answers="", **over):
    owed = next(o for o in weekly(table).owed if (answers or change_id) in o.id)
    return table.say(EVOLVER, task(table, change_id, **over), owed=owed, channel="#r-arena")


def test_every_approved_change_is_owed_a_run_all_at_once():
    table = refining()
    owed = [(o.id.split("/")[1], o.seat, o.expects, o.channel) for o in weekly(table).owed]
    assert owed == [(f"refine-arch_00{n}", EVOLVER, ("ARENA_TASK",), "#r-arena") for n in (1, 2)]
    env = refine(table, "arch_002")
    assert weekly(table).phase == arch.REFINING
    assert table.docket.cases[env.case_id].parent == cycle_of(table)
    refine(table, "arch_001")
    assert weekly(table).phase == arch.REVIEWING, "it waits for no run"
    assert [s.kind for s in table.docket.cases.values()] == ["architecture", "run", "run"]


def test_a_missed_run_is_skipped_alone():
    table = refining()
    refine(table, "arch_002")
    table.wait(minutes=20)
    assert ruling(table) == ("skip", "timeout", "R-D17")
    assert weekly(table).phase == arch.REVIEWING
    assert table.kinds().count("ARENA_TASK") == 1
    late = refine_late(table)
    assert beside(table, late).rule in ("K5", "3.1")
    assert table.kinds().count("RUN_TERMINATED") == 0


def refine_late(table):
    return table.say(EVOLVER, task(table, "arch_001"), channel="#r-arena")


@pytest.mark.parametrize(
    ("change_id", "says"),
    [("arch_099", "arch_099 is no approved change"), ("arch_001", "arch_001 has its run already")],
)
def test_a_run_is_about_an_approved_change_that_has_none_yet(change_id, says):
    table = refining()
    refine(table, "arch_001")
    env = refine(table, change_id, answers="arch_002")
    assert (beside(table, env).why, beside(table, env).field) == (says, "task.task_id")
    assert [s.kind for s in table.docket.cases.values()] == ["architecture", "run"]
    refine(table, "arch_002")
    assert weekly(table).phase == arch.REVIEWING


def test_a_run_is_of_the_change_whose_obligation_it_answers():
    table = refining()
    env = refine(table, "arch_002", answers="arch_001")
    assert beside(table, env).field == "task.task_id"
    assert len(weekly(table).owed) == 2


def test_only_the_evolver_opens_the_runs_of_the_week():
    table = refining()
    env = table.say(ADMIN, task(table, "arch_001"), channel="#r-arena")
    assert beside(table, env).field == "parent_id"
    assert len(weekly(table).owed) == 2


def test_an_invalid_task_ends_its_run_and_not_the_week():
    table = refining(1)
    env = refine(table, "arch_001", config={"max_rounds": 9})
    assert table.docket.ended[env.case_id].outcome == "TERMINATED_ERROR"
    assert weekly(table).phase == arch.REVIEWING


def test_where_the_arenas_seats_are_empty_nothing_is_refined():
    table = refining(arena=False)
    assert weekly(table).phase == arch.REVIEWING


def test_a_log_from_before_the_arena_refines_nothing():
    table = Table(SATURDAY, schedules={"architecture": {"cron": "0 15 * * sat"}})
    while weekly(table).phase != arch.REVIEWING:
        answer(table)
    assert "ARENA_TASK" not in table.kinds()


def test_the_run_goes_on_when_the_week_has_ended():
    table = refining(1)
    env = refine(table, "arch_001")
    case_id = cycle_of(table)
    while case_id in table.docket.cases:
        answer(table)
    assert table.docket.ended[case_id].outcome == "reported"
    table.say(PLANNER, ArenaDraft(round_index=1, text="Step by step."))
    assert table.docket.cases[env.case_id].phase == "REVIEWING"
    table.wait(hours=1)
    assert table.docket.ended[env.case_id].outcome == "TERMINATED_ERROR"


def test_a_stop_of_the_week_stops_its_runs():
    table = refining(2)
    env = refine(table, "arch_001")
    table.say(ADMIN, Stop(scope=cycle_of(table), why="enough"), channel="#admin")
    assert table.docket.ended[env.case_id].outcome == "TERMINATED_ERROR"


def test_the_seat_is_told_the_change_and_the_notebook_at_hand():
    table = refining()
    state, brief = weekly(table), table.docket.rules.types["architecture"].brief
    told = [brief(state, owed, table.docket.context) for owed in state.owed]
    assert [one["change"] for one in told] == [("arch_001", "d", "n"), ("arch_002", "d", "n")]
    assert told[0]["notebook"] is None
    table.docket.context.config = {"arena": {"enabled": True, "mcp": "my-notebook --stdio"}}
    notebook = brief(state, state.owed[0], table.docket.context)["notebook"]
    assert (
        NotebookContext.model_validate(task(table, "arch_001", notebook=notebook).notebook).notebook_id
        == "society"
    )


def test_such_a_log_verifies():
    table = refining()
    refine(table, "arch_001")
    table.wait(hours=3)
    table.stop()
    report = judged("".join(env.line + "\n" for env in table.log))
    assert report.ok, report.findings
