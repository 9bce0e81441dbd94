"""Snapshots: a disposable cache of all folds, so that a long log need not be folded again at a start (K18).

A snapshot is used only if it fits: the log's hash at its seq, the rules' version, the very code that made it, and a
seal by a key that lies with the user's own files, not in the data directory. So whoever can write the directory, or
made it, cannot put a state into a society's mouth; and what is read is plain data all the same (`moot.plain`). Whatever
does not fit is passed over with one line, and the log is read. `verify` never looks at it; deleting it costs only time.
"""

from __future__ import annotations

import gc
import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import structlog

from moot.plain import PlainError, decode, encode
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.rules import Rules

NAME: Final = "snapshot"
EVERY: Final = 20_000
"""So many messages lie between two snapshots of a running society."""

FORM: Final = 2
KEY_BYTES: Final = 32
HEADER_MOST: Final = 4096

_log = structlog.get_logger("moot.snapshot")


def key_file() -> Path:
    """Return where the key lies that snapshots are sealed with: among the user's own state, XDG's place for it."""
    state = os.environ.get("XDG_STATE_HOME", "")
    return (
        (Path(state) if state.startswith("/") else Path.home() / ".local" / "state") / "moot" / "snapshot.key"
    )


def _key(*, make: bool) -> bytes:
    """Read the key, made at the first need.

    Raises:
        OSError: There is none, or it cannot be made.
        ValueError: It is damaged.
    """
    path = key_file()
    if make and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(os.urandom(KEY_BYTES))  # noqa: TID251  # a key derives from nothing
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise ValueError(f"{path} is damaged: delete it, another is made")
    return key


def _seal(key: bytes, header: Mapping[str, Any], body: bytes) -> str:
    told = json.dumps({name: header[name] for name in _HEADER}, sort_keys=True).encode()
    return hmac.new(key, told + b"\n" + body, hashlib.sha256).hexdigest()


_HEADER: Final = ("form", "seq", "hash", "rules", "code")


@cache
def code_fingerprint() -> str:
    """Return the hex SHA-256 of the source of everything a snapshot's classes come from."""
    import moot
    import moot.protocols

    digest = hashlib.sha256()
    roots = [Path(moot.protocols.__path__[0])] + [
        Path(moot.__path__[0]) / name for name in ("folding.py", "host.py")
    ]
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
        state: What to keep; anything that `moot.plain` can write.
    """
    try:
        key = _key(make=True)
        with collector_off():
            body = json.dumps(encode(state, rules), separators=(",", ":")).encode()
        header: dict[str, Any] = {
            "form": FORM,
            "seq": seq,
            "hash": log_hash,
            "rules": rules.version,
            "code": code_fingerprint(),
        }
        header["seal"] = _seal(key, header, body)
        draft = directory / f"{NAME}.new"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(header).encode() + b"\n" + body)
        draft.replace(directory / NAME)
    except (OSError, PlainError, ValueError, RuntimeError, RecursionError) as exc:
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
    header: Any = None
    state: Any = None
    try:
        with (directory / NAME).open("rb") as file:
            header = json.loads(file.readline(HEADER_MOST))
            why = _misfit(header, rules, hash_at)
            body = b"" if why else file.read()
        if not why and not hmac.compare_digest(_seal(_key(make=False), header, body), str(header["seal"])):
            why = "it was not written here by this user"
        if not why:
            with collector_off():
                state = decode(json.loads(body), rules)
            why = _unlike(state, header["seq"], rules)
    except FileNotFoundError as exc:
        if Path(exc.filename or "") == directory / NAME:
            return None
        why = "it was not written here by this user"
    except Exception as exc:
        why = str(exc) or type(exc).__name__
    if why:
        _log.warning("snapshot passed over, the log is read", why=why)
        return None
    return int(header["seq"]), state


def _misfit(header: Any, rules: Rules, hash_at: Any) -> str:
    """Say why a snapshot does not fit the log and the code; "" when it does."""
    if not isinstance(header, dict) or header.get("form") != FORM:
        return "it is of another form"
    if header["rules"] != rules.version or header["code"] != code_fingerprint():
        return "other code made it"
    return "" if header["hash"] == hash_at(header["seq"]) else "it is of another log"


def _unlike(state: Any, seq: int, rules: Rules) -> str:
    """Say why what was kept is not a docket as one is built; "" when it is."""
    docket, fresh = state.get("docket") if isinstance(state, dict) else None, Docket(rules)
    if type(docket) is not Docket or docket.seq != seq or docket.rules is not rules:
        return "it holds no docket of its seq"
    if set(vars(docket)) != set(vars(fresh)) or set(vars(docket.context)) != set(vars(fresh.context)):
        return "its docket has other parts"
    is_same = [type(fold) for fold in docket.context.folds] == [type(fold) for fold in fresh.context.folds]
    return "" if is_same else "its docket has other folds"
