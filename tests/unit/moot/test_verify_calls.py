"""The ledger of calls by its log: K26, K27."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from moot.protocols.calls.books import Books
from moot.protocols.calls.ledger import Ledger
from moot.protocols.calls.usage import Usage
from moot.protocols.kernel.people import SeatTaken
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.motion.messages import Claim
from moot.protocols.motion.seats import ADVOCATE
from moot.verify import Report
from tests.doubles.call_table import PRICED, CallTable
from tests.doubles.tampering import Lines, judged, read, rehashed


def lines_of(table: CallTable) -> Lines:
    return read("".join(env.line + "\n" for env in table.log))


def found(report: Report) -> list[tuple[int, str, str]]:
    return [(one.seq, one.invariant, one.rule) for one in report.findings]


@pytest.fixture
def table() -> CallTable:
    """A motion whose claim a model made: its first call was lost, the second answered."""
    table = CallTable({"usd": "0.0035", "calls": 3, "day": {"tokens": 2_000}})
    table.settle(table.reserve().body.call_id, usage=None, outcome="unknown")
    table.settle(table.reserve().body.call_id)
    table.claim()
    return table


def altered(table: CallTable, kind: str, n: int, **fields: Any) -> Lines:
    """Alter the nth message of a type and compute the hashes anew."""
    lines = lines_of(table)
    line = [line for line in lines if line["body"]["type"] == kind][n]
    line["body"].update(fields)
    return rehashed(lines)


def seq_of(table: CallTable, kind: str, n: int = 0) -> int:
    return [env.seq for env in table.log if env.body.type == kind][n]


def test_a_log_in_which_a_model_was_asked_verifies(table: CallTable) -> None:
    assert found(judged(lines_of(table))) == []


def test_what_people_set_and_raise_is_kept_to(table: CallTable) -> None:
    table.budget(scope="society", usd=0.0003)
    table.object("minor")
    assert table.docket.owed_by("advocate")
    table.reserve()
    assert table.effects[-1].superseded
    assert found(judged(lines_of(table))) == []


@pytest.mark.parametrize(
    ("kind", "n", "fields", "why"),
    [
        ("CALL_RESERVED", 1, {"max_cost": 9_999}, "is not under way"),
        ("CALL_RESERVED", 1, {"max_tokens": 399, "max_cost": 5}, "may cost more"),
        ("CALL_RESERVED", 1, {"max_cost": None}, "the price of the model priced is known"),
        ("CALL_RESERVED", 1, {"seat": "judge"}, "is owed by advocate"),
        ("CALL_RESERVED", 1, {"turn": 2}, "the next call of this turn"),
        ("CALL_SETTLED", 0, {"outcome": "answered"}, "has a reply"),
        ("CALL_SETTLED", 1, {"cost": 299}, "does not follow"),
        ("CALL_SETTLED", 1, {"tokens": 0}, "does not follow"),
        ("CALL_SETTLED", 1, {"overrun": True}, "does not follow"),
        ("CALL_SETTLED", 1, {"usage": None}, "does not follow"),
    ],
    ids=str,
)
def test_a_call_that_does_not_follow_is_found(
    table: CallTable, kind: str, n: int, fields: dict[str, Any], why: str
) -> None:
    (first, *_) = judged(altered(table, kind, n, **fields)).findings
    assert (first.invariant, first.rule) == ("officer", "K5")
    assert why in first.why


def test_a_price_that_is_altered_is_found_by_what_was_booked(table: CallTable) -> None:
    lines = lines_of(table)
    lines[0]["body"]["config"]["models"]["priced"]["price"]["output"] = "3"
    (first, *_) = judged(rehashed(lines)).findings
    assert (first.seq, first.invariant) == (seq_of(table, "CALL_SETTLED", 1), "officer")


def test_a_budget_that_is_altered_is_found_by_what_was_sent(table: CallTable) -> None:
    lines = lines_of(table)
    lines[0]["body"]["config"]["budget"]["calls"] = 1
    (first, *_) = judged(rehashed(lines)).findings
    assert (first.seq, first.invariant) == (seq_of(table, "CALL_SETTLED", 1), "officer")


# ---------------------------------------------------------------- without the tables that the society ran on


@pytest.fixture
def unkept(monkeypatch: pytest.MonkeyPatch) -> Callable[[], CallTable]:
    """Make societies whose tables find room for everything."""

    def table() -> CallTable:
        monkeypatch.setattr(Books, "lack", lambda *_: None)
        return CallTable({"calls": 1, "usd": "5"})

    return table


def test_a_budget_that_was_exceeded_is_found_though_the_tables_let_it_pass(
    unkept: Callable[[], CallTable],
) -> None:
    table = unkept()
    table.settle(table.reserve().body.call_id)
    call = table.reserve(turn=2)
    table.settle(call.body.call_id)
    (one,) = judged(lines_of(table)).findings
    assert (one.seq, one.invariant, one.rule) == (call.seq, "budget", "K27")
    assert one.why.endswith("takes what is booked for the society to 2 calls of 1 call")


def test_what_the_start_tried_counts_though_the_tables_forget_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "_probed", lambda *_: None)
    probed = {**PRICED, "probe": {"cost": 100, "tokens": 60}}
    table = CallTable({"usd": "0.00105"}, models={"priced": probed})
    call = table.reserve()
    (one,) = judged(lines_of(table)).findings
    assert (one.seq, one.invariant) == (call.seq, "budget")
    assert one.why.endswith("for the society to $0.0011 of $0.00105")


def test_a_settlement_without_a_reservation_is_found_though_the_tables_let_it_pass(
    table: CallTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line for line in lines_of(table) if line["body"].get("try") != 2]
    monkeypatch.setattr(Ledger, "_settled", lambda *_: None)
    first = judged(rehashed(renumbered_from(lines))).findings
    assert ("budget", "K26") in [(one.invariant, one.rule) for one in first]


def renumbered_from(lines: Lines) -> Lines:
    for n, line in enumerate(lines, 1):
        line["seq"] = n
    return lines


def test_an_overrun_that_is_not_flagged_is_found_though_the_tables_let_it_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = CallTable()
    table.settle(table.reserve().body.call_id, input=900, output=100)
    assert table.log[-1].body.overrun
    monkeypatch.setattr(Ledger, "_settled", lambda *_: None)
    (one,) = judged(altered(table, "CALL_SETTLED", 0, overrun=False)).findings
    assert (one.invariant, one.rule) == ("budget", "K27")


# ---------------------------------------------------------------- a call behind every word of a model


def test_a_message_of_a_model_that_nobody_asked_is_found() -> None:
    table = CallTable()
    table.claim()
    assert found(judged(lines_of(table))) == [(seq_of(table, "CLAIM"), "call", "K26")]


def test_a_call_that_was_not_answered_is_behind_no_message() -> None:
    table = CallTable()
    table.settle(table.reserve().body.call_id, outcome="refused")
    table.claim()
    assert found(judged(lines_of(table))) == [(seq_of(table, "CLAIM"), "call", "K26")]


def test_a_call_for_another_attempt_is_behind_no_message() -> None:
    table = CallTable()
    table.settle(table.reserve().body.call_id)
    table.claim(option="perhaps")
    table.claim()
    assert found(judged(lines_of(table))) == [(seq_of(table, "CLAIM", 1), "call", "K26")]


def test_a_simulated_mind_that_answers_while_a_budget_is_spent_needs_no_call() -> None:
    table = CallTable({"calls": 0, "on_exhausted": "simulated"})
    table.refuse()
    table.officers()
    table.claim()
    assert found(judged(lines_of(table))) == []


def test_a_person_in_the_seat_of_a_model_needs_no_call() -> None:
    table = CallTable()
    table.say(ADMIN, SeatTaken(seat="advocate", user_id="ann", reason="my turn"), channel="#admin")
    table.say(ADVOCATE, Claim(option="yes", claim="It is.", grounds=()), user="ann")
    assert found(judged(lines_of(table))) == []


def test_what_a_call_used_beyond_its_worst_case_is_booked_and_flagged() -> None:
    table = CallTable({"usd": "0.0012"})
    call = table.reserve().body.call_id
    table.settle(call, usage=Usage(input=900, output=200))
    assert (table.log[-1].body.overrun, table.booked("society")) == (True, 1_700)
    assert found(judged(lines_of(table))) == []
