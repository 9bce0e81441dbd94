"""Whether what is said moves anything, counted from messages."""

from __future__ import annotations

from collections import Counter
from typing import Any

from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.research.messages import RiskScores
from moot.protocols.rulebook import rules
from moot.simulation.arguing import Arguing
from tests.doubles import bodies
from tests.doubles.debating import assess, extend, hypothesise, judge, opened, rebut, reflect
from tests.doubles.table import Table

CHANGED = bodies.strategy(params={"fast": 33, "slow": 60})


def scores(level: float) -> Any:
    return RiskScores(**dict.fromkeys(RiskScores.model_fields, level))


def heard(table: Table) -> Arguing:
    """Count a table's log."""
    docket, arguing = Docket(rules()), Arguing()
    for env in table.log:
        assert isinstance(env, Envelope)
        arguing.take(env, docket.fold(env))
    return arguing


def debated(*levels: float, change: bool, verdict: str = "APPROVE") -> Table:
    """Argue in two rounds, the Critic's scores at these levels."""
    table, _ = opened()
    assess(table, scores=scores(levels[0]))
    rebut(table, **({"modifications": ("slower",), "strategy": CHANGED} if change else {}))
    assess(table, 2, scores=scores(levels[1]))
    judge(table, verdict, 0.8)
    return table


def test_where_scores_went_is_told_by_whether_a_change_was_offered() -> None:
    assert heard(debated(0.5, 0.4, change=True)).with_change == Counter(lower=1)
    assert heard(debated(0.5, 0.6, change=True)).with_change == Counter(higher=1)
    found = heard(debated(0.5, 0.5, change=False))
    assert (found.with_change, found.without_change) == (Counter(), Counter(unmoved=1))


def test_a_third_round_and_its_verdict_are_told() -> None:
    table, _ = opened()
    assess(table)
    rebut(table)
    assess(table, 2)
    extend(table)
    rebut(table, 3)
    assess(table, 3)
    judge(table, "REJECT", 0.8)
    assert heard(table).after_extension == Counter()
    reflect(table)
    assert heard(table).after_extension == Counter(REJECT=1)


def test_proposals_stand_under_the_monday_of_their_week() -> None:
    table = Table()
    hypothesise(table)
    assert heard(table).proposed == {"2026-02-23": Counter(momentum=1)}
