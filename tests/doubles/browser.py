"""A real Chromium for tests, driven by Playwright."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.system_programs import require

FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""What a headless Chromium needs as root, and what keeps it from calling anybody."""


@contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser, without a window."""
    # A page on a machine that is busy is late, not wrong.
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=require("chromium"), args=[*FLAGS])
        try:
            yield running
        finally:
            running.close()


SIZE: Final = {"width": 1440, "height": 900}


@contextmanager
def somebody(chromium: Browser, token: str, path: str = "/", **how: Any) -> Iterator[Page]:
    """Open a page as a person who has an address with a token; nothing it throws is overlooked."""
    context = chromium.new_context(viewport=how.pop("size", SIZE), **how)
    context.set_default_timeout(60_000)
    try:
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        base, _, query = token.partition("/?")
        page.goto(f"{base}{path}{'&' if '?' in path else '?'}{query}")
        page.wait_for_selector("html[data-ready]")
        yield page
        assert not faults, faults
    finally:
        context.close()


def say(page: Page, text: str) -> str:
    """Write something, and return what the page says to it."""
    page.get_by_label("write a note or a command").fill(text)
    page.keyboard.press("Enter")
    # On a slow machine it first says that there is no answer yet.
    reply = page.locator(".compose .said").filter(has_not_text="No answer yet")
    reply.wait_for()
    return reply.inner_text()


def go(page: Page, place: str) -> None:
    """Go to a place as a click on a link does; returns when it is shown."""
    # Nobody waits for the promise through the protocol of the browser, which may lose it as garbage.
    page.evaluate(
        """(path) => {
            window.arrived = null;
            const moot = getElement(document.querySelector('.moot').id.slice(1));
            moot.go(path).then(() => { window.arrived = path; });
        }""",
        place,
    )
    page.wait_for_function("(path) => window.arrived === path", arg=place)
    page.wait_for_selector(".main .scroll")
