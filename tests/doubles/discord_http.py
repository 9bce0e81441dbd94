"""The HTTP side of the Discord double: the table of routes, who may call, rate limits, faults, the record of calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.doubles import discord_hooks as hooks
from tests.doubles import discord_interactions as interactions
from tests.doubles import discord_message_routes as message_routes
from tests.doubles import discord_routes as routes
from tests.doubles.discord_buckets import Buckets
from tests.doubles.discord_errors import Refusal, answer
from tests.doubles.discord_faults import Faults
from tests.doubles.discord_limits import REQUEST_BYTES
from tests.doubles.discord_state import World

Handler = Callable[[World, routes.Call], Any]
BASE = "/api/v10"
CHANNEL, HOOK = "/channels/{channel_id}", "/webhooks/{webhook_id}"
MESSAGE, APP = CHANNEL + "/messages/{message_id}", "/applications/{application_id}"
HOOKED = HOOK + "/{webhook_token}"

WITH_TOKEN: dict[str, Handler] = {
    "GET /users/@me": routes.me,
    "GET /users/@me/guilds": routes.my_guilds,
    "POST /users/@me/channels": routes.open_direct,
    "GET /users/{user_id}": routes.user,
    "GET /oauth2/applications/@me": routes.application,
    "GET /applications/@me": routes.application,
    f"GET {APP}/emojis": routes.emojis,
    f"POST {APP}/emojis": routes.add_emoji,
    f"GET {APP}/emojis/{{emoji_id}}": routes.emoji,
    f"DELETE {APP}/emojis/{{emoji_id}}": routes.remove_emoji,
    f"GET {APP}/commands": interactions.commands,
    f"PUT {APP}/commands": interactions.overwrite_commands,
    f"GET {APP}/guilds/{{guild_id}}/commands": interactions.commands,
    f"PUT {APP}/guilds/{{guild_id}}/commands": interactions.overwrite_commands,
    "GET /guilds/{guild_id}": routes.guild,
    "GET /guilds/{guild_id}/channels": routes.guild_channels,
    "POST /guilds/{guild_id}/channels": routes.make_channel,
    "GET /guilds/{guild_id}/roles": routes.guild_roles,
    "GET /guilds/{guild_id}/members/{user_id}": routes.guild_member,
    "GET /guilds/{guild_id}/threads/active": routes.active_threads,
    "GET /guilds/{guild_id}/webhooks": hooks.guild_hooks,
    f"GET {CHANNEL}": routes.channel,
    f"PATCH {CHANNEL}": routes.change_channel,
    f"DELETE {CHANNEL}": routes.remove_channel,
    f"PUT {CHANNEL}/permissions/{{overwrite_id}}": routes.set_overwrite,
    f"GET {CHANNEL}/messages": message_routes.messages,
    f"POST {CHANNEL}/messages": message_routes.post,
    f"POST {CHANNEL}/typing": message_routes.nothing,
    f"GET {MESSAGE}": message_routes.message,
    f"PATCH {MESSAGE}": message_routes.edit,
    f"DELETE {MESSAGE}": message_routes.remove,
    f"PUT {MESSAGE}/reactions/{{emoji}}/@me": message_routes.react,
    f"DELETE {MESSAGE}/reactions/{{emoji}}/@me": message_routes.unreact,
    f"POST {MESSAGE}/threads": message_routes.thread_from_message,
    f"POST {CHANNEL}/threads": message_routes.thread_alone,
    f"GET {CHANNEL}/threads/archived/public": message_routes.archived_threads,
    f"PUT {CHANNEL}/thread-members/@me": message_routes.nothing,
    f"GET {CHANNEL}/webhooks": hooks.channel_hooks,
    f"POST {CHANNEL}/webhooks": hooks.make_hook,
    f"GET {HOOK}": hooks.hook,
    f"PATCH {HOOK}": hooks.change_hook,
    f"DELETE {HOOK}": hooks.remove_hook,
}
BY_ADDRESS: dict[str, Handler] = {
    f"GET {HOOKED}": hooks.hook,
    f"PATCH {HOOKED}": hooks.change_hook,
    f"DELETE {HOOKED}": hooks.remove_hook,
    f"POST {HOOKED}": hooks.execute,
    f"GET {HOOKED}/messages/{{message_id}}": hooks.hook_message,
    f"PATCH {HOOKED}/messages/{{message_id}}": hooks.edit_hook_message,
    f"DELETE {HOOKED}/messages/{{message_id}}": hooks.remove_hook_message,
    "POST /interactions/{interaction_id}/{token}/callback": interactions.callback,
}
"""Routes whose address itself is the secret."""


@dataclass(frozen=True)
class Request:
    """One request that came in; `status` is None where the connection was cut."""

    method: str
    path: str
    status: int | None
    at: float


class Http:
    """Answers requests; everything happens on the server's loop, one piece of state at a time."""

    def __init__(self, world: World, faults: Faults, buckets: Buckets) -> None:
        self.world = world
        self.faults = faults
        self.buckets = buckets
        self.calls: list[Request] = []
        self.base = ""

    def add_routes(self, app: web.Application) -> None:
        for table, has_token in ((WITH_TOKEN, True), (BY_ADDRESS, False)):
            for route, handler in table.items():
                method, _, path = route.partition(" ")
                app.router.add_route(method, BASE + path, self._serve(handler, path, has_token))
        app.router.add_get(BASE + "/gateway/bot", self._serve(self._gateway, "/gateway/bot", True))
        app.router.add_get("/attachments/{tail:.*}", self._file)
        app.router.add_get("/emojis/{name}", self._image)
        app.router.add_route("*", BASE + "/{tail:.*}", self._unknown)

    def _serve(self, handler: Handler, template: str, has_token: bool) -> Callable[[web.Request], Any]:
        async def serve(request: web.Request) -> web.StreamResponse:
            path = request.path.removeprefix(BASE)
            fault = self.faults.take(f"{request.method} {path}")
            response = None
            if fault is not None and fault.kind == "delay":
                await asyncio.sleep(fault.seconds)
            elif fault is not None and fault.kind == "drop_before":
                await request.read()
                return self._cut(request, path)
            elif fault is not None and fault.kind in ("status", "garbage"):
                await request.read()
                response = _as_told(fault.code, fault.body, fault.headers)
            if response is None:
                response = await self._answered(request, handler, template, has_token)
            if fault is not None and fault.kind == "drop_after":
                return self._cut(request, path)
            self.calls.append(Request(request.method, path, response.status, self.world.clock.now()))
            return response

        return serve

    def _cut(self, request: web.Request, path: str) -> web.Response:
        self.calls.append(Request(request.method, path, None, self.world.clock.now()))
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    async def _answered(
        self, request: web.Request, handler: Handler, template: str, has_token: bool
    ) -> web.Response:
        if has_token and request.headers.get("Authorization") != f"Bot {self.world.token}":
            return answer({"message": "401: Unauthorized", "code": 0}, 401)
        path = {key: str(value) for key, value in request.match_info.items()}
        headers, refused = self.buckets.take(request.method, template, path, has_token=has_token)
        if refused is not None:
            return refused
        try:
            body, files = await _read(request)
            call = routes.Call(path=path, query=dict(request.query), body=body, files=files, base=self.base)
            result = handler(self.world, call)
        except Refusal as refusal:
            return answer(refusal.body, refusal.status, headers)
        if isinstance(result, tuple):
            return answer(_clean(result[1]), result[0], headers)
        return answer(_clean(result), 200, headers)

    def _gateway(self, world: World, call: routes.Call) -> Any:
        start = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        return {
            "url": self.base.replace("http", "ws", 1) + "/gateway",
            "shards": 1,
            "session_start_limit": start,
        }

    async def _file(self, request: web.Request) -> web.Response:
        kind, body = self.world.files.get(request.path, ("", None))
        self.calls.append(Request("GET", request.path, 404 if body is None else 200, self.world.clock.now()))
        if body is None:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=body, content_type=kind)

    async def _image(self, request: web.Request) -> web.Response:
        body = self.world.images.get(request.match_info["name"].partition(".")[0])
        if body is None:
            return web.Response(status=404)
        return web.Response(body=body, content_type="image/png")

    async def _unknown(self, request: web.Request) -> web.Response:
        path = request.path.removeprefix(BASE)
        self.calls.append(Request(request.method, path, 404, self.world.clock.now()))
        return answer({"message": "404: Not Found", "code": 0}, 404)


def _as_told(code: int, body: Any, headers: dict[str, str]) -> web.Response:
    if isinstance(body, str):
        bare = {key: value for key, value in headers.items() if value}
        return web.Response(body=body.encode(), status=code, headers={"Content-Type": "text/html", **bare})
    response = answer(body, code, headers)
    if headers.get("Via") == "":
        del response.headers["Via"]
    return response


def _clean(value: Any) -> Any:
    """Leave out what only the double knows of a message."""
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items() if not key.startswith("_")}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


async def _read(request: web.Request) -> tuple[Any, dict[str, tuple[str, bytes]]]:
    files: dict[str, tuple[str, bytes]] = {}
    try:
        if not request.content_type.startswith("multipart/"):
            raw = await request.read()
            return (json.loads(raw) if raw else {}), files
        body: Any = {}
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                files[name] = (value.filename, value.file.read())
            elif name == "payload_json":
                body = json.loads(value if isinstance(value, str) else bytes(value))
        return body, files
    except web.HTTPRequestEntityTooLarge:
        # Heard to the end: a client that is cut off while it sends closes a connection that it cannot empty.
        async for _ in request.content.iter_any():
            pass
        raise Refusal(40005) from None
    except ValueError:
        raise Refusal(50109) from None


LARGEST_REQUEST = REQUEST_BYTES + 1024**2
