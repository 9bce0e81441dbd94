"""Where the library connects to: Discord, or a compatible server that the configuration names.

These are class attributes of the library and so hold for the whole process: one process speaks to one server.
The address at which a session is resumed is set by `connection`, for the server names it anew each time.
"""

from __future__ import annotations

from typing import Final

import yarl

from channels.discord.library import DiscordWebSocket, Route

CDN: Final = "https://cdn.discordapp.com"
"""Where pictures are; their addresses are read by people's programs and never by us."""

DEFAULT_API: Final = Route.BASE
DEFAULT_GATEWAY: Final = DiscordWebSocket.DEFAULT_GATEWAY


def point_at(api: str, gateway: str) -> None:
    """Set both addresses, for the whole process.

    Args:
        api: Base of the REST API with its version; "" for Discord's.
        gateway: Address of the gateway; "" for Discord's.
    """
    Route.BASE = api or DEFAULT_API
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway) if gateway else DEFAULT_GATEWAY
