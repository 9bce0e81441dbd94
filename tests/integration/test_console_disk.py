"""The console on a disk that is really full: it stays up, says in one line what is wrong, and goes on with room."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.config.settings import load_settings
from moot.console.errors import CannotServe
from moot.console.serving.access import NAME
from moot.stored import stored_envelopes
from tests.doubles.console import served, written
from tests.doubles.small_disk import fill, mounted
from tests.integration.test_console_api import at, becomes, get, post, ready, start, stop

pytestmark = pytest.mark.anyio
TEXT = ("mind the tails " * 400).strip()
NOTE = {"kind": "note", "channel": "#a-arena"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "work" / "data") as place:
        yield place


async def test_a_disk_that_fills_up_is_named_and_what_was_refused_is_done_later(small_disk: Path) -> None:
    society = start(small_disk, "--speed", "60")
    try:
        async with served(small_disk) as console, at(console) as session:
            await ready(session)
            before = {**NOTE, "key": "before", "fields": {"text": "before"}}
            status, told = await post(session, "/api/acts", **before)
            assert status == 200, told
            ballast = fill(small_disk)
            late = {**NOTE, "key": "late", "fields": {"text": TEXT}}
            for _ in range(2):
                status, told = await post(session, "/api/acts", **late)
                assert (status, told["ok"]) == (409, False)
                assert "disk is full" in told["text"] and "try again" in told["text"]
                assert "\n" not in told["text"]
            status, told = await post(session, "/api/clock", op="pause")
            assert status == 409 and "full" in told["text"] and "\n" not in told["text"], told
            assert (await get(session, "/api/standing"))["society"]
            assert (await get(session, "/api/log?limit=5"))["messages"]
            async with session.get("/metrics") as answer:
                assert answer.status == 200
            ballast.unlink()
            told = await becomes_written(session, late)
            await becomes(session, f"/api/messages/{told['seq']}", lambda said: said["body"]["text"])
            status, told = await post(session, "/api/clock", op="pause")
            assert status == 200, told
    finally:
        stop(society)
    notes = [env.body.text for env in stored_envelopes(small_disk) if env.body.type == "NOTE"]  # type: ignore[attr-defined]
    assert notes == ["before", TEXT]


async def test_a_console_that_begins_on_a_full_disk_shows_and_takes_acts_once_there_is_room(
    small_disk: Path,
) -> None:
    society = start(small_disk, "--speed", "60")
    try:
        async with served(small_disk) as console, at(console) as session:
            await ready(session)
        for path in small_disk.glob("outbox-console*"):
            path.unlink()
        ballast = fill(small_disk)
        async with served(small_disk) as console, at(console) as session:
            await ready(session)
            note = {**NOTE, "key": "n", "fields": {"text": "is anybody there?"}}
            status, told = await post(session, "/api/acts", **note)
            assert status == 409 and "nobody can act here now" in told["text"], told
            assert "\n" not in told["text"]
            assert (await get(session, "/api/log?limit=5"))["messages"]
            ballast.unlink()
            await becomes_taken(session, note)
    finally:
        stop(society)
    notes = [env for env in stored_envelopes(small_disk) if env.body.type == "NOTE"]
    assert len(notes) == 1


async def test_a_society_that_cannot_write_its_log_says_so_on_the_page_and_goes_on_by_itself(
    small_disk: Path,
) -> None:
    society = start(small_disk, "--speed", "6000")
    try:
        async with served(small_disk) as console, at(console) as session:
            await ready(session)
            ballast = fill(small_disk)
            stands = await becomes(session, "/api/standing", lambda s: s["time"]["trouble"])
            assert "disk is full" in stands["time"]["trouble"] and stands["time"]["pace"] == 0
            later = await get(session, "/api/standing")
            assert later["time"]["at"] == stands["time"]["at"]
            ballast.unlink()
            goes = await becomes(session, "/api/standing", lambda s: not s["time"]["trouble"])
            assert goes["time"]["pace"] == 6000
    finally:
        stop(society)


async def becomes_written(session: Any, note: dict[str, Any]) -> Any:
    """Send it again as an impatient person would: a society that waits for its disk only keeps it at first."""
    async with asyncio.timeout(60):
        while True:
            status, told = await post(session, "/api/acts", **note)
            assert status == 200, told
            if told["seq"]:
                return told


async def becomes_taken(session: Any, note: dict[str, Any]) -> None:
    """Try again as a person would, until it is taken."""
    status = 0
    async with asyncio.timeout(60):
        while status != 200:
            status, _ = await post(session, "/api/acts", **note)
            await asyncio.sleep(0.05)


async def test_tokens_that_cannot_be_written_are_told_in_one_line_and_nothing_is_left_of_them(
    small_disk: Path,
) -> None:
    written(small_disk, 60)
    ballast = fill(small_disk)
    with pytest.raises(CannotServe, match="the tokens cannot be written: No space left") as told:
        async with served(small_disk, load_settings()):
            pass
    assert "\n" not in str(told.value)
    assert not (small_disk / NAME).exists()
    ballast.unlink()
    async with served(small_disk) as console, at(console) as session:
        await becomes(session, "/api/standing", lambda s: s["society"])
