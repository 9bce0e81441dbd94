"""What Slack refuses in a message: Block Kit's rules, the size of all blocks, metadata, text.

The messages are of Slack's own form: `[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.doubles.slack_state import Refusal

MOST_BLOCKS = 50
TEXT_CUT = 40_000
UPDATE_TEXT = 4_000
BLOCKS_SIZE = 13_200
BLOCK_COST = 60
"""Of each block, beside its text. Together with the size above it parts what was seen accepted and refused."""
TEXT_KEYS = {"type", "text", "emoji", "verbatim"}
BUTTON_KEYS = {
    "type", "text", "action_id", "url", "value", "style", "confirm", "accessibility_label",
}  # fmt: skip
BLOCK_KEYS = {
    "section": {"type", "block_id", "text", "fields", "accessory", "expand"},
    "header": {"type", "block_id", "text", "level"},
    "divider": {"type", "block_id"},
    "context": {"type", "block_id", "elements"},
    "actions": {"type", "block_id", "elements"},
    "image": {"type", "block_id", "image_url", "slack_file", "alt_text", "title"},
    "markdown": {"type", "block_id", "text"},
    "rich_text": {"type", "block_id", "elements"},
}


class Checker:
    """Collects what is wrong with a list of blocks."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.size = 0

    def say(self, what: str, where: str) -> None:
        self.wrong.append(f"[ERROR] {what} [json-pointer:{where}]")

    def blocks(self, blocks: list[Any]) -> None:
        if len(blocks) > MOST_BLOCKS:
            self.say(f"no more than {MOST_BLOCKS} items allowed", "/blocks")
        ids: set[str] = set()
        for number, block in enumerate(blocks):
            where = f"/blocks/{number}"
            self.size += BLOCK_COST
            kind = block.get("type") if isinstance(block, dict) else None
            if kind not in BLOCK_KEYS:
                self.say(
                    "must be an object" if kind is None else f"unsupported type: {kind}", f"{where}/type"
                )
                continue
            self._keys(block, BLOCK_KEYS[kind], where)
            block_id = block.get("block_id")
            if block_id is not None:
                self.length(block_id, 255, f"{where}/block_id")
                if block_id in ids:
                    self.say(f"`block_id` {block_id} already exists", f"{where}/block_id")
                ids.add(block_id)
            getattr(self, f"_{kind}")(block, where)

    def length(self, value: Any, most: int, where: str, least: int = 1) -> None:
        if not isinstance(value, str):
            self.say("must be a string", where)
        elif len(value) < least:
            self.say(f"must be more than {least - 1} characters", where)
        elif len(value) > most:
            self.say(f"must be less than {most + 1} characters", where)

    def text(self, part: Any, most: int, where: str, *, is_plain: bool = False) -> None:
        if not isinstance(part, dict):
            self.say("must be an object" if part is not None else "missing required field: text", where)
            return
        self._keys(part, TEXT_KEYS, where)
        kind = part.get("type")
        if kind not in (("plain_text",) if is_plain else ("plain_text", "mrkdwn")):
            self.say("must be one of the allowed values", f"{where}/type")
        if kind == "mrkdwn" and "emoji" in part:
            self.say("`emoji` is only allowed with plain_text", where)
        if kind == "plain_text" and "verbatim" in part:
            self.say("`verbatim` is only allowed with mrkdwn", where)
        self.size += len(part.get("text") or "")
        self.length(part.get("text"), most, f"{where}/text")

    def _keys(self, part: dict[str, Any], known: set[str], where: str) -> None:
        for key in part.keys() - known:
            self.say(f"invalid additional property: {key}", where)

    def _section(self, block: dict[str, Any], where: str) -> None:
        if "text" not in block and not block.get("fields"):
            self.say("missing required field: text or fields", where)
        if "text" in block:
            self.text(block["text"], 3_000, f"{where}/text")
        fields = block.get("fields", ())
        if "fields" in block and not 1 <= len(fields) <= 10:
            self.say("must have between 1 and 10 items", f"{where}/fields")
        for number, one in enumerate(fields):
            self.text(one, 2_000, f"{where}/fields/{number}")
        if "accessory" in block:
            self._elements([block["accessory"]], f"{where}/accessory")

    def _header(self, block: dict[str, Any], where: str) -> None:
        self.text(block.get("text"), 150, f"{where}/text", is_plain=True)

    def _divider(self, block: dict[str, Any], where: str) -> None:
        pass

    def _context(self, block: dict[str, Any], where: str) -> None:
        elements = block.get("elements") or []
        if not 1 <= len(elements) <= 10:
            self.say("must have between 1 and 10 items", f"{where}/elements")
        for number, one in enumerate(elements):
            if isinstance(one, dict) and one.get("type") == "image":
                self._picture(one, f"{where}/elements/{number}")
            else:
                self.text(one, 3_000, f"{where}/elements/{number}")

    def _actions(self, block: dict[str, Any], where: str) -> None:
        elements = block.get("elements") or []
        if not 1 <= len(elements) <= 25:
            self.say("must have between 1 and 25 items", f"{where}/elements")
        self._elements(elements, f"{where}/elements")

    def _elements(self, elements: list[Any], where: str) -> None:
        ids: set[str] = set()
        for number, one in enumerate(elements):
            here = f"{where}/{number}"
            kind = one.get("type") if isinstance(one, dict) else None
            if kind == "image":
                self._picture(one, here)
            elif kind != "button":
                # Menus and pickers exist; nothing here posts them, and a refusal tells who begins to.
                self.say(f"unsupported type: {kind}", f"{here}/type")
            else:
                self._button(one, here)
                action_id = one.get("action_id")
                if action_id is not None and action_id in ids:
                    self.say(f"`action_id` {action_id} already exists", f"{here}/action_id")
                ids.add(action_id)

    def _button(self, one: dict[str, Any], where: str) -> None:
        self._keys(one, BUTTON_KEYS, where)
        self.text(one.get("text"), 75, f"{where}/text", is_plain=True)
        for name, most in (("action_id", 255), ("value", 2_000), ("url", 3_000), ("accessibility_label", 75)):
            if name in one:
                self.length(one[name], most, f"{where}/{name}")
        if "style" in one and one["style"] not in ("primary", "danger"):
            self.say("must be one of the allowed values", f"{where}/style")
        if "confirm" in one:
            confirm = one["confirm"]
            self.text(confirm.get("title"), 100, f"{where}/confirm/title", is_plain=True)
            self.text(confirm.get("text"), 300, f"{where}/confirm/text")
            self.text(confirm.get("confirm"), 30, f"{where}/confirm/confirm", is_plain=True)
            self.text(confirm.get("deny"), 30, f"{where}/confirm/deny", is_plain=True)

    def _image(self, block: dict[str, Any], where: str) -> None:
        self._picture(block, where)
        if "title" in block:
            self.text(block["title"], 2_000, f"{where}/title", is_plain=True)

    def _picture(self, one: dict[str, Any], where: str) -> None:
        self.length(one.get("alt_text"), 2_000, f"{where}/alt_text")
        if ("image_url" in one) == ("slack_file" in one):
            self.say("must have one of image_url and slack_file", where)
        if "image_url" in one:
            self.length(one["image_url"], 3_000, f"{where}/image_url")

    def _markdown(self, block: dict[str, Any], where: str) -> None:
        self.length(block.get("text"), 12_000, f"{where}/text")
        self.size += len(block.get("text") or "")

    def _rich_text(self, block: dict[str, Any], where: str) -> None:
        def walk(part: Any) -> None:
            if isinstance(part, dict):
                self.size += len(part["text"]) if isinstance(part.get("text"), str) else 0
                for child in part.get("elements", ()):
                    walk(child)

        if not isinstance(block.get("elements"), list):
            self.say("missing required field: elements", where)
        walk(block)


def check_blocks(raw: Any) -> list[dict[str, Any]]:
    """Read the `blocks` argument.

    Raises:
        Refusal: As Slack says it.
    """
    blocks = _read(raw, "invalid_blocks_format")
    if not isinstance(blocks, list):
        raise Refusal("invalid_blocks_format")
    checker = Checker()
    checker.blocks(blocks)
    if checker.wrong:
        raise Refusal("invalid_blocks", checker.wrong)
    if checker.size > BLOCKS_SIZE:
        raise Refusal("msg_blocks_too_long")
    return blocks


def check_metadata(raw: Any, most: int) -> dict[str, Any]:
    """Read the `metadata` argument; `most` is its size in bytes.

    Raises:
        Refusal: As Slack says it.
    """
    metadata = _read(raw, "invalid_metadata_format")
    if not isinstance(metadata, dict):
        raise Refusal("invalid_metadata_format")
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(kind, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,254}", kind):
        raise Refusal(
            "invalid_metadata_schema", ["[ERROR] invalid event_type [json-pointer:/metadata/event_type]"]
        )
    if not isinstance(payload, dict):
        raise Refusal(
            "invalid_metadata_schema", ["[ERROR] must be an object [json-pointer:/metadata/event_payload]"]
        )
    if metadata.keys() - {"event_type", "event_payload", "entities"}:
        raise Refusal("invalid_metadata_schema")
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > most:
        raise Refusal("metadata_too_large")
    return metadata


def check_attachments(raw: Any) -> list[dict[str, Any]]:
    """Read the `attachments` argument.

    Raises:
        Refusal: As Slack says it.
    """
    attachments = _read(raw, "invalid_attachments")
    if not isinstance(attachments, list):
        raise Refusal("invalid_attachments")
    if len(attachments) > 100:
        raise Refusal("too_many_attachments")
    return attachments


def _read(raw: Any, error: str) -> Any:
    if not isinstance(raw, str):
        return raw
    try:
        return json.loads(raw)
    except ValueError:
        raise Refusal(error) from None
