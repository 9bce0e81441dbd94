"""Messages for Discord: a sentence, an embed with the figures, buttons, and the typed JSON as a file.

Pure: plain dicts as the REST API takes them. A person sees exactly the words that were said: what Discord would
take for markup, a mention, an emoji or a link is escaped with its own backslash, and nothing pings.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from moot.channels.chat.buttons import read_button_id, with_ids
from moot.channels.showing.layout import (
    cut,
    fit_fields,
    fit_lines,
    fit_passages,
    hint,
    lines_of,
    link_of,
    mark,
    parts,
    thread_title,
    units,
)
from moot.channels.showing.looks import MOST_NAME, look_of
from moot.channels.showing.rendering import Button
from moot.channels.surface import Posting
from moot.protocols.kernel.seats import Seat

MOST_CONTENT: Final = 2_000
MOST_EMBED: Final = 6_000
MOST_TITLE: Final = 256
MOST_DESCRIPTION: Final = 4_096
MOST_FIELDS: Final = 25
MOST_FIELD_NAME: Final = 256
MOST_FIELD_VALUE: Final = 1_024
MOST_LABEL: Final = 80
MOST_ID: Final = 100
MOST_BUTTONS: Final = 25
A_ROW: Final = 5
MOST_THREAD_NAME: Final = 100
"""Discord's limits, in characters; counted in UTF-16 units here, which is never less."""

MOST_FILE: Final = 9_500_000
"""Bytes of an attachment: below the 10 MiB that every server allows."""

MOST_UNPACKED: Final = 200_000_000
"""Bytes that a packed attachment may unfold to."""

FILE: Final = "payload.json"
"""Name of the attachment; with `.gz` where only packed it fits."""

FOOTER: Final = re.compile(r"message \d+ · ([0-9a-f]{16})")
"""The footer of our first embed, with its mark."""

_INLINE: Final = 40
_MARKUP: Final = re.compile(
    r"[\\*_~|`<>\[\]@]"  # styles, spoilers, code, mentions, emoji, links
    r"|:(?=\S)|\.(?=[A-Za-z]+/)"  # links, :smile:, invites without a scheme
    r"|^(?=[ ]*(?:[#+-]|-#))(?P<lead> *)(?P<sign>[#+-])"  # headings, small print, lists
    r"|^(?P<count> *\d+)(?P<dot>[.)])",
    re.MULTILINE,
)
_MENTION: Final = re.compile(
    r"<(?:@!?(?P<user>\d{1,20})|@&(?P<role>\d{1,20})|#(?P<channel>\d{1,20})|a?(?P<emoji>:\w{1,32}:)\d{1,20}"
    r"|t:(?P<time>-?\d{1,13})(?::[a-zA-Z])?|/(?P<command>[^:<>\n]{1,100}):\d{1,20}|(?P<url>https?://[^\s<>]+))>"
)
_BANNED: Final = {"discord": "dis-cord", "clyde": "cly-de", "everyone": "every-one"}


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message as Discord's webhook takes it.

    Attributes:
        username: Under which name.
        seat: Whose picture; None: the society's own.
        content: The human sentence, escaped.
        embeds: One embed: title, description, fields, footer with the mark.
        components: Rows of buttons.
        payload: The typed JSON for the attachment; None where it is too large even when packed.
        filename: The attachment's name.
    """

    username: str
    seat: Seat | None
    content: str
    embeds: list[dict[str, Any]]
    components: list[dict[str, Any]]
    payload: bytes | None
    filename: str = FILE


def message(item: Posting) -> Rendered:
    """Lay a posting out for Discord; any posting gives one that Discord takes."""
    found = parts(item)
    seat, look = look_of((item.envelope, *item.folded), here="discord", who=item.who)
    payload, filename = _payload(item)
    content = cut(found.sentence, MOST_CONTENT, weight)
    title = cut(found.title.strip() or "Message", MOST_TITLE, weight)
    footer = f"message {item.seq} · {mark(item.nonce)}"
    note = escape(hint(item), keeps_links=True)
    buttons = with_ids(found.buttons, MOST_ID, MOST_BUTTONS)
    left = MOST_EMBED - weight(title) - units(footer) - 10
    wanted = sum(weight(field.name) + min(weight(field.value), 400) for field in found.fields)
    most_text = min(MOST_DESCRIPTION, max(left // 2, left - wanted)) - units(note) - 2
    if found.lines:
        fitted = fit_lines(found.lines, most_text, weight)
        texts, is_whole = ["\n".join(escape(line) for line in fitted)], False
    else:
        passages, is_whole = fit_passages(found.passages, most_text, _passage_weight)
        texts = [f"**{escape(passage.name)}**\n{escape(passage.value)}" for passage in passages]
    fields, are_whole = fit_fields(
        found.fields,
        left - sum(units(text) + 2 for text in texts) - units(note) - 2,
        most_name=MOST_FIELD_NAME,
        most_value=MOST_FIELD_VALUE,
        most_fields=MOST_FIELDS,
        weigh=weight,
    )
    is_told = found.is_whole and is_whole and are_whole and content == found.sentence and payload is not None
    if not is_told or len(buttons) < len(found.buttons):
        texts.append(note)
    embed: dict[str, Any] = {
        "title": escape(title),
        "color": look.colour_number,
        "timestamp": item.envelope.sent_at.isoformat(),
        "footer": {"text": footer},
    }
    if link := link_of(item):
        embed["url"] = link
    if texts:
        embed["description"] = "\n\n".join(texts)
    if fields:
        embed["fields"] = [
            {
                "name": escape(field.name),
                "value": escape(field.value),
                "inline": len(field.value) <= _INLINE,
            }
            for field in fields
        ]
    return Rendered(username(look.name), seat, escape(content), [embed], _rows(buttons), payload, filename)


def escape(text: str, *, keeps_links: bool = False) -> str:
    r"""Escape what Discord would read as markup, a mention, an emoji or a link: `*a*` becomes `\*a\*`.

    Args:
        text: Plain text, of one or more lines.
        keeps_links: Whether web addresses stay links; for our own words only.
    """
    if keeps_links:
        pieces = re.split(r"(https?://[^\s<>]+)", text)
        return "".join(f"<{piece}>" if n % 2 else escape(piece) for n, piece in enumerate(pieces))
    return _MARKUP.sub(_escaped, text)


def weight(text: str) -> int:
    """Count what a text takes of a limit once it is escaped."""
    return units(escape(text))


def plain(
    text: str,
    *,
    users: Mapping[str, str] | None = None,
    roles: Mapping[str, str] | None = None,
    channels: Mapping[str, str] | None = None,
) -> str:
    """Turn what a person wrote into plain words: mentions, custom emoji, times and links as they read there.

    Args:
        text: The message's content.
        users: Names by id; an id without a name stands for itself.
        roles: The same for roles.
        channels: The same for channels.
    """
    names = {"user": users or {}, "role": roles or {}, "channel": channels or {}}

    def worded(found: re.Match[str]) -> str:
        kind, value = next((name, text) for name, text in found.groupdict().items() if text is not None)
        if kind in names:
            return ("#" if kind == "channel" else "@") + names[kind].get(value, value)
        if kind == "time":
            return _time(int(value), found[0])
        return f"/{value}" if kind == "command" else value

    return _MENTION.sub(worded, text)


def username(name: str) -> str:
    """Make a name that Discord takes for a webhook's message: 1 to 80 characters, none of its banned words."""
    found = re.sub(r"\s+", " ", re.sub(r"[@#:`]", " ", name)).strip()
    for word, instead in _BANNED.items():
        found = re.sub(word, instead, found, flags=re.IGNORECASE)
    found = re.sub(r"\bhere\b", "he-re", found, flags=re.IGNORECASE)
    return cut(found, MOST_NAME).strip() or "Moot"


read_custom_id = read_button_id
"""What a `custom_id` means; None when it is none of ours."""


def thread_name(item: Posting) -> str:
    """Name a case's thread: its id, and what it is about."""
    return thread_title(item, MOST_THREAD_NAME)


def footer_mark(embeds: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the mark that a message of ours carries in its first embed's footer."""
    footer = embeds[0].get("footer") if embeds else None
    text = footer.get("text") if isinstance(footer, Mapping) else None
    found = FOOTER.fullmatch(text) if isinstance(text, str) else None
    return found[1] if found else None


def _escaped(found: re.Match[str]) -> str:
    if found["sign"]:
        return f"{found['lead']}\\{found['sign']}"
    if found["dot"]:
        return f"{found['count']}\\{found['dot']}"
    return f"\\{found[0]}"


def _passage_weight(text: str) -> int:
    # A passage's name stands in bold.
    return weight(text) + 4


def _rows(buttons: Sequence[tuple[str, Button]]) -> list[dict[str, Any]]:
    made = [
        {
            "type": 2,
            "style": 1 if button.kind == "answer" else 2,
            "label": cut(button.label.strip() or "?", MOST_LABEL),
            "custom_id": text,
        }
        for text, button in buttons
    ]
    return [{"type": 1, "components": made[n : n + A_ROW]} for n in range(0, len(made), A_ROW)]


def _payload(item: Posting) -> tuple[bytes | None, str]:
    content = {"nonce": item.nonce, "messages": lines_of(item)}
    try:
        found = json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        found = json.dumps(content).encode()
    if len(found) <= MOST_FILE:
        return found, FILE
    packed = gzip.compress(found, 6, mtime=0)
    return (packed if len(packed) <= MOST_FILE and len(found) <= MOST_UNPACKED else None), f"{FILE}.gz"


def _time(seconds: int, instead: str) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return instead
