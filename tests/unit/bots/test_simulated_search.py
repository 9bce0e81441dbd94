from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from moot.bots.minds.simulated.debate.casefile import Pool, likeness, measure, neighbourhood, open_file
from moot.bots.minds.simulated.debate.criteria import CRITERIA
from moot.bots.minds.simulated.debate.lessons import (
    Trial,
    against,
    failing,
    near_miss,
    record_of,
    room_for,
    trials,
)
from moot.bots.minds.simulated.debate.points import point
from moot.bots.minds.simulated.debate.repair import changes, repair
from moot.bots.minds.simulated.debate.search import Plan, candidates
from moot.bots.minds.simulated.debate.weighing import OWNED
from moot.bots.minds.simulated.temper import DEFAULT
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.prices import load_universe
from moot.bots.tools.risk import assess
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec, draw, mutate, validate
from moot.memory.evidence import InMemoryEvidence
from moot.memory.records import Experience, PrincipleRecord
from moot.protocols.research.recorded import figures_of
from tests.doubles.copying import replace

NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)
SYNTHETIC = load_universe("synthetic", start=NOW, seed=7)
SPECS = [draw(ARCHETYPES[n % 4], np.random.default_rng(n), SYNTHETIC.symbols) for n in range(12)]
NOBODY = Pool({}, SYNTHETIC)
POOL = Pool({f"strat_{n}": spec for n, spec in enumerate(SPECS[:3])}, SYNTHETIC)
EVEN = dict.fromkeys(ARCHETYPES, 1.0)


def look(plan, n=1, pool=NOBODY, temper=DEFAULT):
    return candidates(plan, SYNTHETIC, pool, np.random.default_rng(n), temper)


def trial(
    n=1, hours_ago=5, gap=0.1, lineage="hyp_1", spec=SPECS[5], kind="failure", code="tail_risk", **figures
):
    said = {"alpha": 0.5, "risk": 0.5 + gap, "revised": 0, **figures}
    record = Experience(
        key=f"ref_{n:03d}",
        seq=n,
        at=NOW - timedelta(hours=hours_ago),
        happened_at=NOW - timedelta(hours=hours_ago),
        kind=kind,
        hypothesis_id=f"hyp_{n}",
        lineage_id=lineage,
        seat=None,
        archetype=spec.archetype,
        failure_code=code,
        regime="calm_up",
        summary="",
        metrics={**figures_of(spec), **said},
    )
    return Trial(record, spec)


# ------------------------------------------------------------ where to look


def test_an_archetype_that_fails_is_wanted_less_and_few_trials_say_little():
    specs = {spec.archetype: spec for spec in SPECS}
    failing_one = [trial(n, spec=specs["breakout"]) for n in range(16)]
    passing_one = [trial(n, spec=specs["momentum"], kind="success") for n in range(4)]
    found = [*failing_one, *passing_one]
    shares = {name: record_of(found, name) for name in ARCHETYPES}
    assert shares["breakout"] < 0.06 < shares["mean_reversion"] < shares["momentum"] < 1.0
    assert shares["mean_reversion"] == pytest.approx(1 / 3)


def test_what_the_book_holds_beyond_its_even_share_is_wanted_less():
    def held(*counts):
        names = [name for name, n in zip(ARCHETYPES, counts, strict=True) for _ in range(n)]
        specs = {f"s{n}": replace(SPECS[0], archetype=name) for n, name in enumerate(names)}
        return [room_for(Pool(specs, SYNTHETIC), name) for name in ARCHETYPES]

    assert held(0, 0, 0, 0) == held(1, 0, 0, 0) == held(5, 5, 5, 5) == [1.0] * 4
    most, *others = held(9, 1, 1, 1)
    assert 0.0 < most < 0.2 and others == [1.0] * 3
    assert 0.0 < held(20, 0, 0, 0)[0] < most


def test_what_the_book_holds_already_is_proposed_only_when_there_is_nothing_else():
    pool = Pool({"strat_1": SPECS[1]}, SYNTHETIC)
    for n in range(12):
        found = look(Plan(EVEN, SYNTHETIC.symbols, parents=dict(pool.specs)), n, pool)
        alike = [likeness(one.spec, SYNTHETIC, pool)[0] > OWNED for one in found]
        assert alike == sorted(alike), "those beyond the red line stand last"


def test_a_near_miss_by_correlation_is_not_taken_up_again():
    assert near_miss([trial()], NOW, SYNTHETIC, DEFAULT) is not None
    assert near_miss([trial(code="correlation_risk")], NOW, SYNTHETIC, DEFAULT) is None


# ------------------------------------------------------------ the case file


def test_a_case_file_says_what_the_risk_report_says():
    for spec in SPECS:
        for pool in (NOBODY, POOL):
            whole = assess(spec, SYNTHETIC, tuple(pool.specs.values()))
            report, partner = measure(spec, SYNTHETIC, pool)
            assert report == whole and (partner != "") == bool(pool.specs)
            assert open_file(spec, SYNTHETIC, pool).report == whole


def test_the_partner_is_the_strategy_that_it_resembles_most():
    near = mutate(SPECS[1], np.random.default_rng(1))
    assert open_file(near, SYNTHETIC, POOL).partner == "strat_1"


def test_every_point_has_figures_and_a_strength():
    for spec in SPECS:
        file = open_file(spec, SYNTHETIC, POOL)
        for name in CRITERIA:
            found = point(name, file)
            assert 0.0 <= found.strength <= 1.0 and found.facts


def test_the_relatives_are_the_same_for_every_seat():
    assert neighbourhood(SPECS[0], SYNTHETIC) == neighbourhood(SPECS[0], SYNTHETIC)
    assert 0.0 <= neighbourhood(SPECS[0], SYNTHETIC).share <= 1.0


# ------------------------------------------------------------ search


def test_the_best_looking_candidate_comes_first_and_all_are_new():
    found = look(Plan(EVEN, SYNTHETIC.symbols, known=SPECS))
    assert len(found) == DEFAULT.candidates == len({one.spec for one in found})
    assert not {one.spec for one in found} & set(SPECS)
    shortlist = [one.looks for one in found[: DEFAULT.shortlist]]
    assert shortlist == sorted(shortlist, reverse=True)
    for one in found:
        validate(one.spec, SYNTHETIC.bars)


def test_an_archetype_without_weight_is_left_alone_unless_all_are():
    only = {**dict.fromkeys(ARCHETYPES, 0.0), "breakout": 0.3}
    assert {one.spec.archetype for one in look(Plan(only, SYNTHETIC.symbols))} == {"breakout"}
    nothing = look(Plan(dict.fromkeys(ARCHETYPES, 0.0), SYNTHETIC.symbols))
    assert len({one.spec.archetype for one in nothing}) > 1


def test_children_name_their_parent():
    parents = {"strat_7": SPECS[0]}
    found = look(Plan(EVEN, SYNTHETIC.symbols, parents), temper=replace(DEFAULT, from_parents=1.0))
    assert {one.parent for one in found} == {"strat_7"}
    assert {one.spec.archetype for one in found} == {SPECS[0].archetype}


def test_a_near_miss_is_taken_up_with_minor_changes():
    again = trial()
    found = look(Plan(EVEN, SYNTHETIC.symbols, again=again))
    assert {one.spec.archetype for one in found} == {again.spec.archetype}
    assert all(one.spec != again.spec for one in found)


def test_a_score_that_the_archetype_failed_by_costs_looks():
    limits = dict.fromkeys(CRITERIA, 0.05)
    plain = look(Plan(EVEN, SYNTHETIC.symbols, limits=limits))
    wary = look(
        Plan(EVEN, SYNTHETIC.symbols, limits=limits, watched=dict.fromkeys(ARCHETYPES, ("tail_risk",)))
    )
    before = {one.spec: one.looks for one in plain}
    assert any(one.looks < before[one.spec] for one in wary)
    assert all(one.looks <= before[one.spec] for one in wary)


# ------------------------------------------------------------ repair


@pytest.mark.parametrize("issue", CRITERIA)
def test_a_repair_is_legal_differs_and_is_measured(issue):
    for spec in SPECS[:6]:
        file = open_file(spec, SYNTHETIC, POOL)
        found = repair(file, (issue,), SYNTHETIC, POOL, np.random.default_rng(1), 6, DEFAULT)
        if found is None:
            continue
        validate(found.spec, SYNTHETIC.bars)
        assert found.spec != spec
        assert found.report == measure(found.spec, SYNTHETIC, POOL)[0]
        assert changes(spec, found.spec)


def test_a_smaller_volatility_target_brings_the_tail_down():
    spec = StrategySpec(
        "momentum", {"fast": 20, "slow": 60, "allow_short": 0, "target_vol": 0.4}, ("SIM-FOXTROT",)
    )
    file = open_file(spec, SYNTHETIC, NOBODY)
    found = repair(file, ("tail_risk",), SYNTHETIC, NOBODY, np.random.default_rng(1), 4, DEFAULT)
    if found is not None and found.gain > 0:
        assert found.report.scores["tail_risk"] < file.scores["tail_risk"]


def test_changes_read_as_what_somebody_does():
    old = StrategySpec("momentum", {"fast": 5, "slow": 20, "allow_short": 0, "target_vol": 0.1}, ("A", "B"))
    new = StrategySpec("momentum", {"fast": 8, "slow": 20, "allow_short": 1, "target_vol": 0.1}, ("A", "C"))
    assert (
        changes(old, new)
        == "raising the fast average from 5 to 8, going short as well and trading C instead of B"
    )
    assert changes(old, StrategySpec("breakout", {}, ("A",))) == "turning to breakout"


# ------------------------------------------------------------ lessons


def test_memory_gives_a_strategy_back_as_it_was():
    for spec in SPECS:

        class View:
            def experiences(self, *, since=None, spec=spec):
                return (trial(spec=spec).record,)

        (found,) = trials(View(), NOW)
        assert found.spec == spec


def test_the_narrowest_recent_rejection_is_the_near_miss():
    found = near_miss([trial(1, gap=0.15), trial(2, gap=0.05, lineage="hyp_2")], NOW, SYNTHETIC, DEFAULT)
    assert found.record.hypothesis_id == "hyp_2"


@pytest.mark.parametrize(
    "tried",
    [
        [trial(gap=0.5)],
        [trial(hours_ago=80)],
        [trial(code="conceded")],
        [trial(test_sharpe=-0.2)],
        [trial(1, kind="success"), trial(2)],
        [trial(n) for n in range(1, DEFAULT.tries + 1)],
        [trial(n, revised=1) for n in range(1, 4)],
        [trial(spec=StrategySpec("momentum", SPECS[0].params, ("NOT-HERE",)))],
    ],
)
def test_hopeless_old_tested_successful_and_worn_out_lineages_are_left_alone(tried):
    assert near_miss(tried, NOW, SYNTHETIC, DEFAULT) is None


def test_a_record_without_figures_may_hide_a_revision():
    """The Referee's records know nothing of revisions; the third one escalates, so they count (R-D11)."""
    bare = replace(trial(3).record, metrics={})
    tried = [trial(1, revised=1), trial(2, revised=1), Trial(bare, None), trial(4)]
    assert near_miss(tried, NOW, SYNTHETIC, DEFAULT) is None
    assert near_miss([*tried[:2], tried[3]], NOW, SYNTHETIC, DEFAULT) is not None


def test_principles_speak_against_an_archetype_strongest_first():
    def principle(n, confidence, code):
        return PrincipleRecord(
            key=f"prin_{n:03d}",
            seq=n,
            at=NOW,
            statement="",
            evidence_count=3,
            confidence=confidence,
            source_reflections=(),
            created=NOW,
            last_validated=NOW,
            archetype="momentum",
            failure_code=code,
            regime="calm_up",
        )

    found = against([principle(1, 0.3, "tail_risk"), principle(2, 0.6, "overfitting")], "momentum")
    assert found == (0.6, ("overfitting", "tail_risk"), ("prin_002", "prin_001"))
    assert against([], "momentum") == (0.0, (), ())
    counts = failing([trial(1), trial(2, hours_ago=30), trial(3, kind="success")], NOW, timedelta(hours=24))
    assert counts == {SPECS[5].archetype: 1}


def test_the_regime_is_that_of_the_evidence():
    tools = SimulatedTools(SYNTHETIC, InMemoryEvidence(), 1)
    assert tools.regime(SYNTHETIC) in ("calm_up", "calm_down", "volatile_up", "volatile_down")
