"""The key of a model: from the variable or the private file that the configuration names, and from nowhere else.

What a server sends back is rid of it, and of whatever looks like a secret, before anybody reads it: what is read is
what is kept.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache

from moot.bots.models.errors import NoKey
from moot.channels.chat.tokens import read_secret
from moot.channels.surface import SurfaceConfigError
from moot.config.models import ModelSettings
from moot.protocols.kernel.discretion import without_secrets
from moot.protocols.kernel.redact import may_hold_secret, redact


def key_of(name: str, settings: ModelSettings) -> str:
    """Return the key of `[models.NAME]`; "" where neither a variable nor a file is named: no key is sent.

    Raises:
        NoKey: The variable is not set, the file is missing or not private, or there is no key in it.
    """
    if not settings.key_env and not settings.key_file:
        return ""
    try:
        return read_secret(
            settings.key_file or None, settings.key_env, "the key", "sk-…", option=f"models.{name}.key_file"
        )
    except SurfaceConfigError as exc:
        raise NoKey(f"models.{name}: {exc}") from None


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
    text = body.decode("utf-8", "surrogateescape")
    for key in filter(None, keys):
        text = _spelled(key).sub("[redacted:key]", text)
        body = text.encode("utf-8", "surrogateescape")
    if not may_hold_secret(text):
        return body
    try:
        told = json.loads(text)
        clean = without_secrets(told)
        return body if clean == told else json.dumps(clean).encode()
    except (ValueError, RecursionError):
        return redact(text).encode("utf-8", "surrogateescape")


@cache
def _spelled(key: str) -> re.Pattern[str]:
    """Match a key in plain text and in JSON, where any character may be escaped, in JSON within JSON more than once."""
    return re.compile("".join(rf"(?:\\*{re.escape(one)}|\\+u(?i:{ord(one):04x}))" for one in key))
