"""Snapshots: a disposable cache of all folds, so that a long log need not be folded again at a start (K18).

A snapshot is trusted only if it fits: the log's hash at its seq, the rules' version, and the very code that
made it. `verify` never looks at it, and deleting it costs nothing but time. A directory may come from anybody, so
what is read is data of the folds' own classes: it can name nothing that acts.
"""

from __future__ import annotations

import gc
import hashlib
import io
import json
import os
import pickle
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any, Final

import structlog

from protocols.kernel.rules import Rules

NAME: Final = "snapshot"
EVERY: Final = 20_000
"""So many messages lie between two snapshots of a running society."""

PACKAGES: Final = ("protocols.", "apscheduler.triggers.cron")
"""Modules whose classes a snapshot may hold: those of the folds do nothing but hold."""

PLAIN: Final = frozenset({date, datetime, timedelta, timezone, deque, set, frozenset})
"""What else it may hold that a pickle has no code for."""

_RULES: Final = "rules"
_log = structlog.get_logger("moot.snapshot")


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, rules: Rules) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._rules = rules

    def persistent_id(self, obj: Any) -> Any:
        return _RULES if obj is self._rules else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, rules: Rules) -> None:
        super().__init__(file)
        self._rules = rules

    def find_class(self, module: str, name: str) -> type:
        """Return a class that a snapshot may hold; a function, or a class from elsewhere, is refused."""
        if "." not in name and f"{module}.".startswith((*PACKAGES, "datetime.", "collections.", "builtins.")):
            found: object = super().find_class(module, name)
            if isinstance(found, type) and (found in PLAIN or f"{found.__module__}.".startswith(PACKAGES)):
                return found
        raise pickle.UnpicklingError(f"a snapshot holds no {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        if pid != _RULES:
            raise pickle.UnpicklingError(f"unknown reference {pid!r}")
        return self._rules


@cache
def code_fingerprint() -> str:
    """Return the hex SHA-256 of the source of everything a snapshot's classes come from."""
    import moot
    import protocols

    digest = hashlib.sha256()
    roots = [Path(package.__path__[0]) for package in (protocols,)] + [Path(moot.__path__[0]) / "host.py"]
    for root in roots:
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep the cyclic collector from walking millions of new objects that hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def write_snapshot(directory: Path, *, seq: int, log_hash: str, rules: Rules, state: object) -> None:
    """Write the folds as they stand after `seq`, atomically; a failure is logged and costs nothing.

    Args:
        directory: The data directory.
        seq: Seq of the last folded message.
        log_hash: Its hash.
        rules: The rules; folds refer to them, they are not stored.
        state: What to keep; anything that pickles.
    """
    try:
        buffer = io.BytesIO()
        with collector_off():
            _Pickler(buffer, rules).dump(state)
        body = buffer.getvalue()
        header = {
            "seq": seq,
            "hash": log_hash,
            "rules": rules.version,
            "code": code_fingerprint(),
            "state": hashlib.sha256(body).hexdigest(),
        }
        draft = directory / f"{NAME}.new"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(header).encode() + b"\n" + body)
        draft.replace(directory / NAME)
    except (OSError, pickle.PicklingError, TypeError, AttributeError) as exc:
        _log.warning("no snapshot written", why=str(exc))


def read_snapshot(directory: Path, *, rules: Rules, hash_at: Any) -> tuple[int, Any] | None:
    """Read the snapshot of a data directory if there is one that fits.

    Args:
        directory: The data directory.
        rules: The rules that the folds will refer to.
        hash_at: Returns the log's hash at a seq as hex, or None.

    Returns:
        The seq it stands at and what was kept; None when there is none that fits.
    """
    path = directory / NAME
    try:
        with path.open("rb") as file:
            header = json.loads(file.readline())
            fits = (
                header["rules"] == rules.version
                and header["code"] == code_fingerprint()
                and header["hash"] == hash_at(header["seq"])
            )
            if not fits:
                return None
            body = file.read()
        if hashlib.sha256(body).hexdigest() != header["state"]:
            return None
        with collector_off():
            return int(header["seq"]), _Unpickler(io.BytesIO(body), rules).load()
    except FileNotFoundError:
        return None
    except Exception as exc:
        _log.warning("snapshot passed over", why=str(exc))
        return None
