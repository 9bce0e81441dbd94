"""A chat platform that misbehaves by a seeded plan, and whose memory survives `kill -9` of the gateway.

What the platform knows stands in an SQLite file: every post that it took (a nonce posted twice stands there
twice, to be counted), what people did, and which of it was acknowledged. The plan goes on where it was when a
new process takes over. `FakePlatform` is the surface in the gateway; `PlatformFile` is the test's view.
"""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from moot.channels.outbox.pacing import Budget, Pace
from moot.channels.surface import (
    ActReply,
    Capabilities,
    InboundAct,
    Memory,
    PlatformMessageId,
    Posting,
    PostRefused,
    RateLimited,
    Surface,
    SurfaceDown,
    TakeAct,
)

SCHEMA = """
CREATE TABLE IF NOT EXISTS posts (
    id INTEGER PRIMARY KEY, nonce TEXT, seq INTEGER, channel TEXT, thread TEXT, root TEXT, text TEXT,
    line TEXT
);
CREATE INDEX IF NOT EXISTS posts_nonce ON posts (nonce);
CREATE TABLE IF NOT EXISTS acts (
    id INTEGER PRIMARY KEY, act TEXT NOT NULL, deliveries INTEGER DEFAULT 0, reply TEXT
);
CREATE TABLE IF NOT EXISTS calls (n INTEGER);
CREATE TABLE IF NOT EXISTS switches (name TEXT PRIMARY KEY, value TEXT);
"""


class Post(NamedTuple):
    """A message as the platform shows it."""

    id: int
    nonce: str
    seq: int
    channel: str
    thread: str | None
    root: str | None
    text: str
    line: str


@dataclass(frozen=True)
class Plan:
    """How the platform misbehaves; shares are probabilities per call."""

    seed: int = 0
    delay_s: float = 0.0
    drop_before: float = 0.0
    """The connection breaks before the platform took the post."""
    drop_after: float = 0.0
    """It breaks after: the caller cannot know."""
    rate_limit: float = 0.0
    retry_after_s: float = 0.005
    refuse: float = 0.0
    crash: float = 0.0
    """The surface itself raises something nobody expects."""
    duplicate: float = 0.0
    """An act is delivered more than once."""
    reorder: bool = False
    poll_s: float = 0.005


class PlatformFile:
    """The platform's memory."""

    def __init__(self, path: Path | str) -> None:
        self.db = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.executescript(SCHEMA)

    def close(self) -> None:
        self.db.close()

    def posts(self, channel: str | None = None) -> list[Post]:
        """Return every post in the order in which the platform took it."""
        rows = self.db.execute("SELECT * FROM posts WHERE ?1 IS NULL OR channel = ?1 ORDER BY id", (channel,))
        return [Post(*row) for row in rows]

    def seqs(self, channel: str | None = None) -> list[int]:
        return [post.seq for post in self.posts(channel)]

    def person_does(self, kind: str, channel: str = "#admin", user: str = "ana", **fields: Any) -> str:
        """Let a person do something; returns the platform's id of it. `reply_to` is a platform message id."""
        reply_to = fields.pop("reply_to", None)
        body = {"kind": kind, "channel": channel, "user_id": user, "fields": fields, "reply_to": reply_to}
        return str(self.db.execute("INSERT INTO acts (act) VALUES (?)", (json.dumps(body),)).lastrowid)

    def reply_to(self, act_id: str) -> ActReply | None:
        """Return what the person was told, None while nothing was."""
        row = self.db.execute("SELECT reply FROM acts WHERE id = ?", (int(act_id),)).fetchone()
        return None if row is None or row[0] is None else ActReply(**json.loads(row[0]))

    def deliveries(self) -> int:
        return int(self.db.execute("SELECT coalesce(sum(deliveries), 0) FROM acts").fetchone()[0])

    def switch(self, name: str, value: str) -> None:
        """Flip a switch in the running platform: `down` 1/0, `limited` 1/0, `crash` 1/0."""
        self.db.execute("INSERT OR REPLACE INTO switches VALUES (?, ?)", (name, value))

    def is_on(self, name: str) -> bool:
        row = self.db.execute("SELECT value FROM switches WHERE name = ?", (name,)).fetchone()
        return row is not None and row[0] == "1"

    def next_call(self) -> int:
        return int(self.db.execute("INSERT INTO calls VALUES (0)").lastrowid or 0)


class FakePlatform(Surface):
    """The platform's client, as a surface."""

    def __init__(
        self,
        *,
        path: str,
        name: str = "fake",
        supports_nonce: bool = True,
        plan: dict[str, Any] | None = None,
        pace: dict[str, Any] | None = None,
    ) -> None:
        """`pace` as `Pace` takes it, budgets as [per_s, burst]."""
        self.name = name
        if pace is not None:
            budgets = {
                key: Budget(*pace[key]) for key in ("channel", "everywhere") if pace.get(key) is not None
            }
            self.pace = Pace(**{**pace, **budgets})
        self.capabilities = Capabilities(supports_nonce=supports_nonce)
        self.plan = Plan(**(plan or {}))
        self.file = PlatformFile(path)
        self._delivering: asyncio.Task[None] | None = None
        self._handlers: set[asyncio.Task[None]] = set()

    async def start(self, inbound: TakeAct, memory: Memory) -> None:
        if self.file.is_on("down"):
            raise SurfaceDown("the platform is down", maybe_posted=False)
        self._delivering = asyncio.create_task(self._deliver(inbound))

    async def post(self, item: Posting) -> PlatformMessageId:
        chance = self._chance()
        if self.plan.delay_s:
            await asyncio.sleep(chance.random() * self.plan.delay_s)
        self._mishap(chance)
        if chance.random() < self.plan.refuse or self.file.is_on(f"refuse {item.seq}"):
            raise PostRefused("the platform does not like it")
        if self.file.is_on(f"crash {item.seq}"):
            raise LookupError("a bug in the surface")
        row = self.file.db.execute(
            "INSERT INTO posts (nonce, seq, channel, thread, root, text, line) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                item.nonce, item.seq, item.channel, item.thread, item.root,
                item.rendering.sentence, item.envelope.line,
            ),
        )  # fmt: skip
        if self.plan.delay_s:
            await asyncio.sleep(chance.random() * self.plan.delay_s)
        if chance.random() < self.plan.drop_after:
            raise SurfaceDown("the connection broke after the post")
        return PlatformMessageId(str(row.lastrowid))

    async def find(self, item: Posting) -> PlatformMessageId | None:
        if not self.capabilities.supports_nonce:
            return None
        self._mishap(self._chance())
        row = self.file.db.execute("SELECT id FROM posts WHERE nonce = ? LIMIT 1", (item.nonce,)).fetchone()
        return None if row is None else PlatformMessageId(str(row[0]))

    async def watch(self) -> None:
        while not self.file.is_on("crash"):
            await asyncio.sleep(self.plan.poll_s)
        self.file.switch("crash", "0")
        raise LookupError("a bug in the surface")

    async def close(self) -> None:
        tasks = [task for task in (self._delivering, *self._handlers) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.file.close()

    def _chance(self) -> random.Random:
        return random.Random(f"{self.plan.seed}/{self.file.next_call()}")

    def _mishap(self, chance: random.Random) -> None:
        if self.file.is_on("down"):
            raise SurfaceDown("the platform is down", maybe_posted=False)
        if self.file.is_on("limited") or chance.random() < self.plan.rate_limit:
            raise RateLimited(self.plan.retry_after_s, everywhere=chance.random() < 0.2)
        if chance.random() < self.plan.drop_before:
            raise SurfaceDown("the connection broke before the post")
        if chance.random() < self.plan.crash:
            raise LookupError("a bug in the surface")

    async def _deliver(self, inbound: TakeAct) -> None:
        # As platforms do: what was not acknowledged comes again, to this process or to the next one.
        delivered: set[int] = set()
        while True:
            rows = self.file.db.execute("SELECT id, act FROM acts WHERE reply IS NULL ORDER BY id").fetchall()
            due = [row for row in rows if row[0] not in delivered]
            chance = self._chance() if due else random.Random(0)
            due += [row for row in due if chance.random() < self.plan.duplicate]
            if self.plan.reorder:
                chance.shuffle(due)
            for act_id, text in due:
                delivered.add(act_id)
                task = asyncio.create_task(self._hand_in(inbound, act_id, json.loads(text)))
                self._handlers.add(task)
                task.add_done_callback(self._handlers.discard)
            await asyncio.sleep(self.plan.poll_s)

    async def _hand_in(self, inbound: TakeAct, act_id: int, raw: dict[str, Any]) -> None:
        self.file.db.execute("UPDATE acts SET deliveries = deliveries + 1 WHERE id = ?", (act_id,))
        reply_to = raw.pop("reply_to")
        act = InboundAct(
            platform=self.name,
            user_name=raw["user_id"].capitalize(),
            platform_message_id=str(act_id),
            reply_to=None if reply_to is None else PlatformMessageId(reply_to),
            **raw,
        )
        reply = await inbound(act)
        with suppress(sqlite3.ProgrammingError):
            self.file.db.execute(
                "UPDATE acts SET reply = ? WHERE id = ?", (json.dumps(asdict(reply)), act_id)
            )
