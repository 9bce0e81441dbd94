"""Discord's rate limits: buckets per route and major parameter, one budget for everything a token does.

Windows are Discord's, times `scale`, so that tests need not wait; the counts are Discord's own.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass

from aiohttp import web

from tests.doubles.discord_errors import answer

BUCKETS: dict[str, tuple[int, float]] = {
    "POST /webhooks/{webhook_id}/{webhook_token}": (5, 2.0),
    "POST /channels/{channel_id}/messages": (5, 5.0),
    "PATCH /channels/{channel_id}/messages/{message_id}": (5, 5.0),
    "GET /channels/{channel_id}/messages": (50, 10.0),
    "PUT /channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me": (1, 0.25),
    "POST /channels/{channel_id}/messages/{message_id}/threads": (50, 300.0),
    "POST /guilds/{guild_id}/channels": (250, 172_800.0),
}
ORDINARY = (50, 1.0)
MAJOR = ("channel_id", "guild_id", "webhook_id", "webhook_token", "interaction_id")
UNLIMITED = ("/interactions/", "/attachments/", "/emojis/")


@dataclass
class Window:
    """Requests left until the window ends."""

    left: int
    ends: float


class Buckets:
    """Counts requests and says when there were too many."""

    def __init__(self, scale: float, everywhere: int = 50) -> None:
        self.scale = scale
        self.everywhere = everywhere
        self._windows: dict[str, Window] = {}

    def take(
        self, method: str, template: str, path: dict[str, str], *, has_token: bool
    ) -> tuple[dict[str, str], web.Response | None]:
        """Count one request; returns the headers of its answer, or the 429 in its place."""
        if any(template.startswith(part) for part in UNLIMITED):
            return {}, None
        now = time.monotonic()
        if has_token and (wait := self._count("everywhere", self.everywhere, 1.0, now)[1]) > 0:
            return {}, _too_many(wait, {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"})
        route = f"{method} {template}"
        limit, seconds = BUCKETS.get(route, ORDINARY)
        major = "/".join(path[name] for name in MAJOR if name in path)
        window, wait = self._count(f"{route} {major}", limit, seconds, now)
        after = max(window.ends - now, 0.0)
        headers = {
            "X-RateLimit-Limit": str(limit), "X-RateLimit-Remaining": str(window.left),
            "X-RateLimit-Reset": f"{time.time() + after:.3f}", "X-RateLimit-Reset-After": f"{after:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(route.encode()).hexdigest()[:32],
        }  # fmt: skip
        if wait > 0:
            return headers, _too_many(wait, headers | {"X-RateLimit-Scope": "user"})
        return headers, None

    def _count(self, key: str, limit: int, seconds: float, now: float) -> tuple[Window, float]:
        window = self._windows.get(key)
        if window is None or window.ends <= now:
            window = self._windows[key] = Window(limit, now + seconds * self.scale)
        if window.left == 0:
            return window, max(window.ends - now, 0.001)
        window.left -= 1
        return window, 0.0


def _too_many(wait: float, headers: dict[str, str]) -> web.Response:
    body = {
        "message": "You are being rate limited.",
        "retry_after": round(wait, 3),
        "global": "X-RateLimit-Global" in headers,
    }
    return answer(body, 429, headers | {"Retry-After": f"{wait:.3f}"})
