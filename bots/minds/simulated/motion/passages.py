"""Passages of the work that a motion names, to be repeated in quotation marks: nobody here understands them."""

from __future__ import annotations

import re
from typing import Final

from moot.bots.minds.simulated.answering import Answering
from moot.bots.minds.simulated.wording import quoted

MOST_READ: Final = 20_000
"""So many characters of a work are looked at."""

_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_LETTER: Final = re.compile(r"\w")


def of_work(asked: Answering) -> str:
    """Quote a sentence of the work that the motion names, "" where there is none."""
    sentences = [one for one in _SENTENCES.split(asked.view.content[:MOST_READ]) if _LETTER.search(one)]
    return quoted(sentences[int(asked.rng("work").integers(len(sentences)))]) if sentences else ""
