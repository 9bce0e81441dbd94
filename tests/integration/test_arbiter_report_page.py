"""The page of Arbiter's report in a browser: accessible in both colours, as wide as its window, deaf to its texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.doubles.arbiter_answers import configured, kept
from tests.doubles.browser import browser as a_browser
from tests.doubles.command_line import done
from tests.doubles.page_eyes import COLOURS, violations

pytestmark = pytest.mark.timeout(400)

HOSTILE = (
    '</script><script>document.title = "taken"</script><img src=x onerror="document.title = 1">' + "w" * 300
)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of a run, a few of whose answers would take a page over."""

    def answer(trial_id: int, model: str) -> str:
        text = HOSTILE if trial_id % 7 == 0 else f"Because of reason {trial_id % 3}."
        return f'{{"decision": "{"yes" if trial_id % 3 else "no"}", "rationale": {json.dumps(text)}}}'

    place = tmp_path_factory.mktemp("page")
    run = kept(place, configured(k_max=48), answers=answer)
    done("arbiter", "report", run, "--html", place / "report.html", "--top", "20")
    return place / "report.html"


@pytest.fixture(scope="module")
def chromium(page_file: Path) -> Iterator[Browser]:
    # The run lives in virtual time first, which cannot be where the browser's loop runs.
    with a_browser() as running:
        yield running


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_accessible_and_as_wide_as_its_window(
    chromium: Browser, page_file: Path, width: int
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 800})
    try:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        assert asked == [page_file.as_uri()]
        assert page.title().startswith("Should our public library")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found = violations(page)
        page.emulate_media(color_scheme="dark")
        found += violations(page, COLOURS)
        assert not found, "\n".join(found)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("svg").count() > 10
        # A curve that is drawn takes up room.
        box = page.locator(".plot svg path").nth(1).bounding_box()
        assert box is not None
        assert box["width"] > 100
    finally:
        context.close()
