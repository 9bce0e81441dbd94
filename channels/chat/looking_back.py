"""Looking back: whether a post of unknown outcome stands in a platform's history already, and how far back to look."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from moot.channels.surface import PlatformMessageId, Posting
from moot.protocols.rulebook import rulebook

MOST_READ: Final = 1_000
"""Messages of a history that are read; what is posted in doubt was posted just now."""

MOST_OLDER: Final = 60
"""Own messages with smaller numbers after which no routine message follows; urgent ones may overtake any number."""


@dataclass(frozen=True, slots=True)
class Own:
    """One of our own posts.

    Attributes:
        id: The platform's id of it.
        is_it: Whether it is the post that is looked for.
        is_older: Whether it stands for a message of the log before that.
    """

    id: PlatformMessageId
    is_it: bool
    is_older: bool


async def look_back(item: Posting, history: AsyncGenerator[Own | None]) -> PlatformMessageId | None:
    """Look for a post.

    Args:
        item: What was to be posted.
        history: The messages of its channel, newest first; None for what others said.

    Returns:
        The platform's id; None where it does not stand there.
    """
    may_overtake = item.envelope.body.type in rulebook().urgent
    read = older = 0
    async with aclosing(history):
        async for own in history:
            if own is not None and own.is_it:
                return own.id
            read += 1
            older += own is not None and own.is_older
            if read >= MOST_READ or (older >= MOST_OLDER and not may_overtake):
                return None
    return None
