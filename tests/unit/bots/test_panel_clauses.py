"""The language of triggers, and the data that speaks it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.minds.simulated.panel import standards
from moot.bots.minds.simulated.panel.clauses import AND, OR, Clause, firing, read, written
from moot.bots.minds.simulated.panel.measures import MEASURES, PASSAGES, STANDS_NEGATED
from moot.bots.minds.simulated.panel.paper import read_paper
from moot.bots.minds.simulated.panel.standards import ROLES, TOPICS, Bound, condition
from moot.protocols.panel.contract import ROLES as SEATS
from moot.protocols.panel.triggers import tokens

RELATIONS = st.sampled_from(("no", "below", "above"))


@st.composite
def clauses(draw):
    relation = draw(RELATIONS)
    name = draw(st.sampled_from((*MEASURES, "")))
    low = 0 if relation == "above" else 1
    bound = 0 if relation == "no" else draw(st.integers(low, 9999))
    words = st.lists(st.sampled_from(("scope", "rigour", "größe")), min_size=1, max_size=3)
    return Clause(name, relation, bound, tuple(draw(words)) if not name else ())


@given(st.lists(st.lists(clauses(), min_size=1, max_size=3).map(tuple), min_size=1, max_size=4).map(tuple))
def test_what_is_written_is_read_back(trigger):
    assert read(written(trigger)) == (trigger, ())


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        (Clause("methods", "no"), "no methods section"),
        (Clause("samples", "below", 2), "fewer than 2 sample sizes"),
        (Clause("duplicates", "above", 0), "any repeated paragraph"),
        (Clause("claims", "above", 3), "more than 3 claims of certainty"),
        (Clause("claims", "above", 1), "more than 1 claim of certainty"),
        (Clause("drawdown", "above", 25), "maximum drawdown above 25 %"),
        (Clause("sharpe", "below", 1), "Sharpe ratio below 1"),
        (Clause("", "no", 0, ("scope", "fits")), "no word about scope/fits"),
    ],
)
def test_a_clause_is_said_in_words(clause, words):
    assert str(clause) == words


def test_what_is_not_of_the_language_is_told_apart():
    trigger, foreign = read("no methods section or the author is rude or no sample size and it rains")
    assert trigger == ((Clause("methods", "no"),),)
    assert foreign == ("the author is rude", "no sample size and it rains")


def test_alternatives_hold_one_by_one_and_conjunctions_together():
    paper = read_paper("We saw n = 40 rooms.")
    trigger, _ = read(
        "no sample size or no methods section and no sample size or no methods section and no p-value"
    )
    assert firing(trigger, paper) == [(Clause("methods", "no"), Clause("p_values", "no"))]


def test_a_quantity_that_is_not_stated_is_missing_and_neither_below_nor_above():
    paper = read_paper("Nothing.")
    held = [Clause("sharpe", one, 5).holds(paper) for one in ("no", "below", "above")]
    assert held == [True, False, False]


def test_a_bound_itself_is_neither_below_nor_above():
    paper = read_paper("It made 80 trades.")
    assert not Clause("trades", "below", 80).holds(paper) and not Clause("trades", "above", 80).holds(paper)
    assert Clause("trades", "below", 81).holds(paper) and Clause("trades", "above", 79).holds(paper)


def test_only_what_misses_a_bound_by_little_is_narrow():
    paper = read_paper("It made 80 trades (Webb 2009; Ito 2014) [1-2].")
    assert Clause("trades", "below", 85).is_narrow(paper)
    assert not Clause("trades", "below", 95).is_narrow(paper)
    assert Clause("citations", "below", 5).is_narrow(paper)
    assert not Clause("citations", "below", 6).is_narrow(paper)
    assert not Clause("p_values", "below", 1).is_narrow(paper), "one of so few is much"
    assert not Clause("citations", "below", 1).is_narrow(paper), "it does not hold at all"
    assert not Clause("methods", "no").is_narrow(paper)


def test_the_words_of_measures_can_be_told_apart():
    said = [word for one in MEASURES.values() for word in (one.one, one.many) if word]
    assert len(said) == len(set(said))
    for word in said:
        assert OR not in f" {word} " and AND not in f" {word} " and not re.search(r"\d$", word)


def test_every_trigger_of_the_standards_binds_a_review_to_its_words():
    for name in MEASURES:
        for relation in ("no", "below", "above"):
            assert tokens(str(Clause(name, relation, 1))), name


def test_the_standards_name_only_what_there_is():
    eithers = [either for one in TOPICS.values() for either in (one.block, one.warn)]
    eithers += [either for one in ROLES.values() for either in one.warn.values()]
    named = {test.measure for either in eithers for tests in either for test in tests}
    assert named <= set(MEASURES) and set(PASSAGES) <= set(MEASURES) and set(PASSAGES) >= STANDS_NEGATED
    assert {topic for one in ROLES.values() for topic in one.warn} <= set(TOPICS)
    assert set(ROLES) == {role for roles in SEATS.values() for role in roles}


def test_each_topic_can_block_and_can_warn():
    for topic in TOPICS.values():
        assert topic.block and topic.warn


def test_a_standard_is_read_from_its_words() -> None:
    assert condition("no samples") == standards.Test("samples")
    assert condition("sections below 2") == standards.Test("sections", "below", Bound(2, 2))
    assert condition("citations above 3..12 each 300") == standards.Test(
        "citations", "above", Bound(3, 12, 300)
    )


@pytest.mark.parametrize(
    "text", ["", "no mercy", "samples over 3", "samples below few", "samples below 1..2 each"]
)
def test_a_standard_in_other_words_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no test of a measure"):
        condition(text)
