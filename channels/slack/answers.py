"""Telling the person, and only them where Slack can: a reaction, an ephemeral message, or the answer to a press."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import structlog

from moot.channels.showing.layout import cut, tidy
from moot.channels.slack.events import Where
from moot.channels.slack.rendering import escape, weight
from moot.channels.slack.troubles import SlackSaid
from moot.channels.slack.web import Web, answer
from moot.channels.surface import ActReply, RateLimited, SurfaceDown

MOST_TEXT: Final = 2_900
MOST_LINES: Final = 8_000
"""Of an answer of several lines, such as a status."""

STANDS: Final = "white_check_mark"
TRIES: Final = 3
PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 30.0
RESPONSE_S: Final = 10.0


class Answers:
    """Tells people what became of what they did; never raises, for the act stands or not without it."""

    def __init__(self, web: Web) -> None:
        """Connect."""
        self._web = web
        self._log = structlog.get_logger()

    async def tell(self, where: Where, reply: ActReply) -> None:
        """Tell a person; a note that stands gets a mark and no words."""
        why = ""
        for n in range(TRIES):
            try:
                return await self._tell(where, reply)
            except RateLimited as exc:
                why, pause = str(exc), exc.retry_after_s
            except SurfaceDown as exc:
                why, pause = str(exc), PAUSE_S
            except SlackSaid as said:
                if said.code != "already_reacted":
                    self._log.warning("slack person not told", why=said.code)
                return None
            except Exception as exc:
                self._log.warning("slack person not told", why=type(exc).__name__)
                return None
            if n + 1 < TRIES:
                await asyncio.sleep(min(pause, LONGEST_PAUSE_S))
        self._log.warning("slack person not told", why=why)
        return None

    async def _tell(self, where: Where, reply: ActReply) -> None:
        if where.ts and reply.ok and reply.seq is not None:
            call = self._web.client.reactions_add(channel=where.room, timestamp=where.ts, name=STANDS)
            await answer(call)
            return
        text, blocks = said(reply.text)
        if where.response_url and await self._respond(where.response_url, text, blocks):
            return
        await answer(
            self._web.client.chat_postEphemeral(
                channel=where.room,
                user=where.user,
                text=text,
                blocks=blocks,
                thread_ts=where.thread_ts or None,
                parse="none",
                link_names=False,
            )
        )

    async def _respond(self, url: str, text: str, blocks: list[dict[str, Any]]) -> bool:
        """Answer a press or a command; False where Slack no longer takes it there."""
        if urlsplit(url).scheme not in ("http", "https"):
            return False
        body = {"response_type": "ephemeral", "replace_original": False, "text": text, "blocks": blocks}
        limit = aiohttp.ClientTimeout(total=RESPONSE_S)
        try:
            async with self._web.session.post(
                url, json=body, timeout=limit, proxy=self._web.client.proxy
            ) as response:
                return response.status == 200
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return False


def said(text: str) -> tuple[str, list[dict[str, Any]]]:
    """Lay an answer out: text for notifications, and blocks in which nothing is markup.

    Several lines keep their columns.
    """
    text = tidy(text) or "(nothing)"
    if "\n" not in text:
        shown = cut(text, MOST_TEXT, weight)
        block: dict[str, Any] = {
            "type": "section",
            "text": {"type": "plain_text", "text": shown, "emoji": False},
        }
        return escape(shown), [block]
    shown = cut(text, MOST_LINES, weight)
    lines = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": shown}]}
    return escape(cut(text, MOST_TEXT, weight)), [{"type": "rich_text", "elements": [lines]}]
