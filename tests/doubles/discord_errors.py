"""Discord's error answers: status, code and sentence, as its published table of JSON error codes has them."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

SENTENCES = {
    0: (401, "401: Unauthorized"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10009: (404, "Unknown Permission Overwrite"),
    10011: (404, "Unknown Role"),
    10013: (404, "Unknown User"),
    10014: (404, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    20012: (403, "You are not authorized to perform this action on this application"),
    30007: (400, "Maximum number of webhooks reached (15)"),
    30008: (400, "Maximum number of emojis reached"),
    30013: (400, "Maximum number of guild channels reached (500)"),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50035: (400, "Invalid Form Body"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160004: (400, "A thread has already been created for this message"),
    160005: (403, "Thread is locked"),
}


class Refusal(Exception):
    """What Discord answers instead of acting."""

    def __init__(self, code: int, errors: Any = None) -> None:
        self.status, message = SENTENCES[code]
        self.body: dict[str, Any] = {"message": message, "code": code}
        if errors is not None:
            self.body["errors"] = errors
        super().__init__(message)


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Answer with JSON under the bare content type that discord.py compares with."""
    more = {"Via": "1.1 google", **(headers or {})}
    if status == 204 or body is None:
        return web.Response(status=204 if status == 200 else status, headers=more)
    return web.Response(
        body=json.dumps(body).encode(), status=status, headers={"Content-Type": "application/json", **more}
    )
