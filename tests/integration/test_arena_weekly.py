"""The weekly debate's approved change goes through the Arena: what its seats are shown, and what memory makes of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from moot.bots.minds.mind import Mind, Reply, View
from moot.memory.inmemory import InMemoryStore
from moot.memory.records import ChangeRecord
from moot.memory.store import digest as digest_of
from moot.protocols.arena.messages import ArenaDraft, ArenaTask, FinalOutput, Review
from moot.protocols.arena.seats import ARENA
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import Seat
from moot.protocols.research import messages as m
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from moot.protocols.rulebook import rules
from tests.doubles.canned import CannedMind
from tests.doubles.checking import findings
from tests.doubles.stage import Stage, play
from tests.doubles.table import START

REFINED = "Keep them a year.\nCPU usage on node-3 is at 93 %.\nMeasure after a month."


class Evolver(CannedMind):
    """Approves every change, and opens their runs."""

    async def answer(self, view: View) -> Reply | None:
        brief = view.brief
        if "ARCHITECTURE_VERDICT" in view.obligation.expects:
            changes = tuple(
                m.ApprovedChange(
                    change_id=change_id,
                    description=description,
                    priority="low",
                    implementation_notes="raise the limit",
                    assigned_to="evolver",
                )
                for change_id, description in brief["changes"]
            )
            return Reply(
                m.ArchitectureVerdict(
                    period=brief["period"],
                    proposals_evaluated=len(changes),
                    approved_changes=changes,
                    deferred=(),
                    rejected=(),
                )
            )
        if "ARENA_TASK" in view.obligation.expects:
            change_id, description, _ = brief["change"]
            task = {"task_id": change_id, "initial_prompt": description, "session_id": "s"}
            return Reply(
                ArenaTask(parent_id=view.obligation.case_id, config={"notebook_enabled": False}, task=task)
            )
        if "WEEKLY_REPORT" in view.obligation.expects:
            found = {name: brief[name] for name in m.WeeklyReport.model_fields if name in brief}
            return Reply(m.WeeklyReport(**found, next_week_direction="go on"))
        return await super().answer(view)


class ArenaSeat(Mind):
    """Says one thing of each kind, and keeps what it was shown."""

    def __init__(self, verdict: str) -> None:
        self.verdict = verdict
        self.views: list[View] = []

    def consider(self, view: View) -> timedelta | None:
        return timedelta(minutes=1)

    async def answer(self, view: View) -> Reply | None:
        self.views.append(view)
        kind, brief = view.obligation.expects[0], view.brief
        if kind == "DRAFT":
            return Reply(ArenaDraft(round_index=brief["round_index"], text="A year."))
        if kind == "FINAL_OUTPUT":
            return Reply(FinalOutput(text=REFINED))
        return Reply(
            Review(
                round_index=brief["round_index"],
                attempt=brief["attempt"],
                text=f"Fine.\nVERDICT: {self.verdict}",
                session_id=brief["session_id"],
                resume_ref=brief["resume_ref"],
                unresolved=tuple(issue.id for issue in brief["unresolved"]),
            )
        )


def a_week(
    verdict: str = "APPROVED",
) -> tuple[list[Envelope], ArenaSeat, tuple[ChangeRecord, ...], str]:
    """Play a weekly cycle; return the log, the Arena's mind, the architecture in memory, memory's digest."""
    seat, found = ArenaSeat(verdict), []

    async def script(stage: Stage) -> None:
        await stage.wait(hours=5)
        assert not stage.host.docket.cases
        view = stage.host.store.read()
        found.append((view.architecture(), digest_of(view)))

    minds: dict[Seat, Mind] = {
        EXPLORER: CannedMind(),
        CRITIC: CannedMind(),
        EVOLVER: Evolver(),
        **dict.fromkeys(ARENA, seat),
    }
    log = play(
        minds,
        script,
        schedules={"architecture": {"at": [START.isoformat()]}},
        config={"arena": {"enabled": True}},
    )
    ((architecture, digest),) = found
    return log, seat, architecture, digest


def bodies(log: list[Envelope], kind: str) -> list[Any]:
    return [env.body for env in log if env.body.type == kind]


@pytest.mark.rule("K12")
def test_k12_the_arenas_seats_are_shown_nothing_of_the_debate_that_their_run_belongs_to() -> None:
    log, seat, _, _ = a_week()
    assert {view.seat for view in seat.views} == set(ARENA)
    (task,) = bodies(log, "ARENA_TASK")
    assert task.parent_id, "the run is a child of the weekly case"
    for view in seat.views:
        assert {env.channel for env in view.transcript} == {"#r-arena"}
        assert {env.case_id or task.run_id for env in view.transcript} == {task.run_id}
        assert {env.channel for env in view.notes} <= {"#r-arena"}
    assert findings(log) == []


def test_3_2_an_approved_run_refines_the_notes_that_memory_holds() -> None:
    log, _, architecture, digest = a_week()
    (run,) = bodies(log, "RUN_TERMINATED")
    assert run.state == "TERMINATED_APPROVED"
    (change,) = architecture
    assert (change.change_id, change.status, change.run_id) == ("arch_001", "approved", run.run_id)
    assert change.implementation_notes.startswith("Keep them a year.\n[removed: ")
    assert change.implementation_notes.endswith("\nMeasure after a month.")
    assert "node-3" not in change.implementation_notes
    store, docket = InMemoryStore(), Docket(rules())
    for env in log:
        fx = docket.fold(env)
        store.apply(env, fx.violation is None and not fx.superseded)
    assert digest_of(store.read()) == digest, "rebuilt from the log alone"


@pytest.mark.parametrize("verdict", ["REVISE", "PERHAPS"])
def test_3_2_a_run_that_was_not_approved_leaves_the_notes_alone(verdict: str) -> None:
    log, _, architecture, _ = a_week(verdict)
    (run,) = bodies(log, "RUN_TERMINATED")
    assert run.state != "TERMINATED_APPROVED"
    (change,) = architecture
    assert (change.implementation_notes, change.run_id) == ("raise the limit", "")
    assert len(bodies(log, "WEEKLY_REPORT")) == 1
