"""Whatever a society lives through, its log keeps the rules (K4, K5, K6); a seed is lived the same way twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from moot.bots.desk.broker import Answer, Broker, Ticket
from moot.bots.desk.market import Market
from moot.bots.models.answer import Answer as ModelAnswer
from moot.bots.notebook.errors import NotebookTimeout, NotebookUnavailable
from moot.bots.tools.prices import load_universe
from moot.channels.gateway.server import GatewayServer
from moot.channels.outbox.mirroring import public_but_own_notes
from moot.chaos import interrupting, platform
from moot.chaos.calendar import KINDS, instants, is_lived
from moot.chaos.dice import Dice
from moot.chaos.faults import CLASSES
from moot.chaos.market import MarketSpells, StruckBroker, StruckMarket
from moot.chaos.minds import SELDOM
from moot.chaos.models import ScriptedModels
from moot.chaos.notebook import StruckNotebook
from moot.chaos.plan import AIMED, Deed, Spell, WorldPlan, draw
from moot.chaos.striking import Striking
from moot.chaos.world import live
from moot.clock import VirtualClock
from moot.host import Host
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.money_table import MoneyTable

DAYS = 0.3
SEEDS = (1, 2, 3, 9)
"""A few in CI, in all three kinds of time; `make soak` lives hundreds of weeks."""


def plain(clock: str, *spells: Spell, speed: float = 1.0, wall_s: float = 30_000.0, **over: Any) -> WorldPlan:
    """Make a world in which nothing happens but what is said."""
    base = draw(1, rate=0.0).model_copy(update={"deeds": (), "admin": False, "cycle_h": 2})
    said = {
        "clock": clock,
        "speed": speed,
        "wall_s": wall_s,
        "calm_s": wall_s,
        "spells": spells,
        "bus": "memory",
    }
    return base.model_copy(update={**said, **over})


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_society_lives_through_nothing_is_found(seed: int) -> None:
    outcome = live(draw(seed, days=DAYS))
    assert outcome.findings == []
    assert outcome.messages > 5


def test_the_seeds_of_ci_draw_every_kind_of_time_and_every_class_of_fault() -> None:
    plans = [draw(seed, days=DAYS) for seed in SEEDS]
    assert {plan.clock for plan in plans} == {"virtual", "accelerated", "real"}
    assert {spell.kind for plan in plans for spell in plan.spells} == set(CLASSES)


def test_a_seed_is_lived_the_same_way_twice() -> None:
    plan = draw(11, days=0.5, rate=0.6)
    assert plan == draw(11, days=0.5, rate=0.6) == WorldPlan.model_validate_json(plan.model_dump_json())
    first, second = live(plan), live(plan)
    assert first.head == second.head != ""
    assert first.happened == second.happened != Counter()


def test_a_world_goes_on_from_what_stood_in_the_log_where_it_was_cut() -> None:
    cuts = [Spell(n=n, fault="crash.cut", at_s=0.0, size=seq) for n, seq in enumerate((3.0, 20.0, 21.0))]
    outcome = live(plain("virtual", *cuts))
    assert outcome.findings == []
    assert outcome.lives == 4
    assert [env.seq for env in outcome.log if env.body.type == "SOCIETY_STARTED"] == [1, 4, 21, 22]


def test_the_real_bus_keeps_what_it_acknowledged_through_a_crash() -> None:
    cut = Spell(n=0, fault="crash.cut", at_s=0.0, size=25.0)
    outcome = live(plain("virtual", cut, bus="sqlite", wall_s=20_000.0))
    assert outcome.findings == []
    assert outcome.lives == 2


@pytest.mark.parametrize(
    ("name", "size", "kind"),
    [("silent", 1.0, "RULING"), ("slow", 40.0, "RULING"), ("any", 1.0, "AUDIT"), ("dies", 1.0, "RULING")],
)
def test_a_spell_of_bots_strikes_and_the_officers_see_to_it(name: str, size: float, kind: str) -> None:
    spell = Spell(
        n=0, fault=f"bots.{name}", at_s=0.0, for_s=30_000.0, size=size, seats=("explorer", "critic")
    )
    struck, sound = live(plain("virtual", spell)), live(plain("virtual"))
    assert struck.findings == sound.findings == []
    assert struck.happened[f"bots.{name}"] > 0

    def said(outcome: Any) -> int:
        return sum(env.body.type == kind for env in outcome.log)

    assert said(struck) > said(sound)


@pytest.mark.rule("K6")
@pytest.mark.parametrize(
    ("clock", "speed", "fault", "at_s", "size"),
    [
        ("real", 1.0, "set", 3_000.0, 7_200.0),
        ("real", 1.0, "suspend", 3_000.0, 20_000.0),
        ("real", 1.0, "stall", 3_000.0, 30.0),
        ("accelerated", 600.0, "stall", 9.0, 20.0),
        ("accelerated", 120.0, "stall", 40.0, 60.0),
    ],
)
def test_k6_a_stall_is_nobodys_silence(
    clock: str, speed: float, fault: str, at_s: float, size: float
) -> None:
    spell = Spell(n=0, fault=f"time.{fault}", at_s=at_s, size=size)
    outcome = live(plain(clock, spell, speed=speed, wall_s=at_s + size + 20_000.0 / speed))
    assert outcome.findings == []
    assert outcome.happened[f"time.{fault}"] == 1
    # In accelerated time nobody notices; in real time the log says what was lost, and verify points it out.
    assert len([line for line in outcome.warnings if "nobody could do anything" in line]) == (clock == "real")


def test_a_lost_message_that_was_acknowledged_is_found() -> None:
    from moot.chaos.judge import judge

    log = live(plain("virtual", wall_s=8_000.0)).log
    acked = {env.id: env.seq for env in log}
    assert judge(log, acked, evidence=False)[0] == []
    (found,) = judge(log[:-1], acked, evidence=False)[0]
    assert (found.name, found.seq) == ("acknowledged", len(log))


def test_what_nobody_ruled_on_in_the_calm_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    day = 86_400.0
    spell = Spell(n=0, fault="bots.silent", at_s=0.0, for_s=2 * day)
    plan = plain("virtual", spell, wall_s=1.3 * day, calm_s=0.2 * day, systems=("A",), cycle_h=12)
    assert live(plan).findings == []
    due = Host.due
    monkeypatch.setattr(Host, "due", lambda *given: [d for d in due(*given) if d.body.type != "RULING"])
    assert "liveness" in {one.name for one in live(plan).findings}


def test_a_halted_symbol_is_not_traded_and_a_split_shows_in_its_price() -> None:
    start = datetime(2026, 2, 23, tzinfo=UTC)
    sound = Market(load_universe("sample", start=start, seed=1), 1)
    instant, symbol = datetime(2026, 2, 24, 15, 0, tzinfo=UTC), sound.symbols[0]
    assert sound.is_open(symbol, instant)
    at_s = (instant - start).total_seconds()

    def struck(name: str, size: float = 1.0) -> StruckMarket:
        spell = Spell(n=0, fault=f"market.{name}", at_s=0.0, for_s=at_s + 60.0, size=size)
        plan = draw(1).model_copy(update={"start": start, "spells": (spell,), "speed": 1.0})
        return StruckMarket(sound, MarketSpells(plan, Striking(plan.seed, plan.spells, lambda: 0.0)))

    assert not struck("halted").is_open(symbol, instant)
    assert struck("gap").price(symbol, instant) is None
    assert struck("gap").tail(symbol, instant, 20) is None
    assert struck("thin", 3.0).liquidity(symbol, instant) == 3.0
    price = sound.price(symbol, instant)
    assert price is not None
    assert struck("slump", 0.5).price(symbol, instant) == pytest.approx(price / 2, abs=1e-4)
    assert struck("split", 0.5).price(symbol, instant) == pytest.approx(price / 2, abs=1e-4)
    later = instant + timedelta(minutes=2)
    assert struck("gap").price(symbol, later) == sound.price(symbol, later)


def told(broker: Broker, ticket: Ticket) -> list[Answer]:
    """Return what a broker says of an order until it is over, asked as the Trader asks."""
    found: list[Answer] = []
    while not found or found[-1].status == "partial":
        answer = broker.answer(
            ticket, broker.ends_at(ticket, filled := sum(a.quantity for a in found)), filled
        )
        assert answer is not None
        found.append(answer)
    return found


def test_a_broker_rejects_is_late_fills_a_part_or_never_answers() -> None:
    start = datetime(2026, 2, 23, tzinfo=UTC)
    market = Market(load_universe("sample", start=start, seed=1), 1)
    paper = Broker(market)
    placed_at = datetime(2026, 2, 24, 15, 0, tzinfo=UTC)
    ticket = Ticket("ord_1", market.symbols[0], "BUY", 8, placed_at)

    def struck(name: str, size: float = 1.0) -> StruckBroker:
        spell = Spell(n=0, fault=f"market.{name}", at_s=0.0, for_s=10 * 86_400.0, size=size)
        plan = draw(1).model_copy(update={"start": start, "spells": (spell,), "speed": 1.0})
        return StruckBroker(paper, MarketSpells(plan, Striking(plan.seed, plan.spells, lambda: 0.0)))

    assert [one.status for one in told(struck("rejects"), ticket)] == ["rejected"]
    assert told(struck("late", 900.0), ticket) == told(paper, ticket)
    assert struck("late", 900.0).ends_at(ticket) == paper.ends_at(ticket) + timedelta(seconds=900)
    partly = told(struck("partly", 4.0), ticket)
    assert (partly[-1].status, sum(one.quantity for one in partly)) == ("cancelled", 2)
    assert sum(one.quantity for one in told(paper, ticket)) == 8
    assert struck("never").answer(ticket, placed_at + timedelta(days=1)) is None


@pytest.mark.parametrize("fault", KINDS)
def test_a_week_that_names_a_seldom_day_lives_through_it(fault: str) -> None:
    plans = (draw(seed, classes=("time",)) for seed in range(100))
    plan = next(plan for plan in plans if fault in {spell.fault for spell in plan.spells[:1]})
    assert is_lived(fault, plan.start, plan.start + timedelta(seconds=plan.wall_s * plan.speed))
    later = instants(fault)[0] + timedelta(days=1)
    assert not is_lived(fault, later, later + timedelta(days=2))
    # A society in which only the days around it are lived counts it, and nothing is found.
    spell = Spell(n=0, fault=fault, at_s=3_600.0)
    day = instants(fault)[0] + timedelta(hours=2 if fault == "time.holiday" else -1)
    lived = live(plain("virtual", spell, start=day, wall_s=8_000.0))
    assert (lived.findings, lived.happened[fault]) == ([], 1)
    assert live(plain("virtual", spell, start=day + timedelta(days=2), wall_s=8_000.0)).happened[fault] == 0


def test_a_reply_that_nobody_waits_for_any_more_is_dropped_without_a_complaint(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pending: Future[str] = Future()
    bodies: Any = SimpleNamespace(put=lambda *_, **__: pending)
    models: Any = {"tiny": SimpleNamespace(reader=lambda _: lambda *_: ModelAnswer(outcome="answered"))}
    errand: Any = SimpleNamespace(
        call_id="c", model="tiny", request=SimpleNamespace(form=None), left_s=None, body=b""
    )
    sent = ScriptedModels(models, bodies, Striking(1, (), lambda: 0.0)).send(errand)
    sent.cancel()
    pending.set_result("0" * 64)
    assert (sent.cancelled(), caplog.records) == (True, [])


def test_a_model_that_says_when_to_come_again_is_waited_for() -> None:
    def lived(name: str, size: float) -> list[tuple[int, str]]:
        spell = Spell(n=0, fault=f"models.{name}", at_s=0.0, for_s=30_000.0, rate=0.5, size=size)
        outcome = live(plain("virtual", spell, models=("critic", "explorer"), systems=("A",)))
        assert outcome.findings == []
        settled = [env.body.model_dump() for env in outcome.log if env.body.type == "CALL_SETTLED"]
        return [(one["latency_ms"], one["outcome"]) for one in settled]

    told, untold = lived("rate_told", 20.0), lived("rate", 1.0)
    refused = "provider_error"
    assert any(ms > 20_000 for ms, outcome in told if outcome != refused)
    assert all(ms < 20_000 for ms, outcome in untold if outcome != refused)
    # What is longer than a call may take is not waited for.
    assert refused in {outcome for _, outcome in lived("rate_told", 100.0)}


def test_a_model_whose_price_nobody_knows_is_held_to_tokens() -> None:
    spell = Spell(n=0, fault="models.no_price", at_s=0.0)
    outcome = live(plain("virtual", spell, models=("critic", "explorer"), systems=("A",), budget_usd=0.5))
    assert (outcome.findings, outcome.happened["models.no_price"]) == ([], 1)
    kinds = Counter(env.body.type for env in outcome.log)
    assert kinds["CALL_RESERVED"] == kinds["CALL_SETTLED"] > 0


@pytest.mark.parametrize("kind", ["bots", "people"])
def test_others_cut_in_as_somebody_has_just_been_asked(kind: str) -> None:
    spell = Spell(n=0, fault=f"{kind}.interrupt", at_s=0.0, for_s=30_000.0)
    outcome = live(plain("virtual", spell, temper="torn"))
    assert outcome.findings == []
    said = Counter(env.body.type for env in outcome.log if f"between/{kind}/" in env.id)
    assert said.total() > 5
    assert kind != "people" or said["OVERRIDE"] > 0 < said["STOP"]


def test_a_spell_that_is_aimed_at_a_duty_strikes_there_alone() -> None:
    spell = Spell(n=0, fault="bots.silent", at_s=0.0, for_s=40_000.0, duties=("debate/assessment-2", "trade"))
    outcome = live(plain("virtual", spell, systems=("A",), wall_s=40_000.0))
    assert outcome.findings == []
    rows = outcome.rows
    assert (
        rows["debate | assessing_1 | RISK_ASSESSMENT"]
        > 0
        == rows["debate | assessing_1 | assessment-1 missed"]
    )
    assert (
        rows["debate | assessing_2 | assessment-2 missed"]
        > 0
        == rows["debate | assessing_2 | RISK_ASSESSMENT"]
    )


def test_what_is_aimed_at_a_duty_is_forgotten_however_often_it_was_asked_for() -> None:
    spell = Spell(n=0, fault="bots.forgets", at_s=0.0, for_s=230_000.0, duties=("cycle/report",))
    outcome = live(plain("virtual", spell, systems=("A",), temper="cheap", wall_s=230_000.0))
    assert outcome.findings == []
    assert outcome.rows["cycle | reporting | report missed"] > SELDOM


def test_5_2_a_bot_that_speaks_as_a_run_is_approved_is_told_that_nothing_leaves_it() -> None:
    spell = Spell(n=0, fault="bots.interrupt", at_s=0.0, for_s=30_000.0, duties=("run/final/approved",))
    deeds = tuple(Deed(at_s=600.0 * n, kind="task", n=n) for n in range(30))
    outcome = live(plain("virtual", spell, systems=("A",), deeds=deeds))
    assert outcome.findings == []
    assert outcome.rows["run | TERMINATED_APPROVED | any other message unowed"] > 0


def test_what_a_bot_forgets_it_says_half_of_the_times_after_its_silence_was_ruled_on() -> None:
    spell = Spell(n=0, fault="bots.forgets", at_s=0.0, for_s=90_000.0, size=600.0, seats=("critic",))
    outcome = live(plain("virtual", spell, systems=("A",), wall_s=90_000.0, cycle_h=4))
    assert outcome.findings == []
    ruled = [env.body for env in outcome.log if env.body.type == "RULING"]
    forgotten = [body for body in ruled if str(body.obligation_id).endswith("/critic")]
    later = [env for env in outcome.log if env.id.startswith("late/")]
    assert len(forgotten) > len(later) > 0
    assert {env.obligation_id for env in later} == {None}


def test_an_admin_who_is_prompt_chooses_an_option_within_minutes() -> None:
    silent = Spell(n=0, fault="bots.silent", at_s=0.0, for_s=90_000.0, seats=("explorer",))
    prompt = Spell(n=1, fault="people.prompt", at_s=0.0, for_s=90_000.0)
    outcome = live(plain("virtual", silent, prompt, systems=("A",), wall_s=40_000.0))
    assert outcome.findings == []
    asked = {env.case_id: env for env in outcome.log if env.body.type == "ESCALATION"}
    told = [env for env in outcome.log if env.body.type == "ESCALATION_ANSWER"]
    assert told
    assert all(env.body.option for env in told)
    assert all(env.sent_at - asked[env.case_id].sent_at < timedelta(minutes=11) for env in told)


def test_a_page_that_holds_an_escalation_open_is_counted() -> None:
    silent = Spell(n=0, fault="bots.silent", at_s=0.0, for_s=120.0, seats=("explorer",))
    pages = [Spell(n=n, fault="time.page", at_s=40.0 + n) for n in range(1, 20)]
    outcome = live(plain("accelerated", silent, *pages, speed=600.0, wall_s=120.0, systems=("A",)))
    assert outcome.findings == []
    assert any(env.body.type == "ESCALATION" for env in outcome.log)
    assert 0 < outcome.happened["time.page"] <= len(pages)


async def nothing(_first: int, _last: int) -> AsyncIterator[Envelope]:
    """Read an empty log."""
    for env in ():
        yield env


def test_who_sees_an_order_under_way_may_halt_the_desk() -> None:
    async def said() -> Any:
        table = MoneyTable()
        signal = table.signal("BUY", 100)
        table.order(signal)
        bus = SimpleNamespace(head=SimpleNamespace(seq=0), read=nothing)
        host: Any = SimpleNamespace(
            docket=table.docket, rules=table.docket.rules, bus=bus, clock=VirtualClock(table.now)
        )
        drawn = [await interrupting.said(host, signal.case_id, Dice("alarm", n), (ADMIN,)) for n in range(40)]
        return Counter(one[1].body.type for one in drawn if one is not None)

    assert asyncio.run(said())["HALT"] > 10


def test_a_contrary_mind_decides_otherwise_than_it_came_to() -> None:
    spell = Spell(n=0, fault="bots.contrary", at_s=0.0, for_s=30_000.0)
    outcome = live(plain("virtual", spell, systems=("A",)))
    assert outcome.findings == []
    assert outcome.happened["bots.contrary"] > 5
    assert any(env.body.type == "VIOLATION" for env in outcome.log)


def test_minds_differ_in_what_they_come_to_and_when() -> None:
    def said(temper: str, kind: str) -> int:
        log = live(plain("virtual", temper=temper, systems=("A",), wall_s=60_000.0)).log
        return sum(env.body.type == kind for env in log)

    assert said("torn", "EXTEND_DEBATE") > said("cheap", "EXTEND_DEBATE")
    assert said("tardy", "TIMEOUT_PING") > 2 * said("cheap", "TIMEOUT_PING")
    assert said("dogged", "REVISE_REQUEST") > 2 * said("cheap", "REVISE_REQUEST")


def test_a_long_world_comes_to_something_before_it_goes_wrong() -> None:
    plans = [plan for plan in map(draw, range(200)) if plan.wall_s * plan.speed > 30 * 86_400]
    assert len(plans) > 5
    first = [min(spell.at_s for spell in plan.spells) / plan.calm_s for plan in plans if plan.spells]
    assert {share > 0.34 for share in first} == {True, False}
    assert {plan.systems for plan in plans} == {("A", "B")}


def test_a_ripe_world_is_long_and_aims_at_what_is_seldom_owed_once_it_has_come_about() -> None:
    plans = [plan for plan in map(draw, range(200)) if any(spell.duties for spell in plan.spells)]
    assert len(plans) > 5
    aimed = [(plan, spell) for plan in plans for spell in plan.spells if spell.duties]
    assert {duty for _, spell in aimed for duty in spell.duties} == {
        duty for duties in AIMED.values() for duty in duties if duty
    }
    assert all(plan.wall_s * plan.speed > 30 * 86_400 for plan in plans)
    assert all(spell.at_s > 0.34 * plan.calm_s and spell.ends_s <= plan.calm_s for plan, spell in aimed)


def test_what_the_disk_does_not_take_is_not_acknowledged_and_comes_later() -> None:
    spell = Spell(n=0, fault="store.error", at_s=0.0, for_s=30_000.0, rate=0.6)
    outcome = live(plain("virtual", spell))
    assert outcome.findings == []
    assert outcome.happened["store.error"] > 10
    assert sum(env.actor.kind == "bot" for env in outcome.log) > 20


@pytest.mark.rule("K17")
@pytest.mark.parametrize(("fault", "why"), [("error", "on purpose"), ("full", "disk I/O error")])
def test_k17_officers_wait_for_a_disk_that_takes_nothing(fault: str, why: str) -> None:
    spell = Spell(n=0, fault=f"store.{fault}", at_s=10.0, for_s=20.0)
    # What is printed goes to a file, too, and a full disk would not take it.
    with capture_logs():
        outcome = live(plain("accelerated", spell, bus="sqlite", speed=600.0, wall_s=60.0))
    assert outcome.findings == []
    assert outcome.happened[f"store.{fault}"] > 10
    outages = [env for env in outcome.log if getattr(env.body, "event", "") == "outage"]
    assert outages
    assert all(why in str(env.body) for env in outages)
    # Of its sixty seconds the society lived forty.
    lived = outcome.log[-1].sent_at - outcome.log[0].sent_at
    assert 30 * 600 < lived.total_seconds() < 50 * 600


def test_memory_that_is_torn_while_the_society_is_down_is_made_anew() -> None:
    spells = [
        Spell(n=n, fault=f"store.memory_{how}", at_s=9_000.0 * (n + 1))
        for n, how in enumerate(("torn", "lost"))
    ]
    outcome = live(plain("virtual", *spells, bus="sqlite", wall_s=25_000.0))
    assert outcome.findings == []
    assert (outcome.lives, outcome.happened["store.memory_torn"], outcome.happened["store.memory_lost"]) == (
        3,
        1,
        1,
    )


def test_what_people_post_may_come_late_and_twice_and_counts_once() -> None:
    spells = [
        Spell(n=n, fault=f"transport.{name}", at_s=0.0, for_s=30_000.0, size=900.0)
        for n, name in enumerate(("late", "twice"))
    ]
    deeds = tuple(Deed(at_s=1_000.0 * n, kind="motion", n=n) for n in range(1, 4))
    outcome = live(plain("virtual", *spells, deeds=deeds))
    assert outcome.findings == []
    assert outcome.happened["life.motion duplicate"] == 3
    assert sum(env.body.type == "MOTION" for env in outcome.log) == 3


@pytest.mark.parametrize("name", ["surface_limited", "surface_down", "surface_lost"])
def test_a_platform_that_fails_shows_each_message_once_and_in_order(name: str) -> None:
    spells = (
        Spell(n=0, fault=f"transport.{name}", at_s=1_000.0, for_s=7_000.0, rate=0.7, size=0.01),
        Spell(n=1, fault="crash.cut", at_s=0.0, size=12.0),
    )
    outcome = live(plain("virtual", *spells, bus="sqlite", wall_s=9_000.0))
    assert (outcome.findings, outcome.lives) == ([], 2)
    assert outcome.happened[f"transport.{name}"] > 0


def test_a_gateway_that_is_cut_off_shows_all_of_it_in_the_end_though_the_society_was_killed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuts: list[bool] = []
    cut_off = GatewayServer.cut_off

    def heard(server: GatewayServer, is_cut: bool) -> None:
        cuts.append(is_cut)
        cut_off(server, is_cut)

    monkeypatch.setattr(GatewayServer, "cut_off", heard)
    spells = (
        Spell(n=0, fault="transport.cut", at_s=1_000.0, for_s=5_000.0),
        Spell(n=1, fault="transport.cut", at_s=2_000.0, for_s=6_000.0),
        Spell(n=2, fault="crash.kill", at_s=4_000.0),
    )
    outcome = live(plain("virtual", *spells, bus="sqlite", wall_s=9_000.0))
    assert (outcome.findings, outcome.lives) == ([], 2)
    first, second = cuts[:2], cuts[2:]
    assert first == [True, True]
    assert second == [True, True, True, False, False], "one ends, then the other, and everybody is let in"


def test_what_a_platform_shows_twice_never_or_out_of_order_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    spell = Spell(n=0, fault="transport.surface_lost", at_s=0.0, for_s=9_000.0, rate=0.7)
    lost = plain("virtual", spell, bus="sqlite", wall_s=9_000.0)
    # A gateway that does not look up what may have arrived posts it again.
    with monkeypatch.context() as patched:
        patched.setattr(platform.Platform, "find", lambda *_: None)
        assert {one.name for one in live(lost).findings} == {"shown-once"}
    shown = platform.Platform(lost, Striking(1, (), lambda: 0.0))
    log = live(plain("virtual", wall_s=8_000.0)).log
    mirrors = public_but_own_notes(platform.NAME)
    for env in log:
        if mirrors(env):
            shown.shown[env.channel].append(env.seq)
    assert list(shown.wrong(log, len(log))) == []
    channel = max(shown.shown, key=lambda one: len(shown.shown[one]))
    whole = list(shown.shown[channel])
    shown.shown[channel] = whole[:-1]
    assert [one.seq for one in shown.wrong(log, len(log))] == whole[-1:]
    shown.shown[channel] = [*whole[1::-1], *whole[2:]]
    assert [one.seq for one in shown.wrong(log, len(log))] == [whole[1]]


@pytest.mark.parametrize(("name", "fault"), [("gone", NotebookUnavailable), ("hangs", NotebookTimeout)])
def test_a_notebook_is_gone_or_does_not_answer_for_a_while(name: str, fault: type[Exception]) -> None:
    passed_s = 0.0
    spell = Spell(n=0, fault=f"transport.notebook_{name}", at_s=0.0, for_s=10.0)
    notebook = StruckNotebook(None, Striking(1, (spell,), lambda: passed_s))
    with pytest.raises(fault):
        asyncio.run(notebook.query("costs"))
    passed_s = 20.0
    assert asyncio.run(notebook.query("costs"))


@pytest.mark.parametrize("name", ["invalid_json", "refused", "hangs", "server", "no_usage", "tool_loop"])
def test_a_model_that_misbehaves_is_settled_and_its_seat_goes_on(name: str) -> None:
    spell = Spell(n=0, fault=f"models.{name}", at_s=0.0, for_s=30_000.0)
    outcome = live(plain("virtual", spell, models=("critic", "explorer"), systems=("A",), budget_usd=0.5))
    assert outcome.findings == []
    assert outcome.happened[f"models.{name}"] > 0
    kinds = Counter(env.body.type for env in outcome.log)
    assert kinds["CALL_RESERVED"] == kinds["CALL_SETTLED"] > 0


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("hangs", "timed_out"),
        ("rate_told", "answered"),
        ("no_reply", "unknown"),
        ("drip", "answered"),
    ],
)
def test_a_world_on_files_calls_its_models_over_real_http(name: str, outcome: str) -> None:
    spell = Spell(n=0, fault=f"models.{name}", at_s=0.0, for_s=30_000.0, size=20.0)
    world = plain("virtual", spell, models=("critic",), systems=("A",), bus="sqlite", wall_s=6_000.0)
    found = live(world)
    assert found.findings == []
    assert found.happened[f"models.{name}"] > 0
    assert outcome in {env.body.outcome for env in found.log if env.body.type == "CALL_SETTLED"}
    (model,) = found.log[0].body.config["models"].values()
    assert model["probe"]["calls"] > 0
