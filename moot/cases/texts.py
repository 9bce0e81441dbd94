"""Texts that cases are about, read from files: works, reviews, contexts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.protocols.kernel.errors import BadInput

MOST_BYTES: Final = 4_000_000
"""A larger file is no review; no more than this is read of it."""


def read_text(path: Path) -> tuple[str | None, str]:
    """Read a text in UTF-8.

    Line ends stay as they are, for the grammar has its own idea of them; a byte order mark is no text.

    Returns:
        The text and ""; or None and why it cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return None, error.strerror or str(error)
    except ValueError as error:
        return None, str(error)
    if len(data) > MOST_BYTES:
        return None, f"is larger than {MOST_BYTES:,} bytes: no review is"
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
    text, problem = read_text(path)
    if text is None:
        raise BadInput(f"{path}: {problem}")
    if not text.strip():
        raise BadInput(f"{path}: is empty")
    return text
