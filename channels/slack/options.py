"""What a configuration may say about Slack, checked; and where its secrets are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from moot.channels.chat.tokens import read_secret
from moot.channels.surface import SurfaceConfigError

API: Final = "https://slack.com/api/"
PATH: Final = "/slack/events"
"""Where Slack delivers in HTTP mode."""

_PREFIX: Final = re.compile(r"[a-z0-9_-]{0,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackOptions:
    """The options of `[surfaces.slack]`.

    Attributes:
        mode: `socket`: we connect to Slack, no public address is needed. `http`: Slack delivers to us.
        host: Where HTTP mode listens.
        port: The same; 0: any that is free.
        api: Base address of the Web API.
        prefix: What stands before a channel's name in Slack: `moot-` makes `#a-arena` there `#moot-a-arena`.
        bot_token_file: File with the bot's token, where MOOT_SLACK_BOT_TOKEN is not set.
        app_token_file: The same for MOOT_SLACK_APP_TOKEN, in socket mode.
        signing_secret_file: The same for MOOT_SLACK_SIGNING_SECRET, in HTTP mode.
    """

    mode: Literal["socket", "http"] = "socket"
    host: str = "127.0.0.1"
    port: int = 3000
    api: str = API
    prefix: str = ""
    bot_token_file: str | None = None
    app_token_file: str | None = None
    signing_secret_file: str | None = None

    def __post_init__(self) -> None:
        """Check what can be checked without reading secrets.

        Raises:
            SurfaceConfigError: An option cannot be meant so; says what can.
        """
        if self.mode not in ("socket", "http"):
            raise SurfaceConfigError(f"the option mode is socket or http, not {self.mode!r}")
        if not isinstance(self.port, int) or isinstance(self.port, bool) or not 0 <= self.port <= 65_535:
            raise SurfaceConfigError(f"the option port is a number up to 65535, not {self.port!r}")
        if not isinstance(self.prefix, str) or not _PREFIX.fullmatch(self.prefix):
            raise SurfaceConfigError("the option prefix is at most 40 of a-z, 0-9, - and _, such as moot-")
        if not isinstance(self.host, str) or not self.host:
            raise SurfaceConfigError("the option host is a name or an address, such as 127.0.0.1")
        parts = urlsplit(self.api) if isinstance(self.api, str) else None
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise SurfaceConfigError(f"the option api is an address such as {API}")

    def bot_token(self) -> str:
        """Read the bot's token.

        Raises:
            SurfaceConfigError: There is none; says where it belongs.
        """
        return read_secret(
            self.bot_token_file, "MOOT_SLACK_BOT_TOKEN", "Slack's bot token", "xoxb-12-…", prefix="xoxb-"
        )

    def app_token(self) -> str:
        """Read the app's token, for Socket Mode.

        Raises:
            SurfaceConfigError: As above.
        """
        return read_secret(
            self.app_token_file,
            "MOOT_SLACK_APP_TOKEN",
            "Slack's app token",
            "xapp-1-…",
            prefix="xapp-",
        )

    def signing_secret(self) -> str:
        """Read the signing secret, for HTTP mode.

        Raises:
            SurfaceConfigError: As above.
        """
        return read_secret(
            self.signing_secret_file, "MOOT_SLACK_SIGNING_SECRET", "Slack's signing secret", "32 hex digits"
        )
