"""Evidence: equity curves and other bulk that messages name by reference (`equity_ref`).

A reference is `<kind>/<16 digits>`, the first hex digits of SHA-256 over the canonical JSON: equal evidence
has one reference on any machine, and putting it twice keeps it once. Evidence is not folded from the log;
whoever computes it again (a backtest) gets the same reference.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from moot.memory.errors import CorruptEvidence, MemoryStoreError, StoreUnavailable, UnknownEvidence
from moot.protocols.kernel.canonical import canonical_json

_KIND: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)
_REF: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}/[0-9a-f]{16}", re.ASCII)


class Evidence(ABC):
    """A keeper of evidence. Calls block; a directory syncs the disk, so call it off the loop or rarely."""

    @abstractmethod
    def put(self, kind: str, payload: dict[str, Any]) -> str:
        """Keep a payload.

        Args:
            kind: What it is, `equity` for example: lower case, at most 32 characters.
            payload: A JSON object with finite numbers.

        Returns:
            Its reference. When this returns, the payload is durable.

        Raises:
            ValueError: The kind is no name, or the payload is not JSON.
            StoreUnavailable: The disk did not take it.
        """

    @abstractmethod
    def get(self, ref: str) -> dict[str, Any]:
        """Return what a reference names, a copy of one's own.

        Raises:
            UnknownEvidence: Nothing is kept under it, or it is no reference.
            CorruptEvidence: What is kept is not what it names.
            StoreUnavailable: The disk does not give it.
        """


def text_of(evidence: Evidence, ref: str) -> str:
    """Return a work that is kept as evidence, its `text`; "" when there is none or it cannot be read."""
    try:
        return str(evidence.get(ref).get("text", ""))
    except MemoryStoreError:
        return ""


def keep_text(evidence: Evidence, text: str, kind: str = "context") -> str:
    """Keep a text as evidence, as `text_of` reads it, and return its reference.

    Raises:
        StoreUnavailable: The disk did not take it.
    """
    return evidence.put(kind, {"text": text})


class InMemoryEvidence(Evidence):
    """Evidence that lives and dies with its process."""

    def __init__(self) -> None:
        """Start empty."""
        self._kept: dict[str, bytes] = {}

    def __iter__(self) -> Iterator[str]:
        """Yield the references of what is kept."""
        yield from list(self._kept)

    def put(self, kind: str, payload: dict[str, Any]) -> str:
        ref, text = _name(kind, payload)
        self._kept[ref] = zlib.compress(text)
        return ref

    def get(self, ref: str) -> dict[str, Any]:
        kept = self._kept.get(ref)
        if kept is None:
            raise UnknownEvidence(f"no evidence {ref!r}")
        return _open(ref, zlib.decompress(kept))


class DirectoryEvidence(Evidence):
    """Evidence in files `<kind>/<digits>.json.gz`; a crash leaves a whole file or none."""

    def __init__(self, directory: Path) -> None:
        """Keep evidence below a directory, made when the first piece comes."""
        self.directory = directory

    def put(self, kind: str, payload: dict[str, Any]) -> str:
        ref, text = _name(kind, payload)
        path = self._path(ref)
        try:
            if not self._holds(path, text):
                _write(path, gzip.compress(text, mtime=0))
        except OSError as error:
            raise StoreUnavailable(f"{path}: {error.strerror or error}") from error
        return ref

    def get(self, ref: str) -> dict[str, Any]:
        if not _REF.fullmatch(ref):
            raise UnknownEvidence(f"{ref!r} is no reference to evidence")
        path = self._path(ref)
        try:
            return _open(ref, gzip.decompress(path.read_bytes()))
        except FileNotFoundError:
            raise UnknownEvidence(f"no evidence {ref!r}") from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise CorruptEvidence(f"{path}: {error}; delete it and run its backtest again") from error
        except OSError as error:
            raise StoreUnavailable(f"{path}: {error.strerror or error}") from error

    def _path(self, ref: str) -> Path:
        return self.directory / f"{ref}.json.gz"

    def _holds(self, path: Path, text: bytes) -> bool:
        """Say whether the file is there and whole; a damaged one is written anew."""
        try:
            return gzip.decompress(path.read_bytes()) == text
        except (FileNotFoundError, EOFError, gzip.BadGzipFile, zlib.error):
            return False


def _name(kind: str, payload: dict[str, Any]) -> tuple[str, bytes]:
    if not _KIND.fullmatch(kind):
        raise ValueError(f"{kind!r} is no kind of evidence: lower case letters, digits, _ and -")
    if not isinstance(payload, dict):
        raise ValueError(f"evidence is a JSON object, not a {type(payload).__name__}")
    try:
        text = canonical_json(payload).encode()
    except TypeError as error:
        raise ValueError(f"evidence is JSON: {error}") from error
    return f"{kind}/{hashlib.sha256(text).hexdigest()[:16]}", text


def _open(ref: str, text: bytes) -> dict[str, Any]:
    if hashlib.sha256(text).hexdigest()[:16] != ref.rpartition("/")[2]:
        raise CorruptEvidence(f"the bytes kept as {ref} are other bytes")
    payload: dict[str, Any] = json.loads(text)
    return payload


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, durably: the file, then its name, then its directories' names."""
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    # One name for each writer, so that two writing the same evidence do not mix.
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    for folder in (path.parent, *(folder.parent for folder in missing)):
        _sync(folder)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
