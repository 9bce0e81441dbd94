"""Data directories for tests: a log of a `Table` written down as a society would have."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from moot.channels.bus import Head
from moot.channels.log.file import open_log
from moot.channels.log.head import write_head
from moot.protocols.kernel.envelope import Envelope, with_hash
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from tests.doubles import bodies
from tests.doubles.table import Table


def write_log(directory: Path, envelopes: Sequence[Envelope]) -> Path:
    """Write envelopes into `log.sqlite` and `head` of a directory, and return the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "log.sqlite"
    open_log(path, epoch=1)
    rows = [(e.seq, e.id, f"{e.seq:016x}", e.json, bytes.fromhex(e.hash)) for e in envelopes]
    with closing(sqlite3.connect(path)) as db, db:
        db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", rows)
    if rows:
        write_head(directory, Head(rows[-1][0], rows[-1][4]))
    return directory


def read_lines(path: Path) -> list[str]:
    """Read the lines of a log as they stand, hosted or not."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT json, hash FROM log ORDER BY seq").fetchall()
    return [with_hash(text, digest.hex()) for text, digest in rows]


def a_debate(table: Table | None = None, **over: Any) -> Table:
    """Play one debate: a rebuttal within the grace, then silence of the Critic, then a rejection."""
    table = table or Table()
    cycle = table.last("CYCLE_TRIGGER").body.cycle_id  # type: ignore[attr-defined]
    table.wait(minutes=3)
    table.say(EXPLORER, bodies.hypothesis(cycle, **over))
    table.wait(minutes=6)
    table.say(CRITIC, bodies.assessment(1))
    table.wait(minutes=24)
    table.say(EXPLORER, bodies.rebuttal(2))
    table.wait(minutes=31)
    table.say(EVOLVER, bodies.verdict("REJECT"))
    return table
