from datetime import timedelta

import numpy as np
import pytest

from moot.bots.minds.simulated.debate.aftermath import strategy_id
from moot.bots.minds.simulated.mind import ANSWERS, SimulatedMind
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.bars import Bars
from moot.bots.tools.prices import load_universe
from moot.bots.tools.universe import Universe
from moot.memory.errors import StoreUnavailable
from moot.memory.evidence import InMemoryEvidence
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.architecture_table import ARCHITECTURE as WEEKLY
from moot.protocols.research.cycle import CYCLE
from moot.protocols.research.daily import DAILY
from moot.protocols.research.debate_machine import STEPS as DEBATE
from moot.protocols.research.debate_table import EXTENSION_BAND
from moot.protocols.research.seats import CRITIC, EXPLORER, SYSTEM_A
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.views import START, Society, one_debate

SYNTHETIC = load_universe("synthetic", start=START, seed=7)


def mind_of(seed=1, universe=SYNTHETIC, evidence=None):
    return SimulatedMind(SimulatedTools(universe, evidence or InMemoryEvidence(), seed))


def seats(mind, *absent):
    return {seat: mind for seat in SYSTEM_A if seat not in absent}


def until_owed(society, kind):
    """Play until a message of this type is owed; None when that never comes."""
    for _ in range(3000):
        owed = [o for o in society.docket.open.values() if kind in o.expects]
        if owed or not society.docket.cases:
            return owed[0] if owed else None
        society.wait(seconds=15)
    raise AssertionError("time stands still")


def debate_over(strategy, seed=1):
    """Let a person put a hypothesis forward and the minds of the other seats argue about it."""
    society = Society(seats(mind_of(seed), EXPLORER))
    society.post(EXPLORER, bodies.hypothesis(until_owed(society, "HYPOTHESIS").case_id, strategy=strategy))
    society.officers()
    return society


LEGAL = bodies.strategy(
    params={"allow_short": 0, "fast": 20, "slow": 60, "target_vol": 0.1}, symbols=("SIM-ALFA",)
)


def test_every_duty_of_system_a_has_an_answer():
    owed = {
        kind
        for table in (CYCLE.steps, DEBATE, DAILY.steps, WEEKLY.steps)
        for duty in table.values()
        if duty.seat in SYSTEM_A
        for kind in duty.expects
    }
    assert owed <= {kind for _, kind in ANSWERS}


def test_a_message_that_nobody_knows_is_met_with_silence():
    society = Society(mind_of())
    view = society.view(society.owed_bots()[0])
    other = view._replace(obligation=replace(view.obligation, expects=("PROPHECY",)))
    assert mind_of().consider(other) is None


# ------------------------------------------------------------ people in other seats


@pytest.mark.parametrize(
    "strategy",
    [
        bodies.strategy(archetype="voodoo"),
        bodies.strategy(),
        bodies.strategy(params={**LEGAL.params, "fast": 90}, symbols=("SIM-ALFA",)),
        bodies.strategy(params=dict(LEGAL.params), symbols=("NOT-HERE",)),
        bodies.strategy(params=dict(LEGAL.params), symbols=()),
    ],
)
def test_a_strategy_that_cannot_be_tested_is_rejected_in_words(strategy):
    society = debate_over(strategy)
    society.wait(hours=4)
    (assessment,) = society.bodies("RISK_ASSESSMENT")
    assert assessment.risk_rating == "REJECT" and assessment.confidence > 0.85 and assessment.fatal_flaws
    (verdict,) = society.bodies("VERDICT")
    assert verdict.verdict == "REJECT" and "cannot be tested" in verdict.reasoning
    (reflection,) = society.bodies("REFLECTION")
    assert reflection.record.failure_code == "untestable" and reflection.record.regime is None
    assert society.bodies("VIOLATION") == []


def test_an_untestable_strategy_that_an_admin_approves_fails_its_backtest():
    society = debate_over(bodies.strategy(archetype="voodoo"))
    case = until_owed(society, "VERDICT").case_id
    society.say(
        ADMIN,
        Override(case_id=case, verdict="APPROVE", why="try it"),
        channel="#a-verdict",
        case_id=case,
    )
    society.wait(hours=3)
    (result,) = society.bodies("BACKTEST_RESULT")
    assert not result.passed and result.reason.startswith("untestable") and result.equity_ref == ""
    assert society.bodies("CAUSAL_RECORD")[0].record.failure_code == "untestable"
    assert society.bodies("VIOLATION") == []


def test_a_debate_that_ended_can_be_approved_later_on():
    seed = next(s for s in range(1, 30) if one_debate(mind_of(s)).bodies("REFLECTION"))
    society = one_debate(mind_of(seed))
    (hypothesis,) = society.bodies("HYPOTHESIS")
    case = hypothesis.hypothesis_id
    society.say(
        ADMIN,
        Override(case_id=case, verdict="APPROVE", why="I disagree"),
        channel="#a-verdict",
        case_id=case,
    )
    society.wait(hours=3)
    assert len(society.bodies("BACKTEST_RESULT")) == 1
    record = society.bodies("CAUSAL_RECORD")[-1].record
    assert record.hypothesis_id == case and record.archetype == hypothesis.strategy.archetype
    assert society.bodies("VIOLATION") == [] and not society.docket.cases


def test_a_strategy_is_named_after_its_debate_or_the_override_that_took_it_up_again():
    assert strategy_id("hyp_20260223_1006") == "strat_20260223_1006"
    assert strategy_id("ovr_20260223_1006_2") == "strat_ovr_20260223_1006_2"


@pytest.mark.parametrize("rating", ["PASS", "REJECT"])
@pytest.mark.parametrize("score", [0.0, 1.0])
def test_a_person_in_the_critics_seat_may_say_anything(rating, score):
    society = Society(seats(mind_of(3), CRITIC))
    while (owed := until_owed(society, "RISK_ASSESSMENT")) is not None:
        number = owed.step.rsplit("-", 1)[-1]
        said = bodies.assessment(
            round=int(number) if number.isdigit() else number,
            risk_rating=rating,
            scores=type(bodies.SCORES)(**dict.fromkeys(bodies.SCORES.model_dump(), score)),
            fatal_flaws=("I do not like it",) if rating == "REJECT" else (),
            reasoning="because",
        )
        society.say(CRITIC, said)
    assert society.bodies("VIOLATION") == []
    verdicts = [b.verdict for kind in ("VERDICT", "FINAL_VERDICT") for b in society.bodies(kind)]
    if score == 1.0 and rating == "REJECT":
        assert verdicts[-1] == "REJECT"


# ------------------------------------------------------------ rules


def test_without_an_assessment_nothing_is_approved():
    for seed in range(1, 6):
        society = Society(seats(mind_of(seed), CRITIC))
        society.wait(hours=4)
        for verdict in society.bodies("VERDICT"):
            assert verdict.verdict == "REJECT" and "assess" in verdict.reasoning
        assert society.bodies("VIOLATION") == []
        for body in society.bodies("REFLECTION"):
            assert body.record.kind == "timeout" or body.record.failure_code in ("no_assessment", "timeout")


def test_the_conservative_mode_rejects_what_is_uncertain():
    verdicts = []
    for seed in range(1, 26):
        society = one_debate(mind_of(seed), conservative=True)
        assert society.bodies("VIOLATION") == []
        verdicts += [*society.bodies("VERDICT"), *society.bodies("FINAL_VERDICT")]
    assert all(v.confidence >= 0.75 for v in verdicts if v.verdict != "REJECT")
    assert any(v.confidence < 0.75 for v in verdicts)


def verdicts_owed(count=25):
    """Yield societies in which a verdict is owed, with the obligation."""
    for seed in range(1, count + 1):
        society = Society(mind_of(seed))
        if (owed := until_owed(society, "VERDICT")) is not None:
            yield society, owed


def test_no_revision_is_asked_for_when_the_budget_is_spent():
    asked = 0
    for society, owed in verdicts_owed(60):
        body = society.ask(owed, elapsed=timedelta(minutes=60)).body
        if body.type == "VERDICT" and body.verdict == "REVISE":
            asked += 1
            late = society.ask(owed, elapsed=timedelta(minutes=121)).body
            assert late.verdict == "REJECT" and "no time left" in late.reasoning
        assert society.ask(owed, elapsed=timedelta(minutes=131)).body.type == "VERDICT"
    assert asked


def test_a_refused_verdict_is_corrected_to_a_rejection():
    society, owed = next(verdicts_owed())
    body = society.ask(owed, attempt=1, refused="a tie leans to the Critic").body
    assert body.verdict == "REJECT" and "a tie leans to the Critic" in body.reasoning


def test_an_extension_is_never_given_where_only_a_verdict_is_owed():
    for society, owed in verdicts_owed(20):
        assert society.ask(replace(owed, expects=("VERDICT",))).body.type == "VERDICT"
        forced = society.ask(replace(owed, expects=("EXTEND_DEBATE",))).body
        low, high = EXTENSION_BAND
        assert forced.extra_rounds == 1
        assert low <= forced.alpha_argument_score <= high and low <= forced.risk_argument_score <= high


def test_the_explorer_says_what_it_is_asked_for():
    society = Society(mind_of(2))
    owed = until_owed(society, "REBUTTAL")
    assert society.ask(replace(owed, expects=("CONCEDE",))).body.type == "CONCEDE"
    assert society.ask(replace(owed, expects=("REBUTTAL",))).body.type == "REBUTTAL"


def test_messages_that_broke_a_rule_are_not_heard():
    """An assessment of the wrong round is a violation; the verdict must not rest on it."""
    society = Society(seats(mind_of(1), CRITIC))
    owed = until_owed(society, "RISK_ASSESSMENT")
    society.say(CRITIC, bodies.assessment(round=3), owed=owed)
    assert society.bodies("VIOLATION")
    society.wait(hours=4)
    assert all(v.verdict == "REJECT" for v in society.bodies("VERDICT"))
    assert len(society.bodies("VIOLATION")) == 1


def test_a_revision_is_judged_by_its_own_assessment():
    for seed in range(1, 80):
        mind = mind_of(seed)
        society = Society(mind)
        if until_owed(society, "REVISED_HYPOTHESIS") is None:
            continue
        society.minds = seats(mind, CRITIC)
        society.wait(hours=3)
        for verdict in society.bodies("FINAL_VERDICT"):
            assert verdict.verdict == "REJECT"
            assert society.bodies("VIOLATION") == []
            return
    raise AssertionError("no revision in 80 debates")


# ------------------------------------------------------------ the world


class FullDisk(InMemoryEvidence):
    def put(self, kind, payload):
        raise StoreUnavailable("no space left")


def test_a_full_disk_does_not_stop_a_backtest():
    results = []
    for seed in range(1, 8):
        results += one_debate(mind_of(seed, evidence=FullDisk())).bodies("BACKTEST_RESULT")
    assert results and all(body.equity_ref == "" for body in results)


@pytest.mark.parametrize("days", [3, 5, 40, 400])
def test_a_society_with_hardly_any_prices_argues_all_the_same(days):
    dates = np.datetime64("2026-02-20", "D") - np.arange(days)[::-1]
    close = 100 * np.cumprod(1 + 0.01 * np.sin(np.arange(days)))
    universe = Universe.of([Bars("ONLY", dates, close, close, close, close, close, "file")], "one symbol")
    for seed in range(1, 4):
        society = one_debate(mind_of(seed, universe))
        assert society.bodies("VIOLATION") == []


def test_a_small_universe_is_not_searched_for_ever():
    dates = np.datetime64("2026-02-20", "D") - np.arange(300)[::-1]
    close = 100 * np.cumprod(1 + 0.01 * np.sin(np.arange(300)))
    universe = Universe.of([Bars("ONLY", dates, close, close, close, close, close, "file")], "one symbol")
    society = Society(mind_of(1, universe), schedules={"micro": {"cron": "0 */2 * * *"}})
    society.until(START + timedelta(days=3))
    assert len(society.bodies("HYPOTHESIS")) > 25 and society.bodies("VIOLATION") == []
