"""`moot rebuild`, `export`, `backup`: what belongs to a log, made anew, carried away, kept safe."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from moot.cli.app import command
from moot.cli.errors import CheckFailed, CliError, Unusable
from moot.cli.output import plural, write_json, write_lines
from moot.cli.place import AsJson, Dir, Source
from moot.cli.reading import Log, folded
from moot.place import LOG_NAME, data_dir

if TYPE_CHECKING:
    from moot.channels.bus import Head
    from moot.memory.store import Applied

MEMORY_NAME: Final = "moot.memory.sqlite"
EVIDENCE_NAME: Final = "evidence"

Force = Annotated[bool, typer.Option("--force", help="Write over what is there.")]


@command("moot rebuild ./moot-data")
def rebuild(named: Dir, as_json: AsJson = False) -> None:
    """Make memory anew from the log: nothing but the log is needed.

    The society must be stopped. Evidence, such as equity curves, stays as it is.
    """
    import asyncio

    from moot.channels.log.lease import Lease

    directory = data_dir(named)
    with Lease.acquire(directory):
        seq, digest = asyncio.run(_rebuild(directory))
    if as_json:
        write_json({"seq": seq, "digest": digest})
    else:
        print(f"memory is that of {plural(seq, 'message')} again, digest {digest[:16]}")


async def _rebuild(directory: Path) -> tuple[int, str]:
    """Fold the log into a fresh memory file; return how far it came and the digest of what it holds."""
    from moot.memory.errors import CorruptStore
    from moot.memory.sqlite import SqliteStore
    from moot.memory.store import rebuild as refold

    path = directory / MEMORY_NAME
    try:
        store = await SqliteStore.open(path)
    except CorruptStore:
        SqliteStore.discard(path)
        store = await SqliteStore.open(path)
    async with store:
        await refold(store, _applied(Log(directory)))
        return store.applied_seq, store.read().digest()


def _applied(log: Log) -> Iterator[Applied]:
    """Yield every message with whether it is in effect, as the docket decides."""
    for envelope, effects, _ in folded(log):
        yield envelope, effects.violation is None and not effects.superseded


@command(
    "moot export ./moot-data log.jsonl",
    "moot export ./moot-data log.jsonl --force --json",
    "moot export ./moot-data - | gzip > log.jsonl.gz",
)
def export(
    named: Source,
    target: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="The file; - is the output.")],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the log as JSON Lines: one message a line with its hash, as moot verify reads it."""
    log = Log(named)
    if str(target) == "-":
        if as_json:
            raise Unusable("- writes the log to the output: leave --json out, every line is JSON already")
        write_lines(log.lines())
        return
    if target.exists() and not target.is_file():
        what = "a directory: name a file in it" if target.is_dir() else "no file: - writes to the output"
        raise Unusable(f"{target} is {what}")
    if target.exists() and not force:
        raise Unusable(f"{target} exists: choose another file, or --force writes over it")
    if not target.parent.is_dir():
        raise Unusable(f"{target}: there is no directory {target.parent}")
    fresh = target.with_name(f".{target.name}.part")
    count = 0
    try:
        with fresh.open("wb") as file:
            for line in log.lines():
                file.write(line.encode() + b"\n")
                count += 1
        fresh.replace(target)
    except OSError as exc:
        kind = Unusable if isinstance(exc, PermissionError) else CliError
        raise kind(f"{target}: {exc.strerror or exc}") from exc
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
    if as_json:
        write_json({"messages": count, "file": str(target)})
    else:
        print(f"{plural(count, 'message')} in {target}")


@command("moot backup ./moot-data ./moot-backup")
def backup(
    named: Dir,
    target: Annotated[Path, typer.Argument(metavar="TO", help="A directory that is not there yet.")],
    as_json: AsJson = False,
) -> None:
    """Copy log, memory, evidence and calls of models: as of one moment, also while the society runs.

    The copy is a data directory: every command reads it, and a society goes on from it.
    """
    directory = data_dir(named)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Unusable(f"{target} exists and is not empty: choose another directory")
    fresh = target.with_name(f".{target.name}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        head = _copy(directory, fresh)
        if target.exists():
            target.rmdir()
        fresh.replace(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    if as_json:
        write_json({"directory": str(target), "seq": head.seq, "hash": head.hash.hex()})
    else:
        print(f"{plural(head.seq, 'message')} in {target}, head {head.hash.hex()[:16]}")


def _copy(directory: Path, target: Path) -> Head:
    """Copy a data directory; the log after memory, for memory must not be ahead of it.

    Evidence and calls are copied last: whatever the log names was kept before it was named.
    """
    from moot.channels.bus import Head
    from moot.channels.log.head import write_head
    from moot.channels.log.reader import LogRows
    from moot.memory.bodies_file import CALLS_NAME
    from moot.protocols.kernel.envelope import GENESIS

    if (directory / MEMORY_NAME).exists():
        _copy_database(directory / MEMORY_NAME, target / MEMORY_NAME)
    _copy_database(directory / LOG_NAME, target / LOG_NAME)
    with closing(sqlite3.connect(target / LOG_NAME)) as db:
        last = LogRows(db).newest()
    head = Head(last.seq, last.hash) if last is not None else Head(0, GENESIS)
    write_head(target, head)
    if (directory / EVIDENCE_NAME).is_dir():
        unfinished = shutil.ignore_patterns(".*")
        shutil.copytree(directory / EVIDENCE_NAME, target / EVIDENCE_NAME, ignore=unfinished)
    if (directory / CALLS_NAME).exists():
        _copy_database(directory / CALLS_NAME, target / CALLS_NAME)
    return head


def _copy_database(source: Path, target: Path) -> None:
    """Copy an SQLite file as of one moment, whoever writes it.

    Raises:
        CheckFailed: It is damaged.
    """
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
            found = new.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as exc:
        raise CheckFailed(f"{source}: {exc}") from exc
    if found != "ok":
        raise CheckFailed(f"{source} is damaged: {found}")
