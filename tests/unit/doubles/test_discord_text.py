"""How the Discord double shows texts: what Discord would format is told, what is escaped is plain."""

from __future__ import annotations

import pytest

from tests.doubles.discord_text import pings, shown

FORMATTED = {
    "a **b** c": ("a b c", "bold"),
    "a *b* c": ("a b c", "italic"),
    "a _b_ c": ("a b c", "italic"),
    "a __b__ c": ("a b c", "underline"),
    "a ~~b~~ c": ("a b c", "strike"),
    "a ||b|| c": ("a b c", "spoiler"),
    "a `*b*` c": ("a *b* c", "code"),
    "a ``b`c`` d": ("a b`c d", "code"),
    "```py\na = *b*\n```": ("a = *b*", "code block"),
    "# big": ("big", "heading"),
    "one\n## big": ("one\nbig", "heading"),
    "-# small": ("small", "small"),
    "> said": ("said", "quote"),
    ">>> said": ("said", "quote"),
    "- item": ("item", "list"),
    "* item": ("item", "list"),
    "1. item": ("item", "list"),
    "[here](https://example.org)": ("here", "masked link"),
    "[he\\]re](<https://example.org>)": ("he]re", "masked link"),
    "<https://example.org>": ("https://example.org", "quiet link"),
    "<@123>": ("<@123>", "mention"),
    "<@!123>": ("<@!123>", "mention"),
    "<@&123>": ("<@&123>", "mention"),
    "<#123>": ("<#123>", "mention"),
    "<:smile:123>": ("<:smile:123>", "emoji"),
    "<a:smile:123>": ("<a:smile:123>", "emoji"),
    "<t:1:R>": ("<t:1:R>", "time"),
}
PLAIN = {
    r"a \*b\* c": "a *b* c",
    r"a \_b\_ c": "a _b_ c",
    r"\# big": "# big",
    r"\> said": "> said",
    r"\- item": "- item",
    r"1\. item": "1. item",
    r"\[here\](https://example.org)": "[here](https://example.org)",
    r"\<@123>": "<@123>",
    r"\|\|b\|\|": "||b||",
    r"\`code\`": "`code`",
    r"back\\slash": r"back\slash",
    r"a\b": r"a\b",
    "2 * 3 * 4": "2 * 3 * 4",
    "snake_case_name": "snake_case_name",
    "a*b": "a*b",
    "#channel and #5": "#channel and #5",
    "-5 degrees": "-5 degrees",
    "https://example.org/a_b_c*d*": "https://example.org/a_b_c*d*",
    "@everyone": "@everyone",
}


@pytest.mark.parametrize("text", FORMATTED)
def test_what_takes_effect_as_markup_is_told(text: str) -> None:
    marks: list[tuple[str, str]] = []
    plain, kind = FORMATTED[text]
    assert shown(text, marks) == plain
    assert [mark[0] for mark in marks] == [kind]


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_escaped_or_no_markup_is_plain(text: str) -> None:
    marks: list[tuple[str, str]] = []
    assert shown(text, marks) == PLAIN[text]
    assert marks == []


@pytest.mark.parametrize(
    ("rule", "may_everyone", "woken"),
    [
        (None, True, ["@everyone", "<@1>", "<@&2>", "@here"]),
        (None, False, ["<@1>", "<@&2>"]),
        ({"parse": []}, True, []),
        ({}, True, []),
        ({"parse": ["users"]}, True, ["<@1>"]),
        ({"parse": [], "users": ["1"]}, True, ["<@1>"]),
        ({"parse": [], "users": ["9"], "roles": ["2"]}, True, ["<@&2>"]),
        ({"parse": ["everyone"]}, True, ["@everyone", "@here"]),
        ({"parse": ["everyone"]}, False, []),
    ],
)
def test_whom_a_text_wakes_follows_from_allowed_mentions(
    rule: dict[str, list[str]] | None, may_everyone: bool, woken: list[str]
) -> None:
    assert pings("@everyone <@1> <@&2> @here", rule, may_everyone=may_everyone) == woken
