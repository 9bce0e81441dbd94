"""Messages for Slack: blocks of plain text, buttons, and the typed JSON as metadata or, where too large, a file.

Pure: plain dicts as the Web API takes them. Whatever bots or people said stands in `plain_text` objects, in which
Slack reads no markup, mention, link or emoji name; the top-level `text`, for notifications, is escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    parts,
    units,
)
from moot.channels.showing.looks import MOST_NAME, look_of
from moot.channels.showing.rendering import Button, Field
from moot.channels.surface import Posting
from moot.protocols.kernel.seats import Seat

MOST_ALL: Final = 12_000
"""All blocks as JSON; Slack has been seen to refuse somewhat above 13,000 (`msg_blocks_too_long`)."""

MOST_TEXT: Final = 3_800
"""The top-level text: Slack asks for fewer than 4,000, and cuts at 40,000."""

MOST_SECTION: Final = 2_900
MOST_SECTION_FIELD: Final = 1_900
A_SECTION: Final = 10
MOST_LABEL: Final = 75
MOST_ID: Final = 255
MOST_BUTTONS: Final = 25
MOST_METADATA: Final = 8_000
"""Characters of the metadata as JSON; larger ones go into a file."""

MOST_PERMALINK: Final = 500
EVENT: Final = "moot_message"
"""Type of our metadata."""

FILE: Final = "payload.json"

_SPAN: Final = re.compile(r"<([^<>\n]*)>")
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message as `chat.postMessage` takes it.

    Attributes:
        username: Under which name.
        icon_emoji: Under which picture.
        seat: Whose seat; None: the society's own.
        text: For notifications, escaped; send it with `mrkdwn=False`, `parse="none"`, `link_names=False`.
        blocks: What is shown.
        metadata: Nonce and typed JSON; None where it is too large, then `payload` is uploaded (`with_file`).
        nonce: The posting's nonce.
        payload: The typed JSON for the file.
    """

    username: str
    icon_emoji: str
    seat: Seat | None
    text: str
    blocks: list[dict[str, Any]]
    metadata: dict[str, Any] | None
    nonce: str
    payload: bytes


def message(item: Posting) -> Rendered:
    """Lay a posting out for Slack; any posting gives one that Slack takes."""
    found = parts(item)
    seat, look = look_of((item.envelope, *item.folded), here="slack", who=item.who)
    buttons = with_ids(found.buttons, MOST_ID, MOST_BUTTONS)
    said = cut(found.sentence, MOST_SECTION, weight)
    footer = _footer(item, cut(found.title, 200, weight))
    note = _context(hint(item))
    actions, are_pressable = _actions(buttons, len(found.buttons))
    used = [_section(said), *actions, note, footer]
    # A file's link may be added later, so its room stays free.
    left = MOST_ALL - size(used) - MOST_PERMALINK - 300
    blocks, is_whole = _lines(found.lines, left) if found.lines else _body(found.passages, found.fields, left)
    is_told = found.is_whole and is_whole and are_pressable and said == found.sentence
    shown = [_section(said), *blocks, *actions, *(() if is_told else (note,)), footer]
    lines = lines_of(item)
    return Rendered(
        username=cut(look.name.strip() or "Moot", MOST_NAME, weight),
        icon_emoji=look.icon_emoji,
        seat=seat,
        text=escape(cut(found.sentence, MOST_TEXT, lambda text: units(escape(text)))),
        blocks=shown,
        metadata=_metadata(item.nonce, lines),
        nonce=item.nonce,
        payload=_payload(item.nonce, lines),
    )


def with_file(rendered: Rendered, file_id: str, permalink: str) -> Rendered:
    """Let a message name the file that carries its typed JSON, and link to it."""
    payload = {"nonce": rendered.nonce, "file": file_id}
    is_link = re.fullmatch(rf"https?://[^\s<>|]{{1,{MOST_PERMALINK - 20}}}", permalink)
    blocks = rendered.blocks
    text = rendered.text
    if is_link:
        blocks = [*blocks, _linked("The typed message is in ", permalink, FILE)]
        text = f"{text}\n<{permalink}|{FILE}>"
    return replace(
        rendered, text=text, blocks=blocks, metadata={"event_type": EVENT, "event_payload": payload}
    )


def escape(text: str) -> str:
    """Escape `&`, `<` and `>`: nothing in the text is a mention, a link or a channel then."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def weight(text: str) -> int:
    """Count what a text takes of a limit, however Slack counts: as UTF-16, escaped, quoted in JSON."""
    return units(json.dumps(escape(text), ensure_ascii=False)) - 2


def size(blocks: Sequence[Mapping[str, Any]]) -> int:
    """Count what blocks take of the limit for all of them together."""
    return units(escape(json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))))


def plain(
    text: str, *, users: Mapping[str, str] | None = None, channels: Mapping[str, str] | None = None
) -> str:
    """Turn what a person wrote into plain words: mentions, channels, links and entities as they read there.

    Args:
        text: The message's text, as Slack sends it.
        users: Names by id; an id without a name stands for itself.
        channels: The same for channels.
    """
    pieces, at = [], 0
    for found in _SPAN.finditer(text):
        pieces += [_unescaped(text[at : found.start()]), _span(found[1], users or {}, channels or {})]
        at = found.end()
    return "".join((*pieces, _unescaped(text[at:])))


read_action_id = read_button_id
"""What an `action_id` or a button's value means; None when it is none of ours."""


def nonce_of(metadata: object) -> str | None:
    """Return the nonce in a message's metadata; None when it is not ours."""
    payload = _ours(metadata)
    nonce = payload.get("nonce") if payload is not None else None
    return nonce if isinstance(nonce, str) else None


def file_of(metadata: object) -> str | None:
    """Return the id of the file that carries the typed JSON; None when the metadata carries it itself."""
    payload = _ours(metadata)
    found = payload.get("file") if payload is not None else None
    return found if isinstance(found, str) else None


def _text(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": _text(text)}


def _context(text: str) -> dict[str, Any]:
    before, space, last = text.rpartition(" ")
    if last.startswith(("http://", "https://")):
        return _linked(before + space, last, last)
    return {"type": "context", "elements": [_text(text)]}


def _linked(before: str, link: str, label: str) -> dict[str, Any]:
    said = f"{escape(before)}<{escape(link)}|{escape(label)}>"
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": said, "verbatim": True}]}


def _footer(item: Posting, title: str) -> dict[str, Any]:
    elements = [_text(f"{title or 'Message'} · message {item.seq}")]
    if link := link_of(item):
        elements.append({"type": "mrkdwn", "text": f"<{escape(link)}|open>", "verbatim": True})
    return {"type": "context", "elements": elements}


def _actions(buttons: Sequence[tuple[str, Button]], wanted: int) -> tuple[list[dict[str, Any]], bool]:
    made: list[dict[str, Any]] = []
    for text, button in buttons:
        label = cut(button.label.strip() or "?", MOST_LABEL, weight)
        one: dict[str, Any] = {"type": "button", "text": _text(label), "action_id": text, "value": text}
        if button.kind == "answer":
            one["style"] = "primary"
        if size([*made, one]) > MOST_ALL // 2:
            break
        made.append(one)
    return ([{"type": "actions", "elements": made}] if made else []), len(made) == wanted


def _lines(lines: Sequence[str], most: int) -> tuple[list[dict[str, Any]], bool]:
    blocks: list[dict[str, Any]] = []
    held: list[str] = []
    for line in fit_lines(lines, most - 1_000, weight):
        if held and weight("\n".join((*held, line))) > MOST_SECTION:
            blocks.append(_section("\n".join(held)))
            held = []
        held.append(line)
    if held:
        blocks.append(_section("\n".join(held)))
    return blocks, True


def _body(passages: Sequence[Field], fields: Sequence[Field], most: int) -> tuple[list[dict[str, Any]], bool]:
    wanted = sum(weight(field.name) + min(weight(field.value), 400) + 60 for field in fields)
    long, is_whole = fit_passages(passages, max(most // 2, most - wanted) - 1_000, weight)
    blocks = [_section(piece) for piece in _pieces("\n\n".join(f"{one.name}\n{one.value}" for one in long))]
    kept, are_whole = fit_fields(
        fields,
        most - size(blocks) - 200,
        most_name=200,
        most_value=MOST_SECTION_FIELD - 210,
        overhead=60,
        weigh=weight,
    )
    shown = [_text(f"{field.name}\n{field.value}") for field in kept]
    blocks += [
        {"type": "section", "fields": shown[n : n + A_SECTION]} for n in range(0, len(shown), A_SECTION)
    ]
    return blocks, is_whole and are_whole


def _pieces(text: str) -> list[str]:
    found = []
    while weight(text) > MOST_SECTION:
        head = cut(text, MOST_SECTION, weight).removesuffix("…").rstrip() or text[: MOST_SECTION // 12]
        found.append(head)
        text = text[len(head) :].lstrip()
    return [*found, text] if text else found


def _metadata(nonce: str, lines: Sequence[str]) -> dict[str, Any] | None:
    if sum(map(len, lines)) > MOST_METADATA:
        return None
    payload = {"nonce": nonce, "messages": json.dumps(lines, ensure_ascii=False)}
    found = {"event_type": EVENT, "event_payload": payload}
    return found if units(json.dumps(found, ensure_ascii=False)) <= MOST_METADATA else None


def _payload(nonce: str, lines: Sequence[str]) -> bytes:
    content = {"nonce": nonce, "messages": list(lines)}
    try:
        return json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(content).encode()


def _ours(metadata: object) -> Mapping[str, Any] | None:
    if not isinstance(metadata, Mapping) or metadata.get("event_type") != EVENT:
        return None
    payload = metadata.get("event_payload")
    return payload if isinstance(payload, Mapping) else None


def _unescaped(text: str) -> str:
    return re.sub(r"&(?:lt|gt|amp);", lambda found: _ENTITIES[found[0]], text)


def _span(inner: str, users: Mapping[str, str], channels: Mapping[str, str]) -> str:
    target, _, label = inner.partition("|")
    target, label = _unescaped(target), _unescaped(label)
    if target.startswith("@"):
        return "@" + (label or users.get(target[1:], target[1:]))
    if target.startswith("#"):
        return "#" + (label or channels.get(target[1:], target[1:]))
    if target.startswith("!"):
        name = target[1:].partition("^")[0]
        return label or f"@{name}"
    bare = re.sub(r"^(?:mailto:|tel:|https?://)", "", target)
    return target if not label or label == target else label if label == bare else f"{label} ({target})"
