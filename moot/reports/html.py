"""A report as one page of HTML: no script, nothing from elsewhere, every text of a model escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Final

from moot.channels.showing.wording import harmless
from moot.reports.drawing import STYLE, Picture

LOOKS: Final = Path(__file__).with_name("web") / "report.css"

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
"""Were a text of a model ever not escaped, a browser would still run and load nothing of it."""


def page(title: str, parts: Iterable[str]) -> str:
    """Write a page.

    Args:
        title: Of the window, plain text.
        parts: What it shows, as HTML.
    """
    styles = f"{LOOKS.read_text(encoding='utf-8')}{STYLE.read_text(encoding='utf-8')}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)}</title>\n<style>\n{styles}</style></head>\n"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Show figures large.

    Args:
        figures: Of each what it is, and its value.
    """
    return f'<ul class="tiles">{"".join(f"<li><b>{text(value)}</b>{text(name)}</li>" for name, value in figures)}</ul>'


def figure(picture: Picture, said: Sequence[str]) -> str:
    """Show a picture, what is said beside it, and the numbers behind it, folded up."""
    told = " ".join(sentence(one) for one in said if one)
    return (
        f"<section><h2>{text(picture.title)}</h2><figure>{picture.html}"
        f"<figcaption>{text(told)}</figcaption></figure>"
        f"<details><summary>{text(picture.title)} in numbers</summary>{table(picture.heads, picture.rows)}</details>"
        "</section>"
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table, which scrolls where it is wider than the page; the first cell of a row names it."""
    named = "".join(f'<th scope="col">{text(one)}</th>' for one in heads)
    body = "".join(
        f'<tr><th scope="row">{text(first)}</th>{"".join(f"<td>{text(one)}</td>" for one in rest)}</tr>'
        for first, *rest in rows
    )
    about = text(", ".join(heads))
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{about}">'
        f"<table><thead><tr>{named}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def sentence(said: str) -> str:
    """Begin a text with a capital."""
    return said[:1].upper() + said[1:]


def text(plain: str) -> str:
    """Escape a text, and take out what could hide a word or turn a line around."""
    return escape(harmless(plain.replace("\t", "    ")))
