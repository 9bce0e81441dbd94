"""Whole lives in which panels bind: a promotion and an approved change wait for theirs (R-B2, R-B3, R-D16)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moot.clock import VirtualClock
from moot.config.settings import load_settings
from moot.plan import Plan
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import Seat
from moot.protocols.opinion import CONSENTS
from moot.protocols.panel.seats import DA
from moot.seating import Script
from moot.society import Society
from tests.doubles.checking import findings

START = datetime(2026, 2, 23, tzinfo=UTC)


@dataclass
class Life:
    """What a society left: its log, and the works that its panels judged."""

    log: list[Envelope] = field(default_factory=list)
    works: dict[str, str] = field(default_factory=dict)
    stages: dict[str, str] = field(default_factory=dict)

    def bodies(self, kind: str) -> list[Any]:
        return [env.body for env in self.log if env.body.type == kind]

    def ends(self) -> dict[str, str]:
        """Return how each panel ended: its decision, "" when it was aborted."""
        decided = {body.panel_id: body.decision for body in self.bodies("PANEL_DECIDED")}
        return decided | dict.fromkeys((body.panel_id for body in self.bodies("PANEL_ABORTED")), "")


def live(until: timedelta, panel: dict[str, Any], silent: tuple[Seat, ...] = ()) -> Life:
    life = Life()
    plan = Plan(
        settings=load_settings(panel=panel),
        seed=1,
        start=START,
        scripts=dict.fromkeys(silent, Script(entries=(), then="silent")),
        is_admin_simulated=True,
    )

    async def main(clock: VirtualClock) -> None:
        async with await Society.open(plan, clock) as society:
            await society.run_until(START + until)
            life.log.extend([env async for env in society.bus.read()])
            for body in life.bodies("PANEL_OPENED"):
                life.works[body.panel_id] = society.host.contents(body.content_ref)
            known = society.host.docket.context.fold_named("life").strategies
            life.stages.update({name: standing.stage for name, standing in known.items()})

    VirtualClock(START).run(main)
    return life


@pytest.fixture(scope="module")
def bound() -> Life:
    """Live until after the first promotions and the first weekly debate."""
    return live(timedelta(days=5, hours=20), {"promotions": "binding", "architecture": "binding"})


def test_a_life_in_which_panels_bind_verifies(bound: Life) -> None:
    assert findings(bound.log) == []


def test_every_promotion_that_both_reviewers_approved_waited_for_its_panel(bound: Life) -> None:
    ends = bound.ends()
    panels = {body.parent_id: body.panel_id for body in bound.bodies("PANEL_OPENED")}
    promoted = [body for body in bound.bodies("PROMOTION_DECISION") if body.row == 2]
    assert promoted, "this seed promotes"
    for body in promoted:
        assert (body.decision == "PROMOTE") == (ends[panels[body.promotion_id]] in CONSENTS)


def test_a_dossier_is_written_from_memory_and_the_logs_figures(bound: Life) -> None:
    proposals = {body.promotion_id: body for body in bound.bodies("PROMOTION_PROPOSAL")}
    opened = [body for body in bound.bodies("PANEL_OPENED") if body.parent_id in proposals]
    assert opened
    for body in opened:
        text, proposal = bound.works[body.panel_id], proposals[body.parent_id]
        headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
        assert headings == [
            "Strategy", "Backtest", "Paper trading", "Risks", "Costs", "Way back", "Limitations",
        ]  # fmt: skip
        assert body.word_count == len(text.split())
        assert proposal.strategy_id in text and f"{proposal.days} sessions" in text
        tested = next(
            m
            for m in bound.bodies("BACKTEST_RESULT")
            if f"strat_{m.hypothesis_id[4:]}" == proposal.strategy_id
        )
        assert f"Sharpe ratio of {tested.metrics.sharpe:.2f}" in text and tested.equity_ref in text


def test_only_changes_that_their_panel_accepted_are_refined(bound: Life) -> None:
    ends = bound.ends()
    changes = {
        body.title.rpartition(" ")[2]: ends[body.panel_id]
        for body in bound.bodies("PANEL_OPENED")
        if body.contract["contract_id"].startswith("architecture/")
    }
    approved = {c.change_id for body in bound.bodies("ARCHITECTURE_VERDICT") for c in body.approved_changes}
    assert approved and set(changes) == approved
    tasked = {body.task["task_id"] for body in bound.bodies("ARENA_TASK") if body.parent_id}
    assert tasked == {change_id for change_id, decision in changes.items() if decision in CONSENTS}


@pytest.mark.rule("K12")
def test_k12_no_reviewers_first_phase_shows_what_it_had_not_seen(bound: Life) -> None:
    for body in bound.bodies("PHASE1"):
        text = bound.works[body.panel_id]
        words = text.split()
        runs = {" ".join(words[n : n + 12]) for n in range(len(words) - 11)}
        said = body.text.split()
        assert not any(" ".join(said[n : n + 12]) in runs for n in range(len(said) - 11))


@pytest.mark.rule("R-B2")
def test_r_b2_where_a_reviewer_is_never_there_nothing_is_promoted() -> None:
    life = live(timedelta(days=5, hours=2), {"promotions": "binding"}, silent=(DA,))
    ends = life.ends()
    assert ends and set(ends.values()) == {""}
    assert all(body.tag.startswith("[PANEL-SHRUNK") for body in life.bodies("PANEL_ABORTED"))
    approved = [body for body in life.bodies("PROMOTION_DECISION") if body.row == 2]
    assert approved and {body.decision for body in approved} == {"EXTEND"}
    assert "production" not in life.stages.values()
    assert findings(life.log) == []
