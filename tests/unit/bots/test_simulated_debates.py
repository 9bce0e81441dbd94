import hashlib
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
import pytest

from moot.bots.minds.simulated.debate.casefile import Pool, open_file
from moot.bots.minds.simulated.debate.specs import spec_of
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.backtest import backtest
from moot.bots.tools.bars import Bars
from moot.bots.tools.prices import load_universe
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import validate
from moot.bots.tools.universe import Universe
from moot.memory.evidence import InMemoryEvidence
from moot.protocols.research.judging import passes
from moot.protocols.research.seats import EVOLVER, EXPLORER
from tests.doubles.views import START, Society, one_debate

SYNTHETIC = load_universe("synthetic", start=START, seed=7)
SEEDS = tuple(range(1, 41))
MANY = tuple(range(1, 101))
ARGUED = ("HYPOTHESIS", "RISK_ASSESSMENT", "REBUTTAL", "CONCEDE", "EXTEND_DEBATE", "VERDICT")


def mind_of(universe=SYNTHETIC, seed=1, evidence=None):
    return SimulatedMind(SimulatedTools(universe, evidence or InMemoryEvidence(), seed))


@lru_cache(maxsize=200)
def debate(seed, universe=SYNTHETIC):
    return one_debate(mind_of(universe, seed))


def outcome(society):
    found = [state for fx in society.effects for state in fx.ended if state.kind == "debate"]
    return found[0] if found else None


def argued(society):
    """Return all that was argued before any verdict took effect, ids and times aside."""
    kinds = (*ARGUED, "REVISE_REQUEST", "REVISED_HYPOTHESIS", "FINAL_VERDICT")
    return [
        (e.body.type, e.body.model_dump(exclude={"hypothesis_id"}))
        for e in society.log
        if e.body.type in kinds
    ]


def remade(change, universe=SYNTHETIC):
    """Make a universe anew, every symbol's columns put through a function of (symbol, dates, columns)."""
    made = []
    for bars in universe.bars.values():
        columns = [np.array(column) for column in bars.columns()]
        made.append(Bars(bars.symbol, bars.dates, *change(bars.symbol, bars.dates, columns), bars.label))
    return Universe.of(made, "changed")


# ------------------------------------------------------------ rules


@pytest.mark.parametrize("seed", SEEDS)
def test_no_debate_breaks_a_rule(seed):
    society = debate(seed)
    assert society.bodies("VIOLATION") == []
    assert society.retries == []
    assert [state.kind for fx in society.effects for state in fx.ended][-1:] == ["cycle"]


def test_debates_end_in_all_the_ways_they_can():
    states = [state for seed in MANY if (state := outcome(debate(seed))) is not None]
    ends = Counter(state.ended_by for state in states)
    assert ends["rounds"] > len(states) / 2
    assert 0.05 <= ends["confidence"] / len(states) <= 0.45
    assert ends["concede"] and ends["timeout"]
    assert sum(state.extended for state in states) / len(states) <= 0.15
    assert 0.03 <= sum(state.revised for state in states) / len(states) <= 0.25
    assert {True, False} <= {state.passed for state in states}


def test_verdicts_are_neither_all_one_nor_all_the_other():
    verdicts = Counter(state.verdict for seed in MANY if (state := outcome(debate(seed))) is not None)
    assert 0.25 <= verdicts["APPROVE"] / sum(verdicts.values()) <= 0.6


def test_every_strategy_said_is_legal_in_the_universe():
    for seed in SEEDS:
        for kind in ("HYPOTHESIS", "REVISED_HYPOTHESIS", "STRATEGY_MOVED"):
            for body in debate(seed).bodies(kind):
                validate(spec_of(body.strategy), SYNTHETIC.bars)


def exchanges():
    """Return each rebuttal of the debates with the assessments before and after it, where there are both."""
    found = []
    for seed in MANY:
        said = [e.body for e in debate(seed).log if e.body.type in ("RISK_ASSESSMENT", "REBUTTAL")]
        for before, answer, after in zip(said, said[1:], said[2:], strict=False):
            if [one.type for one in (before, answer, after)] == [
                "RISK_ASSESSMENT",
                "REBUTTAL",
                "RISK_ASSESSMENT",
            ]:
                found.append((before, answer, after))
    return found


def test_a_rebuttal_moves_the_critics_scores_by_a_measured_change_and_by_nothing_else():
    changed = [one for one in exchanges() if one[1].strategy is not None]
    unchanged = [one for one in exchanges() if one[1].strategy is None]
    assert len(changed) >= 10 and len(unchanged) >= 10
    for before, answer, after in changed:
        assert answer.modifications
        measured = open_file(spec_of(answer.strategy), SYNTHETIC, Pool({}, SYNTHETIC)).scores
        assert after.scores.model_dump() == dict(measured)
        assert after.scores != before.scores
    lower = sum(
        sum(after.scores.model_dump().values()) < sum(before.scores.model_dump().values())
        for before, _, after in changed
    )
    assert lower >= 0.8 * len(changed)
    assert all(
        before.scores == after.scores and not answer.modifications for before, answer, after in unchanged
    )


def test_the_critic_says_that_it_measured_a_change_again():
    for before, answer, after in exchanges():
        if answer.strategy is not None:
            assert after.reasoning != before.reasoning
            assert any(word in after.reasoning for word in ("as changed", "change"))


def test_a_backtest_says_what_its_figures_say_and_its_curve_can_be_looked_up():
    evidence = InMemoryEvidence()
    found = 0
    for seed in SEEDS[:20]:
        society = one_debate(mind_of(seed=seed, evidence=evidence))
        for body in society.bodies("BACKTEST_RESULT"):
            found += 1
            span = splits(SYNTHETIC).test
            assert body.passed == passes(body.metrics) and body.passed == (body.reason == "passed")
            assert (body.split.from_, body.split.to) == (span.first.isoformat(), span.last.isoformat())
            curve = evidence.get(body.equity_ref)
            assert curve["dates"][0] >= body.split.from_ and len(curve["dates"]) == len(curve["equity"])
            strategy = spec_of(outcome(society).strategy)
            assert backtest(strategy, SYNTHETIC, span).metrics["sharpe"] == body.metrics.sharpe
    assert found >= 3


def test_what_passed_is_moved_to_the_candidates_with_strategy_and_hypothesis():
    moves = [(debate(s), body) for s in SEEDS for body in debate(s).bodies("STRATEGY_MOVED")]
    assert moves
    for society, body in moves:
        assert (body.from_, body.to) == (None, "candidates")
        assert body.strategy == outcome(society).strategy
        assert body.strategy_id == "strat_" + body.hypothesis_id.removeprefix("hyp_")
        record = society.store.read().strategy(body.strategy_id)
        assert record.strategy == body.strategy and record.backtest.passed


def test_records_hold_the_strategy_so_that_memory_can_be_learnt_from():
    for seed in SEEDS[:15]:
        society = debate(seed)
        for kind in ("CAUSAL_RECORD", "REFLECTION"):
            for env in (e for e in society.log if e.body.type == kind and e.author == EVOLVER):
                record = env.body.record
                strategy = outcome(society).strategy
                params = {k[6:]: v for k, v in record.metrics.items() if k.startswith("param.")}
                assert params == dict(strategy.params) and record.archetype == strategy.archetype
                assert record.kind in ("success", "failure")
                assert (record.failure_code is None) == (record.kind == "success")


# ------------------------------------------------------------ evidence


def test_what_is_said_quotes_the_figures_of_the_strategy():
    for seed in SEEDS[:10]:
        society = debate(seed)
        for body in society.bodies("HYPOTHESIS"):
            sharpe = backtest(spec_of(body.strategy), SYNTHETIC, splits(SYNTHETIC).train).metrics["sharpe"]
            assert f"{sharpe:.2f}" in body.statement
            assert body.expected_traits.target_sharpe == sharpe
        for env in society.log:
            if env.body.type == "RISK_ASSESSMENT":
                assert any(letter.isdigit() for letter in env.body.reasoning)


def test_the_words_vary():
    openings = Counter(
        body.reasoning.split(".")[0] for seed in SEEDS for body in debate(seed).bodies("RISK_ASSESSMENT")
    )
    assert len(openings) >= 10 and max(openings.values()) < sum(openings.values()) / 4
    statements = Counter(body.statement for seed in SEEDS for body in debate(seed).bodies("HYPOTHESIS"))
    assert max(statements.values()) == 1


def test_a_research_note_comes_before_the_hypothesis():
    society = debate(1)
    kinds = society.kinds()
    assert kinds.index("RESEARCH_NOTE") < kinds.index("HYPOTHESIS")
    (env,) = society.asides
    assert env.channel == "#a-research" and env.author == EXPLORER and len(env.body.findings) >= 3


def test_permuted_prices_change_verdicts():
    order = np.random.default_rng(3).permutation(len(SYNTHETIC.calendar) - 1)

    def permuted(_symbol, _dates, columns):
        """Shuffle the days: the same moves in another order, so that nothing lasts and nothing returns."""
        open_, high, low, close, volume = columns
        before = close[:-1]
        moves = [column[1:] / before for column in (open_, high, low, close)]
        level = close[0] * np.concatenate(([1.0], np.cumprod(moves[3][order])))
        made = [
            np.concatenate(([column[0]], moves[n][order] * level[:-1]))
            for n, column in enumerate(columns[:4])
        ]
        return [*made, np.concatenate((volume[:1], volume[1:][order]))]

    other = remade(permuted)
    before = [outcome(debate(seed)) for seed in SEEDS]
    after = [outcome(debate(seed, other)) for seed in SEEDS]
    pairs = [
        (a.verdict, b.verdict) for a, b in zip(before, after, strict=True) if a is not None and b is not None
    ]
    assert sum(a != b for a, b in pairs) >= 5
    approvals = [sum(v == "APPROVE" for v in side) for side in zip(*pairs, strict=True)]
    assert approvals[1] < approvals[0], "without any structure in the prices there is less to approve"


@pytest.mark.parametrize("poison", ["nan", "other"])
def test_no_seat_reads_the_test_split_before_an_approve(poison):
    edge = np.datetime64(splits(SYNTHETIC).test.first, "D")
    rng = np.random.default_rng(5)

    def poisoned(_symbol, dates, columns):
        late = dates >= edge
        factor = np.nan if poison == "nan" else np.exp(0.3 * rng.standard_normal(int(late.sum())))
        for column in columns:
            column[late] = column[late] * factor
        return columns

    def stop_before_the_test(society):
        """Play until the backtest is owed, or to the end."""
        while not any("BACKTEST_RESULT" in o.expects for o in society.owed_bots()) and society.docket.cases:
            society.wait(seconds=30)
        return argued(society)

    clean, changed = remade(lambda _s, _d, columns: columns), remade(poisoned)
    assert clean.sha256 != changed.sha256
    compared = 0
    for seed in SEEDS[:12]:
        one, other = Society(mind_of(clean, seed)), Society(mind_of(changed, seed))
        said = stop_before_the_test(one)
        assert said == stop_before_the_test(other)
        compared += len(said)
    assert compared > 50


def test_bars_that_do_not_exist_yet_are_not_read():
    start = datetime(2015, 6, 3, 10, tzinfo=UTC)
    universe = load_universe("synthetic", start=start, seed=7)
    assert universe.shift_weeks == 0 and universe.until(start) != universe
    asked = []

    def bars_as_of(now):
        asked.append(now)
        return universe.until(now)

    for seed in range(1, 9):
        tools = SimulatedTools(universe, InMemoryEvidence(), seed, bars_as_of)
        society = one_debate(SimulatedMind(tools), start)
        assert max(asked) <= society.now
        for body in society.bodies("BACKTEST_RESULT"):
            assert body.split.to <= start.date().isoformat()
        for body in society.bodies("HYPOTHESIS"):
            assert "2006" in body.evidence[0] and "2016" not in body.evidence[0]


# ------------------------------------------------------------ the same again

PROGRAM = """
import hashlib
from tests.unit.bots.test_simulated_debates import one_debate, mind_of
lines = [env.line for seed in (1, 2, 3) for env in one_debate(mind_of(seed=seed)).log]
print(hashlib.sha256("\\n".join(lines).encode()).hexdigest())
"""


def test_same_seed_same_bytes_in_two_processes():
    lines = [env.line for seed in (1, 2, 3) for env in one_debate(mind_of(seed=seed)).log]
    here = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    for hash_seed in ("1", "4711"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
            timeout=100,
        )
        assert done.stdout.strip() == here


def test_another_seed_another_debate():
    assert argued(debate(1)) != argued(debate(2))


def test_asking_twice_gives_the_same_answer():
    society = Society(mind_of(seed=4))
    (obligation,) = society.owed_bots()
    first, second = society.ask(obligation), society.ask(obligation)
    assert first == second


# ------------------------------------------------------------ people


def note_changes(kind, text, seed=1, about=True):
    """Play to the obligation of a type and compare its answer without and with a person's note."""
    society = Society(mind_of(seed=seed))
    while not (owed := [o for o in society.owed_bots() if kind in o.expects]):
        assert society.docket.cases, "the debate ended before"
        society.wait(seconds=20)
    plain = society.ask(owed[0])
    society.note(text, owed[0].case_id if about else None)
    return plain.body, society.ask(owed[0]).body


def test_a_note_tightens_the_score_that_it_names_and_is_mentioned():
    plain, noted = note_changes("RISK_ASSESSMENT", "I worry about overfitting and tail risk here")
    assert plain.scores == noted.scores, "the figures are what they are"
    assert noted.reasoning != plain.reasoning and "“I worry about overfitting" in noted.reasoning
    assert "ann" in noted.reasoning
    assert (noted.risk_rating, plain.risk_rating) == ("REJECT", "REJECT")
    assert noted.confidence > plain.confidence, "what breaks a tighter limit is refused the more surely"


def test_a_note_about_another_case_changes_nothing():
    society = Society(mind_of(seed=1))
    society.wait(minutes=1)
    (obligation,) = society.owed_bots()
    plain = society.ask(obligation)
    society.note("avoid momentum", "hyp_20200101_0000")
    assert society.ask(obligation) == plain


def test_a_note_steers_the_search():
    _, noted = note_changes("HYPOTHESIS", "please try breakout on SIM-BRAVO", about=False)
    assert noted.strategy.archetype == "breakout" and noted.strategy.symbols == ("SIM-BRAVO",)
    assert "“please try breakout on SIM-BRAVO”" in noted.rationale
    _, avoided = note_changes("HYPOTHESIS", "avoid mean reversion and momentum", about=False)
    assert avoided.strategy.archetype in ("breakout", "multi_factor")


@pytest.mark.parametrize("kind", ["REBUTTAL", "VERDICT"])
def test_explorer_and_evolver_acknowledge_a_note(kind):
    seed = next(s for s in SEEDS if kind in debate(s).kinds() and "TIMEOUT_PING" not in debate(s).kinds())
    plain, noted = note_changes(kind, "what about crowding?", seed)
    assert noted != plain and "“what about crowding?”" in repr(noted)
