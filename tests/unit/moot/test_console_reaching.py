"""The way to the society: what pages show is known to whichever society is there (K8), and so is its trouble."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot.console import reaching as module
from moot.console.reaching import Reaching
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.hosting import asking, hosting
from tests.doubles.waiting import until


@pytest.fixture(autouse=True)
def asked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ASK_S", 0.01)


class Society:
    """Answers what a console asks, and remembers what it was told since it was started."""

    def __init__(self) -> None:
        self.shown: set[str] = set()
        self.trouble = ""
        self.asked_of_trouble = False
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self, question: str, args: Mapping[str, Any]) -> str:
        if question == "escalation_shown":
            (self.shown.add if args["is_open"] else self.shown.discard)(args["escalation_id"])
            await self.may_answer.wait()
        else:
            self.asked_of_trouble = True
        return self.trouble if question == "trouble" else ""


@asynccontextmanager
async def hosted(directory: Path) -> AsyncIterator[Society]:
    society = Society()
    async with hosting(directory, ask=society.ask):
        yield society


@asynccontextmanager
async def reached(directory: Path, on_change: Callable[[], None]) -> AsyncIterator[Reaching]:
    async with asking(directory) as requests:
        reaching = Reaching(requests, lambda _platform, _user: ADMIN, on_change=on_change)
        task = asyncio.create_task(reaching.keep_asking())
        try:
            yield reaching
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.mark.rule("K8")
async def test_k8_a_society_that_was_started_anew_is_told_what_pages_show(tmp_path: Path) -> None:
    async with reached(tmp_path, lambda: None) as reaching:
        # Also one that was not there yet when the page opened.
        await reaching.hold("page 1", frozenset({"esc_1"}))
        for _ in range(3):
            async with hosted(tmp_path) as society:
                await until(lambda: society.shown == {"esc_1"})
        async with hosted(tmp_path) as society:
            await until(lambda: society.shown == {"esc_1"})
            await reaching.hold("page 2", frozenset({"esc_1", "esc_2"}))
            await reaching.hold("page 1", frozenset())
            assert society.shown == {"esc_1", "esc_2"}
            await reaching.hold("page 2", frozenset())
            assert society.shown == set()


@pytest.mark.rule("K8")
async def test_k8_what_a_page_left_while_a_new_society_was_told_is_not_told_as_shown(tmp_path: Path) -> None:
    async with reached(tmp_path, lambda: None) as reaching:
        await reaching.hold("page 1", frozenset({"esc_1"}))
        await reaching.hold("page 2", frozenset({"esc_2"}))
        async with hosted(tmp_path) as society:
            society.may_answer.clear()
            await until(lambda: society.shown == {"esc_1"})
            leaving = asyncio.create_task(reaching.hold("page 2", frozenset()))
            await asyncio.sleep(0.05)
            society.may_answer.set()
            await leaving
            await until(lambda: society.asked_of_trouble)
            assert society.shown == {"esc_1"}


def test_trouble_is_told_and_ends_with_the_society_that_had_it(tmp_path: Path) -> None:
    changes: list[str] = []

    async def main() -> None:
        async with reached(tmp_path, lambda: changes.append(reaching.trouble)) as reaching:
            async with hosted(tmp_path) as society:
                society.trouble = "The log cannot be written: disk is full"
                await until(lambda: reaching.trouble)
            await until(lambda: not reaching.trouble)

    asyncio.run(main())
    assert changes == ["The log cannot be written: disk is full", ""]
