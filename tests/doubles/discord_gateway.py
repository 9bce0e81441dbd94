"""The gateway of the Discord double: sessions with numbered events, RESUME with replay, and every way to refuse.

A session outlives its connection: what happens meanwhile is kept and replayed, until it is invalidated. One
queue a connection keeps the order; faults act where an event enters it.
"""

from __future__ import annotations

import asyncio
import json
import uuid
import zlib
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.doubles.discord_faults import Faults
from tests.doubles.discord_state import World

Json = dict[str, Any]

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, RESUME, RECONNECT = 0, 1, 2, 3, 6, 7
MEMBERS, INVALID_SESSION, HELLO, ACK = 8, 9, 10, 11
ALL_INTENTS = (1 << 26) - 1
PRIVILEGED = {1 << 1: 1 << 14 | 1 << 15, 1 << 8: 1 << 12 | 1 << 13, 1 << 15: 1 << 18 | 1 << 19}
"""Intent → the application's flags, one of which must be on."""
READ_CONTENT = 1 << 15
MOST_PAYLOADS = 120
"""A minute and connection; more is 4008."""


@dataclass
class Session:
    """What the gateway remembers of one client."""

    id: str
    intents: int
    seq: int = 0
    sent: list[Json] = field(default_factory=list)
    link: Link | None = None
    held: Json | None = None


class Link:
    """One connection: whatever is put goes out in order, compressed as the client asked."""

    def __init__(self, socket: web.WebSocketResponse, compress: str | None) -> None:
        self.socket = socket
        self.session: Session | None = None
        self.is_ending = False
        self.is_zombie = False
        self.heard = 0
        self.out: asyncio.Queue[Json | float | int] = asyncio.Queue()
        self._zlib = zlib.compressobj() if compress == "zlib-stream" else None
        self.heard_at = asyncio.get_running_loop().time()

    def put(self, op: int, d: Any = None, *, s: int | None = None, t: str | None = None) -> None:
        self.out.put_nowait({"op": op, "d": d, "s": s, "t": t})

    async def pump(self) -> None:
        while True:
            item = await self.out.get()
            if isinstance(item, float):
                await asyncio.sleep(item)
            elif isinstance(item, int):
                self.is_ending = True
                await self.socket.close(code=item)
                return
            else:
                await self.send(item)

    async def send(self, payload: Json) -> None:
        text = json.dumps(payload)
        try:
            if self._zlib is None:
                await self.socket.send_str(text)
            else:
                packed = self._zlib.compress(text.encode()) + self._zlib.flush(zlib.Z_SYNC_FLUSH)
                await self.socket.send_bytes(packed)
        except ConnectionError:
            return


class Gateway:
    """All sessions and connections.

    Attributes:
        hangs_up_first: How many of the next connections are closed before the server says hello.
        refuse_resumes: How many of the next RESUMEs are answered with an invalid session.
        log: Every payload a client sent, by operation, to be looked at.
    """

    def __init__(self, world: World, faults: Faults, heartbeat_s: float) -> None:
        self.world = world
        self.faults = faults
        self.heartbeat_s = heartbeat_s
        self.sessions: dict[str, Session] = {}
        self.links: set[Link] = set()
        self.refuse_resumes = 0
        self.hangs_up_first = 0
        self.log: list[tuple[int, Any]] = []
        self.resume_url = ""
        world.tell = self.tell

    # outwards

    def tell(self, name: str, data: Json, intent: int, channel_id: str | None) -> None:
        """Number an event for every session that asked for it, and send it to those connected."""
        world = self.world
        is_known = channel_id is not None and channel_id in world.channels
        if is_known and name.startswith("CHANNEL_"):
            data = world.visible(data)
        elif is_known and not world.may("VIEW_CHANNEL", channel_id):
            return
        for session in self.sessions.values():
            if intent and not session.intents & intent:
                continue
            shown = data
            if name in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
                shown = world.seen(data, has_content=bool(session.intents & READ_CONTENT))
            self._dispatch(session, name, json.loads(json.dumps(shown)))

    def _dispatch(self, session: Session, name: str, data: Json) -> None:
        fault = self.faults.take(f"GATEWAY {name}")
        kind = fault.kind if fault is not None else None
        if kind == "lose":
            return
        if kind == "reorder" and session.held is None:
            session.held = {"t": name, "d": data}
            return
        if kind == "delay" and session.link is not None and fault is not None:
            session.link.out.put_nowait(fault.seconds)
        if kind == "garbage_event":
            data = {"id": data.get("id", "0"), "guild_id": self.world.guild_id}
        for _ in range(2 if kind == "duplicate" else 1):
            self._number(session, name, data)
        if session.held is not None:
            held, session.held = session.held, None
            self._number(session, held["t"], held["d"])

    def _number(self, session: Session, name: str, data: Json) -> None:
        session.seq += 1
        payload = {"op": DISPATCH, "t": name, "s": session.seq, "d": data}
        session.sent.append(payload)
        if session.link is not None and not session.link.is_zombie:
            session.link.out.put_nowait(payload)

    def close_all(self, code: int | None, *, op: int | None = None, d: Any = None) -> None:
        """Send an operation to every connection, or close it with a code."""
        for link in self.links:
            if op is not None:
                link.put(op, d)
            if code is not None:
                link.out.put_nowait(code)

    # inwards

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        link = Link(socket, request.query.get("compress"))
        self.links.add(link)
        pump = asyncio.create_task(link.pump())
        watch = asyncio.create_task(self._watch(link))
        try:
            if self.hangs_up_first:
                self.hangs_up_first -= 1
                await socket.close(code=1001)
                return socket
            link.put(HELLO, {"heartbeat_interval": int(self.heartbeat_s * 1000)})
            async for message in socket:
                link.heard += 1
                if message.type is not WSMsgType.TEXT or len(message.data) > 4096:
                    link.out.put_nowait(4002)
                    continue
                try:
                    payload = json.loads(message.data)
                    op, data = payload["op"], payload.get("d")
                except (ValueError, KeyError, TypeError):
                    link.out.put_nowait(4002)
                    continue
                self.log.append((op, data))
                if link.heard > MOST_PAYLOADS:
                    link.out.put_nowait(4008)
                    continue
                self._take(link, op, data)
        finally:
            is_goodbye = socket.close_code in (1000, 1001) and not link.is_ending and not self.is_stopping
            if link.session is not None and link.session.link is link:
                link.session.link = None
                if is_goodbye:
                    self.sessions.pop(link.session.id, None)
            self.links.discard(link)
            watch.cancel()
            if link.is_ending:
                await pump
            pump.cancel()
        return socket

    is_stopping = False

    def _take(self, link: Link, op: int, data: Any) -> None:
        if op == HEARTBEAT:
            link.heard_at = asyncio.get_running_loop().time()
            if not link.is_zombie:
                link.put(ACK)
        elif op == IDENTIFY:
            self._identify(link, data)
        elif op == RESUME:
            self._resume(link, data)
        elif link.session is None:
            link.out.put_nowait(4003)
        elif op == MEMBERS:
            self._members(link.session, data)
        elif op not in (PRESENCE, 4):
            link.out.put_nowait(4001)

    def _identify(self, link: Link, data: Json) -> None:
        world = self.world
        if link.session is not None:
            link.out.put_nowait(4005)
            return
        if data.get("token") != world.token:
            link.out.put_nowait(4004)
            return
        intents = data.get("intents")
        if not isinstance(intents, int) or intents & ~ALL_INTENTS:
            link.out.put_nowait(4013)
            return
        if any(intents & intent and not world.app_flags & flags for intent, flags in PRIVILEGED.items()):
            link.out.put_nowait(4014)
            return
        session = Session(uuid.uuid4().hex, intents, link=link)
        self.sessions[session.id] = link.session = session
        guilds = [{"id": world.guild_id, "unavailable": True}] if world.is_member else []
        ready = {
            "v": 10, "user": world.bot, "guilds": guilds, "session_id": session.id, "private_channels": [],
            "resume_gateway_url": self.resume_url, "application": {"id": world.app_id, "flags": world.app_flags},
            "session_type": "normal", "shard": [0, 1], "presences": [], "relationships": [], "user_settings": {},
        }  # fmt: skip
        self._number(session, "READY", ready)
        if world.is_member:
            self._number(session, "GUILD_CREATE", json.loads(json.dumps(world.guild(is_full=True))))

    def _resume(self, link: Link, data: Json) -> None:
        session = self.sessions.get(data.get("session_id") or "")
        if data.get("token") != self.world.token:
            link.out.put_nowait(4004)
            return
        if session is None or self.refuse_resumes > 0:
            self.refuse_resumes = max(self.refuse_resumes - 1, 0)
            if session is not None:
                self.sessions.pop(session.id)
            link.put(INVALID_SESSION, False)
            return
        if (data.get("seq") or 0) > session.seq:
            link.out.put_nowait(4007)
            return
        if session.link is not None:
            session.link.out.put_nowait(4000)
        session.link, link.session = link, session
        for payload in session.sent:
            if payload["s"] > (data.get("seq") or 0):
                link.out.put_nowait(payload)
        self._number(session, "RESUMED", {})

    def _members(self, session: Session, data: Json) -> None:
        members = [self.world.member(user) for user in self.world.users.values()]
        self._number(session, "GUILD_MEMBERS_CHUNK", {
            "guild_id": self.world.guild_id, "members": members, "chunk_index": 0, "chunk_count": 1,
            "not_found": [], "nonce": data.get("nonce"),
        })  # fmt: skip

    async def _watch(self, link: Link) -> None:
        # A client that sends no heartbeat for two intervals is cut off, as Discord does it.
        while True:
            await asyncio.sleep(min(self.heartbeat_s, 60.0))
            link.heard = 0
            if asyncio.get_running_loop().time() - link.heard_at > 2 * self.heartbeat_s + 5.0:
                link.out.put_nowait(4009)
