"""The tie between a review and the trigger that its writer committed itself to (R-P4)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

_COMMON: Final = """
able about above according across actually after afterwards again against almost along already also although always
among another anyone anything anyway anywhere aren around aside away back became because become becomes been before
beforehand behind being below beside besides between beyond both came cannot clearly come could couldn despite didn does
doesn doing done down during each either else elsewhere enough even ever every everyone everything everywhere except
fairly from further gave generally gets given gives goes going gone have haven having hence here however indeed inside
instead into itself just later latter least less likely made mainly make makes making many maybe merely might more
moreover most mostly much must myself namely nearly need needs neither never nevertheless next nobody none nonetheless
nothing notwithstanding nowhere often once only onto other others otherwise ours ourselves over perhaps quite rather
really same seem seemed seems seen several shall shouldn should simply since some somehow someone something sometimes
somewhat somewhere soon still such taken takes than that their theirs them themselves then thence there therefore these
they thing things this those though through throughout thus together toward towards truly under unless unlike until
upon used using usually various very want wants wasn well went were weren what whatever when whenever where whereas
wherever whether which while whoever whole whom whose will with within without wouldn would your yours yourself
"""
_SCORING: Final = """
block blocks dimension dimensions pass passes score scored scores scoring trigger triggers warn warns
"""

STOP_WORDS: Final = frozenset(_COMMON.split()) | frozenset(_SCORING.split())
"""Words that say nothing of what was looked for: common ones, and those of scoring itself."""

_WORD: Final = re.compile(r"[^\W\d_]{4,}")


def tokens(trigger: str) -> set[str]:
    """Return the words that tie a review to a trigger: four letters or more, case-folded, no stop word."""
    return set(_WORD.findall(trigger.casefold())) - STOP_WORDS


class Body:
    """The words of a Review Body, asked for tokens."""

    def __init__(self, text: str) -> None:
        """Sort the words once."""
        self._words: Sequence[str] = sorted(set(_WORD.findall(text.casefold())))

    def holds_one(self, asked: Iterable[str]) -> bool:
        """Say whether a word of the body is one of the tokens or goes on after it: `samples` holds `sample`."""
        return any(self._holds(token) for token in asked)

    def _holds(self, token: str) -> bool:
        n = bisect_left(self._words, token)
        return n < len(self._words) and self._words[n].startswith(token)
