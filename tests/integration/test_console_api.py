"""The console's API on a port, over societies that really run (`moot up`) and over logs that lie still."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import structlog
import structlog.testing

from moot.config.settings import load_settings
from moot.console.errors import CannotServe
from moot.console.options import ConsoleOptions
from moot.console.serving.keeping import keep
from moot.place import LOG_NAME
from moot.protocols.kernel.envelope import Envelope
from moot.stored import last_envelope, stored_envelopes
from tests.doubles import bodies
from tests.doubles.called import a_claim
from tests.doubles.console import Served, served, watched, written
from tests.doubles.waiting import until

pytestmark = pytest.mark.anyio
# No architecture round among the cycles: a person in the Explorer's seat is asked for hypotheses only.
CONFIG = '[admins]\ncli = []\nconsole = ["owner"]\n[schedules]\nmicro = { cron = "0 */2 * * *" }\n'


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def start(directory: Path, *words: str) -> subprocess.Popen[bytes]:
    directory.mkdir(parents=True, exist_ok=True)
    config = directory.parent / "moot.toml"
    config.write_text(CONFIG)
    words = ("--no-console", "--data", str(directory), "--config", str(config), *words)
    command = [sys.executable, "-m", "moot", "up", *words]
    with (directory.parent / "up.out").open("ab") as out:
        return subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, "NO_COLOR": "1"})


def stop(process: subprocess.Popen[Any], how: int = signal.SIGINT) -> None:
    process.send_signal(how)
    process.wait(60)


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("society") / "data"
    process = start(directory, "--speed", "6000")
    yield directory
    stop(process)


@asynccontextmanager
async def at(console: Served, token: str | None = None) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {console.owner if token is None else token}"}
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(console.base, headers=headers, timeout=timeout) as session:
        yield session


async def get(session: Any, path: str) -> Any:
    async with session.get(path) as answer:
        assert answer.status == 200, (path, answer.status, await answer.text())
        return await answer.json()


async def post(session: Any, path: str, **body: Any) -> tuple[int, dict[str, Any]]:
    async with session.post(path, json=body) as answer:
        return answer.status, await answer.json()


async def becomes(session: Any, path: str, is_so: Callable[[Any], object], *, within_s: float = 60.0) -> Any:
    """Ask until an answer is as wanted, and return it."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within_s
    said: Any = None
    while loop.time() < end:
        async with session.get(path) as answer:
            said = await answer.json()
            if answer.status == 200 and is_so(said):
                return said
        await asyncio.sleep(0.05)
    raise AssertionError(f"{path} still says {str(said)[:500]}")


async def ready(session: Any) -> Any:
    return await becomes(session, "/api/standing", lambda s: s["society"] and s["time"]["is_running"])


async def events(session: Any, path: str, last: int | None = None) -> AsyncIterator[tuple[int, Any]]:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    async with session.get(path, headers=headers, timeout=aiohttp.ClientTimeout(total=None)) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        seq = 0
        async for raw in answer.content:
            line = raw.decode().rstrip("\n")
            if line.startswith("id: "):
                seq = int(line[4:])
            elif line.startswith("data: "):
                yield seq, json.loads(line[6:])


# ---------------------------------------------------------------- reading


async def test_the_api_says_what_the_log_says(tmp_path: Path) -> None:
    log = written(tmp_path, 900)
    async with served(tmp_path) as console, at(console) as session:
        await becomes(session, "/api/standing", lambda s: s["society"] and s["head"] == len(log))
        page = await get(session, "/api/log?from=101&limit=50")
        assert page["messages"] == [json.loads(env.line) for env in log[100:150]]
        assert page["after"] == 150
        arena = await get(session, "/api/log?channel=%23a-arena&limit=7")
        assert [m["seq"] for m in arena["messages"]] == [e.seq for e in log if e.channel == "#a-arena"][-7:]
        assert await get(session, "/api/messages/33") == json.loads(log[32].line)
        debate = next(e for e in log if e.body.type == "HYPOTHESIS").case_id
        case = await becomes(session, f"/api/cases/{debate}", lambda c: c["progress"]["is_complete"])
        assert [m["seq"] for m in case["transcript"]] == [e.seq for e in log if e.case_id == debate]
        assert case["path"] and case["obligations"]
        owed = await get(session, "/api/obligations")
        assert owed and all({"seat", "due_at", "remaining_s", "is_late"} <= one.keys() for one in owed)
        assert isinstance(await get(session, "/api/escalations"), list)
        found = await becomes(session, "/api/search?text=critic+rates&limit=3", lambda s: s["messages"])
        assert {m["author"] for m in found["messages"]} == {"critic"}
        described = await get(session, "/api/openapi.json")
        assert {"/api/log", "/api/stream", "/api/obligations", "/api/cases/{case_id}"} <= described[
            "paths"
        ].keys()
        (name,) = described["components"]["securitySchemes"]
        scheme = described["components"]["securitySchemes"][name]
        assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
        ways = {path: way for path, by_method in described["paths"].items() for way in by_method.values()}
        open_to_all = {path for path, way in ways.items() if "security" not in way}
        assert open_to_all == {"/healthz"}
        async with session.get("/metrics") as answer:
            told = await answer.text()
        assert f"moot_head {len(log):.1f}" in told and 'moot_open_obligations{late="' in told
        wrong = sum(env.body.type == "VIOLATION" for env in log)
        assert f"moot_violations {wrong:.1f}" in told


WRONG = (
    ("/api/messages/0", 404, "no message 0"),
    ("/api/messages/999999999", 404, "the log ends at"),
    ("/api/messages/9223372036854775808", 404, "the log ends at"),
    ("/api/messages/-9223372036854775809", 404, "the log ends at"),
    ("/api/messages/" + "9" * 300, 404, "the log ends at"),
    ("/api/messages/first", 422, "give a whole number"),
    *(
        (f"/api/{path}={2**63}", 422, "choose at most")
        for path in ("log?before", "log?limit", "search?before")
    ),
    *((f"/api/{path}={2**63}", 422, "choose at most") for path in ("escalations?limit", "stream?from")),
    ("/api/log?from=-1", 422, "choose at least"),
    ("/api/log?limit=100000", 422, "choose at most"),
    ("/api/log?from=99999999999999999999", 422, "from"),
    ("/api/cases/hyp_nowhere", 404, "no case hyp_nowhere"),
    ("/api/nothing", 404, "openapi.json"),
)


async def test_a_wrong_question_is_answered_in_one_line(tmp_path: Path) -> None:
    written(tmp_path, 60)
    async with served(tmp_path) as console, at(console) as session:
        await becomes(session, "/api/standing", lambda s: s["society"])
        for path, status, why in WRONG:
            async with session.get(path) as answer:
                assert answer.status == status, path
                said = await answer.json()
            assert why in said["why"] and "\n" not in said["why"]


async def test_a_console_that_ends_while_it_begins_lets_go_of_everything(tmp_path: Path) -> None:
    written(tmp_path, 60)
    for _ in range(5):
        async with served(tmp_path):
            pass
    async with served(tmp_path) as console, at(console) as session:
        await becomes(session, "/api/standing", lambda s: s["society"])
        status, told = await post(session, "/api/acts", kind="note", key="1", fields={"text": "hello"})
        assert status == 409 and "no society runs" in told["text"], told


async def test_without_a_token_there_is_nothing_but_healthz(society: Path) -> None:
    async with served(society) as console, aiohttp.ClientSession(console.base) as session:
        async with session.get("/healthz") as answer:
            assert (answer.status, (await answer.json())["status"]) == (200, "ok")
        for path in ("/api/log", "/api/stream", "/metrics", "/api/openapi.json", "/"):
            async with session.get(path) as answer:
                assert answer.status == 401
                assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


async def test_healthz_and_metrics_report_a_log_that_is_damaged(tmp_path: Path) -> None:
    place = a_claim(tmp_path / "d").write()
    async with served(place) as console, at(console) as session:
        async with session.get("/healthz") as answer:
            assert (answer.status, (await answer.json())["status"]) == (200, "ok")
        with closing(sqlite3.connect(place / LOG_NAME)) as db, db:
            db.execute("UPDATE log SET json = json || ' ' WHERE seq = 2")
        for _ in range(200):
            async with session.get("/healthz") as answer:
                status, told = answer.status, await answer.json()
            if status != 200:
                break
            await asyncio.sleep(0.1)
        assert (status, told["status"]) == (503, "damaged")
        assert told["reason"] == "message 2 is damaged: the hash does not fit the text"
        async with session.get("/metrics") as answer:
            assert "moot_log_damaged 1.0" in await answer.text()


async def test_the_printed_address_makes_a_session_that_outlives_the_console(society: Path) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with served(society) as console, aiohttp.ClientSession(cookie_jar=jar) as session:
        port = console.host.partition(":")[2]
        async with session.get(f"{console.base}/api/channels?token={console.owner}") as answer:
            assert answer.status == 200 and answer.url.query_string == ""
        act = {"kind": "note", "key": "csrf", "channel": "#a-arena", "fields": {"text": "by cookie"}}
        url = f"{console.base}/api/acts"
        async with session.post(url, json=act) as answer:
            assert answer.status == 403
        async with session.post(
            url, json=act, headers={"Origin": "http://evil.example", "X-Moot": "1"}
        ) as answer:
            assert answer.status == 403
        headers = {"Origin": console.base, "X-Moot": "1"}
        async with session.post(url, json=act, headers=headers) as answer:
            assert answer.status in (200, 409)
    async with (
        served(society, port=int(port)) as console,
        aiohttp.ClientSession(cookie_jar=jar) as session,
        session.get(f"{console.base}/api/channels") as answer,
    ):
        assert answer.status == 200


# ---------------------------------------------------------------- the stream


async def test_the_stream_has_every_message_once_and_goes_on_after_the_last_event_id(society: Path) -> None:
    async with served(society) as console, at(console) as session:
        await ready(session)
        head = (await get(session, "/api/standing"))["head"]
        async with chatter(session):
            seen: list[Any] = []
            async for seq, message in events(session, "/api/stream?from=1"):
                assert seq == message["seq"]
                seen.append(message)
                if seq >= head + 30:
                    break
            assert [m["seq"] for m in seen] == list(range(1, len(seen) + 1))
            more: list[int] = []
            async for seq, _ in events(session, "/api/stream", last=seen[-1]["seq"] - 10):
                more.append(seq)
                if len(more) == 20:
                    break
            assert more == list(range(seen[-1]["seq"] - 9, seen[-1]["seq"] + 11))
        stored = {env.seq: env for env in stored_envelopes(society)}
        assert all(stored[m["seq"]].hash == m["hash"] for m in seen)


@asynccontextmanager
async def chatter(session: Any) -> AsyncIterator[None]:
    """Post notes all the while: the society's own pace depends on its hour and on who waits."""

    async def talk() -> None:
        for n in count():
            note = {"channel": "#a-arena", "fields": {"text": f"chatter {n}"}}
            await post(session, "/api/acts", kind="note", key=f"chatter {n}", **note)

    talking = asyncio.create_task(talk())
    try:
        yield
    finally:
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)


async def test_a_stream_goes_on_after_any_id(tmp_path: Path) -> None:
    written(tmp_path, 20)
    async with served(tmp_path) as console, at(console) as session:
        for last in ("9223372036854775808", "9" * 20, "-1", "x"):
            async with session.get("/api/stream", headers={"Last-Event-ID": last}) as answer:
                assert answer.status == 200
                await asyncio.sleep(0.2)
                assert not answer.content.at_eof(), last


async def test_the_stream_of_a_person_whose_line_is_deleted_ends_at_once(tmp_path: Path) -> None:
    written(tmp_path, 20)
    async with (
        served(tmp_path) as console,
        at(console) as session,
        at(console, console.viewer) as viewer,
        viewer.get("/api/stream") as theirs,
        session.get("/api/stream") as ours,
    ):
        assert (theirs.status, ours.status) == (200, 200)
        (tmp_path / "console-token").write_text(f"owner {console.owner}\n")
        with suppress(aiohttp.ClientError):
            await asyncio.wait_for(theirs.content.read(), 60)
        assert theirs.content.at_eof() or theirs.content.exception()
        async with viewer.get("/api/channels") as answer:
            assert answer.status == 401
        assert not ours.content.at_eof() and not ours.content.exception()
        await get(session, "/api/channels")


async def test_a_viewers_stream_lacks_what_viewers_do_not_read(society: Path) -> None:
    settings = load_settings(viewers={"reads": ["#b-desk", "#a-arena"]})
    async with served(society, settings) as console, at(console, console.viewer) as session:
        await ready(session)
        seen = 0
        async with at(console) as owner, chatter(owner):
            async for _, message in events(session, "/api/stream?from=1"):
                assert message["channel"] in ("#b-desk", "#a-arena")
                seen += 1
                if seen == 20:
                    break


async def test_an_open_stream_ends_with_the_console(tmp_path: Path) -> None:
    written(tmp_path, 100)
    got = asyncio.Event()
    async with served(tmp_path) as console:

        async def listen() -> int:
            count = 0
            async with at(console) as session:
                async for _ in events(session, "/api/stream?from=1"):
                    count += 1
                    if count >= 100:
                        got.set()
            return count

        listening = asyncio.create_task(listen())
        await got.wait()
        console.task.cancel()
        await asyncio.gather(console.task, return_exceptions=True)
        assert await listening >= 100
    leftover = [t.get_name() for t in asyncio.all_tasks() if t.get_name().startswith("console")]
    assert leftover == []


# ---------------------------------------------------------------- acting


async def test_a_note_stands_in_the_log_with_its_writer_once(society: Path) -> None:
    async with served(society) as console, at(console) as session:
        await ready(session)
        note = {
            "kind": "note",
            "key": "n1",
            "channel": "#a-arena",
            "fields": {"text": "mind <b>tails</b> \u202e 🦊"},
        }
        status, first = await post(session, "/api/acts", **note)
        assert (status, first["ok"]) == (200, True), first
        assert (await post(session, "/api/acts", **note))[1] == first
        said = await get(session, f"/api/messages/{first['seq']}")
        assert said["actor"] == {"kind": "human", "platform": "console", "user_id": "owner"}
        assert said["author"] == "admin" and said["body"]["text"] == note["fields"]["text"]  # type: ignore[index]
        other = {**note, "fields": {"text": "something else"}}
        status, told = await post(session, "/api/acts", **other)
        assert status == 409 and "stands as it was first said" in told["text"]


@pytest.mark.rule("K1")
async def test_k1_a_viewer_who_takes_the_owners_next_keys_swallows_nothing(society: Path) -> None:
    async with served(society) as console, at(console) as session, at(console, console.viewer) as viewer:
        await ready(session)
        acts = [(viewer, {"kind": "note", "fields": {"text": "first"}})]
        acts += [(session, {"kind": "command", "fields": {"text": "/note stop, all of you"}})]
        for key in ("swallow-1", "console/owner/swallow-2"):
            for who, act in acts:
                status, told = await post(who, "/api/acts", key=key, channel="#a-arena", **act)
                assert (status, told["ok"]) == (200, True), told


async def test_what_was_just_said_is_found_at_once(society: Path) -> None:
    async with served(society) as console, at(console) as session:
        await ready(session)
        await becomes(session, "/api/search?text=a", lambda found: found["messages"])
        for n in range(10):
            note = {
                "kind": "note",
                "key": f"said {n}",
                "channel": "#bridge",
                "fields": {"text": f"needle{n}"},
            }
            status, told = await post(session, "/api/acts", **note)
            assert status == 200
            found = await get(session, f"/api/search?text=needle{n}")
            assert told["seq"] in [m["seq"] for m in found["messages"]]


async def test_what_is_refused_is_told_in_one_line_and_changes_nothing(society: Path) -> None:
    async with served(society) as console, at(console) as session, at(console, console.viewer) as viewer:
        await ready(session)
        tried: list[tuple[Any, dict[str, Any], str]] = [
            (viewer, {"kind": "halt", "fields": {"reason": "no"}}, "viewer may not post HALT"),
            (viewer, {"kind": "take", "fields": {"seat": "critic"}}, "viewer may not post SEAT_TAKEN"),
            (
                viewer,
                {"kind": "override", "fields": {"case_id": "x", "verdict": "APPROVE", "reason": "y"}},
                "only an admin",
            ),
            (session, {"kind": "override", "fields": {}}, "missing field 'case_id'"),
            (
                viewer,
                {"kind": "command", "fields": {"text": "/stop society now"}},
                "viewer may not post STOP",
            ),
            (session, {"kind": "command", "fields": {"text": "/halt"}}, "the reason is missing"),
            (session, {"kind": "command", "fields": {"text": "/dance"}}, "no command /dance"),
            (session, {"kind": "note", "fields": {"text": "x" * 1_000_000}}, "text"),
            (session, {"kind": "note", "fields": {"words": "x"}}, "text"),
            (session, {"kind": "answer", "fields": {"escalation_id": "esc_none", "option": 1}}, "esc_none"),
        ]
        for n, (who, act, why) in enumerate(tried):
            status, told = await post(who, "/api/acts", key=f"r{n}", **act)
            assert status == 409 and why in told["text"], (act, told)
            assert "\n" not in told["text"] and len(told["text"]) < 600
        status, told = await post(session, "/api/acts", key="k" * 200, kind="note")
        assert (status, told["why"]) == (422, "key: has 200 characters, 150 are the most: shorten it")
        status, told = await post(viewer, "/api/clock", op="pause")
        assert status == 409 and "only an admin" in told["text"]


@pytest.mark.rule("R-E5")
async def test_r_e5_whom_the_society_does_not_know_as_admin_it_refuses(society: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"eve {'e' * 30}\nowner {'o' * 30}\n")
    tokens.chmod(0o600)
    settings = load_settings(admins={"console": ["eve"]})
    async with served(society, settings, token_file=tokens) as console, at(console, "e" * 30) as session:
        await ready(session)
        status, told = await post(session, "/api/acts", kind="halt", key="e1", fields={"reason": "mine"})
        assert status == 409 and "eve on console is no admin of this society" in told["text"]


async def test_the_longest_text_is_taken_whole_and_a_longer_one_is_refused(society: Path) -> None:
    async with served(society) as console, at(console) as session:
        await ready(session)

        async def say(text: str, key: str) -> tuple[int, dict[str, Any]]:
            fields = {"text": text}
            return await post(session, "/api/acts", kind="note", key=key, channel="#a-arena", fields=fields)

        longest = "🦊" * 20_000
        status, told = await say(longest, "long")
        assert status == 200, told
        assert (await get(session, f"/api/messages/{told['seq']}"))["body"]["text"] == longest
        status, told = await say(longest + "🦊", "longer")
        assert status == 409 and "text" in told["text"] and len(told["text"]) < 600


async def test_the_clock_stands_still_steps_and_goes_on(society: Path) -> None:
    async with served(society) as console, at(console) as session:
        await ready(session)
        status, told = await post(session, "/api/clock", op="pause")
        assert status == 200, told
        still = await becomes(session, "/api/standing", lambda s: s["time"]["is_paused"])
        await becomes(session, "/api/standing", lambda s: s["progress"]["done"] == s["head"])
        at_once = (await get(session, "/api/standing"))["time"]
        assert at_once["pace"] == 0 and at_once["at"] >= still["time"]["at"]
        await post(session, "/api/clock", op="step")
        await becomes(session, "/api/standing", lambda s: s["head"] >= still["head"])
        status, told = await post(session, "/api/clock", op="speed", value=200)
        assert status == 200 and "×200" in told["text"]
        going = await becomes(session, "/api/standing", lambda s: s["time"]["pace"] == 200)
        await becomes(session, "/api/standing", lambda s: s["time"]["at"] > going["time"]["at"])
        await post(session, "/api/clock", op="speed", value=6000)


def explorers(owed: Any) -> list[Any]:
    return [one for one in owed if one["seat"] == "explorer"]


async def asked_for_a_hypothesis(session: Any) -> Any:
    """Take the Explorer's seat until a hypothesis is what it owes.

    Time stands almost still while a person owes something (K8), so anything else is left to the bot.
    """
    for n in range(20):
        await becomes(session, "/api/obligations", lambda owed: not explorers(owed))
        take = {"kind": "take", "key": f"take {n}", "fields": {"seat": "explorer"}}
        status, told = await post(session, "/api/acts", **take)
        assert status == 200, told
        owed = explorers(await becomes(session, "/api/obligations", explorers, within_s=120))[0]
        if "HYPOTHESIS" in owed["expects"] and owed["held_by"] == "owner":
            return owed
        take = {"kind": "release", "key": f"release {n}", "fields": {"seat": "explorer"}}
        status, told = await post(session, "/api/acts", **take)
        assert status == 200, told
    raise AssertionError("the Explorer was never asked for a hypothesis")


@pytest.mark.rule("K14")
async def test_k14_a_person_takes_a_seat_is_told_what_is_wrong_answers_and_gives_it_back(
    society: Path,
) -> None:
    async with served(society) as console, at(console) as session, at(console, console.viewer) as viewer:
        await ready(session)
        owed = await asked_for_a_hypothesis(session)
        wrong = {"type": "HYPOTHESIS", "statement": "x"}
        status, told = await post(session, "/api/answers", obligation_id=owed["id"], body=wrong)
        assert status == 409 and "is needed" in told["text"], told
        status, told = await post(session, "/api/answers", obligation_id=owed["id"], body={"type": "VERDICT"})
        assert status == 409 and "owed is HYPOTHESIS" in told["text"]
        status, told = await post(viewer, "/api/answers", obligation_id=owed["id"], body=wrong)
        assert status == 409 and "owner on console sits in the seat" in told["text"]
        status, told = await post(session, "/api/answers", obligation_id="no/such/one", body=wrong)
        assert status == 409 and "nobody owes no/such/one" in told["text"]
        cycle = owed["case_id"]
        body = json.loads(bodies.hypothesis(cycle).model_dump_json())
        status, told = await post(session, "/api/answers", obligation_id=owed["id"], body=body)
        assert status == 200, told
        said = await get(session, f"/api/messages/{told['seq']}")
        assert (said["author"], said["actor"]["user_id"]) == ("explorer", "owner")
        await becomes(
            session, "/api/obligations", lambda owed: cycle not in [o["case_id"] for o in explorers(owed)]
        )
        status, told = await post(session, "/api/acts", kind="release", key="t2", fields={"seat": "explorer"})
        assert status == 200, told


async def test_nobody_acts_where_no_society_runs(tmp_path: Path) -> None:
    written(tmp_path, 200)
    async with served(tmp_path) as console, at(console) as session:
        await becomes(session, "/api/standing", lambda s: s["society"])
        status, told = await post(session, "/api/acts", kind="note", key="1", fields={"text": "anybody?"})
        assert status == 409 and "no society runs" in told["text"]
        status, told = await post(session, "/api/clock", op="pause")
        assert status == 409 and "no society runs" in told["text"]
        assert (await get(session, "/api/standing"))["time"]["pace"] == 0


# ---------------------------------------------------------------- outages


async def test_a_killed_society_that_comes_back_is_watched_on_without_a_gap(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    process = start(directory, "--speed", "20000")
    try:
        async with served(directory) as console, at(console) as session:
            await ready(session)
            seen: list[int] = []

            async def listen() -> None:
                async for seq, _ in events(session, "/api/stream?from=1"):
                    seen.append(seq)

            listening = asyncio.create_task(listen())
            await until(lambda: len(seen) > 20, within_s=60)
            stop(process, signal.SIGKILL)
            await becomes(session, "/api/standing", lambda s: not s["time"]["is_running"])
            assert (await get(session, "/api/log?limit=5"))["messages"]
            before = last_envelope(directory)
            assert before is not None
            process = start(directory, "--speed", "20000")
            await until(lambda: seen[-1] > before.seq + 10, within_s=90)
            assert seen == list(range(1, len(seen) + 1))
            status, told = await post(
                session,
                "/api/acts",
                kind="note",
                key="back",
                channel="#a-arena",
                fields={"text": "welcome back"},
            )
            assert status == 200, told
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
    finally:
        stop(process)


async def test_a_log_that_is_replaced_is_the_one_that_is_shown(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    written(directory, 2_500)
    old = last_envelope(directory)
    assert old is not None
    async with served(directory) as console, at(console) as session:
        await becomes(session, "/api/standing", lambda s: s["society"])
        process = start(directory, "--speed", "20000", "--new")
        try:
            fresh = await becomes(session, "/api/standing", lambda s: s["society"] and s["head"] < old.seq)
            assert fresh["time"]["is_running"]
            await ready(session)
            first = await get(session, "/api/messages/1")
            assert first["hash"] != next(stored_envelopes(directory / "old-1")).hash
            assert first["hash"] == next(stored_envelopes(directory)).hash
        finally:
            stop(process)


async def test_two_consoles_on_a_port_one_is_told(tmp_path: Path) -> None:
    written(tmp_path, 50)
    async with served(tmp_path) as console:
        port = int(console.host.partition(":")[2])
        with pytest.raises(CannotServe, match=f"port {port} on 127.0.0.1 is in use"):
            async with served(tmp_path, port=port):
                pass


async def test_a_gateway_goes_on_without_a_console_that_cannot_be_served(tmp_path: Path) -> None:
    written(tmp_path, 50)
    async with served(tmp_path) as console:
        port = int(console.host.partition(":")[2])
        with structlog.testing.capture_logs() as said:
            await keep(
                ConsoleOptions(port=port, has_page=False), tmp_path, load_settings(), lambda: tmp_path / "no"
            )
    (told,) = [line["why"] for line in said if line["event"] == "no console"]
    assert f"port {port} on 127.0.0.1 is in use" in told and "token=" not in told


@contextmanager
def busy_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def up(directory: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "moot", "up", "--data", str(directory), *words]
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "300"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)


def test_moot_up_refuses_a_busy_port_that_was_asked_for_before_anything_is_written(tmp_path: Path) -> None:
    with busy_port() as port:
        process = up(tmp_path / "data", "--port", str(port))
        told = process.communicate(timeout=60)[0]
    assert process.returncode == 3
    assert told.splitlines() == [f"moot up: port {port} on 127.0.0.1 is in use: choose another with --port"]
    assert not (tmp_path / "data").exists()


def test_moot_up_takes_the_next_free_port_and_says_so(tmp_path: Path) -> None:
    with busy_port() as port:
        config = tmp_path / "moot.toml"
        config.write_text(f"[console]\nport = {port}\n")
        process = up(tmp_path / "data", "--config", str(config))
        try:
            assert process.stdout is not None
            said = next(line for line in process.stdout if "is in use" in line)
            found = re.search(r"the page takes port (\d+)", said)
            assert found is not None and int(found[1]) > port
            address = next(line for line in process.stdout if "token=" in line)
            assert f":{found[1]}/" in address
            stop(process)
            assert process.returncode == 0
        finally:
            process.kill()
            process.communicate()


def test_moot_up_says_why_there_is_no_page_and_lives(tmp_path: Path) -> None:
    process = up(tmp_path, "--host", "0.0.0.0", "--port", "0")
    try:
        assert process.stdout is not None
        told = next(line for line in process.stdout if line.startswith("no page: "))
        assert "token" in told, told
        assert process.poll() is None
        stop(process)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_moot_up_says_that_a_token_of_an_earlier_start_is_replaced(tmp_path: Path) -> None:
    made_before = "a" * 32
    (tmp_path / "console-token").write_text(f"owner {made_before}\n")
    (tmp_path / "console-token").chmod(0o600)
    command = [sys.executable, "-m", "moot", "up", "--data", str(tmp_path), "--port", "0"]
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "300"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    try:
        assert process.stdout is not None
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if line.startswith("open http"):
                break
        assert sum("new tokens for owner" in line for line in said) == 1
        assert made_before not in "".join(said) and "/?token=mtk_" in said[-1]
        stop(process)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


async def test_a_console_that_waits_for_its_first_log_shows_it_when_it_comes(tmp_path: Path) -> None:
    async with served(tmp_path) as console, at(console) as session:
        assert (await get(session, "/api/standing"))["head"] == 0
        assert (await get(session, "/api/log"))["messages"] == []
        log = written(tmp_path, 50)
        await becomes(session, "/api/standing", lambda s: s["head"] == len(log))


def test_the_command_serves_and_ends_on_a_signal(tmp_path: Path) -> None:
    written(tmp_path, 50)
    command = [sys.executable, "-m", "moot.console", str(tmp_path), "--port", "0", "--no-page"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("console: http://127.0.0.1:") and "/?token=" in line
        assert process.stdout.readline().startswith("viewers: http://127.0.0.1:")
    finally:
        process.send_signal(signal.SIGTERM)
        _, wrong = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in wrong, wrong


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nowhere"], "no society was ever started there"),
        (["odd"], "odd: its log.sqlite is no file"),
        ([".", "--port", "70000"], "a port is a number"),
        ([".", "--host", "0.0.0.0", "--port", "0"], "name a token_file"),
        ([".", "--config", "nowhere.toml"], "cannot be read"),
    ],
)
def test_the_command_says_in_one_line_what_it_cannot_do(tmp_path: Path, words: list[str], why: str) -> None:
    written(tmp_path, 20)
    (tmp_path / "odd" / "log.sqlite").mkdir(parents=True)
    command = [sys.executable, "-m", "moot.console", *words, "--no-page"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env, timeout=60
    )
    assert done.returncode == 2
    assert why in done.stderr and done.stderr.count("\n") == 1, done.stderr


async def test_the_stream_is_one_line_a_message(tmp_path: Path) -> None:
    log: list[Envelope] = written(tmp_path, 120)
    async with served(tmp_path) as console, at(console) as session:
        seen = []
        async for _, message in events(session, "/api/stream?from=1"):
            seen.append(message)
            if len(seen) == len(log):
                break
        assert seen == [json.loads(env.line) for env in log]


async def test_a_watched_directory_lets_go_of_everything(tmp_path: Path) -> None:
    written(tmp_path, 100)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        async with watched(tmp_path) as model:
            await model.window()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2
