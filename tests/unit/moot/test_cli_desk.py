"""`moot positions`, `strategies`, `halt`, `resume`, and the desk in `moot status`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from moot.channels.bus import Receipt
from moot.channels.errors import Refused
from moot.cli.act import acts
from moot.cli.place import login_name
from moot.clock import RealClock
from moot.config.settings import load_settings
from moot.desk import Market, day_told, market
from moot.door import Door
from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.seats import ADMIN, VIEWER
from moot.protocols.trading.messages import Halt, Resume, ResumeConfirmed, TradingDay
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.reception import Reception
from tests.doubles import bodies
from tests.doubles.command_line import complaint, data, done, moot, wide
from tests.doubles.copying import replace
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.live_society import LiveSociety
from tests.doubles.money_table import MoneyTable
from tests.doubles.stage import Stage, play
from tests.doubles.table import Table

ME = login_name()
GUARDIAN, OPERATOR = GUARDIAN_SEAT, OPERATOR_SEAT


@pytest.fixture(autouse=True)
def _short_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "VIOLATION_S", 0.5)


class Days(Fold):
    """Owes every TRADING_DAY that is said: the tables' sessions are opened by hand."""

    name = "days"
    types = frozenset()

    def ring(self, now: datetime, docket: Docket) -> tuple[Draft, ...]:
        return ()

    def owed(self, env: Envelope, docket: Docket) -> Draft | None:
        if not isinstance(env.body, TradingDay):
            return None
        return Draft(channel=env.channel, author=env.author, actor=env.actor, body=env.body, key=env.id)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> MoneyTable:
    """A desk that bought 100 AAA at 100 for strat_1, which is marked 110 since; strat_2 is a candidate."""
    found = MoneyTable()
    # Its sessions are simpler than those of the rulebook; whoever folds its log must know them.
    rules = replace(found.rules, new_folds=lambda: (*found.folds(), Days()))
    for module in ("moot.protocols.rulebook", "tests.doubles.live_society"):
        monkeypatch.setattr(f"{module}.rules", lambda *_: rules)
    found.trade("BUY", 100, 100.0, fee=2.0)
    found.put("strat_2", to="candidates")
    found.check(AAA=110.0)
    return found


def log_of(table: MoneyTable, tmp_path: Path) -> Path:
    return write_log(tmp_path / "data", table.log)


def last(place: Path, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done("log", place, "--type", kind, "--json").splitlines()[-1])
    return found


# ---------------------------------------------------------------- positions


def test_positions_are_the_books(table: MoneyTable, tmp_path: Path) -> None:
    found = data("positions", log_of(table, tmp_path))

    assert found["positions"] == [
        {
            "strategy_id": "strat_1",
            "symbol": "AAA",
            "quantity": 100,
            "average_cost": 100.0,
            "mark": 110.0,
            "value": 11000.0,
            "unrealised_usd": 1000.0,
        }
    ]
    assert found["totals"] == {"value": 11000.0, "unrealised_usd": 1000.0}
    assert (found["capital"], found["cash"], found["equity"]) == (1_000_000.0, 989_998.0, 1_000_998.0)
    assert (found["pnl_usd"], found["pnl_pct"], found["total_pnl_usd"]) == (998.0, 0.000998, 998.0)
    assert (found["exposure"], found["largest_symbol"]) == (0.010989, "AAA")
    assert (found["trades_today"], found["risk_status"], found["halted"]) == (1, "NORMAL", None)
    assert found["market"] == {"is_open": True, "until": "2026-02-23T16:00:00.000000Z"}
    assert found["at"] == "2026-02-23T10:01:00.000000Z"


def test_positions_read_like_this(table: MoneyTable, tmp_path: Path) -> None:
    place = log_of(table, tmp_path)

    assert wide("positions", place) == (
        f"{place}  exchange open until 16:00 UTC\n"
        "equity    1,000,998.00  +998.00 (+0.10 %) in all\n"
        "cash        989,998.00\n"
        "day            +998.00  +0.10 % since the desk day began\n"
        "exposure        1.10 %  of at most 80.00 %, AAA 1.10 %\n"
        "trades               1  of at most 50 today\n"
        "\n"
        "strategy  symbol  shares    cost    mark      value        P&L\n"
        "strat_1   AAA        100  100.00  110.00  11,000.00  +1,000.00\n"
        "total                                     11,000.00  +1,000.00\n"
    )


def test_a_position_that_was_sold_short_is_worth_less_than_nothing(table: MoneyTable, tmp_path: Path) -> None:
    table.trade("SELL", 40, 50.0, symbol="BBB")
    table.check(AAA=110.0, BBB=49.0)

    short = data("positions", log_of(table, tmp_path))["positions"][1]

    assert (short["quantity"], short["average_cost"]) == (-40, 50.0)
    assert (short["value"], short["unrealised_usd"]) == (-1960.0, 40.0)


def test_a_desk_without_positions_says_so(tmp_path: Path) -> None:
    place = write_log(tmp_path / "data", a_debate().log)

    assert done("positions", place).endswith("the desk holds nothing\n")
    assert data("positions", place)["positions"] == []
    assert data("positions", place)["market"] == {"is_open": False, "until": None}


def test_a_halt_is_told_with_since_when_by_whom_and_why(table: MoneyTable, tmp_path: Path) -> None:
    table.wait(minutes=4)
    env = table.halt()
    place = log_of(table, tmp_path)

    found = data("positions", place)["halted"]
    assert found == {
        "halt_id": env.case_id,
        "seq": env.seq,
        "since": "2026-02-23T10:05:00.000000Z",
        "by": "guardian",
        "why": "too risky",
        "reasons": [{"seq": env.seq, "by": "guardian", "why": "too risky"}],
        "phase": "halted",
    }
    line = f"halted since 2026-02-23 10:05 UTC by guardian ({env.case_id}): too risky\n"
    assert line in wide("positions", place)
    assert line in wide("status", place)


def test_a_halt_by_an_alert_is_told_too_and_a_lifted_one_is_not(table: MoneyTable, tmp_path: Path) -> None:
    alert = table.alert("HALT")
    assert data("positions", log_of(table, tmp_path))["halted"]["why"] == "the day is down"

    table.tell(OPERATOR, Resume(reason="calm"), alert.case_id)
    asked = write_log(tmp_path / "asked", table.log)
    assert "a resume waits to be confirmed" in done("positions", asked)

    table.tell(GUARDIAN, ResumeConfirmed(checks=("flat",)), alert.case_id)
    assert data("positions", write_log(tmp_path / "lifted", table.log))["halted"] is None


# ---------------------------------------------------------------- the exchange's hours

OPENS = datetime(2026, 2, 23, 14, 30, tzinfo=UTC)
DAY = TradingDay(
    session_id="session_20260223",
    date="2026-02-23",
    nominal_at=OPENS - timedelta(minutes=15),
    opens_at=OPENS,
    closes_at=OPENS + timedelta(hours=6.5),
    ends_at=OPENS + timedelta(days=1, minutes=-15),
    is_early_close=False,
)


@pytest.mark.rule("R-D18")
@pytest.mark.parametrize(
    ("after_open", "said"),
    [
        (timedelta(minutes=-15), Market(False, OPENS)),
        (timedelta(0), Market(True, OPENS + timedelta(hours=6.5))),
        (timedelta(hours=6.5), Market(False, OPENS + timedelta(days=1))),
        (timedelta(hours=23.9), Market(False, OPENS + timedelta(days=1))),
        (timedelta(days=2), Market(False, None)),
    ],
)
def test_r_d18_the_exchange_is_open_as_the_desk_day_says(after_open: timedelta, said: Market) -> None:
    assert market(DAY, OPENS + after_open) == said


def test_without_a_desk_day_nobody_knows_the_hours() -> None:
    assert market(None, OPENS) == market(DAY, None) == Market(False, None)


# ---------------------------------------------------------------- strategies


KIND = "momentum on AAA, BBB"


def test_strategies_are_those_of_their_life_with_why_they_moved(table: MoneyTable, tmp_path: Path) -> None:
    first, second = data("strategies", log_of(table, tmp_path))

    assert (first["strategy_id"], first["stage"], first["is_deployed"]) == ("strat_1", "production", True)
    assert (second["strategy_id"], second["stage"], second["is_deployed"]) == ("strat_2", "candidates", False)
    assert (first["pnl_usd"], first["trades"], first["position_limit"]) == (998.0, 1, 0.05)
    assert (first["sharpe"], first["symbols"]) == (None, ["AAA", "BBB"])
    assert (first["moved"]["from"], first["moved"]["to"]) == ("staging", "production")
    assert (second["moved"]["from"], second["moved"]["by"]) == (None, "admin")


def test_strategies_read_like_this(table: MoneyTable, tmp_path: Path) -> None:
    table.close_day(AAA=110.0)
    reason = bodies.moved("x").reason

    assert wide("strategies", log_of(table, tmp_path)) == (
        "strategy  stage       deployed  days             Sharpe      P&L  from peak   limit  "
        "trades, and why it moved last\n"
        "strat_1   production  yes          1  too few (1 of 20)  +998.00     0.00 %  5.00 %  "
        f"{KIND}; 2026-02-23 10:00: {reason}\n"
        "strat_2   candidates  no                                                             "
        f"{KIND}; 2026-02-23 10:01: {reason}\n"
    )


@pytest.mark.parametrize("columns", ["60", "80", "100"])
def test_strategies_keep_ids_and_money_whole_at_any_width(
    table: MoneyTable, tmp_path: Path, columns: str
) -> None:
    table.close_day(AAA=110.0)
    name = "strat_20260224_1207"
    table.put(name, to="candidates")
    reason = bodies.moved("x").reason

    lines = done("strategies", log_of(table, tmp_path), COLUMNS=columns).splitlines()

    assert any(name in line for line in lines)
    assert any("strat_1" in line and "+998.00" in line for line in lines)
    assert sum(line.endswith(f": {reason}") for line in lines) == 3
    assert "…" not in "".join(lines)
    assert all(len(line) <= int(columns) for line in lines)


def test_a_narrow_table_says_which_columns_it_left_out(table: MoneyTable, tmp_path: Path) -> None:
    table.put("strat_20260224_1207", to="candidates")
    place = log_of(table, tmp_path)

    assert done("strategies", place, COLUMNS="60").endswith(
        "left out at this width: limit, deployed, from peak, days\n"
    )
    assert "left out" not in done("strategies", place, COLUMNS="120")


def test_positions_keep_ids_and_money_whole_at_any_width(table: MoneyTable, tmp_path: Path) -> None:
    for number in (1, 2):
        name = f"strat_2026022{number}_1207"
        table.put(name, to="production")
        table.trade("BUY", 150, 100.0, strategy_id=name)
    place = log_of(table, tmp_path)

    wide = done("positions", place).splitlines()
    narrow = done("positions", place, COLUMNS="60").splitlines()

    for line in (line for line in wide if line.startswith("strat_2026")):
        name, *_, worth, pnl = line.split()
        assert any(name in row and worth in row and pnl in row for row in narrow)
    assert narrow[-1] == "left out at this width: cost, mark"


@pytest.mark.rule("R-D20")
def test_r_d20_a_move_that_breaks_a_rule_is_no_move(table: MoneyTable, tmp_path: Path) -> None:
    table.tell(OPERATOR, bodies.moved("strat_2", from_="production", to="withdrawn"))

    known = {one["strategy_id"]: one for one in data("strategies", log_of(table, tmp_path))}
    assert (known["strat_2"]["stage"], known["strat_2"]["moved"]["to"]) == ("candidates", "candidates")


def test_a_log_without_strategies_says_so(tmp_path: Path) -> None:
    place = write_log(tmp_path / "data", a_debate().log)

    assert done("strategies", place) == "the log names no strategy\n"
    assert data("strategies", place) == []


# ---------------------------------------------------------------- status


def test_status_names_the_desks_cases_and_a_line_of_the_desk(table: MoneyTable, tmp_path: Path) -> None:
    table.signal()
    table.alert("WARNING")
    place = log_of(table, tmp_path)

    text = wide("status", place)
    assert "open          1 session, 1 trade, 1 alert\n" in text
    assert (
        "desk          exchange open until 16:00 UTC, equity 1,000,998.00, +998.00 today (+0.10 %)\n" in text
    )
    found = data("status", place)["desk"]
    assert (found["equity"], found["halted"], found["market"]["is_open"]) == (1_000_998.0, None, True)


def test_what_a_friday_came_to_is_not_said_of_today_on_a_sunday() -> None:
    friday, sunday = datetime(2026, 2, 20, 22, tzinfo=UTC), datetime(2026, 2, 22, 12, tzinfo=UTC)
    assert day_told("2026-02-20", friday) == day_told(None, sunday) == "today"
    assert day_told("2026-02-20", friday + timedelta(hours=5)) == "today", "New York still has the 20th"
    assert day_told("2026-02-20", sunday) == "on Friday, 20 February"


def test_a_society_without_a_desk_day_has_no_line_of_it(tmp_path: Path) -> None:
    assert "exchange" not in done("status", write_log(tmp_path / "data", a_debate().log))


# ---------------------------------------------------------------- halt and resume


@pytest.fixture
def live(table: MoneyTable, tmp_path: Path) -> Iterator[LiveSociety]:
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        yield society


@pytest.mark.rule("R-B5")
def test_r_b5_an_admin_halts_and_resumes(live: LiveSociety, table: MoneyTable) -> None:
    place = live.directory
    assert done("halt", place, "--why", "prices look wrong").startswith("the desk is halted: message ")

    message = last(place, "HALT")
    assert (message["channel"], message["author"]) == ("#b-risk", "admin")
    assert (message["body"]["reason"], message["body"]["by"]) == ("prices look wrong", ME)
    halt_id = message["body"]["halt_id"]
    assert data("positions", place)["halted"]["by"] == ME

    assert "nobody asked to lift" in complaint(3, "resume", place, "--confirm")
    said = done("resume", place, "--why", "the feed is right again")
    assert said.startswith(f"asked to lift {halt_id}, the Guardian is to confirm it: message ")
    assert (last(place, "RESUME")["channel"], last(place, "RESUME")["case_id"]) == ("#b-ops", halt_id)
    assert "waits for the Guardian's confirmation" in complaint(3, "resume", place, "--why", "again")

    assert "the Guardian is not silent: it has until " in complaint(3, "resume", place, "--confirm")
    table.wait(minutes=10)
    assert done("resume", place, "--confirm", "--why", "compared by hand").startswith(
        f"{halt_id} is lifted: "
    )
    assert last(place, "RESUME_CONFIRMED")["body"]["checks"] == ["compared by hand"]
    assert data("positions", place)["halted"] is None


@pytest.mark.rule("R-G12")
def test_r_g12_a_second_halt_adds_its_reason_and_a_resume_names_both(live: LiveSociety) -> None:
    place = live.directory
    done("halt", place, "--why", "quotes look wrong")
    first = last(place, "HALT")
    done("halt", place, "--why", "odd fills")
    second = last(place, "HALT")
    assert "odd fills" in done("escalations", place)
    assert "quotes look wrong" in done("status", place) and "odd fills" in done("status", place)
    reasons = data("positions", place)["halted"]["reasons"]
    assert [one["why"] for one in reasons] == ["quotes look wrong", "odd fills"]

    said = complaint(3, "resume", place, "--why", "all is well")
    assert f"--lift {first['seq']} --lift {second['seq']}" in said and "odd fills" in said
    said = complaint(3, "resume", place, "--why", "all is well", "--lift", first["seq"])
    assert "odd fills" in said
    assert "--lift 1: that message is no open reason" in complaint(
        3, "resume", place, "--why", "all is well", "--lift", 1
    )
    done("resume", place, "--why", "all is well", "--lift", first["seq"], "--lift", second["seq"])
    assert last(place, "RESUME")["body"]["lifts"] == ["quotes look wrong", "odd fills"]


@pytest.mark.rule("R-F2")
def test_r_f2_a_resume_without_a_halt_ends_the_conservative_mode(tmp_path: Path) -> None:
    table = Table(schedules={})
    table.wait(hours=28)
    because = table.last("ESCALATION").case_id
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as live:
        place = live.directory
        assert data("status", place)["conservative"]
        assert f"conservative because of {because}" in done("status", place)
        assert "nothing is halted" in complaint(3, "resume", place, "--confirm")
        said = done("resume", place, "--why", "I read on from here")
        assert said.startswith(f"System A is no longer conservative because of {because}: message ")
        assert last(place, "MODE_CHANGED")["body"]["mode"] == "normal"
        assert not data("status", place)["conservative"]
        assert "nothing is halted" in complaint(3, "resume", place, "--why", "again")


def test_what_is_not_halted_cannot_resume(table: MoneyTable, tmp_path: Path) -> None:
    place = log_of(table, tmp_path)

    assert f"nothing is halted in {place}" in complaint(3, "resume", place, "--why", "x")
    assert "nothing is halted" in complaint(3, "resume", place, "--confirm")
    assert data("status", place)["queued"] == 0


@pytest.mark.rule("R-E5")
def test_r_e5_only_admins_halt_and_resume(table: MoneyTable, tmp_path: Path) -> None:
    table.halt()
    place = log_of(table, tmp_path)

    for words in (["halt", "--why", "x"], ["resume", "--why", "x"]):
        said = complaint(3, words[0], place, *words[1:], "--as", "bob")
        assert "bob is a viewer here: " in said
        assert f"viewer may not post {words[0].upper()}: only admin" in said
    assert data("status", place)["queued"] == 0


@pytest.mark.rule("R-E5")
def test_r_e5_a_living_society_refuses_a_viewers_halt(live: LiveSociety) -> None:
    said = complaint(3, "halt", live.directory, "--why", "x", "--as", "bob")
    assert "viewer may not post HALT: only admin" in said
    assert data("positions", live.directory)["halted"] is None


def test_a_halt_of_a_stopped_society_waits_for_the_next(table: MoneyTable, tmp_path: Path) -> None:
    place = log_of(table, tmp_path)

    assert data("halt", place, "--why", "first thing tomorrow")["status"] == "queued"
    assert data("status", place)["queued"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["halt", "--why", "  "], "--why is empty"),
        (["halt"], "--why"),
        (["resume"], "--why TEXT is missing"),
        (["resume", "--why", " "], "--why is empty"),
    ],
)
def test_a_reason_is_needed(table: MoneyTable, tmp_path: Path, words: list[str], said: str) -> None:
    command, *rest = words
    assert said in complaint(2, command, log_of(table, tmp_path), *rest)


def test_a_directory_without_a_log_is_usage(tmp_path: Path) -> None:
    for words in (["positions"], ["strategies"], ["halt", "--why", "x"], ["resume", "--why", "x"]):
        assert "there is no" in complaint(2, words[0], tmp_path / "nowhere", *words[1:])


@pytest.mark.parametrize("word", ["halt", "resume", "positions", "strategies"])
def test_help_shows_examples(word: str) -> None:
    said = moot(word, "--help")
    assert said.exit_code == 0
    assert f"moot {word} ./moot-data" in said.stdout


# ---------------------------------------------------------------- the door fills in what a hurry leaves out

ANN = Actor("human", "discord", "ann")


def admins_draft(body: Any, channel: str, key: str) -> Draft:
    return Draft(channel=channel, author=ADMIN, body=body, actor=ANN, key=key)


def test_a_halt_and_a_resume_without_ids_mean_what_is_open() -> None:
    settings = load_settings(admins={"discord": ["ann"]})

    async def run(stage: Stage) -> None:
        door = Door(stage.host, settings)
        with pytest.raises(Refused, match="nothing is halted"):
            await door.publish(admins_draft(Resume(reason="x"), "#b-ops", "r0"))
        await door.publish(admins_draft(Halt(reason="crash", by="ann"), "#b-risk", "h1"))
        await door.publish(admins_draft(Resume(reason="calm"), "#b-ops", "r1"))
        await stage.wait(minutes=11)
        await door.publish(admins_draft(ResumeConfirmed(checks=()), "#b-risk", "c1"))
        await stage.wait(minutes=1)
        assert not stage.host.docket.context.fold_named("book").halted

    log = play({}, run)
    halted, resumed, confirmed = (
        next(env for env in log if env.body.type == kind) for kind in ("HALT", "RESUME", "RESUME_CONFIRMED")
    )
    assert resumed.case_id == confirmed.case_id == halted.case_id == resumed.body.halt_id
    kinds = [env.body.type for env in log]
    assert "VIOLATION" not in kinds
    assert kinds.count("AUDIT") == 1


def test_a_halt_belongs_to_the_trading_day_that_is_open(table: MoneyTable) -> None:
    handed_on: list[Draft] = []

    class Host:
        bus, clock = SimpleNamespace(seq_of=None), RealClock()
        docket = table.docket
        listeners: ClassVar[list[object]] = []

        async def publish(self, draft: Draft) -> Receipt:
            handed_on.append(draft)
            return Receipt(len(handed_on), draft.key)

    door = Door(Host(), load_settings(admins={"discord": ["ann"]}))  # type: ignore[arg-type]
    asyncio.run(door.publish(admins_draft(Halt(reason="crash", by="ann"), "#b-risk", "h1")))
    named = Halt(session_id="session_of_mine", reason="crash", by="ann")
    asyncio.run(door.publish(admins_draft(named, "#b-risk", "h2")))

    # A day that waits for a ruling takes nothing in (K10): the halt stands alone then.
    table.docket.waiting[table.hall.case_id] = Decision("void", "x", "K10")
    asyncio.run(door.publish(admins_draft(Halt(reason="crash", by="ann"), "#b-risk", "h3")))

    sessions = [draft.body.session_id for draft in handed_on]  # type: ignore[attr-defined]
    assert sessions == [table.hall.case_id, "session_of_mine", ""]
    assert [draft.case_id for draft in handed_on] == [None, None, None]


def test_surfaces_are_told_of_the_desk_if_they_may_read_it() -> None:
    told: dict[str, str] = {}

    async def run(stage: Stage) -> None:
        reception = Reception(stage.host)
        for question in ("positions", "strategies"):
            told[question] = await reception.ask(question, {"seat": "admin"})

    play({}, run)
    assert told["positions"].startswith("equity $1,000,000.00, day +0.00 (+0.00%)")
    assert told["positions"].endswith("the desk holds nothing")
    assert told["strategies"] == "the log names no strategy"


@pytest.mark.rule("R-B11")
def test_r_b11_who_may_not_read_the_desk_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    async def run(stage: Stage) -> None:
        matrix = stage.host.rules.matrix
        monkeypatch.setitem(matrix._reads, VIEWER, frozenset({"#a-arena"}))
        reception = Reception(stage.host)
        told.append(await reception.ask("positions", {"seat": "viewer"}))
        told.append(await reception.ask("strategies", {}))
        told.append(await reception.ask("status", {"seat": "viewer"}))

    play({}, run)
    assert told[0] == told[1] == "only who reads #b-desk is told that"
    assert "UTC" in told[2]


@pytest.mark.rule("R-G12")
def test_r_g12_a_resume_by_hand_names_every_reason_by_number_or_by_text() -> None:
    settings = load_settings(admins={"discord": ["ann"]})

    async def run(stage: Stage) -> None:
        door = Door(stage.host, settings)
        one = await door.publish(admins_draft(Halt(reason="odd quotes", by="ann"), "#b-risk", "h1"))
        two = await door.publish(admins_draft(Halt(reason="odd  fills", by="ann"), "#b-risk", "h2"))
        for n, lifts in enumerate([(), (f"#{one.seq}",), ("odd fills",)]):
            with pytest.raises(Refused, match=f"lifts: {one.seq} lifts: {two.seq}"):
                await door.publish(admins_draft(Resume(reason="calm", lifts=lifts), "#b-ops", f"r{n}"))
        with pytest.raises(Refused, match="#999"):
            lifts = (f"{one.seq} {two.seq}", "#999")
            await door.publish(admins_draft(Resume(reason="calm", lifts=lifts), "#b-ops", "r8"))
        lifts = (f"{one.seq}, #{two.seq}",)
        await door.publish(admins_draft(Resume(reason="calm", lifts=lifts), "#b-ops", "r9"))

    log = play({}, run)
    (resumed,) = (env for env in log if env.body.type == "RESUME")
    assert resumed.body.lifts == ("odd quotes", "odd fills")
    assert "VIOLATION" not in [env.body.type for env in log]
