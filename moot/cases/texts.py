"""Texts that cases are about, read from files: works, reviews, contexts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from moot.protocols.kernel.errors import BadInput

MOST_BYTES: Final = 4_000_000
"""A larger file is no such text; no more than this is read of it."""


def read_text(path: Path) -> tuple[str | None, str]:
    """Read a text in UTF-8.

    Line ends stay as they are, for the grammar has its own idea of them; a byte order mark is no text.

    Returns:
        The text and ""; or None and why it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return as_text(file.read(MOST_BYTES + 1))
    except OSError as error:
        return None, error.strerror or str(error)
    except ValueError as error:
        return None, str(error)


def as_text(data: bytes) -> tuple[str | None, str]:
    """Read bytes as a text in UTF-8, as `read_text` does; a byte more than `MOST_BYTES` is enough."""
    if len(data) > MOST_BYTES:
        return None, f"is larger than {MOST_BYTES:,} bytes"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, f"is not UTF-8: see byte {error.start}"
    if "\0" in text:
        return None, "is no text: it holds NUL bytes"
    return text, ""


def a_text(path: Path) -> str:
    """Read a text that there has to be.

    Raises:
        BadInput: It cannot be read, or is empty.
    """
    return a_text_of(str(path), *read_text(path))


def a_named_text(named: str) -> str:
    """Read a text that there has to be from a file, or from standard input where it is named `-`.

    Raises:
        BadInput: It cannot be read, or is empty.
    """
    if named != "-":
        return a_text(Path(named))
    return a_text_of("standard input", *as_text(sys.stdin.buffer.read(MOST_BYTES + 1)))


def a_text_of(name: str, text: str | None, problem: str) -> str:
    """Return a text that there has to be, as `read_text` and `as_text` give it.

    Raises:
        BadInput: There is none, or it is empty.
    """
    if text is None:
        raise BadInput(f"{name}: {problem}")
    if not text.strip():
        raise BadInput(f"{name}: is empty")
    return text
