"""The console's page in a real Chromium, as a person uses it: K8, K14, R-E2, R-E5."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.doubles.browser import browser as a_browser
from tests.doubles.browser import say, somebody
from tests.doubles.console_page import Consoled, consoled

pytestmark = pytest.mark.timeout(400)

HOSTILE = (
    '<img src=x onerror="window.hacked=1"> <script>window.hacked=1</script> **bold** [x](javascript:alert(1)) '
    "{{ constructor.constructor('window.hacked=1')() }} &lt;b&gt; \u05e9\u05dc\u05d5\u05dd \U0001f600"
)


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoled]:
    with consoled(tmp_path_factory.mktemp("console")) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with a_browser() as running:
        yield running


def wait(page: Page, condition: str) -> None:
    page.wait_for_function(condition)


def asked(page: Page, op: str, args: dict[str, Any]) -> Any:
    """Ask the session what the page itself would never ask; return its answer, or its refusal's text."""
    return page.evaluate(
        """([op, args]) => window.asking = getElement(document.querySelector(".moot").id.slice(1)).ask(op, args)
            .catch((fault) => ({ok: false, text: fault.message}))""",
        [op, args],
    )


HOLD = """() => {
    const root = getElement(document.querySelector(".moot").id.slice(1)), push = root.push;
    const held = [];
    root.push = (news) => held.push(news);
    window.letGo = () => { root.push = push; held.forEach(push); };
}"""
"""What happens reaches a page only when it is let go: two people act at once."""

KEPT = "() => Object.keys(sessionStorage).filter((name) => name.startsWith('moot-seat'))"
"""What a page keeps of forms."""


GAP = "() => { const b = document.querySelector('.scroll'); return b.scrollHeight - b.scrollTop - b.clientHeight; }"
"""By how many pixels the newest message lies below what is seen of a channel."""


def test_a_person_takes_a_seat_is_told_what_is_wrong_and_then_answers(
    society: Consoled, chromium: Browser
) -> None:
    """K8, K14: an accelerated society waits at 1x for the person."""
    with somebody(chromium, society.owner) as page:
        assert "Noted" in say(page, "/take critic")
        page.locator(".board a[href^='/seat/']").first.click()
        expect(page.locator(".bar h1")).to_contain_text("Critic: assessment of")
        expect(page.locator(".head .pace")).to_have_text("1×")
        expect(page.locator(".tell.slow")).to_contain_text("waiting for owner in the seat of the Critic")
        page.get_by_role("button", name="Send as the Critic").click()
        expect(page.locator("form.form [role=status]")).to_contain_text("Not sent")
        expect(page.locator("form.form .err").first).to_be_visible()
        # The seat's simulated mind has a suggestion, of its own length and figures; a person changes what they like.
        page.get_by_role("button", name="Suggest an answer").click()
        expect(page.get_by_text("Filled in as the simulated Critic would say it")).to_be_visible()
        expect(page.locator("form.form .err")).to_have_count(0)
        expect(page.get_by_label(re.compile("^reasoning"))).to_have_value(re.compile(r"\w+ \w+ \w+"))
        for field in page.locator("form.form .obj input[type=number]").all():
            expect(field).to_have_value(re.compile(r"^[01](\.\d+)?$"))
        page.get_by_label(re.compile("^confidence")).fill("7")
        expect(page.locator("form.form")).to_contain_text("choose at most 1, not ")
        page.get_by_label(re.compile("^confidence")).fill("0.4")
        page.get_by_label(re.compile("^risk rating")).select_option("CONDITIONAL_PASS")
        for name in page.locator("form.form .obj input[type=number]").all():
            name.fill("0.25")
        page.get_by_label(re.compile("^reasoning")).fill("I looked at it myself.")
        # A reload loses nothing of it.
        page.reload()
        expect(page.get_by_label(re.compile("^reasoning"))).to_have_value("I looked at it myself.")
        expect(page.get_by_label(re.compile("^confidence"))).to_have_value("0.4")
        assert len(page.evaluate(KEPT)) == 1
        expect(page.locator("form.form .err")).to_have_count(0)
        page.get_by_role("button", name="Send as the Critic").click()
        expect(page.locator("form.form [role=status]")).to_contain_text("message")
        assert page.evaluate(KEPT) == []
        page.locator(".sheet, .page .chip").first.click()
        mine = page.locator(".msg.human[data-type=RISK_ASSESSMENT]")
        expect(mine).to_contain_text("owner")
        expect(mine.locator(".bars li").first).to_contain_text("0.25")
        assert "Noted" in say(page, "/release critic")


def test_an_escalation_is_answered_with_one_click_and_the_bot_acts(
    society: Consoled, chromium: Browser
) -> None:
    """R-E2, R-E4."""
    with (
        somebody(chromium, society.owner, "/inbox") as page,
        somebody(chromium, society.owner, "/inbox") as other,
        somebody(chromium, society.owner, "/inbox") as third,
    ):
        one = page.locator("section.sheet").filter(has=page.locator(".options")).first
        name = one.get_attribute("id")
        expect(one.locator(".left")).to_contain_text("left, then the first option")
        # K8: while a page shows what waits for a person, time goes slowly.
        expect(page.locator(".head .pace")).to_have_text("1×")
        expect(one).to_contain_text("choose none of these answers, not even the first: nothing is deployed")
        wait(other, "() => document.querySelector('.options button')")
        other.evaluate(HOLD)
        third.locator(f"[id='{name}']").get_by_label("answer in words").fill("I would rather")
        one.get_by_role("button", name="Deploy as proposed").click()
        page.get_by_role("button", name="Send this answer").click()
        said = "answered by owner: Deploy as proposed"
        expect(page.locator("table.rows").filter(has_text=name)).to_contain_text(said)
        expect(page.locator(".late-answer")).to_have_count(0)
        expect(page.locator(".head .pace")).not_to_have_text("1×")
        # The second of two people is told who was first, though the card is gone (R-E4); so is who only wrote.
        other.get_by_role("button", name="Do not deploy", exact=True).click()
        other.get_by_role("button", name="Send this answer").click()
        expect(other.locator("section.sheet [role=status]")).to_contain_text("changes nothing")
        other.evaluate("window.letGo()")
        expect(other.locator(".late-answer")).to_contain_text(said)
        expect(other.locator(".late-answer")).to_contain_text("changes nothing")
        expect(third.locator(".late-answer")).to_contain_text("was not sent: “I would rather”")
        other.locator(".late-answer").get_by_role("button", name="Close").click()
        expect(other.locator(".late-answer")).to_have_count(0)
        expect(other.locator("table.rows").filter(has_text=name)).to_contain_text("answered by owner")
        reply = asked(
            other, "act", {"kind": "answer", "fields": {"escalation_id": name, "option": 1, "text": None}}
        )
        assert not reply["ok"]
        assert "this changes nothing" in reply["text"] and "was answered before" in reply["text"]
        page.goto(f"{society.base}/c/b-ops")
        page.get_by_label("speed", exact=True).select_option("300")
        expect(page.locator(".msg[data-type=DEPLOY_NOTICE]").last).to_be_visible()
        page.get_by_label("speed", exact=True).select_option("10")


def test_a_debate_arrives_while_one_watches(society: Consoled, chromium: Browser) -> None:
    with somebody(chromium, society.owner, "/c/a-arena") as page:
        last = int(page.locator(".msg").last.get_attribute("data-seq") or 0)
        page.get_by_label("speed", exact=True).select_option("600")
        wait(
            page,
            f"""() => [...document.querySelectorAll(".msg[data-type=RISK_ASSESSMENT]")]
                .some((e) => Number(e.dataset.seq) > {last} && e.querySelectorAll(".bars li").length > 3)""",
        )
        said = page.locator(".msg[data-type=RISK_ASSESSMENT]").last
        expect(said).to_contain_text("confidence")
        page.get_by_label("speed", exact=True).select_option("10")
        said.hover()
        said.get_by_role("button", name="JSON").click()
        expect(said.locator(".json")).to_contain_text('"type": "RISK_ASSESSMENT"')
        page.locator(".msg .chip").last.click()
        expect(page.locator(".path .st").first).to_be_visible()
        assert "/case/" in page.url


def test_trading_is_halted_and_let_go_on_by_commands_that_are_completed(
    society: Consoled, chromium: Browser
) -> None:
    """R-B5."""
    with somebody(chromium, society.owner, "/c/b-risk") as page:
        page.get_by_label("write a note or a command").fill("/ha")
        expect(page.locator(".complete").get_by_role("option")).to_have_count(1)
        page.keyboard.press("Tab")
        expect(page.get_by_label("write a note or a command")).to_have_value("/halt ")
        assert "the reason is missing" in say(page, "/halt")
        assert "did you mean /halt" in say(page, "/hatl now")
        page.keyboard.press("Escape")
        assert "Noted" in say(page, "/halt the prices look wrong")
        expect(page.locator(".msg.human[data-type=HALT]").last).to_contain_text("the prices look wrong")
        # Every page says so, and the channel keeps its bottom under the banner.
        halted = page.locator(".tell.halted")
        expect(halted).to_contain_text(
            re.compile("Trading is halted since .* by owner: the prices look wrong")
        )
        wait(page, f"() => ({GAP})() < 2")
        page.locator(".nav a", has_text="System B").click()
        expect(page.locator(".tile b.late", has_text="halted")).to_be_visible()
        halted.get_by_role("button", name="Resume").click()
        expect(page.get_by_label("write a note or a command")).to_have_value("/resume ")
        page.locator(".nav a", has_text="#b-ops").click()
        expect(page.locator(".bar h1")).to_have_text("#b-ops")
        assert "Noted" in say(page, "/resume the feed is right again")
        expect(halted.get_by_role("button")).to_have_count(0)
        expect(page.locator(".msg.human[data-type=RESUME]").last).to_contain_text("the feed is right again")


def test_text_is_text_whatever_it_holds(society: Consoled, chromium: Browser) -> None:
    with somebody(chromium, society.owner, "/c/a-arena") as page:
        assert "Noted" in say(page, HOSTILE)
        mine = page.locator(".msg.human", has_text="onerror").last
        expect(mine.locator(".say")).to_contain_text(re.sub(r"\s+", " ", HOSTILE))
        assert mine.locator(".say").locator("img, script, strong, b, a").count() == 0
        assert page.evaluate("window.hacked") is None
        page.goto(f"{society.base}/search?q=onerror")
        expect(page.locator(".msg.human", has_text="onerror").first).to_be_visible()
        assert page.evaluate("window.hacked") is None
        page.goto(f"{society.base}/case/%3Cimg%20src%3Dx%20onerror%3D%22window.hacked%3D1%22%3E")
        expect(page.locator(".bar h1")).to_have_text("Not here")
        assert page.evaluate("window.hacked") is None
        assert "write at most" in asked(page, "say", {"text": "x" * 130_000, "channel": "#a-arena"})["text"]


def test_a_viewer_sees_everything_disabled_with_its_reason_and_is_refused_beyond_the_page(
    society: Consoled, chromium: Browser
) -> None:
    """R-E5."""
    with somebody(chromium, society.viewer, "/c/admin") as page:
        expect(page.locator(".head .me")).to_have_text("viewer")
        write = page.get_by_label("write a note or a command")
        write.fill("hello")
        expect(page.get_by_role("button", name="Send")).to_be_disabled()
        expect(page.locator(".compose .hints")).to_contain_text("Viewers do not write in #admin")
        write.fill("/halt now")
        expect(page.locator(".compose .hints")).to_contain_text("Only an admin may write /halt")
        expect(page.get_by_label("pause")).to_be_disabled()
        for op, args in (
            ("say", {"text": "/halt now", "channel": "#b-risk"}),
            ("say", {"text": "hello", "channel": "#admin"}),
            ("act", {"kind": "answer", "fields": {"escalation_id": "esc_1", "option": 1, "text": None}}),
            ("act", {"kind": "halt", "fields": {"reason": "x"}}),
            ("control", {"op": "pause", "value": None}),
        ):
            told = asked(page, op, args)
            assert not told["ok"], (op, args, told)
        page.goto(f"{society.base}/c/a-arena")
        page.wait_for_selector("html[data-ready]")
        assert "Noted" in say(page, "a viewer may write here")


def test_the_past_can_be_looked_at_and_nobody_can_act_in_it(society: Consoled, chromium: Browser) -> None:
    with somebody(chromium, society.owner, "/c/a-report") as page:
        assert "Noted" in say(page, "before I look back")
        page.evaluate("getElement(document.querySelector('.moot').id.slice(1)).unread['#a-arena'] = 3")
        expect(page.locator(".nav .n:not(.hot)")).not_to_have_count(0)
        page.get_by_label("look at the past").click()
        expect(page.locator(".past")).to_contain_text("read-only")
        expect(page.locator(".compose .said")).to_have_count(0)
        expect(page.locator(".nav .n:not(.hot)")).to_have_count(0)
        page.locator(".nav a", has_text="Everything").click()
        expect(page.locator(".bar h1")).to_have_text("Everything")
        moment = page.get_by_label("moment")
        assert moment.bounding_box()["width"] > 1300  # type: ignore[index]
        moment.evaluate(
            "(e) => { e.value = 12; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); }"
        )
        expect(page.locator(".past")).to_contain_text("message 12 of")
        expect(page.locator(".msg").last).to_have_attribute("data-seq", "12")
        expect(page.get_by_label("write a note or a command")).to_have_count(0)
        assert "the past" in asked(page, "say", {"text": "hello", "channel": "#a-arena"})["text"]
        page.get_by_label("on one message").click()
        expect(page.locator(".msg").last).to_have_attribute("data-seq", "13")
        page.get_by_role("button", name="Back to now").click()
        expect(page.locator(".past")).to_have_count(0)
        wait(page, "() => Number([...document.querySelectorAll('.msg')].pop()?.dataset.seq) > 13")


def test_a_killed_console_comes_back_with_what_was_being_written(
    society: Consoled, chromium: Browser
) -> None:
    with somebody(chromium, society.owner, "/c/a-verdict") as page:
        page.get_by_label("write a note or a command").fill("half a sent")
        page.reload()
        expect(page.get_by_label("write a note or a command")).to_have_value("half a sent")
        society.kill_console()
        expect(page.locator(".tell.bad")).to_contain_text("comes back by itself")
        # Nobody knows the time without the society: an hour later the clock still stands where it was.
        clock = page.locator(".clock b").inner_text()
        page.evaluate(
            """() => { const now = performance.now.bind(performance); performance.now = () => now() + 3600000;
                getElement(document.querySelector(".moot").id.slice(1)).tick(); }"""
        )
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        expect(page.locator(".clock b")).to_have_text(clock)
        expect(page.get_by_role("button", name="Send")).to_be_disabled()
        society.start_console()
        expect(page.locator(".tell.bad")).to_have_count(0)
        # The page loads itself anew until it is connected, more than once on a machine that is slow.
        page.wait_for_function("() => window.did_handshake === true")
        expect(page.get_by_label("write a note or a command")).to_have_value("half a sent")
        assert page.url.endswith("/c/a-verdict")
        page.get_by_label("write a note or a command").press("End")
        page.keyboard.type("ence")
        page.keyboard.press("Enter")
        expect(page.locator(".msg.human", has_text="half a sentence").last).to_be_visible()


def test_what_is_sent_from_a_page_that_loads_itself_anew_is_sent_once_it_is_back(
    society: Consoled, chromium: Browser
) -> None:
    with somebody(chromium, society.owner, "/c/a-verdict") as page:
        # As if its server did not know it yet: nothing leaves such a page.
        page.evaluate("() => { window.did_handshake = false; }")
        page.get_by_label("write a note or a command").fill("said on the threshold")
        page.keyboard.press("Enter")
        page.reload()
        expect(page.locator(".msg.human", has_text="said on the threshold")).to_have_count(1)
        expect(page.get_by_label("write a note or a command")).to_have_value("")
        page.reload()
        expect(page.get_by_label("write a note or a command")).to_have_value("")
        page.wait_for_function("() => window.did_handshake === true")
        expect(page.locator(".msg.human", has_text="said on the threshold")).to_have_count(1)


LOSE = {
    "what it asked": """() => {
        const emit = window.socket.emit;
        window.socket.emit = (name, ...said) => name === "event" || emit.call(window.socket, name, ...said);
    }""",
    "what it was answered": """() => {
        getElement(document.querySelector(".moot").id.slice(1)).answer = () => { window.isAnswered = true; };
    }""",
}
"""A page whose console goes away at the worst moment."""


@pytest.mark.parametrize("lost", LOSE)
def test_what_is_sent_while_the_console_goes_away_is_said_once_by_the_page_that_comes_back(
    society: Consoled, chromium: Browser, lost: str
) -> None:
    text = f"said as it lost {lost}"
    said = f".msg.human:has-text('{text}')"
    with somebody(chromium, society.owner, "/c/a-verdict") as page:
        write = page.get_by_label("write a note or a command")
        page.wait_for_function("() => window.did_handshake === true")
        page.evaluate(LOSE[lost])
        write.fill(text)
        page.keyboard.press("Enter")
        if lost == "what it was answered":
            page.wait_for_function("() => window.isAnswered")
        # Whoever goes on writing meanwhile loses nothing of it.
        write.press_sequentially(" and more")
        page.reload()
        expect(page.locator(said)).to_have_count(1)
        expect(write).to_have_value("and more")
        assert page.evaluate("() => sessionStorage.getItem('moot-sent')") is None
        page.reload()
        expect(write).to_have_value("and more")
        expect(page.locator(said)).to_have_count(1)
        write.fill("")


def test_what_is_said_while_a_view_is_on_its_way_is_in_it(society: Consoled, chromium: Browser) -> None:
    with (
        somebody(chromium, society.owner, "/c/a-verdict") as page,
        somebody(chromium, society.owner, "/c/a-verdict") as other,
    ):
        page.wait_for_function("() => window.did_handshake === true")
        page.evaluate(
            """() => {
                const root = getElement(document.querySelector(".moot").id.slice(1)), answer = root.answer, held = [];
                root.answer = (...said) => held.push(said);
                root.reload();
                window.isMade = () => held.length > 0;
                window.letGo = () => { root.answer = answer; held.forEach((said) => answer(...said)); };
                window.isShown = () => root.shown > 0;
            }"""
        )
        wait(page, "() => window.isMade()")
        assert "Noted" in say(other, "said meanwhile")
        expect(page.locator(".msg.human", has_text="said meanwhile")).to_have_count(1)
        page.evaluate("() => window.letGo()")
        wait(page, "() => window.isShown()")
        expect(page.locator(".msg.human", has_text="said meanwhile")).to_have_count(1)


def test_a_page_that_was_never_connected_says_so(society: Consoled, chromium: Browser) -> None:
    with somebody(chromium, society.owner, "/c/a-verdict") as page:
        page.route_web_socket("**/_nicegui_ws/**", lambda socket: socket.close())
        page.reload()
        expect(page.locator(".tell.bad")).to_contain_text("comes back by itself")
        expect(page.get_by_role("button", name="Send")).to_be_disabled()


def test_nothing_is_written_into_the_working_directory(society: Consoled) -> None:
    assert {path.name for path in society.work.iterdir()} <= {"moot.toml", "society.out", "console.out"}
    assert not Path(".nicegui").exists()
