"""The console for everybody: screen readers, keyboards, and messages of a newer version (issue 7, points 2 and 8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from protocols.kernel.envelope import BOT, Draft, canonical_json, seal
from protocols.kernel.people import Note
from protocols.kernel.seats import Seat
from tests.doubles.browser import browser as a_browser
from tests.doubles.console import by_chance
from tests.doubles.console_page import Consoled
from tests.doubles.data_dir import write_log
from tests.doubles.page_eyes import flaws, nameless, outside, pale, tabbed

pytestmark = pytest.mark.timeout(180)

SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 390, "height": 844}}
NEWER = {
    "type": "HOLOGRAM",
    "depth": 3,
    "layers": [{"name": "<b>far</b>", "at": None}, {"name": "near", "at": [0.5, "x"]}],
    "scores": {"tail_risk": "high", "overfitting": 0.4},
}
"""A body of a type that this version does not know, with a field it knows and fills with something else."""


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoled]:
    """Serve a log whose last messages come from a newer version."""
    place = tmp_path_factory.mktemp("access")
    (place / "work").mkdir()
    log = by_chance(600)
    case_id = next(env.case_id for env in reversed(log) if env.case_id and env.case_id.startswith("hyp_"))
    for n in range(2):
        last = log[-1]
        draft = Draft(
            channel="#a-arena",
            author=Seat.CRITIC,
            actor=BOT,
            body=Note(text="-"),
            case_id=case_id,
            key=f"new{n}",
        )
        newer, _ = seal(
            draft,
            seq=last.seq + 1,
            envelope_id=f"new{n}",
            sent_at=last.sent_at + timedelta(seconds=1),
            previous=bytes.fromhex(last.hash),
            body_text=canonical_json(NEWER),
        )
        log.append(newer)
    found = Consoled(write_log(place / "data", log), place / "work")
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
def faults() -> list[str]:
    return []


@pytest.fixture
def page(
    society: Consoled, chromium: Browser, faults: list[str], request: pytest.FixtureRequest
) -> Iterator[Page]:
    size = getattr(request, "param", "wide")
    context = chromium.new_context(viewport=SIZES[size])  # type: ignore[arg-type]
    found = context.new_page()
    found.on("pageerror", lambda fault: faults.append(str(fault)))
    found.goto(society.owner)
    found.wait_for_selector("html[data-ready]")
    expect(found.locator(".board")).not_to_contain_text("messages", timeout=30_000)
    yield found
    context.close()
    assert not faults, faults


def go(page: Page, place: str) -> None:
    """Go to a place as a click on a link does; returns when it is shown."""
    page.evaluate("(path) => getElement(document.querySelector('.moot').id.slice(1)).go(path)", place)
    page.wait_for_selector(".main .scroll")


def test_a_message_of_a_newer_version_is_shown_as_json_and_breaks_nothing(page: Page) -> None:
    go(page, "/c/a-arena")
    newer = page.locator(".msg[data-type=HOLOGRAM]")
    expect(newer).to_have_count(2)
    expect(newer.first).to_contain_text("hologram")
    newer.last.hover()
    newer.last.get_by_role("button", name="JSON").click()
    expect(newer.last.locator(".json")).to_contain_text('"name": "<b>far</b>"')
    assert newer.locator(".say b").count() == 0
    # Its neighbours, the board and the rest of the page are what they were.
    assert page.locator(".msg:not([data-type=HOLOGRAM])").count() > 10
    expect(page.locator(".board")).to_contain_text("Owed")
    case_id = json.loads(newer.last.locator(".json").inner_text())["case_id"]
    for place in (
        f"/m/{newer.last.get_attribute('data-seq')}",
        f"/case/{case_id}",
        "/search?type=HOLOGRAM",
        "/all",
    ):
        go(page, place)
        expect(page.locator(".msg[data-type=HOLOGRAM]").last).to_be_attached()
    for place in ("/figures/a", "/figures/b", "/figures/referee", "/memory", "/inbox"):
        go(page, place)
        expect(page.locator(".bar h1")).not_to_have_text("Not here")


@pytest.mark.parametrize("page", SIZES, indirect=True)
def test_every_view_has_landmarks_names_roles_and_order(page: Page) -> None:
    """What axe-core would look for, with rules of our own."""
    go(page, "/c/a-arena")
    case_id = page.locator(".msg .chip").last.inner_text()
    places = ["/c/a-arena", "/all", "/m/40", "/inbox", "/figures/a", "/figures/b", "/figures/referee"]
    places += [
        "/memory",
        "/memory/principles",
        "/search",
        "/search?text=momentum",
        f"/case/{case_id}",
        "/nowhere",
    ]
    for place in places:
        go(page, place)
        assert not flaws(page), (place, flaws(page))
        assert not nameless(page), place
    go(page, f"/case/{case_id}")
    for tab in page.locator("[role=tab]").all():
        tab.click()
        assert not flaws(page), (tab.inner_text(), flaws(page))
    for key, name in (("?", "keys"), ("t", "pace of time")):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        assert not flaws(page) and not pale(page) and not outside(page), (key, flaws(page), pale(page))
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_tab_goes_through_the_page_as_one_reads_it_and_is_always_seen(page: Page) -> None:
    for place in ("/inbox", "/search", "/figures/referee"):
        go(page, place)
        seen = tabbed(page)
        order = [at["place"] for at in seen]
        assert order == sorted(order), (place, [(at["place"], at["what"]) for at in seen])
        assert {1, 2, 3} <= set(order), place
        assert not [at for at in seen if not at["is_seen"] or not at["has_ring"]], place


def test_the_pace_of_time_cannot_be_set_where_no_society_runs_and_says_so(page: Page) -> None:
    page.get_by_role("button", name="pace of time").click()
    expect(page.get_by_role("dialog", name="pace of time")).to_contain_text("no society runs here")
    expect(page.locator("#slide")).to_be_disabled()
    expect(page.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="pace of time")).to_be_focused()


def test_every_seat_has_its_picture_and_browsers_keep_it(society: Consoled, page: Page) -> None:
    page.wait_for_function(
        "() => [...document.querySelectorAll('img.badge')].every((e) => e.complete && e.naturalWidth === 128)"
    )
    assert page.locator("img.badge").count() > 3
    for seat in Seat:
        got = page.request.get(f"{society.base}/pictures/{seat}.png")
        assert got.status == 200 and got.body().startswith(b"\x89PNG"), seat
        assert "max-age=31536000" in got.headers["cache-control"]
    assert page.request.get(f"{society.base}/pictures/nobody.png").status == 404
