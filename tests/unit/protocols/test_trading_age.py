"""A desk's day costs what the desk does, whatever its past: calls are counted, for time depends on the machine."""

from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.seats import OPERATOR
from tests.doubles import bodies
from tests.doubles.calls import calls
from tests.doubles.money_table import MoneyTable

DAYS = 40


def with_past(strategies: int) -> MoneyTable:
    """Return a desk after 40 days that gave up so many strategies: half were withdrawn, half sent back."""
    table = MoneyTable()
    for n in range(DAYS):
        if n < strategies:
            name = f"past_{n:03}"
            table.put(name)
            table.trade("BUY", 10, strategy_id=name)
            table.trade("SELL", 10, strategy_id=name)
            to = "candidates" if n % 2 else "withdrawn"
            table.tell(OPERATOR, bodies.moved(name, from_="production", to=to))
        table.day(AAA=100.0 + n % 7)
    table.day(AAA=100.0)
    return table


def a_day(table: MoneyTable) -> None:
    """Trade, mark, ask and close."""
    table.trade("BUY", 10)
    for n in range(6):
        table.check(AAA=100.0 + n, BBB=50.0)
        desk_brief(table.docket.context)
    table.book.summary_figures(None)
    table.day(AAA=101.0)


def test_a_day_of_the_desk_costs_the_same_however_many_strategies_it_gave_up():
    young, old = with_past(4), with_past(40)
    a_day(young), a_day(old)
    assert calls(lambda: a_day(old)) <= calls(lambda: a_day(young)) * 1.01


def test_what_life_is_asked_of_every_day_is_answered_from_those_that_are_asked_about():
    young, old = (with_past(n).docket.context.fold_named("life") for n in (4, 40))
    for question in ("at_desk", "traded", "to_consider", "to_promote"):
        assert calls(getattr(old, question)) == calls(getattr(young, question)), question
    assert old.traded() == ["strat_1"]
