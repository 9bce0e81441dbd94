"""Calls of models on a served console: who is told of them over HTTP, by the stream, and on the page in a browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.sync_api import Browser, Page, expect

from moot.config.settings import load_settings
from tests.doubles.browser import browser as a_browser
from tests.doubles.browser import go
from tests.doubles.called_motion import SECRET, a_motion
from tests.doubles.console import Served, served
from tests.doubles.console_page import Consoled
from tests.doubles.page_eyes import Eyes, tabbed

pytestmark = pytest.mark.timeout(300)

CALL = "motion_20260223_1000/claim/advocate/0/1/1"
GUESSES = (
    "/api/calls",
    "/api/calls?seat=advocate&limit=500",
    f"/api/calls/{CALL}",
    "/api/calls/sums?by=case",
    "/api/budgets",
    "/api/messages/3",
    "/api/messages/4",
    "/api/messages/13/why",
    "/api/messages/14/why",
    f"/api/cases/{CALL}",
)
SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 390, "height": 844}}


# ---------------------------------------------------------------- programs


async def told(console: Served, token: str, path: str) -> tuple[int, str]:
    """Ask, once the log has been read, and return status and text."""
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(console.base, headers=headers) as session:
        while True:
            async with session.get("/api/standing") as answer:
                standing = await answer.json()
            if standing["society"] and standing["progress"]["index"]["done"] == standing["head"]:
                break
            await asyncio.sleep(0.02)
        async with session.get(path) as answer:
            return answer.status, await answer.text()


async def streamed(console: Served, token: str, last: int) -> list[Any]:
    """Return what the stream has from the beginning up to a message."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(console.base, headers=headers) as session,
        session.get("/api/stream?from=1") as answer,
    ):
        found = []
        async for raw in answer.content:
            if raw.startswith(b"data: "):
                found.append(json.loads(raw[6:]))
                if found[-1]["seq"] >= last:
                    return found
    raise AssertionError("the stream ended")


@pytest.mark.anyio
async def test_a_viewers_token_gets_nothing_of_calls_at_any_address(tmp_path: Path) -> None:
    a_motion(tmp_path).write()
    async with served(tmp_path) as console:
        for path in GUESSES:
            status, text = await told(console, console.viewer, path)
            assert (status, SECRET in text, "micro" in text) == (404, False, False), (path, text)
            if path not in ("/api/messages/3", "/api/messages/4", f"/api/cases/{CALL}"):
                assert "you do not read" in text, path
        for path in (
            "/api/log?from=1&limit=500",
            "/api/log?channel=%23calls",
            "/api/search?type=CALL_SETTLED",
        ):
            _, text = await told(console, console.viewer, path)
            assert not [one for one in json.loads(text)["messages"] if one["channel"] == "#calls"], path
        # The last message is about a call, the one before them sets a budget in #admin.
        heard = await streamed(console, console.viewer, 17)
        assert [one["seq"] for one in heard] == [1, 2, 7, 8, 13, 14, 17]


@pytest.mark.anyio
@pytest.mark.parametrize("reads", [None, ["*", "#calls"]])
async def test_who_reads_calls_is_told_of_them_word_for_word(tmp_path: Path, reads: list[str] | None) -> None:
    a_motion(tmp_path).write()
    settings = load_settings(None, viewers={"reads": reads}) if reads else load_settings()
    async with served(tmp_path, settings) as console:
        token = console.viewer if reads else console.owner
        status, text = await told(console, token, "/api/calls?limit=3")
        page = json.loads(text)
        assert (status, [one["state"] for one in page["calls"]]) == (
            200,
            ["no_room", "not_sent", "timed_out"],
        )
        _, text = await told(console, token, f"/api/calls?before={page['before']}")
        assert [one["cost"] for one in json.loads(text)["calls"]] == [260, 900, 280, 200]
        _, text = await told(console, token, "/api/calls/sums?by=model")
        assert [(one["name"], one["calls"], one["cost"]) for one in json.loads(text)] == [
            ("priced", 5, 1_640)
        ]
        _, text = await told(console, token, "/api/budgets")
        society = next(one for one in json.loads(text) if (one["scope"], one["unit"]) == ("society", "usd"))
        assert (society["limit"], society["booked"], society["left"]) == (10_000, 1_640, 8_360)
        for path in ("/api/messages/13/why", f"/api/calls/{CALL}"):
            _, text = await told(console, token, path)
            calls = json.loads(text)["calls"]
            assert SECRET in calls[0]["request"]["messages"][-1]["content"], path
            assert calls[-1]["reply"]["body"]["choices"][0]["message"]["content"] == '{"option":"yes"}', path
        assert len(await streamed(console, token, 19)) == 19


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


# ---------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoled]:
    place = tmp_path_factory.mktemp("calls")
    (place / "work").mkdir()
    found = Consoled(a_motion(place / "data").write(), place / "work")
    try:
        found.start_console()
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with a_browser() as running:
        yield running


def opened(chromium: Browser, address: str, size: str = "wide") -> Page:
    page = chromium.new_context(viewport=SIZES[size]).new_page()  # type: ignore[arg-type]
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    expect(page.locator(".board")).not_to_contain_text("messages")
    return page


@pytest.mark.parametrize("size", SIZES)
def test_calls_and_their_stories_are_accessible_and_inside_the_window(
    society: Consoled, chromium: Browser, size: str
) -> None:
    page = opened(chromium, society.owner, size)
    try:
        eyes = Eyes(page)
        go(page, "/calls")
        expect(page.locator("table.calls tbody tr")).to_have_count(7)
        eyes.look("/calls", by_colours=size == "wide")
        go(page, f"/call/{CALL}")
        page.locator(".story .part summary", has_text="user").first.click()
        expect(page.locator(".story pre").first).to_be_visible()
        eyes.look("/call", by_colours=size == "wide")
        go(page, "/m/13")
        page.locator("#m13").focus()
        page.locator("#m13").get_by_role("button", name="Why").click()
        expect(page.locator("#m13 .story .call")).to_have_count(4)
        eyes.look("why", by_colours=size == "wide")
        assert not eyes.flaws, "\n".join(eyes.flaws)
    finally:
        page.context.close()


def test_why_is_reached_by_the_keyboard_and_tells_prompt_and_reply(
    society: Consoled, chromium: Browser
) -> None:
    page = opened(chromium, society.owner)
    try:
        go(page, "/m/13")
        expect(page.locator("#m13.at")).to_have_count(1)
        page.keyboard.press("k")
        expect(page.locator("#m8")).to_be_focused()
        page.keyboard.press("w")
        expect(page.locator("#m8 .whybox")).to_contain_text("The referee is code")
        page.keyboard.press("w")
        expect(page.locator(".whybox")).to_have_count(0)
        page.locator("#m13").focus()
        expect(page.locator("#m13").get_by_role("button", name="Why")).to_be_visible()
        while not page.evaluate("document.activeElement.innerText === 'Why'"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        why = page.get_by_role("region", name="why message 13")
        expect(why).to_contain_text("Written by the model priced (test-1).")
        expect(why).to_contain_text('{"option":"yes"}')
        first = why.locator(".call").first
        first.locator("> summary").focus()
        page.keyboard.press("Enter")
        first.locator(".part summary", has_text="user").last.focus()
        page.keyboard.press("Enter")
        # What others wrote is shown as text, never read as markup.
        expect(first.locator("pre").first).to_contain_text(f"<b>Memory</b>: {SECRET}")
        assert all(at["has_ring"] and at["is_seen"] for at in tabbed(page)), "the focus is seen everywhere"
    finally:
        page.context.close()


def test_calls_are_filtered_and_lead_to_their_story(society: Consoled, chromium: Browser) -> None:
    page = opened(chromium, society.owner)
    try:
        page.keyboard.press("g")
        page.keyboard.press("b")
        expect(page.locator("table.calls tbody tr")).to_have_count(7)
        expect(page.locator(".head .spend")).to_contain_text("$0.00 left")
        page.get_by_label("end", exact=True).select_option("truncated")
        expect(page.locator("table.calls tbody tr")).to_have_count(1)
        expect(page).to_have_url(f"{society.base}/calls?state=truncated")
        page.locator("table.calls tbody a").first.click()
        expect(page.locator(".call[open]")).to_contain_text("the answer was cut off at max_tokens")
    finally:
        page.context.close()


def test_a_viewers_page_has_nothing_of_calls_and_its_socket_gets_nothing(
    society: Consoled, chromium: Browser
) -> None:
    page = opened(chromium, society.viewer)
    try:
        go(page, "/m/13")
        page.locator("#m13").focus()
        expect(page.locator("#m13").get_by_role("button", name="JSON")).to_be_visible()
        expect(page.get_by_role("button", name="Why")).to_have_count(0)
        expect(page.locator(".nav")).not_to_contain_text("alls")
        expect(page.locator(".head .spend")).to_have_count(0)
        ask = """async ([op, args]) => {
          const page = getElement(document.querySelector('.moot').id.slice(1));
          try { return JSON.stringify(await page.ask(op, args)); } catch (e) { return `refused: ${e.message}`; }
        }"""
        for op, args in (
            ("why", {"seq": 13}),
            ("calls", {}),
            ("calls", {"before": 19}),
            ("open", {"path": "/calls"}),
            ("open", {"path": f"/call/{CALL}"}),
            ("open", {"path": "/c/calls"}),
            ("message", {"seq": 3}),
        ):
            said = page.evaluate(ask, [op, args])
            assert said.startswith("refused: "), (op, said)
        for op, args in (("window", {"channel": "#calls"}), ("search", {"type": "CALL_RESERVED"})):
            assert json.loads(page.evaluate(ask, [op, args]))["items"] == [], op
        for path in ("/calls", f"/call/{CALL}", "/c/calls", "/m/3"):
            answer = page.goto(f"{society.base}{path}")
            assert answer is not None and answer.status == 404, path
            assert SECRET not in page.content() and "0.00164" not in page.content(), path
    finally:
        page.context.close()
