"""Words: whether what a person wrote says anything that the log can keep, alike on every platform. Pure."""

from __future__ import annotations

import re
from typing import Final

ONLY_EMOJI: Final = "An emoji alone says nothing that the log can keep: write a word, or press a button."

_WORD: Final = re.compile(r"\w")
_EMOJI_NAME: Final = re.compile(r"<a?:\w{1,32}:\d{1,20}>|:[a-z0-9_+'-]{1,100}:")
"""An emoji as Discord and as Slack write it by name."""


def is_only_emoji(text: str) -> bool:
    """Say whether a text that is not blank has no word: nothing but emoji or signs."""
    return not _WORD.search(_EMOJI_NAME.sub("", text))
