"""A week of the whole society, on the default prices: the shape that `moot simulate` shows (R-D19)."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import pytest

from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.prices import load_universe
from moot.channels.showing.rendering import predicate
from moot.memory.evidence import InMemoryEvidence
from moot.protocols.research.scope import names_a_parameter
from moot.protocols.research.seats import SYSTEM_A
from tests.doubles.views import Society

START = datetime(2026, 2, 23, tzinfo=UTC)


@lru_cache(maxsize=4)
def week(seed=1, days=7):
    universe = load_universe("sample", start=START, seed=seed)
    tools = SimulatedTools(universe, InMemoryEvidence(), seed)
    society = Society.of_weeks(SimulatedMind(tools), START)
    society.until(START + timedelta(days=days))
    return society


def debates(society):
    return [state for fx in society.effects for state in fx.ended if state.kind == "debate"]


def test_nobody_breaks_a_rule_all_week():
    assert week().bodies("VIOLATION") == []
    assert week().retries == []


def test_a_default_week_shows_everything_that_can_happen():
    society = week()
    found, kinds = debates(society), Counter(society.kinds())
    assert 65 <= len(found) <= 84
    approved = sum(state.verdict == "APPROVE" for state in found)
    assert 0.25 <= approved / len(found) <= 0.4
    assert any(state.revised for state in found)
    assert any(state.extended for state in found)
    assert kinds["CONCEDE"] and kinds["TIMEOUT_PING"] and kinds["ESCALATION"]
    assert {state.ended_by for state in found} >= {"rounds", "confidence", "concede", "timeout"}
    assert {True, False} <= {state.passed for state in found}
    rulings = Counter(body.reason for body in society.bodies("RULING"))
    assert 3 <= rulings["timeout"] <= 25


def test_daily_and_weekly_duties_are_done():
    society = week()
    assert len(society.bodies("DAILY_REPORT")) >= 6
    assert len(society.bodies("PRINCIPLE_SYNTHESIS")) >= 6
    for kind in ("ARCHITECTURE_VERDICT", "THRESHOLD_REVIEW", "META_REFLECTION", "WEEKLY_REPORT"):
        assert len(society.bodies(kind)) == 1, kind
    (review,), (adjusted,) = society.bodies("THRESHOLD_REVIEW"), society.bodies("THRESHOLDS_ADJUSTED")
    assert adjusted.after == {k: round(v * review.factor, 6) for k, v in adjusted.before.items()}


def test_principles_steer_the_search():
    society = week()
    known = society.store.read().principles()
    assert known
    notes = [
        body for body in society.bodies("RESEARCH_NOTE") if any(s.startswith("prin_") for s in body.sources)
    ]
    assert notes


def test_near_misses_are_taken_up_again_under_their_lineage():
    society = week()
    lineages = Counter(body.lineage_id for body in society.bodies("HYPOTHESIS"))
    assert any(count > 1 for count in lineages.values())
    for body in society.bodies("HYPOTHESIS"):
        if body.lineage_id != body.hypothesis_id:
            assert "hyp_" in body.rationale


def test_approved_strategies_have_children():
    society = week()
    parents = {body.parent_strategy_id for body in society.bodies("HYPOTHESIS")} - {None}
    assert parents <= {body.strategy_id for body in society.bodies("STRATEGY_MOVED")}
    assert parents


def test_no_strategy_is_proposed_twice():
    specs = Counter(
        (body.strategy.archetype, tuple(body.strategy.params.items()), body.strategy.symbols)
        for body in week().bodies("HYPOTHESIS")
    )
    assert max(specs.values()) == 1


def test_the_architecture_debate_is_about_the_system_and_decides_every_proposal_once():
    (proposal,) = week().bodies("ARCHITECTURE_PROPOSAL")
    (verdict,) = week().bodies("ARCHITECTURE_VERDICT")
    assert 1 <= len(proposal.proposals) <= 3
    for change in proposal.proposals:
        assert not names_a_parameter(change.scope, change.description, change.expected_benefit)
    decided = [c.change_id for c in verdict.approved_changes] + [*verdict.deferred, *verdict.rejected]
    assert sorted(decided) == sorted(change.change_id for change in proposal.proposals)


SLIPS = re.compile(
    r"[{}]|\.\.|[,;:]\.|  | [,.;:]|\bnan\b|\binf\b|\bNone\b|np\.|\bunknown\b|-0\.00|_risk\b"
    r"|(?<![.\d])1 (?:answers|assessments)\b"
)
"""What no sentence may hold: placeholders, Python values, doubled marks, scores as identifiers."""


def texts(value):
    """Yield every text in a body."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)


def test_all_that_people_read_is_written_out():
    for env in week().log:
        if env.author in SYSTEM_A:
            for text in texts(env.body.model_dump()):
                if " " in text:
                    assert not SLIPS.search(text), (env.body.type, text)


OPINIONS = frozenset(
    {"RESEARCH_NOTE", "HYPOTHESIS", "RISK_ASSESSMENT", "REBUTTAL", "CONCEDE", "EXTEND_DEBATE", "VERDICT"}
    | {
        "REVISE_REQUEST",
        "REVISED_HYPOTHESIS",
        "FINAL_VERDICT",
        "CAUSAL_RECORD",
        "REFLECTION",
        "STRATEGY_MOVED",
    }
)
"""Messages in which a seat argues in its own words."""

BY_THE_STRATEGY = frozenset({"entry_trigger", "exit_trigger", "signal_sources"})
"""Texts that say what a strategy is, and are the same for the same one."""


def opinions(society):
    """Yield every text in which a seat of System A argues, with its type."""
    for env in society.log:
        if env.author in SYSTEM_A and env.body.type in OPINIONS:
            for text in texts(env.body.model_dump(exclude=set(BY_THE_STRATEGY))):
                if " " in text:
                    yield env.body.type, text


def test_no_sentence_of_an_opinion_comes_back_by_the_dozen():
    said = Counter(
        sentence
        for _, text in opinions(week())
        for sentence in re.split(r"(?<=[.!?…])\s+", text)
        if len(sentence.split()) >= 4
    )
    assert len(said) > 1_000
    assert [(text, n) for text, n in said.most_common(5) if n > 6] == []


def test_verdicts_and_assessments_do_not_open_alike():
    society = week()
    for field in ("VERDICT", "RISK_ASSESSMENT"):
        opened = Counter(
            re.sub(r"[\d.]+", "#", body.reasoning.split(". ")[0])[:24] for body in society.bodies(field)
        )
        assert opened.most_common(1)[0][1] <= 0.2 * opened.total(), opened.most_common(3)


def test_no_text_says_the_same_clause_twice():
    for kind, text in (*opinions(week()), *opinions(week(7, 14))):
        clauses = [clause.strip(" .").casefold() for clause in re.split(r"[.;:](?:\s|$)", text)]
        long = [clause for clause in clauses if len(clause) > 12]
        assert len(long) == len(set(long)), (kind, text)


def test_a_proposal_names_each_symbol_once():
    proposals = [env for env in week().log if env.body.type == "HYPOTHESIS"]
    assert proposals
    for env in proposals:
        line = predicate(env)
        for symbol in env.body.strategy.symbols:
            assert len(re.findall(rf"(?<![\w-]){re.escape(symbol)}(?![\w-])", line)) <= 1, line


@pytest.mark.parametrize("days", [14])
def test_two_weeks_go_by_without_a_violation_and_approvals_do_not_run_dry(days):
    society = week(7, days)
    assert society.bodies("VIOLATION") == []
    late = [
        state
        for env, fx in zip(society.log, society.effects, strict=True)
        if env.sent_at > START + timedelta(days=7)
        for state in fx.ended
        if state.kind == "debate"
    ]
    assert sum(state.verdict == "APPROVE" for state in late) >= 4
    proposed = [
        change.description for body in society.bodies("ARCHITECTURE_PROPOSAL") for change in body.proposals
    ]
    approved = [
        c.description for body in society.bodies("ARCHITECTURE_VERDICT") for c in body.approved_changes
    ]
    assert len(set(approved)) == len(approved) and len(proposed) >= len(approved)
