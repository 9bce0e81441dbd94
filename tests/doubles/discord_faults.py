"""What goes wrong on command, at the Discord double's HTTP side and on its gateway.

A rule names requests by a pattern, `METHOD /path` without the API's base (`POST /webhooks/*`), or gateway events
(`GATEWAY MESSAGE_CREATE`), with `*` for anything. It acts on the next `count` of them; None means until `clear`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

Kind = Literal[
    "drop_before", "drop_after", "delay", "status", "garbage",
    "duplicate", "reorder", "lose", "garbage_event",
]  # fmt: skip


@dataclass(frozen=True)
class Action:
    """One kind of trouble, with what it needs."""

    kind: Kind
    seconds: float = 0.0
    code: int = 0
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


DROP_BEFORE = Action("drop_before")
"""Cut the connection before anything is done."""
DROP_AFTER = Action("drop_after")
"""Do it, then cut the connection: the caller cannot know."""
DUPLICATE = Action("duplicate")
"""Send a gateway event twice, under two sequence numbers."""
REORDER = Action("reorder")
"""Hold a gateway event back until the next one was sent."""
LOSE = Action("lose")
"""Never send a gateway event; its message stays in the history."""
GARBAGE_EVENT = Action("garbage_event")
"""Send a gateway event without the fields that its parser needs."""


def delay(seconds: float) -> Action:
    """Wait before acting on a request, or before sending an event (and all behind it)."""
    return Action("delay", seconds=seconds)


def status(code: int, body: Any = None, headers: dict[str, str] | None = None) -> Action:
    """Answer with that status and do nothing; a text body goes out as text/html."""
    return Action("status", code=code, body=body, headers=headers or {})


def refused(http_status: int, code: int, message: str = "refused on command") -> Action:
    """Answer with one of Discord's errors and do nothing."""
    return status(http_status, {"message": message, "code": code})


def limited(retry_after_s: float, *, everywhere: bool = False, has_via: bool = True) -> Action:
    """Answer 429; without Via it looks like Cloudflare's ban of the address."""
    headers = {"Retry-After": f"{retry_after_s:g}", "X-RateLimit-Scope": "global" if everywhere else "user"}
    if not has_via:
        return Action("status", code=429, body="error code: 1015", headers=headers | {"Via": ""})
    if everywhere:
        headers["X-RateLimit-Global"] = "true"
    body = {"message": "You are being rate limited.", "retry_after": retry_after_s, "global": everywhere}
    return Action("status", code=429, body=body, headers=headers)


def garbage(body: str = "<html>502 Bad Gateway</html>", code: int = 200) -> Action:
    """Answer with something that is no JSON, and do nothing."""
    return Action("garbage", code=code, body=body)


@dataclass
class Rule:
    """An action for the next requests or events of a kind."""

    pattern: str
    left: int | None
    action: Action
    used: int = 0


class Faults:
    """The rules, oldest first; the first one that fits acts."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self._lock = threading.Lock()

    def add(self, pattern: str, count: int | None, action: Action) -> Rule:
        rule = Rule(pattern, count, action)
        with self._lock:
            self._rules.append(rule)
        return rule

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def take(self, what: str) -> Action | None:
        """Return the action for this request or event, and use it up."""
        with self._lock:
            for rule in self._rules:
                if rule.left != 0 and fnmatchcase(what, rule.pattern):
                    rule.used += 1
                    if rule.left is not None:
                        rule.left -= 1
                    return rule.action
        return None
