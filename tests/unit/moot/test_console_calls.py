"""The calls of models in the read model and on the page's side: what is shown to whom, without a browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from moot.config.settings import Settings, load_settings
from moot.console.errors import ConsoleError, NotThere
from moot.console.model.calls import Gauge
from moot.console.model.interface import Person, Progress, ReadModel
from moot.console.page.calls import calls_view, gauges_of, money, seconds, tightest
from moot.console.page.session import Visit
from moot.console.page.story import why_of
from moot.console.page.views import pages_for
from moot.console.reading.calls import UNSETTLED, Kind, calls_of
from moot.console.reading.health import LogHealth
from moot.console.reading.index import Index
from moot.console.serving.metrics import Metrics
from moot.memory.bodies_file import CALLS_NAME
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.kernel.seats import VIEWER as VIEWER_SEAT
from tests.doubles.called import Called
from tests.doubles.called_motion import SECRET, a_motion
from tests.doubles.console import watched

pytestmark = pytest.mark.anyio

VIEWER = Person("viewer", VIEWER_SEAT)
ADMIN = Person("owner", ADMIN_SEAT)
CLAIM = "motion_20260223_1000/claim/advocate"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def called(tmp_path: Path) -> Called:
    found = a_motion(tmp_path)
    found.write()
    return found


def reading(*channels: str) -> Settings:
    return load_settings(None, viewers={"reads": channels})


# ---------------------------------------------------------------- the index


@pytest.mark.parametrize(
    "slices", [[(1, 19)], [(16, 19), (11, 15), (4, 10), (1, 3)], [(5, 5), (6, 19), (1, 4)]]
)
def test_a_call_is_one_row_whichever_end_of_it_is_indexed_first(
    called: Called, slices: list[tuple[int, int]]
) -> None:
    index = Index(called.place)
    index.open("log", 19)
    for low, high in slices:
        index.add_rows(low, high)
    rows = calls_of(index.db, Kind(), until=19, before=None, limit=100)
    index.close()
    assert [(row.seq, row.settled_seq, row.state, row.cost, row.tokens) for row in rows] == [
        (19, 19, "no_room", None, None),
        (18, None, "under_way", None, None),
        (15, 16, "timed_out", 0, 0),
        (11, 12, "answered", 260, 140),
        (9, 10, "truncated", 900, 300),
        (5, 6, "answered", 280, 190),
        (3, 4, "answered", 200, 140),
    ]
    assert {(row.seat, row.case_id, row.model) for row in rows} == {
        ("advocate", called.table.motion_id, "priced")
    }


# ---------------------------------------------------------------- the table, the sums, the budgets


async def test_the_table_says_how_each_call_ended_and_what_was_never_sent(called: Called) -> None:
    async with watched(called.place) as model:
        page = await model.calls.page(Kind(), limit=50)
        assert [row.state for row in page.rows] == [
            "no_room", "not_sent", "timed_out", "answered", "truncated", "answered", "answered",
        ]  # fmt: skip
        assert page.before is None


async def test_what_is_still_being_read_is_said(called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(called.place) as model:
        seen = model.seen_by(ADMIN)
        whole = await calls_view(seen, {})
        assert (whole["note"], whole["part"], len(whole["gauges"])) == ("", False, 3)
        behind = Progress(10, 19, "indexing")
        monkeypatch.setattr(model.watching, "index_progress", lambda: behind)
        monkeypatch.setattr(model.watching._folding, "is_ready", False)
        part = await calls_view(seen, {})
        assert part["note"] == (
            "reading the log: 18 of 19 messages. "
            "indexing: 10 of 19 messages: older calls may be missing, and sums grow."
        )
        assert (part["part"], part["gauges"], len(part["items"])) == (True, [], 7)


async def test_pages_of_calls_hold_each_call_once(called: Called) -> None:
    async with watched(called.place) as model:
        seen, before = [], None
        for _ in range(10):
            page = await model.calls.page(Kind(), before=before, limit=3)
            seen += [row.seq for row in page.rows]
            before = page.before
            if before is None:
                break
        assert seen == [19, 18, 15, 11, 9, 5, 3]


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (Kind(seat="advocate"), 7),
        (Kind(seat="critic"), 0),
        (Kind(model="priced", state="answered"), 3),
        (Kind(state="truncated"), 1),
        (Kind(state=UNSETTLED), 1),
        (Kind(state="no_room"), 1),
        (Kind(case="motion_20260223_1000"), 7),
        (Kind(case="' OR 1=1 --"), 0),
    ],
)
async def test_calls_are_found_by_seat_case_model_and_end(called: Called, kind: Kind, found: int) -> None:
    async with watched(called.place) as model:
        assert len((await model.calls.page(kind, limit=50)).rows) == found


async def test_sums_are_what_the_ledger_has_booked(called: Called) -> None:
    async with watched(called.place) as model:
        table = called.table
        for by, key in (("seat", "advocate"), ("case", table.motion_id)):
            (one,) = await model.calls.sums(Kind(), by)
            booked = tuple(table.booked(by, key, unit) for unit in ("usd", "tokens", "calls"))  # type: ignore[arg-type]
            assert (one.name, one.cost, one.tokens, one.calls) == (key, *booked)
            assert (one.answered, one.unpriced) == (3, 0)
        (hour,) = await model.calls.spend(Kind())
        assert (hour.name, hour.cost) == ("2026-02-23T10", table.booked("society"))


async def test_gauges_are_the_budgets_with_what_is_left(called: Called) -> None:
    async with watched(called.place) as model:
        gauges = {(one.scope, one.unit): one for one in model.calls.gauges()}
        assert (gauges["society", "usd"].limit, gauges["society", "usd"].left) == (10_000, 10_000 - 1_640)
        assert (gauges["day", "usd"].limit, gauges["day", "usd"].left) == (1_000, 0)
        assert (gauges["seat", "calls"].booked, gauges["seat", "calls"].left) == (5, 1)
        shown = gauges_of(model.calls.gauges())
        assert [one["place"] for one in shown] == [
            "The society",
            "Today, 2026-02-23, UTC",
            "The seat advocate",
        ]
        assert [unit["text"] for one in shown for unit in one["units"]] == [
            "$0.00164 of $0.01 booked, $0.00836 left",
            "$0.00164 of $0.001 booked, $0.00 left",
            "5 calls of 6 calls booked, 1 call left",
        ]
        assert shown[0]["free"] == "770 tokens, 5 calls booked, no limit"
        head = tightest(model.calls.gauges())
        assert head is not None and (head["short"], head["share"], head["hot"]) == ("$0.00 left", 1.0, True)


def test_what_is_held_for_calls_under_way_is_told_and_no_budget_is_a_gauge_of_what_was_spent() -> None:
    held = Gauge("the society", "society", "", "usd", 2_000_000, 1_500_000, 500_000)
    told = tightest([held])
    assert told is not None and told["text"] == (
        "$1.50 of $2.00 booked, $0.50 left; $0.50 of it held for calls under way"
    )
    cut = tightest([Gauge("the society", "society", "", "usd", 2_000_000, 144, 0)])
    assert cut is not None and cut["short"] == "$1.99 left"
    assert tightest([Gauge("the society", "society", "", "usd", None, 0, 0)]) is None
    free = tightest([Gauge("the society", "society", "", "tokens", None, 1_200, 0)])
    assert free is not None and (free["short"], free["share"]) == ("1,200 tokens", None)
    nothing = tightest([Gauge("the society", "society", "", "usd", 0, 0, 0)])
    assert nothing is not None and nothing["share"] == 1.0


def test_money_without_a_price_is_no_zero() -> None:
    assert (money(1_500_000), money(0, is_known=False), money(20_000, is_known=False)) == (
        "$1.50", "no price", "$0.02 and what has no price",
    )  # fmt: skip
    assert (seconds(999), seconds(61_250)) == ("999 ms", "61.2 s")


async def test_a_past_moment_has_the_calls_of_then(called: Called) -> None:
    async with watched(called.place) as model:
        past = await model.seen_by(ADMIN).at(5)
        await past.ready()  # type: ignore[attr-defined]
        assert [row.state for row in (await past.calls.page(Kind(), limit=9)).rows] == [
            "under_way",
            "answered",
        ]
        (one,) = await past.calls.sums(Kind(), "model")
        assert (one.calls, one.cost) == (1, 200)
        society = next(one for one in past.calls.gauges() if (one.scope, one.unit) == ("society", "usd"))
        assert (society.booked, society.held) == (1_200, 1_000)
        await past.close()


# ---------------------------------------------------------------- why


async def test_why_tells_every_attempt_turn_and_try_word_for_word(called: Called) -> None:
    async with watched(called.place) as model:
        told = why_of(await model.calls.why(13))
        assert (told["by"], told["attempt"]) == ("Written by the model priced (test-1).", 1)
        assert told["sum"] == "4 calls, 770 tokens, $0.00164, 2.8 s"
        assert [(one["name"], one["said"], one["other"]) for one in told["calls"]] == [
            ("turn 1", "answered", "for an earlier answer"),
            ("turn 2", "answered", "for an earlier answer"),
            ("answer 2, turn 1", "truncated", ""),
            ("answer 2, turn 2", "answered", ""),
        ]
        first, second, cut, last = told["calls"]
        assert SECRET in first["parts"][-1]["text"] and first["reply"][0]["text"] == '{"word":"week"}'
        assert (second["same"], [one["text"] for one in second["parts"]][1]) == (3, "seven days")
        assert [one["text"] for one in second["reply"]] == ["Why not?", '{"option":"maybe"}']
        assert cut["why"] == "the answer was cut off at max_tokens"
        facts = dict(last["facts"])
        assert (facts["booked"], facts["written"], facts["took"]) == (
            "140 tokens, $0.00026", "40 tokens, 10 thought", "700 ms",
        )  # fmt: skip


async def test_why_says_who_else_filled_a_seat_in_one_line(called: Called) -> None:
    async with watched(called.place) as model:
        said = {seq: await model.calls.why(seq) for seq in (1, 2, 14)}
        assert [one.by for one in said.values()] == [
            "The timekeeper is code: this follows from the rules.",
            "ann on test wrote this.",
            "Written by: simulated, no model.",
        ]
        assert not any(one.calls for one in said.values())


async def test_why_of_a_ruling_is_what_the_silent_seats_model_was_asked(tmp_path: Path) -> None:
    called = a_motion(tmp_path)
    called.table.wait(hours=2)
    called.write()
    owed = called.table.motion_id + "/replies-1/advocate"
    ruling = next(env for env in called.table.log if env.id == f"ruling/{owed}")
    async with watched(called.place) as model:
        told = why_of(await model.calls.why(ruling.seq))
        assert told["by"] == (
            "The referee is code: this follows from the rules; what the seat's model was asked is below."
        )
        assert [(one["said"], one["other"]) for one in told["calls"]] == [
            ("timed out", ""),
            ("not sent", ""),
            ("no budget", ""),
        ]


async def test_why_of_a_message_about_a_call_is_the_story_of_that_call(called: Called) -> None:
    async with watched(called.place) as model:
        assert [call.state for call, _ in (await model.calls.why(16)).calls] == [
            "timed_out", "not_sent", "no_room",
        ]  # fmt: skip
        told = why_of(await model.calls.call(f"{CLAIM}/0/1/1"))
        assert [one["other"] for one in told["calls"]] == ["", "", *["for a later answer"] * 2]
        with pytest.raises(NotThere, match="there is no call nothing"):
            await model.calls.call("nothing")


async def test_what_is_lost_of_a_call_is_said_and_the_rest_is_told(called: Called) -> None:
    (called.place / CALLS_NAME).unlink()
    async with watched(called.place) as model:
        told = why_of(await model.calls.why(13))
        assert all("the request is lost" in one["lost"][0] for one in told["calls"])
        assert told["sum"] == "4 calls, 770 tokens, $0.00164, 2.8 s"


# ---------------------------------------------------------------- rights

Question = Callable[[ReadModel], Awaitable[Any]]


async def _gauges(model: ReadModel) -> Any:
    return model.calls.gauges()


ASKED: dict[str, Question] = {
    "page": lambda model: model.calls.page(Kind(), limit=9),
    "sums": lambda model: model.calls.sums(Kind(), "seat"),
    "spend": lambda model: model.calls.spend(Kind()),
    "gauges": _gauges,
    "why": lambda model: model.calls.why(13),
    "call": lambda model: model.calls.call(f"{CLAIM}/0/1/1"),
}


@pytest.mark.parametrize("asks", ASKED.values(), ids=list(ASKED))
async def test_calls_are_for_admins_and_for_viewers_who_are_named_to_read_them(
    called: Called, asks: Question
) -> None:
    async with watched(called.place) as model:
        assert await asks(model.seen_by(ADMIN))
        with pytest.raises(NotThere, match="calls of models are in #calls, which you do not read"):
            await asks(model.seen_by(VIEWER))
    async with watched(called.place, reading("*", "#calls")) as model:
        assert await asks(model.seen_by(VIEWER))


async def test_a_viewer_finds_no_word_of_calls_anywhere(called: Called) -> None:
    async with watched(called.place) as model:
        theirs = model.seen_by(VIEWER)
        for window in (
            await theirs.window(limit=500),
            await theirs.search("call"),
            await theirs.window(channel="#calls"),
        ):
            assert not [env for env in window.envelopes if env.channel == "#calls"]
        assert "#calls" not in [one.name for one in await theirs.channels()]
        assert not [one for one in await theirs.counts() if one.channel == "#calls"]
        with pytest.raises(NotThere):
            await theirs.message(3)


async def test_the_page_of_a_viewer_cannot_ask_for_calls(called: Called) -> None:
    async with watched(called.place) as model:
        for person, may in ((ADMIN, True), (VIEWER, False)):
            visit = Visit(model.seen_by(person), person, page="p")
            boot = await visit.boot("/calls")
            assert (boot["view"]["kind"] == "calls", bool(boot["board"]["budget"])) == (may, may)
            assert ("Calls" in [one["name"] for one in boot["pages"]], boot["may"]["calls"] == "") == (
                may,
                may,
            )
            assert (SECRET in str(boot), "$0.001" in str(boot)) == (False, may)
            for op, args in (
                ("calls", {}),
                ("calls", {"before": 19}),
                ("why", {"seq": 13}),
                ("why", {"seq": 14}),
                ("open", {"path": "/calls?seat=advocate"}),
                ("open", {"path": f"/call/{CLAIM}/0/1/1"}),
                ("open", {"path": "/c/calls"}),
                ("open", {"path": "/m/3"}),
            ):
                try:
                    answered = bool(await visit.ask(op, args))
                except ConsoleError:
                    answered = False
                assert answered == may, (op, args)
            await visit.close()


async def test_figures_for_prometheus_name_no_message_about_calls(called: Called) -> None:
    async with watched(called.place) as model:
        metrics = Metrics(model, LogHealth(called.place))
        for env in called.table.log:
            metrics.hear(env)
        text = (await metrics.text(0)).decode()
        assert 'moot_messages_total{type="CLAIM"} 2.0' in text
        assert 'moot_messages_total{type="other"} 12.0' in text
        assert "CALL_" not in text


async def test_every_call_in_the_table_leads_to_its_story(called: Called) -> None:
    async with watched(called.place) as model:
        visit = Visit(model.seen_by(ADMIN), ADMIN, page="p")
        items = (await visit.boot("/calls?state=&seat=advocate"))["view"]["items"]
        assert len(items) == 7
        for item in items:
            view = await visit.ask("open", {"path": item["go"]})
            assert (view["kind"], view["call"]) == ("call", item["id"])
            assert item["id"] in [one["id"] for one in view["story"]["calls"]]
        await visit.close()


async def test_everything_leaves_calls_to_their_own_channel(called: Called) -> None:
    async with watched(called.place) as model:
        visit = Visit(model.seen_by(ADMIN), ADMIN, page="p")
        view = (await visit.boot("/all"))["view"]
        assert view["about"] == "all channels but #calls as they are logged"
        assert [one["s"] for one in view["window"]["items"]] == [1, 2, 7, 8, 13, 14, 17]
        older = await visit.ask("window", {**view["window"]["filter"], "before": 9})
        assert [one["s"] for one in older["items"]] == [1, 2, 7, 8]
        channel = (await visit.ask("open", {"path": "/c/calls"}))["window"]["items"]
        assert [one["s"] for one in channel] == [3, 4, 5, 6, 9, 10, 11, 12, 15, 16, 18, 19]
        await visit.close()


async def test_seats_that_a_model_fills_are_named_with_it(called: Called) -> None:
    async with watched(called.place) as model:
        visit = Visit(model.seen_by(VIEWER), VIEWER, page="p")
        boot = await visit.boot("/c/motions")
        cards = {one["s"]: one.get("u") for one in boot["view"]["window"]["items"]}
        assert (cards[13], cards[14]) == ("by the model test-1", "simulated, no model")
        assert [one["model"] for one in boot["board"]["owed"]] == ["priced (test-1)"]
        assert pages_for(model.seen_by(VIEWER))[-1]["name"] == "Memory"
        await visit.close()
