"""The feed: chat lines as they come, and a status line that says how things stand."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from moot import feed as feed_module
from moot.channels.showing.rendering import Speakers
from moot.clock import PacedClock, VirtualClock
from moot.config.settings import load_settings
from moot.feed import MOST_HELD, RECAP, Feed, is_quiet, status
from moot.plan import Plan
from moot.protocols.arena.messages import ArenaDraft
from moot.protocols.arena.seats import PLANNER, REVIEWER
from moot.protocols.codec import decode_body
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.minds import Minds
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import EXPLORER
from moot.protocols.trading.messages import Halt
from moot.protocols.trading.seats import OPERATOR
from moot.society import Society
from tests.doubles.copying import replace
from tests.doubles.desk_samples import DESK_BODIES
from tests.doubles.small_log import SmallLog
from tests.doubles.table import START
from tests.doubles.waiting import until

SILENT = {"explorer": "silent", "critic": "silent", "evolver": "silent"}


def console(*, is_terminal: bool, width: int = 120, env: dict[str, str] | None = None) -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=is_terminal,
        width=width,
        highlight=False,
        emoji=False,
        _environ={"TERM": "xterm", **(env or {})},
    )


def written(on: Console) -> str:
    return on.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def live(script: Callable[[Society, Any], Awaitable[None]], clock: Any = None, **settings: Any) -> None:
    async def main(running: Any) -> None:
        plan = Plan(settings=load_settings(minds=SILENT, **settings), seed=1, start=START)
        async with await Society.open(plan, running) as society:
            await script(society, running)

    (clock or VirtualClock(START)).run(main)


def note(text: str = "hear me") -> Draft:
    body = Note(text=text)
    actor = Actor("human", "test", "ann")
    return Draft(channel="#a-arena", author=ADMIN, body=body, actor=actor, key=text)


def test_the_status_line_says_time_cycle_who_owes_what_until_when_and_escalations() -> None:
    said: list[str] = []

    async def script(society: Society, clock: VirtualClock) -> None:
        await clock.sleep(timedelta(minutes=4))
        said.append(status(society, 200).plain)
        due = society.host.docket.owed_by(EXPLORER)[0].due_at
        await clock.sleep_until(due + timedelta(seconds=62))
        said.append(status(society, 200).plain)
        while not society.host.docket.context.running.get("escalation"):
            await clock.sleep(timedelta(minutes=10))
        said.append(status(society, 200).plain)
        await clock.sleep(timedelta(hours=5))
        said.append(status(society, 200).plain)

    live(script)
    early, late, waiting, conservative = said
    assert early.startswith(" Mon 23 Feb 10:04 UTC  infx | cycle ")
    assert "| cycle " in early and "explorer owes the hypothesis " in early
    assert "explorer owes the hypothesis -1:02" in late
    assert "| 1 escalation open" in waiting and "conservative" not in waiting
    assert "| conservative " in conservative


def test_in_a_pipe_the_address_stands_above_the_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "MOST_WAIT_S", 1e6)
    on = console(is_terminal=False)

    async def script(society: Society, clock: Any) -> None:
        feed = Feed(on)
        feed.hold()
        feed.attach(society)
        await society.host.publish(note("said before the page was there"))
        assert written(on) == ""
        feed.open_at("http://127.0.0.1:8420/?token=x")
        await society.host.publish(note("said after it"))
        feed.close()

    live(script, PacedClock(START, 3600.0))
    first, *rest = written(on).splitlines()
    assert first == "open http://127.0.0.1:8420/?token=x"
    told = "\n".join(rest)
    assert 0 <= told.find("said before") < told.find("said after")


@pytest.mark.parametrize("ends", ["many", "late", "closed"])
def test_a_gateway_that_says_nothing_is_not_waited_for(ends: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "MOST_WAIT_S", 1e-6 if ends == "late" else 1e6)
    on = console(is_terminal=False)

    async def script(society: Society, clock: Any) -> None:
        feed = Feed(on)
        feed.hold()
        feed.attach(society)
        await society.host.publish(note())
        if ends == "many":
            for n in range(MOST_HELD):
                await society.host.publish(note(f"{n}"))
        elif ends == "late":
            await clock.sleep(timedelta(seconds=10))
        else:
            feed.close()
        assert "hear me" in written(on)

    live(script, PacedClock(START, 100_000.0))


def test_between_cycles_the_status_line_says_so() -> None:
    async def script(society: Society, clock: VirtualClock) -> None:
        await clock.sleep(timedelta(minutes=1))
        assert "| between cycles" in status(society).plain

    live(script, schedules={"daily": {"cron": "0 22 * * *"}})


def test_a_halted_desk_and_nothing_that_is_owed_later_stand_in_the_status_line() -> None:
    async def script(society: Society, clock: VirtualClock) -> None:
        assert "desk halted" not in status(society, 200).plain
        halt = Halt(reason="enough for today", by="admin")
        actor = Actor("human", "test", "ann")
        await society.host.publish(Draft(channel="#b-risk", author=ADMIN, body=halt, actor=actor, key="halt"))
        assert "| desk halted" in status(society, 200).plain
        await clock.sleep(timedelta(minutes=4))
        (owed,) = society.host.docket.owed_by(EXPLORER)
        assert "explorer owes" in status(society, 200).plain
        later = replace(owed, opened_at=clock.now() + timedelta(minutes=5))
        society.host.docket.open[owed.id] = later
        assert "explorer owes" not in status(society, 200).plain
        society.host.docket.open[owed.id] = owed

    live(script)


@pytest.mark.parametrize("width", [20, 40, 79, 200])
def test_the_status_line_keeps_to_one_line_of_the_terminal(width: int) -> None:
    async def script(society: Society, clock: VirtualClock) -> None:
        await clock.sleep(timedelta(hours=9))
        line = status(society, width)
        assert line.cell_len <= max(20, width - 1)
        assert "\n" not in line.plain

    live(script)


def test_a_terminal_gets_chat_lines_and_a_status_line_that_goes_away_at_the_end() -> None:
    on = console(is_terminal=True)

    async def script(society: Society, clock: VirtualClock) -> None:
        feed = Feed(on)
        feed.attach(society)
        await society.host.publish(note())
        await clock.sleep(timedelta(seconds=1))
        assert "UTC" in written(on)
        feed.close()
        shown = written(on)
        await society.host.publish(note("and me"))
        assert "UTC" not in written(on)[len(shown) :]

    live(script)
    assert "hear me" in written(on) and "and me" in written(on)
    assert "\x1b[3" in written(on) or "\x1b[1" in written(on), "coloured"


def test_no_color_is_kept_to() -> None:
    on = console(is_terminal=True, env={"NO_COLOR": "1"})

    async def script(society: Society, clock: VirtualClock) -> None:
        feed = Feed(on)
        feed.attach(society)
        await society.host.publish(note())
        await clock.sleep(timedelta(seconds=1))
        feed.close()

    live(script)
    for colour in range(30, 38):
        assert f"\x1b[{colour}m" not in written(on) and f";{colour}m" not in written(on)


def test_what_is_no_terminal_gets_one_plain_line_a_message_and_no_status() -> None:
    on = console(is_terminal=False)

    async def script(society: Society, clock: VirtualClock) -> None:
        feed = Feed(on)
        feed.recap([e async for e in society.bus.read(1, 1)], "before")
        feed.attach(society)
        await society.host.publish(note("a long story " * 30))
        await clock.sleep(timedelta(minutes=1))
        feed.close()

    live(script)
    text = written(on)
    assert "\x1b" not in text and "UTC" not in text and "owes" not in text
    assert sum("a long story" in line for line in text.splitlines()) == 1


@pytest.mark.rule("K8")
def test_k8_the_status_line_keeps_ticking_when_the_clock_slows_down() -> None:
    """A tick that was set at 3600x must not be waited for at 1x."""
    on = console(is_terminal=True)

    async def script(society: Society, clock: PacedClock) -> None:
        feed = Feed(on)
        feed.attach(society)
        await asyncio.sleep(1)
        await society.set_clock(speed=1.0, reason="waiting for a person")
        await asyncio.sleep(0.1)
        before = written(on).count("UTC")
        await until(lambda: written(on).count("UTC") > before, within_s=5)
        feed.close()

    live(script, PacedClock(START, 3600.0), schedules={"daily": {"cron": "0 22 * * *"}})


def desk(kind: str, **over: Any) -> Any:
    body = decode_body(json.dumps({"type": kind, **DESK_BODIES[kind], **over}))
    return SmallLog().append(body, author=OPERATOR)


@pytest.mark.parametrize(
    ("kind", "over"),
    [
        ("RISK_CHECK", {}),
        ("DESK_CHECK", {"signals": 0, "faults": []}),
        ("CHECK_NEW_STRATEGIES", {"found": []}),
        ("HEALTH_CHECK", {}),
    ],
)
def test_a_check_that_finds_nothing_is_not_shown_unless_all_is_asked_for(
    kind: str, over: dict[str, Any]
) -> None:
    quiet, on, everything = desk(kind, **over), console(is_terminal=False), console(is_terminal=False)
    assert is_quiet(quiet)
    Feed(on).recap([quiet], "before")
    Feed(everything, shows_all=True).recap([quiet], "before")
    assert "Operator" not in written(on) and "Operator" in written(everything)


@pytest.mark.parametrize(
    ("kind", "over"),
    [
        ("RISK_CHECK", {"daily_pnl_pct": -0.03}),
        ("RISK_CHECK", {"drawdowns": {"strat_1": -0.1}}),
        ("RISK_CHECK", {"var95": 0.03}),
        ("RISK_CHECK", {"largest_position": 0.08}),
        ("DESK_CHECK", {"signals": 1, "faults": []}),
        ("DESK_CHECK", {"signals": 0}),
        ("CHECK_NEW_STRATEGIES", {}),
        ("HEALTH_CHECK", {"status": "DEGRADED"}),
        ("RISK_ALERT", {}),
        ("MARKET_CLOSE", {}),
        ("METRICS_RECORDED", {}),
    ],
)
def test_what_a_check_finds_is_shown(kind: str, over: dict[str, Any]) -> None:
    assert not is_quiet(desk(kind, **over))


def test_quiet_checks_do_not_push_what_was_said_out_of_the_recap() -> None:
    on = console(is_terminal=False)
    log = SmallLog()
    said = [log.append(Note(text=f"word {n}"), author=ADMIN) for n in range(RECAP + 1)]
    Feed(on).recap([*said, *(desk("RISK_CHECK") for _ in range(200))], "before")
    assert "word 1\n" in written(on) and f"word {RECAP}\n" in written(on) and "word 0\n" not in written(on)


def test_on_a_terminal_a_recap_gives_each_message_one_line() -> None:
    on = console(is_terminal=True)
    log = SmallLog()
    said = [log.append(Note(text=f"word {n} " + "and another " * 40), author=ADMIN) for n in range(RECAP)]
    Feed(on).recap(said, "before")
    lines = written(on).splitlines()[1:-1]
    assert len(lines) == RECAP
    assert all(f"word {n} " in told and "…" in told for n, told in enumerate(lines))


def test_a_recap_knows_who_spoke_from_what_lies_before_it() -> None:
    on, minds = console(is_terminal=False), Minds()
    minds.put(1, {"planner": {"module": "mine:Planner"}})
    log = SmallLog()
    log.say("the first message starts the society", author=ADMIN)
    drafts = [
        log.append(ArenaDraft(run_id="arena_1", text="Hold."), author=seat) for seat in (PLANNER, REVIEWER)
    ]
    Feed(on).recap(drafts, "before", Speakers({}, minds))
    said = [line for line in written(on).splitlines() if "drafts" in line]
    assert ["no model" in line for line in said] == [False, True]
