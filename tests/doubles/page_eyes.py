"""What a careful eye sees on a page: texts that stand out too little, controls without a name, what is cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page

PALE: Final = """() => {
  const numbers = (c) => {
    const n = c.match(/[-\\d.e]+/g).map(Number);
    return c.startsWith("color(srgb") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = (a, b) => a.slice(0, 3).map((v, k) => v * a[3] + b[k] * (1 - a[3]));
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, k) => sum + w * linear(c[k] / 255), 0);
  const ground = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) {
      const c = numbers(getComputedStyle(at).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    return layers.reverse().reduce((under, c) => over(c, under), [255, 255, 255]);
  };
  const found = [];
  let seen = 0;
  const walk = document.createTreeWalker(document.querySelector(".moot"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
    const isShown = e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!text || !isShown || e.closest("svg, .sr, :disabled, option, .aside")) continue;
    const box = e.getBoundingClientRect();
    if (!box.width || box.bottom < 0 || box.top > innerHeight) continue;
    const style = getComputedStyle(e), under = ground(e), ink = over(numbers(style.color), under);
    const [a, b] = [light(ink), light(under)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    seen++;
    if (ratio < (isLarge ? 3 : 4.5)) found.push(`${text.slice(0, 40)} (${e.className}): ${ratio.toFixed(2)}`);
  }
  return { seen, found };
}"""
"""Texts below the contrast that WCAG 2.1 asks for (1.4.3, AA): 4.5, large ones 3."""

NAMELESS: Final = """() => {
  const controls = document.querySelectorAll(".moot :is(a, button, input, select, textarea, [role=img], [role=tab])");
  const told = (e) => e.getAttribute("aria-label") || e.innerText?.trim() || e.title || e.placeholder;
  const name = (e) => told(e) || e.labels?.length;
  return [...controls].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !name(e))
    .map((e) => e.outerHTML.slice(0, 120));
}"""
"""Controls that a screen reader could not name (WCAG 4.1.2)."""

OUTSIDE: Final = """() => {
  const scrolls = ".wide, .path, .json, .sr, svg, .nav, .board, .chart";
  const isOut = (b) => b.width && (b.right > innerWidth + 1 || b.left < -1);
  return [...document.querySelectorAll(".moot *")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(scrolls))
    .filter((e) => isOut(e.getBoundingClientRect()))
    .map((e) => `${e.tagName}.${e.className}`.slice(0, 80)).slice(0, 5);
}"""
"""What stands beyond the window's sides."""


def pale(page: Page) -> list[str]:
    """Return the texts that stand out too little; fails where there is no text at all."""
    told: dict[str, Any] = page.evaluate(PALE)
    assert told["seen"] > 10, told
    return list(told["found"])


def nameless(page: Page) -> list[str]:
    """Return the controls without a name."""
    return list(page.evaluate(NAMELESS))


def outside(page: Page) -> list[str]:
    """Return what is cut off at the sides."""
    return list(page.evaluate(OUTSIDE))


FLAWS: Final = Path(__file__).with_name("page_flaws.js").read_text(encoding="utf-8")
"""What the rules of axe-core for structure would find: landmarks, headings, roles, names, labels, lists, focus."""

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


def flaws(page: Page) -> list[str]:
    """Return what is wrong with a page's structure, each with the name of its rule."""
    return list(page.evaluate(FLAWS))


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
