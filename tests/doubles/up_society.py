"""A society that `moot up` runs in a process of its own, and its log as it grows."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.doubles.data_dir import read_lines

ROOT = Path(__file__).parents[2]


class UpLog:
    """The society's log, read from its file."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "log.sqlite"

    def _rows(self, sql: str) -> list[Any]:
        try:
            with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
                return db.execute(sql).fetchall()
        except sqlite3.Error:
            return []

    @property
    def head(self) -> int:
        rows = self._rows("SELECT max(seq) FROM log")
        return (rows[0][0] or 0) if rows else 0

    def read(self) -> list[str]:
        return read_lines(self.path)

    def count(self, kind: str) -> int:
        """Count the messages of a type, without reading the log as a whole."""
        rows = self._rows(f'SELECT count(*) FROM log WHERE json LIKE \'%"type":"{kind}"%\'')
        return int(rows[0][0]) if rows else 0


@contextmanager
def up_society(directory: Path, config: Path) -> Iterator[UpLog]:
    """Run `moot up` at 1200 times real time, without a page, until the block ends."""
    command = [
        sys.executable,
        "-m",
        "moot",
        "up",
        "--no-console",
        "--speed",
        "1200",
        "--data",
        str(directory),
        "--config",
        str(config),
    ]
    with (directory.parent / "up.out").open("ab") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=out, env={**os.environ, "NO_COLOR": "1"}
        )
    try:
        yield UpLog(directory)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
