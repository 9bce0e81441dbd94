"""Arms of studies on markets: one pass, a vote, System A's debate (moot/compare/arms)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.api.log import open_log
from moot.bots.tools.simulated_prices import synthetic_stocks
from moot.clock import VirtualClock
from moot.compare.arms.arena import ArenaRun
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.arms.debate_a import MOST_CALLS, ResearchDebate
from moot.compare.arms.market import MarketArm
from moot.compare.arms.single import SingleJudge
from moot.compare.arms.vote import Vote
from moot.compare.cases.case import MARKET, QUESTION, Case
from moot.protocols.kernel.canonical import canonical_json
from moot.workshop import START

PARAMS = {"allow_short": 0, "fast": 5, "slow": 40, "target_vol": 0.1}


@pytest.fixture(scope="module")
def case() -> Case:
    bars = synthetic_stocks(3)[0].between(0, 800)
    columns: dict[str, Any] = {
        name: getattr(bars, name).tolist() for name in ("open", "high", "low", "close", "volume")
    }
    columns["dates"] = [str(day) for day in bars.dates]
    strategy = {"archetype": "momentum", "params": PARAMS, "symbols": [bars.symbol]}
    return Case("m1", MARKET, {"strategy": strategy, "bars": {bars.symbol: columns}}, {"sharpe": 0.5})


def answer(
    arm: Arm, case: Case, *, seed: int = 1, budget: int = MOST_CALLS, log: Path | None = None
) -> Answer:
    def trial(clock: VirtualClock) -> Trial:
        return Trial(case=case, repetition=1, seed=seed, budget=budget, clock=clock, log=log)

    return VirtualClock(START).run(lambda clock: arm.run(trial(clock)))


def test_a_debate_keeps_a_log_that_can_be_verified(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "logs" / "m1.jsonl"
    found = answer(ResearchDebate(), case, log=path)
    log = open_log(path)
    messages = list(log.messages())
    assert log.verify(evidence=False).ok
    assert messages[-1].hash == found.head
    assert messages[-1].body.verdict == found.answer["verdict"]
    said = [env for env in messages if env.author in ("explorer", "critic", "evolver")]
    assert found.calls == len(said) - 1, "the hypothesis is given, and no call"
    assert 2 <= found.calls <= MOST_CALLS


def test_the_strategy_that_is_debated_is_the_one_that_is_shown(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "m1.jsonl"
    answer(ResearchDebate(), case, log=path)
    (hypothesis,) = open_log(path).messages(type="HYPOTHESIS")
    assert dict(hypothesis.body.strategy.params) == PARAMS


@pytest.mark.parametrize("arm", [SingleJudge(), ResearchDebate()])
def test_equal_seeds_give_equal_answers_whatever_the_truth_is(arm: Arm, case: Case) -> None:
    assert answer(arm, case) == answer(arm, replace(case, truth={"sharpe": -3.0}))


def test_a_vote_asks_as_often_as_its_budget_allows_and_counts(case: Case) -> None:
    class Coin(Arm):
        kinds, least, most = frozenset({MARKET}), 2, 2

        async def run(self, trial: Trial) -> Answer:
            seen.append((trial.seed, trial.budget))
            return Answer(answer="heads" if len(seen) % 3 else "tails", calls=2)

    seen: list[tuple[int, int]] = []
    found = answer(Vote(Coin()), case, budget=11)
    assert found.votes == ("heads", "heads", "tails", "heads", "heads")
    assert (found.answer, found.confidence, found.calls) == ("heads", 0.8, 10)
    assert len({seed for seed, _ in seen}) == 5, "each pass has a seed of its own"
    assert {budget for _, budget in seen} == {2}


def test_of_equally_frequent_answers_the_first_counts(case: Case) -> None:
    class Other(Arm):
        kinds, least, most = frozenset({MARKET}), 1, 1

        async def run(self, trial: Trial) -> Answer:
            said.append("b" if not said else "a")
            return Answer(answer=said[-1], calls=1)

    said: list[str] = []
    assert answer(Vote(Other()), case, budget=2).answer == "b"


def test_votes_that_agree_in_the_verdict_agree_whatever_they_changed(case: Case) -> None:
    class Changing(MarketArm):
        least = most = 1

        async def run(self, trial: Trial) -> Answer:
            return Answer(answer=said.pop(0), calls=1)

    def one(verdict: str, fast: int) -> dict[str, Any]:
        return {"verdict": verdict, "strategy": {"params": {"fast": fast}}}

    votes = [one("REJECT", 5), one("REJECT", 5), one("APPROVE", 5), one("APPROVE", 7), one("APPROVE", 7)]
    said = list(votes)
    found = answer(Vote(Changing()), case, budget=5)
    assert (found.answer, found.confidence, found.votes) == (votes[-1], 0.6, tuple(votes))


def test_one_pass_may_change_a_strategy_as_an_explorer_may_unless_it_is_told_not_to(case: Case) -> None:
    shown = case.shown["strategy"]
    free, bound = (
        {seed: answer(arm, case, seed=seed) for seed in range(4)}
        for arm in (SingleJudge(), SingleJudge(changes=False))
    )
    assert {canonical_json(one.answer["strategy"]) for one in bound.values()} == {canonical_json(shown)}
    assert len({canonical_json(one.answer["strategy"]) for one in free.values()}) > 1, (
        "each pass looks for its own"
    )


def test_an_arena_answers_with_what_its_reviewer_approved(tmp_path: Path) -> None:
    asked = Case("q1", QUESTION, {"question": "What is 2 + 2?", "options": ["3", "4"]}, "4")
    arm, path = ArenaRun(rounds=2), tmp_path / "q1.jsonl"
    found = answer(arm, asked, budget=arm.least, log=path)
    log = open_log(path)
    (ended,) = log.messages(type="RUN_TERMINATED")
    assert log.verify(evidence=False).ok
    assert (found.answer is not None) == (ended.body.state == "TERMINATED_APPROVED")
    assert 3 <= found.calls <= 5
    assert answer(arm, asked, budget=arm.least) == found
