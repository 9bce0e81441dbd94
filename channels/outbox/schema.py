"""The tables of an outbox's file, and how a file of an earlier version gets them.

`logs.is_unsynced` says that a version wrote there which never synced: then any number of posts may be missing.
"""

from __future__ import annotations

import sqlite3
from typing import Final

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS logs (
    log INTEGER PRIMARY KEY, log_id TEXT NOT NULL UNIQUE,
    cursor INTEGER NOT NULL DEFAULT 0, rewinds INTEGER NOT NULL DEFAULT 0,
    boot TEXT, doubtful_to INTEGER NOT NULL DEFAULT 0, is_unsynced INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS posts (
    log INTEGER NOT NULL, seq INTEGER NOT NULL, channel TEXT NOT NULL, case_id TEXT,
    envelope_id TEXT NOT NULL, type TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting',
    nonce TEXT, platform_id TEXT, crashes INTEGER NOT NULL DEFAULT 0, why TEXT, line TEXT,
    is_doubtful INTEGER NOT NULL DEFAULT 0,
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

_NOW: Final = 2

_ROOTS_OF_OLD: Final = """
INSERT OR IGNORE INTO roots SELECT log, channel, case_id, min(seq), platform_id FROM posts
    WHERE state = 'done' AND case_id IS NOT NULL GROUP BY log, channel, case_id
"""
"""Files of before there were roots: then everything was posted in order."""

_DOUBTS_OF_OLD: Final = (
    "ALTER TABLE posts ADD COLUMN is_doubtful INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE logs ADD COLUMN is_unsynced INTEGER NOT NULL DEFAULT 0",
    "UPDATE logs SET is_unsynced = 1",
    "UPDATE posts SET is_doubtful = 1 WHERE state IN ('waiting', 'intent') AND state = 'waiting'"
    " AND seq <= (SELECT doubtful_to FROM logs WHERE logs.log = posts.log)",
)
"""Files of before doubt was a message's own: then all that waited up to `doubtful_to` was in doubt."""


def upgrade(db: sqlite3.Connection) -> None:
    """Bring a file with these tables up to date, in one transaction.

    Raises:
        sqlite3.Error: The disk refuses; the file is as it was.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version >= _NOW:
        return
    is_new = any(row[1] == "is_doubtful" for row in db.execute("PRAGMA table_info(posts)"))
    with db:
        db.execute("BEGIN")
        if version < 1:
            db.execute(_ROOTS_OF_OLD)
        if not is_new:
            for statement in _DOUBTS_OF_OLD:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {_NOW}")
