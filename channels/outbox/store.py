"""What a surface's outbox remembers, in one SQLite file per surface (K3, K24).

One row a mirrored message: `waiting`, then `intent` (about to be posted), then `done` with the platform's id,
or `refused`. The cursor says up to where the log was taken over. Acts of people wait here too, from their
delivery by the platform until the log's receipt.

What was written outlives the process, not a power cut: few posts wait for an fsync. After a power cut the file is
as it was somewhat earlier, by `MOST_UNRECORDED` posts and `MOST_UNTAKEN` lines of the log at most. So when the
machine has booted since, those that may be these are in doubt (`is_doubtful`): each is looked up before it is
posted. What the file alone can know is never forgotten: what was folded into what or broken up, where a log
was cut, in which boot it wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from moot.channels.outbox import queue as outbox_queue
from moot.channels.outbox.owned_file import OwnedFile, Risk, Statement
from moot.channels.outbox.pacing import Pace
from moot.channels.outbox.queue import Lane, NextUp, Waiting
from moot.channels.outbox.schema import SCHEMA, upgrade
from moot.channels.surface import PlatformMessageId

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")

MOST_UNRECORDED: Final = 64
"""So many posts at most a power cut makes the file forget: of 65 one waits for the disk, and after a power cut a
channel looks up its oldest 64 and its oldest urgent 64, in a minute or two at Slack's pace."""

MOST_UNTAKEN: Final = 256
"""So many lines of the log at most a power cut makes the file forget to have taken; all of them are looked up. A batch
that would make it more waits for the disk, a small part of what its posts take."""

_SETTLE: Final = (
    "UPDATE posts SET state = ?, platform_id = ?, why = ?, line = NULL, is_doubtful = 0"
    " WHERE log = ? AND seq = ?"
)


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

    def __init__(self, directory: Path, surface: str, log_id: str) -> None:
        """Remember where; `open` does the work.

        Args:
            directory: The data directory.
            surface: Name of the surface: `outbox-<surface>.sqlite`.
            log_id: Which log is mirrored; another log starts at its beginning.
        """
        self.log_id = log_id
        self.cursor = 0
        self._file = OwnedFile(directory / f"outbox-{surface}.sqlite")
        self._doubtful_to = 0
        self._rewinds = 0
        self._log = 0

    async def open(self, *, head: int = 0, boot: str | None = None) -> None:
        """Take the file and read the cursor.

        Args:
            head: Where the log ends now; nothing after it is in doubt.
            boot: Names the machine's present boot; by default the kernel's word for it. Empty: unknown, as if
                the machine had just booted.
        """
        await self._file.open(SCHEMA)
        await self._file.run(lambda: upgrade(self._file.db))
        boot = boot_id() if boot is None else boot
        await self._file.query("INSERT OR IGNORE INTO logs (log_id, boot) VALUES (?, ?)", self.log_id, boot)
        sql = "SELECT log, cursor, rewinds, doubtful_to, boot, is_unsynced FROM logs WHERE log_id = ?"
        ((self._log, self.cursor, self._rewinds, doubtful_to, known, is_unsynced),) = await self._file.query(
            sql, self.log_id
        )
        self._doubtful_to = doubtful_to
        is_new_boot = not boot or boot != known
        marks = await self._doubt(head, is_all=bool(is_unsynced)) if is_new_boot else []
        # Through also in the same boot, so that what a killed process wrote is no longer at risk.
        sql = "UPDATE logs SET boot = ?, doubtful_to = ?, is_unsynced = 0 WHERE log = ?"
        await self._file.write(*marks, (sql, [(boot, self._doubtful_to, self._log)]), through=True)

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
                "INSERT OR IGNORE INTO posts (log, seq, channel, case_id, envelope_id, type, line, is_doubtful)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(self._log, *item, item.seq <= self._doubtful_to) for item in found],
            ),
            ("UPDATE logs SET cursor = ? WHERE log = ?", [(cursor, self._log)]),
            risk=Risk("lines", cursor - self.cursor, MOST_UNTAKEN),
        )
        self.cursor = cursor

    async def rewind(self, head: int) -> None:
        """Go back to the end of a log that lost its tail; what it grows anew gets new nonces.

        What is in doubt was posted with an old nonce, if at all, and keeps it.
        """
        doubtful_to = min(self._doubtful_to, head)
        await self._file.write(
            ("DELETE FROM posts WHERE log = ? AND seq > ?", [(self._log, head)]),
            ("DELETE FROM roots WHERE log = ? AND seq > ?", [(self._log, head)]),
            (
                "UPDATE posts SET nonce = ? || seq WHERE log = ? AND state IN ('waiting', 'intent')"
                " AND is_doubtful AND nonce IS NULL",
                [(self._prefix(), self._log)],
            ),
            (
                "UPDATE logs SET cursor = ?, rewinds = rewinds + 1, doubtful_to = ? WHERE log = ?",
                [(head, doubtful_to, self._log)],
            ),
            through=True,
        )
        self.cursor = head
        self._doubtful_to = doubtful_to
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
        """Write down that these are about to be posted as one.

        Several are on the disk when this returns: after a power cut nobody else knows what was folded into what. So is
        one after `MOST_UNRECORDED` others.
        """
        sql = "UPDATE posts SET state = 'intent', nonce = ? WHERE log = ? AND seq = ?"
        rows = [(nonce, self._log, seq) for seq in seqs]
        await self._file.write((sql, rows), through=len(rows) > 1, risk=Risk("posts", 1, MOST_UNRECORDED))

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
            through=True,
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
        await self._file.query("INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)", key, value)

    async def keep_act(self, key: str, draft: str) -> None:
        """Keep a person's act until the log has it; the first one of a key counts."""
        await self._file.query("INSERT OR IGNORE INTO acts (key, draft) VALUES (?, ?)", key, draft)

    async def drop_act(self, key: str) -> None:
        """Forget an act that the log answered for."""
        await self._file.query("DELETE FROM acts WHERE key = ?", key)

    async def count_acts(self) -> int:
        """Count the acts that wait."""
        return int((await self._file.query("SELECT count(*) FROM acts"))[0][0])

    async def acts(self) -> list[tuple[str, str]]:
        """Return the acts that wait, oldest first, as (key, draft)."""
        return [
            (key, draft) for key, draft in await self._file.query("SELECT key, draft FROM acts ORDER BY n")
        ]

    async def _doubt(self, head: int, *, is_all: bool) -> list[Statement]:
        """Return what puts in doubt what waits, all of it or what a power cut may have made the file forget."""
        # Nothing after `head`: what a log grows anew has the nonces of what it lost.
        lost_to = head if is_all else min(head, self.cursor + MOST_UNTAKEN)
        self._doubtful_to = max(self._doubtful_to, lost_to)
        lanes = [self._lane(channel) for channel in await self.channels()]
        return outbox_queue.all_waiting(lanes) if is_all else outbox_queue.unrecorded(lanes, MOST_UNRECORDED)

    def _prefix(self) -> str:
        return f"{self.log_id}:" if not self._rewinds else f"{self.log_id}.{self._rewinds}:"

    def _lane(self, channel: str) -> Lane:
        return Lane(self._log, channel)

    async def _one(self, column: str, where: str, *values: object, table: str = "posts") -> str | None:
        sql = f"SELECT {column} FROM {table} WHERE log = ? AND {where} LIMIT 1"
        rows = await self._file.query(sql, self._log, *values)
        return rows[0][0] if rows else None


def boot_id() -> str:
    """Return the kernel's name for this boot of the machine, empty where it has none."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _as_id(text: str | None) -> PlatformMessageId | None:
    return None if text is None else PlatformMessageId(text)
