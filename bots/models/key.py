"""The key of a model: from the variable or the private file that the configuration names, and from nowhere else.

What a server sends back is rid of it, and of whatever looks like a secret, before it is kept or shown; what it
measures is read as it came (R-G7).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any, Final

from moot.bots.models.errors import NoKey
from moot.channels.chat.tokens import read_secret
from moot.channels.surface import SurfaceConfigError
from moot.config.models import ModelSettings
from moot.protocols.kernel.discretion import without_secrets
from moot.protocols.kernel.redact import may_hold_secret, redact

SECRET_CHARS: Final = 8
"""A shorter value is no secret by its value: it stands in many a text that has nothing to do with it (R-G7)."""


def key_of(name: str, settings: ModelSettings) -> str:
    """Return the key of `[models.NAME]`; "" where neither a variable nor a file is named: no key is sent.

    Raises:
        NoKey: The variable is not set, the file is missing or not private, or there is no key in it.
    """
    if not settings.key_env and not settings.key_file:
        return ""
    try:
        key = read_secret(
            settings.key_file or None, settings.key_env, "the key", "sk-…", option=f"models.{name}.key_file"
        )
    except SurfaceConfigError as exc:
        raise NoKey(f"models.{name}: {exc}") from None
    if len(key) < SECRET_CHARS:
        where = settings.key_file or f"the variable {settings.key_env}"
        raise NoKey(
            f"models.{name}: the key in {where} has {len(key)} characters; one of fewer than {SECRET_CHARS} cannot be"
            " redacted where a reply quotes it: take a longer key, or name none for a server that needs none"
        )
    return key


def headers_of(settings: ModelSettings) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the configured headers with their values, and which of those values are secrets.

    Raises:
        NoKey: A variable is not set, or holds what no header can carry.
    """
    found: dict[str, str] = {}
    secrets = []
    for name, given in (settings.headers or {}).items():
        if isinstance(given, str):
            found[name] = given
            continue
        value = os.environ.get(given.env, "").strip()
        if not value:
            raise NoKey(f"headers.{name}: the variable {given.env} is not set: export {given.env}=…")
        if not (value.isascii() and value.isprintable()):
            raise NoKey(f"headers.{name}: the variable {given.env} holds characters that no header can carry")
        found[name] = given.prefix + value
        secrets.append(value)
    return found, tuple(secrets)


def key_header(settings: ModelSettings, key: str) -> dict[str, str]:
    """Return the header that carries a key, its name in lower case; none without a key."""
    name = (settings.key_header or "Authorization").lower()
    prefix = settings.key_prefix
    if prefix is None:
        prefix = "Bearer " if name == "authorization" else ""
    elif prefix and prefix[-1].isalnum():
        prefix += " "
    return {name: prefix + key} if key else {}


def discreet_reply(body: bytes, *keys: str) -> bytes:
    """Return what a server sent without keys and without secrets; the same bytes where there are none.

    A key is found however JSON writes it. JSON stays JSON.
    """
    encoding = json.detect_encoding(body)
    if encoding not in ("utf-8", "utf-8-sig"):
        with suppress(UnicodeDecodeError):
            # In another encoding no key would be found.
            body = body.decode(encoding).encode() or body
    text = body.decode("utf-8", "surrogateescape")
    for key in (one for one in keys if len(one) >= SECRET_CHARS):
        found = _spelled(key).sub("[redacted:key]", text)
        if found == text:
            continue
        if key.isdecimal() and _is_json(text) and not _is_json(found):
            # A number is a figure, whatever its digits.
            found = json.dumps(_without(json.loads(text), key))
        text = found
        body = text.encode("utf-8", "surrogateescape")
    if not may_hold_secret(text):
        return body
    try:
        told = json.loads(text)
        clean = without_secrets(told)
        return body if clean == told else json.dumps(clean).encode()
    except (ValueError, RecursionError):
        return redact(text).encode("utf-8", "surrogateescape")


def holds_key(value: Any, keys: Iterable[str]) -> bool:
    """Return whether a text within JSON data holds a key; names of fields do not count."""
    if isinstance(value, str):
        return any(len(key) >= SECRET_CHARS and key in value for key in keys)
    if isinstance(value, dict):
        value = [*value.values()]
    return isinstance(value, list) and any(holds_key(one, keys) for one in value)


def _without(value: Any, key: str) -> Any:
    if isinstance(value, str):
        return _spelled(key).sub("[redacted:key]", value)
    if isinstance(value, dict):
        return {_without(name, key): _without(one, key) for name, one in value.items()}
    return [_without(one, key) for one in value] if isinstance(value, list) else value


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@cache
def _spelled(key: str) -> re.Pattern[str]:
    """Match a key in plain text and in JSON, where any character may be escaped, in JSON within JSON more than once."""
    return re.compile("".join(rf"(?:\\*{re.escape(one)}|\\+u(?i:{ord(one):04x}))" for one in key))
