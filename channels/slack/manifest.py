"""The app's manifest, which Slack makes the whole app from: JSON or YAML, from the scopes and events that are data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from moot.channels.slack.options import PATH
from moot.channels.slack.scopes import BOT_SCOPES, COMMAND, EVENTS, NEEDED
from moot.channels.surface import SurfaceConfigError


def manifest(
    mode: Literal["socket", "http"] = "socket", url: str | None = None, name: str = "Moot"
) -> dict[str, Any]:
    """Return the manifest as data.

    Args:
        mode: How Slack delivers.
        url: The public https address in HTTP mode, without a path.
        name: What the app is called.

    Raises:
        SurfaceConfigError: HTTP mode without a usable address.
    """
    is_http = mode == "http"
    request = {"request_url": _request_url(url)} if is_http else {}
    command = {
        "command": COMMAND,
        "description": "Ask and tell the society: /moot help lists how",
        "usage_hint": "status | escalations | halt REASON | help",
        "should_escape": False,
        **({"url": request["request_url"]} if is_http else {}),
    }
    return {
        "display_information": {
            "name": name,
            "description": "A society of bots that argue under a referee, and the people who decide.",
        },
        "features": {
            "bot_user": {"display_name": "moot", "always_online": True},
            "slash_commands": [command],
        },
        "oauth_config": {"scopes": {"bot": list(NEEDED)}},
        "settings": {
            "event_subscriptions": {**request, "bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True, **request},
            "org_deploy_enabled": False,
            "socket_mode_enabled": not is_http,
            "token_rotation_enabled": False,
        },
    }


def as_yaml(value: Mapping[str, Any]) -> str:
    """Write the manifest as YAML, with a reason beside each scope; mappings, lists and scalars are all it has."""
    return "\n".join(_yaml(value, "")) + "\n"


def _yaml(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            yield f"{indent}{key}:"
            yield from _yaml(inner, indent + "  ")
        elif isinstance(inner, Sequence) and not isinstance(inner, str):
            yield f"{indent}{key}:"
            for item in inner:
                if isinstance(item, Mapping):
                    first, *rest = _yaml(item, indent + "    ")
                    yield f"{indent}  - {first.lstrip()}"
                    yield from rest
                else:
                    reason = f"  # {_WHY[item]}" if item in _WHY else ""
                    yield f"{indent}  - {json.dumps(item, ensure_ascii=False)}{reason}"
        else:
            yield f"{indent}{key}: {json.dumps(inner, ensure_ascii=False)}"


_WHY: Final[Mapping[str, str]] = {scope.name: scope.why for scope in BOT_SCOPES}


def _request_url(url: str | None) -> str:
    parts = urlsplit(url or "")
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise SurfaceConfigError(
            "HTTP mode needs --url with your public address, such as https://moot.example.org"
        )
    path = parts.path.rstrip("/")
    return f"https://{parts.netloc}{path if path.endswith(PATH) else path + PATH}"
