"""How the console's page looks and moves: every view in both colours and sizes, the keyboard, the endless feed."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.doubles.browser import browser as a_browser
from tests.doubles.browser import go
from tests.doubles.console_page import Consoled
from tests.doubles.page_eyes import Eyes

pytestmark = pytest.mark.timeout(400)

SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 390, "height": 844}}
MOST = 240
"""Messages that a page holds at most."""


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoled]:
    """Serve three days that were simulated; nobody lives there any more."""
    place = tmp_path_factory.mktemp("looks")
    (place / "work").mkdir()
    words = ["simulate", "--days", "3", "--seed", "1", "--out", str(place / "data")]
    subprocess.run([sys.executable, "-m", "moot", *words], check=True, capture_output=True)
    found = Consoled(place / "data", place / "work")
    try:
        found.start_console()
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with a_browser() as running:
        yield running


@pytest.fixture
def page(society: Consoled, chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport=SIZES["wide"])  # type: ignore[arg-type]
    found = context.new_page()
    found.goto(society.owner)
    ready(found)
    yield found
    context.close()


def ready(page: Page) -> None:
    """Wait until the page is there and the log has been read."""
    page.wait_for_selector("html[data-ready]")
    expect(page.locator(".board")).not_to_contain_text("messages")


def of_type(society: Consoled, kind: str) -> dict[str, str]:
    """Return the first message of a type."""
    with closing(sqlite3.connect(society.directory / "log.sqlite")) as db:
        row = db.execute(
            "SELECT json FROM log WHERE json_extract(json, '$.body.type') = ?", (kind,)
        ).fetchone()
    found: dict[str, str] = json.loads(row[0])
    return found


def a_case_of_each_kind(society: Consoled) -> list[str]:
    """Return the last case of every kind, kinds being told apart by how ids begin."""
    with closing(sqlite3.connect(society.directory / "log.sqlite")) as db:
        rows = db.execute("SELECT json_extract(json, '$.case_id') FROM log ORDER BY seq").fetchall()
    found = {case_id.partition("_")[0]: case_id for (case_id,) in rows if case_id}
    assert len(found) > 4, found
    return list(found.values())


@pytest.mark.parametrize("size", SIZES)
def test_every_view_is_accessible_in_both_colours_and_inside_its_window(
    society: Consoled, chromium: Browser, size: str
) -> None:
    context = chromium.new_context(viewport=SIZES[size])  # type: ignore[arg-type]
    # Views have the same colours in every window, and axe-core 4.12 breaks off over tables that scroll in a narrow one.
    is_wide = size == "wide"
    try:
        page = context.new_page()
        page.goto(society.owner)
        ready(page)
        eyes = Eyes(page)
        ruling = of_type(society, "RULING")["seq"]
        places = ["/c/bridge", f"/m/{ruling}", "/inbox", "/nowhere", "/memory/reflections"]
        for place in [
            *places,
            "/figures/a",
            "/figures/b",
            "/figures/referee",
            "/figures/lab",
            "/search?type=RULING",
        ]:
            go(page, place)
            eyes.look(place, by_colours=is_wide)
        tabs = {"Transcript"}
        for case_id in a_case_of_each_kind(society):
            go(page, f"/case/{case_id}")
            eyes.look(f"/case/{case_id}", by_colours=is_wide)
            for tab in page.locator("[role=tab]").all():
                if (name := tab.inner_text()) not in tabs:
                    tabs.add(name)
                    tab.click()
                    eyes.look(f"/case/{case_id}, {name}", by_colours=is_wide)
        assert {"Duties and states", "Evidence"} <= tabs
        assert not eyes.flaws, "\n".join(eyes.flaws)
    finally:
        context.close()


def test_the_keyboard_reaches_everything(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="keys")).to_have_count(0)
    last = page.locator(".msg").last.get_attribute("data-seq")
    page.keyboard.press("k")
    expect(page.locator(".msg.at")).to_have_attribute("data-seq", last or "")
    page.keyboard.press("k")
    expect(page.locator(".msg.at")).not_to_have_attribute("data-seq", last or "")
    page.keyboard.press("j")
    expect(page.locator(".msg.at")).to_have_attribute("data-seq", last or "")
    page.keyboard.press("Tab")
    expect(page.locator(".msg.at .tools, .msg.at a").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("search messages")).to_be_focused()
    page.keyboard.type("momentum")
    page.keyboard.press("Enter")
    expect(page.locator(".bar h1")).to_have_text("Search")
    expect(page.locator(".msg").first).to_contain_text("omentum")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page.locator(".bar h1")).to_have_text("Inbox")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.locator(".nav a:focus")).to_have_count(1)
    page.go_back()
    expect(page.locator(".bar h1")).to_have_text("Search")


def test_drawers_open_and_close_on_a_narrow_window(society: Consoled, chromium: Browser) -> None:
    context = chromium.new_context(viewport=SIZES["narrow"])  # type: ignore[arg-type]
    try:
        page = context.new_page()
        page.goto(society.owner)
        ready(page)
        expect(page.locator(".nav")).not_to_be_visible()
        page.get_by_role("button", name="channels").click()
        expect(page.locator(".nav")).to_be_visible()
        page.locator(".nav a", has_text="#a-verdict").click()
        expect(page.locator(".bar h1")).to_have_text("#a-verdict")
        expect(page.locator(".nav")).not_to_be_visible()
        page.get_by_role("button", name="who owes what").click()
        expect(page.locator(".board")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".board")).not_to_be_visible()
    finally:
        context.close()


def test_scrolling_back_is_endless_and_the_page_holds_a_window_only(page: Page) -> None:
    go(page, "/all")
    expect(page.locator(".bar h1")).to_have_text("Everything")
    begins = page.locator(".feed .edge", has_text="This is where it begins.")
    for _ in range(60):
        if begins.count():
            break
        first = page.evaluate("document.querySelector('.msg').dataset.seq")
        page.evaluate("document.querySelector('.scroll').scrollTop = 0")
        page.wait_for_function(
            """(first) => document.querySelector(".msg").dataset.seq !== first
                || document.querySelector(".feed .edge").innerText.startsWith("This")""",
            arg=first,
        )
        assert page.locator(".msg").count() <= MOST
    expect(begins).to_be_visible()
    expect(page.locator(".msg").first).to_have_attribute("data-seq", "1")
    page.get_by_role("button", name="Jump to latest").click()
    page.wait_for_function("() => Number([...document.querySelectorAll('.msg')].pop().dataset.seq) > 600")
    assert page.locator(".msg").count() <= MOST


def test_what_is_read_stays_where_it_is_while_older_messages_come(page: Page) -> None:
    go(page, "/all")
    expect(page.locator(".bar h1")).to_have_text("Everything")
    seq, top, first = page.evaluate(
        """() => { const box = document.querySelector(".scroll"); box.scrollTop = 300;
            const all = [...document.querySelectorAll(".msg")];
            const e = all.find((m) => m.getBoundingClientRect().top > 200);
            return [e.id, e.getBoundingClientRect().top, all[0].dataset.seq]; }"""
    )
    page.wait_for_function("(first) => document.querySelector('.msg').dataset.seq !== first", arg=first)
    page.wait_for_function(
        "([id, top]) => Math.abs(document.getElementById(id).getBoundingClientRect().top - top) < 3",
        arg=[seq, top],
    )


def test_a_permalink_shows_its_message_among_its_neighbours(society: Consoled, page: Page) -> None:
    ruling = of_type(society, "RULING")
    page.goto(f"{society.base}/m/{ruling['seq']}")
    mine = page.locator(f"#m{ruling['seq']}")
    expect(mine).to_be_in_viewport()
    expect(mine).to_have_class("msg ruling at")
    page.goto(f"{society.base}/case/{ruling['case_id']}")
    expect(page.locator(".crumbs .idp")).to_contain_text(ruling["case_id"])
    page.get_by_role("tab", name="Duties and states").click()
    expect(page.locator(".page")).to_contain_text("Who was late")


def test_a_channel_keeps_its_bottom_when_its_place_becomes_smaller(page: Page) -> None:
    last = page.locator(".msg").last
    expect(last).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1440, "height": 500})
    expect(last).to_be_in_viewport(ratio=1)
    # Who reads further up is not taken from there.
    page.evaluate("document.querySelector('.scroll').scrollTop = 900")
    page.wait_for_selector(".latest")
    top = page.evaluate("document.querySelector('.scroll').scrollTop")
    page.set_viewport_size({"width": 1440, "height": 700})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator(".latest")).to_be_visible()
    assert page.evaluate("document.querySelector('.scroll').scrollTop") >= top


def test_every_channel_has_a_draft_of_its_own_also_after_a_reload(page: Page) -> None:
    write = page.get_by_label("write a note or a command")
    write.fill("for the arena")
    page.locator(".nav a", has_text="#a-verdict").click()
    expect(page.locator(".bar h1")).to_have_text("#a-verdict")
    expect(write).to_have_value("")
    write.fill("for the verdicts")
    page.locator(".nav a", has_text="#a-arena").click()
    expect(write).to_have_value("for the arena")
    page.goto(page.url.replace("a-arena", "a-verdict"))
    expect(write).to_have_value("for the verdicts")


def test_an_address_at_which_nothing_stands_says_so_and_the_page_goes_on(
    society: Consoled, page: Page
) -> None:
    for place in ("/nopage", "/a/b", "/case/hyp_0"):
        got = page.goto(society.base + place)
        assert got is not None and got.status == 404, place
        expect(page.locator(".bar h1")).to_have_text("Not here")
    page.locator(".nav a", has_text="Inbox").click()
    expect(page.locator(".bar h1")).to_have_text("Inbox")
    answer = page.request.get(f"{society.base}/api/nonsense")
    assert answer.status == 404 and "openapi" in answer.json()["why"]
    page.keyboard.press("?")
    where = page.get_by_role("link", name="OpenAPI").get_attribute("href")
    assert page.request.get(f"{society.base}{where}").json()["openapi"]


def test_a_case_shows_the_states_that_it_did_not_enter_and_wraps_on_a_phone(
    society: Consoled, page: Page
) -> None:
    page.set_viewport_size(SIZES["narrow"])  # type: ignore[arg-type]
    go(page, f"/case/{of_type(society, 'VERDICT')['case_id']}")
    path = page.locator(".bar .path")
    expect(path.locator(".st.not").first).to_contain_text("not entered")
    expect(path.locator(".st.end")).to_have_text(re.compile(r"^ended: \w+"))
    expect(path.locator("a.st").first).to_have_text("assessing 1")
    assert path.evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_what_ended_is_stacked_on_a_phone_and_hides_nothing(page: Page) -> None:
    page.set_viewport_size(SIZES["narrow"])  # type: ignore[arg-type]
    go(page, "/inbox")
    cells = page.locator("table.stack td")
    expect(cells.first).to_be_visible()
    assert cells.evaluate_all("(all) => all.every((e) => e.getBoundingClientRect().right <= innerWidth)")
    lefts = cells.evaluate_all("(all) => all.map((e) => Math.round(e.getBoundingClientRect().left))")
    assert len(set(lefts)) == 1, lefts


def test_memory_opens_on_a_shelf_that_holds_something_and_counts_them_all(page: Page) -> None:
    go(page, "/memory")
    expect(page.locator(".page .sheet").first).to_be_visible()
    shelves = page.get_by_role("tab").all_inner_texts()
    assert len(shelves) == 7 and all(re.fullmatch(r"\w+\s+\d+\+?", name) for name in shelves), shelves


def test_a_stopped_society_is_shown_and_says_why_nobody_can_act(page: Page) -> None:
    expect(page.locator(".head .pace")).to_have_text("stopped")
    expect(page.get_by_label("pause")).to_be_disabled()
    expect(page.locator(".head button[aria-label=pause]")).to_have_attribute("title", "no society runs here")
    page.get_by_label("write a note or a command").fill("hello")
    expect(page.locator(".compose .hints")).to_contain_text("no society runs")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()


def test_a_browser_in_another_time_zone_shows_the_societys_time(society: Consoled, chromium: Browser) -> None:
    context = chromium.new_context(viewport=SIZES["wide"], timezone_id="Pacific/Pago_Pago", locale="ar-EG")  # type: ignore[arg-type]
    try:
        page = context.new_page()
        page.goto(society.owner)
        ready(page)
        last = of_type(society, "SOCIETY_STOPPED")
        day, clock = str(last["sent_at"])[8:10].lstrip("0"), str(last["sent_at"])[11:16]
        expect(page.locator(".clock")).to_contain_text(clock)
        expect(page.locator(".clock .date").first).to_contain_text(re.compile(rf", {day} \w+ "))
    finally:
        context.close()


def test_the_page_needs_a_token_and_loads_nothing_from_elsewhere(
    society: Consoled, chromium: Browser
) -> None:
    context = chromium.new_context()
    try:
        page = context.new_page()
        hosts: set[str] = set()
        page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
        page.goto(f"{society.base}/c/a-arena")
        expect(page.locator("body")).to_contain_text("holds your token")
        assert page.locator(".msg").count() == 0
        page.goto(society.owner)
        ready(page)
        go(page, "/figures/a")
        expect(page.locator(".chart svg").first).to_be_visible()
        assert hosts == {society.base.removeprefix("http://")}
        assert not Path(".nicegui").exists()
    finally:
        context.close()


def test_a_drawing_is_shapes_and_labels_whatever_is_in_it(page: Page) -> None:
    text = (
        '<div class="plot" onclick="hit()"><svg viewBox="0 0 1 1"><path d="M0 0h1" onload="hit()"/>'
        "<script>hit()</script><image href='http://127.0.0.1:1/x'/></svg>"
        '<span style="left:40%">a &lt;b&gt;</span><span style="background:url(http://127.0.0.1:1/y)">c</span>'
        '<img src="x" onerror="hit()"><a href="javascript:hit()">d</a><iframe srcdoc="e"></iframe></div>'
    )
    drawn = page.evaluate(
        """async (html) => {
            const { Drawing } = await import("moot-console/drawing.js");
            const box = document.createElement("div");
            Drawing.methods.draw.call({ html, $refs: { box } });
            return box.innerHTML;
        }""",
        text,
    )
    assert drawn == (
        '<div class="plot"><svg viewBox="0 0 1 1"><path d="M0 0h1"></path></svg>'
        '<span style="left:40%">a &lt;b&gt;</span><span>c</span></div>'
    )
