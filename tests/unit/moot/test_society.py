"""The society: starts and stops, outages, restarts, memory beside the log (K3, K4, K6, K7, K21, K25)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from moot import up
from moot.channels.errors import LeaseHeld, StorageError
from moot.channels.log.lease import Lease
from moot.clock import PacedClock, RealClock, VirtualClock
from moot.config.settings import load_settings
from moot.control import control_clock
from moot.memory.inmemory import InMemoryStore
from moot.memory.sqlite import SqliteStore
from moot.plan import Plan
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Actor, Draft, Envelope, link
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import CRITIC, EXPLORER
from moot.protocols.rulebook import VERSION, rules
from moot.society import Society
from moot.stored import last_sent_at, stored_envelopes
from moot.up import UpOptions, UpRefused, run_up
from tests.doubles.checking import findings
from tests.doubles.data_dir import write_log
from tests.doubles.table import START

Script = Callable[[Society, VirtualClock], Awaitable[None]]


def plan_at(at: datetime, directory: Path | None, **over: Any) -> Plan:
    settings = over.pop("settings", None) or load_settings()
    return Plan(settings=settings, start=at, directory=directory, **{"seed": 5, "bus": "sqlite", **over})


def live(
    directory: Path,
    hours: float = 0,
    *,
    at: datetime | None = None,
    script: Script | None = None,
    **over: Any,
) -> Society:
    """Let a society live on a directory in virtual time, from where its log ends unless told otherwise."""
    start = at or last_sent_at(directory) or START
    kept: list[Society] = []

    async def main(clock: VirtualClock) -> None:
        async with await Society.open(plan_at(start, directory, **over), clock) as society:
            kept.append(society)
            await society.run_until(start + timedelta(hours=hours))
            if script is not None:
                await script(society, clock)

    VirtualClock(start).run(main)
    return kept[0]


def crash(directory: Path, hours: float) -> None:
    """Let a society live and die without a word."""
    start = last_sent_at(directory) or START

    async def main(clock: VirtualClock) -> None:
        society = await Society.open(plan_at(start, directory), clock)
        await society.run_until(start + timedelta(hours=hours))
        await society.abandon()

    VirtualClock(start).run(main)


def log_of(directory: Path) -> list[Envelope]:
    return list(stored_envelopes(directory))


def of(log: list[Envelope], kind: str) -> list[Any]:
    return [env.body for env in log if env.body.type == kind]


def refolded(log: list[Envelope]) -> tuple[Docket, InMemoryStore]:
    """Fold a log anew into docket and memory."""
    docket, store = Docket(rules()), InMemoryStore()
    for env in log:
        fx = docket.fold(env)
        store.apply(env, fx.violation is None and not fx.superseded)
    return docket, store


# ---------------------------------------------------------------- K4: the log explains itself


@pytest.mark.rule("K4")
def test_k4_the_first_message_carries_configuration_seed_rules_and_data_hashes(tmp_path: Path) -> None:
    live(tmp_path, 1, seed=77)
    body = log_of(tmp_path)[0].body
    assert body.type == "SOCIETY_STARTED"
    assert dict(body.config)["schedules"]["micro"]["cron"] == "0 */2 * * *"  # type: ignore[attr-defined]
    assert (body.seed, body.rules_version, body.durability) == (77, VERSION, "power")  # type: ignore[attr-defined]
    prices = body.data["prices"]  # type: ignore[attr-defined]
    assert len(prices["sha256"]) == 64 and prices["spec"] == "sample"


@pytest.mark.rule("K4")
def test_k4_a_society_that_goes_on_keeps_the_prices_of_its_first_start(tmp_path: Path) -> None:
    settings = load_settings(prices={"source": "synthetic"})
    live(tmp_path, 1, seed=1, settings=settings)
    live(tmp_path, 1, seed=2)
    first, second = of(log_of(tmp_path), "SOCIETY_STARTED")
    assert first.data["prices"] == second.data["prices"]
    assert (first.seed, second.seed) == (1, 2)


@pytest.mark.rule("K4")
def test_k4_two_societies_born_alike_differ_from_their_first_message_on(tmp_path: Path) -> None:
    live(tmp_path / "one", 0.1)
    live(tmp_path / "two", 0.1)
    assert log_of(tmp_path / "one")[0].hash != log_of(tmp_path / "two")[0].hash


@pytest.mark.rule("K4")
def test_k4_a_society_keeps_its_identity_when_it_goes_on(tmp_path: Path) -> None:
    live(tmp_path, 0.1)
    live(tmp_path, 0.1, society_id="another")
    first, second = of(log_of(tmp_path), "SOCIETY_STARTED")
    assert first.society_id == second.society_id != "another"


# ---------------------------------------------------------------- K6: outages


async def nothing(society: Society, _clock: VirtualClock) -> None:
    """Live no longer than it takes to start."""


@pytest.mark.rule("K6")
@pytest.mark.parametrize("end", ["stopped", "crashed"])
def test_k6_an_outage_of_three_hours_shifts_what_is_owed_and_skips_each_micro_slot(
    tmp_path: Path, end: str
) -> None:
    """Born at 10:00 and down from a moment in the first debate until three hours later."""
    if end == "stopped":
        live(tmp_path, 0.3)
    else:
        crash(tmp_path, 0.3)
    before = log_of(tmp_path)
    down_at = before[-1].sent_at
    docket, _ = refolded(before)
    due = {o.id: o.due_at for o in docket.open.values()}
    assert any(o.seat == CRITIC or o.seat == EXPLORER for o in docket.open.values())
    gap = timedelta(hours=3)
    live(tmp_path, at=down_at + gap, script=nothing)
    started_again = next(n for n, e in enumerate(log_of(tmp_path)) if e.seq > len(before))
    docket, _ = refolded(log_of(tmp_path)[: started_again + 1])
    assert {o.id: o.due_at for o in docket.open.values()} == {name: at + gap for name, at in due.items()}
    live(tmp_path, 4)
    log = log_of(tmp_path)
    skipped = [body for body in of(log, "CYCLE_SKIPPED") if body.reason == "outage"]
    assert [body.nominal_at.hour for body in skipped] == [12]
    assert not [body for body in of(log, "RULING") if body.reason == "timeout"]
    assert not findings(log)


@pytest.mark.rule("K6")
def test_k6_a_long_outage_skips_every_micro_slot_once_and_runs_only_the_latest_daily(tmp_path: Path) -> None:
    live(tmp_path, 1)
    live(tmp_path, 3, at=START + timedelta(hours=62))
    log = log_of(tmp_path)
    skipped = [body for body in of(log, "CYCLE_SKIPPED") if body.reason == "outage"]
    micro = [body.nominal_at for body in skipped if body.schedule == "micro"]
    daily = [body.nominal_at for body in skipped if body.schedule == "daily"]
    assert micro == [START + timedelta(hours=2 * n) for n in range(1, 31)]
    assert len(daily) == 2
    assert [b.nominal_at.day for b in of(log, "CYCLE_TRIGGER") if b.mode == "daily"] == [25]
    assert not findings(log)


# ---------------------------------------------------------------- restarts


def test_a_society_in_two_halves_answers_everything_once_and_loses_nothing(tmp_path: Path) -> None:
    for hours in (0.3, 0.2, 1.1, 2.7, 0.05, 3):
        live(tmp_path, hours)
    log = log_of(tmp_path)
    assert [env.seq for env in log] == list(range(1, len(log) + 1))
    answers = [(env.obligation_id, env.attempt) for env in log if env.obligation_id is not None]
    assert len(answers) == len(set(answers))
    assert len({env.id for env in log}) == len(log)
    assert len(of(log, "MICRO_CYCLE_REPORT")) >= 3
    assert not of(log, "VIOLATION")
    assert not findings(log)


def test_a_crash_between_two_messages_leaves_a_society_that_goes_on_where_it_was(tmp_path: Path) -> None:
    for hours in (0.3, 0.4, 1.5):
        crash(tmp_path, hours)
    live(tmp_path, 3)
    log = log_of(tmp_path)
    assert len(of(log, "SOCIETY_STARTED")) == 4 and len(of(log, "SOCIETY_STOPPED")) == 1
    assert not findings(log)


@pytest.mark.rule("K21")
def test_k21_a_society_that_a_person_stopped_ends_and_may_be_started_again(tmp_path: Path) -> None:
    async def stop(society: Society, clock: VirtualClock) -> None:
        draft = Draft(
            channel="#admin",
            author=ADMIN,
            body=Stop(scope="society", why="bedtime"),
            actor=Actor("human", "test", "ann"),
            key="stop",
        )
        waiting = asyncio.create_task(society.run_until())
        await asyncio.sleep(1)
        assert not waiting.done()
        await society.host.publish(draft)
        await asyncio.sleep(1)
        assert waiting.done()
        before = clock.now()
        await society.run_until(before + timedelta(hours=9))
        assert clock.now() == before, "asked before it began to wait: it ends at once"

    live(tmp_path, 0.3, script=stop)
    cases = set(refolded(log_of(tmp_path))[0].cases)
    assert cases, "a STOP of the society ends no case"
    society = live(tmp_path, 5)
    assert not society.host.stop_asked
    assert of(log_of(tmp_path), "MICRO_CYCLE_REPORT"), "it lived its hours"
    assert cases <= set(society.host.docket.ended)


@pytest.mark.rule("K3")
def test_k3_a_second_society_on_a_directory_is_refused_and_touches_nothing(tmp_path: Path) -> None:
    live(tmp_path, 1)
    memory = tmp_path / "moot.memory.sqlite"
    memory.write_bytes(b"another process writes this")
    with Lease.acquire(tmp_path), pytest.raises(LeaseHeld):
        live(tmp_path, 1)
    assert memory.read_bytes() == b"another process writes this"


@pytest.mark.rule("K25")
def test_k25_a_start_that_fails_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(_self: object, _draft: Draft) -> None:
        raise StorageError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("moot.channels.log.sqlite.SqliteBus.publish", full)
        with pytest.raises(StorageError):
            live(tmp_path, 1)
    with Lease.acquire(tmp_path):
        pass
    live(tmp_path, 1)


@pytest.mark.rule("K5")
def test_k5_a_log_that_breaks_the_tables_is_not_gone_on_with(tmp_path: Path) -> None:
    """Its chain is sound, but its timekeeper started the wrong seat."""
    live(tmp_path / "sound", 1)
    log = log_of(tmp_path / "sound")
    trigger = next(env for env in log if env.body.type == "CYCLE_TRIGGER")
    text = trigger.json.replace("EXPLORER_START", "EVOLVER_START")
    assert text != trigger.json
    digest = link(bytes.fromhex(log[trigger.seq - 2].hash), text)
    odd = decode_stored(text, digest.hex())
    write_log(tmp_path / "odd", [*log[: trigger.seq - 1], odd])
    with pytest.raises(OfficerFault, match=f"seq {trigger.seq}: the CYCLE_TRIGGER differs"):
        live(tmp_path / "odd", 1)


# ---------------------------------------------------------------- memory beside the log


def digest(directory: Path) -> tuple[int, str]:
    async def read() -> tuple[int, str]:
        async with await SqliteStore.open(directory / "moot.memory.sqlite") as store:
            return store.applied_seq, store.read().digest()

    return asyncio.run(read())


def assert_memory_is_that_of_the_log(directory: Path) -> None:
    log = log_of(directory)
    assert digest(directory) == (len(log), refolded(log)[1].read().digest())


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    live(tmp_path, 7)
    assert of(log_of(tmp_path), "REFLECTION") or of(log_of(tmp_path), "CAUSAL_RECORD")
    return tmp_path


def test_memory_on_the_disk_equals_what_the_log_gives_anew(lived: Path) -> None:
    assert_memory_is_that_of_the_log(lived)


@pytest.mark.parametrize("fault", ["no database", "cut", "other version", "gone"])
def test_damaged_memory_is_rebuilt_from_the_log_with_a_warning(
    lived: Path, fault: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lived / "moot.memory.sqlite"
    if fault == "no database":
        path.write_bytes(b"x" * 8192)
    elif fault == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    elif fault == "gone":
        path.unlink()
    else:
        db = sqlite3.connect(path)
        db.execute("PRAGMA user_version = 999")
        db.close()
    live(lived, 3)
    assert ("memory is rebuilt" in capsys.readouterr().out + caplog.text) == (fault != "gone")
    assert_memory_is_that_of_the_log(lived)
    assert not findings(log_of(lived))


@pytest.mark.parametrize("fault", ["ahead", "of another log"])
def test_memory_that_is_not_of_this_log_is_rebuilt(
    lived: Path,
    tmp_path_factory: pytest.TempPathFactory,
    fault: str,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = tmp_path_factory.mktemp("other")
    live(other, 2 if fault == "of another log" else 12, seed=9 if fault == "of another log" else 5)
    (lived / "moot.memory.sqlite").write_bytes((other / "moot.memory.sqlite").read_bytes())
    live(lived, 3)
    assert "memory is rebuilt" in capsys.readouterr().out + caplog.text
    assert_memory_is_that_of_the_log(lived)


def test_sound_memory_is_not_rebuilt(
    lived: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    live(lived, 1)
    assert "rebuilt" not in capsys.readouterr().out + caplog.text


def test_memory_left_behind_without_a_log_is_not_believed(tmp_path: Path) -> None:
    live(tmp_path, 5)
    for path in (*tmp_path.glob("log.sqlite*"), tmp_path / "head"):
        path.unlink()
    live(tmp_path, 5, bus="memory")
    assert_memory_is_that_of_the_log(tmp_path)


# ---------------------------------------------------------------- K7: which clock


@pytest.mark.rule("K7")
def test_k7_the_real_clock_is_refused_while_the_log_is_ahead_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(tmp_path, 3)
    monkeypatch.setattr(up, "wall_now", lambda: START + timedelta(hours=1))
    monkeypatch.setattr(up, "set_up_logging", lambda *_, **__: None)
    with pytest.raises(UpRefused) as refused:
        run_up(UpOptions(directory=tmp_path))
    text = str(refused.value)
    assert "\n" not in text and "2026-02-23T13:00:00" in text
    assert "--new" in text and "--speed" in text
    with Lease.acquire(tmp_path):
        pass


@pytest.mark.rule("K7")
def test_k7_accelerated_time_goes_on_where_the_log_ended_and_the_real_clock_from_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = START + timedelta(days=9)
    monkeypatch.setattr(up, "wall_now", lambda: now)
    clock, start = up._clock(UpOptions(directory=tmp_path, speed=120), START)
    assert isinstance(clock, PacedClock) and clock.start == start == START
    clock, start = up._clock(UpOptions(directory=tmp_path), START)
    assert isinstance(clock, RealClock) and start == now
    clock, start = up._clock(UpOptions(directory=tmp_path), now + timedelta(seconds=4))
    assert isinstance(clock, RealClock), "a few seconds of drift are no reason to refuse"


@pytest.mark.parametrize("speed", [0.0, -3.0, float("nan"), float("inf")])
def test_a_speed_that_makes_no_sense_is_refused(tmp_path: Path, speed: float) -> None:
    with pytest.raises(UpRefused, match="--speed"):
        run_up(UpOptions(directory=tmp_path / "new", speed=speed))
    assert not (tmp_path / "new").exists()


@pytest.mark.rule("K7")
def test_k7_a_virtual_clock_has_no_pace_to_set(tmp_path: Path) -> None:
    async def script(society: Society, _clock: VirtualClock) -> None:
        with pytest.raises(ValueError, match="virtual clock has no pace"):
            await society.set_clock(speed=2, reason="faster")
        told = await control_clock(society, "pause", None, "ann")
        assert told["ok"] is False and "virtual" in told["why"]

    live(tmp_path, script=script)
    assert not of(log_of(tmp_path), "CLOCK_SET")
