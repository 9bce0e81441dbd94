"""Faults on command, and the paces of the fake Slack server."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

ACTIONS = ("drop_before", "drop_after", "delay", "status", "error", "fatal", "garbage", "ratelimited")
EVENT_ACTIONS = ("drop", "duplicate", "reorder")


@dataclass
class Rule:
    pattern: str
    count: int
    action: str
    details: dict[str, Any]
    channel: str | None = None
    hits: int = 0


@dataclass
class Faults:
    """Rules that misbehave so often; the first one that fits is used up first.

    A pattern is of methods (`chat.*`), or `upload`, `response_url`, `socket` (the WebSocket's handshake). The
    actions of a request:

    * `drop_before`: the connection is cut before anything was done; `drop_after`: after it was done.
    * `delay` (`seconds`): waits, then goes on as usual.
    * `status` (`status`, 503): an HTML page. `garbage`: a body that is no JSON, status 200.
    * `error` (`code`, and what else the body has): refused. `fatal` (`code`, fatal_error): done, and refused.
    * `ratelimited` (`retry_after_s`): HTTP 429.

    With `channel`, a name, only requests about that channel are meant.
    """

    rules: list[Rule] = field(default_factory=list)
    event_rules: list[Rule] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(
        self, pattern: str, count: int, action: str, *, channel: str | None = None, **details: Any
    ) -> Rule:
        """Misbehave at the next `count` requests whose method fits."""
        if action not in ACTIONS:
            raise ValueError(f"unknown action {action!r}; there are {ACTIONS}")
        return self._keep(self.rules, Rule(pattern, count, action, details, channel))

    def events(self, action: str, count: int = 1, kind: str = "*") -> Rule:
        """Misbehave with the next `count` events of that kind (`message`, `app_mention`, `interactive` …).

        `drop`: never delivered. `duplicate`: the same envelope twice. `reorder`: so many are kept back, then
        delivered last first.
        """
        if action not in EVENT_ACTIONS:
            raise ValueError(f"unknown action {action!r}; there are {EVENT_ACTIONS}")
        return self._keep(self.event_rules, Rule(kind, count, action, {}))

    def clear(self) -> None:
        with self._lock:
            self.rules.clear()
            self.event_rules.clear()

    def take(self, method: str, channel: str | None = None) -> Rule | None:
        return self._take(self.rules, method, channel)

    def take_event(self, kind: str) -> Rule | None:
        return self._take(self.event_rules, kind)

    def _keep(self, rules: list[Rule], rule: Rule) -> Rule:
        with self._lock:
            rules.append(rule)
        return rule

    def _take(self, rules: list[Rule], name: str, channel: str | None = None) -> Rule | None:
        with self._lock:
            for rule in rules:
                is_meant = rule.channel in (None, channel) and fnmatchcase(name, rule.pattern)
                if is_meant and rule.hits < rule.count:
                    rule.hits += 1
                    return rule
        return None


TIERS = {1: 1.0, 2: 20.0, 3: 50.0, 4: 100.0}
"""Requests a minute."""


@dataclass
class Limits:
    """How fast the workspace may be called; the figures are Slack's, `scale` makes all of them faster.

    Attributes:
        posts_per_s: Messages a second in one channel, with `post_burst` at once.
        everywhere_per_min: Messages a minute in the whole workspace, with `everywhere_burst` at once.
        scale: Everything so many times as fast; 0 switches the paces off.
    """

    posts_per_s: float = 1.0
    post_burst: int = 10
    everywhere_per_min: float = 300.0
    everywhere_burst: int = 100
    scale: float = 1.0
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    barred: dict[str, float] = field(default_factory=dict)
    impatient: list[str] = field(default_factory=list)
    """Requests that came before the time that `Retry-After` had named."""

    def refuse_for(self, method: str, channel: str | None, tier: int) -> int | None:
        """Return the seconds of a `Retry-After`; None lets the request in."""
        if self.scale <= 0:
            return None
        if method in ("chat.postMessage", "chat.postEphemeral"):
            asked = [
                (f"{method} {channel}", self.posts_per_s, self.post_burst),
                ("everywhere", self.everywhere_per_min / 60, self.everywhere_burst),
            ]
        else:
            per_s = TIERS[tier] / 60
            asked = [(method, per_s, max(3, int(TIERS[tier])))]
        now = time.monotonic()
        if self.barred.get(asked[0][0], 0.0) - now > 0.05:
            self.impatient.append(asked[0][0])
        for name, per_s, burst in asked:
            tokens, at = self.buckets.get(name, (float(burst), now))
            tokens = min(burst, tokens + (now - at) * per_s * self.scale)
            self.buckets[name] = (tokens, now)
            if tokens < 1:
                wait_s = max(1, math.ceil((1 - tokens) / (per_s * self.scale)))
                self.barred[asked[0][0]] = now + wait_s
                return wait_s
        for name, _, _ in asked:
            tokens, at = self.buckets[name]
            self.buckets[name] = (tokens - 1, at)
        return None
