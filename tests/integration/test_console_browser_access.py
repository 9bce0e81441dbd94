"""The console for everybody: screen readers, keyboards, and messages of a newer version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.envelope import BOT, Actor, Draft, Envelope, seal
from moot.protocols.kernel.people import Note, SeatTaken
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import CRITIC
from moot.protocols.rulebook import rulebook
from tests.doubles.biglog import Chance
from tests.doubles.browser import browser as a_browser
from tests.doubles.browser import go
from tests.doubles.console_page import Consoled
from tests.doubles.data_dir import write_log
from tests.doubles.page_eyes import Eyes, tabbed

pytestmark = pytest.mark.timeout(400)

SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 390, "height": 844}}
NEWER = {
    "type": "HOLOGRAM",
    "depth": 3,
    "layers": [{"name": "<b>far</b>", "at": None}, {"name": "near", "at": [0.5, "x"]}],
    "scores": {"tail_risk": "high", "overfitting": 0.4},
}
"""A body of a type that this version does not know, with a field it knows and fills with something else."""


def asked_and_owed() -> tuple[list[Envelope], str]:
    """Make a log by chance that ends while a person is asked and owes, in the Critic's seat; return its case too."""
    log: list[Envelope] = []
    chance = Chance(log.append, seed=2, silence=0.05, faults=0.05)
    chance.live(messages=300)
    while not waits(chance):
        chance.live(messages=chance.seq + 1)
    taken = SeatTaken(seat=CRITIC, user_id="owner", reason="to see the form")
    person = Actor("human", "console", "owner")
    chance.publish(Draft(channel="#admin", author=ADMIN, actor=person, body=taken, key="taken"))
    owed = next(owed for owed in chance.docket.open.values() if owed.seat == CRITIC)
    return log, owed.case_id


def waits(chance: Chance) -> bool:
    """Say whether an escalation is open and the Critic owes something."""
    is_open = any(case.kind == "escalation" and case.phase == "open" for case in chance.docket.cases.values())
    return is_open and any(owed.seat == CRITIC for owed in chance.docket.open.values())


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoled]:
    """Serve a log whose last messages come from a newer version."""
    place = tmp_path_factory.mktemp("access")
    (place / "work").mkdir()
    log, case_id = asked_and_owed()
    for n in range(2):
        last = log[-1]
        draft = Draft(
            channel="#a-arena",
            author=CRITIC,
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
    expect(found.locator(".board")).not_to_contain_text("messages")
    yield found
    context.close()
    assert not faults, faults


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
def test_what_a_person_opens_and_fills_in_is_accessible_in_both_colours(page: Page) -> None:
    """Forms, dialogs, lists and drawers; every view by itself is looked at in test_console_browser_looks."""
    eyes = Eyes(page)
    is_wide = page.get_by_role("button", name="who owes what", exact=True).is_hidden()
    for place in ("/search?type=VIOLATION", "/search?type=SEAT_TAKEN", "/search", "/memory/principles"):
        go(page, place)
        eyes.look(place, by_colours=is_wide)
    go(page, page.locator(".board a[href^='/seat/']").get_attribute("href") or "")
    page.get_by_role("button", name="Send as the Critic").click()
    expect(page.locator("form.form .err").first).to_be_visible()
    eyes.look("the form of a seat, with faults", by_colours=is_wide)
    # Nobody lives here who could take an answer; the buttons are to be seen as where somebody does.
    go(page, "/inbox")
    page.evaluate("getElement(document.querySelector('.moot').id.slice(1)).may.answer = ''")
    expect(page.locator(".options button").first).to_be_enabled()
    eyes.look("an escalation", by_colours=is_wide)
    go(page, page.locator(".sheet a.chip").first.get_attribute("href") or "")
    page.locator(".msg").last.focus()
    page.locator(".msg").last.get_by_role("button", name="JSON").click()
    expect(page.locator(".msg .json")).to_contain_text("{")
    page.get_by_label("write a note or a command").fill("/")
    expect(page.get_by_role("listbox", name="commands")).to_be_visible()
    eyes.look("an escalation's case, with JSON and the list of commands", by_colours=is_wide)
    page.get_by_label("write a note or a command").fill("")
    page.locator(".msg").last.focus()
    for key, name in (("?", "keys"), ("t", "pace of time")):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        eyes.look(f"the dialog: {name}", by_colours=is_wide)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    for name, drawer in (("channels", ".nav"), ("who owes what", ".board")):
        if is_wide:
            break
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(drawer)).to_be_in_viewport(ratio=1)
        eyes.look(f"the drawer: {name}")
        page.keyboard.press("Escape")
        expect(page.locator(drawer)).not_to_be_visible()
    page.get_by_label("look at the past").click()
    expect(page.locator(".past")).to_contain_text("read-only")
    eyes.look("the past", by_colours=is_wide)
    assert not eyes.flaws, "\n".join(eyes.flaws)


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
    for seat in rulebook().seats:
        got = page.request.get(f"{society.base}/pictures/{seat}.png")
        assert got.status == 200 and got.body().startswith(b"\x89PNG"), seat
        assert "max-age=31536000" in got.headers["cache-control"]
    assert page.request.get(f"{society.base}/pictures/nobody.png").status == 404


def test_the_token_leaves_the_address_and_the_page_at_every_visit(society: Consoled, page: Page) -> None:
    token = society.owner.partition("token=")[2]
    for _ in range(2):
        page.goto(f"{society.owner}&from=chat")
        page.wait_for_selector("html[data-ready]")
        assert page.url == f"{society.base}/?from=chat"
        assert token not in page.content()


def test_a_viewers_link_becomes_the_owners_by_a_link_that_lets_do_more(
    society: Consoled, chromium: Browser
) -> None:
    context = chromium.new_context()
    visitor = context.new_page()
    for address, role in ((society.viewer, "viewer"), (society.owner, "admin"), (society.viewer, "admin")):
        visitor.goto(address)
        visitor.wait_for_selector("html[data-ready]")
        assert visitor.url == f"{society.base}/"
        boot = "() => getElement(document.querySelector('.moot').id.slice(1)).boot.me.role"
        assert visitor.evaluate(boot) == role
    context.close()


def test_a_socket_speaks_for_the_pages_of_its_own_person_only(
    society: Consoled, chromium: Browser, page: Page
) -> None:
    owners = page.evaluate("() => window.clientId")
    context = chromium.new_context()
    eve = context.new_page()
    eve.goto(society.viewer)
    eve.wait_for_selector("html[data-ready]")
    introduce = """(client) => window.socket.timeout(60000).emitWithAck("handshake", {
        client_id: client, tab_id: "t", document_id: "d", next_message_id: 0})"""
    assert eve.evaluate(introduce, owners) is False
    # It goes on speaking for its own page; nothing that it sends makes the console stumble or fills its log.
    for said in ("null", "7", "{}", "{client_id: 7}", "{client_id: window.clientId}", '"x".repeat(1000)'):
        for name in ("event", "javascript_response", "ack", "log", "handshake", "nothing"):
            eve.evaluate(f"() => window.socket.emit({name!r}, {said})")
    eve.evaluate("""() => { for (let n = 0; n < 100; n++) window.socket.emit("log",
        {client_id: window.clientId, level: "error", message: "forged ".repeat(99)}) }""")
    go(eve, "/inbox")
    go(page, "/inbox")
    log = society.directory / "console.log"
    said = log.read_text() if log.exists() else ""
    assert "forged" not in said and "Traceback" not in said
    assert all(len(line) < 600 for line in said.splitlines())
    context.close()
