"""A small Slack: Web API, Socket Mode and signed HTTP events over real sockets, with Slack's limits enforced.

It runs on a thread with a loop of its own, so that the code under test may be in this process or in another one.
The state survives `stop`, `start` and `restart`, and people may act while it cannot be reached. Every call of the
handle returns once the workspace knows of it; none waits for the app under test.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from aiohttp import web

import tests.doubles.slack_chat as slack_chat
import tests.doubles.slack_files as slack_files
import tests.doubles.slack_rooms as slack_rooms
from tests.doubles.slack_delivery import Answer, Courier, Delivery, wire
from tests.doubles.slack_faults import Faults, Limits
from tests.doubles.slack_life import Life
from tests.doubles.slack_people import People
from tests.doubles.slack_socket import Sockets
from tests.doubles.slack_state import (
    BOT,
    BOT_SCOPES,
    BOT_USER,
    Call,
    Channel,
    Message,
    Reply,
    Token,
    Workspace,
)
from tests.doubles.slack_web import Desk, handle

METHOD_MODULES = (slack_chat, slack_files, slack_rooms)


class SlackServer(Life):
    """The server and its handle.

    Args:
        channels: Names of public channels that are there, with the bot in them.
        scale: The pauses before retries, 0, 60 and 300 s, times this.
        redeliver_after_s: Seconds without an acknowledgement after which a delivery has failed; `acked_in_time`
            always means 3.
        limits: The paces; Slack's own by default.
        metadata_most: Bytes of metadata that a message may have.
    """

    bot_user = BOT_USER
    bot_id = BOT

    def __init__(
        self,
        *channels: str,
        scale: float = 1.0,
        redeliver_after_s: float = 3.0,
        limits: Limits | None = None,
        metadata_most: int = 16_000,
        ticket_ttl_s: float = 30.0,
    ) -> None:
        super().__init__()
        self.workspace = Workspace()
        self.faults = Faults()
        self.limits = limits or Limits()
        self.calls: list[Call] = []
        self.bot_token = "xoxb-0001-0002-" + "b" * 24
        self.app_token = "xapp-1-A0MOOT-0003-" + "a" * 24
        self.signing_secret = "5" * 32
        self.workspace.tokens = {
            self.bot_token: Token(set(BOT_SCOPES)),
            self.app_token: Token({"connections:write"}),
        }
        self.courier = Courier(self.workspace, self.faults, self.signing_secret)
        self.courier.scale = scale
        self.courier.redeliver_after_s = redeliver_after_s
        self.sockets = Sockets(self.courier, self.faults, self.calls)
        self.sockets.ticket_ttl_s = ticket_ttl_s
        self.desk = Desk(
            self.workspace, self.courier.publish, "", self.faults, self.limits, self.calls, metadata_most,
            self.sockets.new_ticket,
        )  # fmt: skip
        self.people = People(self.desk, self.courier)
        for name in channels:
            self.workspace.add_channel(name, members=(BOT_USER,))

    def _routes(self, app: web.Application) -> None:
        app.router.add_route("*", "/api/{method}", partial(handle, self.desk))
        app.router.add_get("/link/", self.sockets.handle)
        app.router.add_post("/upload/v1/{file_id}", partial(slack_files.take_upload, self.desk))
        app.router.add_get("/files-pri/{file_id}/{rest:.*}", partial(slack_files.download, self.desk))
        app.router.add_post("/response/{key}", self.people.take_response)

    def _listening(self) -> None:
        self.desk.base_url = f"http://127.0.0.1:{self.port}"
        self.sockets.base = f"ws://127.0.0.1:{self.port}"

    def _break(self) -> None:
        self.sockets.abort()

    @property
    def api(self) -> str:
        """Return the base URL for `AsyncWebClient(base_url=…)`."""
        return f"http://127.0.0.1:{self.port}/api/"

    @property
    def pings(self) -> list[str]:
        """Return every text of the app that would have called somebody."""
        return self.workspace.pings

    @property
    def formatted(self) -> list[str]:
        """Return every text of the app in which markup took effect."""
        return self.workspace.formatted

    @property
    def oddities(self) -> list[str]:
        """Return what Slack takes and advises against."""
        return self.workspace.oddities

    def add_channel(self, name: str, *, is_private: bool = False, is_member: bool = True) -> str:
        members = (BOT_USER,) if is_member else ()
        return self._do(self.workspace.add_channel, name, is_private=is_private, members=members).id

    def channel(self, name: str) -> Channel:
        """Return a channel, to look at or to change (`is_archived`, `is_read_only`, `name`, `members`)."""
        return self._do(self.workspace.channel, name)

    def delete_channel(self, name: str) -> None:
        self.channel(name).is_deleted = True

    def archive_channel(self, name: str) -> None:
        self.channel(name).is_archived = True

    def kick(self, name: str) -> None:
        """Put the bot out of a channel."""
        self.channel(name).members.discard(BOT_USER)

    def user_id(self, name: str) -> str:
        return self._do(self.workspace.user, name).id

    def set_scopes(self, *scopes: str, token: str | None = None) -> None:
        self.workspace.tokens[token or self.bot_token].scopes = set(scopes)

    def drop_scope(self, scope: str) -> None:
        self.workspace.tokens[self.bot_token].scopes.discard(scope)

    def spoil_token(self, error: str = "token_revoked", token: str | None = None) -> None:
        """Let a token earn an error from now on; `active` makes it good again."""
        self.workspace.tokens[token or self.bot_token].state = error

    @property
    def subscriptions(self) -> set[str]:
        """Return the events that the app subscribed to, to be changed: `message.channels`, `app_mention` …"""
        return self.courier.subscriptions

    @property
    def commands(self) -> set[str]:
        return self.people.commands

    def messages(self, channel: str) -> list[Message]:
        """Return the messages of a channel and its threads that are there, in the order in which they came."""
        return self._do(
            lambda: [m for m in self.workspace.messages[self._channel(channel)] if not m.is_deleted]
        )

    def posts(self, channel: str) -> list[Message]:
        """Return the app's own messages of a channel and its threads."""
        return [m for m in self.messages(channel) if m.is_ours]

    def _channel(self, name: str) -> str:
        gone = [c.id for c in self.workspace.channels.values() if name.lstrip("#") in (c.id, c.name)]
        return gone[-1] if gone else self.workspace.channel(name).id

    def person_writes(
        self,
        user: str,
        channel: str,
        text: str,
        reply_to: str | None = None,
        thread: str | None = None,
        **how: Any,
    ) -> str:
        """Write a message, in the thread of `reply_to` or `thread` (ids of messages); returns its id.

        `how`: `is_raw` (the text is as Slack keeps it), `subtype`, `files` (names), `is_bot` (another app's bot).
        """
        return self._do(self.people.writes, user, channel, text, thread or reply_to, **how).id

    def people_write(self, user: str, channel: str, *texts: str) -> None:
        """Write many messages at once."""
        self._do(lambda: [self.people.writes(user, channel, text) for text in texts])

    def person_edits(self, message_id: str, text: str) -> None:
        self._do(self.people.edits, message_id, text)

    def person_deletes(self, message_id: str) -> None:
        self._do(self.people.deletes, message_id)

    def unfurls(self, message_id: str) -> None:
        """Let Slack attach a link's preview to a message."""
        self._do(self.people.unfurls, message_id)

    def person_clicks(self, user: str, message_id: str, button: str) -> str:
        """Press a button named by action_id, block_id or label; returns the trigger id."""
        return self._do(self.people.clicks, user, message_id, button).id

    def person_commands(self, user: str, channel: str, command: str, text: str = "") -> str:
        """Give a slash command such as `/moot`; returns the trigger id."""
        return self._do(self.people.gives_command, user, channel, command, text).id

    def replies(self, name: str) -> list[Reply]:
        """Return what a person was told after an act (message id or trigger id); see `Reply.kind`."""
        return self._do(self.people.replies, name)

    def delivery(self, name: str) -> Delivery | None:
        """Find what was delivered, by event id, trigger id, envelope id or message id."""
        return self._do(self.courier.find, name)

    def acked_in_time(self, name: str) -> bool:
        """Say whether the first delivery of it was acknowledged within 3 seconds."""
        delivery = self.delivery(name)
        first = delivery.attempts[0] if delivery is not None and delivery.attempts else None
        return first is not None and first.acked_at is not None and first.acked_at - first.at <= 3.0

    @property
    def connections(self) -> int:
        return len(self.sockets.links)

    @property
    def opened(self) -> int:
        """Return how many connections there have been."""
        return self.sockets.opened

    def disconnect(self, reason: str = "refresh_requested", *, closes: bool | None = None) -> None:
        """Send a disconnect message; `warning` leaves the connection open, the others close it."""
        closing = reason != "warning" if closes is None else closes
        self._run(self.sockets.tell(reason, closes=closing))

    def cut(self) -> None:
        """Break every Socket Mode connection without a word."""
        self._do(self.sockets.abort)

    def be_zombie(self, is_zombie: bool = True) -> None:
        """Answer no pings on connections opened from now on."""
        self.sockets.is_zombie = is_zombie

    def send_raw(self, text: str) -> None:
        """Send any text over every Socket Mode connection."""
        self._run(self.sockets.raw(text))

    def publish(self, event: Mapping[str, Any]) -> str | None:
        """Send any event; returns its event id, None when nobody subscribed."""
        delivery = self._do(self.courier.publish, dict(event))
        return delivery.id if delivery is not None else None

    def use_http(self, url: str | None) -> None:
        """Deliver to a Request URL from now on; None: over Socket Mode again."""
        self.courier.request_url = url

    def post_event(
        self,
        url: str,
        payload: Mapping[str, Any] | bytes,
        *,
        kind: str = "events_api",
        skew_s: float = 0.0,
        secret: str | None = None,
        headers: Mapping[str, str] | None = None,
        within_s: float = 30.0,
    ) -> Future[Answer]:
        """Post one signed request; `.result()` (or `asyncio.wrap_future`) gives the answer.

        Args:
            url: The app's Request URL.
            payload: The whole payload, such as `delivery(…).payload`; bytes go as they are.
            kind: `events_api` (JSON), `interactive` or `slash_commands` (forms).
            skew_s: How far the clock that signs is off.
            secret: Signs with another secret than the app's.
            headers: Further headers; they win over those of the signature.
            within_s: Gives up after so long.
        """
        body, content_type = wire(kind, {} if isinstance(payload, bytes) else dict(payload))
        body = payload if isinstance(payload, bytes) else body
        work = self.courier.send(
            url, body, content_type, dict(headers or {}), skew_s=skew_s, secret=secret, within_s=within_s
        )
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def verify_url(self, url: str, challenge: str = "3eZbrw1aB", **how: Any) -> Future[Answer]:
        """Send the url_verification that a new Request URL gets."""
        body = {"token": "verification-token", "challenge": challenge, "type": "url_verification"}
        return self.post_event(url, body, **how)

    def settle(self, within_s: float = 20.0) -> None:
        """Wait until no delivery is on its way; not from the loop of an app under test in this process."""
        with suppress(TimeoutError):
            self._run(asyncio.wait_for(self._settled(), within_s))

    async def _settled(self) -> None:
        while self.courier.tasks:
            await asyncio.wait(set(self.courier.tasks))
