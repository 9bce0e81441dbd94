"""The text of a trial that is embedded: line ends made one, blanks cut off at its end, then cut to a length.

Lengths are counted in UTF-16 code units, as all lengths of a run are; a cut never leaves half of a pair behind.

Source: Arbiter spec, "P0 semantics", embed text normalization and truncation metadata.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

NORMALIZATION: Final = "newline_to_lf+trim_trailing"
"""What a run's provenance calls what is done to a text before it is cut."""

BLANKS: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""White space and line ends as ECMAScript counts them, which Python's `str.strip` does not."""


@dataclass(frozen=True, slots=True)
class EmbedText:
    """A text to embed, and what was cut off; empty when there is nothing to embed.

    Args:
        original_chars: Its length before the cut, normalized, in UTF-16 code units.
    """

    text: str
    original_chars: int

    @property
    def final_chars(self) -> int:
        """The length after the cut, in UTF-16 code units."""
        return units(self.text)

    @property
    def is_truncated(self) -> bool:
        return self.final_chars < self.original_chars

    @property
    def truncation_reason(self) -> str | None:
        return "max_chars_exceeded" if self.is_truncated else None

    @property
    def sha256(self) -> str:
        """SHA-256 of the text as UTF-8, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def embed_text(text: str, max_chars: int, *, splits_pairs: bool = False) -> EmbedText:
    """Normalize a text and cut it to at most so many UTF-16 code units, keeping its beginning.

    Blanks at the beginning stay, and so do those that the cut leaves at the end.

    Args:
        text: The text.
        max_chars: Maximum length, in UTF-16 code units.
        splits_pairs: Let the cut split a surrogate pair; see `cut`.

    Raises:
        ValueError: `max_chars` is below 1.
    """
    whole = well_formed(text)
    if "\r" in whole:
        whole = whole.replace("\r\n", "\n").replace("\r", "\n")
    whole = whole.rstrip(BLANKS)
    return EmbedText(cut(whole, max_chars, splits_pairs=splits_pairs), units(whole))


def is_blank(text: str) -> bool:
    """Whether nothing of a text is left without its blanks."""
    return not text.strip(BLANKS)


def units(text: str) -> int:
    """Count the UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, max_units: int, *, splits_pairs: bool = False) -> str:
    """Keep the beginning of a well-formed text, at most so many UTF-16 code units.

    Args:
        text: The text.
        max_units: Maximum length, in UTF-16 code units.
        splits_pairs: Keep the first half of a surrogate pair that the cut splits, as U+FFFD. Other programs do that.

    Raises:
        ValueError: `max_units` is below 1.
    """
    if max_units < 1:
        raise ValueError(f"a text is cut to at least 1 character, not to {max_units}")
    if len(text) * 2 <= max_units:
        return text
    errors = "replace" if splits_pairs else "ignore"
    return text.encode("utf-16-le")[: max_units * 2].decode("utf-16-le", errors)


def well_formed(text: str) -> str:
    """Replace each half of a surrogate pair by U+FFFD: no file and no request could carry it. Lengths stay."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
