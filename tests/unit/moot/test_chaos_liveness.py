"""A day after the last fault all has come to its end, or to its beginning: what has not is found, each by hand."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from moot.chaos.liveness import QUIET, Bounds, left_open, unended
from moot.protocols.kernel.case import evolve
from moot.protocols.kernel.envelope import Envelope
from tests.doubles.copying import replace
from tests.doubles.desk_table import DeskTable
from tests.doubles.handmade import handmade
from tests.doubles.money_table import MoneyTable
from tests.doubles.table import START, Table

CALM = START - timedelta(days=1)
SLOT = START + timedelta(hours=30)


def found(table: Table, *, now: datetime | None = None, log: list[Envelope] | None = None) -> list[str]:
    bounds = Bounds()
    for env, fx in zip(table.log, table.effects, strict=True):
        bounds.take(env, fx, table.docket)
    given = table.log if log is None else log
    return [one.says for one in unended(table.docket, given, bounds, CALM, now or table.now)]


def at_work() -> tuple[Table, Any]:
    """Return a society in which a cycle has just begun, and the cycle."""
    table = Table()
    (cycle,) = table.docket.cases.values()
    return table, cycle


def test_nothing_is_found_while_all_is_in_time_nor_before_it_was_quiet_for_a_day() -> None:
    table, cycle = at_work()
    assert found(table) == []
    table.docket.cases[cycle.case_id] = evolve(cycle, owed=())
    assert list(unended(table.docket, table.log, Bounds(), CALM, CALM + QUIET - timedelta(seconds=1))) == []


def test_what_was_to_be_ruled_on_is_found() -> None:
    table, cycle = at_work()
    void_at = max(due.void_at for due in cycle.owed)
    assert found(table, now=void_at + timedelta(minutes=9)) == []
    assert "was to be ruled on" in found(table, now=void_at + timedelta(minutes=11))[0]


def test_a_case_in_which_nobody_owes_anything_is_found() -> None:
    table, cycle = at_work()
    table.docket.cases[cycle.case_id] = evolve(cycle, owed=())
    (says,) = found(table)
    assert cycle.case_id in says
    assert says.endswith("and nobody owes anything in it")


def test_a_case_whose_deadlines_move_on_for_ever_is_found() -> None:
    table, cycle = at_work()
    later = START + timedelta(days=9)
    owed = tuple(replace(due, due_at=later) for due in cycle.owed)
    table.docket.cases[cycle.case_id] = evolve(cycle, owed=owed)
    table.docket.open.update({due.id: due for due in owed})
    bound = sum((due.void_at - START for due in cycle.owed), timedelta(0))
    assert found(table, now=START + bound) == []
    (says,) = found(table, now=START + timedelta(days=8))
    assert f"the cycle {cycle.case_id} is open since" in says


def test_what_waited_for_another_case_counts_from_when_that_one_ended() -> None:
    table, cycle = at_work()
    later = START + timedelta(days=9)
    owed = tuple(replace(due, due_at=later) for due in cycle.owed)
    table.docket.cases[cycle.case_id] = evolve(cycle, owed=owed)
    table.docket.open.update({due.id: due for due in owed})
    bounds, ended_at = Bounds(), START + timedelta(days=7, hours=23)
    child = evolve(cycle, case_id="hyp_1", kind="debate", parent=cycle.case_id)
    effects: Any = SimpleNamespace(opened=(), ended=(child,))
    bounds.take(replace(table.log[-1], sent_at=ended_at), effects, table.docket)

    def says(hours: int) -> bool:
        now = ended_at + timedelta(hours=hours)
        return any("is open since" in one.says for one in unended(table.docket, table.log, bounds, CALM, now))

    assert [says(0), says(1), says(9)] == [False, True, True]


def test_an_escalation_that_nobody_ends_is_found() -> None:
    table = MoneyTable()
    table.halt()
    table.wait(minutes=1)
    (asked,) = [state for state in table.docket.cases.values() if state.kind == "escalation"]
    people = tuple(due for due in asked.owed if due.seat == "admin")
    assert people
    assert [says for says in found(table) if asked.case_id in says] == []
    table.docket.cases[asked.case_id] = evolve(asked, owed=people)
    (says,) = [says for says in found(table) if asked.case_id in says]
    assert says.endswith("and nobody owes anything in it")


def test_a_slot_of_which_nothing_was_said_is_found() -> None:
    table = Table(schedules={"micro": {"at": [SLOT.isoformat()]}})
    table.until(SLOT + timedelta(minutes=11))
    assert table.last("CYCLE_TRIGGER").sent_at == SLOT
    assert found(table) == []
    other = [env if env.body.type != "CYCLE_TRIGGER" else table.log[0] for env in table.log]
    assert f"the micro cycle of {SLOT} was neither opened nor skipped" in found(table, log=other)


def test_a_day_of_the_desk_that_was_not_opened_is_found() -> None:
    table = DeskTable()
    begins_at = table.last("TRADING_DAY").body.ends_at
    table.until(begins_at + timedelta(minutes=11))
    assert [says for says in found(table) if "the desk's day" in says] == []
    other = [env if getattr(env.body, "nominal_at", None) != begins_at else table.log[0] for env in table.log]
    assert f"the desk's day of {begins_at} was not opened" in found(table, log=other)


@pytest.mark.rule("K11")
def test_k11_what_a_late_fill_opened_on_a_halted_desk_is_undone() -> None:
    table = MoneyTable()
    signal = table.signal("BUY", 100)
    table.order(signal)
    table.halt()
    filled = table.execute(signal, 100, fill_after_halt=True).seq

    def stands() -> list[str]:
        return [says for says in found(table, now=START + timedelta(hours=1)) if says.endswith("it stands")]

    assert table.book.positions
    assert stands() == []
    del table.docket.cases[signal.case_id or ""]
    for due in [due for due in table.docket.open.values() if due.case_id == signal.case_id]:
        del table.docket.open[due.id]
    assert stands() == [
        f"seq {filled} opened AAA of strat_1 after the halt of seq {table.book.halted}: it stands"
    ]


BUYS = [
    "trader SIGNAL sig_1 {strategy_id: s, symbol: X, action: BUY, quantity: 10}",
    "trader ORDER sig_1 {client_order_id: o, symbol: X, side: BUY, quantity: 10}",
    "admin HALT halt_1",
    "trader EXECUTION sig_1 {execution_id: e, client_order_id: o, symbol: X, action: BUY, qty_filled: 10,"
    " avg_price: 1, fee: 0}",
]
SELLS = "trader ORDER sig_1 {client_order_id: p, symbol: X, side: SELL, quantity: 10}"


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        (BUYS, {("s", "X"): 4}),
        ([*BUYS, SELLS], {}),
        ([*BUYS, "trader NO_ORDER sig_1 {reason: no price}"], {}),
        ([*BUYS, "referee RULING sig_1 {obligation_id: sig_1/flatten-1/trader}"], {}),
        ([*BUYS, "referee RULING hyp_1 {obligation_id: hyp_1/verdict/evolver}"], {("s", "X"): 4}),
        ([SELLS.replace("sig_1", "sig_0"), *BUYS], {("s", "X"): 5}),
    ],
)
def test_who_undoes_a_late_fill_or_says_why_not_has_tried(lines: list[str], left: dict[Any, int]) -> None:
    messages = handmade(lines)
    halted = next(one["seq"] for one in messages if one["body"]["type"] == "HALT")
    assert left_open(messages, halted) == left


def test_a_fill_of_no_order_is_nobodys_to_undo() -> None:
    lines = [line for line in BUYS if " ORDER " not in line]
    assert left_open(handmade(lines), 2) == {}


def test_what_only_takes_something_off_a_position_opens_nothing() -> None:
    held = [
        line.replace("sig_1", "sig_0").replace("client_order_id: o", "client_order_id: n") for line in BUYS
    ]
    held = [line.replace("execution_id: e", "execution_id: d") for line in held if "HALT" not in line]
    sold = [line.replace("BUY", "SELL") for line in BUYS]
    assert left_open(handmade([*held, *sold]), 6) == {}
