"""Pressing: buttons and slash commands, deferred at once, answered to the person alone.

A button's meaning stands in its id, so it outlives any restart. An act counts also when Discord could not be
told in time that it was heard: the person then reads "interaction failed" there, and what became of it in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import structlog

from moot.channels.backoff import Backoff
from moot.channels.discord.answering import shown
from moot.channels.discord.connection import CHANNEL_ID
from moot.channels.discord.library import discord
from moot.channels.discord.places import Places
from moot.channels.discord.rendering import read_custom_id
from moot.channels.discord.slash import NotOneWord, line_of
from moot.channels.discord.troubles import ALREADY_ANSWERED, UNKNOWN_INTERACTION, renamed
from moot.channels.inbound import ADMIN_CHANNEL
from moot.channels.surface import (
    ActReply,
    InboundAct,
    PlatformMessageId,
    RateLimited,
    SurfaceDown,
    SurfaceError,
    TakeAct,
)

AT_ONCE: Final = 32
"""Acts that are with the intake at once; the others were deferred and wait."""

MOST: Final = 2_000
"""Presses that are held at once; whoever presses then sees that it failed, and presses again."""

TRIES: Final = 6
PAUSES: Final = Backoff(first_s=0.25, most_s=8.0)
"""How an answer is tried again; Discord takes it for a quarter of an hour."""

STRANGE: Final = (
    "That button is not one of Moot's, or of another version; use a slash command: /help lists them."
)

NOT_TAKEN: Final = ActReply(
    "That could not be read; write it as a message in the channel instead. The gateway's log says why.",
    ok=False,
)


class Pressing:
    """Hands in presses and commands. `close` ends what is under way."""

    def __init__(self, places: Places, inbound: TakeAct, name: str) -> None:
        """Connect.

        Args:
            places: Where channels are.
            inbound: Takes acts.
            name: Name of the surface, `platform` of the acts.
        """
        self._places = places
        self._inbound = inbound
        self._name = name
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger().bind(surface=name)

    async def close(self) -> None:
        """Stop; what was not handed in is lost, and the person sees that it failed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def press(self, interaction: discord.Interaction) -> None:
        """Take an interaction of the gateway."""
        kinds = (discord.InteractionType.component, discord.InteractionType.application_command)
        if interaction.type not in kinds:
            self._log.info("interaction ignored", kind=str(interaction.type))
            return
        if len(self._tasks) >= MOST:
            self._log.warning("interaction ignored", why="too many at once")
            return
        task = asyncio.create_task(self._take(interaction))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take(self, interaction: discord.Interaction) -> None:
        try:
            is_deferred = await self._defer(interaction)
            async with self._slots:
                try:
                    reply = await self._reply_to(interaction)
                except Exception as exc:
                    # Whoever pressed is told all the same, and sees no "thinking…" for a quarter of an hour.
                    self._log.error("interaction not handled", why=f"{type(exc).__name__}: {exc}")
                    reply = NOT_TAKEN
            if is_deferred:
                await self._tell(interaction, reply.text)
            else:
                self._log.warning("person not told", interaction=interaction.id, reply=reply.text)
        except Exception as exc:
            self._log.error("interaction not handled", why=f"{type(exc).__name__}: {exc}")

    async def _defer(self, interaction: discord.Interaction) -> bool:
        """Say within three seconds that it was heard; False when Discord did not want to know."""
        for _ in range(2):
            try:
                with renamed("answer a press", passing={ALREADY_ANSWERED, UNKNOWN_INTERACTION}):
                    await interaction.response.defer(ephemeral=True, thinking=True)
                return True
            except discord.InteractionResponded:
                return True
            except discord.HTTPException as exc:
                # Answered already: the first try arrived, and its receipt was lost.
                return exc.code == ALREADY_ANSWERED
            except SurfaceError as exc:
                self._log.warning("press not deferred", why=str(exc))
        return False

    async def _reply_to(self, interaction: discord.Interaction) -> ActReply:
        home = self._places.home(_channel_of(interaction, self._places))
        data: Mapping[str, Any] = interaction.data or {}
        reply_to = home.root if home is not None else None
        kind: Any = "command"
        fields: Mapping[str, object]
        if interaction.type is discord.InteractionType.component:
            press = read_custom_id(str(data.get("custom_id", "")))
            if press is None:
                return ActReply(STRANGE, ok=False)
            kind, fields = press.kind, press.fields
            if interaction.message is not None:
                reply_to = f"{_place_of(interaction)}/{interaction.message.id}"
        else:
            try:
                fields = {"text": line_of(str(data.get("name", "")), _options(data))}
            except NotOneWord as exc:
                return ActReply(str(exc), ok=False)
        return await self._inbound(
            InboundAct(
                platform=self._name,
                user_id=str(interaction.user.id),
                user_name=interaction.user.display_name,
                platform_message_id=str(interaction.id),
                channel=home.channel if home is not None else ADMIN_CHANNEL,
                kind=kind,
                fields=fields,
                reply_to=PlatformMessageId(reply_to) if reply_to else None,
            )
        )

    async def _tell(self, interaction: discord.Interaction, text: str) -> None:
        why = ""
        for n in range(1, TRIES + 1):
            try:
                with renamed("answer a press"):
                    await interaction.edit_original_response(content=shown(text))
                return
            except RateLimited as exc:
                why = str(exc)
                await asyncio.sleep(min(exc.retry_after_s, PAUSES.most_s))
            except SurfaceDown as exc:
                why = str(exc)
                if not exc.everywhere:
                    break
                await asyncio.sleep(PAUSES.delay_s(n))
            except SurfaceError as exc:
                why = str(exc)
                break
        self._log.warning("person not told", interaction=interaction.id, why=why)


def _options(data: Mapping[str, Any]) -> dict[str, object]:
    return {str(option["name"]): option.get("value", "") for option in data.get("options") or ()}


def _channel_of(interaction: discord.Interaction, places: Places) -> int | None:
    channel = interaction.channel
    if isinstance(channel, discord.Thread):
        places.note_thread(channel.id, channel.parent_id)
    return _place_of(interaction)


def _place_of(interaction: discord.Interaction) -> int | None:
    """Return the channel's id: the library knows none where it cannot make out the channel."""
    channel = interaction.channel
    if channel is not None:
        return channel.id
    told = str(interaction.extras.get(CHANNEL_ID) or "")
    return int(told) if told.isdecimal() else None
