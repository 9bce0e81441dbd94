"""What a surface's outbox remembers, in one SQLite file per surface (K3, K24).

One row a mirrored message: `waiting`, then `intent` (about to be posted), then `done` with the platform's id,
or `refused`. The cursor says up to where the log was taken over. Acts of people wait here too, from their
delivery by the platform until the log's receipt.

An intent is on the disk before its message is posted, and with it all that was written before. So after a crash or a
power cut only what stands as an intent may have been posted: it is looked up first, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from moot.channels.outbox import queue as outbox_queue
from moot.channels.outbox.owned_file import OwnedFile
from moot.channels.outbox.pacing import Pace
from moot.channels.outbox.queue import Lane, NextUp, Waiting
from moot.channels.outbox.shared import SharedWrites
from moot.channels.surface import PlatformMessageId

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS logs (
    log INTEGER PRIMARY KEY, log_id TEXT NOT NULL UNIQUE,
    cursor INTEGER NOT NULL DEFAULT 0, rewinds INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS posts (
    log INTEGER NOT NULL, seq INTEGER NOT NULL, channel TEXT NOT NULL, case_id TEXT,
    envelope_id TEXT NOT NULL, type TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting',
    nonce TEXT, platform_id TEXT, crashes INTEGER NOT NULL DEFAULT 0, why TEXT, line TEXT,
    PRIMARY KEY (log, seq)
);
CREATE INDEX IF NOT EXISTS posts_open ON posts (log, channel, seq) WHERE state IN ('waiting', 'intent');
CREATE INDEX IF NOT EXISTS posts_open_type ON posts (log, channel, type, seq)
    WHERE state IN ('waiting', 'intent');
CREATE INDEX IF NOT EXISTS posts_open_case ON posts (log, channel, case_id, seq)
    WHERE state IN ('waiting', 'intent');
CREATE INDEX IF NOT EXISTS posts_case ON posts (log, case_id, seq) WHERE case_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS posts_envelope ON posts (log, envelope_id);
CREATE INDEX IF NOT EXISTS posts_platform ON posts (platform_id) WHERE platform_id IS NOT NULL;
CREATE TABLE IF NOT EXISTS roots (
    log INTEGER NOT NULL, channel TEXT NOT NULL, case_id TEXT NOT NULL, seq INTEGER NOT NULL,
    platform_id TEXT NOT NULL, PRIMARY KEY (log, channel, case_id)
);
CREATE TABLE IF NOT EXISTS acts (n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, draft TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS memory (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

_SETTLE: Final = "UPDATE posts SET state = ?, platform_id = ?, why = ?, line = NULL WHERE log = ? AND seq = ?"


class Mirrored(NamedTuple):
    """A message taken over from the log, to be posted."""

    seq: int
    channel: str
    case_id: str | None
    envelope_id: str
    type: str
    line: str


class OutboxStore:
    """The durable side of one outbox. Every method is one transaction, and harmless when done again.

    Raises:
        FileBusy: On `open`: another gateway owns the file.
        sqlite3.Error: The disk refuses; nothing of that transaction was stored.
    """

    def __init__(
        self, directory: Path, surface: str, log_id: str, shared: SharedWrites | None = None
    ) -> None:
        """Remember where; `open` does the work.

        Args:
            directory: The data directory.
            surface: Name of the surface: `outbox-<surface>.sqlite`.
            log_id: Which log is mirrored; another log starts at its beginning.
            shared: What gateways on other hosts wrote; None: there are none.
        """
        self.log_id = log_id
        self.cursor = 0
        self._file = OwnedFile(directory / f"outbox-{surface}.sqlite", shared)
        self._rewinds = 0
        self._log = 0

    async def open(self) -> None:
        """Take the file and read the cursor, or let the file go again (K25)."""
        await self._file.open(SCHEMA)
        try:
            await self._file.write(("INSERT OR IGNORE INTO logs (log_id) VALUES (?)", [(self.log_id,)]))
            sql = "SELECT log, cursor, rewinds FROM logs WHERE log_id = ?"
            ((self._log, self.cursor, self._rewinds),) = await self._file.query(sql, self.log_id)
        except BaseException:
            # Whoever is cancelled here has no store to close yet, and the lock would stay.
            await self.close()
            raise

    async def close(self) -> None:
        """Close the file and let it go; safe to call twice (K25)."""
        await self._file.close()

    def nonce(self, seq: int) -> str:
        """Return the nonce of a message; the same as long as the log was not cut and grown anew."""
        return f"{self._prefix()}{seq}"

    async def take(self, found: Sequence[Mirrored], cursor: int) -> None:
        """Put messages on the list and move the cursor, both or neither."""
        await self._file.write(
            (
                "INSERT OR IGNORE INTO posts (log, seq, channel, case_id, envelope_id, type, line)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(self._log, *item) for item in found],
            ),
            ("UPDATE logs SET cursor = ? WHERE log = ?", [(cursor, self._log)]),
        )
        self.cursor = cursor

    async def rewind(self, head: int) -> None:
        """Go back to the end of a log that lost its tail; what it grows anew gets new nonces.

        What was about to be posted keeps its old one: it may have arrived.
        """
        await self._file.write(
            ("DELETE FROM posts WHERE log = ? AND seq > ?", [(self._log, head)]),
            ("DELETE FROM roots WHERE log = ? AND seq > ?", [(self._log, head)]),
            ("UPDATE logs SET cursor = ?, rewinds = rewinds + 1 WHERE log = ?", [(head, self._log)]),
        )
        self.cursor = head
        self._rewinds += 1

    async def channels(self) -> list[str]:
        """Name the channels in which something waits."""
        sql = "SELECT DISTINCT channel FROM posts WHERE log = ? AND state IN ('waiting', 'intent')"
        return [row[0] for row in await self._file.query(sql, self._log)]

    async def is_empty(self, channel: str) -> bool:
        """Say whether nothing waits in a channel."""
        return not await self._file.run(lambda: outbox_queue.size(self._file.db, self._lane(channel), 1))

    async def interrupted(self, channel: str) -> list[list[Waiting]]:
        """Return what was about to be posted when the outbox stopped: as it was folded, the message itself first."""
        return await self._file.run(lambda: outbox_queue.interrupted(self._file.db, self._lane(channel)))

    async def next_up(self, channel: str, pace: Pace) -> NextUp:
        """Choose what one post says now; takes as long whatever waits."""
        return await self._file.run(lambda: outbox_queue.next_up(self._file.db, self._lane(channel), pace))

    async def intend(self, seqs: Sequence[int], nonce: str) -> None:
        """Write down that these are about to be posted as one; it is on the disk when this returns."""
        sql = "UPDATE posts SET state = 'intent', nonce = ? WHERE log = ? AND seq = ?"
        await self._file.write((sql, [(nonce, self._log, seq) for seq in seqs]))

    async def break_up(self, seqs: Sequence[int]) -> None:
        """Let messages that were folded go one by one, the first of them next; none of them is folded again.

        It is on the disk when this returns: the first keeps the nonce, and found by it would settle them all.
        """
        first, *rest = seqs
        await self._file.write(
            ("UPDATE posts SET crashes = 1 WHERE log = ? AND seq = ?", [(self._log, first)]),
            (
                "UPDATE posts SET state = 'waiting', nonce = NULL, crashes = 1 WHERE log = ? AND seq = ?",
                [(self._log, seq) for seq in rest],
            ),
        )

    async def done(self, seqs: Sequence[int], platform_id: PlatformMessageId) -> None:
        """Write down that the platform took them; what was posted first for a case is its root."""
        root = (
            "INSERT OR IGNORE INTO roots SELECT log, channel, case_id, seq, ? FROM posts"
            " WHERE log = ? AND seq = ? AND case_id IS NOT NULL"
        )
        rows = [("done", platform_id, None, self._log, seq) for seq in seqs]
        await self._file.write((_SETTLE, rows), (root, [(platform_id, self._log, seqs[0])]))

    async def refused(self, seqs: Sequence[int], why: str) -> None:
        """Write down that they will not be posted, and why."""
        await self._file.write((_SETTLE, [("refused", None, why, self._log, seq) for seq in seqs]))

    async def crashed(self, seqs: Sequence[int]) -> None:
        """Count a crash over these messages."""
        sql = "UPDATE posts SET crashes = crashes + 1 WHERE log = ? AND seq = ?"
        await self._file.write((sql, [(self._log, seq) for seq in seqs]))

    async def counts(self) -> dict[str, int]:
        """Count the messages by state."""
        sql = "SELECT state, count(*) FROM posts WHERE log = ? GROUP BY state"
        return {row[0]: row[1] for row in await self._file.query(sql, self._log)}

    async def root_of(self, channel: str, case_id: str) -> PlatformMessageId | None:
        """Return the platform's id of the first message posted for a case in a channel."""
        where = "channel = ? AND case_id = ?"
        return _as_id(await self._one("platform_id", where, channel, case_id, table="roots"))

    async def post_of(self, channel: str, envelope_id: str) -> PlatformMessageId | None:
        """Return the platform's id of an envelope."""
        return _as_id(await self._one("platform_id", "envelope_id = ? AND channel = ?", envelope_id, channel))

    async def case_of(self, platform_id: PlatformMessageId) -> str | None:
        """Return the case that a message on the platform belongs to."""
        return await self._one("case_id", "platform_id = ?", platform_id)

    async def channel_of(self, case_id: str) -> str | None:
        """Return the channel a case was opened in, as far as this surface mirrors it."""
        return await self._one("channel", "case_id = ? ORDER BY seq", case_id)

    async def opened_by(self, case_id: str) -> str | None:
        """Return the type of the message that a case began with, as far as this surface mirrors it."""
        return await self._one("type", "case_id = ? ORDER BY seq", case_id)

    async def get(self, key: str) -> str | None:
        """Return what the surface put under a key (`moot.channels.surface.Memory`)."""
        rows = await self._file.query("SELECT value FROM memory WHERE key = ?", key)
        return rows[0][0] if rows else None

    async def under(self, prefix: str) -> dict[str, str]:
        """Return the surface's texts whose keys begin so."""
        sql = "SELECT key, value FROM memory WHERE substr(key, 1, length(?1)) = ?1"
        return dict(await self._file.query(sql, prefix))

    async def put(self, key: str, value: str) -> None:
        """Keep a text of the surface."""
        await self._file.write(("INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)", [(key, value)]))

    async def keep_act(self, key: str, draft: str) -> None:
        """Keep a person's act until the log has it; the first one of a key counts."""
        await self._file.write(("INSERT OR IGNORE INTO acts (key, draft) VALUES (?, ?)", [(key, draft)]))

    async def drop_act(self, key: str) -> None:
        """Forget an act that the log answered for."""
        await self._file.write(("DELETE FROM acts WHERE key = ?", [(key,)]))

    async def count_acts(self) -> int:
        """Count the acts that wait."""
        return int((await self._file.query("SELECT count(*) FROM acts"))[0][0])

    async def acts(self) -> list[tuple[str, str]]:
        """Return the acts that wait, oldest first, as (key, draft)."""
        return [
            (key, draft) for key, draft in await self._file.query("SELECT key, draft FROM acts ORDER BY n")
        ]

    def _prefix(self) -> str:
        return f"{self.log_id}:" if not self._rewinds else f"{self.log_id}.{self._rewinds}:"

    def _lane(self, channel: str) -> Lane:
        return Lane(self._log, channel)

    async def _one(self, column: str, where: str, *values: object, table: str = "posts") -> str | None:
        sql = f"SELECT {column} FROM {table} WHERE log = ? AND {where} LIMIT 1"
        rows = await self._file.query(sql, self._log, *values)
        return rows[0][0] if rows else None


def _as_id(text: str | None) -> PlatformMessageId | None:
    return None if text is None else PlatformMessageId(text)
