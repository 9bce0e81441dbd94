"""What tests hold of the Discord double: the guild, the people, and trouble; any thread may call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tests.doubles.discord_faults import Faults
from tests.doubles.discord_gateway import INVALID_SESSION, RECONNECT, Gateway
from tests.doubles.discord_hooks import add_hook
from tests.doubles.discord_http import BASE, Http, Request
from tests.doubles.discord_people import Message, People, Reply
from tests.doubles.discord_rights import PERMISSIONS
from tests.doubles.discord_state import CATEGORY, TEXT, THREADS, Clock, World

T = TypeVar("T")
Json = dict[str, Any]


class Handle:
    """What every part of the handle needs."""

    token: str
    clock: Clock
    faults: Faults
    world: World
    port: int
    _gateway: Gateway
    _http: Http
    _people: People

    def _call(self, work: Callable[..., T], *args: Any, **more: Any) -> T:
        raise NotImplementedError


class GuildHandle(Handle):
    """Addresses, channels, webhooks, permissions, the developer portal."""

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}{BASE}"

    @property
    def gateway(self) -> str:
        return f"ws://127.0.0.1:{self.port}/gateway"

    @property
    def cdn(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def guild_id(self) -> str:
        return self.world.guild_id

    @property
    def application_id(self) -> str:
        return self.world.app_id

    def user_id(self, name: str) -> str:
        """Return the id of a person, who joins the guild when new."""
        found = self._call(self.world.add_user, name)
        return str(found["id"])

    # the guild

    def add_channel(self, name: str, category: str | None = None) -> str:
        """Add a text channel, in a category (made when there is none of that name); returns its id."""

        def add() -> str:
            parent = None
            if category is not None:
                known = [
                    c for c in self.world.channels.values() if c["type"] == CATEGORY and c["name"] == category
                ]
                parent = (known[0] if known else self.world.add_channel(category, kind=CATEGORY))["id"]
            return str(self.world.add_channel(name.removeprefix("#"), kind=TEXT, parent=parent)["id"])

        return self._call(add)

    def channel_id(self, name: str) -> str:
        found = self._call(self._people.channel, name)
        return str(found["id"])

    def channels(self) -> list[Json]:
        return self._call(
            lambda: [dict(item) for item in self.world.channels.values() if item["type"] not in THREADS]
        )

    def threads(self, channel: str) -> list[Json]:
        top = self.channel_id(channel)
        return self._call(
            lambda: [dict(item) for item in self.world.channels.values() if item["parent_id"] == top]
        )

    def delete_channel(self, name_or_id: str) -> None:
        self._call(lambda: self.world.remove_channel(self._people.channel(name_or_id)["id"]))

    def rename_channel(self, name_or_id: str, name: str) -> None:
        def rename() -> None:
            it = self._people.channel(name_or_id)
            it["name"] = name
            self.world.tell("CHANNEL_UPDATE", it, 1, it["id"])

        self._call(rename)

    def archive(self, thread_id: str, *, locked: bool = False) -> None:
        self._call(lambda: self.world.set_archived(self.world.channels[thread_id], True, locked=locked))

    def archived_stays(self, value: bool = True) -> None:
        """Let posts into an archived thread fail with 50083 instead of reopening it."""
        self.world.archived_stays = value

    def webhooks(self, channel: str | None = None) -> list[Json]:
        where = self.channel_id(channel) if channel is not None else None
        return self._call(
            lambda: [dict(h) for h in self.world.webhooks.values() if where in (None, h["channel_id"])]
        )

    def add_webhook(self, channel: str, name: str, *, user: str = "owner") -> Json:
        """Let a person make a webhook by hand; the application does not own it."""
        where = self.channel_id(channel)
        return self._call(lambda: add_hook(self.world, where, name, self.world.add_user(user), app_id=None))

    def delete_webhook(self, id: str) -> None:
        self._call(lambda: self.world.webhooks.pop(id))

    def deny(self, permission: str, channel: str | None = None) -> None:
        """Take a permission from the bot, in one channel or everywhere."""
        self._permit(PERMISSIONS[permission], channel, is_allowed=False)

    def allow(self, permission: str, channel: str | None = None) -> None:
        self._permit(PERMISSIONS[permission], channel, is_allowed=True)

    def _permit(self, bit: int, channel: str | None, *, is_allowed: bool) -> None:
        def change() -> None:
            world = self.world
            if channel is None:
                for role in world.roles.values():
                    bits = int(role["permissions"])
                    role["permissions"] = str(bits | bit if is_allowed else bits & ~bit)
                    told = {"guild_id": world.guild_id, "role": role}
                    world.tell("GUILD_ROLE_UPDATE", told, 1, None)
                for one in world.channels.values():
                    if bit == PERMISSIONS["VIEW_CHANNEL"] and one["type"] not in THREADS:
                        world.tell("CHANNEL_UPDATE", one, 1, one["id"])
                return
            it = self._people.channel(channel)
            own = next((o for o in it["permission_overwrites"] if o["id"] == world.bot["id"]), None)
            if own is None:
                own = {"id": world.bot["id"], "type": 1, "allow": "0", "deny": "0"}
                it["permission_overwrites"].append(own)
            own["allow"] = str(int(own["allow"]) | bit if is_allowed else int(own["allow"]) & ~bit)
            own["deny"] = str(int(own["deny"]) & ~bit if is_allowed else int(own["deny"]) | bit)
            world.tell("CHANNEL_UPDATE", it, 1, it["id"])

        self._call(change)

    def message_content(self, is_on: bool) -> None:
        """Switch the privileged intent of the application in the developer portal."""
        flag = 1 << 19
        self.world.app_flags = self.world.app_flags | flag if is_on else self.world.app_flags & ~flag

    def revoke_token(self, new: str) -> None:
        """Give the bot another token, as somebody in the developer portal does."""
        self.token = self.world.token = new
        self._call(self._gateway.close_all, 4004)

    def kick_bot(self) -> None:
        def kick() -> None:
            self.world.tell("GUILD_DELETE", {"id": self.guild_id}, 1, None)
            self.world.is_member = False

        self._call(kick)


class PeopleHandle(Handle):
    """People and what they see."""

    def person_writes(
        self,
        user: str,
        channel: str,
        text: str,
        reply_to: str | None = None,
        thread: str | None = None,
        files: dict[str, bytes] | None = None,
    ) -> str:
        """Let a person write in a channel, or in one of its threads by id; returns the message's id."""
        return self._call(self._people.writes, user, channel, text, reply_to, thread, files)

    def person_edits(self, id: str, text: str) -> None:
        self._call(self._people.edits, id, text)

    def link_preview(self, id: str) -> None:
        """Add a preview to a message, as Discord does by itself; nobody edited anything."""
        self._call(self._people.unfurls, id)

    def person_deletes(self, id: str) -> None:
        self._call(self._people.deletes, id)

    def person_clicks(self, user: str, message_id: str, button: str) -> str:
        """Press a button by its custom_id or label; returns the interaction's id."""
        return self._call(self._people.clicks, user, message_id, button)

    def person_commands(self, user: str, channel: str, name: str, /, **options: Any) -> str:
        """Use a slash command that the bot has registered; returns the interaction's id."""
        return self._call(self._people.commands, user, channel, name, options)

    def messages(self, channel: str | None = None) -> list[Message]:
        """Return what stands in a channel and its threads, oldest first; without a channel, everything."""
        return self._call(self._people.messages, channel)

    def replies(self, id: str) -> list[Reply]:
        return self._call(self._people.replies, id)

    def acked_in_time(self, interaction_id: str) -> bool:
        return self.world.interactions[interaction_id].is_answered

    @property
    def formatted(self) -> list[tuple[str, str]]:
        return self._call(self._people.formatted)

    @property
    def pings(self) -> list[str]:
        return list(self.world.pings)

    @property
    def calls(self) -> list[Request]:
        return list(self._http.calls)


class TroubleHandle(Handle):
    """Trouble of the gateway and the clock; that of single requests and events is in `faults`."""

    def advance(self, seconds: float) -> None:
        """Push the server's clock forward."""
        self.clock.ahead_s += seconds

    @property
    def connections(self) -> int:
        """How many clients are past IDENTIFY or RESUME just now."""
        return self._call(lambda: sum(link.session is not None for link in self._gateway.links))

    @property
    def gateway_log(self) -> list[tuple[int, Any]]:
        """Every payload that clients sent, as (op, d)."""
        return list(self._gateway.log)

    def zombie(self) -> None:
        """Answer no heartbeat and send nothing more over the connections that stand; new ones are well."""

        def numb() -> None:
            for link in self._gateway.links:
                link.is_zombie = True

        self._call(numb)

    def refuse_resumes(self, count: int = 1) -> None:
        self._gateway.refuse_resumes = count

    def ask_reconnect(self) -> None:
        """Send RECONNECT (op 7)."""
        self._call(self._gateway.close_all, None, op=RECONNECT)

    def invalidate(self, *, resumable: bool) -> None:
        """Send an invalid session (op 9)."""
        if not resumable:
            self._call(self._gateway.sessions.clear)
        self._call(self._gateway.close_all, None, op=INVALID_SESSION, d=resumable)

    def close_gateway(self, code: int = 4000) -> None:
        """Close every gateway connection with a code; 4007 and 4009 end the sessions too."""
        if code in (4007, 4009):
            self._call(self._gateway.sessions.clear)
        self._call(self._gateway.close_all, code)
