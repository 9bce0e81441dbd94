"""Take the pictures of the console and of Arbiter's report anew, in `docs/images`: of the real thing, in Chromium.

Run it by hand, and look at them; a small model is asked for the report, which takes some minutes.

`python docs/pictures.py`
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.doubles.browser import browser
from tests.doubles.console_page import Consoled, consoled
from tests.doubles.real_model import NAME, serving

IMAGES: Final = Path(__file__).with_name("images")
SIZES: Final = {"": {"width": 1440, "height": 900}, "-narrow": {"width": 390, "height": 844}}
MOST_BYTES: Final = 1_200_000
"""All pictures together."""

Show = Callable[[Page, Consoled], None]


def channel(page: Page, _society: Consoled) -> None:
    """Show a debate."""
    page.wait_for_function("() => [...document.querySelectorAll('img.badge')].every((e) => e.complete)")


def inbox(page: Page, _society: Consoled) -> None:
    """Show what waits for a person."""
    go(page, "/inbox")
    expect(page.locator(".options").first).to_be_visible()


def seat(page: Page, _society: Consoled) -> None:
    """Show the form of a seat that was taken, with a suggestion in it."""
    write = page.get_by_label("write a note or a command")
    write.fill("/take critic")
    write.press("Enter")
    page.locator(".board a[href^='/seat/']").first.click()
    page.get_by_role("button", name="Suggest an answer").click()
    expect(page.get_by_text("Filled in as the simulated")).to_be_visible(timeout=30_000)
    expect(page.locator(".head .pace")).to_have_text("1×")


def case(page: Page, society: Consoled) -> None:
    """Show a debate that ended with a backtest."""
    go(page, f"/case/{case_with(society, 'BACKTEST_RESULT')}")
    expect(page.locator(".path .st").first).to_be_visible()
    page.get_by_role("tab", name=re.compile("evidence", re.IGNORECASE)).first.click()
    expect(page.locator(".chart svg").first).to_be_visible()


def system_b(page: Page, _society: Consoled) -> None:
    """Show the desk."""
    go(page, "/figures/b")
    expect(page.locator(".chart svg").first).to_be_visible()


LIVING: Final[tuple[tuple[str, Show], ...]] = (
    ("channel-light", channel),
    ("channel-dark", channel),
    ("channel-light-narrow", channel),
    ("inbox-light", inbox),
    ("inbox-dark-narrow", inbox),
    ("seat-light", seat),
)
"""Pictures of a society that waits for a person."""

ENDED: Final[tuple[tuple[str, Show], ...]] = (
    ("case-light", case),
    ("case-dark-narrow", case),
    ("system-b-dark", system_b),
)
"""Pictures of three days that were simulated."""

REPORTED: Final = ("arbiter-report-light", "arbiter-report-dark-narrow")
"""Pictures of the report of a run."""

ASKED: Final = Path(__file__).parent / "how-to" / "arbiter" / "sundays.json"


def go(page: Page, place: str) -> None:
    """Go to a place as a click on a link does."""
    page.evaluate("(path) => getElement(document.querySelector('.moot').id.slice(1)).go(path)", place)


def case_with(society: Consoled, kind: str) -> str:
    """Return the last case with a message of a type."""
    sql = "SELECT json FROM log WHERE json_extract(json, '$.body.type') = ? ORDER BY seq DESC"
    with closing(sqlite3.connect(society.directory / "log.sqlite")) as db:
        (text,) = db.execute(sql, (kind,)).fetchone()
    return str(json.loads(text)["case_id"])


@contextmanager
def ended(place: Path) -> Iterator[Consoled]:
    """Serve three days of a society that has stopped."""
    (place / "work").mkdir(parents=True)
    words = ["moot", "simulate", "--days", "3", "--seed", "1", "--out", str(place / "data")]
    subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
    found = Consoled(place / "data", place / "work")
    try:
        found.start_console()
        yield found
    finally:
        found.stop()


def reported(place: Path) -> Path:
    """Ask a small model one question 48 times, and return the page that tells of it."""
    moot = [sys.executable, "-m", "moot", "arbiter"]
    with serving() as url:
        options = ["--endpoint", f"{url}#{NAME}", "--embeddings", "wordllama", "--out", str(place), "--quiet"]
        run = subprocess.run(
            [*moot, "run", str(ASKED), *options], check=True, stdout=subprocess.PIPE, text=True
        )
    page = place / "report.html"
    subprocess.run([*moot, "report", run.stdout.strip(), "--html", str(page)], check=True)
    return page


def take(running: Browser, name: str, show: Callable[[Page], object]) -> int:
    """Take one picture, in a palette of 256 colours; return its bytes."""
    is_dark, size = "-dark" in name, SIZES["-narrow" if name.endswith("-narrow") else ""]
    context = running.new_context(viewport=size, color_scheme="dark" if is_dark else "light")  # type: ignore[arg-type]
    try:
        page = context.new_page()
        show(page)
        shot = Image.open(BytesIO(page.screenshot())).convert("RGB")
    finally:
        context.close()
    path = IMAGES / f"{name}.png"
    # This way of choosing keeps colours that are rare, such as the dot that says that the society runs.
    shot.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{name}.png: {path.stat().st_size:,} bytes")
    return path.stat().st_size


def shown(society: Consoled, show: Show) -> Callable[[Page], None]:
    """Open the console of a society, then go on as `show` says."""

    def open_it(page: Page) -> None:
        page.goto(society.owner.replace("/?", "/c/a-arena?"))
        page.wait_for_selector("html[data-ready]")
        expect(page.locator(".board")).not_to_contain_text("messages", timeout=30_000)
        show(page, society)
        # Figures grow into their places.
        page.wait_for_timeout(1_500)

    return open_it


def main() -> int:
    """Take all of them; fail when they are too heavy to live in a repository."""
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for (place, serve), pictures in zip(
            (("living", consoled), ("ended", ended)), (LIVING, ENDED), strict=True
        ):
            (Path(folder) / place).mkdir()
            # The society lives in virtual time first, which cannot be where the browser's loop runs.
            with serve(Path(folder) / place) as society, browser() as running:
                total += sum(take(running, name, shown(society, show)) for name, show in pictures)
        report = reported(Path(folder)).as_uri()
        with browser() as running:
            total += sum(take(running, name, lambda page: page.goto(report)) for name in REPORTED)
    print(f"{total:,} bytes in all")
    return int(total > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
