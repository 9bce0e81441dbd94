"""An answer of a few fields: what the rules fix is filled in, what is wrong is one line."""

from datetime import UTC, datetime, timedelta

import pytest

from moot.bots.minds.mind import View
from moot.bots.minds.replying import WrongBody
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.messages import RiskAssessment, RiskScores, Verdict

NOW = datetime(2026, 2, 23, 10, tzinfo=UTC)
SCORES = dict.fromkeys(RiskScores.model_fields, 0.3)
ASSESSMENT = {
    "risk_rating": "PASS",
    "confidence": 0.7,
    "scores": SCORES,
    "conditions": [],
    "fatal_flaws": [],
    "reasoning": "Fine.",
}


def view(*expects, **brief):
    due = Obligation(
        "hyp_1/step/critic", "hyp_1", Seat("critic"), expects, "#a-arena", NOW, NOW, timedelta(0)
    )
    return View(due, Seat("critic"), NOW, 0, "", (), (), brief, InMemoryStore().read(), kind="debate")


def wrong(asked, *args, **fields):
    with pytest.raises(WrongBody) as caught:
        asked.reply(*args, **fields)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(
        f"{caught.value.kind}.{caught.value.field}" if caught.value.field else caught.value.kind
    )
    return line


@pytest.mark.parametrize("kind", [(), (RiskAssessment,), ("RISK_ASSESSMENT",)])
def test_what_the_rules_fix_is_filled_in(kind):
    body = view("RISK_ASSESSMENT", round=2).reply(*kind, **ASSESSMENT).body
    assert isinstance(body, RiskAssessment)
    assert (body.round, body.hypothesis_id) == (2, ""), "the id is filled in by the society"
    assert body.scores == RiskScores(**SCORES)


def test_lists_parts_and_what_is_fixed_may_be_given_too():
    fields = ASSESSMENT | {"scores": RiskScores(**SCORES), "conditions": ("a", "b"), "round": "revision"}
    body = view("RISK_ASSESSMENT", round="revision").reply(**fields).body
    assert (body.round, body.conditions) == ("revision", ("a", "b"))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"confidence": 2}, "RISK_ASSESSMENT.confidence: choose at most 1, not 2"),
        ({"confidnce": 0.5}, "RISK_ASSESSMENT.confidnce: there is no such field: did you mean confidence?"),
        (
            {"zzz": 1},
            "RISK_ASSESSMENT.zzz: there is no such field: it has hypothesis_id, round, risk_rating, ",
        ),
        ({"type": "VERDICT"}, "RISK_ASSESSMENT.type: there is no such field"),
        (
            {"risk_rating": "MAYBE"},
            "risk_rating: choose 'PASS', 'CONDITIONAL_PASS' or 'REJECT', not 'MAYBE'",
        ),
        (
            {"scores": {"tail_risk": 0.2}},
            "RISK_ASSESSMENT: lacks scores.overfitting, scores.execution_risk, ",
        ),
        ({"scores": SCORES | {"moon": 1}}, "RISK_ASSESSMENT.scores.moon: there is no such field"),
        ({"conditions": ["a", 3]}, "RISK_ASSESSMENT.conditions[1]: give a text, not 3"),
        (
            {"reasoning": "x" * 20_001},
            "RISK_ASSESSMENT.reasoning: has 20,001 characters, 20,000 are the most",
        ),
        ({"reasoning": object()}, "RISK_ASSESSMENT.reasoning: a object is no value of a message"),
        ({"confidence": float("nan")}, "RISK_ASSESSMENT.confidence: "),
        ({"round": 3}, "RISK_ASSESSMENT.round: the case says 2, not 3"),
        ({"round": 9}, "RISK_ASSESSMENT.round: choose 1, 2, 3 or 'revision', not 9"),
    ],
)
def test_a_wrong_field_is_one_line_that_names_it(change, line):
    assert line in wrong(view("RISK_ASSESSMENT", round=2), **ASSESSMENT | change)


def test_fields_that_are_missing_are_named_together():
    assert wrong(view("RISK_ASSESSMENT", round=1), confidence=0.5) == (
        "RISK_ASSESSMENT: lacks risk_rating, scores, conditions, fatal_flaws, reasoning"
    )


def test_another_message_than_is_asked_for_is_refused():
    asked = view("RISK_ASSESSMENT")
    assert wrong(asked, Verdict) == "VERDICT: RISK_ASSESSMENT is asked for"
    assert wrong(asked, "NONSENSE") == "NONSENSE: RISK_ASSESSMENT is asked for"
    assert wrong(asked, int) == "int: is no class of a message"
    assert wrong(asked, RiskScores) == "RiskScores: is no class of a message"


def test_of_several_messages_one_is_named():
    asked = view("VERDICT", "EXTEND_DEBATE")
    assert wrong(asked, confidence=1) == "VERDICT or EXTEND_DEBATE: say which: view.reply(KIND, ...)"
    body = asked.reply(
        "EXTEND_DEBATE", extra_rounds=1, alpha_argument_score=0.5, risk_argument_score=0.5, reason="Close."
    ).body
    assert body.type == "EXTEND_DEBATE"


def test_values_that_the_rules_leave_a_choice_of_are_named():
    fields = {"hypothesis_id": "hyp_1", "verdict": "APPROVE", "confidence": 0.8, "reasoning": "Well."}
    scores = dict.fromkeys(("alpha_argument_score", "risk_argument_score", "debate_quality"), 0.5)
    asked = view("VERDICT", next_action=("backtest", "archive"))
    lacking = wrong(asked, **fields, **scores, conditions=[])
    assert lacking == 'VERDICT: lacks next_action; next_action is one of "backtest" or "archive"'
    line = wrong(asked, **fields, **scores, conditions=[], next_action="revise")
    assert line == 'VERDICT.next_action: choose "backtest" or "archive", not "revise"'
    assert asked.reply(**fields, **scores, conditions=[], next_action="archive").body.next_action == "archive"


def test_figures_of_an_object_are_laid_under_what_a_mind_says_of_it():
    asked = view("RISK_ASSESSMENT", round=1, scores={"tail_risk": 0.9})
    rest = {name: value for name, value in SCORES.items() if name != "tail_risk"}
    assert asked.reply(**ASSESSMENT | {"scores": rest}).body.scores.tail_risk == 0.9


def test_an_object_that_a_brief_tells_is_no_figure_of_a_list():
    rest = {name: value for name, value in ASSESSMENT.items() if name != "conditions"}
    asked = view("RISK_ASSESSMENT", round=1, conditions={"c_1": "Trade less."})
    assert wrong(asked, **rest) == "RISK_ASSESSMENT: lacks conditions"


def test_what_a_brief_tells_besides_figures_is_no_figure():
    """A run's brief tells what is unresolved as issues; the field of that name holds ids."""
    asked = view("REVIEW", round_index=1, attempt=1, unresolved=({"id": "r1-1", "text": "too long"},))
    body = asked.reply(text="VERDICT: REVISE").body
    assert (body.round_index, body.attempt, body.unresolved) == (1, 1, ())
