"""Reading steps back while somebody waits for an answer, and never for good."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from moot.console.reading import courtesy as module
from moot.console.reading.courtesy import Attending, Courtesy, Worker
from moot.console.reading.folding import SLICE, fold_file
from moot.protocols.kernel.docket import Docket
from moot.protocols.rulebook import rules
from tests.doubles.console import written
from tests.doubles.waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Counted(Courtesy):
    """Counts how often a reader waited."""

    waits = 0

    def wait_free(self, timeout_s: float) -> bool:
        self.waits += 1
        return super().wait_free(timeout_s)


async def test_folding_stands_still_while_somebody_waits_and_goes_on_after_that(tmp_path: Path) -> None:
    log = written(tmp_path, 600)
    courtesy = Counted()
    docket, stop = Docket(rules()), threading.Event()
    courtesy.come()
    work = asyncio.create_task(
        asyncio.to_thread(
            fold_file, tmp_path, docket, len(log), stop=stop, worker=Worker(courtesy, most_s=60)
        )
    )
    await until(lambda: courtesy.waits or work.done())
    assert docket.seq == SLICE and not work.done()
    courtesy.go()
    await work
    assert docket.seq == len(log)


async def test_a_reader_that_waited_long_enough_works_a_while_and_then_waits_again() -> None:
    courtesy = Counted()
    courtesy.come()
    worker = Worker(courtesy, most_s=0.001, slices=3)
    seen = []
    for _ in range(7):
        worker.step_back()
        seen.append(courtesy.waits)
    assert seen == [1, 1, 1, 2, 2, 2, 3]


async def test_on_the_loop_it_is_the_same() -> None:
    courtesy = Courtesy()
    courtesy.come()
    await Worker(courtesy, most_s=0.001).step_back_on_loop()
    waiting = asyncio.create_task(Worker(courtesy, most_s=60).step_back_on_loop())
    await asyncio.sleep(0)
    assert not waiting.done()
    courtesy.go()
    await waiting
    assert courtesy.is_free


async def test_after_an_answer_the_next_question_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINGER_S", 0.01)
    courtesy = Courtesy()
    courtesy.come()
    courtesy.come()
    courtesy.go()
    assert not courtesy.is_free
    courtesy.go()
    assert not courtesy.is_free
    courtesy.come()
    await asyncio.sleep(0.02)
    assert not courtesy.is_free
    courtesy.go()
    await until(lambda: courtesy.is_free)


async def test_at_the_end_nobody_is_held_up() -> None:
    courtesy = Courtesy()
    courtesy.come()
    waiting = asyncio.create_task(asyncio.to_thread(Worker(courtesy, most_s=60).step_back))
    courtesy.end()
    await waiting
    courtesy.come()
    assert courtesy.is_free


async def asked(app: Any, kind: str, courtesy: Courtesy) -> None:
    async def receive() -> MutableMapping[str, Any]:
        return {"type": f"{kind}.connect"}

    async def send(_message: MutableMapping[str, Any]) -> None:
        pass

    await Attending(app, courtesy)({"type": kind}, receive, send)


async def test_a_request_counts_until_it_is_answered_also_when_it_fails() -> None:
    courtesy = Counted()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "headers": [(b"content-type", b"text/html")]})
        assert courtesy._waiting == 1
        raise LookupError("boom")

    with pytest.raises(LookupError):
        await asked(app, "http", courtesy)
    assert courtesy._waiting == 0


async def test_a_stream_is_answered_once_it_begins() -> None:
    courtesy = Courtesy()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        assert courtesy._waiting == 1
        head = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "headers": head})
        assert courtesy._waiting == 0
        await send({"type": "http.response.body", "body": b""})

    await asked(app, "http", courtesy)
    assert courtesy._waiting == 0


async def test_on_a_socket_what_comes_in_counts_and_staying_open_does_not() -> None:
    courtesy = Courtesy()

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        assert courtesy.is_free
        await receive()
        assert courtesy._waiting == 0 and not courtesy.is_free

    await asked(app, "websocket", courtesy)
