"""What axe-core finds on a page, and what it cannot see: what stands outside the window, and where the keyboard is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
"""The rules of axe-core that a page is held to: WCAG 2.0 to 2.2, A and AA, and what is good practice besides."""

COLOURS: Final = ("color-contrast", "link-in-text-block")
"""The rules whose result depends on the colours, and so on light or dark."""

FEWEST: Final = 20
"""So many rules apply to any page of the console; fewer mean that there was no page to look at."""

RUN: Final = """async ([only, without]) => {
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const found = await axe.run(document, { runOnly: only, rules, resultTypes: ["violations"], preload: false });
  const said = (n) => [...n.any, ...n.all, ...n.none].map((check) => check.message).join("; ");
  const told = (v, n) => `${v.id} at ${n.target.flat().join(" ")}: ${v.help} (${said(n)})`;
  const line = (v, n) => told(v, n).replace(/\\s+/g, " ").slice(0, 300);
  const broken = (n) => n.none.some((check) => check.id === "error-occurred");
  return {
    applied: found.passes.length + found.violations.length,
    lines: [...found.violations.flatMap((v) => v.nodes.map((n) => line(v, n))),
      ...found.incomplete.flatMap((v) => v.nodes.filter(broken).map((n) => line(v, n)))],
  };
}"""
"""One line a violation: its rule, the element, what the rule asks for and what is there; one where a rule broke off."""

OUTSIDE: Final = """() => {
  const scrolls = ".wide, .path, .json, .sr, svg, .nav, .board, .chart";
  const isOut = (b) => b.width && (b.right > innerWidth + 1 || b.left < -1);
  return [...document.querySelectorAll(".moot *")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(scrolls))
    .filter((e) => isOut(e.getBoundingClientRect()))
    .map((e) => `outside at ${e.tagName}.${e.className}: It stands beyond the window's side`.slice(0, 120)).slice(0, 5);
}"""
"""What stands beyond the window's sides."""

FOCUSED: Final = """() => {
  const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
  const places = [".moot > .skip", ".moot > header", ".moot > nav", ".moot > main", ".moot > footer", ".moot > aside"];
  // The frame of a text field shows the focus for it.
  const isFramed = e.matches(".compose textarea") && getComputedStyle(e.parentElement).borderStyle !== "none";
  return {
    place: places.findIndex((p) => e.closest(p)),
    what: e.outerHTML.slice(0, 100),
    has_ring: isFramed || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0),
    is_seen: box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth,
    is_body: e === document.body,
  };
}"""
"""Where the keyboard is, in the order in which one reads the page."""


class Eyes:
    """Look at a page again and again; what is wrong is told once, with the place where it was first seen.

    Attributes:
        flaws: One line each.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self._found: dict[str, str] = {}

    @property
    def flaws(self) -> list[str]:
        return [f"[{place}] {line}" for line, place in self._found.items()]

    def look(self, place: str, *, by_colours: bool = True) -> None:
        """Hold the page as it stands to every rule; to those of colours in light and in dark."""
        self._tell(place, violations(self.page, without=() if by_colours else COLOURS))
        self._tell(place, self.page.evaluate(OUTSIDE))
        if by_colours:
            self.page.emulate_media(color_scheme="dark")
            self._tell(f"{place}, dark", violations(self.page, COLOURS))
            self.page.emulate_media(color_scheme="light")

    def _tell(self, place: str, lines: Sequence[str]) -> None:
        for line in lines:
            self._found.setdefault(line, place)


def violations(page: Page, rules: Sequence[str] = (), *, without: Sequence[str] = ()) -> list[str]:
    """Return what axe-core finds by some rules, or by those of TAGS; fails where there is nothing to look at."""
    # Playwright puts the script in by the debugger's way, which the page's content security policy does not concern.
    if page.evaluate("globalThis.axe === undefined"):
        page.evaluate(AXE_SCRIPT)
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
    told: dict[str, Any] = page.evaluate(RUN, [only, without])
    assert told["lines"] or told["applied"] >= (1 if rules else FEWEST), told
    return list(told["lines"])


def tabbed(page: Page, *, most: int = 200) -> list[dict[str, Any]]:
    """Press Tab from the page's first link to its end, and return where the focus was."""
    page.evaluate("document.querySelector('.moot > .skip').focus()")
    seen: list[dict[str, Any]] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        at: dict[str, Any] = page.evaluate(FOCUSED)
        if at["is_body"]:
            break
        seen.append(at)
    return seen
