"""Who the token belongs to, and what it may do."""

from __future__ import annotations

from typing import NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from moot.channels.slack.scopes import missing, reinstall
from moot.channels.slack.troubles import SlackSaid, trouble
from moot.channels.slack.web import answer, data_of
from moot.channels.surface import SurfaceConfigError


class Me(NamedTuple):
    """The app's bot in a workspace.

    Attributes:
        user_id: Its id as a user, by which it is mentioned.
        bot_id: Its id as a bot, which its messages carry.
        user: Its name.
        team: Name of the workspace.
        lacks: Scopes that are needed and not granted; None: Slack did not say which are granted.
    """

    user_id: str
    bot_id: str
    user: str
    team: str
    lacks: tuple[str, ...] | None


async def whoami(client: AsyncWebClient) -> Me:
    """Ask Slack whose token it is.

    Raises:
        SurfaceConfigError: The token is refused.
        SurfaceDown, RateLimited: Slack cannot be asked now.
    """
    try:
        response = await answer(client.auth_test())
    except SlackSaid as said:
        raise trouble(said) from None
    data = data_of(response)
    granted = next((v for k, v in (response.headers or {}).items() if k.lower() == "x-oauth-scopes"), None)
    return Me(
        user_id=str(data.get("user_id") or ""),
        bot_id=str(data.get("bot_id") or ""),
        user=str(data.get("user") or "moot"),
        team=str(data.get("team") or "the workspace"),
        lacks=missing(granted),
    )


async def checked(client: AsyncWebClient) -> Me:
    """Ask Slack whose token it is, and insist on every scope.

    Raises:
        SurfaceConfigError: The token is refused, is no bot's, or lacks a scope; names it and says what to click.
        SurfaceDown, RateLimited: As above.
    """
    me = await whoami(client)
    if not me.bot_id:
        raise SurfaceConfigError("the bot token is a person's: copy the Bot User OAuth Token (xoxb-)")
    if me.lacks:
        raise SurfaceConfigError(f"the bot token lacks a scope: {reinstall(me.lacks)}")
    return me
