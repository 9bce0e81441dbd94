"""Reading the page in a real Chromium: titles, context, confirmation, search, past moments, folding."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.doubles.browser import browser as a_browser
from tests.doubles.browser import go, somebody
from tests.doubles.console_page import Consoled, consoled

pytestmark = pytest.mark.timeout(400)

ID = re.compile(r"\b(?:hyp|cycle|dep|esc|session|strat)_20\d{6}")
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoled]:
    with consoled(tmp_path_factory.mktemp("console")) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with a_browser() as running:
        yield running


def test_ids_are_small_print_and_titles_stand_everywhere(society: Consoled, chromium: Browser) -> None:
    with somebody(chromium, society.owner, "/c/a-arena") as page:
        expect(page.locator(".board .row").first).to_be_visible()
        for place in ("/c/a-arena", "/inbox", "/search?q=debate", "/c/b-ops"):
            go(page, place)
            for part in (".board", ".bar h1", ".msg .say", ".msg .chip", "section.sheet h2", ".options"):
                for shown in page.locator(part).all_inner_texts():
                    assert not ID.search(shown), (place, part, shown)
        go(page, "/c/a-arena")
        chip = page.locator(".msg a.chip[data-case^=hyp_]").last
        case_id = chip.get_attribute("data-case") or ""
        go(page, f"/case/{case_id}")
        title = page.locator(".bar h1").inner_text()
        assert len(title.split()) > 3
        assert not ID.search(title)
        assert page.title() == f"{title} · Moot"
        # The id is there for who needs it, and states that were not entered are one phrase.
        expect(page.locator(".crumbs .idp")).to_contain_text(case_id)
        expect(page.locator(".path .st.not")).to_have_count(1)
        expect(page.locator(".path .st.not")).to_contain_text(re.compile(r"^\d+ states? not entered"))


def test_an_act_opened_from_a_case_knows_it_shows_it_and_asks_once_more(
    society: Consoled, chromium: Browser
) -> None:
    with somebody(chromium, society.owner, "/c/a-arena") as page:
        owed = page.locator(".board [href^='/case/hyp_'], .board [href^='/seat/hyp_']").first
        case_id = re.search(r"hyp_[0-9_]+", owed.get_attribute("href") or "")
        assert case_id
        go(page, f"/case/{case_id[0]}")
        title = page.locator(".bar h1").inner_text()
        page.locator(".crumbs .acts a", has_text="Stop this case").click()
        beside = page.get_by_role("complementary", name="what you need to decide")
        expect(beside).to_contain_text(title)
        expect(beside).to_contain_text("How it began")
        page.get_by_label(re.compile("^why")).fill("it goes in circles")
        page.get_by_role("button", name="Send").click()
        dialog = page.get_by_role("dialog", name="Stop this case?")
        expect(dialog).to_contain_text("it goes in circles")
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(page.locator(".toast")).to_have_count(0)
        page.get_by_role("button", name="Send").click()
        dialog.get_by_role("button", name="Yes").click()
        expect(page.locator(".toast").first).to_contain_text("Done: stop this case")
        page.get_by_role("link", name="Show it").click()
        expect(page.locator(".msg.at[data-type=STOP]")).to_be_visible()


def test_the_debate_behind_an_escalation_is_one_click_away(society: Consoled, chromium: Browser) -> None:
    with somebody(chromium, society.owner, "/inbox") as page:
        page.locator(".origins a", has_text="Debate: ").first.click()
        expect(page.locator(".path .st").first).to_be_visible()
        assert "/case/hyp_" in page.url


def test_a_search_has_an_address_counts_and_marks(society: Consoled, chromium: Browser) -> None:
    with somebody(chromium, society.owner, "/search?q=sharpe") as page:
        expect(page.locator(".main .count")).to_have_text(re.compile(r"^[\d,]+ messages? found"))
        expect(page.locator(".msg mark").first).to_have_text(re.compile("sharpe", re.IGNORECASE))
        page.get_by_label("search messages").fill("volatility")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"/search\?q=volatility$"))
        expect(page.locator(".msg mark").first).to_have_text(re.compile("volatility", re.IGNORECASE))
        go(page, "/search?q=nobodysaidthis")
        expect(page.locator(".page [role=status]")).to_contain_text("Nothing found")


def test_a_past_moment_has_an_address_and_fits_a_phone(society: Consoled, chromium: Browser) -> None:
    with somebody(chromium, society.owner, "/c/a-arena?at=40", size=PHONE) as page:
        past = page.get_by_role("region", name="the past")
        expect(past).to_contain_text("message 40 of")
        assert page.locator(".msg").last.get_attribute("data-seq") in {str(n) for n in range(1, 41)}
        box = past.bounding_box()
        assert box is not None
        assert box["height"] < 170
        page.get_by_label("on one message").click()
        expect(page).to_have_url(re.compile(r"/c/a-arena\?at=41$"))
        page.get_by_role("button", name="Back to now").click()
        expect(past).to_have_count(0)
        expect(page).to_have_url(re.compile(r"/c/a-arena$"))
        page.go_back()
        expect(past).to_contain_text("message 4")
    with somebody(chromium, society.owner, "/inbox?at=99999999") as page:
        expect(page.locator(".tell.bad")).to_contain_text("Cannot show the past moment 99999999")


def test_unused_channels_and_routine_are_folded_until_somebody_asks(
    society: Consoled, chromium: Browser
) -> None:
    with somebody(chromium, society.owner, "/c/b-risk") as page:
        nav = page.locator(".nav")
        expect(nav.locator("a", has_text="#motions")).to_have_count(0)
        nav.locator(".unused", has_text="unused").first.click()
        expect(nav.locator(".unused[aria-expanded=true]")).to_contain_text("Hide unused")
        folded = page.locator(".folded").first
        expect(folded).to_contain_text("routine messages")
        before = page.locator(".msg").count()
        folded.click()
        assert page.locator(".msg").count() > before


def test_texts_on_the_board_are_not_cut_and_tables_show_that_they_go_on(
    society: Consoled, chromium: Browser
) -> None:
    with somebody(chromium, society.owner, "/figures/b") as page:
        cut = page.evaluate(
            "() => [...document.querySelectorAll('.board .l2')].filter((e) => e.scrollWidth > e.clientWidth + 1).length"
        )
        assert cut == 0
        shade = page.evaluate("() => getComputedStyle(document.querySelector('.wide')).backgroundAttachment")
        assert shade == "local, local, scroll, scroll"
        # No two labels of an axis overlap.
        overlaps = page.evaluate(
            """() => [...document.querySelectorAll('.chart svg')].flatMap((svg) => {
                const boxes = [...svg.querySelectorAll('text')].map((t) => t.getBoundingClientRect());
                return boxes.flatMap((a, n) => boxes.slice(n + 1).filter((b) =>
                    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3));
            }).length"""
        )
        assert overlaps == 0
