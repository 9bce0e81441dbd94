"""discord.py, imported in one place: what it warns of on the way in is about voice, which nobody uses here."""

from __future__ import annotations

import warnings

from moot.channels.discord.library_log import calm

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import discord
    from discord.gateway import DiscordWebSocket, KeepAliveHandler
    from discord.http import HTTPClient, MultipartParameters, Route
    from discord.webhook.async_ import AsyncWebhookAdapter

__all__ = [
    "AsyncWebhookAdapter",
    "DiscordWebSocket",
    "HTTPClient",
    "KeepAliveHandler",
    "MultipartParameters",
    "Route",
    "discord",
]

discord.VoiceClient.warn_nacl = False
discord.VoiceClient.warn_dave = False

calm()
