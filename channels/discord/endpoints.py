"""Where the library connects to: Discord, or a compatible server that the configuration names.

These are class attributes of the library and so hold for the whole process: one process speaks to one server.
The address at which a session is resumed is set by `connection`, for the server names it anew each time.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import yarl

from moot.channels.discord.library import DiscordWebSocket, Route
from moot.channels.surface import SurfaceConfigError

CDN: Final = "https://cdn.discordapp.com"
"""Where Discord's pictures are; their addresses are read by people's programs and never by us."""

DEFAULT_API: Final = Route.BASE
DEFAULT_GATEWAY: Final = DiscordWebSocket.DEFAULT_GATEWAY


_users: Final[WeakKeyDictionary[object, tuple[str, str]]] = WeakKeyDictionary()
"""Who connects where, until `let_go`."""


def point_at(user: object, api: str, gateway: str) -> None:
    """Set both addresses, for the whole process.

    Args:
        user: Who connects there.
        api: Base of the REST API with its version; "" for Discord's.
        gateway: Address of the gateway; "" for Discord's.

    Raises:
        SurfaceConfigError: Somebody else in this process connects elsewhere.
    """
    wanted = (api or str(DEFAULT_API), gateway or str(DEFAULT_GATEWAY))
    for other, used in _users.items():
        if other is not user and used != wanted:
            raise SurfaceConfigError(
                "two surfaces of Discord with different api or gateway cannot be in one gateway; give both the same,"
                " or run the second society in a gateway of its own"
            )
    _users[user] = wanted
    Route.BASE = wanted[0]
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(wanted[1])


def pictures(api: str, cdn: str = "") -> str:
    """Return where pictures are.

    Args:
        api: Base of the REST API; "" for Discord's.
        cdn: Where the configuration says that they are; "": at Discord's, or at the host of another API.
    """
    if cdn or not api or api.startswith(str(DEFAULT_API).rpartition("/")[0]):
        return cdn.rstrip("/") or CDN
    parts = urlsplit(api)
    return f"{parts.scheme}://{parts.netloc}"


def let_go(user: object) -> None:
    """Note that somebody does not connect any more; safe to call twice."""
    _users.pop(user, None)
