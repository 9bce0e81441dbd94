"""Discord's limits on what may be sent, with the nested `errors` of code 50035.

Lengths are counted in code points, as Discord's API does (its own developers' answer in discord-api-docs #1315);
texts are trimmed first, as it trims them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.doubles.discord_errors import Refusal

Json = dict[str, Any]
Found = list[tuple[tuple[str, ...], str, str]]

CONTENT, EMBEDS, EMBED_TOTAL, FIELDS = 2000, 10, 6000, 25
EMBED_TEXTS = {("title",): 256, ("description",): 4096, ("footer", "text"): 2048, ("author", "name"): 256}
FIELD_NAME, FIELD_VALUE = 256, 1024
ROWS, IN_ROW, LABEL, CUSTOM_ID = 5, 5, 80, 100
USERNAME, NONCE, FILES, FILE_BYTES, REQUEST_BYTES = 80, 25, 10, 10 * 1024**2, 25 * 1024**2
THREAD_NAME, CHANNEL_NAME, TOPIC = 100, 100, 1024
ARCHIVE_AFTER = (60, 1440, 4320, 10080)
URL = re.compile(r"(https?|attachment|discord)://\S+")


def refuse(found: Found) -> None:
    """Raise 50035 with what was found, nested as Discord nests it; nothing found, nothing raised."""
    errors: Json = {}
    for path, code, message in found:
        place = errors
        for step in path:
            place = place.setdefault(step, {})
        place.setdefault("_errors", []).append({"code": code, "message": message})
    if errors:
        raise Refusal(50035, errors)


def text(
    found: Found, path: tuple[str, ...], value: Any, most: int, *, least: int = 0, required: bool = False
) -> str:
    """Check one text; returns it trimmed."""
    if value is None:
        if required:
            found.append((path, "BASE_TYPE_REQUIRED", "This field is required"))
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        found.append((path, "STRING_TYPE_CONVERT", "Could not interpret value as string."))
        return ""
    trimmed: str = value.strip()
    if required and not trimmed:
        found.append((path, "BASE_TYPE_REQUIRED", "This field is required"))
    elif len(trimmed) > most and least:
        found.append((path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length."))
    elif len(trimmed) > most:
        found.append((path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length."))
    elif len(trimmed) < least:
        found.append((path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length."))
    return trimmed


def embeds(found: Found, value: Any) -> list[Json]:
    if value is None:
        return []
    if not isinstance(value, list):
        found.append((("embeds",), "BASE_TYPE_CONVERT", "Only iterables may be used in a ListType."))
        return []
    if len(value) > EMBEDS:
        found.append((("embeds",), "BASE_TYPE_MAX_LENGTH", f"Must be {EMBEDS} or fewer in length."))
    kept, total = [], 0
    for number, embed in enumerate(value):
        at = ("embeds", str(number))
        if not isinstance(embed, dict):
            found.append((at, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType"))
            continue
        clean, size = _embed(found, at, embed)
        kept.append(clean)
        total += size
    if total > EMBED_TOTAL:
        found.append(
            (("embeds",), "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBED_TOTAL}")
        )
    return kept


def _embed(found: Found, at: tuple[str, ...], embed: Json) -> tuple[Json, int]:
    clean: Json = {**embed, "type": "rich"}
    total = 0
    for path, most in EMBED_TEXTS.items():
        holder = embed if len(path) == 1 else embed.get(path[0])
        if not holder or path[-1] not in holder:
            continue
        value = text(found, (*at, *path), holder[path[-1]], most)
        total += len(value)
        if len(path) == 1:
            clean[path[0]] = value
        else:
            clean[path[0]] = {**holder, path[1]: value}
    fields = embed.get("fields") or []
    if len(fields) > FIELDS:
        found.append(((*at, "fields"), "BASE_TYPE_MAX_LENGTH", f"Must be {FIELDS} or fewer in length."))
    clean["fields"] = []
    for number, item in enumerate(fields):
        here = (*at, "fields", str(number))
        name = text(found, (*here, "name"), item.get("name"), FIELD_NAME, required=True)
        value = text(found, (*here, "value"), item.get("value"), FIELD_VALUE, required=True)
        total += len(name) + len(value)
        clean["fields"].append({"name": name, "value": value, "inline": bool(item.get("inline", False))})
    for holder in (embed, *(embed.get(part) or {} for part in ("image", "thumbnail", "author"))):
        for key in ("url", "icon_url"):
            if holder.get(key) and not URL.fullmatch(str(holder[key])):
                found.append(((*at, key), "URL_TYPE_INVALID_URL", "Not a well formed URL."))
    colour = embed.get("color")
    if colour is not None and not (isinstance(colour, int) and 0 <= colour <= 0xFFFFFF):
        found.append(
            ((*at, "color"), "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215.")
        )
    return clean, total


def components(found: Found, value: Any) -> list[Json]:
    """Check action rows of buttons and selects; layout components (version 2) are not played here."""
    if value is None:
        return []
    if len(value) > ROWS:
        found.append((("components",), "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {ROWS} in length."))
    seen: set[str] = set()
    kept = []
    for number, row in enumerate(value):
        at = ("components", str(number))
        if row.get("type") != 1:
            found.append(((*at, "type"), "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (1,).'))
            continue
        items = row.get("components") or []
        if not 1 <= len(items) <= IN_ROW:
            message = f"Must be between 1 and {IN_ROW} in length."
            found.append(((*at, "components"), "BASE_TYPE_BAD_LENGTH", message))
        for place, item in enumerate(items):
            _button(found, (*at, "components", str(place)), item, seen)
        kept.append({"type": 1, "id": number + 1, "components": [dict(item) for item in items]})
    return kept


def _button(found: Found, at: tuple[str, ...], item: Json, seen: set[str]) -> None:
    kind = item.get("type")
    if kind not in (2, 3, 5, 6, 7, 8):
        found.append(
            ((*at, "type"), "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (2, 3, 5, 6, 7, 8).')
        )
        return
    is_link = kind == 2 and item.get("style") == 5
    if kind == 2:
        text(found, (*at, "label"), item.get("label"), LABEL)
        if item.get("style") not in (1, 2, 3, 4, 5):
            found.append(((*at, "style"), "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5}."))
        if not item.get("label") and not item.get("emoji"):
            found.append((at, "BUTTON_COMPONENT_INVALID", "A button requires a label or an emoji."))
    if is_link:
        if not URL.fullmatch(str(item.get("url", ""))) or len(str(item["url"])) > 512:
            found.append(((*at, "url"), "URL_TYPE_INVALID_URL", "Not a well formed URL."))
        return
    custom_id = text(found, (*at, "custom_id"), item.get("custom_id"), CUSTOM_ID, least=1, required=True)
    if custom_id in seen:
        message = "Component custom id cannot be duplicated"
        found.append(((*at, "custom_id"), "COMPONENT_CUSTOM_ID_DUPLICATED", message))
    seen.add(custom_id)


def username(found: Found, value: Any, path: tuple[str, ...] = ("username",)) -> str:
    """Check the name of a webhook, or the one it speaks under."""
    name = text(found, path, value, USERNAME, least=1)
    for word in ("discord", "clyde"):
        if word in name.lower():
            found.append((path, "USERNAME_INVALID_CONTAINS", f'Username cannot contain "{word}"'))
    return name


def files(found: Found, value: Mapping[str, tuple[str, bytes]]) -> None:
    if len(value) > FILES:
        found.append((("files",), "BASE_TYPE_MAX_LENGTH", f"Must be {FILES} or fewer in length."))
    if any(len(body) > FILE_BYTES for _, body in value.values()) or (
        sum(len(body) for _, body in value.values()) > REQUEST_BYTES
    ):
        raise Refusal(40005)
