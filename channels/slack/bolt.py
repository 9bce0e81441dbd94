"""Bolt's app, which reads what Slack delivers and checks its signatures; what it read goes to one place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from moot.channels.slack.identity import Me
from moot.channels.slack.library_log import library_logger
from moot.channels.slack.web import Web, client

Take = Callable[[Mapping[str, Any]], Awaitable[None]]


def bolt_app(web: Web, api: str, me: Me, take: Take, *, signing_secret: str | None) -> AsyncApp:
    """Return an app that acknowledges a delivery once it was taken.

    Args:
        web: Whose connections it uses.
        api: Base address of the Web API.
        me: Who we are, so that Bolt need not ask Slack at every event.
        take: Takes a payload; where it raises, Slack is not acknowledged and delivers again.
        signing_secret: For HTTP mode; None: nothing comes in unsigned, for nothing comes in by HTTP.
    """
    log = structlog.get_logger()
    mine = AuthorizeResult(enterprise_id=None, team_id=None, bot_user_id=me.user_id, bot_id=me.bot_id)

    async def authorize(**_: Any) -> AuthorizeResult:
        return mine

    async def hand_on(req: AsyncBoltRequest) -> BoltResponse:
        try:
            await take(req.body)
        except Exception as exc:
            log.error("slack delivery not taken", why=type(exc).__name__)
            return BoltResponse(status=500, body="")
        return BoltResponse(status=200, body="")

    app = AsyncApp(
        name="moot-on-slack",  # a name of its own: Bolt gives the logger of that name our handler
        logger=library_logger(),
        client=client(api, None, web.session),
        authorize=authorize,
        signing_secret=signing_secret or "unused",
        # We know our own messages by more than Bolt does, and what they tell of how far we heard.
        ignoring_self_events_enabled=False,
        attaching_function_token_enabled=False,
    )
    app.middleware(hand_on)
    return app
