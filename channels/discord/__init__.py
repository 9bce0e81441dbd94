"""Discord as a surface: one guild mirrors the society, and what people do there comes in (decisions 6 and 7).

Parts, from the platform inwards::

    library      the one place that imports discord.py; library_log  what it logs, made calm
    endpoints    where it connects to
    troubles     what Discord answers, as what a surface raises
    connection   login, gateway connection, the guild
    places       the log's channels there, and the webhooks that roles speak through
    posting      one message, into a channel or a case's thread; faces  the roles' pictures
    history      a channel's messages, page by page; finding  whether ours is there; catching_up  what was missed
    wording      what a person wrote, as plain text; answering  what they are told
    hearing      messages of people, each channel in a lane; pressing  buttons and slash commands
    slash        the slash commands as Discord lists them; rights  the permissions that are asked for, and why
    setup        what a guild needs, looked for and made
    surface      `DiscordSurface`, which connects them

Importing this package is cheap: the library is loaded when the class is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moot.channels.discord.surface import DiscordSurface

__all__ = ["DiscordSurface"]


def __getattr__(name: str) -> Any:
    if name == "DiscordSurface":
        from moot.channels.discord.surface import DiscordSurface

        return DiscordSurface
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
