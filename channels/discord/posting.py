"""Posting: one message through its channel's webhook, into its case's thread where there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import aiohttp
import structlog

from moot.channels.chat.buttons import outcome_of
from moot.channels.discord.connection import Connection
from moot.channels.discord.library import AsyncWebhookAdapter, discord
from moot.channels.discord.places import Place, Places
from moot.channels.discord.rendering import MOST_CONTENT, Rendered, escape, message, thread_name, weight
from moot.channels.discord.troubles import (
    ARCHIVED,
    INVALID_WEBHOOK,
    LOCKED,
    THREAD_EXISTS,
    TOO_MANY_THREADS,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    before_the_post,
    renamed,
    strange,
    tracing,
)
from moot.channels.showing.layout import cut, units
from moot.channels.surface import PlatformMessageId, Posting, PostRefused, SurfaceDown
from moot.protocols.kernel.seats import Seat

OPEN_MINUTES: Final = 1_440
"""A thread counts as open for a day after its last message: a server has room for a thousand open ones."""

MOST_TURNS: Final = 4
"""Repairs of one post: a webhook made anew, a thread made, a thread opened."""

MOST_KNOWN: Final = 10_000
"""Threads that are remembered not to exist."""

_ESCAPE: Final = re.compile(r"\\([^a-zA-Z0-9\s])")

_GONE: Final = frozenset({UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, THREAD_EXISTS})
_REPAIRED: Final = frozenset({UNKNOWN_WEBHOOK, INVALID_WEBHOOK, UNKNOWN_CHANNEL, ARCHIVED, LOCKED})


RESOLVED: Final = "ESCALATION_RESOLVED"

OUTCOME: Final = "**Resolved** · "
"""Beginning of the line that shows how an escalation ended."""

MAX_OUTCOME_CHARS: Final = 400
"""Length limit of the outcome that replaces the buttons of an escalation."""


class Poster:
    """Posts through webhooks. `close` lets go of its connections."""

    def __init__(self, client: Connection, places: Places, avatars: Mapping[Seat | None, str]) -> None:
        """Connect; within a running loop.

        Args:
            client: Logged in.
            places: Where channels are.
            avatars: Addresses of pictures by seat, None for the society's own.
        """
        self._client = client
        self._places = places
        self._avatars = avatars
        self._adapter = AsyncWebhookAdapter()  # type: ignore[no-untyped-call]
        # Its own, so that a post under way outlives the gateway's connection.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": client.http.user_agent},
            trace_configs=[tracing()],
        )
        self._threadless: dict[int, None] = {}
        self._log = structlog.get_logger().bind(surface="discord")

    async def close(self) -> None:
        """Let go of the connections; safe to call twice."""
        await self._session.close()

    async def post(self, item: Posting) -> PlatformMessageId:
        """Post one message; a missing thread, a closed one and a revoked webhook are put right on the way.

        Raises:
            SurfaceDown, RateLimited, PostRefused: As they say.
        """
        what = message(item)
        if item.envelope.body.type == RESOLVED and item.root is not None:
            await self._show_outcome(item, item.root)
        thread = thread_of(item)
        if thread in self._threadless:
            thread = None
        for _ in range(MOST_TURNS):
            with before_the_post():
                place = await self._places.place(item.channel)
            try:
                with renamed(f"post in {item.channel}", passing=_REPAIRED):
                    return _id_of(await self._execute(place, what, thread))
            except discord.HTTPException as exc:
                code = exc.code
            with before_the_post():
                if code in (UNKNOWN_WEBHOOK, INVALID_WEBHOOK) or thread is None:
                    self._places.forget(item.channel, place)
                elif code == UNKNOWN_CHANNEL:
                    thread = await self._make_thread(item, thread)
                else:
                    await self._open_thread(item, thread)
        raise SurfaceDown(
            f"{item.channel}: its webhook or thread is gone as soon as it is made; run: moot discord setup --check",
            maybe_posted=False,
            everywhere=False,
        )

    async def _show_outcome(self, item: Posting, root: PlatformMessageId) -> None:
        """Replace the buttons on the post of a resolved escalation with its outcome (R-G13).

        It comes before the post, so that a failure on the way is tried again with it.

        Raises:
            SurfaceDown, RateLimited: As they say; nothing was posted.
        """
        channel_id, _, message_id = root.partition("/")
        with before_the_post():
            place = await self._places.place(item.channel)
            try:
                with renamed(f"edit a post in {item.channel}", passing=_REPAIRED | _GONE):
                    post: Any = await self._client.http.get_message(int(channel_id), int(message_id))
                    content = str(post.get("content") or "").partition(f"\n{OUTCOME}")[0]
                    outcome = escape(cut(outcome_of(item), MAX_OUTCOME_CHARS, weight))
                    line = f"\n{OUTCOME}{outcome}"
                    await self._adapter.edit_webhook_message(
                        place.webhook_id,
                        place.webhook_token,
                        int(message_id),
                        session=self._session,
                        payload={
                            "content": cut(content, MOST_CONTENT - units(line)) + line,
                            "components": [],
                            "allowed_mentions": {"parse": []},
                        },
                        with_components=True,
                    )
            except (discord.HTTPException, PostRefused, SurfaceDown) as exc:
                if isinstance(exc, SurfaceDown) and exc.everywhere:
                    raise
                # It is gone, or another webhook's: the outcome is posted all the same.
                self._log.info("escalation's post not edited", message=message_id, why=str(exc))

    async def _execute(self, place: Place, what: Rendered, thread: int | None) -> object:
        payload: dict[str, Any] = {
            "username": what.username,
            "content": what.content,
            "embeds": what.embeds,
            "allowed_mentions": {"parse": []},
        }
        if avatar := self._avatars.get(what.seat):
            payload["avatar_url"] = avatar
        if what.components:
            payload["components"] = what.components
        form: list[dict[str, Any]] | None = None
        if what.payload is not None:
            payload["attachments"] = [{"id": 0, "filename": what.filename}]
            form = [
                {"name": "payload_json", "value": json.dumps(payload), "content_type": "application/json"},
                {
                    "name": "files[0]",
                    "value": what.payload,
                    "filename": what.filename,
                    "content_type": "application/octet-stream",
                },
            ]
        return await self._adapter.execute_webhook(
            place.webhook_id,
            place.webhook_token,
            session=self._session,
            payload=None if form else payload,
            multipart=form,
            thread_id=thread,
            wait=True,
            with_components=True,
        )

    async def _make_thread(self, item: Posting, root_id: int) -> int | None:
        """Make a case's thread; None where it can have none, then the case goes on in the channel."""
        assert item.root is not None
        channel_id = int(item.root.split("/")[0])
        try:
            with renamed(f"make a thread in {item.channel}", passing=_GONE | {TOO_MANY_THREADS}):
                root: Any = await self._client.http.get_message(channel_id, root_id)
                await self._client.http.start_thread_with_message(
                    channel_id,
                    root_id,
                    name=thread_name(_saying(item, root)),
                    auto_archive_duration=OPEN_MINUTES,
                )
        except discord.HTTPException as exc:
            if exc.code in _GONE:
                self._threadless[root_id] = None
                if len(self._threadless) > MOST_KNOWN:
                    del self._threadless[next(iter(self._threadless))]
            return None
        except PostRefused:
            # The thread's name is refused, for example by a filter of the server; the message itself is not.
            return None
        self._places.note_thread(root_id, channel_id)
        return root_id

    async def _open_thread(self, item: Posting, thread: int) -> None:
        doing = f"open a closed thread in {item.channel}"
        try:
            with renamed(doing):
                await self._client.http.edit_channel(thread, archived=False, locked=False)
        except PostRefused as exc:
            raise SurfaceDown(str(exc), maybe_posted=False, everywhere=False) from None


def thread_of(item: Posting) -> int | None:
    """Return the id of the thread a message belongs to, which is that of the message it hangs on."""
    return None if item.root is None else int(item.root.split("/")[1])


def _saying(item: Posting, root: object) -> Posting:
    """Return a posting that says what the first message of its case says: the thread is named after that."""
    content = root.get("content") if isinstance(root, Mapping) else None
    if not isinstance(content, str) or not content:
        return item
    return replace(item, rendering=replace(item.rendering, sentence=_ESCAPE.sub(r"\1", content)))


def _id_of(answer: object) -> PlatformMessageId:
    if not isinstance(answer, Mapping) or "id" not in answer or "channel_id" not in answer:
        strange(answer)
    return PlatformMessageId(f"{answer['channel_id']}/{answer['id']}")
