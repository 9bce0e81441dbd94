"""What a server needs for a society, looked for step by step; what is missing is made, nothing else is changed."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from moot.channels.discord.connection import INTENTS_OFF, Connection
from moot.channels.discord.faces import faces, uploaded
from moot.channels.discord.options import Options
from moot.channels.discord.places import own_places
from moot.channels.discord.rights import SEND, VIEW, WRITE, invite, missing
from moot.channels.discord.slash import is_same, listed
from moot.channels.discord.troubles import renamed, strange
from moot.channels.showing.avatars import avatar, emoji_name
from moot.channels.showing.wording import joined
from moot.channels.surface import Check, SurfaceDown
from moot.protocols.kernel.catalogue import Channel, Viewers
from moot.protocols.rulebook import rulebook

if TYPE_CHECKING:
    from moot.channels.discord.surface import DiscordSurface

TEXT: Final = 0
CATEGORY: Final = 4
ROLE: Final = 0
MEMBER: Final = 1
"""Discord's numbers for kinds of channels, and of those whom an overwrite is about."""

AGAIN: Final = "run: moot discord setup"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that must be there.

    Attributes:
        check: What was found.
        make: Makes what is missing; None where nothing is missing, or only a person can.
    """

    check: Check
    make: Callable[[], Awaitable[object]] | None = None


async def checks(surface: DiscordSurface) -> Sequence[Check]:
    """Look whether a surface that was not started could work, for `Surface.check`; it is the caller's to close.

    Raises:
        SurfaceDown, SurfaceConfigError: As `Surface.check`.
    """
    client = await surface.log_in()
    async with aclosing(steps(client, surface.options, Viewers())) as found:
        return [step.check async for step in found]


async def steps(client: Connection, options: Options, viewers: Viewers) -> AsyncGenerator[Step]:
    """Go through everything in order; a step counts on those before it having been made.

    Args:
        client: Logged in.
        options: Which server, and the names in it.
        viewers: What people may read and write, for the permissions of channels that are made.

    Raises:
        SurfaceDown, RateLimited, SurfaceConfigError: It cannot be looked up or made now.
    """
    user = client.user
    yield Step(Check("token", True, f"the bot is {user.name if user is not None else 'nameless'}"))
    if client.may_read:
        yield Step(Check("intents", True, "Message Content Intent is on"))
    else:
        yield Step(Check("intents", False, "Message Content Intent is off", INTENTS_OFF))
    guild = await _guild(client, options)
    yield Step(guild.check)
    if not guild.check.is_ok:
        return
    lacking = missing(guild.permissions) if guild.permissions is not None else ()
    if guild.permissions is None:
        said = "unknown: the server does not say what the bot may do; what it may not shows when it is needed"
        yield Step(Check("permissions", True, said))
    elif lacking:
        link = invite(client.application_id or 0, options.guild_id)
        names = joined([f"{right.name} ({right.why})" for right in lacking], "; ", len(lacking))
        yield Step(Check("permissions", False, f"the bot lacks {names}", f"open {link} and confirm"))
    else:
        yield Step(Check("permissions", True, "the bot has all it asks for"))
    async for step in _channels(client, options, viewers):
        yield step
    yield await _commands(client, options)
    yield await _faces(client)


@dataclass(frozen=True, slots=True)
class _Guild:
    check: Check
    permissions: int | None = None


async def _guild(client: Connection, options: Options) -> _Guild:
    with renamed("see the bot's servers"):
        guilds: Any = await client.http.get_guilds(200)
    if not isinstance(guilds, list):
        strange(guilds)
    if not options.guild:
        names = joined([f"{one.get('name')} is {one['id']}" for one in guilds], ", ", 20) or "none yet"
        return _Guild(
            Check(
                "server",
                False,
                f"no server is chosen; the bot is in: {names}",
                f"invite it with {invite(client.application_id or 0)} and write its id into [surfaces.discord]:"
                ' guild = "…"',
            )
        )
    for one in guilds:
        if str(one["id"]) == options.guild:
            told = str(one.get("permissions") or "")
            there = Check("server", True, f"the bot is in {one.get('name')}")
            return _Guild(there, int(told) if told.isdecimal() else None)
    link = invite(client.application_id or 0, options.guild_id)
    to_do = f"whoever manages that server opens {link}"
    return _Guild(Check("server", False, f"the bot is not in the server {options.guild}", to_do))


async def _channels(client: Connection, options: Options, viewers: Viewers) -> AsyncGenerator[Step]:
    with renamed("see the channels"):
        found: Any = await client.http.get_all_guild_channels(options.guild_id)
    if not isinstance(found, list):
        strange(found)
    try:
        with renamed("see the webhooks"):
            hooks: Any = await client.http.guild_webhooks(options.guild_id)
    except SurfaceDown as exc:
        if exc.everywhere:
            raise
        yield Step(
            Check(
                "webhooks", False, "not shown to the bot", "give it Manage Webhooks, as the invite link does"
            )
        )
        hooks = None
    rooms = {
        id: channel.name for channel in rulebook().public if (id := _named(found, options, channel.name))
    }
    places = own_places(hooks or (), options, client.application_id or 0, rooms=rooms)
    ids = {str(one["id"]) for one in found}
    known: dict[str, str] = {}
    for channel in rulebook().public:
        place = places.get(channel.name)
        if place is not None and str(place.channel_id) in ids:
            known[channel.name] = str(place.channel_id)
        elif id := _named(found, options, channel.name):
            known[channel.name] = id
    parents = [one for one in found if one.get("type") == CATEGORY and one.get("name") == options.category]
    lacking = [channel for channel in rulebook().public if channel.name not in known]
    made: dict[str, str] = {"": str(parents[0]["id"])} if parents else {}
    if lacking and not parents:

        async def make_category() -> None:
            made[""] = await _create(client, options, CATEGORY, name=options.category)

        yield Step(Check("category", False, f"no category {options.category}", AGAIN), make_category)
    for channel in lacking:

        async def make_channel(channel: Channel = channel) -> None:
            known[channel.name] = await _create(
                client,
                options,
                TEXT,
                name=options.name_of(channel.name),
                topic=channel.purpose,
                parent_id=made.get(""),
                permission_overwrites=overwrites(
                    channel.name, viewers, options.guild, str(client.application_id), options.admin_role
                ),
            )

        found_not = f"no channel #{options.name_of(channel.name)}"
        yield Step(Check("channel", False, found_not, AGAIN), make_channel)
    if (step := _admins(found, known, options, viewers)) is not None:
        yield step
    if not lacking:
        yield Step(Check("channels", True, f"all {len(rulebook().public)} are there"))
    if hooks is None:
        return
    without = [
        channel
        for channel in rulebook().public
        if channel.name not in places or str(places[channel.name].channel_id) not in ids
    ]
    for channel in without:

        async def make_hook(channel: Channel = channel) -> None:
            with renamed(f"make a webhook in {channel.name}"):
                await client.http.create_webhook(
                    int(known[channel.name]), name=options.webhook_of(channel.name)
                )

        yield Step(
            Check("webhook", False, f"none of ours in #{options.name_of(channel.name)}", AGAIN), make_hook
        )
    if not without:
        yield Step(Check("webhooks", True, "one of ours in every channel"))


def _admins(
    found: Sequence[Mapping[str, Any]], known: Mapping[str, str], options: Options, viewers: Viewers
) -> Step | None:
    """Look whether admins may write where others may not: Discord offers slash commands only to who may write."""
    closed = [
        one
        for one in found
        for channel, id in known.items()
        if str(one["id"]) == id and channel not in viewers.writes and _is_closed(one, options.guild)
    ]
    if not options.admin_role:
        if not closed and not any(channel.name not in viewers.writes for channel in rulebook().public):
            return None
        said = (
            "no role is named: where viewers may not write, admins have buttons but no slash commands; to change"
            ' that, name a role: admin_role = "ID"'
        )
        return Step(Check("admins", True, said))
    shut = [one for one in closed if not _lets_write(one, options.admin_role)]
    if not shut:
        return Step(Check("admins", True, "their role may write in every channel"))
    names = joined([f"#{one.get('name')}" for one in shut], ", ", 20)
    to_do = "there: Edit Channel → Permissions → add the role, allow View Channel and Send Messages"
    return Step(Check("admins", False, f"their role may not write in {names}", to_do))


def _is_closed(channel: Mapping[str, Any], guild_id: str) -> bool:
    return any(
        str(one.get("id")) == guild_id and int(one.get("deny") or 0) & (VIEW | SEND)
        for one in channel.get("permission_overwrites") or ()
    )


def _lets_write(channel: Mapping[str, Any], role: str) -> bool:
    return any(
        str(one.get("id")) == role and int(one.get("allow") or 0) & (VIEW | SEND) == VIEW | SEND
        for one in channel.get("permission_overwrites") or ()
    )


def overwrites(
    channel: str, viewers: Viewers, guild_id: str, bot_id: str, admin_role: str = ""
) -> list[dict[str, Any]]:
    """Return who may do what in a channel that is made: people what `[viewers]` says, admins and the bot all.

    Discord offers slash commands, too, only to who may write in the channel (discord-api-docs #2696, #3801).
    """
    deny = (0 if channel in viewers.writes else WRITE) | (0 if channel in viewers.reads else VIEW)
    if not deny:
        return []
    admins = [{"id": admin_role, "type": ROLE, "allow": str(VIEW | WRITE), "deny": "0"}] if admin_role else []
    return [
        {"id": guild_id, "type": ROLE, "allow": "0", "deny": str(deny)},
        *admins,
        {"id": bot_id, "type": MEMBER, "allow": str(VIEW | WRITE), "deny": "0"},
    ]


async def _commands(client: Connection, options: Options) -> Step:
    application = client.application_id or 0
    with renamed("see the slash commands"):
        found: Any = await client.http.get_guild_commands(application, options.guild_id)
    if not isinstance(found, list):
        strange(found)
    if is_same(found):
        return Step(Check("commands", True, f"all {len(found)} slash commands are registered"))

    async def make() -> None:
        with renamed("register the slash commands"):
            await client.http.bulk_upsert_guild_commands(application, options.guild_id, listed())

    what = "no slash commands" if not found else "other slash commands than this version's"
    return Step(Check("commands", False, what, AGAIN), make)


async def _faces(client: Connection) -> Step:
    there = await uploaded(client)
    lacking = [seat for seat in faces() if seat not in there]
    if not lacking:
        return Step(Check("pictures", True, f"all {len(faces())} are uploaded"))

    async def make() -> None:
        for seat in lacking:
            image = f"data:image/png;base64,{base64.b64encode(avatar(seat)).decode()}"
            with renamed("upload a picture"):
                await client.http.create_application_emoji(
                    client.application_id or 0, emoji_name(seat), image
                )

    return Step(Check("pictures", False, f"{len(lacking)} are not uploaded", AGAIN), make)


async def _create(client: Connection, options: Options, kind: int, **what: Any) -> str:
    with renamed(f"make {what['name']}"):
        made: Any = await client.http.create_channel(options.guild_id, kind, **what)  # type: ignore[arg-type]
    if not isinstance(made, Mapping) or "id" not in made:
        strange(made)
    return str(made["id"])


def _named(found: Sequence[Mapping[str, Any]], options: Options, channel: str) -> str | None:
    homes = {str(one["id"]) for one in found if one.get("name") == options.category}
    same = [one for one in found if one.get("type") == TEXT and one.get("name") == options.name_of(channel)]
    same.sort(key=lambda one: str(one.get("parent_id")) not in homes)
    return str(same[0]["id"]) if same else None
