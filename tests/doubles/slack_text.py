"""How Slack shows text: entities, mrkdwn, emoji codes, and what would have called somebody.

Conservative where Slack is not documented: what may take effect counts as taking effect. A zero-width character
is no space, so it stops no markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

EMOJI = {
    "+1": "👍", "-1": "👎", "thumbsup": "👍", "thumbsdown": "👎", "white_check_mark": "✅", "x": "❌",
    "heavy_check_mark": "✔️", "warning": "⚠️", "rotating_light": "🚨", "fire": "🔥", "tada": "🎉", "smile": "😄",
    "grinning": "😀", "joy": "😂", "heart": "❤️", "eyes": "👀", "wave": "👋", "rocket": "🚀", "bell": "🔔",
    "scales": "⚖️", "robot_face": "🤖", "moneybag": "💰", "chart_with_upwards_trend": "📈", "octagonal_sign": "🛑",
    "chart_with_downwards_trend": "📉", "question": "❓", "exclamation": "❗", "100": "💯", "pray": "🙏",
    "bulb": "💡", "mag": "🔍", "stop_sign": "🛑", "hourglass": "⌛", "memo": "📝", "speech_balloon": "💬",
}  # fmt: skip
CODES = {glyph: f":{name}:" for name, glyph in reversed(EMOJI.items())}
ENTITY = re.compile(r"<([^<>\n]+)>")
CODE = re.compile(r":([a-z0-9_+\-]+):")
BLOCK = re.compile(r"```.+?```", re.DOTALL)
SPAN = re.compile(r"(?<![`\w])`[^`\n]+`(?![`\w])")
MARKS = tuple(
    re.compile(rf"(?<![\w{mark}]){mark}(?=\S)[^\n{mark}]*?(?<=\S){mark}(?![\w{mark}])")
    for mark in (r"\*", "_", "~")
)
QUOTE = re.compile(r"(?m)^(?:>|&gt;)")
EVERYBODY = re.compile(r"(?<!\w)@(channel|here|everyone)\b")
NAMED = re.compile(r"(?<![\w/])@([a-z0-9][a-z0-9._-]*)")


@dataclass
class Seen:
    """What a text looks like to a person."""

    text: str = ""
    pings: list[str] = field(default_factory=list)
    markup: list[str] = field(default_factory=list)
    """What took effect: `bold`, `link`, `emoji` …"""


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mrkdwn(text: str, names: dict[str, str], *, is_formatted: bool = True, links_names: bool = False) -> Seen:
    """Render a mrkdwn text.

    Args:
        text: As it was sent.
        names: Names of users and channels by id.
        is_formatted: False where `mrkdwn: false` switches bold and the like off; entities count all the same.
        links_names: Whether `parse: full` or `link_names` turns bare @names into calls.
    """
    seen = Seen()
    kept: list[str] = []

    def hold(shown: str) -> str:
        kept.append(shown)
        return f"\x00{len(kept) - 1}\x00"

    def entity(found: re.Match[str]) -> str:
        body, _, label = found[1].partition("|")
        if body.startswith("@"):
            seen.pings.append(f"<{body}>")
            return hold("@" + names.get(body[1:], label or body[1:]))
        if body.startswith("#"):
            seen.markup.append("channel link")
            return hold("#" + names.get(body[1:], label or body[1:]))
        if body.startswith("!date^"):
            seen.markup.append("date")
            return hold(unescape(label))
        if body.startswith("!"):
            seen.pings.append(f"<{body}>")
            return hold(label or "@" + body[1:].split("^")[-1])
        if label or not re.match(r"https?://|mailto:", body):
            seen.markup.append(f"link to {unescape(body)}")
        return hold(unescape(label or body))

    if is_formatted:
        for pattern, name in ((BLOCK, "code block"), (SPAN, "code")):
            for found in pattern.findall(text):
                seen.markup.append(name)
                text = text.replace(found, hold(unescape(found.strip("`"))))
    text = ENTITY.sub(entity, text)
    if links_names:
        seen.pings += [f"@{name}" for name in EVERYBODY.findall(text)]
        seen.pings += [f"@{name}" for name in NAMED.findall(text) if name in names.values()]
    if is_formatted:
        if QUOTE.search(text):
            seen.markup.append("quote")
            text = QUOTE.sub("", text)
        for pattern, name in zip(MARKS, ("bold", "italic", "strike"), strict=True):
            if pattern.search(text):
                seen.markup.append(name)
                text = pattern.sub(lambda found: found[0][1:-1], text)
    text = _emoji(text, seen)
    text = re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], unescape(text))
    seen.text = re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], text)
    return seen


def plain(text: str, *, has_emoji: bool) -> Seen:
    """Render a plain_text object: literally, but for emoji codes where they are asked for."""
    seen = Seen()
    seen.text = _emoji(text, seen) if has_emoji else text
    return seen


def _emoji(text: str, seen: Seen) -> str:
    def glyph(found: re.Match[str]) -> str:
        if found[1] not in EMOJI:
            return found[0]
        seen.markup.append("emoji")
        return EMOJI[found[1]]

    return CODE.sub(glyph, text)


def typed(text: str, users: dict[str, str], channels: dict[str, str]) -> str:
    """Turn what a person typed into what Slack keeps: entities, calls, links, emoji as codes.

    Args:
        text: As typed.
        users: Ids by name.
        channels: Ids by name.
    """
    text = escape(text)
    for glyph, code in CODES.items():
        text = text.replace(glyph, code)
    text = re.sub(r"https?://[^\s&]+(?:&amp;[^\s&]+)*", lambda found: f"<{found[0]}>", text)
    text = EVERYBODY.sub(lambda found: f"<!{found[1]}>", text)
    text = NAMED.sub(lambda found: f"<@{users[found[1]]}>" if found[1] in users else found[0], text)

    def room(found: re.Match[str]) -> str:
        return f"<#{channels[found[1]]}|{found[1]}>" if found[1] in channels else found[0]

    return re.sub(r"(?<![\w/&])#([a-z0-9_-]+)", room, text)


def shown(blocks: list[dict[str, Any]], names: dict[str, str], *, links_names: bool = False) -> Seen:
    """Render a message's blocks, a line for each text; buttons are not part of the text."""
    seen = Seen()
    lines: list[str] = []
    for part in _texts(blocks):
        if part["type"] == "plain_text":
            one = plain(part["text"], has_emoji=part.get("emoji", True))
        else:
            one = mrkdwn(part["text"], names, links_names=links_names and not part.get("verbatim"))
        lines.append(one.text)
        seen.pings += one.pings
        seen.markup += one.markup
    seen.text = "\n".join(lines)
    return seen


def _texts(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for block in blocks:
        if block["type"] == "markdown":
            found.append({"type": "mrkdwn", "text": block["text"]})
        elif isinstance(block.get("text"), dict):
            found.append(block["text"])
        found += block.get("fields", ())
        if block["type"] == "context":
            found += [e for e in block["elements"] if e["type"] in ("mrkdwn", "plain_text")]
        if block["type"] == "rich_text":
            found += [{"type": "plain_text", "text": text, "emoji": False} for text in rich_texts(block)]
    return found


def rich_texts(block: dict[str, Any]) -> list[str]:
    """Return the texts of a rich_text block, one for each of its sections."""
    found = []
    for section in block.get("elements", ()):
        parts = section.get("elements", ())
        found.append(
            "".join(p.get("text", "") if p.get("type") == "text" else f"[{p.get('type')}]" for p in parts)
        )
    return found
