"""One message out, and looking whether it is there already."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from moot.channels.chat.buttons import outcome_of
from moot.channels.chat.looking_back import Own, look_back
from moot.channels.showing.layout import cut
from moot.channels.slack.events import is_ours
from moot.channels.slack.identity import Me
from moot.channels.slack.rendering import Rendered, escape, message, nonce_of, weight
from moot.channels.slack.rooms import Rooms, slack_name
from moot.channels.slack.troubles import METADATA_REFUSED, NO_THREAD, SlackSaid, trouble
from moot.channels.slack.uploads import Uploads
from moot.channels.slack.web import Web, answer, data_of
from moot.channels.surface import PlatformMessageId, Posting, RateLimited, SurfaceDown

PAGE: Final = 200
Ask = Callable[[Any, Mapping[str, Any]], Awaitable[AsyncSlackResponse]]
"""Calls a method with what it is given."""

MOST_PAGES: Final = 50
"""Pages of a thread, which Slack reads from its beginning."""


RESOLVED: Final = "ESCALATION_RESOLVED"

OUTCOME_BLOCK: Final = "moot-outcome"
"""Id of the block that shows how an escalation ended."""

MAX_OUTCOME_CHARS: Final = 400
"""Length limit of the outcome that replaces the buttons of an escalation."""


class Poster:
    """Posts messages and finds them again."""

    def __init__(self, web: Web, rooms: Rooms, me: Me, prefix: str) -> None:
        """Connect."""
        self._web = web
        self._rooms = rooms
        self._me = me
        self._prefix = prefix
        self._uploads = Uploads(web)
        self._log = structlog.get_logger().bind(surface="slack")

    async def post(self, item: Posting) -> PlatformMessageId:
        """Post a message; what it can put right by itself it does, once each.

        Raises:
            SurfaceDown, RateLimited, PostRefused, SurfaceConfigError: As `moot.channels.surface` says.
        """
        rendered = message(item)
        room = await self._rooms.id_of(item.channel)
        thread = ts_in(item.root, room)
        if item.envelope.body.type == RESOLVED and thread is not None:
            await self._show_outcome(item, room, thread)
        tried: set[str] = set()
        while True:
            try:
                if rendered.metadata is None:
                    rendered = await self._uploads.carry(rendered, item.seq, room, thread)
                return _id_of(await self._send(room, thread, rendered), room)
            except SlackSaid as said:
                if said.code in tried:
                    raise self._trouble(said, item) from None
                tried.add(said.code)
                if said.code in NO_THREAD and thread is not None:
                    thread = None
                elif said.code in METADATA_REFUSED and _is_whole(rendered):
                    rendered = replace(rendered, metadata=None)
                elif said.code == "not_in_channel" and await self._rooms.join(item.channel):
                    continue
                elif said.code == "channel_not_found" and (other := await self._elsewhere(item, room)):
                    room, thread = other, ts_in(item.root, other)
                else:
                    raise self._trouble(said, item) from None

    async def _show_outcome(self, item: Posting, room: str, ts: str) -> None:
        """Replace the buttons on the post of a resolved escalation with its outcome (R-G13).

        It comes before the post, so that a failure on the way is tried again with it.

        Raises:
            SurfaceDown, RateLimited: As they say; nothing was posted.
        """
        client = self._web.client
        try:
            found = data_of(
                await answer(
                    client.conversations_history(
                        channel=room, latest=ts, oldest=ts, inclusive=True, limit=1, include_all_metadata=True
                    )
                )
            )
            posts = [one for one in found.get("messages") or () if one.get("ts") == ts]
            if not posts or not is_ours(posts[0], self._me):
                return
            shown = [
                block
                for block in posts[0].get("blocks") or ()
                if block.get("type") != "actions" and block.get("block_id") != OUTCOME_BLOCK
            ]
            text = cut(f"Resolved: {outcome_of(item)}", MAX_OUTCOME_CHARS, weight)
            outcome = {
                "type": "section",
                "block_id": OUTCOME_BLOCK,
                "text": {"type": "plain_text", "text": text, "emoji": False},
            }
            said = str(posts[0].get("text") or "")
            await answer(
                client.chat_update(
                    channel=room,
                    ts=ts,
                    text=said if said.endswith(escape(text)) else f"{said}\n{escape(text)}",
                    blocks=[*shown[:1], outcome, *shown[1:]],
                    parse="none",
                    link_names=False,
                )
            )
        except SlackSaid as said_by_slack:
            # It is gone, or may not be edited any more: the outcome is posted all the same.
            self._log.info("escalation's post not edited", ts=ts, why=said_by_slack.code)
        except SurfaceDown as exc:
            exc.maybe_posted = False
            raise

    async def find(self, item: Posting) -> PlatformMessageId | None:
        """Look a message up by its nonce: in its thread, or newest first in its channel.

        Raises:
            SurfaceDown, RateLimited, SurfaceConfigError: It cannot be looked up now.
        """
        room = await self._rooms.id_of(item.channel)
        thread = ts_in(item.root, room)
        try:
            if thread is not None and (found := await self._in_thread(item, room, thread)):
                return found
            # Also where it should be in a thread: if that was gone, it went to the channel.
            return await look_back(item, self._in_channel(item, room))
        except SlackSaid as said:
            if said.code == "channel_not_found":
                return None
            raise self._trouble(said, item) from None

    async def _send(self, room: str, thread: str | None, rendered: Rendered) -> AsyncSlackResponse:
        call = self._web.client.chat_postMessage(
            channel=room,
            text=rendered.text,
            blocks=rendered.blocks,
            username=rendered.username,
            icon_emoji=rendered.icon_emoji,
            metadata=rendered.metadata,
            thread_ts=thread,
            unfurl_links=False,
            unfurl_media=False,
            mrkdwn=False,
            parse="none",
            link_names=False,
        )
        try:
            return await answer(call)
        except RateLimited as exc:
            # Posts are counted by channel. They are by workspace too, but Slack does not say which it means;
            # then the other channels hear of it when they post.
            raise RateLimited(exc.retry_after_s) from None

    async def _elsewhere(self, item: Posting, room: str) -> str | None:
        # Deleted and made anew: it has another id now.
        await self._rooms.look_again()
        other = await self._rooms.id_of(item.channel)
        return other if other != room else None

    def _trouble(self, said: SlackSaid, item: Posting) -> Exception:
        return trouble(said, where=f"#{slack_name(item.channel, self._prefix)}")

    async def _in_channel(self, item: Posting, room: str) -> AsyncGenerator[Own | None]:
        """Read the channel's messages, newest first."""
        async for one in pages(self._web.client.conversations_history, channel=room):
            nonce = self._nonce(one)
            if nonce is None:
                yield None
            else:
                id = PlatformMessageId(f"{room}/{one['ts']}")
                yield Own(id, is_it=nonce == item.nonce, is_older=_is_earlier(nonce, item.nonce))

    async def _in_thread(self, item: Posting, room: str, thread: str) -> PlatformMessageId | None:
        # From what it answers on, where that is in this thread: it was posted after that.
        since = max(thread, ts_in(item.in_reply_to, room) or thread)
        try:
            replies = self._web.client.conversations_replies
            async for one in pages(replies, MOST_PAGES, channel=room, ts=thread, oldest=since):
                if self._nonce(one) == item.nonce:
                    return PlatformMessageId(f"{room}/{one['ts']}")
        except SlackSaid as said:
            if said.code not in NO_THREAD:
                raise
        return None

    def _nonce(self, one: Mapping[str, Any]) -> str | None:
        # Other apps can write what they like into their metadata.
        return nonce_of(one.get("metadata")) if is_ours(one, self._me) else None


async def pages(
    method: Any, most: int | None = None, *, ask: Ask | None = None, **how: Any
) -> AsyncIterator[Mapping[str, Any]]:
    """Go through the messages that a method gives page by page, in its order.

    Args:
        method: Of the client.
        most: Pages to go through; all by default.
        ask: Makes one call; `web.answer` by default, which is not patient.
        how: What the method is given.

    Raises:
        SlackSaid, SurfaceDown, RateLimited: As `web.answer`.
    """
    cursor = ""
    for _ in range(most) if most is not None else itertools.count():
        asked = {"limit": PAGE, "cursor": cursor or None, "include_all_metadata": True, **how}
        response = await (ask(method, asked) if ask is not None else answer(method(**asked)))
        page = data_of(response)
        found = page.get("messages")
        for one in found if isinstance(found, list) else ():
            if isinstance(one, Mapping) and isinstance(one.get("ts"), str):
                yield one
        meta = page.get("response_metadata")
        cursor = str(meta.get("next_cursor") or "") if isinstance(meta, Mapping) else ""
        if not cursor:
            return


def ts_in(platform_id: PlatformMessageId | None, room: str) -> str | None:
    """Return the timestamp of a message if it is in this room; a channel that was made anew has none of the old."""
    there, _, ts = (platform_id or "").partition("/")
    return ts if ts and there == room else None


def _id_of(response: AsyncSlackResponse, room: str) -> PlatformMessageId:
    data = data_of(response)
    ts = data.get("ts")
    if not isinstance(ts, str) or not ts:
        raise SurfaceDown("Slack did not name the message it took")
    return PlatformMessageId(f"{data.get('channel') or room}/{ts}")


def _is_whole(rendered: Rendered) -> bool:
    payload = (rendered.metadata or {}).get("event_payload", {})
    return "messages" in payload


def _is_earlier(nonce: str, other: str) -> bool:
    log, _, seq = nonce.rpartition(":")
    other_log, _, other_seq = other.rpartition(":")
    return log == other_log and seq.isdigit() and other_seq.isdigit() and int(seq) < int(other_seq)
