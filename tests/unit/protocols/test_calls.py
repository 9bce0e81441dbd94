import pickle
from datetime import timedelta

import pytest

from moot.protocols.calls.acts import amounts
from moot.protocols.calls.books import Amount, Asked, Books
from moot.protocols.calls.call import reserved_key
from moot.protocols.calls.messages import CallReserved
from moot.protocols.calls.usage import Usage
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.motion.messages import Motion
from tests.doubles.call_table import SHA, CallTable
from tests.doubles.motion_table import MotionTable


def test_what_is_reserved_is_booked_everywhere_and_then_what_it_cost() -> None:
    table = CallTable()
    call = table.reserve().body.call_id
    places = (("society", ""), ("day", "2026-02-23"), ("seat", "advocate"), ("case", table.motion_id))
    assert [table.booked(*place) for place in places] == [1_000] * 4
    assert [table.booked(*place, "tokens") for place in places] == [400] * 4

    table.settle(call, input=100, output=50)

    assert [table.booked(*place) for place in places] == [300] * 4
    assert [table.booked(*place, "tokens") for place in places] == [150] * 4
    assert [table.booked(*place, "calls") for place in places] == [1] * 4


@pytest.mark.parametrize(
    "budget",
    [
        {"usd": "0.0019"},
        {"tokens": 799},
        {"calls": 1},
        {"day": {"usd": "0.0019"}},
        {"seat": {"tokens": 799}},
        {"case": {"calls": 1}},
    ],
    ids=str,
)
def test_a_reservation_that_does_not_fit_is_superseded_and_not_booked(budget: dict[str, object]) -> None:
    table = CallTable(budget)
    table.reserve()
    table.reserve(turn=2)

    assert [fx.superseded for fx in table.effects[-2:]] == [False, True]
    assert (table.booked("society"), table.booked("society", unit="calls")) == (1_000, 1)


def test_what_was_superseded_is_not_settled() -> None:
    table = CallTable({"calls": 0})
    call = table.reserve().body.call_id
    with pytest.raises(OfficerFault, match="is not under way"):
        table.settle(call, cost=300, tokens=150, overrun=False)


def test_a_call_is_settled_once() -> None:
    table = CallTable()
    call = table.reserve().body.call_id
    table.settle(call)
    with pytest.raises(OfficerFault, match="is not under way"):
        table.bursar(table.log[-1].body, f"call/{call}/settled-again")


@pytest.mark.parametrize(
    "said",
    [
        {"cost": 299, "tokens": 150, "overrun": False},
        {"cost": 300, "tokens": 149, "overrun": False},
        {"cost": 300, "tokens": 150, "overrun": True},
        {"cost": 300, "tokens": 150, "overrun": False, "usage": None},
        {"cost": 0, "tokens": 0, "overrun": False, "usage": None},
        {"cost": 0, "tokens": 0, "overrun": False, "usage": None, "outcome": "unknown"},
        {"cost": None, "tokens": 150, "overrun": False},
        {"cost": 1_600, "tokens": 400, "overrun": False, "usage": Usage(input=0, output=400)},
    ],
    ids=str,
)
def test_what_is_booked_follows_from_usage_and_price(said: dict[str, object]) -> None:
    table = CallTable()
    call = table.reserve().body.call_id
    with pytest.raises(OfficerFault, match="does not follow"):
        table.settle(call, **said)


def test_a_call_of_which_no_usage_was_told_is_booked_with_its_worst_case() -> None:
    table = CallTable()
    table.settle(table.reserve().body.call_id, usage=None, outcome="unknown")
    assert (table.booked("society"), table.booked("society", unit="tokens")) == (1_000, 400)
    table.settle(table.reserve(turn=2).body.call_id, usage=None, outcome="provider_error", is_free=True)
    assert (table.booked("society"), table.booked("society", unit="tokens")) == (1_000, 400)


def test_what_has_a_reply_is_never_asked_again_and_what_has_none_is() -> None:
    table = CallTable()
    table.settle(table.reserve().body.call_id, usage=None, outcome="unknown")
    again = table.reserve().body
    assert again.try_ == 2
    table.settle(again.call_id)
    with pytest.raises(OfficerFault, match="has a reply"):
        table.reserve()


def test_what_is_under_way_is_not_asked_again() -> None:
    table = CallTable()
    table.reserve()
    with pytest.raises(OfficerFault, match="is under way"):
        table.reserve()


def test_calls_are_found_by_their_turn_and_forgotten_once_nobody_owes_their_answer() -> None:
    table = CallTable()
    owed = table.asked()["obligation"]
    table.reserve()
    assert [call.asked.try_ for call in table.ledger.calls(owed, 0, 1)] == [1]
    assert table.ledger.next_id(owed, 0, 1) == f"{owed}/0/1/2"
    assert table.ledger.calls(owed, 0, 2) == ()


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("$5", {"usd": 5.0}),
        ("2.50 usd", {"usd": 2.5}),
        ("200,000 tokens", {"tokens": 200_000}),
        ("1 call", {"calls": 1}),
        ("$0.10, 5 calls and 1_000 tokens", {"usd": 0.1, "calls": 5, "tokens": 1_000}),
    ],
)
def test_an_amount_is_read_as_people_write_it(said: str, read: dict[str, float]) -> None:
    assert amounts(said) == read


@pytest.mark.parametrize("said", ["5", "much", "$5 tokens", "5 tokens 6 tokens", "1.5 calls", "-5 usd", "$"])
def test_what_is_no_amount_is_refused_in_a_line(said: str) -> None:
    with pytest.raises(ValueError, match=r"amount|whole numbers"):
        amounts(said)


def test_what_came_too_late_for_its_obligation_is_superseded() -> None:
    table = CallTable()
    asked = table.asked()
    table.claim()
    body = CallReserved(**asked, request_sha256=SHA)
    table.bursar(body, reserved_key(body.call_id))
    assert table.effects[-1].superseded
    assert table.booked("society") == 0


def test_a_call_may_be_made_for_a_case_as_a_whole_while_it_is_open() -> None:
    table = CallTable()
    of_case = {"obligation": table.motion_id, "attempt": 0}
    first = table.reserve(**of_case, turn=37_201)
    assert not table.effects[-1].superseded
    table.settle(first.body.call_id)
    assert table.booked("case", table.motion_id) == 300
    with pytest.raises(OfficerFault, match=f"the call is about the case {table.motion_id}"):
        table.reserve(**of_case, turn=37_202, case=None)
    late = CallReserved(**table.asked(**of_case, turn=37_203), request_sha256=SHA)
    table.say(ADMIN, Stop(scope=table.motion_id, why="enough"), channel="#admin")
    table.bursar(late, reserved_key(late.call_id))
    assert table.effects[-1].superseded, "nobody wants the answer of a call about a case that has ended"


def test_a_call_for_an_attempt_that_is_over_is_superseded() -> None:
    table = CallTable()
    asked = table.asked()
    table.claim(option="perhaps")
    body = CallReserved(**asked, request_sha256=SHA)
    table.bursar(body, reserved_key(body.call_id))
    assert table.effects[-1].superseded


def test_a_crash_forgets_nothing_that_is_reserved() -> None:
    table = CallTable({"usd": "0.0015"})
    call = table.reserve().body.call_id
    table.down(crash=True, hours=1)
    assert list(table.ledger.open) == [call]
    table.settle(call, usage=None, outcome="unknown")
    table.reserve()
    assert table.effects[-1].superseded, "the worst case of what nobody knows stays booked"


def test_a_price_that_changes_at_a_start_does_not_change_what_was_reserved_before() -> None:
    table = CallTable()
    call = table.reserve().body.call_id
    table.given["models"] = {"priced": {"model": "test-1", "price": {"input": "9", "output": "9"}}}
    table.down(hours=1)
    assert table.settle(call, input=100, output=50).body.cost == 300


def test_the_ledger_does_not_grow_with_the_calls_of_what_is_over() -> None:
    def size(motions: int) -> int:
        table = CallTable()
        for _ in range(motions):
            table.settle(table.reserve().body.call_id)
            table.claim()
            table.object()
            table.until(table.now + timedelta(hours=1))
            assert table.outcome
            table.motion_id = table.say(ADMIN, Motion(question="And then?"), channel="#motions").case_id or ""
        return len(pickle.dumps(table.ledger))

    assert size(200) < 1.2 * size(130)


def test_one_line_says_which_budget_has_no_room_and_what_is_left() -> None:
    table = CallTable({"seat": {"usd": "0.002"}})
    table.settle(table.reserve().body.call_id)
    asked = Asked(Amount(1_800, 400, 1), "advocate", table.motion_id)
    lack = table.ledger.fits(asked, table.now)
    assert lack is not None
    assert lack.line == (
        "the budget of the seat advocate is $0.002, $0.0003 booked: $0.0017 left, the call may take $0.0018"
    )
    assert lack.short == "the budget of the seat advocate is $0.002, which leaves no room for the call"


def test_what_is_under_way_may_make_room() -> None:
    table = CallTable({"calls": 9, "usd": "0.0015"})
    call = table.reserve().body.call_id
    asked = Asked(Amount(1_000, 400, 1), "advocate", table.motion_id)
    lack = table.ledger.fits(asked, table.now)
    assert lack is not None
    assert lack.is_held
    table.settle(call, usage=None, outcome="unknown")
    lack = table.ledger.fits(asked, table.now)
    assert lack is not None
    assert not lack.is_held


def test_eight_calls_at_once_never_see_the_same_room() -> None:
    table = CallTable({"calls": 3})
    ahead = Books()
    asked = Asked(Amount(1_000, 400, 1), "advocate", table.motion_id)
    fitting = 0
    for _ in range(8):
        if table.ledger.fits(asked, table.now, ahead) is None:
            ahead.hold(asked.places(table.now), asked.most)
            fitting += 1
    assert fitting == 3
    for turn in range(1, 9):
        table.reserve(turn=turn)
    assert [fx.superseded for fx in table.effects[-8:]] == [False] * 3 + [True] * 5


def test_a_budget_that_sets_nothing_breaks_a_rule() -> None:
    table = CallTable()
    table.budget(scope="society")
    (said,) = [env for env in table.log if env.body.type == "VIOLATION"]
    assert (said.body.rule, said.body.field) == ("K27", "usd")


def test_a_society_without_calls_books_nothing() -> None:
    table = MotionTable()
    table.claim()
    ledger = table.docket.context.fold_named("ledger")
    assert (ledger.open, ledger.books.booked) == ({}, {})
    assert ledger not in table.docket.context.subscribers("CLAIM", 0)
