"""What `moot doctor` checks, one function each; imported only by it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.requirements import Requirement

from moot.cli.setup.doctor import Diagnosis
from moot.place import LOG_NAME

if TYPE_CHECKING:
    from moot.config.settings import Settings

LEAST_PYTHON: Final = (3, 11)
LEAST_SQLITE: Final = (3, 35, 0)
SLOW_SYNC_MS: Final = 20.0
LITTLE_ROOM: Final = 1 << 30
NO_ROOM: Final = 50 << 20
SYNCS: Final = 9
ASKED_S: Final = 10.0
"""How long a chat platform has to answer."""


def python() -> Diagnosis:
    """Check the interpreter."""
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < LEAST_PYTHON:
        return Diagnosis("python", "failure", found, "3.11 or newer is needed")
    return Diagnosis("python", "ok", found)


def packages() -> Diagnosis:
    """Compare what is installed with the lock file, or with what the installed Moot asks for."""
    lock = Path(__file__).parents[3] / "requirements.lock"
    if lock.exists():
        lines = re.findall(r"^[\w.-]+==[^\\\n]+", lock.read_text(encoding="utf-8"), re.MULTILINE)
        origin = "the lock file"
    else:
        lines = metadata.requires("moot") or []
        origin = "what Moot asks for"
    wanted = _wanted_here(lines)
    missing, others = [], []
    for name, version in wanted.items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
            continue
        if version is not None and found != version:
            others.append(f"{name} {found} instead of {version}")
    if missing:
        return Diagnosis("packages", "failure", f"missing: {', '.join(missing)}", "make install brings them")
    if others:
        some = ", ".join(others[:3]) + (" …" if len(others) > 3 else "")
        return Diagnosis(
            "packages",
            "warning",
            some,
            "logs are promised byte for byte only with the lock file: make install",
        )
    return Diagnosis("packages", "ok", f"{len(wanted)} as {origin} says")


def _wanted_here(lines: Iterable[str]) -> dict[str, str | None]:
    """Return the packages that this Python on this system needs, with their versions where one is pinned."""
    wanted: dict[str, str | None] = {}
    for line in lines:
        asked = Requirement(line)
        if asked.marker is None or asked.marker.evaluate({"extra": ""}):
            pins = [one.version for one in asked.specifier if one.operator == "=="]
            wanted[asked.name] = pins[0] if pins else None
    return wanted


def sqlite() -> Diagnosis:
    """Check SQLite and the features that the log rests on."""
    found = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        least = ".".join(map(str, LEAST_SQLITE))
        return Diagnosis("sqlite", "failure", found, f"{least} or newer is needed")
    with (
        tempfile.TemporaryDirectory(prefix="moot-doctor-") as place,
        closing(sqlite3.connect(f"{place}/x")) as db,
    ):
        (mode,) = db.execute("PRAGMA journal_mode=WAL").fetchone()
        if mode != "wal":
            return Diagnosis(
                "sqlite", "failure", f"{found} without a write-ahead log", "another build is needed"
            )
        options = {row[0] for row in db.execute("PRAGMA compile_options")}
    if "THREADSAFE=0" in options:
        return Diagnosis("sqlite", "failure", f"{found}, not thread-safe", "another build is needed")
    return Diagnosis("sqlite", "ok", f"{found}, write-ahead log, thread-safe")


def disk(directory: Path) -> Diagnosis:
    """Check room, locks and how long a sync takes where the data is, or would be."""
    from moot.clock.wall import monotonic_ns

    place = directory if directory.is_dir() else directory.absolute().parent
    while not place.is_dir():
        place = place.parent
    room = shutil.disk_usage(place).free
    times = []
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".moot-doctor-") as file:
            for _ in range(SYNCS):
                began = monotonic_ns()
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
                times.append((monotonic_ns() - began) / 1e6)
        wal = _takes_wal(place)
    except OSError as exc:
        return Diagnosis(
            "disk", "failure", f"{place} cannot be written: {exc.strerror}", "choose another --data"
        )
    took = statistics.median(times)
    said = f"{room / 2**30:.1f} GiB free in {place}, {took:.1f} ms a sync"
    if not wal:
        return Diagnosis(
            "disk", "failure", f"{said}, no write-ahead log", "it may be a network disk: use a local one"
        )
    if room < NO_ROOM:
        return Diagnosis("disk", "failure", said, "make room")
    if room < LITTLE_ROOM:
        return Diagnosis("disk", "warning", said, "make room")
    if took > SLOW_SYNC_MS:
        return Diagnosis(
            "disk", "warning", said, 'every message waits so long: [log] durability = "process" does not'
        )
    return Diagnosis("disk", "ok", said)


def _takes_wal(place: Path) -> bool:
    with (
        tempfile.TemporaryDirectory(dir=place, prefix=".moot-doctor-") as inside,
        closing(sqlite3.connect(f"{inside}/x")) as db,
    ):
        return bool(db.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal")


def sockets() -> Diagnosis:
    """Check that a society can listen: its gateway on a local socket, a page on a port of this host."""
    with tempfile.TemporaryDirectory(prefix="moot-doctor-") as place, closing(_socket("unix")) as local:
        local.bind(f"{place}/s")
    with closing(_socket("inet")) as page:
        page.bind(("127.0.0.1", 0))
    return Diagnosis("sockets", "ok", "local ones and ports of 127.0.0.1 can be had")


def _socket(kind: str) -> socket.socket:
    return socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET)


def time_zones() -> Diagnosis:
    """Check that time zones are known; cycles are in UTC, exchanges are not."""
    from zoneinfo import ZoneInfo

    ZoneInfo("America/New_York")
    return Diagnosis("time zones", "ok", f"known, tzdata {metadata.version('tzdata')}")


def prices() -> Diagnosis:
    """Check that the sample prices can be read."""
    from moot.bots.tools.prices import load_universe
    from moot.simulation.durations import DEFAULT_START

    universe = load_universe("sample", start=DEFAULT_START, seed=1)
    return Diagnosis("prices", "ok", f"samples readable: {universe.description}")


def settings(given: Path | None = None) -> Diagnosis:
    """Check the configuration."""
    from moot.cli.setup.config import config_file
    from moot.cli.setup.config import settings as load
    from moot.config.settings import ConfigError

    path = config_file(given)
    try:
        load(given)
    except ConfigError as exc:
        return Diagnosis("settings", "failure", str(exc), "moot config show says when it is right")
    return Diagnosis("settings", "ok", f"{path} over the shipped ones" if path else "the shipped ones")


def data(directory: Path) -> Diagnosis:
    """Look at a data directory: its log, whether its end fits the file `head`, who runs it."""
    from moot.channels.errors import ChannelError
    from moot.channels.log.head import read_head
    from moot.channels.log.lease import holder
    from moot.cli.errors import CliError
    from moot.cli.reading import Log

    if not (directory / LOG_NAME).exists():
        ground = next(place for place in (directory, *directory.absolute().parents) if place.exists())
        if not ground.is_dir():
            return Diagnosis(
                "data", "failure", f"{ground} is a file: no society can live there", "name a directory"
            )
        return Diagnosis("data", "ok", f"no society in {directory} yet: moot up starts one")
    try:
        head = read_head(directory)
        log = Log(directory)
        last = log.head
        pid = holder(directory)
        said = f"{last:,} messages in {directory}, " + ("stopped" if pid is None else f"run by process {pid}")
        if head is not None and head.seq > last:
            why = f"the log ends at {last}, its file head knows {head.seq}"
            return Diagnosis("data", "failure", why, f"moot verify {directory} says more")
        for _ in log.lines(max(1, last - 100)):
            pass
    except (ChannelError, CliError) as exc:
        return Diagnosis("data", "failure", str(exc), f"moot verify {directory} says more")
    return Diagnosis("data", "ok", said)


def surfaces(given: Path | None = None) -> Iterator[Diagnosis]:
    """Ask each configured chat platform whether the gateway could work there; without any, nothing is asked."""
    import asyncio

    from moot.cli.setup.config import config_file
    from moot.cli.setup.config import settings as load
    from moot.config.settings import ConfigError

    try:
        chosen = load(given)
    except ConfigError:
        return  # `settings` tells
    from moot.gateway import folder_of

    folder = folder_of(config_file(given))
    for name in chosen.surfaces:
        yield from asyncio.run(_surface(chosen, name, folder))


async def _surface(chosen: Settings, name: str, folder: Path) -> list[Diagnosis]:
    import asyncio

    from moot.channels.surface import SurfaceDown, SurfaceError
    from moot.gateway import surface_of

    surface = None
    try:
        surface = surface_of(chosen, name, folder)
        async with asyncio.timeout(ASKED_S):
            checks = await surface.check()
    except (SurfaceDown, TimeoutError) as exc:
        why = str(exc) or f"no answer in {ASKED_S:g} s"
        return [Diagnosis(name, "warning", why, "what is posted there waits until it can be reached")]
    except SurfaceError as exc:
        return [Diagnosis(name, "failure", str(exc))]
    except Exception as exc:
        return [Diagnosis(name, "failure", f"{type(exc).__name__}: {exc}")]
    finally:
        if surface is not None:
            with suppress(Exception):
                async with asyncio.timeout(ASKED_S):
                    await surface.close()
    if not checks:
        return [Diagnosis(name, "ok", "configured; it checks nothing by itself")]
    return [
        Diagnosis(f"{name} {one.name}", "ok" if one.is_ok else "failure", one.found, one.to_do)
        for one in checks
    ]
