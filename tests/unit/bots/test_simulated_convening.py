"""What the simulated Operator and Evolver put before panels: written from what they are shown, kept as evidence."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from moot.bots.minds.mind import View
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.prices import load_universe
from moot.config.contracts import load_contract
from moot.memory.errors import StoreUnavailable
from moot.memory.evidence import Evidence, InMemoryEvidence, text_of
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.panel.contract import as_json, baseline_sha256, contract_from
from moot.protocols.panel.messages import PanelOpened
from moot.protocols.research import messages as m
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.seats import OPERATOR
from tests.doubles import bodies
from tests.doubles.life_table import LifeTable
from tests.doubles.table import START
from tests.doubles.views import run

SYNTHETIC = load_universe("synthetic", start=START, seed=7)
PARAMS = {"allow_short": 0, "fast": 20, "slow": 60, "target_vol": 0.1}
LEGAL = bodies.strategy(params=PARAMS, symbols=("SIM-ALFA", "SIM-BRAVO"))
PAPER = {
    "sharpe": 1.5,
    "max_drawdown": 0.021,
    "trades": 7,
    "pnl_usd": 812.5,
    "win_rate": 0.75,
    "fill_rate": 1.0,
}


class Full(Evidence):
    """A disk without room."""

    def put(self, kind: str, payload: dict[str, Any]) -> str:
        raise StoreUnavailable("no room")

    def get(self, ref: str) -> dict[str, Any]:
        raise StoreUnavailable("no room")


def promotion_brief(table: LifeTable, **over: Any) -> dict[str, Any]:
    return {
        "subject": "strat_1",
        "proposal": {"days": 5, "paper_trading_metrics": PAPER},
        "guardian": {"risk_trend": "stable", "correlation_with_existing": 0.31},
        "trader": {"execution_issues": ["fills came late on one day."]},
        "panel": {"say": "binding"},
        "desk": desk_brief(table.docket.context, "strat_1"),
        **over,
    }


def desk_with(strategy: m.Strategy | None = LEGAL) -> LifeTable:
    table = LifeTable()
    over = {} if strategy is None else {"strategy": strategy}
    table.move(None, "candidates", strategy_id="strat_1", **over)
    return table


def convene(seat: Seat, brief: dict[str, Any], evidence: Evidence) -> PanelOpened | None:
    case_id = "prom_1" if seat == OPERATOR else "cycle_1"
    obligation = Obligation(
        f"{case_id}/panel/{seat}", case_id, seat, ("PANEL_OPENED",), "#r-panel", START,
        START + timedelta(minutes=10), timedelta(minutes=10),
    )  # fmt: skip
    view = View(obligation, seat, START, 0, "", (), (), brief, InMemoryStore().read(), config={})
    reply = run(SimulatedMind(SimulatedTools(SYNTHETIC, evidence, 1)).answer(view))
    if reply is None:
        return None
    assert isinstance(reply.body, PanelOpened)
    return reply.body


def opened(seat: Seat, brief: dict[str, Any]) -> tuple[PanelOpened, str]:
    evidence = InMemoryEvidence()
    body = convene(seat, brief, evidence)
    assert body is not None
    return body, text_of(evidence, body.content_ref)


def sections(text: str) -> Iterator[str]:
    return (line[3:] for line in text.splitlines() if line.startswith("## "))


def test_the_operator_puts_a_dossier_before_the_panel() -> None:
    brief = promotion_brief(desk_with())
    brief["desk"]["strategies"]["strat_2"] = {**brief["desk"]["strategies"]["strat_1"], "is_deployed": True}
    body, text = opened(OPERATOR, brief)
    assert (body.parent_id, body.title) == ("prom_1", "Promotion of strat_1")
    assert body.word_count == len(text.split())
    assert {"Strategy", "Backtest", "Paper trading", "Risks", "Costs", "Way back"} <= set(sections(text))
    for said in (
        "fast = 20", "5 sessions", "$812.50", "75 % of its trades", "correlation of 0.31", "drawdown was 2.1 %",
        "Fills came late on one day.",
    ):  # fmt: skip
        assert said in text


def test_the_contract_is_the_shipped_one_and_says_when_it_was_taken() -> None:
    for seat, name, brief in (
        (OPERATOR, "strategy", promotion_brief(desk_with())),
        (EVOLVER, "architecture", {"change": ("arch_001", "keep reflections for a year", "raise it")}),
    ):
        contract = contract_from(dict(opened(seat, brief)[0].contract))
        assert baseline_sha256(contract) == baseline_sha256(load_contract(name))
        assert contract.generated_at == START


def test_what_a_contract_notes_for_one_paper_is_put_before_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = {"stage_specific_notes": "mind the debate"}
    amended = contract_from({**as_json(load_contract("architecture")), "agent_amendments": noted})
    monkeypatch.setattr("moot.bots.minds.simulated.panel.convening.load_contract", lambda _name: amended)
    body, _ = opened(EVOLVER, {"change": ("arch_001", "keep reflections for a year", "raise it")})
    assert body.contract["agent_amendments"] == noted


def test_a_strategy_that_nobody_described_has_a_dossier_that_says_so() -> None:
    paper: dict[str, Any] = {"days": 5, "paper_trading_metrics": {"trades": 0}}
    brief = promotion_brief(desk_with(None), proposal=paper, guardian=None, trader=None)
    brief["desk"]["strategies"]["strat_1"].update(archetype=None, backtest={})
    text = opened(OPERATOR, brief)[1]
    assert "The log does not say what it trades." in text
    assert "The log has no backtest on data held out." in text
    assert "no trades" in text and "None" not in text and "nan" not in text


def test_the_evolver_puts_a_change_before_the_panel_with_its_debate_and_notes() -> None:
    body, text = opened(EVOLVER, {"change": ("arch_001", "keep reflections for a year", "raise the limit")})
    assert (body.parent_id, body.title) == ("cycle_1", "Architecture change arch_001")
    assert text.startswith("# keep reflections for a year") and "raise the limit" in text
    assert {"Problem", "Change", "What stays unchanged", "Outcome", "Way back"} <= set(sections(text))


@pytest.mark.parametrize("seat", [OPERATOR, EVOLVER])
def test_without_a_work_no_panel_is_opened(seat: Seat) -> None:
    brief = {**promotion_brief(desk_with()), "change": ("arch_001", "keep reflections", "raise the limit")}
    assert convene(seat, brief, Full()) is None


def test_the_same_view_gives_the_same_work() -> None:
    first, second = (opened(OPERATOR, promotion_brief(desk_with()))[0] for _ in range(2))
    assert first == second
