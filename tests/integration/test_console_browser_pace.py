"""The console on a phone and under too much text: pace of time, long notes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.doubles.browser import browser as a_browser
from tests.doubles.browser import say, somebody
from tests.doubles.console_page import Consoled, consoled

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoled]:
    with consoled(tmp_path_factory.mktemp("pace")) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with a_browser() as running:
        yield running


def test_a_note_that_is_too_long_is_refused_calmly_and_not_lost(society: Consoled, chromium: Browser) -> None:
    """100 kB: the page stays whole, what was written stays in its field, and others see nothing of it."""
    with somebody(chromium, society.owner, "/c/a-arena") as page:
        write = page.get_by_label("write a note or a command")
        for text in ("long " * 20_000, "\U0001f600\u05e9" * 30_000):
            write.fill(text)
            page.keyboard.press("Enter")
            said = page.locator(".compose .said.bad")
            expect(said).to_contain_text("20,000")
            assert len(said.inner_text()) < 300
            assert write.input_value() == text
            assert page.locator(".msg.human", has_text="long long").count() == 0
            expect(page.locator(".tell.bad")).to_have_count(0)
        assert "Noted" in say(page, "a short one instead")
        expect(page.locator(".msg.human", has_text="a short one instead")).to_be_visible()


def test_a_long_note_is_cut_in_the_channel_and_can_be_read_to_its_end(
    society: Consoled, chromium: Browser
) -> None:
    with somebody(chromium, society.owner, "/c/a-report") as page:
        assert "Noted" in say(page, "It goes on and on, " * 60 + "and this is its end.")
        note = page.locator(".msg.human", has_text="It goes on and on").last
        expect(note).not_to_contain_text("this is its end")
        note.get_by_role("button", name="show all").click()
        expect(note).to_contain_text("and this is its end.")
        note.get_by_role("button", name="show less").click()
        expect(note).not_to_contain_text("this is its end")
        page.goto(f"{society.base}/m/{note.get_attribute('data-seq')}")
        expect(page.locator(".msg.at")).to_contain_text("and this is its end.")


def test_the_pace_is_set_with_the_slider_by_keys_and_stepped_on_a_phone(
    society: Consoled, chromium: Browser
) -> None:
    """K7."""
    with somebody(chromium, society.owner, "/c/a-verdict", size={"width": 390, "height": 844}) as page:
        expect(page.get_by_label("speed", exact=True)).not_to_be_visible()
        page.get_by_role("button", name="pace of time").click()
        box = page.get_by_role("dialog", name="pace of time")
        slide = box.get_by_role("slider", name="Speed")
        expect(slide).to_be_focused()
        box.get_by_role("button", name="60×", exact=True).click()
        expect(page.locator(".head .pace")).to_have_text("60×")
        slide.focus()
        page.keyboard.press("ArrowRight")
        expect(slide).to_have_attribute("aria-valuetext", "80 times real time")
        expect(page.locator(".head .pace")).to_have_text("80×")
        page.keyboard.press("Home")
        expect(page.locator(".head .pace")).to_have_text("1×")
        page.keyboard.press("End")
        expect(page.locator(".head .pace")).to_have_text("600×")
        box.get_by_role("button", name="10×", exact=True).click()
        box.get_by_role("button", name="Pause").click()
        expect(page.locator(".head .pace")).to_have_text("paused")
        before = page.locator(".clock b").inner_text()
        # Several timers may be due in one second: one steps until the clock moves.
        page.wait_for_function(
            """(before) => { if (document.querySelector(".clock b").innerText !== before) return true;
                const all = [...document.querySelectorAll(".timebox button")];
                all.find((b) => b.innerText.startsWith("Step")).click(); }""",
            arg=before,
            polling=400,
        )
        box.get_by_role("button", name="Go on").click()
        expect(page.locator(".head .pace")).to_have_text("10×")
        page.keyboard.press("Escape")
        expect(box).to_have_count(0)
        expect(page.get_by_role("button", name="pace of time")).to_be_focused()
