"""Making and checking what the mirror needs in Slack: token, scopes, the way in, channels; and what to click."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from slack_sdk.web.async_client import AsyncWebClient

from moot.channels.slack.identity import whoami
from moot.channels.slack.options import PATH, SlackOptions
from moot.channels.slack.rooms import Room, match, purpose_of, slack_name, survey
from moot.channels.slack.scopes import APPS_PAGE, NEEDED, reinstall
from moot.channels.slack.socket_mode import open_socket_url
from moot.channels.slack.troubles import SlackSaid, trouble
from moot.channels.slack.web import Web, answer, data_of
from moot.channels.surface import Check, RateLimited, SurfaceConfigError, SurfaceDown
from moot.protocols.kernel.catalogue import Channel
from moot.protocols.rulebook import rulebook

State = Literal["ok", "done", "missing"]

MOST_PAUSES: Final = 5
LONGEST_PAUSE_S: Final = 90.0

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that must be so.

    Attributes:
        name: What it is.
        state: `done`: it was not so and is now; `missing`: it is not.
        found: How it stands.
        to_do: What to do, with where to click; "" when nothing is to be done.
    """

    name: str
    state: State
    found: str
    to_do: str = ""


async def examine(options: SlackOptions) -> list[Check]:
    """Look whether the mirror could work; changes nothing, and may run beside a gateway.

    Raises:
        SurfaceDown: Slack cannot be reached now.
    """
    steps = await set_up(options, may_change=False)
    found = [step for step in steps if not step.name.startswith("#")]
    rooms = [step for step in steps if step.name.startswith("#")]
    if rooms:
        lacking = [step for step in rooms if step.state == "missing"]
        named = ", ".join(step.name for step in lacking[:3]) + (" …" if len(lacking) > 3 else "")
        said = f"{len(lacking)} of {len(rooms)} not ready: {named}" if lacking else f"all {len(rooms)} ready"
        found.append(
            Step("channels", "missing" if lacking else "ok", said, "run: moot slack setup" if lacking else "")
        )
    return [Check(step.name, step.state != "missing", step.found, step.to_do) for step in found]


async def set_up(options: SlackOptions, *, may_change: bool) -> list[Step]:
    """Check token, scopes and the way in, then make, join and describe the channels.

    Args:
        options: The surface's.
        may_change: Whether anything is made; otherwise it is only looked at.

    Raises:
        SurfaceDown: Slack cannot be reached, or wants a long pause.
    """
    try:
        async with Web(options.api, options.bot_token()) as web:
            steps = [*await _token(web.client), *await _way_in(web.client, options)]
            if not any(step.name in ("token", "scopes") and step.state == "missing" for step in steps):
                steps += await _channels(web.client, options.prefix, may_change=may_change)
            return steps
    except SurfaceConfigError as exc:
        return [Step("token", "missing", str(exc), "" if APPS_PAGE in str(exc) else f"see {APPS_PAGE}")]
    except RateLimited as exc:
        raise SurfaceDown(f"Slack wants a pause: run it again in {exc.retry_after_s:.0f} s") from None


async def _token(client: AsyncWebClient) -> list[Step]:
    me = await whoami(client)
    if not me.bot_id:
        to_do = f"copy the Bot User OAuth Token (OAuth & Permissions at {APPS_PAGE})"
        return [Step("token", "missing", f"{me.user} in {me.team} is a person", to_do)]
    steps = [Step("token", "ok", f"@{me.user} in {me.team}")]
    if me.lacks:
        return [*steps, Step("scopes", "missing", f"missing: {', '.join(me.lacks)}", reinstall(me.lacks))]
    if me.lacks is None:
        # As a compatible server may; what is missing then shows when it is needed.
        return [*steps, Step("scopes", "ok", "unknown: Slack does not say which are granted")]
    return [*steps, Step("scopes", "ok", f"all {len(NEEDED)} granted")]


async def _way_in(client: AsyncWebClient, options: SlackOptions) -> list[Step]:
    try:
        if options.mode == "http":
            options.signing_secret()
            said = f"Slack delivers to {options.host}:{options.port}{PATH}, through your public address"
            return [Step("http", "ok", said)]
        await open_socket_url(client, options.app_token())
    except SurfaceConfigError as exc:
        name = "http" if options.mode == "http" else "socket mode"
        where = "Signing Secret" if options.mode == "http" else "App-Level Tokens"
        place = f"Basic Information, {where}"
        return [
            Step(name, "missing", str(exc), place if APPS_PAGE in str(exc) else f"{place}, at {APPS_PAGE}")
        ]
    return [Step("socket mode", "ok", "on, and the app token is good")]


async def _channels(client: AsyncWebClient, prefix: str, *, may_change: bool) -> list[Step]:
    try:
        rooms = await _patiently(lambda: survey(client))
    except SlackSaid as said:
        raise trouble(said) from None
    return [
        await _channel(client, channel, match(rooms, channel.name, prefix), prefix, may_change=may_change)
        for channel in rulebook().public
    ]


async def _channel(
    client: AsyncWebClient, channel: Channel, room: Room | None, prefix: str, *, may_change: bool
) -> Step:
    name = slack_name(channel.name, prefix)
    if room is None and not may_change:
        return Step(f"#{name}", "missing", "not there", "run: moot slack setup")
    if room is not None and room.is_archived:
        return Step(
            f"#{room.name}", "missing", "archived", "unarchive it in Slack (channel details, Settings)"
        )
    if room is not None and not room.is_member and not may_change:
        return Step(f"#{room.name}", "missing", "the app is not in it", "run: moot slack setup")
    done: list[str] = []
    try:
        if room is None:
            made = data_of(await _patiently(lambda: answer(client.conversations_create(name=name)))).get(
                "channel"
            )
            room_id = str(made.get("id") or "") if isinstance(made, dict) else ""
            room = Room(room_id, name, is_member=True, is_archived=False)
            done.append("made")
        if not room.is_member:
            await _patiently(lambda: answer(client.conversations_join(channel=room.id)))
            done.append("joined")
        # A private one is its people's: they made it, and say above it what they like.
        if may_change and not room.is_private:
            done += await _describe(client, channel, room, prefix)
    except SlackSaid as said:
        return Step(f"#{name}", "missing", f"Slack says {said.code}", _what_to_do(said, name))
    called = "there" if room.name == name else f"there, renamed to #{room.name}"
    return Step(f"#{name}", "done" if done else "ok", ", ".join(done) or called)


async def _describe(client: AsyncWebClient, channel: Channel, room: Room, prefix: str) -> list[str]:
    done = []
    if not room.topic:
        topic = channel.purpose[:250]
        await _patiently(lambda: answer(client.conversations_setTopic(channel=room.id, topic=topic)))
        done.append("topic set")
    if not room.purpose:
        purpose = purpose_of(channel.name, prefix)
        await _patiently(lambda: answer(client.conversations_setPurpose(channel=room.id, purpose=purpose)))
        done.append("purpose set")
    return done


def _what_to_do(said: SlackSaid, name: str) -> str:
    match said.code:
        case "name_taken":
            return "a private channel has this name: write /invite @moot there, rename it, or choose another prefix"
        case "restricted_action" | "user_is_restricted" | "no_permission":
            return f"only some people may make channels: make #{name} by hand, as a public channel"
        case _:
            return str(trouble(said, where=f"#{name}"))


async def _patiently(call: Callable[[], Awaitable[Answer]]) -> Answer:
    """Call again after the pauses that Slack asks for, as long as they are short."""
    for _ in range(MOST_PAUSES):
        try:
            return await call()
        except RateLimited as exc:
            if exc.retry_after_s > LONGEST_PAUSE_S:
                raise
            await asyncio.sleep(exc.retry_after_s)
    return await call()
